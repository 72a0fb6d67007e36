"""Line arithmetic: published packet rates, exactness over long rows of frames, refused rates."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ixpemu.diagnostics import UserError
from ixpemu.wire.line import Line, LineClock, wire_length

GIGABIT = Line()


@pytest.mark.parametrize(
    ("length", "wire"), [(1514, 1526), (60, 72), (59, 72), (14, 72), (13, 25), (0, 12)]
)
def test_wire_length_is_preamble_padded_frame_and_check(length, wire):
    assert wire_length(length) == wire


def test_packet_rates_are_those_of_the_line_rate_table():
    assert round(GIGABIT.frames_per_second(60) / 1e6, 3) == 1.488
    assert round(GIGABIT.frames_per_second(1514) / 1e3, 1) == 81.3
    assert round(GIGABIT.cycles_between(60)) == 403
    assert round(GIGABIT.cycles_between(1514)) == 7382


def test_first_frame_arrives_with_its_last_bit():
    # 72 bytes are 576 bit times of 0.6 cycles: 345.6, so the last bit is in by cycle 346.
    arrival, _ = LineClock.at(GIGABIT, 1.0).next(60)
    assert arrival == 346


def test_a_million_frames_do_not_drift():
    clock = LineClock.at(GIGABIT, None)
    slot = Fraction(84 * 8 * 600, 1000)
    for number in range(2000):
        arrival, clock = clock.next(60)
        exact = number * slot + Fraction(576 * 600, 1000)
        assert arrival == -(-exact.numerator // exact.denominator)


def test_half_rate_doubles_the_slots_but_not_the_frame():
    clock = LineClock.at(GIGABIT, 0.5)
    first, clock = clock.next(60)
    second, _ = clock.next(60)
    assert first == 346
    assert second == -(-(2 * 672 + 576) * 6 // 10)


def test_own_times_wait_for_the_frame_in_front():
    clock = LineClock.at(GIGABIT, None, origin=1000)
    first, clock = clock.next(1514, not_before_ns=5_000)
    assert first == 1000 + -(-(5_000 + 1526 * 8) * 6 // 10)
    second, clock = clock.next(60, not_before_ns=5_001)
    assert second == 1000 + -(-(5_000 + (1526 + 12 + 72) * 8) * 6 // 10)
    third, _ = clock.next(60, not_before_ns=1_000_000)
    assert third == 1000 + -(-(1_000_000 + 576) * 6 // 10)


@given(
    st.lists(st.tuples(st.integers(0, 9018), st.integers(0, 10**7)), max_size=30),
    st.integers(1, 10**9), st.sampled_from([400, 533, 600, 650]),
)
def test_arrivals_equal_fractions(rows, offered, megahertz):
    line = Line(clock=megahertz * 10**6)
    clock = LineClock(line, offered)
    dues = [sum(gap for _, gap in rows[: k + 1]) for k in range(len(rows))]
    together, after = clock.arrivals(np.array([length for length, _ in rows], np.int64), np.array(dues, np.int64))
    free = Fraction(0)
    due = 0
    one_by_one = []
    for length, gap in rows:
        due += gap
        start = max(free, Fraction(due, 10**9))
        arrival, clock = clock.next(length, due)
        exact = (start + Fraction(wire_length(length) * 8, line.speed)) * line.clock
        assert arrival == -(-exact.numerator // exact.denominator)
        free = start + Fraction((wire_length(length) + 12) * 8, offered)
        one_by_one.append(arrival)
    assert together.tolist() == one_by_one
    assert after == clock


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.integers(0, 5), st.integers(0, 10**6))
def test_a_clock_behind_another_starts_when_that_one_is_through(offered, other_offered, frames, origin):
    first = LineClock(GIGABIT, other_offered, origin)
    for _ in range(frames):
        _, first = first.next(60)
    clock = LineClock(GIGABIT, offered, origin + 17).behind(first)
    arrival, _ = clock.next(60)
    seconds = max(Fraction(frames * 672, other_offered) + Fraction(origin, 600_000_000), Fraction(origin + 17, 600_000_000))
    exact = (seconds + Fraction(576, 10**9)) * 600_000_000
    assert exact <= arrival <= exact + 1 + Fraction(600_000_000, 10**9)


@pytest.mark.parametrize("gbps", [0, -1.0, 1.5, float("nan"), float("inf"), 1e-12])
def test_impossible_rates_are_refused(gbps):
    with pytest.raises(UserError) as caught:
        LineClock.at(GIGABIT, gbps)
    assert caught.value.diagnostics[0].help
