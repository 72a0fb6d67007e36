"""The allocator's graph algorithms against exhaustive search on small graphs."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from ixpemu.asm.graphs import Colouring, Edge, OddCycle, OffsetUnion, two_colour
from ixpemu.asm.numbers import Problem, solve


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[Edge], dict[int, int]]:
    nodes = draw(st.integers(1, 6))
    node = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=8))
    fixed = draw(st.dictionaries(node, st.integers(0, 1), max_size=2))
    return nodes, [Edge(left, right, number) for number, (left, right) in enumerate(pairs)], fixed


@given(graphs())
@settings(max_examples=300)
def test_two_colours_or_a_proof_that_there_are_none(graph: tuple[int, list[Edge], dict[int, int]]) -> None:
    nodes, edges, fixed = graph
    result = two_colour(nodes, edges, fixed)

    def fits(colours: tuple[int, ...]) -> bool:
        return all(colours[e.left] != colours[e.right] for e in edges) and all(colours[n] == c for n, c in fixed.items())

    possible = any(fits(colours) for colours in itertools.product((0, 1), repeat=nodes))
    if isinstance(result, Colouring):
        assert fits(result.colour)
    else:
        assert not possible
        check_odd_cycle(result, fixed)


def check_odd_cycle(cycle: OddCycle, fixed: dict[int, int]) -> None:
    """The edges join end to end, and walking them changes colour an impossible number of times."""
    starts = {cycle.edges[0].left, cycle.edges[0].right} if not cycle.fixed else {cycle.fixed[0]}
    for start in starts:
        node = start
        for edge in cycle.edges:
            if node not in (edge.left, edge.right):
                break
            node = edge.right if edge.left == node else edge.left
        else:
            if not cycle.fixed and node == start:
                assert len(cycle.edges) % 2 == 1
                return
            if cycle.fixed and node == cycle.fixed[1]:
                assert len(cycle.edges) % 2 != fixed[start] ^ fixed[node]
                return
    raise AssertionError("the edges do not join")


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    items = draw(st.integers(1, 5))
    side_width = draw(st.integers(1, 3))
    width = 2 * side_width
    grouped = draw(st.booleans())
    conflicts: list[dict[int, frozenset[int]]] = [{} for _ in range(items)]
    for left, right in itertools.combinations(range(items), 2):
        single = st.sampled_from([frozenset[int](), frozenset({0})])
        distances = draw(st.frozensets(st.integers(-2, 2), max_size=2) if grouped else single)
        if distances:
            conflicts[left][right] = distances
            conflicts[right][left] = frozenset(-d for d in distances)
    sided = draw(st.booleans())
    return Problem(
        [draw(st.integers(1, (1 << width) - 1)) if grouped else (1 << width) - 1 for _ in range(items)],
        conflicts,
        ((1 << side_width) - 1, ((1 << side_width) - 1) << side_width) if sided else (-1, -1),
        [draw(st.one_of(st.none(), st.integers(0, 1))) for _ in range(items)] if sided else (),
        [draw(st.integers(0, 1)) for _ in range(items)] if sided else (),
        draw(st.dictionaries(st.integers(0, 1), st.integers(0, 1), max_size=1)) if sided else {},
    )


def fits(problem: Problem, cells: tuple[int, ...]) -> bool:
    for item, cell in enumerate(cells):
        if not problem.domains[item] >> cell & 1:
            return False
        if any(cells[other] - cell in distances for other, distances in problem.conflicts[item].items()):
            return False
    sides: dict[int, int] = dict(problem.fixed_side)
    for item, component in enumerate(problem.component):
        if component is not None:
            side = (0 if problem.sides[0] >> cells[item] & 1 else 1) ^ problem.parity[item]
            if sides.setdefault(component, side) != side:
                return False
    return True


@given(problems())
@settings(max_examples=400, deadline=None)
def test_placement_is_found_exactly_when_there_is_one(problem: Problem) -> None:
    outcome = solve(problem)
    if outcome.cells is not None:
        assert fits(problem, outcome.cells)
        return
    assert outcome.proved
    width = max(domain.bit_length() for domain in problem.domains)
    assert not any(fits(problem, cells) for cells in itertools.product(range(width), repeat=len(problem.domains)))


def test_a_clique_one_too_large_is_refused_at_once() -> None:
    items = 17
    conflicts = [{other: frozenset({0}) for other in range(items) if other != item} for item in range(items)]
    outcome = solve(Problem([0xFFFF] * items, conflicts))
    assert outcome.cells is None and outcome.proved
    assert solve(Problem([0x1FFFF] * items, conflicts)).cells is not None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(-3, 3)), max_size=12))
def test_offset_union_accepts_exactly_the_consistent_ties(ties: list[tuple[int, int, int]]) -> None:
    union = OffsetUnion()
    for _ in range(6):
        union.add()
    accepted: list[tuple[int, int, int]] = []
    for left, right, distance in ties:
        if union.join(left, right, distance):
            accepted.append((left, right, distance))
        else:
            assert union.find(left)[0] == union.find(right)[0]
            assert union.find(right)[1] - union.find(left)[1] != distance
    for left, right, distance in accepted:
        assert union.find(left)[0] == union.find(right)[0]
        assert union.find(right)[1] - union.find(left)[1] == distance
