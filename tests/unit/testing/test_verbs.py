"""Recording verbs: the calls that arrive, and answers by script, by call, or by the verb's own
code; in a whole Ordain.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from ordain import Ordain, VerbContext, verb
from ordain.app import Extras
from ordain.contracts.verbs import Retry
from ordain.settings import load_settings
from ordain.testing import RecordingVerb, failed, hold, hung, recorded, returned


@verb(name="shelf.find", effect="read", retry=Retry(max_attempts=2), timeout_ms=200)
def find(title: str) -> dict[str, str]:
    """Say where a book is."""
    return {"state": f"{title} is in"}


@verb(name="shelf.count", effect="read")
async def count(title: str, context: VerbContext) -> int:
    """Count copies."""
    return len(context.key)


async def execute(recording: RecordingVerb[Any], **given: Any) -> Any:
    extras = Extras(verbs=[recording.verb], memory=True)
    async with Ordain(
        load_settings(environment={}, home=Path("/nowhere")), extras=extras
    ) as ordain:
        reply = (await ordain.execute(recording.verb.spec.name, given)).wire
    return reply["output"] if reply["ok"] else reply["error"]["code"]


async def test_its_own_code_answers_where_nothing_is_scripted() -> None:
    """Plain or not, with its context or without; the call is recorded either way."""
    finding, counting = recorded(find), recorded(count)
    assert await execute(finding, title="atlas") == {"state": "atlas is in"}
    assert await execute(counting, title="atlas") == {"result": 32}
    (made,) = finding.calls
    assert (made.args, made.attempt, made.session, len(made.key)) == ({"title": "atlas"}, 1, "", 32)


async def test_answers_come_in_order_and_attempts_share_a_key() -> None:
    """A failure that may pass, then what it returns."""
    finding = recorded(find, failed("busy", retryable=True), {"state": "lent"})
    assert await execute(finding, title="atlas") == {"state": "lent"}
    assert [one.attempt for one in finding.calls] == [1, 2]
    assert len({one.key for one in finding.calls}) == 1
    assert finding.left == 0


async def test_what_is_not_scripted_any_more_fails() -> None:
    """And is recorded."""
    finding = recorded(find, failed("broken"))
    assert await execute(finding, title="atlas") == "broken"
    assert "1 times" in repr(finding)


async def test_an_answer_may_depend_on_the_call() -> None:
    """On its arguments, its attempt."""
    assert await execute(
        recorded(find, by=lambda made: {"state": made.args["title"]}), title="globe"
    ) == {"state": "globe"}


async def test_it_may_hang() -> None:
    """Until its time is over."""
    finding = recorded(find, hung(), hung())
    assert await execute(finding, title="atlas") == "timed_out"
    assert len(finding.calls) == 2


async def test_a_result_that_is_no_object_is_wrapped_as_declared() -> None:
    """The script says what the verb's output is, not what its code returns."""
    assert await execute(recorded(count, returned({"result": 3})), title="atlas") == {"result": 3}


async def test_a_held_call_waits_for_the_test() -> None:
    """Then it answers as scripted, or by its own code."""
    held = hold()
    finding = recorded(count, held)
    running = asyncio.create_task(execute(finding, title="atlas"))
    await asyncio.wait_for(held.reached(), 10)
    held.release()
    assert await running == {"result": 32}
