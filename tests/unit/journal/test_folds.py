"""Folds over records that do not say what they should."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from ordain.effects.children import NULL
from ordain.effects.effect import ANOTHER_STEP_TRY, Wait, WaitFor
from ordain.effects.results import Expired, withdrawn_wait
from ordain.flows.kinds import Kinds
from ordain.journal.codec import Scribe
from ordain.journal.folds import Fold
from ordain.journal.open_joins import open_join
from ordain.journal.records import (
    Body,
    DecisionBody,
    FaultedBody,
    IntentBody,
    ObservationBody,
    Record,
    RecordKind,
    raw,
)

RUN = "r"
BODIES: dict[str, tuple[RecordKind, str, Body]] = {
    "a verb call without a permit": (
        RecordKind.INTENT,
        "verb_call",
        IntentBody(addr=0, effect=raw({"effect": "verb_call", "x": 1})),
    ),
    "a model call of nobody": (
        RecordKind.INTENT,
        "model_call",
        IntentBody(addr=0, effect=raw({"profile": None})),
    ),
    "children without a time": (
        RecordKind.INTENT,
        "children",
        IntentBody(addr=0, effect=raw({"spawns": [{"flow": 1}]})),
    ),
    "a result of no kind": (
        RecordKind.OBSERVATION,
        "verb_call",
        ObservationBody(addr=0, result=raw([1])),
    ),
    "a decision without facts": (
        RecordKind.DECISION,
        "settle",
        DecisionBody(addr="0/settle#0", outcome=NULL, reason="x", facts=Raw(b"5")),
    ),
}


def records_of(*bodies: tuple[RecordKind, str, Any]) -> list[Record]:
    """A journal of these."""
    scribe = Scribe(RUN, b"k" * 32)
    return [scribe.write(kind, name, body, at) for at, (kind, name, body) in enumerate(bodies)]


@pytest.mark.parametrize("what", BODIES)
def test_what_cannot_be_read_is_told_as_such(what: str) -> None:
    """The header names the record, and tells of all the others."""
    kind, name, body = BODIES[what]
    records = records_of(
        (kind, name, body), (RecordKind.FAULTED, "fault", FaultedBody(error="FlowFault"))
    )
    lines = Fold(RUN, records, Kinds()).lines
    assert [(line.mark, line.what) for line in lines] == [
        ("unknown", f"record 0 ({kind} {name}), which cannot be read"),
        ("fail", "flow fault"),
    ]


def test_children_that_nobody_can_name_are_none() -> None:
    """A run that is shown does not fail on a join that cannot be read."""
    assert open_join(records_of(BODIES["children without a time"]), RUN) is None


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (withdrawn_wait("the verb is off"), ("wait withdrawn", "the verb is off")),
        (Expired(), ("wait expired", "")),
        (Expired(why="the verb is off"), ("wait expired", "")),
    ],
)
def test_a_wait_that_was_withdrawn_says_so_and_why(result: Expired, line: tuple[str, str]) -> None:
    """Whose time was over says that; what an earlier build recorded of one keeps the header that it
    had.
    """
    wait = IntentBody(addr=1, effect=raw(Wait(what=WaitFor.TIMER, about="", deadline=9)))
    records = records_of(
        (RecordKind.INTENT, "wait", wait),
        (RecordKind.OBSERVATION, "wait", ObservationBody(addr=1, result=raw(result))),
    )
    assert [(told.what, told.excerpt) for told in Fold(RUN, records, Kinds()).lines] == [line]


def test_a_pause_before_another_try_is_named_as_that() -> None:
    """It reads otherwise than an approval whose time is over."""
    wait = IntentBody(
        addr=1, effect=raw(Wait(what=WaitFor.TIMER, about=ANOTHER_STEP_TRY, deadline=9))
    )
    records = records_of(
        (RecordKind.INTENT, "wait", wait),
        (RecordKind.OBSERVATION, "wait", ObservationBody(addr=1, result=raw(Expired()))),
    )
    assert [told.what for told in Fold(RUN, records, Kinds()).lines] == [
        "pause over, before another try of a plan's step"
    ]
