"""A run has no context variables of anybody's: one request's never stand in another's verb."""

import asyncio
from collections import Counter
from contextvars import ContextVar
from pathlib import Path

from ordain import Ordain, verb

TENANT: ContextVar[str] = ContextVar("TENANT", default="nobody's")
REQUESTS = 40


@verb(effect="read")
async def whose() -> dict[str, str]:
    """Say whose context this is."""
    await asyncio.sleep(0)
    return {"tenant": TENANT.get()}


@verb(effect="read")
def whose_thread() -> dict[str, str]:
    """Say whose context this thread has."""
    return {"tenant": TENANT.get()}


async def test_a_verb_sees_no_context_of_a_request(tmp_path: Path) -> None:
    """Whoever wakes the engine wakes it for all: of many requests at once, and of one after the
    other, each verb sees what a new context has. `async` or plain.
    """
    async with Ordain(home=tmp_path, verbs=[whose, whose_thread]) as ordain:

        async def request(number: int) -> str:
            TENANT.set(f"tenant {number}")
            await asyncio.sleep(number % 7 / 1000)
            called = "whose" if number % 2 else "whose_thread"
            said = await ordain.execute(called, {})
            assert TENANT.get() == f"tenant {number}"
            assert said.output is not None
            return str(said.output["tenant"])

        at_once = await asyncio.gather(*(request(number) for number in range(REQUESTS)))
        in_turn = [await asyncio.create_task(request(number)) for number in range(4)]
    assert Counter([*at_once, *in_turn]) == {"nobody's": REQUESTS + 4}
