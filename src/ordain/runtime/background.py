"""What goes on beside everything else for as long as the process lives: it does not end because it
failed once, and it never fails unheard.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from ordain.errors import OrdainError

LOG = logging.getLogger("ordain.background")
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
"""A work that went on for so long before it failed begins again after the first pause."""


async def keep_going(name: str, work: Callable[[], Awaitable[object]]) -> None:
    """Do the work until it is done; whenever it fails, say so and begin it again after a pause,
    each longer than the one before.

    A defect is told every time, with its traceback. An error of Ordain's own is told in one line,
    and once until it is another one.
    """
    pause, told, now = FIRST_PAUSE_S, "", asyncio.get_running_loop().time
    while True:
        began = now()
        try:
            await work()
        except Exception as error:
            # the boundary of what nobody waits for: a failure is told here or nowhere
            if now() - began >= LONGEST_PAUSE_S:
                pause, told = FIRST_PAUSE_S, ""
            if not isinstance(error, OrdainError):
                LOG.exception("%s failed and begins again in %g s", name, pause)
                told = ""
            elif told != (told := error.message):
                LOG.error("%s failed and begins again until it works: %s", name, told)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_S)
        else:
            return
