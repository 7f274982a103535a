"""A run that places messages places its own, once, as the transcript has it: whatever its flow
claims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from ordain.effects.effect import Claim
from ordain.flows.context import FlowContext
from ordain.flows.triage.kind import TRIAGE
from ordain.flows.triage.request import TriageInput, TriageOutput
from ordain.journal.records import Status
from tests.shapes.lines import holds, script_of
from tests.shapes.session_laws import broken_now, rows_of
from tests.shapes.talk import House

NONE = {"suggests": "none", "thread": 0, "confidence": 0.0}
STOP = {"attached": "override", "thread": 1, "stop": True}
ANSWERED = {"seq": 1, "message_id": "m0"}
AT_WORK = {"seq": 3, "message_id": "m1"}
HOSTILE: Mapping[str, tuple[dict[str, Any], ...]] = {
    "the message of a turn at work": (AT_WORK,),
    "one that was answered long ago": (ANSWERED,),
    "none": ({"seq": 0},),
    "one that is no message": ({"seq": 2},),
    "one that nobody has sent yet": ({"seq": 99},),
    "its own twice": ({}, {}),
    "another one after its own": ({}, ANSWERED),
    "its own as an edit of another's": ({"edits": "m1"},),
    "its own as a reply to another's": ({"reply_to": "m1"},),
    "its own by somebody else": ({"author": "eve"},),
    "its own by another channel": ({"channel": "slack"},),
    "its own under another's id": ({"message_id": "m1"},),
    "its own by a choice that nobody was given": ({"choice": "A", "options": [STOP, STOP]},),
    "its own by a choice that is none": ({"choice": "C"},),
}


def placing(*claims: dict[str, Any]) -> Any:
    """A kind in place of ``triage`` that makes these claims, each what an honest one would be but
    for what is said here.
    """

    async def run(context: FlowContext, given: TriageInput) -> TriageOutput:
        for more in claims:
            said = {
                "session": context.session,
                "seq": given.seq,
                "channel": given.message.channel,
                "author": given.message.user,
            }
            await context.fx.claim(
                Claim(name="attach", args={**said, **structs.asdict(given.ids), **NONE, **more})
            )
        return TriageOutput()

    return replace(TRIAGE, version=TRIAGE.version + 1, run=run)


async def placed(house: House) -> tuple[Status, list[tuple[Any, ...]], int]:
    """How the placing run ends beside an answered message and one at work; how those two stand
    then, and how many turns there are.
    """
    await house.say("what is new about cats?", id="m0")
    await house.send("work slowly on dogs", id="m1")
    await house.quiet()
    await house.send("hm right so suggest it", id="m2")
    await house.quiet()
    (run,) = house.query("SELECT id FROM runs WHERE flow = 'triage'")
    others = house.query(
        "SELECT seq, attached, thread, run FROM transcript WHERE message_id IN ('m0', 'm1') ORDER "
        "BY seq"
    )
    (turns,) = house.query("SELECT count(*) FROM runs WHERE flow = 'turn'")
    assert not broken_now(rows_of(house.ordain), max_active=4)
    return house.status(run[0]), others, turns[0]


POLICY = {"attach": {"ask": "local"}}
SCRIPT = script_of(holds("slowly"))


@pytest.mark.parametrize("lie", HOSTILE)
async def test_a_place_is_claimed_as_the_transcript_has_it(lie: str) -> None:
    """Anything else is a fault of the flow, and neither moves another message nor opens a turn
    beside the one that answers its own.
    """
    claims = HOSTILE[lie]
    async with House(policy=POLICY, script=SCRIPT, kinds=(placing(*claims),)) as house:
        status, others, turns = await placed(house)
        # what it had claimed of its own before was granted
        honest = sum(not claim for claim in claims[:1])
        assert (status, turns) == (Status.FAULTED, 2 + honest)
        assert [(seq, attached, thread) for seq, attached, thread, _ in others] == [
            (1, "new_request", 1),
            (3, "new_request", 2),
        ]
        assert len({run for *_, run in others}) == 2
        house.puppet.let_go()


async def test_its_own_message_is_placed() -> None:
    """Claimed as it is, it gets its class, and the turn that answers it."""
    async with House(policy=POLICY, script=SCRIPT, kinds=(placing({}),)) as house:
        status, _, turns = await placed(house)
        assert (status, turns) == (Status.COMPLETED, 3)
        house.puppet.let_go()


async def test_a_choice_is_between_what_was_left_open() -> None:
    """A flow that answers its own question, by readings of its own, stops nobody."""
    async with House(
        script=SCRIPT, kinds=(placing({"choice": "A", "options": [STOP, STOP]}),)
    ) as house:
        for what in ("cats", "dogs"):
            await house.send(f"tell me slowly about {what}", mode="agent")
        await house.quiet()
        await house.send("stop")
        await house.quiet()
        assert house.query("SELECT status FROM runs WHERE flow = 'triage'") == [("faulted",)]
        assert house.query("SELECT count(*) FROM mailbox WHERE kind = 'interrupt'") == [(0,)]
        house.puppet.let_go()
