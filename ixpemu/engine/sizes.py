"""How large the chip is that a state is of: microengines, words of a control store, clusters.

A state has one of a few layouts (state.py): compiled code asks the state, never a constant. The layout's own figures are part of
the state's type, so that they are constants in the code compiled for it, and each layout has its own. How many microengines of a
layout are there, and how they are divided into clusters, are figures of the chip file.
"""

from __future__ import annotations

from numpy import uint32

from ixpemu.engine.jit import jit
from ixpemu.engine.parameters import P_MICROENGINES


@jit
def engine_count(state):
    """Microengines that the layout has room for."""
    return uint32(len(state.engines))


@jit
def store_words(state):
    """Words that the layout has for each control store, a power of two: program counters wrap there."""
    return uint32(len(state.code) // len(state.engines))


@jit
def there(state, me):
    """Whether the chip has a microengine of that number."""
    return uint32(me) < state.parameter[P_MICROENGINES]


@jit
def cluster_of(state, me):
    """The cluster of a microengine, 0 or 1."""
    return uint32(uint32(me) >> state.cluster_shift)


@jit
def in_cluster(state, me):
    """Its number inside its cluster."""
    return uint32(uint32(me) & uint32((uint32(1) << state.cluster_shift) - uint32(1)))


@jit
def engine_at(state, cluster, number):
    """The microengine that the chip calls `number` in `cluster`. Numbers come round at the size of a cluster and a layout."""
    me = uint32((uint32(cluster) << state.cluster_shift) | in_cluster(state, number))
    return uint32(me & uint32(engine_count(state) - uint32(1)))
