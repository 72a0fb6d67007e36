"""Programs in which much could be moved and little may be: made from a seed, for comparing what they leave before and after.

Every piece of state that an instruction may depend on without naming it occurs, close together and in any order: condition codes
in carry chains, what an indirect shift or asr takes from the instruction before, latches of byte_align, the pointers of local
memory and T_INDEX, CAM, CRC remainder, multiplier; transfer registers under way, signals waited for at once or later, defer slots
that are already in use. Nothing here knows what a program computes. One thread runs it, and it ends by itself.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

LEFT, RIGHT = ("a0", "a1", "a2", "a3", "a4"), ("b0", "b1", "b2", "b3", "b4")
SHARED = ("@l", "@r")               # one of each bank
BRANCHES = ("beq", "bne", "bmi", "bpl", "bhs", "blo", "bge", "blt", "ble", "bgt")
HEADER = f"""
.reg {' '.join((*LEFT, *RIGHT))} pl pr seed return_one return_two {' '.join(SHARED)}
.reg read $r[4] $$q[4]
.reg write $w[4] $$p[4]
.reg $h[2]
.sig s1 s2 s3
.xfer_order $r
.xfer_order $w
.xfer_order $$q
.xfer_order $$p
.xfer_order $h
.areg seed 15
.areg return_one 14
.areg return_two 13
"""

START = """
alu[--, a0, +, 1]
local_csr_wr[ACTIVE_LM_ADDR_0, 0]
local_csr_wr[ACTIVE_LM_ADDR_1, 64]
nop
nop
nop
cam_clear
local_csr_wr[T_INDEX, 0]
local_csr_wr[BYTE_INDEX, 0]
local_csr_wr[CRC_REMAINDER, 0]
nop
nop
nop
immed[pl, 0]
dram[read, $$q[0], pl, 0, 2], ctx_swap[s3]
sram[read, $r[0], pl, 0, 4], ctx_swap[s1]
alu[$h[0], --, B, a0]
alu[$h[1], --, B, a0]
hash_48[$h[0], 1], ctx_swap[s1]
""".strip().splitlines()


@dataclass(slots=True)
class Author:
    """Writes a program. `danger`: how often state with a delay is used too early. `focus`: what half of the instructions use."""

    chance: random.Random
    danger: float = 0.3
    focus: str = ""
    lines: list[str] = field(default_factory=list)
    labels: int = 0
    counters: list[str] = field(default_factory=list)
    pending: bool = False           # a command with signal s2 is under way

    def put(self, *lines: str) -> None:
        """Adds lines."""
        self.lines += lines

    def pick(self, *among: str) -> str:
        """One of several."""
        return self.chance.choice(among)

    def label(self) -> str:
        """A new label."""
        self.labels += 1
        return f"p{self.labels}#"

    def read_any(self) -> str:
        """A source that is no GPR of bank B."""
        read = [*LEFT, *LEFT, "@l", str(self.chance.randrange(200)), f"*l$index0[{self.chance.randrange(4)}]", "$h[1]"]
        if not self.pending:
            read += ["$r[0]", "$r[1]", "$r[3]", "$$q[2]"]
        return self.pick(*read)

    def target(self) -> str:
        """A destination."""
        found = [*LEFT, *RIGHT, *LEFT, *RIGHT, "--", "@l", "@r", f"*l$index0[{self.chance.randrange(4)}]"]
        if not self.pending:
            found += ["$w[0]", "$w[1]", "$w[3]", "$$p[0]", "$$p[1]", "$h[0]"]
        return self.pick(*found)

    def focused(self) -> str:
        """An instruction of what the program is mostly about."""
        left, right, gpr, place = self.pick(*LEFT), self.pick(*RIGHT), self.pick(*LEFT, *RIGHT), self.chance.randrange(2)
        return self.pick(*{
            "codes": [f"alu[{gpr}, {left}, {self.pick('+', '-', '+carry', '-carry')}, {right}]", f"alu[--, {left}, -, {right}]"],
            "local memory": [f"alu[*l$index0[{place}], {left}, +, {right}]", f"alu[{gpr}, *l$index0[{place}], +, {right}]"],
            "pointers": [f"alu[{gpr}, *l$index0{self.pick('++', '--')}, XOR, {right}]", f"alu[{gpr}, *l$index0[1], +, {right}]"],
            "T_INDEX": [f"alu[{gpr}, *$index{self.pick('', '++', '--')}, XOR, {right}]"],
            "byte_align": [
                f"byte_align_be[{gpr}, {right}]", f"byte_align_be[{gpr}, {right}]", f"byte_align_le[{gpr}, {left}]",
                f"local_csr_wr[BYTE_INDEX, {self.chance.randrange(1, 4)}]"],
            "transfers": [f"alu[{gpr if self.pending else self.pick('$w[0]', '$w[1]')}, {left}, +, {right}]"],
            "CAM": [f"cam_write[{left}, {right}, {self.chance.randrange(16)}]", f"cam_lookup[{gpr}, {right}]",
                    f"cam_read_tag[{gpr}, {left}]", f"cam_write_state[{left}, 3]"],
        }[self.focus])

    def plain(self) -> str:
        """An instruction that leaves nothing hidden behind but condition codes and the like."""
        if self.focus and self.chance.random() < 0.6:
            return self.focused()
        left, right = self.read_any(), self.pick(*RIGHT)
        gpr = self.pick(*LEFT, *RIGHT)
        return self.pick(
            f"alu[{self.target()}, {left}, {self.pick('+', '-', 'AND', 'XOR', '+carry', '-carry', 'OR', 'B-A')}, {right}]",
            f"alu[{self.target()}, {self.pick(*LEFT)}, {self.pick('+', '-', '+carry')}, {right}]",
            f"alu[{gpr}, {self.pick(*LEFT)}, {self.pick('+', '+8', 'XOR')}, {self.chance.randrange(128)}]",
            f"immed[{gpr}, {self.chance.randrange(65536)}]", f"immed_w1[{gpr}, {self.chance.randrange(65536)}]",
            f"ld_field[{self.pick(*LEFT)}, {self.pick('0011', '1000', '0110')}, {right}, {self.pick('<<8', '>>4', '>>rot3')}]",
            f"ld_field_w_clr[{self.pick(*LEFT)}, 0101, {right}], load_cc",
            f"alu_shf[{gpr}, {self.pick(*LEFT)}, {self.pick('OR', 'AND', '~B')}, {right}, {self.pick('<<3', '>>7', '<<rot9')}]",
            f"dbl_shf[{gpr}, {self.pick(*LEFT)}, {right}, >>{self.chance.randrange(1, 32)}]",
            f"alu[{gpr}, --, B, {self.pick(*LEFT)}]", f"alu[--, {self.pick(*LEFT)}, -, {right}]",
        )

    def some(self, most: int) -> None:
        """Up to `most` plain instructions."""
        self.put(*(self.plain() for _ in range(self.chance.randint(0, most))))

    def delay(self) -> None:
        """Enough between setting and using, or not."""
        enough = self.chance.random() >= self.danger
        self.put(*([self.pick("nop", self.quiet()) for _ in range(3)] if enough else ["nop"] * self.chance.randrange(3)))

    def quiet(self) -> str:
        """A plain instruction that uses nothing that has a delay."""
        while re.search("index|INDEX|align", line := self.plain()):
            pass
        return line

    def hidden(self) -> None:
        """A few instructions that hang together by something that no operand names."""
        left, right, gpr = self.pick(*LEFT), self.pick(*RIGHT), self.pick(*LEFT, *RIGHT)
        kind = self.chance.randrange(10)
        if kind == 0:
            self.put(f"alu[--, {left}, OR, 0]", f"alu_shf[{gpr}, --, B, {right}, {self.pick('<<', '>>')}indirect]")
        elif kind == 1:
            self.put(f"alu[{right}, --, B, {left}]", f"asr[{gpr}, {right}, >>{self.chance.randrange(1, 32)}]")
        elif kind == 2:
            self.put(f"local_csr_wr[BYTE_INDEX, {self.chance.randrange(4)}]")
            self.delay()
            self.put(f"byte_align_be[--, {right}]")
            self.some(2)
            self.put(f"byte_align_be[{gpr}, {self.pick(*RIGHT)}]")
            self.some(1)
            self.put(f"byte_align_be[{self.pick(*LEFT)}, {self.pick(*RIGHT)}]")
        elif kind == 3:
            pointer = self.pick("0", "1")
            self.put(f"immed[pl, {self.chance.randrange(0, 1024, 64)}]")
            self.some(1)
            self.put(f"local_csr_wr[ACTIVE_LM_ADDR_{pointer}, pl]")
            self.delay()
            self.put(f"alu[*l$index{pointer}[{self.chance.randrange(4)}], {left}, +, {right}]")
            self.some(1)
            self.put(f"alu[{gpr}, *l$index{pointer}{self.pick('++', '--', '[1]')}, +, {right}]")
        elif kind == 4:
            self.put(f"local_csr_wr[T_INDEX, {self.chance.randrange(0, 16) * 4}]")
            self.delay()
            self.put(f"alu[{gpr}, {self.pick('*$index', '*$index++')}, XOR, {right}]")
        elif kind == 5:
            self.put(f"cam_write[{left}, {right}, {self.chance.randrange(16)}]")
            self.some(1)
            self.put(f"cam_lookup[{gpr}, {self.pick(*RIGHT)}]{self.pick('', ', lm_addr1[0]')}")
            self.delay()
            self.put(f"cam_read_state[{self.pick(*LEFT)}, {left}]", f"alu[*l$index1[2], --, B, {right}]")
        elif kind == 6:
            self.put(f"local_csr_wr[CRC_REMAINDER, {self.chance.randrange(256)}]")
            self.delay()
            self.put(f"crc_be[crc_32, {gpr}, {right}]")
            self.some(2)
            self.put(f"crc_le[crc_ccitt, --, {left}]")
            self.delay()
            self.put("local_csr_rd[CRC_REMAINDER]", f"immed[{gpr}, 0]")
        elif kind == 7:
            self.put(
                f"mul_step[{left}, {right}], 16x16_start", f"mul_step[{left}, {right}], 16x16_step1",
                f"mul_step[{left}, {right}], 16x16_step2", f"mul_step[{gpr}, --], 16x16_last")
        elif kind == 8:
            self.put(f"pop_count1[{right}]", f"pop_count2[{right}]", f"pop_count3[{gpr}, {right}]")
        else:
            self.put(f"alu[{self.pick(*LEFT)}, {left}, +, {right}]")
            self.put(f"alu[{gpr}, {self.pick(*LEFT)}, +carry, {self.pick(*RIGHT)}]")

    def wait(self) -> None:
        """Waits for the command that is under way."""
        self.some(3)
        self.put(f"ctx_arb[s2]{self.slots(2)}")
        self.taken()
        self.pending = False
        self.some(3)

    def slots(self, most: int) -> str:
        """The option for defer slots, which `taken` fills."""
        self.wanted = self.chance.choice([0, 0, 0, *range(1, most + 1)])
        return f", defer[{self.wanted}]" if self.wanted else ""

    wanted: int = 0

    def taken(self) -> None:
        """The instructions of the slots."""
        self.put(*(self.plain() for _ in range(self.wanted)))

    def command(self) -> None:
        """A command of memory, waited for at once or later."""
        if self.pending:
            self.wait()
        kind, pair = self.chance.randrange(7), self.chance.random() < 0.5
        self.put(f"immed[pl, {self.chance.randrange(0, 64) * 8}]")
        self.some(2)
        swap = f"{'ctx_swap' if pair else 'sig_done'}[{'s1' if pair else 's2'}]"
        if kind == 0:
            line = f"sram[read, $r[0], pl, {self.chance.randrange(3) * 4}, 4], {swap}"
        elif kind == 1:
            self.put(f"alu[$w[0], --, B, {self.pick(*LEFT, *RIGHT)}]", f"alu[$w[1], {self.pick(*LEFT)}, +, {self.pick(*RIGHT)}]")
            line = f"sram[write, $w[0], pl, 0, {self.chance.randint(1, 2)}], {swap}"
        elif kind == 2:
            line = f"scratch[read, $r[1], pl, 0, 2], {swap}"
        elif kind == 3:
            self.put(f"alu[$w[2], --, B, {self.pick(*LEFT, *RIGHT)}]")
            line = f"scratch[write, $w[2], pl, 8, 1], {swap}"
        elif kind == 4:
            # A pair of signals, which has a name of its own.
            self.put(f"dram[read, $$q[0], pl, 0, 2], ctx_swap[s3]{self.slots(2)}")
            return self.taken()
        elif kind == 5:
            self.put(f"alu[$$p[0], --, B, {self.pick(*LEFT)}]", f"alu[$$p[1], --, B, {self.pick(*RIGHT)}]")
            self.put(f"dram[write, $$p[0], pl, 0, 1], ctx_swap[s3]{self.slots(2)}")
            return self.taken()
        else:
            self.put(f"alu_shf[pr, --, B, {self.chance.randrange(4)}, <<21]", "alu[--, pr, OR, 0x1, <<25]")
            line = f"sram[read, $r[0], pl, 0, max_4], indirect_ref, {swap}"
        if pair:
            self.put(line + self.slots(2))
            self.taken()
        else:
            self.put(line)
            self.pending = True

    def branch(self, depth: int) -> None:
        """A condition and what is skipped by it."""
        behind, kind = self.label(), self.chance.randrange(4)
        self.some(2)
        if self.focus == "CAM":
            self.put(f"cam_lookup[a0, {self.pick(*RIGHT)}]")
            self.put(f"br_bset[a0, {self.pick('3', '4', '7', '8')}, {behind}]{self.slots(3)}")
        elif kind <= 1:
            left = {"pointers": self.pick("*l$index0[1]", "*l$index0++"), "T_INDEX": self.pick("*$index", "*$index++"),
                    "local memory": "*l$index0[1]"}.get(self.focus, self.pick(*LEFT))
            target = "$w[0]" if self.focus == "transfers" and not self.pending else "--"
            self.put(f"alu[{target}, {left}, -, {self.pick(*RIGHT)}]")
            self.put(*([self.plain()] if self.chance.random() < 0.2 else []))
            self.put(f"{self.pick(*BRANCHES)}[{behind}]{self.slots(3)}")
        elif kind == 2:
            tested = f"{self.pick(*LEFT, *RIGHT)}, {self.chance.randrange(32)}"
            self.put(f"br_b{self.pick('set', 'clr')}[{tested}, {behind}]{self.slots(3)}")
        else:
            test = self.pick("br=byte", "br!=byte")
            self.put(f"{test}[{self.pick(*LEFT, *RIGHT)}, {self.chance.randrange(4)}, {self.chance.randrange(256)}, {behind}]"
                     f"{self.slots(3)}")
        self.taken()
        was = self.pending
        self.block(depth - 1, 4)
        if self.pending and not was:
            self.wait()
        elif was and not self.pending:
            # The way round has to wait as well.
            over = self.label()
            self.put(f"br[{over}]{self.slots(2)}")
            self.taken()
            self.put(behind.replace("#", "#:"))
            self.pending = True
            self.wait()
            self.put(over.replace("#", "#:"))
            return
        self.put(behind.replace("#", "#:"))

    def loop(self, depth: int) -> None:
        """A few rounds of something."""
        if self.pending:
            self.wait()
        counter, top = f"n{len(self.counters)}", self.label()
        self.counters.append(counter)
        self.put(f"immed[{counter}, {self.chance.randint(1, 3)}]", top.replace("#", "#:"))
        self.block(depth - 1, 4)
        if self.pending:
            self.wait()
        self.put(f"alu[{counter}, {counter}, -, 1]")
        self.some(2 if self.chance.random() < 0.3 else 0)
        self.put(f"alu[--, --, B, {counter}]", f"bne[{top}]{self.slots(3)}")
        self.taken()

    def call(self) -> None:
        """A call of a subroutine that stands behind the program."""
        if self.pending:
            self.wait()
        name, behind = self.pick("one", "two"), self.label()
        self.some(2)
        self.put(f"load_addr[return_{name}, {behind}]", *(self.plain() for _ in range(self.chance.randrange(3))))
        self.put(f"br[{name}#]{self.slots(2)}")
        self.taken()
        self.put(behind.replace("#", "#:"))

    def block(self, depth: int, most: int) -> None:
        """Some statements."""
        for _ in range(self.chance.randint(1, most)):
            kind = self.chance.randrange(12)
            if kind <= 3:
                self.some(4)
            elif kind <= 5:
                self.hidden()
            elif kind <= 8:
                self.command()
            elif depth <= 0:
                self.some(3)
            elif kind == 9:
                self.loop(depth)
            elif kind == 10:
                self.branch(depth)
            else:
                self.call()


FOCUS = ("codes", "local memory", "pointers", "T_INDEX", "byte_align", "CAM", "transfers")
"""What a program can be about; with "" it is about everything."""


def program(seed: int, danger: float = 0.3, focus: str = "", statements: int = 12) -> str:
    """The program of a seed."""
    author = Author(random.Random(seed), danger, focus)
    chance = author.chance
    author.put(*(f"immed[{name}, {chance.randrange(65536)}, <<{chance.choice([0, 8, 16])}]"
                 for name in (*LEFT, *RIGHT, *SHARED, "pl", "pr")))
    author.put(*START)
    author.block(2, statements)
    if author.pending:
        author.wait()
    main, author.lines = author.lines, []
    for name in ("one", "two"):
        author.put(f"{name}#:")
        author.some(4)
        author.hidden() if chance.random() < 0.4 else author.some(2)
        author.put(f"rtn[return_{name}]{author.slots(3)}")
        author.taken()
    head = HEADER + (f".reg {' '.join(author.counters)}\n" if author.counters else "")
    # Where code lies is no matter of what it computes.
    ending = [line for name in ("one", "two") for line in (f"immed[return_{name}, 0]", f"alu[--, --, B, return_{name}]")]
    return "\n".join([head, *main, *ending, "done#:", "ctx_arb[kill]", *author.lines, ""])
