"""Where work is done: much of it in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def apart(much: bool, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """What the work comes to. Of much it is done in a thread, so that the loop goes on; of little
    at once, which costs less. Raises what it raises.
    """
    return await asyncio.to_thread(work, *given, **named) if much else work(*given, **named)
