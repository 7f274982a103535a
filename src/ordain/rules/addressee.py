"""Part of rule ``attach``: what a bare answer is said to (B-06). Never to an older question than
the one that was put last, or to another thread than a reply chooses.

What Ordain asked last is an open question, an approval, or the question at the end of a reply.
Where a message fits an older question, or one that its reply leaves aside, it is asked back, and
nothing is filled meanwhile. Decisions from before facts said what was ``last`` went by what fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ordain.rules.answer import ExpectedType, Takes
from ordain.rules.attachment import (
    AnswerPending,
    Attached,
    AttachFacts,
    AttachReason,
    Filler,
    MessageReading,
    NewRequest,
    Override,
    Repair,
    StatusNudge,
    ThreadFact,
)
from ordain.rules.reasons import Reason
from ordain.wording.cues import Partly

AddresseeVerdict = tuple[
    AnswerPending | Filler | NewRequest | Override | Repair | StatusNudge, Reason
]

_CONSENTS = (ExpectedType.YES_NO, ExpectedType.OPTION)
"""What fills a slot by a word that would fit any other question of the kind."""
_CONDITION: Final = Partly.CONDITION
_LEANS: Final = Partly.LEANS
_UNCLEAR: Final = (Takes.UNCLEAR,)
_CONDITIONS_TOO: Final = (Takes.UNCLEAR, Takes.CONDITION)


def partly_answered(facts: AttachFacts, partly: Partly) -> int | None:
    """The one question that the message is partly an answer to: the one that it replies to, or the
    only one.
    """
    if facts.closed or facts.revises:
        return None
    taken = _CONDITIONS_TOO if partly is _CONDITION else _UNCLEAR
    found = [
        thread
        for thread in facts.threads
        if thread.live and thread.partly is partly and thread.takes in taken and not thread.barred
    ]
    chosen = [thread for thread in found if thread.id == facts.anchor] or [
        thread for thread in found if reachable(facts, thread)
    ]
    if facts.newest and len(chosen) > 1:
        # *yes to both* is no answer to either: it goes back by what asked last
        chosen = [thread for thread in chosen if thread.id == facts.last]
    return chosen[0].id if len(chosen) == 1 else None


def reachable(facts: AttachFacts, thread: ThreadFact) -> bool:
    """Whether the message may be about what the thread asks or does: a reply is about its own
    thread alone.
    """
    if not facts.addressed or replied_thread(facts) is None:
        return True
    return thread.id == facts.anchor and not facts.aside


def replied_thread(facts: AttachFacts) -> ThreadFact | None:
    """The thread of the message that is replied to; None where there is none, or it was left
    out.
    """
    return next(
        (thread for thread in facts.threads if facts.anchor and thread.id == facts.anchor), None
    )


def threads_awaiting(facts: AttachFacts) -> Sequence[ThreadFact]:
    """The threads at work that wait for an approver."""
    return [
        thread
        for place, thread in enumerate(facts.threads)
        if place in facts.approvals and thread.live
    ]


def untaken_by(facts: AttachFacts) -> int:
    """The thread that the yes or no which a request begins with may have been said to: of those
    that wait for one what was asked last; 0: none waits.
    """
    if not facts.outspoken or not facts.cues.lead:
        return 0
    asking = [
        thread
        for thread in facts.threads
        if thread.live and thread.asks in _CONSENTS and not thread.barred
    ]
    waiting = [
        thread.id for thread in (*asking, *threads_awaiting(facts)) if reachable(facts, thread)
    ]
    return facts.last if facts.last in waiting else next(iter(waiting), 0)


def answer_to(facts: AttachFacts, fitting: Sequence[ThreadFact]) -> AddresseeVerdict | None:
    """What a message answers that fits these open questions, or could be said to the question at
    the end of a reply.
    """
    if facts.revises:
        return None
    replied = replied_thread(facts)
    if replied is not None:
        return _reply(facts, replied, fitting)
    typed = [thread for thread in fitting if thread.asks != ExpectedType.FREEFORM]
    best = sorted(typed or fitting, key=lambda thread: thread.id != facts.last)
    if not best:
        return _goes_on(facts, facts.last) if _says(facts) and _is_chat(facts) else None
    if best[0].id == facts.last and (len(best) == 1 or best[0].asks == ExpectedType.CHOICE):
        return _strayed(facts, best[0]) or (AnswerPending(thread=best[0].id), AttachReason.ANSWER)
    if _is_chat(facts):
        return which(facts, best[0])
    if len(best) > 1:
        return Repair(a=_answering(best[0]), b=_answering(best[1])), AttachReason.AMBIGUOUS
    return _older(facts, best[0], fitting)


def which(facts: AttachFacts, thread: ThreadFact) -> AddresseeVerdict:
    """Ask back: was the thread's question meant, or what was asked last?"""
    return Repair(a=_answering(thread), b=_of_last(facts, thread)), AttachReason.AMBIGUOUS


def is_last(facts: AttachFacts, thread: int) -> bool:
    """Whether nothing was asked after what this thread asks, as far as is known."""
    return not facts.addressed or facts.last in (0, thread) or _last(facts) is None


def taken_back(facts: AttachFacts) -> AddresseeVerdict | None:
    """A no after an answer: it holds the work that the answer let go on, and goes back where a
    question is open, too (B-07).
    """
    thread = next(
        (one for one in facts.threads if facts.answered and one.id == facts.answered), None
    )
    if (
        thread is None
        or not (facts.cues.no or (facts.revises and facts.cues.hold))
        or facts.explicit
    ):
        return None
    replied = replied_thread(facts)
    if replied is not None and replied.id != thread.id:
        return None
    if not thread.live:
        return _told(facts, thread)
    last = _last(facts)
    if facts.revises or (
        not thread.asks
        and (is_last(facts, thread.id) or (last is not None and last.asks and not last.fits))
    ):
        return Override(thread=thread.id, stop=True), AttachReason.TAKEN_BACK
    if thread.asks:
        return None
    stop = MessageReading(attached=Attached.OVERRIDE, thread=thread.id, stop=True)
    return Repair(a=stop, b=_of_last(facts, thread)), AttachReason.AMBIGUOUS


def too_late(facts: AttachFacts) -> AddresseeVerdict | None:
    """A yes after a no, and an answer that is over."""
    thread = next(
        (one for one in facts.threads if facts.answered and one.id == facts.answered), None
    )
    if (
        thread is None
        or not facts.cues.yes
        or not (facts.refused or facts.revises)
        or facts.explicit
    ):
        return None
    return _told(facts, thread)


def filler(facts: AttachFacts) -> AddresseeVerdict | None:
    """What wants nothing, and a no to a question that takes none for its answer."""
    if facts.cues.partly is _LEANS and partly_answered(facts, _LEANS) is not None:
        return None  # "sure..." wants nothing of work, and is no answer to a question either
    if facts.explicit or (facts.cues.filler < 2 and not _refuses(facts)):
        return None
    return Filler(), AttachReason.FILLER


def _refuses(facts: AttachFacts) -> bool:
    """Whether it says no to what is asked, whatever that is: *never* to the question which day."""
    return facts.cues.refuses and any(
        thread.live and thread.asks and not thread.barred and reachable(facts, thread)
        for thread in facts.threads
    )


def resumed(facts: AttachFacts) -> AddresseeVerdict | None:
    """*Go on*: with what was held, where nothing else has begun there; with what a reply asked; to
    work that goes on it is no order.
    """
    if not facts.cues.go_on or facts.explicit:
        return None
    live = [thread for thread in facts.threads if thread.live]
    # what was held may still be ending
    working = [thread for thread in live if not thread.asks and thread.id != facts.paused]
    if working and not (facts.paused and facts.anchor == facts.paused):
        return Filler(), AttachReason.FILLER
    if facts.unbegun and not facts.anchor:
        return NewRequest(resumes=True), AttachReason.RESUMED
    if facts.paused and facts.anchor in (0, facts.paused):
        return NewRequest(thread=facts.paused, resumes=True), AttachReason.RESUMED
    return (
        _goes_on(facts, facts.last) if _is_chat(facts) and facts.anchor in (0, facts.last) else None
    )


def _told(facts: AttachFacts, thread: ThreadFact) -> AddresseeVerdict | None:
    """What became of it, where that is not what the sender is answering."""
    return (
        (StatusNudge(thread=thread.id), AttachReason.TOO_LATE)
        if is_last(facts, thread.id) and not _is_chat(facts)
        else None
    )


def _reply(
    facts: AttachFacts, replied: ThreadFact, fitting: Sequence[ThreadFact]
) -> AddresseeVerdict | None:
    """What is said to one thread reaches no other."""
    if any(thread.id == replied.id for thread in fitting):
        if facts.aside:
            return Repair(
                a=_answering(replied), b=MessageReading(attached=Attached.NEW_REQUEST, thread=0)
            ), AttachReason.AMBIGUOUS
        return AnswerPending(
            thread=replied.id
        ), AttachReason.ANSWER_ANCHORED if facts.asked else AttachReason.ANSWER
    if (
        _says(facts)
        and not replied.live
        and (facts.told or (_is_chat(facts) and facts.last == replied.id))
    ):
        return _goes_on(facts, replied.id)
    if not fitting or facts.cues.filler == 2:
        return None  # as filler it wants nothing of any thread
    return (
        (NewRequest(thread=replied.id), AttachReason.ANCHORED)
        if not replied.asks
        else (NewRequest(), AttachReason.NEW_REQUEST)
    )


def _older(facts: AttachFacts, only: ThreadFact, fitting: Sequence[ThreadFact]) -> AddresseeVerdict:
    """It fits this one question, and another one may have been put last."""
    last, consent = _last(facts), _says(facts)
    if last is None or last.id == only.id:
        return _strayed(facts, only) or (AnswerPending(thread=only.id), AttachReason.ANSWER)
    if last in fitting:
        if consent:
            strayed = _strayed(facts, last) if facts.wary else None
            return strayed or (AnswerPending(thread=last.id), AttachReason.ANSWER)
        return Repair(a=_answering(last), b=_answering(only)), AttachReason.AMBIGUOUS
    if consent:
        return which(facts, only)
    return _strayed(facts, only) or (AnswerPending(thread=only.id), AttachReason.ANSWER)


def _strayed(facts: AttachFacts, only: ThreadFact) -> AddresseeVerdict | None:
    """What replies to a message that is not known consents to nothing as long as it could be about
    something else.
    """
    if not facts.astray or not (_says(facts) or only.asks in _CONSENTS) or len(facts.threads) < 2:
        return None
    return Repair(
        a=_answering(only), b=MessageReading(attached=Attached.NEW_REQUEST, thread=0)
    ), AttachReason.AMBIGUOUS


def _goes_on(facts: AttachFacts, thread: int) -> AddresseeVerdict | None:
    return None if facts.explicit else (NewRequest(thread=thread), AttachReason.GOES_ON)


def _says(facts: AttachFacts) -> bool:
    """Whether the message is a bare yes or no."""
    return facts.cues.yes or facts.cues.no


def _last(facts: AttachFacts) -> ThreadFact | None:
    return next(
        (thread for thread in facts.threads if facts.last and thread.id == facts.last), None
    )


def _is_chat(facts: AttachFacts) -> bool:
    """Whether what was asked last is the end of a reply."""
    last = _last(facts)
    return last is not None and not last.asks and last not in threads_awaiting(facts)


def _answering(thread: ThreadFact) -> MessageReading:
    return MessageReading(attached=Attached.ANSWER, thread=thread.id)


def _of_last(facts: AttachFacts, other: ThreadFact) -> MessageReading:
    """The message as one about what was asked last, which is not the other thread's."""
    last = _last(facts)
    if last is None or last.id == other.id:
        return MessageReading(attached=Attached.NEW_REQUEST, thread=0)
    if last.asks:
        return (
            _answering(last)
            if last.fits
            else MessageReading(attached=Attached.NEW_REQUEST, thread=0)
        )
    return MessageReading(
        attached=Attached.STATUS_NUDGE if last in threads_awaiting(facts) else Attached.NEW_REQUEST,
        thread=last.id,
    )
