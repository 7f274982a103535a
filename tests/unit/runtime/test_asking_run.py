"""What a run's records say of what it asks an approver: who proposed it instead, and what may have
happened already.
"""

from __future__ import annotations

import pytest

from ordain.contracts.approvals import Subject, Tier
from ordain.effects.calls import Authorized, Call
from ordain.effects.children import NULL, AnyEnded, Completed, Join, Spawn, Unknown
from ordain.effects.effect import AnyEffect, ApprovalAsked, Children, VerbCall, Wait, WaitFor
from ordain.effects.results import (
    AnyResult,
    Resubmitted,
    VerbFailed,
    VerbReturned,
    VerbUnknown,
)
from ordain.journal.codec import Scribe
from ordain.journal.records import (
    Body,
    ChildEndedBody,
    IntentBody,
    NoteBody,
    ObservationBody,
    Record,
    RecordKind,
    raw,
)
from ordain.rules.spend import Spend
from ordain.runtime.asking_run import AskedBefore, asked_before

POST, RING = Call(verb="post.out", args={"to": "ben"}), Call(verb="ring.out", args={"to": "ben"})
WAIT = Wait(
    what=WaitFor.APPROVAL,
    about="x",
    deadline=9,
    approval=ApprovalAsked(subject=Subject.CALL, calls=(POST,), tier=Tier.WRITE),
)


class Journal:
    """Records, written one after the other."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._scribe, self._addr = Scribe("r", b"k"), 0

    def write(self, kind: RecordKind, name: str, body: Body) -> None:
        self.records.append(self._scribe.write(kind, name, body, 1))

    def effect(self, name: str, effect: AnyEffect, result: AnyResult | None = None) -> int:
        """The next effect, and what became of it."""
        self._addr += 1
        self.write(RecordKind.INTENT, name, IntentBody(addr=self._addr, effect=raw(effect)))
        if result is not None:
            self.write(
                RecordKind.OBSERVATION, name, ObservationBody(addr=self._addr, result=raw(result))
            )
        return self._addr

    def called(self, call: Call, result: AnyResult) -> int:
        return self.effect(
            "verb_call",
            VerbCall(authorized=Authorized(call=call, decision="d"), deadline=9),
            result,
        )

    def joined(self, *ends: tuple[Call, AnyEnded]) -> int:
        """A join of children that carry out calls."""
        spawns = tuple(
            Spawn(
                flow="f",
                input=NULL,
                deadline=9,
                allowance=Spend(),
                authorized=Authorized(call=call, decision=str(number)),
            )
            for number, (call, _) in enumerate(ends)
        )
        addr = self.effect("children", Children(spawns=spawns, until=Join()))
        for index, (_, ended) in enumerate(ends):
            self.write(
                RecordKind.CHILD_ENDED,
                "f",
                ChildEndedBody(addr=addr, index=index, child="c", ended=raw(ended)),
            )
        return addr

    def before(self, addr: int | None = None) -> AskedBefore:
        """What is said of a wait, which is asked now where it does not stand at ``addr``."""
        return asked_before(
            self.records, self.effect("wait", WAIT) if addr is None else addr, (POST,)
        )


def test_a_call_of_whose_end_nobody_knows_may_have_happened() -> None:
    """A leaf's and a child's; what returned, and a result that only speaks of it, is none."""
    journal = Journal()
    journal.called(RING, VerbReturned(output={"said": "outcome_unknown"}))
    journal.called(POST, VerbUnknown(message="cut off"))
    journal.joined((RING, Unknown(child="c")), (POST, Completed(child="c", value=raw("unknown"))))
    assert [one.call for one in journal.before().unknown] == [POST, RING]


@pytest.mark.parametrize("happened", [True, False])
def test_what_somebody_has_found_out_not_to_have_happened_counts_no_more(happened: bool) -> None:
    """An operator's note says so; that it did is no reason to be silent."""
    journal = Journal()
    addr = journal.called(POST, VerbUnknown(message="cut off"))
    journal.write(
        RecordKind.NOTE,
        "resolve",
        NoteBody(
            by="local:ops", action="resolve", details=raw({"addr": addr, "happened": happened})
        ),
    )
    told = [(one.call, one.sure) for one in journal.before().unknown]
    assert told == ([(POST, True)] if happened else [])


def test_of_a_call_in_doubt_its_last_attempt_counts() -> None:
    """Of repeats that failed the call is told once; one that ran leaves nothing to tell."""
    journal = Journal()
    for _ in range(2):
        journal.called(
            POST, VerbUnknown(message="cut off", repeat=VerbFailed(code="down", message="m"))
        )
    assert [one.call for one in journal.before().unknown] == [POST]
    journal.called(POST, VerbReturned(output={}))
    assert journal.before().unknown == ()


def test_what_came_after_it_was_asked_counts_not() -> None:
    """An approval that was decided long ago is looked at as it was."""
    journal = Journal()
    asked = journal.effect("wait", WAIT)
    journal.called(POST, VerbUnknown(message="cut off"))
    assert journal.before(asked) == AskedBefore()


def test_whoever_proposed_exactly_this_call_is_known() -> None:
    """Each who did, once; not who proposed another one."""
    journal = Journal()
    for by, call in (("ann", POST), ("ben", RING), ("cleo", POST), ("ann", POST)):
        journal.effect("wait", WAIT, Resubmitted(approval="a", by=by, call=call))
    assert journal.before().proposed_by == ("ann", "cleo")
