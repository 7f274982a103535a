"""Failure categories and risk: whatever this build can answer has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ordain.verbs
from ordain.contracts.failures import (
    CATEGORY,
    TO_DO,
    FailureCategory,
    categorised,
    failure_category,
)
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.risk import RISK, DataEgress, RiskLevel, SideEffects
from ordain.contracts.verbs import VerbEffect
from ordain.flows.acted import denied
from ordain.flows.observations import error_of
from ordain.rules.authorize import AuthorizeReason
from ordain.rules.guardrail import GuardrailReason
from ordain.rules.handoff import HandingReason
from ordain.rules.reasons import Reason

RAISED = re.compile(
    r"""(?:VerbError|failed|NoExchange|_bad_output|Uncomputable|Unreadable)\(\s*"([a-z_]+)"|LeafFailed\(\s*code="([a-z_]+)\""""
)
HOUSE = Path(next(iter(ordain.verbs.__path__)))
R = AuthorizeReason
NO_DENIALS = {
    HandingReason.HANDED,
    HandingReason.BEGUN,
    GuardrailReason.PASSED,
    GuardrailReason.REVIEW,
    GuardrailReason.ESCALATED,
    GuardrailReason.UNMODERATED,
    R.READ,
    R.PRIVATE,
    R.EGRESS_DECLARED,
    R.APPROVED,
    R.GRANTED,
    R.DELEGATED,
    R.NEEDS_GRANT,
    R.NEEDS_APPROVAL,
}


def test_each_code_that_the_verbs_give_has_a_category() -> None:
    """Every code that the executor, the HTTP verbs and the toolbox name in the source."""
    named = {
        one or other
        for path in HOUSE.rglob("*.py")
        for one, other in RAISED.findall(path.read_text(encoding="utf-8"))
    }
    assert len(named) > 30
    assert named - set(CATEGORY) == set()


def test_each_model_error_and_each_denial_has_a_category() -> None:
    """The closed sets: what can go wrong with a model, and why a call is not authorised."""
    denials: set[Reason] = {*AuthorizeReason, *HandingReason, *GuardrailReason} - NO_DENIALS
    told = {error_of(denied("a", reason))["code"] for reason in denials}  # as a caller is told them
    assert len(told) >= 8
    assert told | {str(code) for code in ModelErrorCode} <= set(CATEGORY)


def test_the_codes_of_a_category_are_told_apart() -> None:
    """No code stands twice, and each category says what to do."""
    assert set(TO_DO) == set(FailureCategory) == set(CATEGORY.values())
    assert failure_category("inactive_verb:mail.send") is FailureCategory.UNAVAILABLE
    assert failure_category("verb_raised", retryable=True) is FailureCategory.BUG


@pytest.mark.parametrize(
    ("retryable", "category"),
    [(None, None), (True, FailureCategory.TRANSIENT), (False, FailureCategory.VALIDATION)],
)
def test_a_code_of_a_verbs_own_follows_what_the_verb_said(
    *, retryable: bool | None, category: FailureCategory | None
) -> None:
    """Of a code that is not this build's, only the verb knows whether it may pass."""
    assert (
        categorised({"code": "tide_too_low", "message": "m"}, retryable=retryable)["category"]
        == category
    )


@pytest.mark.parametrize("code", ["cancelled", "outcome_unknown", "erased", "partial"])
def test_what_did_not_fail_has_no_category(code: str) -> None:
    """Nobody knows, somebody stopped it, or it is a sum: the code alone speaks."""
    assert failure_category(code) is None


def test_every_effect_has_a_risk() -> None:
    """Reads change nothing; what changes the world outside is external; what cannot be put right is
    destructive (C5).
    """
    assert set(RISK) == set(VerbEffect)
    for effect, risk in RISK.items():
        reads = effect in {VerbEffect.READ, VerbEffect.EGRESS}
        assert (
            (risk.risk_level is RiskLevel.READ) == (risk.side_effects is SideEffects.NONE) == reads
        )
        assert (risk.data_egress is DataEgress.NONE) == (
            effect in {VerbEffect.READ, VerbEffect.PRIVATE}
        )
