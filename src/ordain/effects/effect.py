"""The effects: each is one attempt at one thing in the world.

An effect value is its own intent, digest and divergence check: the journal holds it exactly as the
flow built it. Effects carry absolute deadlines (microseconds of flow time, which begins as the wall
clock's since 1970 UTC), never remaining times.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from ordain.contracts.approvals import Subject, Tier
from ordain.effects.calls import Authorized, Call
from ordain.effects.children import Join, Spawn
from ordain.effects.results import ModelResult, ReadResult, Said, Unreserved, VerbResult, WaitResult

R_co = TypeVar("R_co", covariant=True)
O = TypeVar("O", bound=Struct)  # noqa: E741 - the established letters of ordain.rules.decision


class Effect(
    Struct,
    Generic[R_co],
    frozen=True,
    gc=False,
    kw_only=True,
    omit_defaults=True,
    tag_field="effect",
):
    """One attempt at one thing in the world."""


class ModelCall(
    Effect[ModelResult | Unreserved],
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    tag="model_call",
):
    """Ask one model profile once.

    The prompt is rendered where the call goes live, from the template ``prompt`` over the records
    ``refs`` (seqs) and the small literals ``args``; only its digest is recorded. ``contract`` names
    the answer's schema. Template and contract are the purpose's own where they are "".
    ``max_tokens`` is mandatory; ``bound_tokens`` is the reserved upper bound, a larger rendered
    prompt does not go live. ``narrative`` is the place in the answer of text that may be shown
    while it is written; "" where nothing may. ``hedge`` is the profile that is asked as well if
    there is no answer after ``hedge_ms``, within its own ``hedge_max_tokens`` and
    ``hedge_deadline``; "" for none. ``role`` is as whom the model is asked where several are asked
    for the same purpose (a council's seat, a card); ``temperature`` takes the place of the
    profile's, None: that holds.
    """

    purpose: str
    prompt: str = ""
    refs: tuple[int, ...]
    args: dict[str, Any] = {}
    contract: str = ""
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
    role: str = ""
    temperature: float | None = None


class VerbCall(Effect[VerbResult], frozen=True, kw_only=True, omit_defaults=True, tag="verb_call"):
    """Run an authorised leaf verb once. The idempotency key is H(run, ``authorized.decision``),
    shared by all attempts.
    """

    authorized: Authorized
    deadline: int
    attempt: int = 1


class SharedState(StrEnum):
    """What a flow of this build may read of what is shared: how far a run is, a session's history,
    its threads, what is pinned for it, what earlier plans came to.
    """

    RUN = "run"
    HISTORY = "history"
    THREADS = "threads"
    PROFILE = "profile"
    PLANS = "plans"


class WaitFor(StrEnum):
    """What a wait waits for."""

    APPROVAL = "approval"
    ANSWER = "answer"
    TIMER = "timer"


class UserQuestion(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What a wait asks the session's user: under which key the answer is kept and what it must be
    (``rules.answer.ExpectedType``).

    ``options`` are the labels of a choice, A first. ``takes`` is what of an answer that is none
    whole is handed over (``rules.answer.Takes``).
    """

    key: str
    expects: str
    options: tuple[str, ...] = ()
    takes: str = ""


class ApprovalAsked(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What a wait asks an approver for: to let exactly these calls be made, each once, in this run.

    ``detail`` says what else the yes is bound to (a template and its version, an expansion). What
    approvers are shown is made of ``calls`` by code, never of the wait's ``about``. ``apart``: who
    asked for the run does not approve it, as the profile that holds says; policy may say so
    besides.
    """

    subject: Subject
    calls: tuple[Call, ...]
    tier: Tier
    detail: dict[str, Any] = {}
    apart: bool = False


ANOTHER_STEP_TRY = "another try of a plan's step"
"""What a plan waits for before it hands a step on again; the header names it."""


class Wait(Effect[WaitResult], frozen=True, kw_only=True, omit_defaults=True, tag="wait"):
    """Wait, costing nothing, for a person or a time. ``about`` is shown to whoever may answer.

    With ``question`` it is asked in the run's session: the transcript's entry and the open question
    are one commit with the intent. So is an approval with ``approval``, which an approver alone
    decides.
    """

    what: WaitFor
    about: str
    deadline: int
    question: UserQuestion | None = None
    approval: ApprovalAsked | None = None


class Say(Effect[Said], frozen=True, kw_only=True, omit_defaults=True, tag="say"):
    """Tell the run's session something: an outbox row and a transcript entry in the commit that
    records it.

    ``summary_through``: the text is no word to the user but sums up the transcript as far as that
    entry.
    """

    text: str
    summary_through: int = 0


class Read(Effect[ReadResult], frozen=True, kw_only=True, omit_defaults=True, tag="read"):
    """Read shared state by name; what was seen is recorded."""

    what: str
    args: dict[str, Any] = {}
    deadline: int


class Children(Effect[Any], frozen=True, kw_only=True, omit_defaults=True, tag="children"):
    """The intent of a join; flows use ``Effects.children``."""

    spawns: tuple[Spawn[Any], ...]
    until: Join


class Claim(Struct, Generic[O], frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """A shared decision: ``name`` is a rule of ``rules.shared`` and the store's claim (what is read
    and changed), ``args`` its literals.
    """

    name: str
    args: dict[str, Any]


AnyEffect = ModelCall | VerbCall | Read | Wait | Say | Children
EFFECT: msgspec.json.Decoder[AnyEffect] = msgspec.json.Decoder(AnyEffect)
CLAIM: msgspec.json.Decoder[Claim[Any]] = msgspec.json.Decoder(Claim)
