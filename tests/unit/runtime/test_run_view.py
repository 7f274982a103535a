"""A run as people see it: why it has no result, whether its failure may pass, and what its records
gave the flow.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ordain import verb
from ordain.effects.calls import Call
from ordain.effects.children import Completed, Join, Spawn
from ordain.effects.results import VerbFailed
from ordain.errors import Erased
from ordain.flows.act import act
from ordain.flows.context import FlowContext
from ordain.journal.records import NULL, SETTLED, STOPPED, RecordKind, Status, raw
from ordain.ports.store import StoredRun
from ordain.runtime.run_view import CHILD_STOPPED, RunView, ending_of, handed, may_pass, why_nothing
from ordain.testing import ScriptedEffects, catalog_of, completed, failed, joined, kind_of, returned


@verb(name="shelf.price", effect="read")
def price(title: str) -> dict[str, int]:
    """Say what a book costs."""
    raise NotImplementedError


async def _price(context: FlowContext, title: str) -> str:
    await act(context, Call(verb="shelf.price", args={"title": title}))
    return title


async def _parent(context: FlowContext, given: Any) -> str:
    child: Spawn[Any] = Spawn(
        flow="part", input=raw(None), deadline=context.hard, allowance=context.share(1)
    )
    await context.fx.children((child,), Join())
    return "joined"


def run(*script: Any, flow: Any = _price) -> StoredRun:
    return (
        ScriptedEffects(kind_of(flow, verbs=["shelf.price"]), catalog_of(verbs=[price.spec]))
        .play("atlas", script)
        .stored
    )


def view(stored: StoredRun) -> RunView:
    return RunView(stored=stored, header="header", result=NULL)


@pytest.mark.parametrize("status", list(Status))
def test_a_run_rests_when_it_has_settled_or_stopped(status: Status) -> None:
    """And not while it is queued, ready, at work or waiting."""
    stored = msgspec.structs.replace(run(returned({"result": 9})), status=status)
    assert view(stored).at_rest == (status in SETTLED | STOPPED)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"key": None, "status": Status.WAITING}, "erased"),
        ({"status": Status.WAITING, "reason": ""}, CHILD_STOPPED),
        ({"status": Status.DIVERGED, "reason": "journal_corrupt"}, "journal_corrupt"),
        ({"status": Status.QUARANTINED, "reason": ""}, "quarantined"),
    ],
)
def test_why_there_is_no_result(row: dict[str, Any], why: str) -> None:
    """Erased before all else; waiting for one that stopped; else its own reason, or its status."""
    assert why_nothing(msgspec.structs.replace(run(returned({"result": 9})), **row)) == why


@pytest.mark.parametrize(
    ("script", "code", "passes"),
    [
        (failed("busy", retryable=True), "busy", True),
        (failed("gone"), "gone", False),
        (failed("busy", retryable=True), "gone", None),
        (returned({"cents": 9}), "busy", None),
    ],
)
def test_whether_a_failure_may_pass_its_verb_has_said(
    script: Any, code: str, passes: bool | None
) -> None:
    """Of that failure and no other; where no verb of the run failed nobody knows."""
    stored = run(script)
    assert may_pass(stored, code) is passes
    assert ending_of(view(stored)).may_pass(code) is passes


def test_nobody_knows_of_what_was_never_tried_or_is_gone() -> None:
    """A run without an observation, and one whose last was swept."""
    stored = run(failed("busy", retryable=True))
    nothing = tuple(one for one in stored.records if one.kind is not RecordKind.OBSERVATION)
    swept = tuple(
        msgspec.structs.replace(one, body=None) if one.kind is RecordKind.OBSERVATION else one
        for one in stored.records
    )
    assert [
        may_pass(msgspec.structs.replace(stored, records=records), "busy")
        for records in (nothing, swept)
    ] == [None, None]


def test_a_record_gives_what_it_gave_the_flow() -> None:
    """A verb's failure, a child's end; of others nothing; of one that was swept an error says
    so.
    """
    stored = run(failed("busy"))
    seqs = [one.seq for one in stored.records]
    (given,) = handed(stored.records, seqs).values()
    assert isinstance(given, VerbFailed)
    parent = run(joined(completed("done")), flow=_parent)
    ends = [
        one
        for one in handed(parent.records, [one.seq for one in parent.records]).values()
        if isinstance(one, Completed)
    ]
    assert [bytes(end.value) for end in ends] == [b'"done"']
    swept = [msgspec.structs.replace(one, body=None) for one in stored.records]
    with pytest.raises(Erased):
        handed(swept, seqs)


def test_an_ending_says_what_was_asked_for() -> None:
    """The request as it was taken; of an erased run nothing, and that it was."""
    stored = run(returned({"cents": 9}))
    first = msgspec.structs.replace(stored.records[0], body=None)
    erased = msgspec.structs.replace(stored, key=None, records=(first, *stored.records[1:]))
    assert (ending_of(view(stored)).given, ending_of(view(stored)).erased) == ("atlas", False)
    assert (ending_of(view(erased)).given, ending_of(view(erased)).erased) == ({}, True)
