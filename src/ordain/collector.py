"""Python's garbage collector in a process that stays: what it begins with is left alone, and what comes and goes is looked at seldom.

A run's objects die by reference count the moment it rests: no cycle holds them. What the collector's defaults do is therefore mostly looking at
what lives: at all that was loaded, 50 ms each time, and at the runs that are at work, over and over.
"""

from __future__ import annotations

import gc

NET_ALLOCATIONS = 100_000
"""More objects than some hundred runs at work have together; cycles of foreign code, some ten megabytes at the most, wait until so many have come."""


def tune_collector(*, collect: bool = True) -> None:
    """Leave what the process holds now out of every collection, and collect anew once 100,000 more objects were made than freed.

    For a process that works until it ends; call it when everything is loaded and ``Ordain`` is open, as ``ordain serve`` does. It holds for the whole
    process: a cycle that exists by then is never freed. ``collect``: what is garbage by then is thrown away before.
    """
    if collect:
        gc.collect()
    gc.freeze()
    gc.set_threshold(NET_ALLOCATIONS, *gc.get_threshold()[1:])
