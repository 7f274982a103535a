"""What a conversation says of an approval: the message that waits for it is answered with it, and
no message gives it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ordain.contracts.verbs import ArgumentRole
from ordain.flows.status.flow import NOTHING_ELSE
from ordain.ports.sessions import EntryKind, ThreadStatus
from ordain.rules.attach import AttachReason
from ordain.runtime.approval_words import (
    ALIKE_ELSEWHERE,
    CUT,
    DONE_ELSEWHERE,
    MAYBE_DONE,
    PERHAPS_DONE,
)
from ordain.runtime.entry_events import event_of
from ordain.server.approval_shapes import item_of
from ordain.testing import ModelScript, call, finish
from ordain.verbs.functions import VerbError, verb
from tests.integration.conversation.test_workflows import Office, office, said
from tests.shapes.talk import WORKSPACE
from tests.shapes.workflows import TEXT, template


async def proposed(house: Office) -> tuple[object, str]:
    """A workflow that waits for an approver: what was sent, and the approval's id."""
    sent, view = await house.proposed("tell them", "announce", text="tea is ready")
    return sent, view.row.id


async def test_a_message_is_answered_with_the_approval_that_it_waits_for(tmp_path: Path) -> None:
    """Whoever waits for its answer is told what is asked for, with the digest to say yes to; once
    that is decided the reply is the answer.
    """
    async with office(tmp_path) as house:
        sent, view = await house.proposed("tell them", "announce", text="tea is ready")
        answer = await house.told(sent)
        assert (answer.reply, answer.question) == (None, None)
        assert answer.approval is not None
        assert (answer.approval.approval_id, answer.approval.digest, answer.approval.subject) == (
            view.row.id,
            view.row.digest,
            "workflow",
        )
        assert answer.approval.text == view.words
        await house.decide(view)
        await house.quiet()
        answer = await house.told(sent)
        assert answer.approval is None
        assert said(answer)


async def test_an_answer_in_which_something_is_cut_says_where_all_of_it_stands(
    tmp_path: Path,
) -> None:
    """The exact calls do not stand beside it there, as they do beside an approval's own words."""
    async with office(
        tmp_path,
        templates={
            "tell": template(
                "tell", [{"verb": "send_out", "args": {"text": "x" * 4001}}], none=TEXT
            )
        },
    ) as house:
        sent, view = await house.proposed("tell them", "tell", none="-")
        answer = await house.told(sent)
        assert answer.approval is not None
        assert CUT.format(view.row.id) in answer.approval.text.split("\n")
        assert CUT.format(view.row.id) not in view.words


@verb(effect="send", arguments={"to": ArgumentRole.RECIPIENT})
def ring_up(to: str) -> str:
    """Ring somebody up, and be cut off."""
    raise VerbError("cut_off", "the line went dead", happened=None)


async def test_an_agent_that_asks_again_for_what_may_have_happened_is_answered_with_that(
    tmp_path: Path,
) -> None:
    """In the conversation as at the desk, in code's words: nobody knows how the same call ended
    before.
    """
    script = (
        ModelScript()
        .on("planner", call("ring_up", to="ben"), index=0)
        .on("planner", call("ring_up", to="ben"), index=1)
    )
    async with Office(
        tmp_path, verbs=[ring_up], script=script.on("planner", finish("tried"))
    ) as house:
        sent = await house.send("ring ben up", mode="agent", allowed_verbs=["ring_up"])
        words: list[list[str]] = []
        for approve in (True, False):
            await house.quiet()
            (view,) = await house.ordain.runtime.approvals.listed(WORKSPACE)
            answer = await house.told(sent)
            assert answer.approval is not None
            assert answer.approval.text == view.words
            words.append(view.words.split("\n"))
            await house.decide(view, approve=approve)
        assert [MAYBE_DONE in lines for lines in words] == [False, True]
        await house.told(sent)


async def test_what_may_have_happened_in_another_run_of_the_conversation_is_told_wherever_the_yes_is_asked(
    tmp_path: Path,
) -> None:
    """In a turn after it: in the answer, at the desk, in its list and ticket, and to whoever asks
    how it stands; another's conversation says nothing of it.
    """
    whom = iter(("ben", "ben", "cleo", "ben"))
    script = (
        ModelScript()
        .on("planner", lambda _: call("ring_up", to=next(whom)), index=0)
        .on("planner", finish("tried"))
    )
    async with Office(tmp_path, verbs=[ring_up], script=script) as house:
        for number, told in enumerate(("", DONE_ELSEWHERE, ALIKE_ELSEWHERE, "")):
            session = "s2" if number == 3 else "s1"
            sent = await house.send(
                f"ring somebody up, {number}", session, mode="agent", allowed_verbs=["ring_up"]
            )
            await house.quiet()
            (view,) = await house.ordain.runtime.approvals.listed(WORKSPACE)
            lines = view.words.split("\n")
            assert [
                line for line in (MAYBE_DONE, DONE_ELSEWHERE, ALIKE_ELSEWHERE) if line in lines
            ] == ([told] if told else [])
            answer = await house.told(sent)
            assert answer.approval is not None
            assert answer.approval.text == view.words
            assert item_of(view)["what"] == f"{PERHAPS_DONE if told else ''}ring_up"
            if number == 1:
                assert f"{PERHAPS_DONE}ring_up (approval {view.row.id})" in said(
                    await house.told(await house.send("any luck?"))
                )
            await house.decide(view, approve=number == 0)
            await house.quiet()
            if number == 1:  # what was decided is looked at as it was
                assert (
                    await house.ordain.runtime.approvals.one(WORKSPACE, view.row.id)
                ).words == view.words


@pytest.mark.parametrize(
    "word", ["yes", "Yes!", "no", "ok", "sure...", "yes, but only to the German ones", "wait"]
)
async def test_no_message_is_a_yes(tmp_path: Path, word: str) -> None:
    """With only an approval open it asks how that stands: code names the approval and says how it
    is given, nothing runs, nothing stops.
    """
    async with office(tmp_path) as house:
        _, approval = await proposed(house)
        answer = await house.told(await house.send(word))
        assert (answer.attached, answer.reason) == ("status_nudge", AttachReason.APPROVAL)
        told = said(answer)
        assert f"(approval {approval})" in told
        assert "announce@1: note_down, send_out" in told
        assert "No message is a yes or a no to that." in told
        assert (NOTHING_ELSE in told) == (word in ("sure...", "yes, but only to the German ones"))
        assert f"ordain approvals approve {approval}" in told
        assert house.desk.did == []
        assert house.query("SELECT state FROM approvals") == [("open",)]
        assert (await house.thread()).status is ThreadStatus.WORKFLOW_PROPOSED


async def test_whoever_asks_how_it_stands_is_told_what_it_waits_for(tmp_path: Path) -> None:
    """A question after the work names the approval too."""
    async with office(tmp_path) as house:
        _, approval = await proposed(house)
        answer = await house.told(await house.send("any luck?"))
        assert (answer.attached, answer.reason) == ("status_nudge", AttachReason.NUDGE)
        assert f"(approval {approval})" in said(answer)


async def test_whoever_asks_what_went_wrong_is_told_who_said_no_and_why(tmp_path: Path) -> None:
    """The reason is the approver's own words, which no header has; the approval shows it, too."""
    async with office(tmp_path) as house:
        _, view = await house.proposed("tell them", "announce", text="tea is ready")
        await house.decide(view, approve=False, why="the tea is cold")
        await house.quiet()
        wrong = await house.say("what went wrong?")
        assert "local:ada said no: the tea is cold" in said(wrong)
        assert (
            await house.ordain.runtime.approvals.one(WORKSPACE, view.row.id)
        ).why == "the tea is cold"


async def test_a_stop_still_stops(tmp_path: Path) -> None:
    """An order to stop is none to wait: the workflow is interrupted, and nobody can say yes to it
    any more.
    """
    async with office(tmp_path) as house:
        await proposed(house)
        answer = await house.told(await house.send("stop"))
        assert answer.attached == "override"
        await house.quiet()
        assert house.query("SELECT state FROM approvals") == [("withdrawn",)]
        assert house.desk.did == []


async def test_a_yes_goes_to_the_question_that_is_open(tmp_path: Path) -> None:
    """Without an approval a yes is no question after one: it stays what it was before."""
    async with office(tmp_path) as house:
        answer = await house.told(await house.send("yes"))
        assert answer.reason != AttachReason.APPROVAL


async def test_the_transcript_has_the_approval(tmp_path: Path) -> None:
    """As an entry of its own, and on the stream as event ``approval``."""
    async with office(tmp_path) as house:
        _, approval = await proposed(house)
        entries = await house.ordain.runtime.conversation.transcript(
            WORKSPACE, "s1", after=0, limit=50
        )
        assert [entry.kind for entry in entries] == [EntryKind.MESSAGE, EntryKind.APPROVAL]
        event = event_of(entries[-1])
        assert (event.__struct_config__.tag, getattr(event, "approval", "")) == (
            "approval",
            approval,
        )
