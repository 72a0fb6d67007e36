"""What belongs to the XScale alone: its interrupt controller and its four timers, by byte offset of their registers.

Offsets and interrupt numbers are the Linux driver's (H); what a bit of a timer register means likewise. The raw status of the
interrupt controller is what the sources say: thread interrupts and soft ones are remembered until written 1, the others go away
with their cause. All interrupts are enabled from the start, as a boot loader with a control program would leave them (assumed);
what is masked waits.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.jit import jit
from ixpemu.engine.lanes import raise_interrupt, set_alarm
from ixpemu.engine.layout import (
    ALARM_TIMER,
    IRQ_ATTENTION,
    IRQ_SOFT,
    IRQ_THREAD_A,
    IRQ_THREAD_B,
    IRQ_TIMER,
    NEVER,
)
from ixpemu.engine.parameters import P_TIMER_CYCLES
from ixpemu.engine.sizes import cluster_of, in_cluster
from ixpemu.engine.state import IRQ_VALID

NOBODY = 255
# Offsets in the interrupt controller.
(INT_RAW, INT_SOFT, INT_STATUS, INT_FIQ_STATUS, INT_ENABLE_SET, INT_FIQ_CLEAR, INT_ENABLE_CLEAR, INT_FIQ_SET) = (
    0x00, 0x04, 0x08, 0x0C, 0x10, 0x14, 0x18, 0x1C)
INT_THREAD_RAW, INT_THREAD_STATUS, INT_THREAD_SET, INT_THREAD_CLEAR = 0x60, 0xE0, 0x160, 0x1E0      # four of A, then four of B
# Offsets in the timers: four registers each.
TIMER_CONTROL, TIMER_LOAD, TIMER_CURRENT, TIMER_CLEAR, TIMER_END = 0x00, 0x10, 0x20, 0x30, 0x40
TIMER_RUN, TIMER_SLOW = 1 << 7, 1 << 3


@jit
def group_first(state, group):
    """The first microengine of a group of four in the registers of thread interrupts, two groups a cluster; NOBODY if there is
    none, as of the second group of a cluster of four."""
    group = uint32(group)
    number = uint32((group & uint32(1)) << uint32(2))
    if number >> state.cluster_shift:
        return uint32(NOBODY)
    return uint32(((group >> uint32(1)) << state.cluster_shift) | number)


@jit
def group_word(state, group, low, high):
    """The 32 bits of a group among those of microengines 0 to 7 and 8 to 15."""
    first = group_first(state, group)
    if first >= uint32(16):
        return uint32(0)
    bits = uint64(low) if first < uint32(8) else uint64(high)
    return uint32((bits >> uint64(uint32(first & uint32(4)) << uint32(3))) & uint64(0xFFFFFFFF))


@jit
def raw_group(state, second, group):
    """The raw thread interrupts of a group, of B if `second`."""
    if second:
        return group_word(state, group, state.thread_interrupts_b, state.thread_interrupts_high[1])
    return group_word(state, group, state.thread_interrupts, state.thread_interrupts_high[0])


@jit
def enabled_group(state, second, group):
    """Those that are enabled."""
    if second:
        return group_word(state, group, state.thread_enable[1], state.thread_enable[3])
    return group_word(state, group, state.thread_enable[0], state.thread_enable[2])


@jit
def raw_interrupts(state):
    """All 32 bits of the raw status: latched ones, and what the sources say now."""
    raw = state.irq_latched
    if state.attention != uint32(0):
        raw = uint32(raw | uint32(1 << IRQ_ATTENTION))
    for k in range(4):
        group = uint32(k)
        if raw_group(state, False, group) & enabled_group(state, False, group):
            raw = uint32(raw | (uint32(1) << uint32(uint32(IRQ_THREAD_A) + group)))
        if raw_group(state, True, group) & enabled_group(state, True, group):
            raw = uint32(raw | (uint32(1) << uint32(uint32(IRQ_THREAD_B) + group)))
    return raw


@jit
def interrupt_read(state, offset):
    """A register of the interrupt controller."""
    offset = uint32(offset) & uint32(0xFFC)
    if offset == uint32(INT_RAW):
        return uint32(raw_interrupts(state))
    if offset == uint32(INT_STATUS):
        return uint32(raw_interrupts(state) & state.irq_enable & ~state.fiq_enable)
    if offset == uint32(INT_FIQ_STATUS):
        return uint32(raw_interrupts(state) & state.irq_enable & state.fiq_enable)
    if offset == uint32(INT_ENABLE_SET):
        return state.irq_enable
    if offset == uint32(INT_FIQ_SET):
        return state.fiq_enable
    group = uint32(offset >> uint32(2)) & uint32(3)
    second = offset & uint32(0x20) == uint32(0)         # A is at 60, e0, ..., B behind it at 80, 100, ...
    if uint32(INT_THREAD_RAW) <= offset < uint32(INT_THREAD_RAW + 0x40):
        return raw_group(state, second, group)
    if uint32(INT_THREAD_STATUS) <= offset < uint32(INT_THREAD_STATUS + 0x40):
        return uint32(raw_group(state, second, group) & enabled_group(state, second, group))
    if uint32(INT_THREAD_SET) <= offset < uint32(INT_THREAD_SET + 0x40):
        return enabled_group(state, second, group)
    return uint32(0)


@jit
def interrupt_write(state, offset, value):
    """Write one. What is enabled while its raw status is set is raised then."""
    offset = uint32(offset) & uint32(0xFFC)
    value = uint32(value)
    before = uint32(raw_interrupts(state) & state.irq_enable)
    if offset == uint32(INT_RAW):
        state.irq_latched = uint32(state.irq_latched & ~value)
    elif offset == uint32(INT_SOFT):
        state.irq_latched = uint32(state.irq_latched | uint32(1 << IRQ_SOFT))
    elif offset == uint32(INT_ENABLE_SET):
        state.irq_enable = uint32(state.irq_enable | (value & uint32(IRQ_VALID)))
    elif offset == uint32(INT_ENABLE_CLEAR):
        state.irq_enable = uint32(state.irq_enable & ~value)
    elif offset == uint32(INT_FIQ_SET):
        state.fiq_enable = uint32(state.fiq_enable | (value & uint32(IRQ_VALID)))
    elif offset == uint32(INT_FIQ_CLEAR):
        state.fiq_enable = uint32(state.fiq_enable & ~value)
    else:
        thread_write(state, offset, value)
    risen = uint32(raw_interrupts(state) & state.irq_enable & ~before)
    for number in range(28):
        if (risen >> uint32(number)) & uint32(1):
            # The groups of threads are one interrupt each to whoever is told.
            told = uint32(number) & ~uint32(3) if number >= IRQ_THREAD_A else uint32(number)
            raise_interrupt(state, told, 0, 0)


@jit
def thread_write(state, offset, value):
    """Write a register of the thread interrupts: raw status and enables, set and cleared by ones."""
    first = group_first(state, uint32(offset >> uint32(2)) & uint32(3))
    if first >= uint32(16):
        return
    bits = uint64(uint64(value) << uint64(uint32(first & uint32(4)) << uint32(3)))
    second = offset & uint32(0x20) == uint32(0)
    place = uint32(uint32(1 if second else 0) + (uint32(2) if first >= uint32(8) else uint32(0)))
    if uint32(INT_THREAD_RAW) <= offset < uint32(INT_THREAD_RAW + 0x40):
        if first >= uint32(8):
            state.thread_interrupts_high[place & uint32(1)] = uint64(state.thread_interrupts_high[place & uint32(1)] & ~bits)
        elif second:
            state.thread_interrupts_b = uint64(state.thread_interrupts_b & ~bits)
        else:
            state.thread_interrupts = uint64(state.thread_interrupts & ~bits)
    elif uint32(INT_THREAD_SET) <= offset < uint32(INT_THREAD_SET + 0x40):
        state.thread_enable[place] = uint64(state.thread_enable[place] | bits)
    elif uint32(INT_THREAD_CLEAR) <= offset < uint32(INT_THREAD_CLEAR + 0x40):
        state.thread_enable[place] = uint64(state.thread_enable[place] & ~bits)


@jit
def interrupt_due(state, number):
    """Latch interrupt `number` (not a thread's) and tell of it, if it is enabled."""
    bit = uint32(uint32(1) << uint32(number))
    state.irq_latched = uint32(state.irq_latched | bit)
    if state.irq_enable & bit:
        raise_interrupt(state, number, 0, 0)


@jit
def thread_interrupt(state, second, me, ctx):
    """A thread writes XSCALE_INT_A, or B if `second`: its bit is remembered, and told of if it is enabled."""
    me = uint32(me)
    bit = uint64(uint64(1) << uint64(uint32(me & uint32(7)) * uint32(8) + uint32(ctx)))
    place = uint32(1) if second else uint32(0)
    if me >= uint32(8):
        state.thread_interrupts_high[place] = uint64(state.thread_interrupts_high[place] | bit)
    elif second:
        state.thread_interrupts_b = uint64(state.thread_interrupts_b | bit)
    else:
        state.thread_interrupts = uint64(state.thread_interrupts | bit)
    enabled = state.thread_enable[uint32(place + (uint32(2) if me >= uint32(8) else uint32(0)))]
    group = uint32((cluster_of(state, me) << uint32(1)) | (in_cluster(state, me) >> uint32(2)))
    number = uint32(IRQ_THREAD_B) if second else uint32(IRQ_THREAD_A)
    if (enabled & bit) != uint64(0) and (state.irq_enable >> uint32(number + group)) & uint32(1):
        raise_interrupt(state, number, me, ctx)


@jit
def attention_interrupt(state, me, ctx):
    """A microengine has stopped at a breakpoint."""
    state.attention = uint32(state.attention | (uint32(1) << uint32(me)))
    if (state.irq_enable >> uint32(IRQ_ATTENTION)) & uint32(1):
        raise_interrupt(state, IRQ_ATTENTION, me, ctx)


# Timers


@jit
def timer_period(state, timer):
    """Cycles of one count of a timer."""
    cycles = uint64(state.parameter[P_TIMER_CYCLES])
    return uint64(cycles << uint64(8)) if state.timer_control[timer] & uint32(TIMER_SLOW) else cycles


@jit
def timer_current(state, timer, now):
    """What a timer has left to count."""
    if state.timer_due[timer] == uint64(NEVER):
        return state.timer_left[timer]
    return uint32((uint64(state.timer_due[timer] - now) + timer_period(state, timer) - uint64(1)) // timer_period(state, timer))


@jit
def set_timers(state):
    """Set the alarm to the first timer that is due."""
    first = uint64(NEVER)
    for timer in range(4):
        first = min(first, state.timer_due[timer])
    set_alarm(state, ALARM_TIMER, first)


@jit
def timer_read(state, offset, now):
    """A register of the timers."""
    offset = uint32(offset) & uint32(0xFC)
    timer = (offset >> uint32(2)) & uint32(3)
    if offset < uint32(TIMER_LOAD):
        return state.timer_control[timer]
    if offset < uint32(TIMER_CURRENT):
        return state.timer_load[timer]
    if offset < uint32(TIMER_CLEAR):
        return uint32(timer_current(state, timer, now))
    return uint32(0)


@jit
def timer_write(state, offset, value, now):
    """Write one: a timer counts down from what was loaded, interrupts, and starts again; writing CLEAR takes the interrupt
    off."""
    offset = uint32(offset) & uint32(0xFC)
    timer = (offset >> uint32(2)) & uint32(3)
    value = uint32(value)
    if offset < uint32(TIMER_LOAD):
        left = timer_current(state, timer, now)
        state.timer_control[timer] = value & uint32(TIMER_RUN | TIMER_SLOW)
        state.timer_left[timer] = uint32(left)
        state.timer_due[timer] = uint64(NEVER)
        if value & uint32(TIMER_RUN) and left != uint32(0):
            state.timer_due[timer] = uint64(now + uint64(left) * timer_period(state, timer))
    elif offset < uint32(TIMER_CURRENT):
        state.timer_load[timer] = value
        state.timer_left[timer] = value
        if state.timer_control[timer] & uint32(TIMER_RUN):
            state.timer_due[timer] = uint64(NEVER)
            if value != uint32(0):
                state.timer_due[timer] = uint64(now + uint64(value) * timer_period(state, timer))
    elif uint32(TIMER_CLEAR) <= offset < uint32(TIMER_END):
        state.irq_latched = uint32(state.irq_latched & ~(uint32(1) << uint32(uint32(IRQ_TIMER) + timer)))
    set_timers(state)


@jit
def timer_event(state, now):
    """Timers that are due at `now`: interrupt, and count on from what was loaded."""
    for timer in range(4):
        if state.timer_due[timer] <= now:
            interrupt_due(state, uint32(IRQ_TIMER + timer))
            state.timer_due[timer] = uint64(now + uint64(state.timer_load[timer]) * timer_period(state, uint32(timer)))
    set_timers(state)
