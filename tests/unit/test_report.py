"""Summaries against sums done by hand in plain Python, and the report at fixed width."""

import dataclasses
import json
import random
import statistics
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from ixpemu.report import run_json, run_report
from ixpemu.trace import CycleSums, Latency, PacketColumns, PortFigures, RunReport, Totals, Uncounted, Where, summarise
from ixpemu.trace.summary import DROPPED, INSIDE, SENT, line_gbps, merge_drops, unbalanced

KINDS, REASONS, UNITS = ("ipv4", "arp", "never"), ("no route", "bad checksum"), ("scratch", "sram", "dram", "msf")


def columns(rows: list[dict[str, object]]) -> PacketColumns:
    def of(name: str, kind: str) -> np.ndarray:
        return np.array([row[name] for row in rows], dtype=kind)

    return PacketColumns(
        KINDS, REASONS, UNITS, of("kind", "u4"), of("fate", "u1"), of("reason", "u4"), of("arrived", "u8"), of("left", "u8"),
        of("instructions", "u8"), of("executing", "u8"), of("aborted", "u8"), of("stalled", "u8"),
        of("waiting", "u8").reshape(-1, len(UNITS)), of("references", "u8").reshape(-1, len(UNITS)),
    )


def some_rows(seed: int, count: int) -> list[dict[str, object]]:
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        arrived = rng.randrange(10_000)
        rows.append({
            "kind": rng.randrange(2), "fate": rng.choice((INSIDE, SENT, SENT, DROPPED)), "reason": rng.randrange(2),
            "arrived": arrived, "left": arrived + rng.randrange(1, 5_000), "instructions": rng.randrange(400),
            "executing": rng.randrange(400), "aborted": rng.randrange(90), "stalled": rng.randrange(9),
            "waiting": [rng.randrange(900), rng.randrange(900), 0, rng.randrange(2)],
            "references": [rng.randrange(9), rng.randrange(9), 0, rng.randrange(2)],
        })
    return rows


@pytest.mark.parametrize("count", [1, 2, 3, 99, 100, 101, 257])
def test_summaries_equal_sums_done_one_by_one(count: int) -> None:
    rows = some_rows(count, count)
    types, drops = summarise(columns(rows))
    assert [t.name for t in types] == list(dict.fromkeys(KINDS[r["kind"]] for r in rows))
    for kind in types:
        mine = [r for r in rows if KINDS[r["kind"]] == kind.name]
        sent = sorted(r["left"] - r["arrived"] for r in mine if r["fate"] == SENT)
        assert (kind.packets, kind.sent, kind.dropped) == (len(mine), len(sent), sum(r["fate"] == DROPPED for r in mine))
        assert kind.instructions == sum(r["instructions"] for r in mine)
        assert kind.cycles == CycleSums(*(sum(r[n] for r in mine) for n in ("executing", "aborted", "stalled")))
        for name, have in (("waiting", kind.waiting), ("references", kind.references)):
            totals = {unit: sum(r[name][i] for r in mine) for i, unit in enumerate(UNITS)}
            assert have == {unit: total for unit, total in totals.items() if total}
        if sent:
            assert kind.latency is not None
            assert (kind.latency.minimum, kind.latency.maximum) == (sent[0], sent[-1])
            assert kind.latency.median == statistics.median_low(sent)
            assert sum(x <= kind.latency.p99 for x in sent) >= 0.99 * len(sent) > sum(x < kind.latency.p99 for x in sent)
        else:
            assert kind.latency is None
    for reason, number in drops.items():
        assert number == sum(r["fate"] == DROPPED and REASONS[r["reason"]] == reason for r in rows)
    assert list(drops.values()) == sorted(drops.values(), reverse=True)


def test_packets_counted_in_pieces_give_the_same() -> None:
    rows = some_rows(5, 200)
    totals = Totals(UNITS)
    for start in range(0, 200, 33):
        totals.add(columns(rows[start:start + 33]))
    types, drops = summarise(columns(rows))
    assert totals.types() == types and merge_drops(totals.drops) == drops


def test_no_packets_at_all() -> None:
    types, drops = summarise(columns([]))
    assert types == () and drops == {}
    assert Latency.of(np.array([], "u8")) is None


def test_line_rate_of_minimal_frames_at_full_speed() -> None:
    """1.488 million frames of 64 bytes a second (60 without check sequence) fill 1 Gb/s."""
    rate = line_gbps(1_488_095, 1_488_095 * 60, 600_000_000, 600_000_000)
    assert rate == pytest.approx(1.0, abs=1e-6)
    assert line_gbps(0, 0, 100, 600_000_000) is None and line_gbps(1, 60, 0, 600_000_000) is None


def test_drops_of_several_places_are_merged() -> None:
    assert merge_drops({"a": 1, "b": 3}, {"a": 4, "c": 0}) == {"a": 5, "b": 3}


def example() -> RunReport:
    row = {
        "fate": SENT, "reason": 0, "arrived": 100, "instructions": 100, "executing": 101, "aborted": 20, "stalled": 2,
        "waiting": [0, 300, 40, 5], "references": [2, 3, 1, 1],
    }
    rows = [row | {"kind": 0, "left": 100 + 1000 * n} for n in range(1, 4)]
    rows.append(row | {"kind": 1, "fate": DROPPED, "left": 700, "waiting": [0, 0, 0, 0]})
    types, drops = summarise(columns(rows))
    spent = sum(kind.cycles.total for kind in types)
    return RunReport(
        application="ipv4_forward", clock_hz=600_000_000, cycles=6_000, clocks=12_000, stop="quiet", types=types,
        outside=Uncounted(CycleSums(50, 6, 1), 40, 12_000 - spent - 57),
        ports=(PortFigures(0, 1.0, (5, 300), (3, 180), {"runt": 1}, 0.5, 0.25), PortFigures(1, 1.0, (0, 0), (0, 0))),
        arrived=5, sent=4, generated=1, drops=merge_drops(drops, {"runt": 1}), notes=("something to know",),
    )


EXPECTED = """\
ipv4_forward: 6,000 chip cycles (0.010 ms at 600 MHz), 440 instructions; stopped: quiet

Packets
in                    5
out                   4
  of these made here  1
dropped               2
  no route            1
  runt                1

Cost per packet, in microengine cycles; waiting is a thread's elapsed time
type  packets  share  instr  executing  aborted  stalled  waiting
ipv4        3  75.0%  100.0      101.0     20.0      2.0    345.0
arp         1  25.0%  100.0      101.0     20.0      2.0      0.0

Cycles waiting per packet, by unit
type   sram  dram  msf
ipv4  300.0  40.0  5.0
arp     0.0   0.0  0.0

References per packet, by unit
type  scratch  sram  dram  msf
ipv4      2.0   3.0   1.0  1.0
arp       2.0   3.0   1.0  1.0

Latency of packets sent, in chip cycles
type  sent    min  median    p99    max  median us
ipv4     3  1,000   2,000  3,000  3,000       3.33

Ports, rates in Gb/s on the wire
port  line  in  refused  in rate  out  out rate  of line
0        1   5        1    0.500    3     0.250    25.0%
1        1   0        0        -    0         -        -

Microengine cycles
in packets          492   4.1%
between packets      57   0.5%
idle             11,451  95.4%
together         12,000

note: something to know
"""


def text_of(report: RunReport) -> str:
    stream = StringIO()
    Console(file=stream, width=100, color_system=None).print(run_report(report))
    return "".join(line.rstrip() + "\n" for line in stream.getvalue().splitlines())


def test_the_report_as_text() -> None:
    assert text_of(example()) == EXPECTED


def test_a_report_whose_sums_do_not_hold_says_so() -> None:
    good = example()
    assert unbalanced(good) == []
    bad = dataclasses.replace(good, clocks=good.clocks + 1, inside=1)
    assert len(unbalanced(bad)) == 2
    assert "these sums do not hold: microengine cycles: 12,000 are accounted for, 12,001 passed" in text_of(bad)
    assert len(run_json(bad)["faults"]) == 2


def test_where_an_unfinished_run_stands() -> None:
    where = (Where(0, 3, 7, "executing", "loop# + 2", "rx.uc:40"), Where(0, 4, 0, "asleep"))
    text = text_of(dataclasses.replace(example(), stop="the limit of 6,000 cycles", where=where))
    assert "Program counters\nmicroengine 0, context 3: at 7 (loop# + 2) rx.uc:40\n" in text
    assert "context 4" not in text
    assert "Program counters" not in text_of(dataclasses.replace(example(), where=where))


def test_the_report_as_json() -> None:
    values = json.loads(json.dumps(run_json(example())))
    assert values["packets"]["dropped_by_reason"] == {"no route": 1, "runt": 1}
    ipv4 = values["types"][0]
    assert ipv4["latency"] == {"min": 1000, "median": 2000, "p99": 3000, "max": 3000}
    assert ipv4["references"] == {"scratch": 6, "sram": 9, "dram": 3, "msf": 3}
    counted = sum(t[n] for t in values["types"] for n in ("executing", "aborted", "stalled"))
    between = values["between_packets"]
    counted += between["executing"] + between["aborted"] + between["stalled"] + values["idle"]
    assert counted == values["microengine_cycles"]


def test_the_report_in_a_notebook() -> None:
    assert "<td>3</td><td>100.0</td>" in example()._repr_html_()
