"""Rule ``attach`` (shared): what a message means to its session: which thread it belongs to, and
how (RTE-05, RTE-08, C5).

The precedence is fixed: override, then a nudge where there is something to ask after, then an
answer that fits, then filler, else a new request. What could be read in two ways becomes a repair
question whose two options are chosen here. A model's suggestion counts only where the wording
leaves the class open, and only for a class that the session's state makes possible (RTE-03). It
stops nothing, overrides nothing and closes no question: what it takes for that is asked back
(``asks_back``), or is a request of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from ordain.contracts.policy import Policy
from ordain.rules.addressee import (
    answer_to,
    filler,
    is_last,
    partly_answered,
    reachable,
    resumed,
    taken_back,
    threads_awaiting,
    too_late,
    untaken_by,
    which,
)
from ordain.rules.answer import ExpectedType, Takes
from ordain.rules.attachment import (
    AnswerPending,
    Attached,
    AttachFacts,
    AttachReason,
    Barred,
    Edit,
    Filler,
    MessageReading,
    NewRequest,
    Override,
    Repair,
    SessionBusy,
    StatusNudge,
    ThreadFact,
    Triage,
)
from ordain.rules.decision import Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.orders import holding, overriding, protesting, threads_at_work
from ordain.rules.reasons import Reason
from ordain.wording.cues import Cues, Partly

THREADS_MAX = 6
"""Most threads that the facts of one decision name: those referred to first, then the live ones,
then the most recent.
"""
WEAK_NUDGE_WORDS = 4
SHORT_WORDS = 8
SORTED_WORDS = 20
"""Most words of what a model may call a question after work, or nothing, where an engine tells what
could be said of work at hand.
"""
_LEANS, _CONDITION = _IN_PART = (Partly.LEANS, Partly.CONDITION)

POSTPONED = (Attached.REPAIR, Attached.TRIAGE)
"""What a message is that a run has still to place."""
UNPLACED = "session_busy"
"""What a message is that a run had to place when its session was too busy for it: whoever delivers
it again has it placed anew.
"""


AttachOutcome = (
    Override | StatusNudge | AnswerPending | Filler | NewRequest | Repair | Triage | SessionBusy
)
AttachVerdict = tuple[AttachOutcome, Reason]


def decide_attach(facts: AttachFacts, inputs: None, policy: Policy) -> Decision[AttachOutcome]:
    """The class, by precedence; capacity last, since only a new turn needs any."""
    outcome, reason = _attached(facts, policy)
    if _busy(facts, outcome, policy):
        outcome, reason = SessionBusy(), AttachReason.BUSY
    return Decision(outcome=outcome, reason=reason)


def inline(facts: AttachFacts, outcome: AttachOutcome) -> bool:
    """Whether the reply names the message it answers: several live threads, another thread than the
    active one, override, repair (C5).
    """
    if isinstance(outcome, Override | Repair):
        return True
    thread = getattr(outcome, "thread", 0)
    return sum(thread.live for thread in facts.threads) > 1 or (
        thread not in (0, facts.active) and facts.active != 0
    )


def _busy(facts: AttachFacts, outcome: AttachOutcome, policy: Policy) -> bool:
    """Whether the session holds no more: an override takes the place of what it interrupts, what
    queues needs no place at work.
    """
    full = facts.open >= policy.session.max_open
    match outcome:
        case NewRequest(thread=number):
            return full or _no_place(number, facts, policy)
        case Override(thread=number, stop=stop):
            if not stop and _no_place(number, facts, policy):
                return True
            # what it interrupts makes room: a full session can still be stopped
            return facts.open >= 2 * policy.session.max_open
        case Triage():
            return full
        case StatusNudge():
            return facts.open >= 2 * policy.session.max_open
        case _:
            return False


def _no_place(thread: int, facts: AttachFacts, policy: Policy) -> bool:
    """Whether as many threads are at work as may be, and the one meant is none of them."""
    if facts.at_work < policy.session.max_active:
        return False
    return not any(known.id == thread and known.live and not known.idle for known in facts.threads)


def _attached(facts: AttachFacts, policy: Policy) -> AttachVerdict:
    if facts.choice and facts.options:
        chosen = facts.options["AB".index(facts.choice)]
        return _read(chosen, facts), AttachReason.CHOSEN
    if facts.edit:
        return _edited(facts)
    if facts.halted:
        return Filler(), AttachReason.HALTED
    found = _certain(facts)
    if found is not None:
        return found
    if facts.suggests:
        return _suggested(facts, policy)
    if (
        facts.may_ask
        and threads_at_work(facts)
        and not (facts.cues.whole and len(possible(facts)) == 1)
    ):
        return Triage(), AttachReason.ASK
    return _open(facts)


def _edited(facts: AttachFacts) -> AttachVerdict:
    if facts.edit is Edit.LIVE:
        return Override(thread=facts.anchor), AttachReason.EDIT
    if facts.edit is Edit.OVER:
        return NewRequest(thread=facts.anchor), AttachReason.EDIT_LATE
    return (
        Filler(),
        AttachReason.STALE_EDIT if facts.edit is Edit.STALE else AttachReason.SUPERSEDED,
    )


def _certain(facts: AttachFacts) -> AttachVerdict | None:
    """What wording and state leave no doubt about."""
    ordered = overriding(facts) or holding(facts) or _nudge(facts)
    if not facts.addressed:
        return ordered or _answer(facts) or _approval(facts) or filler(facts)
    answered = (
        taken_back(facts) or _answer(facts) or resumed(facts) or _approval(facts) or too_late(facts)
    )
    return ordered or answered or protesting(facts) or filler(facts)


def _nudge(facts: AttachFacts) -> AttachVerdict | None:
    cues = facts.cues
    weak = max(cues.nudge, cues.trouble) == 1 and cues.words <= WEAK_NUDGE_WORDS and not cues.filler
    if max(cues.nudge, cues.trouble) < 2 and not weak:
        return None
    target = _target(facts, at_work_only=weak)
    return None if target is None else (StatusNudge(thread=target), AttachReason.NUDGE)


def _target(facts: AttachFacts, *, at_work_only: bool = False) -> int | None:
    """Whose state is told: the anchored thread, else the most recent at work, else one that waits,
    else one that failed.
    """
    live = threads_at_work(facts)
    ranked = [t for t in live if not t.asks]
    if not at_work_only:
        ranked += [*live, *(t for t in facts.threads if t.status in {"failed", "blocked"})]
    found = [t for t in ranked if t.id == facts.anchor] or ranked
    return found[0].id if found else None


def _answer(facts: AttachFacts) -> AttachVerdict | None:
    pending = [thread for thread in facts.threads if thread.live and thread.asks]
    for thread in pending:
        if thread.id == facts.anchor and facts.asked and thread.fits:
            return AnswerPending(thread=thread.id), AttachReason.ANSWER_ANCHORED
    if facts.closed:
        return None  # an answer to what is no longer asked answers nothing else
    fitting = [
        thread
        for thread in pending
        if thread.fits and not (thread.asks == ExpectedType.FREEFORM and facts.cues.question)
    ]
    if facts.addressed:
        return answer_to(facts, fitting) or (None if fitting else _conditional(facts))
    typed = [thread for thread in fitting if thread.asks != ExpectedType.FREEFORM]
    best = typed or fitting
    if len(best) == 1:
        return AnswerPending(thread=best[0].id), AttachReason.ANSWER
    if not best:
        return _conditional(facts)
    first, second = (
        MessageReading(attached=Attached.ANSWER, thread=thread.id) for thread in best[:2]
    )
    return Repair(a=first, b=second), AttachReason.AMBIGUOUS


def _conditional(facts: AttachFacts) -> AttachVerdict | None:
    """A condition for the one question that it can be about."""
    return _in_part(facts, _CONDITION, AttachReason.CONDITION)


def _goes_back(facts: AttachFacts) -> AttachVerdict | None:
    """What says something to the one question that has not gone back yet: it does now."""
    return _in_part(facts, _LEANS, AttachReason.UNCLEAR)


def _in_part(facts: AttachFacts, partly: Partly, reason: Reason) -> AttachVerdict | None:
    """Part of an answer to the one question that it can be about; where something else was asked
    since, the sender is asked.
    """
    number = partly_answered(facts, partly)
    thread = next((one for one in facts.threads if one.id == number), None)
    if thread is None:
        return None
    if facts.addressed and not is_last(facts, thread.id) and facts.anchor != thread.id:
        return which(facts, thread)
    return AnswerPending(thread=thread.id, partly=partly), reason


def _approval(facts: AttachFacts) -> AttachVerdict | None:
    """What could be a yes or a no, where only an approval waits for one: it is none to that,
    whoever says it, so it is told how one is given.
    """
    cues, waits = facts.cues, threads_awaiting(facts)
    says = cues.yes or cues.no or cues.hold or cues.partly in _IN_PART
    if (
        not waits
        or not says
        or facts.explicit
        or facts.closed
        or not any(reachable(facts, thread) for thread in waits)
    ):
        return None
    chosen = [thread for thread in waits if thread.id == facts.anchor] or waits
    return StatusNudge(thread=chosen[0].id), AttachReason.APPROVAL


def _open(facts: AttachFacts) -> AttachVerdict:
    """No cue decides: it goes back to its sender where it is about a question, else it is a new
    request.
    """
    return _goes_back(facts) or _request(facts)


def _request(facts: AttachFacts) -> AttachVerdict:
    """A new request, in the thread it replies to or a thread of its own. Behind a question, or an
    approval, it would wait for that.
    """
    waiting = [thread.id for thread in threads_awaiting(facts)] if facts.outspoken else []
    known = any(
        thread.id == facts.anchor and not thread.asks and thread.id not in waiting
        for thread in facts.threads
    )
    request = NewRequest(thread=facts.anchor) if known else NewRequest()
    if untaken := untaken_by(facts):
        return structs.replace(request, untaken=untaken), AttachReason.BESIDE
    return request, AttachReason.ANCHORED if known else AttachReason.NEW_REQUEST


def possible(facts: AttachFacts) -> Sequence[Attached]:
    """The classes that wording and state leave open: all that a model may choose between."""
    cues, found = facts.cues, [Attached.NEW_REQUEST]
    live = threads_at_work(facts)
    if _stoppable(facts):
        found.append(Attached.OVERRIDE)
    brief = cues.words <= (SORTED_WORDS if cues.whole and cues.question else SHORT_WORDS)
    if cues.apart:
        return found  # what has a matter of its own is worked on, whatever a model takes it for
    if _target(facts) is not None and not cues.lead and (cues.nudge or cues.trouble or brief):
        found.append(Attached.STATUS_NUDGE)
    if any(thread.asks and thread.barred is Barred.NO for thread in live):
        found.append(Attached.ANSWER)
    if (
        facts.outspoken
        and cues.partly is Partly.MAYBE
        and len(live) == len(threads_awaiting(facts))
    ):
        return found  # beside an approval nobody would ask for it again
    if partly_answered(facts, Partly.MAYBE) is not None or (
        cues.words <= (SORTED_WORDS if cues.whole else SHORT_WORDS) and not cues.question
    ):
        found.append(Attached.FILLER)
    return found


def _stoppable(facts: AttachFacts) -> Sequence[ThreadFact]:
    """What a suggested override may stop: nothing without words that grade a stop or steer, and no
    question by what may be its answer.
    """
    cues, live = facts.cues, threads_at_work(facts)
    graded = max(cues.stop, cues.steer) >= 1
    if not cues.whole:
        return live if graded else ()
    return [thread for thread in live if not thread.asks] if graded or cues.hold else ()


def _suggested(facts: AttachFacts, policy: Policy) -> AttachVerdict:
    unsuggested = _open(facts)[0]
    outcome: AttachOutcome | None
    if facts.confidence < policy.attach.threshold or facts.suggests not in possible(facts):
        return unsuggested, AttachReason.SUGGESTION_REJECTED
    match Attached(facts.suggests):
        case Attached.OVERRIDE:
            live = _named(facts, _stoppable(facts))
            outcome = None if live is None else _suggested_override(facts, live)
        case Attached.STATUS_NUDGE:
            target = _target(facts)
            outcome = None if target is None else StatusNudge(thread=target)
        case Attached.ANSWER:
            outcome = _suggested_answer(facts)
        case Attached.FILLER:
            outcome = _no_answer(facts)
        case _:
            outcome = _request(facts)[0]
    if outcome is None:
        return unsuggested, AttachReason.SUGGESTION_REJECTED
    return outcome, AttachReason.SUGGESTED_BACK if isinstance(
        outcome, Repair
    ) else AttachReason.SUGGESTED


def _stops(cues: Cues) -> bool:
    """Whether an override orders nothing new."""
    return (cues.hold or cues.stop >= 1) and cues.steer < 2 if cues.whole else cues.steer < 1


def _suggested_override(facts: AttachFacts, thread: int) -> AttachOutcome:
    """The sender says whether that was meant; what code itself reads as an order never comes
    here.
    """
    stop = _stops(facts.cues)
    if not facts.asks_back:
        return Override(thread=thread, stop=stop)
    return _meant(facts, MessageReading(attached=Attached.OVERRIDE, thread=thread, stop=stop))


def _meant(facts: AttachFacts, reading: MessageReading) -> Repair:
    """Did the sender mean this, or is it a request of its own?"""
    return Repair(
        a=reading,
        b=MessageReading(
            attached=Attached.NEW_REQUEST, thread=getattr(_request(facts)[0], "thread", 0)
        ),
    )


def _suggested_answer(facts: AttachFacts) -> AttachOutcome | None:
    """No model makes a yes, a no or a choice of words, nor closes a question with them: they go
    back once, or the sender says what they are.
    """
    said = [one for one in facts.threads if reachable(facts, one) and not facts.revises]
    open_ = [
        one
        for one in said
        if one.live
        and not one.barred
        and (one.fits or one.takes or one.asks == ExpectedType.FREEFORM)
    ]
    number = _named(facts, open_)
    thread = next((one for one in open_ if one.id == number), None)
    if thread is None:
        return None
    if thread.fits:
        return AnswerPending(thread=thread.id)
    if not facts.asks_back:
        return AnswerPending(
            thread=thread.id, partly=Partly.CONDITION if thread.takes else Partly.NO
        )
    if thread.takes:
        return (
            AnswerPending(thread=thread.id, partly=Partly.LEANS)
            if thread.takes is Takes.UNCLEAR
            else None
        )
    return _meant(facts, MessageReading(attached=Attached.ANSWER, thread=thread.id))


def _no_answer(facts: AttachFacts) -> AttachOutcome:
    """What a model takes for nothing goes back where a question has not been asked again yet, also
    if it asks something.
    """
    thread = partly_answered(facts, Partly.LEANS) or partly_answered(facts, Partly.MAYBE)
    return Filler() if thread is None else AnswerPending(thread=thread, partly=Partly.LEANS)


def _named(facts: AttachFacts, candidates: Sequence[ThreadFact]) -> int | None:
    """The suggested thread where it is a candidate, else the only candidate."""
    ids = [thread.id for thread in candidates]
    if facts.suggested_thread in ids:
        return facts.suggested_thread
    return ids[0] if len(ids) == 1 else None


def _read(reading: MessageReading, facts: AttachFacts) -> AttachOutcome:
    """A chosen reading, as far as it still can be: the thread may have moved on while the question
    was open.
    """
    thread = next((thread for thread in facts.threads if thread.id == reading.thread), None)
    live = thread is not None and thread.live
    if reading.attached is Attached.OVERRIDE and live:
        return Override(thread=reading.thread, stop=reading.stop)
    if reading.attached is Attached.ANSWER and live and thread is not None and thread.asks:
        # it asks something else by now
        return Filler() if thread.barred else AnswerPending(thread=reading.thread)
    if reading.attached is Attached.OVERRIDE and reading.stop:
        return Filler()
    if reading.attached is Attached.STATUS_NUDGE:
        return StatusNudge(thread=reading.thread) if live else Filler()
    return NewRequest(thread=reading.thread if thread is not None else 0)


_BUSY = b'"type":"session_busy"'


def _tells(recorded: Recorded) -> HeaderShare:
    mark = "fail" if _BUSY in bytes(recorded.outcome) else "info"
    return HeaderShare(lines=(HeaderLine(mark=mark, what="attach", reason=recorded.reason),))


ATTACH: Rule[AttachFacts, None, Any] = Rule(
    name="attach", outcome=AttachOutcome, apply=decide_attach, reasons=(AttachReason,), tells=_tells
)
