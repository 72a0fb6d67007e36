"""Every finding of the assembler's back end is shown by a case of the corpus, or by a test that is named here."""

from __future__ import annotations

from ixpemu import codes
from tests.support.corpus import cases, load

BACK_END = [
    codes.ENCODING_REFUSED, codes.DEFER_SLOT, codes.DEFER_PAST_END, codes.FOLLOWED_WRONGLY, codes.BANK_CONFLICT,
    codes.OUT_OF_REGISTERS, codes.FIXED_PLACE, codes.REPAIR_MOVE, codes.REPAIR_SPILL, codes.REPAIR_FAILED,
    codes.IMAGE_TOO_LARGE, codes.PROGRAM_EMPTY, codes.SHADOW_UNDEFINED, codes.SHADOW_OLD, codes.CRC_EARLY, codes.STALE_INDEX,
    codes.STALE_ALIGN, codes.STALE_CRC, codes.STALE_FLAGS, codes.STALE_ENTRY, codes.NO_PREVIOUS_A, codes.NO_PREVIOUS_RESULT,
    codes.NO_OPS_OPEN, codes.NO_OPS, codes.SCHEDULE_NOT_DONE, codes.PAIR_HALF,
    codes.KILL_FETCHED, codes.RING_UNTESTED, codes.SIGNAL_AGAIN, codes.INDIRECT_COUNT, codes.RETURN_ADDRESS,
    codes.SIGN_OF_ANOTHER, codes.STEP_ORDER, codes.RESULT_LOST,
    codes.USED_BEFORE_SET, codes.MAYBE_USED_BEFORE_SET, codes.UNREACHABLE, codes.RUNS_OFF_END, codes.XFER_ORDER_MISSING,
    codes.XFER_ORDER_SHORT, codes.SET_NEVER_USED, codes.TOUCHED_IN_FLIGHT, codes.XFER_ORDER_CONTRADICTION, codes.OUT_OF_TRANSFERS,
    codes.OUT_OF_SIGNALS, codes.SIGNAL_NEVER_RAISED, codes.SIGNAL_MIXED, codes.PAIR_POLLED, codes.PAIR_ANY,
    codes.NEVER_WAITED_FOR, codes.NO_SIGNAL,
]
def test_every_finding_has_a_case() -> None:
    shown = "".join(load(path).sections.get("errors", "") for path in cases("asm"))
    missing = [code for code in BACK_END if f"IXP{code}" not in shown]
    assert not missing


def test_the_list_is_complete() -> None:
    families = {number for number in codes.TITLES if 4100 <= number < 6000 or number == codes.ENCODING_REFUSED}
    assert families == set(BACK_END)
