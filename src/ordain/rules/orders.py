"""Part of rule ``attach``: what an order to stop, to wait or to do otherwise reaches among the
threads of a session (B-07).
"""

from __future__ import annotations

from collections.abc import Sequence

from ordain.rules.addressee import partly_answered, replied_thread, threads_awaiting
from ordain.rules.answer import ExpectedType
from ordain.rules.attachment import (
    Attached,
    AttachFacts,
    AttachReason,
    Filler,
    MessageReading,
    NewRequest,
    Override,
    Repair,
    ThreadFact,
)
from ordain.rules.reasons import Reason
from ordain.wording.cues import Partly

OrderVerdict = tuple[Filler | NewRequest | Override | Repair, Reason]


def overriding(facts: AttachFacts) -> OrderVerdict | None:
    """An order to stop, or to do it otherwise, reaches the thread replied to, else the only one at
    work; of several it is asked which.
    """
    cues, live = facts.cues, threads_at_work(facts)
    if max(cues.stop, cues.steer) < 2:
        return None
    if not live:
        bare = cues.stop == 2 and cues.steer < 2 and not cues.reasoned
        return (Filler(), AttachReason.NOTHING_TO_STOP) if bare and not facts.explicit else None
    if cues.stop < 2 and any(
        thread.fits and thread.asks not in ("", ExpectedType.FREEFORM) for thread in live
    ):
        return None  # "rather Tuesday" to the question when: the answer it looks like
    if cues.whole and all(thread.asks for thread in live) and _about_question(facts, live):
        return None
    stop = cues.steer < 2
    if (ended := _elsewhere(facts, live)) is not None:
        return ended
    anchored = [thread for thread in live if thread.id == facts.anchor]
    working = [thread for thread in live if not thread.asks]
    target = anchored or (working if len(working) == 1 else live)
    if anchored or len(target) == 1:
        return Override(thread=target[0].id, stop=stop), AttachReason.OVERRIDE
    first, second = (
        MessageReading(attached=Attached.OVERRIDE, thread=thread.id, stop=stop)
        for thread in live[:2]
    )
    return Repair(a=first, b=second), AttachReason.AMBIGUOUS


def _elsewhere(facts: AttachFacts, live: Sequence[ThreadFact]) -> OrderVerdict | None:
    """An order that replies to what has ended is none to other work: its sender is asked which was
    meant, or it is a request there.
    """
    replied = replied_thread(facts)
    if not facts.addressed or replied is None or replied.live:
        return None
    if facts.cues.steer == 2:
        return NewRequest(thread=replied.id), AttachReason.ANCHORED
    working = [thread for thread in live if not thread.asks] or live
    first, second = (
        MessageReading(attached=Attached.OVERRIDE, thread=thread.id, stop=True)
        for thread in (working[0], replied)
    )
    return Repair(a=first, b=second), AttachReason.AMBIGUOUS


def _about_question(facts: AttachFacts, asking: Sequence[ThreadFact]) -> bool:
    """Whether what could order something else is said to a question: it answers that, or corrects
    what is asked, and no work is there to stop.
    """
    bare = facts.cues.stop == 2 and not facts.cues.reasoned
    return any(thread.fits or (thread.takes and not bare) for thread in asking)


def holding(facts: AttachFacts) -> OrderVerdict | None:
    """A bare *wait* stops what works; what only waits for an answer waits already."""
    if not facts.cues.hold or facts.explicit:
        return None
    if threads_at_work(facts):
        return _held(facts)
    return None if facts.cues.reasoned else (Filler(), AttachReason.NOTHING_TO_STOP)


def protesting(facts: AttachFacts) -> OrderVerdict | None:
    """*No no* that answers nothing, not even in part: it holds what works, where anything does."""
    if not facts.cues.protest or facts.explicit:
        return None
    return None if partly_answered(facts, Partly.LEANS) is not None else _held(facts)


def _held(facts: AttachFacts) -> OrderVerdict | None:
    live = threads_at_work(facts)
    awaiting = threads_awaiting(facts)
    working = [thread for thread in live if not thread.asks and thread not in awaiting]
    if working and (ended := _elsewhere(facts, working)) is not None:
        return ended
    target = [thread for thread in working if thread.id == facts.anchor] or [
        thread for thread in working if _may_reach(facts)
    ]
    if len(target) == 1:
        return Override(thread=target[0].id, stop=True), AttachReason.HOLD
    if not target:
        return None
    first, second = (
        MessageReading(attached=Attached.OVERRIDE, thread=thread.id, stop=True)
        for thread in target[:2]
    )
    return Repair(a=first, b=second), AttachReason.AMBIGUOUS


def _may_reach(facts: AttachFacts) -> bool:
    """Whether a *wait* may be said to other work than that of the thread it replies to: where that
    asks which of two was meant.
    """
    replied = replied_thread(facts) if facts.addressed else None
    return replied is None or replied.asks == ExpectedType.CHOICE


def threads_at_work(facts: AttachFacts) -> Sequence[ThreadFact]:
    """The threads with unsettled turns; a question which of two was meant is no work."""
    return [
        thread for thread in facts.threads if thread.live and thread.asks != ExpectedType.CHOICE
    ]
