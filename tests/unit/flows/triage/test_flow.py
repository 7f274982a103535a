"""Flow ``triage``: a model suggests, or the sender chooses, and the shared rule places the
message.
"""

from __future__ import annotations

from typing import Any

import pytest

from ordain.flows.commission import MessageFacts, MessageIds
from ordain.flows.triage.kind import TRIAGE
from ordain.flows.triage.request import TriageInput, TriageOutput
from ordain.journal.records import Status
from ordain.rules.attach import Attached, MessageReading, ThreadFact
from ordain.rules.attachment import AttachFacts
from ordain.rules.spend import Spend
from ordain.testing import (
    Played,
    Standing,
    answered,
    carved,
    claimed,
    expired,
    fails,
    interrupt,
    read,
    says,
    suggests,
    unread,
)
from ordain.wording.cues import Cues
from tests.unit.flows.house import play

IDS = MessageIds(message_id="m7")
GIVEN = TriageInput(
    seq=7, message=MessageFacts(text="and the other one?", user="ada", channel="web"), ids=IDS
)
OPTIONS = (
    MessageReading(attached=Attached.OVERRIDE, thread=1, stop=True),
    MessageReading(attached=Attached.ANSWER, thread=2),
)
NO = MessageFacts(text="no", user="ada", channel="web")
CHOOSE = TriageInput(seq=7, message=NO, ids=IDS, options=OPTIONS, labels=("stop “a”", "answer “b”"))
THREADS = read(
    [{"thread": 1, "about": "the report", "status": "in_progress", "asks": None, "expects": None}],
    "threads",
)
FACTS = claimed(
    AttachFacts(cues=Cues(words=3), threads=(ThreadFact(id=1, status="in_progress", live=True),))
)
BUSY = claimed(AttachFacts(cues=Cues(words=3), open=99))
ASKING = {"attach": {"ask": "local"}}


def place(given: TriageInput, *script: Any, **policy: Any) -> Played[TriageOutput]:
    return play(
        TRIAGE, given, *script, policy={**ASKING, **policy}, standing=Standing(session="s1")
    )


def claim_of(played: Played[TriageOutput]) -> dict[str, Any]:
    return next(
        one.args for one in played.asked if type(one).__name__ == "Claim" and one.name == "attach"
    )  # type: ignore[union-attr]


def test_a_suggestion_goes_into_the_claim() -> None:
    """What a model suggests is asked for once, and the shared rule decides with it."""
    played = place(GIVEN, THREADS, suggests("status_nudge", thread=1, confidence=0.8), FACTS)
    args = claim_of(played)
    assert (args["suggests"], args["thread"], args["confidence"]) == ("status_nudge", 1, 0.8)
    assert "the report" in played.requests[0].user
    assert (played.reply, played.status) == (None, Status.COMPLETED)


@pytest.mark.parametrize("answer", [says("what?"), suggests("nonsense"), fails("rejected")])
def test_what_is_no_suggestion_is_none(answer: Any) -> None:
    """A bad answer and a failed model leave the claim without one."""
    assert claim_of(place(GIVEN, THREADS, answer, FACTS))["suggests"] == "none"


def test_threads_that_cannot_be_read_are_none() -> None:
    """The model is asked about the message alone."""
    assert place(GIVEN, unread(), suggests("new_request"), FACTS).status is Status.COMPLETED


def test_no_model_is_asked_where_accounts_are_spent() -> None:
    """The message is placed all the same."""
    bounded = {"day_tokens": 50_000}
    played = place(
        GIVEN, THREADS, carved({"day:2024-10-04": Spend(tokens=50_000)}), FACTS, budget=bounded
    )
    assert (played.model_calls, claim_of(played)["suggests"]) == ((), "none")


def test_what_is_set_aside_for_the_question_is_little() -> None:
    """Two attempts at its bound come out of the accounts, not the run's whole bound."""
    played = place(GIVEN, THREADS, suggests("new_request"), FACTS, budget={"day_tokens": 5_000_000})
    (carving,) = played.decided("carve")
    assert carving.outcome.tokens == 2 * (
        played.model_calls[0].bound_tokens + played.model_calls[0].max_tokens
    )


def test_one_lane_is_decided_for_what_is_set_aside_and_what_is_asked() -> None:
    """Before the accounts are asked, and once: the question goes to the lane that it was reckoned
    for.
    """
    played = place(GIVEN, THREADS, suggests("new_request"), FACTS, budget={"day_tokens": 5_000_000})
    assert [made.rule for made in played.decisions] == [
        "lane",
        "carve",
        "reserve",
        "settle",
        "suggestion",
        "attach",
    ]
    assert played.model_calls[0].profile in played.decided("lane")[0].outcome.profiles


def test_nothing_is_set_aside_where_no_model_stands_behind_the_lane() -> None:
    """The message is placed without a suggestion, and the accounts are left alone."""
    lanes = {"profiles": {"local": [], "worker": ["default"], "brain": ["default"]}}
    played = place(GIVEN, THREADS, FACTS, lanes=lanes, budget={"day_tokens": 5_000_000})
    assert [str(made.reason) for made in played.decisions[:2]] == ["lane.empty", "suggestion.none"]
    assert (played.model_calls, claim_of(played)["suggests"]) == ((), "none")


@pytest.mark.parametrize(("text", "chosen"), [("A", "A"), ("b", "B")])
def test_the_senders_choice_goes_into_the_claim(text: str, chosen: str) -> None:
    """The question names both readings, and no model is asked."""
    facts = AttachFacts(
        cues=Cues(words=1),
        threads=(ThreadFact(id=1, status="in_progress", live=True),),
        options=OPTIONS,
        choice=chosen,
    )
    played = place(CHOOSE, answered({"text": text}), claimed(facts))
    args = claim_of(played)
    assert (args["choice"], [one["thread"] for one in args["options"]]) == (chosen, [1, 2])
    assert played.waits[0].about == "Which one do you mean? A: stop “a” B: answer “b”"
    assert played.requests == ()


@pytest.mark.parametrize(
    ("script", "status", "reason"),
    [
        (expired(), Status.TIMED_OUT, "repair_expired"),
        (answered({"text": "neither of them"}), Status.FAILED, "answer_unfit"),
    ],
)
def test_an_open_choice_does_nothing(script: Any, status: Status, reason: str) -> None:
    """Nobody answered in time, or the answer is none: nothing is claimed, and the sender is told
    which it was.
    """
    played = place(CHOOSE, script)
    assert (played.status, played.stored.reason, played.decided("attach")) == (status, reason, ())
    assert played.reply is not None
    assert played.reply.endswith(f"({reason}).")


def test_what_was_meant_has_ended() -> None:
    """The choice came too late: nothing is stopped, and that is said."""
    facts = AttachFacts(cues=Cues(words=1), options=OPTIONS, choice="A")
    assert (
        place(CHOOSE, answered({"text": "A"}), claimed(facts)).output or TriageOutput()
    ).error == {
        "code": "nothing_to_stop",
        "message": "what was meant has ended by itself",
    }


def test_a_busy_session_says_so() -> None:
    """The message is placed nowhere, and its sender is told."""
    played = place(GIVEN, THREADS, suggests("new_request"), BUSY)
    assert (played.output or TriageOutput()).error is not None
    assert played.reply is not None
    assert "session_busy" in played.reply


@pytest.mark.parametrize("before", [(), (THREADS,), (THREADS, suggests("new_request"))])
def test_an_interrupt_ends_it(before: tuple[Any, ...]) -> None:
    """Whatever it was at, nothing more is claimed."""
    played = place(GIVEN, *before, interrupt("override", by="user:ada"))
    assert (played.status, played.decided("attach")) == (Status.CANCELLED, ())
    assert (played.output or TriageOutput()).error == {
        "code": "interrupted",
        "message": "stopped by user:ada",
    }
