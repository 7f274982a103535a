"""Awaiting where nothing can be awaited: what a store in this process is asked never waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


def at_once(asked: Awaitable[T]) -> T:
    """What is awaited, which must be there without waiting for anything."""
    steps = asked.__await__()
    try:
        next(steps)
    except StopIteration as over:
        return over.value
    raise AssertionError("it waits for something")


def awaited(read: Callable[..., T]) -> Callable[..., Awaitable[T]]:
    """The same, as something that is awaited."""

    async def reading(*given: object, **more: object) -> T:
        return read(*given, **more)

    return reading
