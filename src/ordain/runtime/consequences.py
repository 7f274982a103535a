"""What follows from a message, once rule ``attach`` has decided: exactly one consequence, made
inside the write transaction.

Intake and the claim of a run that places a message both end here, so that a message's consequence
does not depend on who decided its class.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct

from ordain.contracts.approvals import MayAsk
from ordain.contracts.catalog import Catalog
from ordain.effects.effect import WaitFor
from ordain.flows.commission import Commission, MessageFacts, Telling
from ordain.flows.kind import Serves, commissioned
from ordain.flows.recall import unasked
from ordain.journal.records import ENCODER, Untaken
from ordain.ports.sessions import Placed, Thread, ThreadChange, ThreadStatus
from ordain.ports.shared import LatestEntry, SessionState
from ordain.ports.writes import MailKind, NewMail, NewPlace, NewRun, Write
from ordain.rules.answer import ExpectedType
from ordain.rules.attach import (
    ATTACH,
    UNPLACED,
    Attached,
    AttachOutcome,
    MessageReading,
    Repair,
    Triage,
    inline,
)
from ordain.rules.attachment import (
    AnswerPending,
    AttachFacts,
    AttachReason,
    Filler,
    NewRequest,
    Override,
    SessionBusy,
    StatusNudge,
)
from ordain.rules.decision import Decision
from ordain.rules.profile import profiled_by
from ordain.rules.reasons import Reason
from ordain.runtime.answer_reading import AnswerReading
from ordain.runtime.attach_facts import Placing, attach_facts, slot_taken_back
from ordain.runtime.foreign_code import asked_of
from ordain.runtime.held_requests import held_request, unbegun_request
from ordain.runtime.mail import AnswerBody, InterruptBody
from ordain.runtime.message_entry import Received, facts_of_entry
from ordain.runtime.opening import Opening, root_run
from ordain.runtime.services import PinnedCatalogs, Services
from ordain.wording.cues import Partly

INTENT_CHARS = 120


class Consequence(Struct, frozen=True, kw_only=True):
    """Exactly what follows from one message: what it was taken for, what is written, or why it is
    not accepted (``refused``).

    ``counts``: what it opens counts as a run that is accepted.
    """

    placed: Placed
    writes: tuple[Write, ...] = ()
    refused: str = ""
    counts: bool = False


class _Follows(Struct, frozen=True):
    """A consequence before it is told why: what ``Placed`` and ``Consequence`` say, under their
    names.
    """

    attached: str
    writes: tuple[Write, ...] = ()
    thread: int = 0
    serves: str = ""
    anchor: str = ""
    counts: bool = False
    refused: str = ""


class Consequences:
    """Makes the consequence of one decision about one message."""

    def __init__(
        self,
        services: Services,
        state: SessionState,
        message: Received,
        pinned: PinnedCatalogs,
        begins: Catalog | None = None,
    ) -> None:
        """``state`` is what the decision was made from, ``pinned`` has the catalogs that open
        questions are read under; ``begins`` is the catalog of what follows, where it is not the
        decision's own.
        """
        self._services, self._state, self._message = services, state, message
        self._catalog = begins or message.catalog
        self._answering = AnswerReading(state, message, pinned)
        self._at = services.clock.now()

    def decide(
        self, suggested: Placing | None = None
    ) -> tuple[AttachFacts, Decision[AttachOutcome]]:
        """Apply rule ``attach``."""
        policy = self._message.catalog.policy
        facts = attach_facts(self._state, self._message, self._answering, policy, suggested)
        return facts, ATTACH.apply(facts, None, policy)

    def of(self, facts: AttachFacts, decision: Decision[AttachOutcome]) -> Consequence:
        """The one consequence. With the decision stands under which catalog it was made, and with
        which wording its cues were read.
        """
        outcome, reason = decision.outcome, str(decision.reason)
        follows = self._of(outcome, decision.reason)
        under, said = self._message.catalog, self._message.facts
        record = {
            "facts": facts,
            "outcome": outcome,
            "reason": reason,
            "catalog": under.digest,
            "wording": under.wording_id,
        }
        if said.source:
            record["source"] = said.source
        if said.trace_verb:
            record["trace_verb"] = said.trace_verb
        placed = Placed(
            attached=follows.attached,
            reason=reason,
            decision=ENCODER.encode(record),
            thread=follows.thread,
            serves=follows.serves,
            anchor=follows.anchor or self._message.ids.message_id if inline(facts, outcome) else "",
        )
        return Consequence(
            placed=placed, writes=follows.writes, refused=follows.refused, counts=follows.counts
        )

    def _of(self, outcome: AttachOutcome, reason: Reason) -> _Follows:
        match outcome:
            case Override():
                return self._override(outcome)
            case StatusNudge(thread=number):
                return self._nudge(self._thread(number), self._telling(reason))
            case AnswerPending(thread=number, partly=partly):
                return self._answer(self._thread(number), partly)
            case NewRequest():
                return self._request(outcome)
            case Repair():
                return self._repair(outcome)
            case Triage():
                return self._consequence(
                    Attached.TRIAGE,
                    *self._open(Serves.PLACING, self._commission(), 0, counts=False),
                )
            case Filler():
                return self._consequence(Attached.FILLER)
            case SessionBusy():
                return _Follows(UNPLACED, refused="session_busy")

    def _consequence(
        self,
        attached: Attached,
        *writes: Write,
        thread: int = 0,
        serves: str = "",
        anchor: str = "",
    ) -> _Follows:
        """The run that it opens serves the message, unless another one does."""
        counts = False
        for write in writes:
            if type(write) is NewRun:
                serves = serves or write.id
            elif type(write) is NewPlace:
                counts = counts or write.counts
        return _Follows(attached.value, writes, thread, serves, anchor, counts)

    def _override(self, outcome: Override) -> _Follows:
        thread, edited = self._thread(outcome.thread), self._state.edited
        versions = () if edited is None else (edited.run, *self._state.versions)
        # an edit replaces its own request only
        runs = tuple(run for run in thread.turns if run in versions) or thread.turns
        mail = self._interrupts(runs)
        if outcome.stop:
            given = self._commission(
                run=runs[0], intent=thread.intent, telling=Telling.STOPPED, queued=len(runs) - 1
            )
            turn = self._open(Serves.STATUS, given, thread.id, queued=True, counts=False)
        else:
            turn = self._open(
                Serves.REQUEST, self._commission(after=runs[0]), thread.id, queued=True
            )
        change = ThreadChange(
            id=thread.id, session=self._state.session, status=ThreadStatus.IN_PROGRESS, at=self._at
        )
        if thread.asked is not None:
            change = msgspec.structs.replace(
                change, answered=(thread.asked.run, thread.asked.addr), unasks=True
            )
        if outcome.stop and (key := slot_taken_back(self._state, self._message, thread)):
            change = msgspec.structs.replace(change, slot=(key, False))
        return self._consequence(Attached.OVERRIDE, change, *mail, *turn, thread=thread.id)

    def _telling(self, reason: Reason) -> Telling:
        said = self._message.found
        if reason is AttachReason.APPROVAL and not (said.yes or said.no or said.hold):
            return Telling.BESIDE
        return Telling.LATE if reason is AttachReason.TOO_LATE else Telling.PROGRESS

    def _nudge(self, thread: Thread, telling: Telling) -> _Follows:
        run = thread.turns[0] if thread.turns else thread.run
        given = self._commission(run=run, intent=thread.intent, telling=telling)
        turn = self._open(Serves.STATUS, given, thread.id, beside=True, counts=False)
        change = ThreadChange(id=thread.id, session=self._state.session, at=self._at)
        return self._consequence(Attached.STATUS_NUDGE, change, *turn, thread=thread.id)

    def _answer(self, thread: Thread, partly: Partly) -> _Follows:
        asked, message = thread.asked, self._message.facts
        if asked is None:
            raise AssertionError("rule attach answers open questions only")
        value = None if partly else self._answering.value(asked)
        said: dict[str, object] = {
            "text": message.text,
            "value": value,
            "message_id": self._message.ids.message_id,
        }
        if partly:
            said["sorted"] = str(partly)  # whoever sorted it: of neither the run makes a yes
        mail = NewMail(
            run=asked.run,
            kind=MailKind.ANSWER,
            key=f"{WaitFor.ANSWER}:{asked.addr}",
            body=ENCODER.encode(AnswerBody(value=said, by=f"user:{message.user}")),
            at=self._at,
            addr=asked.addr,
        )
        change = ThreadChange(
            id=thread.id,
            session=self._state.session,
            status=ThreadStatus.IN_PROGRESS,
            answered=(asked.run, asked.addr),
            slot=None if value is None else (asked.key, value),
            at=self._at,
        )
        return self._consequence(
            Attached.ANSWER,
            change,
            mail,
            thread=thread.id,
            serves=asked.root,
            anchor=asked.message_id,
        )

    def _request(self, outcome: NewRequest) -> _Follows:
        number = outcome.thread
        thread = number or self._state.next_thread
        queued = any(known.turns for known in self._state.threads if known.id == thread)
        held: LatestEntry | None = None
        if outcome.resumes is True:
            user = self._message.facts.user
            held = (
                held_request(self._state, user, thread=number)
                if number
                else unbegun_request(self._state, user)
            )
        untaken = self._untaken(outcome.untaken) if outcome.untaken is not UNSET else None
        given = self._commission(untaken=untaken)
        if held is not None:
            begun = {"after": held.run, "resumes": True} if number else {}
            given = self._commission(again=facts_of_entry(held), **begun)
        turn = self._open(Serves.REQUEST, given, thread, queued=queued)
        status = None if queued else ThreadStatus.IN_PROGRESS
        change = ThreadChange(
            id=thread,
            session=self._state.session,
            status=status,
            intent=given.message.text[:INTENT_CHARS],
            run="" if queued else turn[0].id,
            at=self._at,
        )
        return self._consequence(Attached.NEW_REQUEST, change, *turn, thread=thread)

    def _untaken(self, number: int) -> Untaken:
        thread = self._thread(number)
        about = thread.intent if thread.asked is None else thread.asked.text
        return Untaken(
            said=self._message.found.lead, approval=thread.asked is None, about=about[:INTENT_CHARS]
        )

    def _repair(self, outcome: Repair) -> _Follows:
        """Ask which was meant; a question of that kind that is still open is given up for this
        one.
        """
        options = (outcome.a, outcome.b)
        earlier = next(
            (
                known
                for known in self._state.threads
                if known.asked is not None and known.asked.expects == ExpectedType.CHOICE
            ),
            None,
        )
        thread = self._state.next_thread if earlier is None else earlier.id
        given = self._commission(
            options=options, labels=tuple(self._label(option) for option in options)
        )
        turn = self._open(Serves.PLACING, given, thread, queued=earlier is not None, counts=False)
        change = ThreadChange(
            id=thread,
            session=self._state.session,
            intent=self._message.facts.text[:INTENT_CHARS],
            run=turn[0].id,
            at=self._at,
        )
        mail: tuple[NewMail, ...] = ()
        if earlier is not None and earlier.asked is not None:
            mail = self._interrupts((earlier.asked.root,))
            change = msgspec.structs.replace(
                change, answered=(earlier.asked.run, earlier.asked.addr), unasks=True
            )
        return self._consequence(Attached.REPAIR, change, *mail, *turn, thread=thread)

    def _interrupts(self, runs: tuple[str, ...]) -> tuple[NewMail, ...]:
        """Why it was interrupted stands in a header, which outlives erasure: the message's number,
        never its words.
        """
        message = self._message
        body = ENCODER.encode(
            InterruptBody(
                what="override", by=f"user:{message.facts.user}", why=f"message {self._state.seq}"
            )
        )
        key = f"override:{message.ids.message_id}"
        return tuple(
            NewMail(run=run, kind=MailKind.INTERRUPT, key=key, body=body, at=self._at)
            for run in runs
        )

    # --- what is opened ---------------------------------------------------------------------------

    def _thread(self, number: int) -> Thread:
        return next(thread for thread in self._state.threads if thread.id == number)

    def _label(self, reading: MessageReading) -> str:
        thread = next((known for known in self._state.threads if known.id == reading.thread), None)
        if thread is None or (
            reading.attached is Attached.NEW_REQUEST and thread.asked is not None
        ):
            return "a request of its own"
        if reading.attached is Attached.NEW_REQUEST:
            return f"go on about “{thread.intent}”"
        if reading.attached is Attached.STATUS_NUDGE:
            return f"the approval that “{thread.intent}” waits for"
        if reading.attached is Attached.ANSWER and thread.asked is not None:
            return f"answer “{thread.asked.text[:INTENT_CHARS]}” about “{thread.intent}”"
        return f"{'stop' if reading.stop else 'change'} “{thread.intent}”"

    def _commission(self, *, again: MessageFacts | None = None, **concerns: Any) -> Commission:
        """``again`` is a message that is served once more, in the place of this one."""
        message = self._message
        return Commission(
            session=self._state.session,
            seq=self._state.seq,
            message=again or message.facts,
            ids=message.ids,
            **concerns,
        )

    def _open(
        self,
        what: Serves,
        given: Commission,
        thread: int,
        *,
        queued: bool = False,
        beside: bool = False,
        counts: bool = True,
    ) -> tuple[NewRun, NewPlace]:
        """A turn and its place in the thread; ``beside``: it holds none there."""
        hold_us = self._catalog.policy.session.hold_seconds * 1_000_000
        if what is Serves.REQUEST and (self._state.remembers or given.message.documents):
            given = msgspec.structs.replace(given, message=unasked(given.message, self._catalog))
        kind = self._services.kinds.serving(what)
        opening = Opening(
            run=self._services.clock.new_run_id(),
            input=asked_of(kind, "commissioned", commissioned, kind, given),
            workspace=self._state.workspace,
            principal=self._message.principal,
            scopes=self._message.scopes,
            may_ask=MayAsk.PEOPLE,
            subject=self._state.subject,
            key=self._state.key,
            at=self._at,
            deadline=self._at + hold_us,
            session=self._state.session,
            thread=thread,
            profiled=profiled_by(self._catalog.policy, pinned=self._state.profiled)
            if what is Serves.REQUEST
            else None,
        )
        place = NewPlace(
            run=opening.run,
            session=opening.session,
            thread=0 if beside else thread,
            queued=queued,
            counts=counts,
        )
        return root_run(kind, opening, self._catalog, queued=queued), place
