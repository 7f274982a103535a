"""The Effects port: everything a flow can do, and the values it does it with.

An effect value is its own intent, digest and divergence check: the journal holds it exactly as the flow built it. A result
is a value too: a foreign failure never surfaces as an exception. Effects carry absolute deadlines (microseconds since 1970
UTC), never remaining times.

``perform`` makes ONE attempt; a hedged model call makes a second one beside it, and its result tells of both. What loops is a flow: ``flows.ask`` and ``flows.act``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from ordain.contracts.policy import ModelErrorCode
from ordain.contracts.verbs import Trust
from ordain.journal.seen import Beside
from ordain.ports.children import AnyEnded, Authorized, Join, Spawn
from ordain.rules.decision import Decision, Rule

R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")
F = TypeVar("F", bound=Struct)
I = TypeVar("I")  # noqa: E741 - the established letters of ordain.rules.decision
O = TypeVar("O", bound=Struct)  # noqa: E741 - see above


class Suspended(BaseException):
    """The run waits: thrown through the flow, which is evicted. No flow catches it."""


class Interrupted(BaseException):
    """Somebody wants the run to stop; raised once. A flow may catch it, say, read and settle, and must then end."""

    def __init__(self, what: str, by: str, why: str, *, in_flight: bool = False) -> None:
        """``what`` is cancel or override; ``by`` the principal; ``why`` their words; ``in_flight`` that an effect was given up for it."""
        super().__init__(what)
        self.what, self.by, self.why, self.in_flight = what, by, why, in_flight


# --- results -------------------------------------------------------------------------------------------------------------------


class Result(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="result"):
    """What became of an effect. ``seq`` is where it stands in the journal; the port sets it, the record omits it."""

    seq: int = -1


class Withheld(Struct, frozen=True, kw_only=True):
    """An answer that did not parse where thoughts may not be kept (B-37): its length in bytes, digest and parse reason."""

    size_bytes: int
    digest: str
    reason: str


class ModelAnswer(Result, frozen=True, kw_only=True, omit_defaults=True, tag="answer"):
    """A complete answer; still an untrusted proposal. ``estimated``: the provider reported no usage (B-42).

    ``profile`` is who answered where it was not the call's own profile but its hedge; ``beside`` is the attempt that did not count.
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

    @property
    def by_code(self) -> bool:
        """Whether rules of code answered, which can only repeat what they were given, and no model."""
        return self.provider == "offline"


class ModelFailed(Result, frozen=True, kw_only=True, omit_defaults=True, tag="model_failed"):
    """The attempt failed. ``live`` is false where nothing was sent; ``message`` holds no secret and no prompt.

    ``charged`` is false where the provider refused it before any work, true where it may stand on the bill; None where nobody said, and
    the code does.
    """

    code: ModelErrorCode
    message: str
    provider: str
    model: str
    retry_after_ms: int | None = None
    prompt_digest: str = ""
    live: bool = True
    charged: bool | None = None
    profile: str = ""
    beside: Beside | None = None


ModelResult = ModelAnswer | ModelFailed


class VerbReturned(Result, frozen=True, kw_only=True, omit_defaults=True, tag="returned"):
    """The verb's output, valid against its schema; origin and trust of each top-level field, undeclared ones foreign."""

    output: dict[str, Any]
    origin: str
    trust: dict[str, Trust]


class VerbFailed(Result, frozen=True, kw_only=True, omit_defaults=True, tag="verb_failed"):
    """The verb failed and is known not to have had its effect, or its effect does not matter (a read). ``retry_after_ms``: the delay it named."""

    code: str
    message: str
    retryable: bool = False
    retry_after_ms: int = 0


class VerbTimedOut(Result, frozen=True, kw_only=True, omit_defaults=True, tag="timed_out"):
    """A read took too long."""

    message: str = "deadline passed"


class VerbUnknown(Result, frozen=True, kw_only=True, omit_defaults=True, tag="outcome_unknown"):
    """Nobody can know whether it happened; shown, never guessed, resolvable by a person."""

    message: str


class VerbWithdrawn(Result, frozen=True, kw_only=True, omit_defaults=True, tag="withdrawn"):
    """The current catalog forbids what the pinned one allowed; the call did not go live."""

    message: str


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
    """The wait's deadline came first; for a timer this is the normal end. ``why``: it was over for another reason, and nobody was asked."""

    why: str = ""


WaitResult = Answered | Expired


class Said(Result, frozen=True, kw_only=True, omit_defaults=True, tag="said"):
    """The words are in the outbox, in the same commit as this record."""


class Abandoned(Result, frozen=True, kw_only=True, omit_defaults=True, tag="abandoned"):
    """The effect in flight was given up for an interrupt, which follows; a flow never sees this value."""


# --- effects -------------------------------------------------------------------------------------------------------------------


class Effect(Struct, Generic[R_co], frozen=True, kw_only=True, omit_defaults=True, tag_field="effect"):
    """One attempt at one thing in the world."""


class ModelCall(Effect[ModelResult], frozen=True, kw_only=True, omit_defaults=True, tag="model_call"):
    """Ask one model profile once.

    The prompt is rendered where the call goes live, from the template ``prompt`` over the records ``refs`` (seqs) and the
    small literals ``args``; only its digest is recorded. ``contract`` names the answer's schema. ``max_tokens`` is
    mandatory; ``bound_tokens`` is the reserved upper bound, a larger rendered prompt does not go live. ``narrative`` is the place in
    the answer of text that may be shown while it is written; "" where nothing may. ``hedge`` is the profile that is asked as well
    if there is no answer after ``hedge_ms``, within its own ``hedge_max_tokens`` and ``hedge_deadline``; "" for none.
    """

    purpose: str
    prompt: str
    refs: tuple[int, ...]
    args: dict[str, Any] = {}
    contract: str
    profile: str
    max_tokens: int
    bound_tokens: int
    deadline: int
    keep_thoughts: bool = True
    narrative: str = ""
    hedge: str = ""
    hedge_ms: int = 0
    hedge_max_tokens: int = 0
    hedge_deadline: int = 0


class VerbCall(Effect[VerbResult], frozen=True, kw_only=True, omit_defaults=True, tag="verb_call"):
    """Run an authorised leaf verb once. The idempotency key is H(run, ``authorized.decision``), shared by all attempts."""

    authorized: Authorized
    deadline: int
    attempt: int = 1


class Read(Effect[ReadResult], frozen=True, kw_only=True, omit_defaults=True, tag="read"):
    """Read shared state by name; what was seen is recorded."""

    what: str
    args: dict[str, Any] = {}
    deadline: int


class WaitFor(StrEnum):
    """What a wait waits for."""

    APPROVAL = "approval"
    ANSWER = "answer"
    TIMER = "timer"


class Question(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a wait asks the session's user: under which key the answer is kept and what it must be (``rules.cues.ExpectedType``).

    ``options`` are the labels of a choice, A first.
    """

    key: str
    expects: str
    options: tuple[str, ...] = ()


class Wait(Effect[WaitResult], frozen=True, kw_only=True, omit_defaults=True, tag="wait"):
    """Wait, costing nothing, for a person or a time. ``about`` is shown to whoever may answer.

    With ``question`` it is asked in the run's session: the transcript's entry and the open question are one commit with the intent.
    """

    what: WaitFor
    about: str
    deadline: int
    question: Question | None = None


class Say(Effect[Said], frozen=True, kw_only=True, omit_defaults=True, tag="say"):
    """Tell the run's session something: an outbox row and a transcript entry in the commit that records it.

    ``summary_through``: the text is no word to the user but sums up the transcript as far as that entry.
    """

    text: str
    summary_through: int = 0


class Children(Effect[Any], frozen=True, kw_only=True, omit_defaults=True, tag="children"):
    """The intent of a join; flows use ``Effects.children``."""

    spawns: tuple[Spawn[Any], ...]
    until: Join


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
    | Said
    | Abandoned
    | Joined
)
AnyEffect = ModelCall | VerbCall | Read | Wait | Say | Children


class Claim(Struct, Generic[O], frozen=True, kw_only=True, omit_defaults=True):
    """A shared decision: ``name`` is a rule of ``rules.shared`` and the store's claim (what is read and changed), ``args`` its literals."""

    name: str
    args: dict[str, Any]


class Effects(Protocol):
    """All a flow may await or ask. Effects are numbered; decisions are addressed ``effect/rule#k``.

    Ordering: a flow is sequential. Idempotency: running a flow again over its journal answers every recorded call from the
    record. Errors: ``JournalDiverged`` where the flow does something else than its record; ``Suspended`` and
    ``Interrupted`` are signals.
    """

    async def perform(self, effect: Effect[R]) -> R:
        """Attempt one thing once; recorded before (intent) and after (observation)."""
        ...

    async def children(self, spawns: Sequence[Spawn[Any]], until: Join) -> tuple[AnyEnded, ...]:
        """Start child runs and wait as ``until`` says; one ``Ended`` each, in the order of ``spawns``."""
        ...

    def decide(self, rule: Rule[F, I, O], facts: F, inputs: I, refs: tuple[int, ...] = ()) -> Decision[O]:
        """Apply a local rule to facts; ``refs`` are the seqs of the records ``inputs`` came from."""
        ...

    async def claim(self, claim: Claim[O]) -> Decision[O]:
        """Apply a shared rule inside the write transaction."""
        ...

    def now(self) -> datetime:
        """``at`` of the last record handed to the flow; never journalled."""
        ...

    def new_id(self) -> str:
        """H(run, address, k); never journalled."""
        ...
