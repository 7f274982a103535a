"""Rule ``retry``: whether a failed call of a verb is made again, and when. The verb's own
declaration bounds the attempts.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from ordain.contracts.policy import Policy
from ordain.rules.backoff import backoff_ms
from ordain.rules.decision import Decision, Rule, tells_of
from ordain.rules.reasons import Reason


class RetryReason(Reason):
    """Why a failed verb call is made again or is not."""

    RETRY = "verb.retry", "The failure may pass: the call is tried again with the same key."
    RESTS = (
        "verb.rests",
        (
            "It named a rest, and is called again once that has passed, which uses up no attempt: "
            "policy's longest wait bounds all rests together."
        ),
    )
    NO_RETRY = (
        "verb.no_retry",
        "The failure would repeat itself, or every permitted attempt was made.",
    )
    BUDGET_SPENT = "budget.verb_calls", "The run's verb calls are spent."
    WAIT_TOO_LONG = (
        "verb.wait_too_long",
        "The failure may pass, but not before policy's longest wait, or the time, is over.",
    )


class TryAgain(Struct, frozen=True, tag="try_again", omit_defaults=True):
    """The same authorised call once more, under the same key, after ``wait_ms``."""

    wait_ms: int = 0


class TakeIt(Struct, frozen=True, tag="take_it"):
    """The failure stands."""


class RetryFacts(Struct, frozen=True, kw_only=True):
    """What failed, how often, the delay it named if it named one, and what the run's budget of verb
    calls leaves.

    ``rested_ms``: this time it named a rest, which is no attempt and is not among ``attempt``; so
    long was rested for it before. Absent in runs of builds before, which counted rests as attempts.
    """

    verb: str
    code: str
    retryable: bool
    attempt: int
    max_attempts: int
    left_ms: int
    verb_calls: int
    cap_verb_calls: int
    retry_after_ms: int | UnsetType = UNSET
    rested_ms: int | UnsetType = UNSET


def decide_retry(facts: RetryFacts, inputs: None, policy: Policy) -> Decision[TryAgain | TakeIt]:
    """What may pass is tried again within attempts, budget and time: after the delay that the
    failure names, or policy's where it is longer.

    A rest that was named is no attempt. A delay that policy finds too long, with all rests before
    it, or that the time does not cover, is not waited for: the failure says it, and whoever called
    decides.
    """
    if facts.verb_calls >= facts.cap_verb_calls:
        return Decision(outcome=TakeIt(), reason=RetryReason.BUDGET_SPENT)
    rests = facts.rested_ms is not UNSET
    if (
        not facts.retryable
        or (facts.attempt >= facts.max_attempts and not rests)
        or facts.left_ms <= 0
    ):
        return Decision(outcome=TakeIt(), reason=RetryReason.NO_RETRY)
    most = policy.verbs.retry_wait_max_ms
    named = 0 if facts.retry_after_ms is UNSET else facts.retry_after_ms
    rested = 0 if facts.rested_ms is UNSET else facts.rested_ms
    wait = max(named, backoff_ms(policy.verbs.retry_wait_ms, most, facts.attempt))
    if rested + wait > most or wait >= facts.left_ms:
        return Decision(outcome=TakeIt(), reason=RetryReason.WAIT_TOO_LONG)
    return Decision(
        outcome=TryAgain(wait), reason=RetryReason.RESTS if rests else RetryReason.RETRY
    )


_TELLS = tells_of(
    "retry",
    (RetryReason.RETRY, RetryReason.RESTS, RetryReason.WAIT_TOO_LONG, RetryReason.BUDGET_SPENT),
)
RETRY: Rule[RetryFacts, None, Any] = Rule(
    name="retry",
    outcome=TryAgain | TakeIt,
    apply=decide_retry,
    reasons=(RetryReason,),
    tells=_TELLS,
)
