"""What follows from a message: exactly one consequence of each class, with the mail and the changes
that go with it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.conversation import Message
from ordain.flows.kind import Serves
from ordain.journal.records import Started
from ordain.ports.sessions import OpenQuestion, Thread, ThreadChange, ThreadStatus
from ordain.ports.shared import SessionState
from ordain.ports.writes import MailKind, NewMail, NewPlace, NewRun
from ordain.rules.attach import (
    AnswerPending,
    Attached,
    AttachReason,
    Filler,
    MessageReading,
    NewRequest,
    Override,
    Repair,
    SessionBusy,
    StatusNudge,
    Triage,
)
from ordain.rules.attachment import AttachFacts
from ordain.rules.decision import Decision
from ordain.runtime.consequences import Consequence, Consequences
from ordain.runtime.message_entry import message_of
from ordain.runtime.services import PinnedCatalogs
from ordain.wording.cues import Cues
from tests.unit.flows.house import KINDS, shipped

ASKED = OpenQuestion(
    run="child",
    root="turn2",
    addr=3,
    key="which",
    expects="freeform",
    until=9,
    text="Which one?",
    message_id="q1",
)
AT_WORK = Thread(
    id=1,
    status=ThreadStatus.IN_PROGRESS,
    intent="the report",
    run="turn1",
    turns=("turn1", "turn9"),
)
ASKING = Thread(
    id=2,
    status=ThreadStatus.IN_PROGRESS,
    intent="the lamp",
    run="turn2",
    turns=("turn2",),
    asked=ASKED,
)
OVER = Thread(id=3, status=ThreadStatus.IN_PROGRESS, intent="the past", run="turn3")
STATE = SessionState(
    workspace="w",
    session="s1",
    subject="s",
    key=b"k" * 32,
    seq=7,
    next_thread=4,
    active=1,
    threads=(AT_WORK, ASKING, OVER),
    at_work=(1,),
    open=2,
)
OUTCOMES: dict[str, Any] = {
    "override": Override(thread=1),
    "stop": Override(thread=1, stop=True),
    "nudge": StatusNudge(thread=1),
    "answer": AnswerPending(thread=2),
    "new": NewRequest(),
    "behind": NewRequest(thread=1),
    "again": NewRequest(thread=3),
    "repair": Repair(
        a=MessageReading(attached=Attached.OVERRIDE, thread=1, stop=True),
        b=MessageReading(attached=Attached.ANSWER, thread=2),
    ),
    "triage": Triage(),
    "filler": Filler(),
    "busy": SessionBusy(),
}


def follows(outcome: Any, text: str = "the red one", state: SessionState = STATE) -> Consequence:
    message = Message.model_validate(
        {"session_id": "s1", "user_id": "ada", "message": {"text": text}, "message_id": "m7"}
    )
    services: Any = SimpleNamespace(
        kinds=KINDS,
        clock=SimpleNamespace(now=lambda: 1_000_000, new_run_id=lambda: "fresh"),
        catalogs=SimpleNamespace(current=shipped(), known=lambda _: shipped()),
    )
    made = Consequences(
        services,
        state,
        message_of(message, "m7", "ada", shipped()),
        PinnedCatalogs(services.catalogs),
    )
    return made.of(
        AttachFacts(cues=Cues()), Decision(outcome=outcome, reason=next(iter(AttachReason)))
    )


W = TypeVar("W")


def written(found: Consequence, kind: type[W]) -> list[W]:
    return [write for write in found.writes if isinstance(write, kind)]


def started(found: Consequence) -> Started:
    (run,) = written(found, NewRun)
    return run.started


def opens(found: Consequence) -> Serves | None:
    if not written(found, NewRun):
        return None
    kind = KINDS.get(started(found).flow, started(found).flow_version)
    return None if kind is None else kind.serves


@given(st.sampled_from(sorted(OUTCOMES)))
def test_one_decision_has_one_consequence(name: str) -> None:
    """At most one run, which serves the message; a run, an answer, or nothing; and the decision
    stands with it.
    """
    found = follows(OUTCOMES[name])
    runs, places = written(found, NewRun), written(found, NewPlace)
    assert found.placed.decision
    assert not runs or found.placed.serves == runs[0].id == "fresh"
    assert [place.run for place in places] == [run.id for run in runs]
    assert [place.queued for place in places] == [run.queued for run in runs]
    assert len(runs) + (name in {"answer", "filler", "busy"}) == 1
    assert (found.refused == "session_busy") == (name == "busy")


@pytest.mark.parametrize(
    ("name", "serves"),
    [
        ("override", Serves.REQUEST),
        ("stop", Serves.STATUS),
        ("nudge", Serves.STATUS),
        ("new", Serves.REQUEST),
        ("repair", Serves.PLACING),
        ("triage", Serves.PLACING),
        ("answer", None),
        ("filler", None),
        ("busy", None),
    ],
)
def test_each_class_opens_the_run_that_serves_it(name: str, serves: Serves | None) -> None:
    """A turn, a telling, a placing, or none."""
    assert opens(follows(OUTCOMES[name])) is serves


def test_an_override_interrupts_and_its_successor_waits() -> None:
    """Every unsettled turn of the thread is told, by message number and never by words."""
    found = follows(OUTCOMES["override"], "no, the blue one")
    assert [(mail.run, mail.kind) for mail in written(found, NewMail)] == [
        ("turn1", MailKind.INTERRUPT),
        ("turn9", MailKind.INTERRUPT),
    ]
    assert all(
        b"blue" not in mail.body and b"message 7" in mail.body for mail in written(found, NewMail)
    )
    label, (run,) = started(found).label, written(found, NewRun)
    assert label is not None
    assert (run.queued, label.after) == (True, "turn1")


def test_an_answer_goes_to_the_run_that_asked() -> None:
    """To the very effect that waits; the question is closed, and the slot is kept."""
    found = follows(OUTCOMES["answer"])
    (mail,) = written(found, NewMail)
    (change,) = written(found, ThreadChange)
    assert (mail.run, mail.kind, mail.addr) == ("child", MailKind.ANSWER, 3)
    assert msgspec.json.decode(mail.body)["value"]["text"] == "the red one"
    assert (change.answered, found.placed.serves) == (("child", 3), "turn2")


def test_a_request_takes_its_place() -> None:
    """A new thread, one that rests, or behind what is at work in it."""
    new, again, behind = (follows(OUTCOMES[name]) for name in ("new", "again", "behind"))
    assert [
        (one.placed.thread, written(one, NewRun)[0].queued) for one in (new, again, behind)
    ] == [(4, False), (3, False), (1, True)]
    assert [written(one, ThreadChange)[0].run for one in (new, again, behind)] == [
        "fresh",
        "fresh",
        "",
    ]


def test_a_repair_says_both_readings() -> None:
    """In words that the session knows: a thread's intent and the open question."""
    given_of = msgspec.json.decode(started(follows(OUTCOMES["repair"])).input)
    assert given_of["labels"] == ["stop “the report”", "answer “Which one?” about “the lamp”"]


def test_a_second_repair_gives_up_the_first() -> None:
    """One question of that kind is open at a time."""
    choosing = msgspec.structs.replace(
        ASKING, asked=msgspec.structs.replace(ASKED, expects="choice")
    )
    state = msgspec.structs.replace(STATE, threads=(AT_WORK, choosing, OVER))
    found = follows(OUTCOMES["repair"], state=state)
    assert ([mail.run for mail in written(found, NewMail)], found.placed.thread) == (["turn2"], 2)
    assert written(found, ThreadChange)[0].answered == ("child", 3)


def test_a_telling_is_no_work_of_the_session() -> None:
    """It does not count as a turn at work, and a nudge's holds no place."""
    for name in ("nudge", "stop", "triage", "repair"):
        found = follows(OUTCOMES[name])
        (place,) = written(found, NewPlace)
        assert not place.counts
        assert not found.counts
        assert bool(place.thread) == (name in {"stop", "repair"})
