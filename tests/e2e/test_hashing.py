"""microcode/hashing: the flow table against a dictionary, its chains against Python's integers, threads that want one chain."""

from __future__ import annotations

import random
import re
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ixpemu import App, resources
from ixpemu.app_module import load_module
from ixpemu.engine.jit import COMPILED

SOURCE = resources.folder("microcode") / "hashing"
VARIANTS = [(software, cached) for software in (0, 1) for cached in (0, 1)]
ONES = 0xFFFFFFFF
GENERATOR = 1 << 128 | 1 << 98 | 1 << 69 | 1 << 33 | 1      # of the unit's hash of 128 bits
LIMIT = 4_000_000


class Table:
    """The application, and what its Python calls things."""

    def __init__(self, folder: Path, software: int = 0, cached: int = 0, chains: int = 1024) -> None:
        shutil.copytree(SOURCE, folder, dirs_exist_ok=True)
        defines = f"define = {{ SOFTWARE_HASH = {software}, CACHED = {cached}, CHAINS = {chains} }}"
        text = re.sub(r'(image = "\w+\.uc")', rf"\1, {defines}", (SOURCE / "app.toml").read_text(encoding="utf-8"))
        (folder / "app.toml").write_text(text, encoding="utf-8")
        self.app = App.load(folder)
        self.program: Any = self.app.xscale.program
        self.module: Any = sys.modules[type(self.program).__module__]

    def flow(self, pick: random.Random) -> Any:
        addresses, ports = (pick.randrange(1 << 32), pick.randrange(1 << 32)), (pick.randrange(1 << 16), pick.randrange(1 << 16))
        return self.module.Flow(*addresses, *ports, pick.choice((6, 17)))

    def all_of(self, requests: list[tuple[str, Any, int]]) -> list[tuple[str, int]]:
        """The answers of requests that are all under way together: status and value."""
        numbers = [self.program.ask(self.module.Operation[name], flow, value) for name, flow, value in requests]
        limit = self.app.chip.cycle + LIMIT
        while self.program.outstanding:
            assert self.app.chip.cycle < limit, f"{self.program.outstanding} requests without an answer"
            self.app.advance(4_000)
        answers = [self.program.answers[number] for number in numbers]
        return [(answer.status.name, answer.value) for answer in answers]

    def free(self) -> int:
        """Entries on the free list."""
        return int(self.app.chip.sram[0].queue(self.module.FREE_QUEUE).count)

    def deleted(self) -> int:
        """Entries that wait for their grace time: on the ring, or in the hands of the ager."""
        used = self.module.ENTRY_COUNT - self.free() - len(self.program.entries())
        assert used >= int(self.app.chip.scratch.ring(self.module.DELETED_RING).used)
        return used


def mixed(x: int, y: int, amount: int) -> int:
    return ((x ^ y) - (y << amount | y >> (32 - amount))) & ONES


def lookup3(a: int, b: int, c: int) -> int:
    """The last rounds of Bob Jenkins's lookup3, as he published them."""
    c = mixed(c, b, 14)
    a = mixed(a, c, 11)
    b = mixed(b, a, 25)
    c = mixed(c, b, 16)
    a = mixed(a, c, 4)
    b = mixed(b, a, 14)
    return mixed(c, b, 24)


def hash_unit(words: tuple[int, ...], multiplier: tuple[int, ...]) -> int:
    """The hash of 128 bits, its words combined by exclusive or."""
    key, factor = (sum(word << 32 * k for k, word in enumerate(each)) for each in (words, multiplier))
    product = 0
    for bit in range(128):
        product ^= (key << bit) if factor >> bit & 1 else 0
    while product.bit_length() > 128:
        product ^= GENERATOR << (product.bit_length() - 129)
    return product & ONES ^ product >> 32 & ONES ^ product >> 64 & ONES ^ product >> 96


@pytest.mark.parametrize(("software", "cached"), VARIANTS)
def test_as_a_dictionary(tmp_path: Path, software: int, cached: int) -> None:
    table, pick = Table(tmp_path, software, cached), random.Random(10 * software + cached)
    known: dict[Any, int] = {}
    flows = [table.flow(pick) for _ in range(40 if COMPILED else 8)]
    for _ in range(30 if COMPILED else 4):
        requests, expected = [], []
        for flow in pick.sample(flows, len(flows) // 2):
            name, value = pick.choice(("INSERT", "FIND", "FIND", "DELETE")), pick.randrange(1 << 32)
            requests.append((name, flow, value))
            if name == "INSERT":
                expected.append(("THERE" if flow in known else "DONE", value))
                known[flow] = value
            elif flow in known:
                expected.append(("DONE", known[flow]))
                if name == "DELETE":
                    del known[flow]
            else:
                expected.append(("MISSING", value))
        assert table.all_of(requests) == expected
    assert {flow: entry.value for flow, entry in table.program.entries().items()} == known
    assert table.app.chip.reserved == {}


@pytest.mark.parametrize("software", [0, 1])
def test_chains(tmp_path: Path, software: int) -> None:
    """Every flow is in the chain that plain Python says."""
    table, pick = Table(tmp_path, software), random.Random(3 + software)
    flows = [table.flow(pick) for _ in range(200 if COMPILED else 20)]
    assert {status for status, _ in table.all_of([("INSERT", flow, 0) for flow in flows])} == {"DONE"}
    for flow, entry in table.program.entries().items():
        source, destination, ports, protocol = flow.words()
        protocol |= table.module.LIVE_BIT
        wanted = (lookup3(source, destination, ports ^ protocol) if software
                  else hash_unit((source, destination, ports, protocol), table.module.MULTIPLIER))
        assert entry.chain == wanted % 1024
    assert len(table.program.entries()) == len(flows)


@pytest.mark.parametrize("cached", [0, 1])
def test_all_want_one_chain(tmp_path: Path, cached: int) -> None:
    """Requests for the same few flows in one chain, by all threads of two microengines at once: each flow is there once or not at
    all, as inserted and not deleted, and no entry is lost.
    """
    table, pick = Table(tmp_path, cached=cached, chains=1), random.Random(cached)
    flows = [table.flow(pick) for _ in range(6)]
    balance: Counter[Any] = Counter()
    for _ in range(20 if COMPILED else 2):
        requests = [(pick.choice(("INSERT", "DELETE", "FIND")), pick.choice(flows), k) for k in range(100 if COMPILED else 30)]
        for (name, flow, _), (status, _) in zip(requests, table.all_of(requests), strict=True):
            if status == "DONE" and name != "FIND":
                balance[flow] += 1 if name == "INSERT" else -1
    there = table.program.entries()
    assert {flow: 1 for flow in there} == +balance
    assert set(balance.values()) <= {0, 1}
    table.app.advance(2 * 16 * table.module.GRACE_TIME)
    assert table.deleted() == 0
    assert table.app.chip.reserved == {}


def test_entries_come_back_after_their_grace_time(tmp_path: Path) -> None:
    table = Table(tmp_path)
    flow = table.flow(random.Random(5))
    assert table.all_of([("INSERT", flow, 7)]) == [("DONE", 7)]
    assert table.all_of([("DELETE", flow, 0)]) == [("DONE", 7)]
    assert table.deleted() == 1
    table.app.advance(16 * table.module.GRACE_TIME // 2)
    assert table.deleted() == 1
    table.app.advance(16 * table.module.GRACE_TIME)
    assert table.deleted() == 0


def test_a_table_that_is_full(tmp_path: Path) -> None:
    """With three free entries left the fourth flow is refused, and one is free again later."""
    table, pick = Table(tmp_path), random.Random(6)
    queue = table.app.chip.sram[0].queue(table.module.FREE_QUEUE)
    while table.free() > 3:
        queue.dequeue()
    flows = [table.flow(pick) for _ in range(4)]
    found = [table.all_of([("INSERT", flow, 1)])[0][0] for flow in flows]
    assert found == ["DONE", "DONE", "DONE", "FULL"]
    assert table.all_of([("DELETE", flows[0], 0)]) == [("DONE", 1)]
    table.app.advance(32 * table.module.GRACE_TIME)
    assert table.all_of([("INSERT", flows[3], 2)]) == [("DONE", 2)]


def test_flows_that_nobody_asks_for_go(tmp_path: Path) -> None:
    """Of two flows the one that is asked for again and again stays."""
    table, pick = Table(tmp_path), random.Random(7)
    kept, forgotten = table.flow(pick), table.flow(pick)
    assert table.all_of([("INSERT", kept, 1), ("INSERT", forgotten, 2)]) == [("DONE", 1), ("DONE", 2)]
    # A sweep looks at 4,096 entries, a reference each: half a million cycles.
    table.program.set_longest_idle(600_000 if COMPILED else 60_000)
    if not COMPILED:
        table.app.advance(20_000)
        assert set(table.program.entries()) == {kept, forgotten}
        return
    for _ in range(20):
        table.app.advance(100_000)
        table.all_of([("FIND", kept, 0)])
    assert set(table.program.entries()) == {kept}
    assert table.all_of([("FIND", forgotten, 9)]) == [("MISSING", 9)]
    table.program.set_longest_idle(0)
    table.app.advance(2_000_000)
    assert set(table.program.entries()) == {kept}


def test_a_snapshot_goes_on(tmp_path: Path) -> None:
    """Requests under way when it is taken are answered after it is restored, the same."""
    table, pick = Table(tmp_path), random.Random(8)
    flows = [table.flow(pick) for _ in range(30)]
    numbers = [table.program.ask(table.module.Operation.INSERT, flow, k) for k, flow in enumerate(flows)]
    table.app.advance(6_000)
    saved = table.app.chip.snapshot()
    assert 0 < table.program.outstanding <= 30

    def finished() -> list[Any]:
        table.app.advance(60_000)
        return [table.program.answers[number] for number in numbers]

    first = finished()
    table.app.chip.restore(saved)
    assert finished() == first


def test_the_layout_is_that_of_the_microcode() -> None:
    """Every constant of flow.h that control.py has as well is the same there."""
    text = (SOURCE / "flow.h").read_text(encoding="utf-8")
    header = {name: int(value, 0) for name, value in re.findall(r"#define (\w+)\s+(0x[0-9a-fA-F]+|\d+)\b", text)}
    scope = vars(load_module(SOURCE / "control.py"))
    common = header.keys() & scope.keys()
    assert {name: scope[name] for name in common} == {name: header[name] for name in common}
    assert len(common) >= 12
    for prefix, names in (("OP_", scope["Operation"]), ("STATUS_", scope["Status"])):
        wanted = {name: value for name, value in header.items() if name.startswith(prefix)}
        assert {f"{prefix}{each.name}": int(each) for each in names} == wanted
