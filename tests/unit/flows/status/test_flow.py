"""Flow ``status``: what is told of a run, for everything that a run can be."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ordain.flows.commission import Telling
from ordain.flows.status.flow import StatusInput
from ordain.flows.status.kind import STATUS
from ordain.flows.status.late import GOES_ON, NOTHING_RAN
from ordain.journal.records import Status
from ordain.rules.acts import Act, ActEnd
from ordain.rules.header import HeaderFacts
from ordain.testing import Standing, interrupt, read, unread
from tests.unit.flows.house import play

HEADER = HeaderFacts(
    run="r1",
    flow="turn@3",
    status="",
    reason="",
    models=(),
    notices=(),
    lines=(),
    steps=0,
    model_calls=2,
    verb_calls=1,
    tokens_in=0,
    tokens_out=0,
    estimated=False,
    usd_micros=0,
    duration_ms=0,
)


def seen(status: str, **more: Any) -> Any:
    found = {
        "run": "r1",
        "status": status,
        "reason": "ok",
        "steps": 1,
        "model_calls": 2,
        "verb_calls": 1,
        "age_ms": 9000,
        "asks": "",
        "failures": "",
        "header": msgspec.to_builtins(HEADER),
    }
    return read({**found, **more}, "run")


DONE_BEFORE = "too late: it was done before this came, so it stops nothing."
CHANGED = "What note changed is undone by a request of its own alone, where that can be done."


def acted(*acts: tuple[str, ActEnd, bool]) -> Any:
    """The header of a run with these acts: verb, end, and whether it only reads."""
    found = tuple(
        Act(verb=verb, call=f"{at}", end=end, reads=reads)
        for at, (verb, end, reads) in enumerate(acts)
    )
    return msgspec.to_builtins(msgspec.structs.replace(HEADER, acts=found))


def tell(*script: Any, **given: Any) -> Any:
    return play(
        STATUS,
        StatusInput(session="s1", seq=3, run="r1", **given),
        *script,
        standing=Standing(session="s1"),
    )


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (
            seen("running"),
            (
                "at work for 9 s; 2 model calls and 1 verb calls so far. What has happened stands "
                "above."
            ),
        ),
        (
            seen("running", steps=0, verb_calls=0),
            "at work for 9 s; no step has ended yet. What has happened stands above.",
        ),
        (seen("waiting", asks="Which day?"), "waiting for your answer: Which day?"),
        (seen("queued"), "queued behind the turn before it."),
        (seen("completed"), "done."),
        (seen("failed", reason="rejected"), "it ended as failed (rejected)."),
        (
            seen("failed", reason="x", failures="model m: rejected"),
            "it ended as failed (x). What went wrong: model m: rejected",
        ),
    ],
)
def test_each_state_is_told(script: Any, told: str) -> None:
    """In words made of the run's record alone."""
    played = tell(script)
    assert (played.output.narrative, played.reply, played.status) == (told, told, Status.COMPLETED)
    assert played.requests == ()


def test_what_it_is_about_comes_first() -> None:
    """The request in its own words, quoted."""
    assert tell(seen("completed"), intent="the report").reply == "“the report”: done."


@pytest.mark.parametrize(
    ("status", "queued", "told"),
    [
        ("cancelled", 0, "stopped. What had happened by then stands above."),
        (
            "cancelled",
            2,
            "stopped, and 2 queued behind it. What had happened by then stands above.",
        ),
        (
            "completed",
            0,
            (
                "it had ended by itself before it could be stopped. What had happened by then "
                "stands "
                "above."
            ),
        ),
    ],
)
def test_what_was_stopped_is_told(status: str, queued: int, told: str) -> None:
    """Whether it was stopped in time, and what never began."""
    assert tell(seen(status), about=Telling.STOPPED, queued=queued).reply == told


@pytest.mark.parametrize("script", [read(None, "run"), unread()])
def test_a_run_that_is_gone_is_told_as_such(script: Any) -> None:
    """Nothing is made up."""
    assert tell(script).reply == "Nothing is known of it any more."


@pytest.mark.parametrize("in_flight", [False, True])
def test_an_interrupt_stops_the_telling(in_flight: bool) -> None:
    """Somebody does not want to hear it."""
    played = tell(interrupt(in_flight=in_flight))
    assert (played.reply, played.status) == ("Stopped.", Status.CANCELLED)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (seen("running"), GOES_ON),
        (seen("waiting for an answer", asks="Which?"), GOES_ON),
        (seen("waiting for an approver", approvals=[{"approval": "a1", "what": "send"}]), GOES_ON),
        (seen("completed"), f"{DONE_BEFORE} {NOTHING_RAN}"),
        (
            seen("failed", reason="cap_exceeded"),
            (
                "too late: it had ended as failed (cap_exceeded) before this came, so it stops "
                f"nothing. {NOTHING_RAN}"
            ),
        ),
        (
            seen(
                "completed",
                header=acted(
                    ("math.evaluate", ActEnd.DONE, True), ("mail.send", ActEnd.FAILED, False)
                ),
            ),
            f"{DONE_BEFORE} {NOTHING_RAN}",
        ),
        (
            seen(
                "completed",
                header=acted(
                    ("note", ActEnd.DONE, False),
                    ("note", ActEnd.DONE, False),
                    ("mail.send", ActEnd.UNKNOWN, False),
                ),
            ),
            (
                f"{DONE_BEFORE} What ran: note. {CHANGED} Of mail.send nobody knows whether it "
                "happened."
            ),
        ),
    ],
)
def test_a_word_that_came_too_late_is_told_what_ran(script: Any, told: str) -> None:
    """That it came too late, what changed something by then, each verb once, and what of it can be
    undone; reads and what failed changed nothing.
    """
    assert tell(script, about=Telling.LATE).reply == told
