"""Rule ``continuation``: which session a request of an OpenAI client belongs to, that sends a whole
conversation and no name for it.

A named session is that session. Without a name the conversation is looked for by the digest of what
was sent before, within one principal and user; it goes on only where exactly one session holds it,
with the very answer that the client shows, and nothing after it. A first message is never looked
for: two people may begin alike. Whatever is in doubt is a new session, into which what the client
shows is imported and marked: nothing in it was said here. Where a named session went otherwise than
the client shows, it is told so: the session counts, and what is shown beside it is not read.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason


class ContinuationReason(Reason):
    """How the session of a request was found that came with a whole conversation."""

    NAMED = "continuation.named", "The request names its session."
    NAMED_OTHERWISE = (
        "continuation.named_otherwise",
        (
            "The request names its session, which holds otherwise than the client shows; the "
            "session "
            "counts."
        ),
    )
    FIRST = "continuation.first", "Nothing was said before: a new session."
    FOUND = "continuation.found", "One session holds exactly what the client shows of it."
    NAMED_NEW = (
        "continuation.named_new",
        "The session that is named has not begun; what the client shows was imported.",
    )
    UNKNOWN = (
        "continuation.unknown",
        "No session holds what was sent before; what the client shows was imported into a new one.",
    )
    SEVERAL = (
        "continuation.several",
        (
            "More than one session holds exactly what the client shows; that was imported into a "
            "new one."
        ),
    )
    CONTRADICTS = (
        "continuation.contradicts",
        "The session went otherwise than the client shows; that was imported into a new one.",
    )


class Continues(StrEnum):
    """What becomes of a request."""

    GOES_ON = "goes_on"
    BEGINS = "begins"


class Continuation(Struct, frozen=True, kw_only=True, tag="continuation"):
    """Whether a session that is there goes on, and whether what the client shows is imported
    first.
    """

    how: Continues
    imports: bool = False


class ContinuationFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a request shows, and what there is of it.

    ``named``: it names a session, which has ``begun``. ``shown``: messages before what is said now.
    ``answered``: an answer is among these. ``matches``: sessions of this principal and user to
    which the same was sent, of a named one itself. ``agreeing``: those of them that gave the answer
    that is shown, in which nobody has said anything since, and one more where not all were
    looked at.
    """

    named: bool = False
    begun: bool = False
    shown: int = 0
    answered: bool = False
    matches: int = 0
    agreeing: int = 0


def decide_continuation(
    facts: ContinuationFacts, inputs: None, policy: Policy
) -> Decision[Continuation]:
    """A name counts; then one match that agrees; everything else begins anew."""
    imports = facts.shown > 0
    if facts.named:
        if facts.begun:
            otherwise = facts.answered and not facts.agreeing
            return _decided(
                Continues.GOES_ON,
                ContinuationReason.NAMED_OTHERWISE if otherwise else ContinuationReason.NAMED,
            )
        if not imports:
            return _decided(Continues.BEGINS, ContinuationReason.NAMED)
        return _decided(Continues.BEGINS, ContinuationReason.NAMED_NEW, imports=True)
    if not facts.answered:
        return _decided(Continues.BEGINS, ContinuationReason.FIRST, imports=imports)
    if facts.agreeing > 1:
        return _decided(Continues.BEGINS, ContinuationReason.SEVERAL, imports=True)
    if facts.agreeing == 1:
        return _decided(Continues.GOES_ON, ContinuationReason.FOUND)
    return _decided(
        Continues.BEGINS,
        ContinuationReason.CONTRADICTS if facts.matches else ContinuationReason.UNKNOWN,
        imports=True,
    )


def _decided(
    how: Continues, reason: ContinuationReason, *, imports: bool = False
) -> Decision[Continuation]:
    return Decision(outcome=Continuation(how=how, imports=imports), reason=reason)


CONTINUATION: Rule[ContinuationFacts, None, Continuation] = Rule(
    name="continuation",
    outcome=Continuation,
    apply=decide_continuation,
    reasons=(ContinuationReason,),
)
