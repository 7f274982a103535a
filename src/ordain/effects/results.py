"""What becomes of effects. A foreign failure is a value here and never an exception."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.verbs import Trust
from ordain.effects.calls import Call
from ordain.rules.reasons import Reason

BY_CODE = "offline"
"""The provider that is none: rules of code answer in its place."""


class Result(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="result"):
    """What became of an effect. ``seq`` is where it stands in the journal; the port sets it, the
    record omits it.
    """

    seq: int = -1


class Withheld(Struct, frozen=True, gc=False, kw_only=True):
    """An answer that did not parse where thoughts may not be kept (B-37): its length in bytes,
    digest and parse reason.
    """

    size_bytes: int
    digest: str
    reason: str


AwaitedTurn = Literal["", "rest", "probe"]
"""What a call that was held back waits for: that the model need not be left alone any more, which
is so when it is said; or for what somebody else is finding out just now, who may be back sooner.
"""


class Beside(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The other attempt of a hedged call: whom it asked, and why it does not count (a model error
    code, or ``abandoned``).

    ``live``, ``charged``, ``retry_after_ms``, ``apart``, ``unanswered``, ``known``, ``turn``,
    ``lower`` and the token counts are as in a failed attempt's result.
    """

    profile: str
    provider: str
    model: str
    code: str
    message: str = ""
    live: bool = True
    charged: bool | None = None
    retry_after_ms: int | None = None
    apart: bool = False
    unanswered: bool = False
    known: bool = False
    turn: AwaitedTurn = ""
    lower: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0


class ModelAnswer(Result, frozen=True, kw_only=True, omit_defaults=True, tag="answer"):
    """A complete answer; still an untrusted proposal. ``estimated``: the provider reported no usage
    (B-42).

    ``profile`` is who answered where it was not the call's own profile but its hedge; ``beside`` is
    the attempt that did not count. ``held`` is how the endpoint was told to hold it to its schema,
    so that its prompt can be made again as it was sent; "" where it was not, and in older records.
    """

    content: str | None
    withheld: Withheld | None = None
    provider: str
    model: str
    input_tokens: int
    output_tokens: int
    estimated: bool = False
    cached_tokens: int = 0
    written_tokens: int = 0
    prompt_digest: str
    notice: str | None = None
    profile: str = ""
    beside: Beside | None = None
    held: str = ""

    @property
    def by_code(self) -> bool:
        """Whether rules of code answered, which can only repeat what they were given, and no
        model.
        """
        return self.provider == BY_CODE


class ModelFailed(Result, frozen=True, kw_only=True, omit_defaults=True, tag="model_failed"):
    """The attempt failed. ``live`` is false where nothing was sent; ``message`` holds no secret and
    no prompt.

    ``charged`` is false where the provider refused it before any work, true where it may stand on
    the bill; None where nobody said, and the code does.

    ``apart``: it says nothing of the model, for it was held back here or no connection could be
    made, and nothing was sent, or (``live``) the provider named the delay after which it wants to
    be asked, or (code ``lost``) its outcome was lost with the process. Rule ``fallback`` counts it
    apart from attempts. ``unanswered``: it is apart, and nothing is known of this endpoint that
    would be an answer; ``known``: it is apart, and there is. ``turn``: it was held back here, or is
    from now on, and ``retry_after_ms`` is when its turn comes. Observations of earlier builds say
    none of these, or not all. ``calls``: what was said and not taken was a call, and its prompt
    offers tools; observations of earlier builds do not say so. ``held`` is as in an answer;
    ``lower``: the endpoint does not hold answers so, and the next attempt asks for it in the next
    lower way. The token counts are what a whole answer told that was none; 0 where nothing told of
    any use, and in older records.
    """

    code: ModelErrorCode
    message: str
    provider: str
    model: str
    retry_after_ms: int | None = None
    prompt_digest: str = ""
    live: bool = True
    charged: bool | None = None
    apart: bool = False
    unanswered: bool = False
    known: bool = False
    turn: AwaitedTurn = ""
    profile: str = ""
    beside: Beside | None = None
    held: str = ""
    lower: bool = False
    calls: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0


ModelResult = ModelAnswer | ModelFailed


class Unreserved(Struct, frozen=True, gc=False, kw_only=True):
    """The run's budget does not cover the call: nothing was asked. It stands in no observation; the
    decision of rule ``reserve`` says why.
    """

    reason: Reason


class VerbReturned(Result, frozen=True, kw_only=True, omit_defaults=True, tag="returned"):
    """The verb's output, valid against its schema; ``origin`` is whose it is ("": the verb that was
    called).

    ``trust`` is that of each top-level field; a field that it does not name is foreign.
    """

    output: dict[str, Any]
    origin: str = ""
    trust: dict[str, Trust] = {}


class VerbFailed(Result, frozen=True, kw_only=True, omit_defaults=True, tag="verb_failed"):
    """The verb failed and is known not to have had its effect, or its effect does not matter
    (a read, egress). ``retry_after_ms``: the delay it named.

    ``apart``: it refused for now and named the rest after which it wants to be asked, which uses up
    no attempt. Records of builds before never say so.
    """

    code: str
    message: str
    retryable: bool = False
    retry_after_ms: int = 0
    apart: bool = False


class VerbTimedOut(Result, frozen=True, kw_only=True, omit_defaults=True, tag="timed_out"):
    """What changes nothing took too long."""

    message: str = "deadline passed"


class VerbUnknown(Result, frozen=True, kw_only=True, omit_defaults=True, tag="outcome_unknown"):
    """Nobody can know whether it happened; shown, never guessed, resolvable by a person.

    ``repeat``: what a repeat of a call that had been cut off failed with, which says nothing of
    that: rule ``retry`` judges it, and the next attempt takes its place. Builds before recorded
    that failure instead.
    """

    message: str
    repeat: VerbFailed | None = None


class VerbWithdrawn(Result, frozen=True, kw_only=True, omit_defaults=True, tag="withdrawn"):
    """The current catalog forbids what the pinned one allowed, or the run is being stopped; the
    call did not go live.

    ``in_doubt``: it went out before, in this run or beside it, and nobody knows if it happened.
    """

    message: str
    in_doubt: bool = False


VerbResult = VerbReturned | VerbFailed | VerbTimedOut | VerbUnknown | VerbWithdrawn


class ReadValue(Result, frozen=True, kw_only=True, omit_defaults=True, tag="read"):
    """What was read, as it was then."""

    value: Any


class ReadFailed(Result, frozen=True, kw_only=True, omit_defaults=True, tag="read_failed"):
    """It could not be read."""

    code: str
    message: str


ReadResult = ReadValue | ReadFailed


class Answered(Result, frozen=True, kw_only=True, omit_defaults=True, tag="answered"):
    """Somebody answered the wait."""

    value: Any
    by: str


class Expired(Result, frozen=True, kw_only=True, omit_defaults=True, tag="expired"):
    """The wait's deadline came first; for a timer this is the normal end. ``why``: it was over for
    another reason, and nobody was asked.

    ``withdrawn`` says of a ``why`` that the header tells it; what earlier builds wrote has none.
    """

    why: str = ""
    withdrawn: bool = False


def withdrawn_wait(why: str) -> Expired:
    """A wait that is over before its time, and why."""
    return Expired(why=why, withdrawn=True)


class Approved(Result, frozen=True, kw_only=True, omit_defaults=True, tag="approved"):
    """An approver said yes, to exactly what was asked.

    ``told``: the calls in doubt that they were told of, each by its place: what they said yes to
    may have happened there. None in records of builds before.
    """

    approval: str
    by: str
    why: str = ""
    told: tuple[str, ...] | None = None


class NotApproved(Result, frozen=True, kw_only=True, omit_defaults=True, tag="not_approved"):
    """An approver said no."""

    approval: str
    by: str
    why: str = ""


class Resubmitted(Result, frozen=True, kw_only=True, omit_defaults=True, tag="resubmitted"):
    """An approver proposes the call with other arguments instead: a new proposal, which needs its
    own approval.
    """

    approval: str
    by: str
    why: str = ""
    call: Call


WaitResult = Answered | Expired | Approved | NotApproved | Resubmitted


class Said(Result, frozen=True, kw_only=True, omit_defaults=True, tag="said"):
    """The words are in the outbox, in the same commit as this record."""


class Abandoned(Result, frozen=True, kw_only=True, omit_defaults=True, tag="abandoned"):
    """The effect in flight was given up for an interrupt, which follows; a flow never sees this
    value.
    """


class Joined(Result, frozen=True, kw_only=True, omit_defaults=True, tag="joined"):
    """Which children were counted in when the join ended; the rest were interrupted."""

    counted: tuple[int, ...]
    why: str


AnyResult = (
    ModelAnswer
    | ModelFailed
    | VerbReturned
    | VerbFailed
    | VerbTimedOut
    | VerbUnknown
    | VerbWithdrawn
    | ReadValue
    | ReadFailed
    | Answered
    | Expired
    | Approved
    | NotApproved
    | Resubmitted
    | Said
    | Abandoned
    | Joined
)
