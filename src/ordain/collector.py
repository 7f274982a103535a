"""Python's garbage collector: hardly anything that a start makes is to be thrown away, and what
comes and goes in a process that stays is looked at seldom.

A run's objects die by reference count the moment it rests: no cycle holds them. What the
collector's defaults do is therefore mostly looking at what lives: at all that was loaded, 50 ms
each time and some hundred at the interpreter's end, and at the runs that are at work, over and
over.
"""

from __future__ import annotations

import atexit
import gc

NET_ALLOCATIONS = 100_000
"""More objects than some hundred runs at work have together; cycles of foreign code, some ten
megabytes at the most, wait until so many have come.
"""
COMMAND_ALLOCATIONS = 1_000_000
"""Several times what any command has made when it is up. One that makes more (replay of a large
store) is looked through as often as that.
"""


def collect_seldom() -> None:
    """For a process that is one command: nothing is looked through while it starts, nor as the
    interpreter ends, where all that was loaded would be once more.

    What is in a cycle by then is not finalized: whoever opens something closes it. A command that
    stays calls ``tune_collector`` when it is up.
    """
    gc.set_threshold(COMMAND_ALLOCATIONS, *gc.get_threshold()[1:])
    atexit.register(gc.freeze)


def tune_collector(*, collect: bool = True) -> None:
    """Leave what the process holds now out of every collection, and collect anew once 100,000 more
    objects were made than freed.

    For a process that works until it ends; call it when everything is loaded and ``Ordain`` is
    open, as ``ordain serve`` does. It holds for the whole process: a cycle that exists by then is
    never freed. ``collect``: what is garbage by then is thrown away before.
    """
    if collect:
        gc.collect()
    gc.freeze()
    gc.set_threshold(NET_ALLOCATIONS, *gc.get_threshold()[1:])
