"""Rule ``fallback``: what follows a model error (LLM-04, LLM-06, B-28): retry, next model, next
lane, or fail. Never silent.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from ordain.contracts.model_policy import FallbackPolicy, ModelErrorCode, OnModelError
from ordain.contracts.policy import Policy
from ordain.rules.backoff import backoff_ms
from ordain.rules.decision import Decision, Rule, tells_of
from ordain.rules.reasons import Reason


class FallbackReason(Reason):
    """What follows a model error, and why (LLM-04, LLM-06)."""

    RETRY = "fallback.retry", "The error may pass: the same model is tried again."
    HELD = (
        "fallback.held",
        (
            "Nothing was sent, which is no attempt: the model is asked once it need not be left "
            "alone "
            "any more."
        ),
    )
    RESTS = (
        "fallback.rests",
        (
            "The provider named a delay, and is asked again once that has passed, which uses up no "
            "attempt: time bounds it."
        ),
    )
    LANE_AGAIN = (
        "fallback.lane_again",
        (
            "A model before this one was only left alone, and has answered before: after the wait "
            "it is asked again."
        ),
    )
    LOWER = (
        "fallback.lower",
        (
            "The model's endpoint does not take the request that way: it is asked in the next "
            "lower "
            "one, or without what it does not take."
        ),
    )
    LOST = (
        "fallback.lost",
        (
            "The outcome was lost with the process, which says nothing of the model: it is asked "
            "again."
        ),
    )
    LOST_TOO_OFTEN = (
        "fallback.lost_too_often",
        "The outcome was lost with the process more often than policy permits.",
    )
    WAIT_TOO_LONG = (
        "fallback.wait_too_long",
        "Another model is tried: the wait before a retry would be longer than policy likes.",
    )
    UNANSWERED = (
        "fallback.unanswered",
        (
            "The model has never answered, and policy's wait for that is over: is it running, and "
            "is its address right?"
        ),
    )
    NEXT_PROFILE = "fallback.next_profile", "The next model of the lane is tried."
    NEXT_LANE = "fallback.next_lane", "Policy's next lane is tried."
    NOT_RETRYABLE = "fallback.not_retryable", "The error would repeat itself."
    EXHAUSTED = "fallback.exhausted", "Every permitted attempt was made."
    NO_TIME = (
        "fallback.no_time",
        "The deadline has passed or comes before the provider's retry-after.",
    )


class RetryProfile(Struct, frozen=True, tag="retry"):
    """The same model again, after ``wait_ms``."""

    wait_ms: int = 0


class LaneAgain(Struct, frozen=True, tag="lane_again"):
    """After ``wait_ms`` the models before this one that were only left alone and have answered
    before, and this one where it was left alone, too.
    """

    wait_ms: int


class NextProfile(Struct, frozen=True, tag="next_profile"):
    """The next model profile of the lane."""


class NextLane(Struct, frozen=True, tag="next_lane"):
    """Policy's next lane."""


class GiveUp(Struct, frozen=True, tag="give_up"):
    """The call fails with the last error."""


FallbackOutcome = RetryProfile | LaneAgain | NextProfile | NextLane | GiveUp


class FallbackFacts(Struct, frozen=True, kw_only=True):
    """The error and what was tried: attempts at this profile and in all, profiles and a lane still
    untried, time left.

    What is no attempt is told beside them. ``held``: this time nothing was sent, so often in a row
    at this profile, for whose sake ``waited_ms`` were waited already; ``unanswered``: and nothing
    was ever heard of it, nor of a model before it in the lane; ``rests``: it was asked and named a
    delay. ``turn``: it is left alone by all until ``retry_after_ms`` have passed, or somebody is
    finding out just now. ``before``: a model before it in the lane was only left alone, has
    answered before, and may be asked in so many milliseconds. ``lost``: this time the outcome was
    lost with its process, so often in all. Runs of earlier builds have none of these, or not all,
    and the first of them count all that among the attempts. ``lower``: the endpoint does not hold
    answers as it was told to, and has a lower way that was not tried. ``most`` is how many attempts
    the question itself leaves.
    """

    code: ModelErrorCode
    attempts: int
    attempts_total: int
    profiles_left: int
    lane_left: bool
    left_ms: int
    retry_after_ms: int = 0
    held: int | UnsetType = UNSET
    waited_ms: int | UnsetType = UNSET
    lost: int | UnsetType = UNSET
    unanswered: bool | UnsetType = UNSET
    rests: bool | UnsetType = UNSET
    turn: Literal["rest", "probe"] | UnsetType = UNSET
    before: int | UnsetType = UNSET
    lower: bool | UnsetType = UNSET
    most: int | UnsetType = UNSET


MAY_PASS = frozenset(
    {
        ModelErrorCode.RATE_LIMITED,
        ModelErrorCode.OVERLOADED,
        ModelErrorCode.SERVER_ERROR,
        ModelErrorCode.CONNECTION,
        ModelErrorCode.TIMED_OUT,
        ModelErrorCode.CIRCUIT_OPEN,
        ModelErrorCode.LOST,
    }
)
"""What an endpoint gets over by itself. All others cost the same again with each attempt, and are
seldom better for it.
"""
NEAR_MS = 1000
"""A turn that comes within this is waited for, though the wait was over by then."""
PROBE_MS = 100
"""The shortest wait for what somebody else is finding out."""
UNCOUNTED_MS = 200
"""Before a model is asked again that could not be reached or named a delay, where policy or
provider name a shorter wait: no attempt bounds how often.
"""


def decide_fallback(
    facts: FallbackFacts, inputs: None, policy: Policy
) -> Decision[FallbackOutcome]:
    """The policy table's answer for the error, within attempts and time.

    A model that is left alone, rests, or cannot be reached, is waited for within the time; where
    there is another, no longer in all than ``wait_max_ms``, and where it has never answered, no
    longer than ``unanswered_max_ms`` and the turn that has begun by then. Where models before it
    were only left alone, the wait is for all of them.
    """
    table = policy.fallback
    answer = table.on_error.get(facts.code, OnModelError.FAIL)
    most = table.attempts_total if facts.most is UNSET else min(facts.most, table.attempts_total)
    if facts.lower is True and facts.attempts_total < most and facts.left_ms > 0:
        return Decision(outcome=RetryProfile(), reason=FallbackReason.LOWER)
    if answer is OnModelError.FAIL:
        return Decision(outcome=GiveUp(), reason=FallbackReason.NOT_RETRYABLE)
    if facts.attempts_total >= most:
        return Decision(outcome=GiveUp(), reason=FallbackReason.EXHAUSTED)
    if facts.left_ms <= 0:
        return Decision(outcome=GiveUp(), reason=FallbackReason.NO_TIME)
    if facts.lost is not UNSET and facts.lost > table.max_lost:
        return Decision(outcome=GiveUp(), reason=FallbackReason.LOST_TOO_OFTEN)
    last = facts.profiles_left <= 0 and not facts.lane_left
    retries = answer is OnModelError.RETRY or (answer is OnModelError.NEXT_OR_RETRY and last)
    waited = 0 if facts.waited_ms is UNSET else facts.waited_ms
    wait, bound = _wait_ms(facts, policy), table.unanswered_max_ms
    near = facts.turn is not UNSET and wait <= NEAR_MS and waited < 2 * bound
    given_up = facts.unanswered is True and waited >= bound and not near
    if facts.unanswered is True and not near and (facts.turn is UNSET or wait > bound):
        wait = max(0, min(wait, bound - waited))
    again = (
        retries and not given_up and _may_be_asked(facts, table, last=last) and wait < facts.left_ms
    )
    too_long = bool(table.wait_max_ms) and wait + waited > table.wait_max_ms and not last
    if last and (back := _back_ms(facts, wait if again else facts.left_ms)) is not None:
        return Decision(outcome=LaneAgain(back), reason=FallbackReason.LANE_AGAIN)
    if again and not too_long:
        return Decision(outcome=RetryProfile(wait), reason=_again(facts))
    if not last:
        passed = FallbackReason.NEXT_PROFILE if facts.profiles_left else FallbackReason.NEXT_LANE
        outcome = NextProfile() if facts.profiles_left else NextLane()
        return Decision(outcome=outcome, reason=FallbackReason.WAIT_TOO_LONG if again else passed)
    if retries and given_up:
        return Decision(outcome=GiveUp(), reason=FallbackReason.UNANSWERED)
    if retries and wait >= facts.left_ms:
        return Decision(outcome=GiveUp(), reason=FallbackReason.NO_TIME)
    return Decision(outcome=GiveUp(), reason=FallbackReason.EXHAUSTED)


def _wait_ms(facts: FallbackFacts, policy: Policy) -> int:
    """What the provider asks for, or the time grown with each failure where that is longer."""
    table = policy.fallback
    if facts.code is ModelErrorCode.LOST:  # this process died, which says nothing of the provider
        return facts.retry_after_ms
    if facts.turn == "rest":  # nobody asks sooner, and who comes later misses its turn
        return facts.retry_after_ms
    if facts.turn == "probe":  # it may be back at any time: what is left is not spent on one wait
        return min(facts.retry_after_ms, max(PROBE_MS, facts.left_ms // 2))
    wait = backoff_ms(
        table.backoff_ms,
        table.backoff_max_ms,
        facts.attempts if facts.held is UNSET else facts.held,
    )
    if facts.held is not UNSET and _went_out(facts):
        wait = max(wait, UNCOUNTED_MS, backoff_ms(UNCOUNTED_MS, table.backoff_max_ms, facts.held))
    return max(facts.retry_after_ms, wait)


def _back_ms(facts: FallbackFacts, wait: int) -> int | None:
    """After how long the lane is gone back in: when the first of its models may be asked, this one
    included; None where none before it can be had within the time, or this one is tried again.
    """
    if facts.before is UNSET or (facts.held is UNSET and wait < facts.left_ms):
        return None
    back = min(wait, max(PROBE_MS, facts.before))
    return back if back < facts.left_ms else None


def _may_be_asked(facts: FallbackFacts, table: FallbackPolicy, *, last: bool) -> bool:
    """Whether the same model may be asked again, by how often it was."""
    if not last and facts.held is not UNSET and _went_out(facts):
        return facts.held < table.attempts_per_profile
    more = last and facts.code in MAY_PASS
    return facts.attempts < (
        max(table.attempts_per_profile, table.attempts_at_last)
        if more
        else table.attempts_per_profile
    )


def _went_out(facts: FallbackFacts) -> bool:
    """Whether the endpoint was turned to, though that is no attempt: each time costs it something,
    so the waits grow.
    """
    return facts.code is ModelErrorCode.CONNECTION or facts.rests is True


def _again(facts: FallbackFacts) -> FallbackReason:
    if facts.rests is True:
        return FallbackReason.RESTS
    if facts.held is not UNSET:
        return FallbackReason.HELD
    return FallbackReason.RETRY if facts.lost is UNSET else FallbackReason.LOST


_TOLD = (
    FallbackReason.RETRY,
    FallbackReason.RESTS,
    FallbackReason.LANE_AGAIN,
    FallbackReason.LOWER,
    FallbackReason.LOST,
    FallbackReason.NEXT_PROFILE,
    FallbackReason.NEXT_LANE,
    FallbackReason.WAIT_TOO_LONG,
    FallbackReason.UNANSWERED,
)
_TELLS = tells_of("fallback", _TOLD)
FALLBACK: Rule[FallbackFacts, None, Any] = Rule(
    name="fallback",
    outcome=FallbackOutcome,
    apply=decide_fallback,
    reasons=(FallbackReason,),
    tells=_TELLS,
)
