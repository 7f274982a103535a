"""Rule ``recall``: may a message that asked for memory be answered with what memory gave? Asked
only where a message asks for recall (C1).
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason


class RecallReason(Reason):
    """Whether what memory gave is enough to answer."""

    HAD = "recall.had", "Memory answered; what it gave goes along, be it nothing."
    ATTACHED = (
        "recall.attached",
        "What came with the message was read, and goes along as far as there is room for it.",
    )
    AUTO = (
        "recall.auto",
        "Policy has memory asked for every message: what bears on this one goes along.",
    )
    NOTHING = (
        "recall.nothing",
        "Policy has memory asked for every message: nothing remembered bears on this one.",
    )
    WITHOUT = (
        "recall.without",
        "Memory could not be had, and the message does not require it: it is answered without.",
    )
    REQUIRED = (
        "recall.required",
        "Memory could not be had, and the message requires it: it is not answered.",
    )


class Answerable(Struct, frozen=True, tag="answerable"):
    """The message is answered, with what was recalled."""


class Unanswerable(Struct, frozen=True, tag="unanswerable"):
    """The message is not answered."""


class RecallFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether the message requires memory, the code of why it could not be had ("": it could), and
    how many fragments it found and gave.

    ``auto``: policy asks for it, and the message says nothing of it. ``attached``: so many
    documents came with the message, and only they are looked at; ``of``: passages that they have in
    all (0: runs from before did not count them). ``own``: the verb that asked memory, whose call is
    no work of the turn's.
    """

    required: bool
    code: str = ""
    found: int = 0
    given: int = 0
    auto: bool = False
    attached: int = 0
    of: int = 0
    own: str = ""


def decide_recall(
    facts: RecallFacts, inputs: None, policy: Policy
) -> Decision[Answerable | Unanswerable]:
    """Where memory could not be had the message is answered only if it does not require it; to have
    found nothing is an answer.
    """
    if facts.attached and not facts.code:
        return Decision(outcome=Answerable(), reason=RecallReason.ATTACHED)
    if facts.auto and not facts.code:
        return Decision(
            outcome=Answerable(), reason=RecallReason.AUTO if facts.given else RecallReason.NOTHING
        )
    if not facts.code:
        return Decision(outcome=Answerable(), reason=RecallReason.HAD)
    if facts.required:
        return Decision(outcome=Unanswerable(), reason=RecallReason.REQUIRED)
    return Decision(outcome=Answerable(), reason=RecallReason.WITHOUT)


_FACTS = msgspec.json.Decoder(RecallFacts)


def _tells(recorded: Recorded) -> HeaderShare:
    """What was recalled shows in its call; that it was though the message did not ask does not, nor
    why nothing could be where no call was made.
    """
    facts = _FACTS.decode(recorded.facts)
    shown = _shown(facts, recorded.reason)
    return msgspec.structs.replace(shown, own=facts.own) if facts.own and not facts.code else shown


def _shown(facts: RecallFacts, reason: str) -> HeaderShare:
    code = facts.code
    if not code and facts.attached:
        what = (
            f"attached: {facts.given} of {facts.of or facts.found} passages of {facts.attached} "
            f"document{'s' if facts.attached > 1 else ''} given to the model"
        )
        return HeaderShare(lines=(HeaderLine(mark="info", what=what, reason=reason),))
    if not code and facts.auto and facts.given:
        what = (
            f"memory: {facts.given} of {facts.found} remembered "
            f"{'passages' if facts.found > 1 else 'passage'} given to the model"
        )
        return HeaderShare(lines=(HeaderLine(mark="info", what=what, reason=reason),))
    if not code:
        return SILENT
    if facts.attached:
        what = (
            f"attached: {facts.attached} document{'s' if facts.attached > 1 else ''} not read: "
            f"{code}"
        )
        return HeaderShare(lines=(HeaderLine(mark="fail", what=what, reason=reason),))
    mark = "fail" if reason == str(RecallReason.REQUIRED) else "info"
    return HeaderShare(lines=(HeaderLine(mark=mark, what=f"recall: {code}", reason=reason),))


RECALL: Rule[RecallFacts, None, Any] = Rule(
    name="recall",
    outcome=Answerable | Unanswerable,
    apply=decide_recall,
    reasons=(RecallReason,),
    tells=_tells,
)
