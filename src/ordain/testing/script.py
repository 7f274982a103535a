"""What becomes of a flow's effects, as its unit test scripts it: typed answers in the order in
which the flow asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any

from msgspec import Struct

from ordain.contracts.risk import RiskLevel
from ordain.contracts.verbs import Trust
from ordain.effects.calls import Call
from ordain.effects.children import AnyEnded, Cancelled, Completed, Failed, TimedOut, Unknown
from ordain.effects.effect import AnyEffect, Claim
from ordain.effects.results import (
    Answered,
    Approved,
    Expired,
    ModelAnswer,
    ModelFailed,
    NotApproved,
    ReadFailed,
    ReadValue,
    Resubmitted,
    VerbResult,
    VerbWithdrawn,
    WaitResult,
    withdrawn_wait,
)
from ordain.journal.records import raw
from ordain.ports.verb import AnyLeafResult, LeafFailed, LeafReturned, LeafTimedOut
from ordain.rules.header import HeaderFacts
from ordain.rules.spend import Spend
from ordain.testing.proposals import Delayed, Failing, Proposal


class ScriptError(AssertionError):
    """The script and the flow do not fit each other: something was asked that is not scripted, or
    scripted and not asked.
    """


def check_item(given: object, kinds: type | UnionType, where: str, expected: str) -> None:
    """What a test's author gave is what the place takes.

    Raises:
        ScriptError: it is not; the message has the place, what was given, and what is expected.
    """
    if not isinstance(given, kinds):
        raise ScriptError(
            f"{where} takes {expected}, and was given {given!r:.80} ({type(given).__name__})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What one attempt at a verb gives; ``verb`` "" fits any. What the verb's code returns is held
    to its output schema as live.
    """

    result: AnyLeafResult | VerbResult
    verb: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSeen:
    """What a read sees; ``what`` "" fits any."""

    result: ReadValue | ReadFailed
    what: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waited:
    """How a wait ends; an approver's word gets the id of the approval that the wait asks for."""

    result: WaitResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """How a join's children end, one each in the order of the spawns; ``order`` is that in which
    they did (indexes), the same where empty.
    """

    ends: tuple[AnyEnded, ...]
    order: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What a claim's transaction reads: its facts, or for a claim on accounts what others have
    ``committed`` of each, by name.
    """

    facts: Struct | None = None
    committed: Mapping[str, Spend] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Granting:
    """The grant that a claim's transaction finds for a call."""

    grant: str
    by: str
    level: RiskLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt:
    """An interrupt before the next effect goes live; ``in_flight``: after it was announced, so that
    it is given up.

    Of a join in flight ``ends`` say how the children end that are then stopped; where empty, each
    is cancelled.
    """

    what: str = "cancel"
    by: str = "user:test"
    why: str = ""
    in_flight: bool = False
    ends: tuple[AnyEnded, ...] = ()


ScriptItem = (
    Proposal
    | Failing
    | Delayed
    | Ran
    | ReadSeen
    | Waited
    | Joining
    | Claimed
    | Granting
    | Interrupt
    | ModelAnswer
    | ModelFailed
)
"""One scripted answer."""
Asked = AnyEffect | Claim[Any]
"""What a flow asks for: an effect or a claim."""
RunScript = Sequence[ScriptItem] | Callable[[Asked], ScriptItem | None]
"""Answers in order; or what answers each effect and claim, None where that is the usual end of a
word or a timer.
"""


# --- verbs ----------------------------------------------------------------------------------------


def returned(
    output: Mapping[str, Any], *, verb: str = "", trust: Mapping[str, Trust] | None = None
) -> Ran:
    """The verb returns this object; ``trust`` lowers what it declares of a field."""
    check_item(output, Mapping, "returned(…)", "the verb's output, an object such as {'sum': 3}")
    return Ran(result=LeafReturned(output=dict(output), trust=dict(trust or {})), verb=verb)


def failed(
    code: str,
    message: str = "scripted failure",
    *,
    retryable: bool = False,
    retry_after_ms: int = 0,
    happened: bool | None = False,
    verb: str = "",
) -> Ran:
    """The verb fails; ``happened`` None: nobody knows whether it took effect (for a read it means
    nothing).
    """
    result = LeafFailed(
        code=code,
        message=message,
        retryable=retryable,
        retry_after_ms=retry_after_ms,
        happened=happened,
    )
    return Ran(result=result, verb=verb)


def hung(verb: str = "") -> Ran:
    """The verb does not end in time; its effect is then unknown, where it has one."""
    return Ran(result=LeafTimedOut(), verb=verb)


def withdrawn(why: str = "it is switched off", verb: str = "") -> Ran:
    """The current catalog forbids it: nothing went live."""
    return Ran(result=VerbWithdrawn(message=why), verb=verb)


# --- reads, waits, claims, interrupts -------------------------------------------------------------


def read(value: Any, what: str = "") -> ReadSeen:
    """What is shared, as it is seen."""
    return ReadSeen(result=ReadValue(value=value), what=what)


def unread(
    code: str = "unavailable", message: str = "scripted failure", what: str = ""
) -> ReadSeen:
    """It cannot be read."""
    return ReadSeen(result=ReadFailed(code=code, message=message), what=what)


def answered(value: Any, by: str = "user:test") -> Waited:
    """Somebody answers the wait; a session's messages bring ``{"text": …}``."""
    return Waited(result=Answered(value=value, by=by))


def approved(by: str = "user:approver", why: str = "") -> Waited:
    """An approver says yes to exactly what the wait asks for."""
    return Waited(result=Approved(approval="", by=by, why=why))


def not_approved(by: str = "user:approver", why: str = "") -> Waited:
    """An approver says no."""
    return Waited(result=NotApproved(approval="", by=by, why=why))


def resubmitted(verb: str, args: Mapping[str, Any], by: str = "user:approver") -> Waited:
    """An approver proposes this call instead, which needs its own approval."""
    check_item(args, Mapping, "resubmitted(…)", "the call's arguments, an object")
    return Waited(result=Resubmitted(approval="", by=by, call=Call(verb=verb, args=dict(args))))


def granted(
    grant: str = "g", by: str = "user:approver", level: RiskLevel = RiskLevel.WRITE
) -> Granting:
    """A grant stands that covers the call; where a script says nothing of grants, none does."""
    return Granting(grant=grant, by=by, level=level)


def expired(why: str = "") -> Waited:
    """Nobody answers in time; ``why``: it is over for another reason, and nobody was asked."""
    return Waited(result=withdrawn_wait(why) if why else Expired())


def carved(committed: Mapping[str, Spend]) -> Claimed:
    """The shared accounts, of which so much is committed already, by name; one that is not named is
    untouched.
    """
    check_item(
        committed,
        Mapping,
        "carved(…)",
        "amounts by account, such as {'day:2024-10-04': Spend(tokens=5)}",
    )
    for name, amount in committed.items():
        check_item(amount, Spend, f"carved(…) for {name}", "a Spend")
    return Claimed(committed=committed)


def claimed(facts: Struct) -> Claimed:
    """The facts that a shared rule finds in its transaction."""
    check_item(facts, Struct, "claimed(…)", "the facts of the claimed rule")
    return Claimed(facts=facts)


def interrupt(
    what: str = "cancel",
    *,
    by: str = "user:test",
    why: str = "",
    in_flight: bool = False,
    ends: Sequence[AnyEnded] = (),
) -> Interrupt:
    """Somebody wants the run to stop: cancel, or override by a later message."""
    _check_ends("interrupt(ends=…)", ends)
    return Interrupt(what=what, by=by, why=why, in_flight=in_flight, ends=tuple(ends))


# --- children -------------------------------------------------------------------------------------


def joined(*ends: AnyEnded, order: Sequence[int] = ()) -> Joining:
    """How the children of a join end, in the order of the spawns."""
    _check_ends("joined(…)", ends)
    check_item(
        order, Sequence, "joined(order=…)", "the children's indexes in the order in which they end"
    )
    return Joining(ends=ends, order=tuple(order))


def _check_ends(where: str, ends: Sequence[AnyEnded]) -> None:
    check_item(ends, Sequence, where, "a sequence of ends")
    for end in ends:
        check_item(
            end,
            AnyEnded,
            where,
            "how children end: completed(value), child_failed(reason), child_cancelled(), …",
        )


def completed(
    value: Any, *, spent: Spend | None = None, header: HeaderFacts | None = None
) -> Completed:
    """A child that returned ``value``, its flow's output."""
    return Completed(child="", value=raw(value), spent=spent or Spend(), header=header)


def child_failed(reason: str, value: Any = None, *, spent: Spend | None = None) -> Failed:
    """A child that ended in a typed failure; ``value`` is its output all the same."""
    return Failed(child="", reason=reason, value=raw(value), spent=spent or Spend())


def child_cancelled(reason: str = "cancel") -> Cancelled:
    """A child that was interrupted."""
    return Cancelled(child="", reason=reason)


def child_timed_out() -> TimedOut:
    """A child whose time was over."""
    return TimedOut(child="")


def child_unknown(reason: str = "1 effects with unknown outcome") -> Unknown:
    """A child that holds an effect whose outcome nobody can know."""
    return Unknown(child="", reason=reason)
