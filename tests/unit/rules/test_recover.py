"""Laws of rule ``recover``: nothing is repeated that may have taken effect, and nothing for
ever.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from ordain.contracts.policy import Policy, VerbsPolicy
from ordain.contracts.verbs import Reconcile, VerbEffect, VerbSpec
from ordain.rules.recover import (
    RECOVER,
    LeaveOpen,
    RecoverFacts,
    RecoverReason,
    RepeatCall,
    TakeFound,
    safety_of,
)
from tests.unit.rules.given import decided

given_facts = st.builds(
    RecoverFacts,
    verb=st.just("shelf.put"),
    permit=st.just("3/authorize#0"),
    attempt=st.integers(1, 10),
    lost=st.integers(1, 20),
    safety=st.sampled_from(["read", "idempotent", "voids", "reconcile", "nothing"]),
    happened=st.sampled_from([True, False, None, UNSET]),
    stopping=st.sampled_from([True, UNSET]),
)


@given(given_facts, st.integers(0, 20))
def test_only_what_is_safe_is_repeated(facts: RecoverFacts, max_lost: int) -> None:
    """A read, an idempotent verb, or one that was voided; within policy's number, with a number
    above every attempt before, and for no run that is being stopped.
    """
    outcome = decided(
        RECOVER, facts, None, Policy(version=1, verbs=VerbsPolicy(max_lost=max_lost))
    ).outcome
    safe = facts.safety in {"read", "idempotent"} or (
        facts.safety == "voids" and facts.happened is False
    )
    goes_on = facts.lost <= max_lost and facts.stopping is UNSET
    assert isinstance(outcome, RepeatCall) is (safe and goes_on)
    if isinstance(outcome, RepeatCall):
        assert outcome.attempt == facts.attempt + facts.lost


@given(given_facts)
def test_a_yes_is_taken_and_nothing_else_is(facts: RecoverFacts) -> None:
    """Whoever can be asked is believed that it happened, whether it voids or not."""
    decision = decided(RECOVER, facts, None, Policy(version=1))
    assert isinstance(decision.outcome, TakeFound) is (
        facts.safety in {"voids", "reconcile"} and facts.happened is True
    )
    if facts.safety == "reconcile" and facts.happened is False:
        assert (decision.outcome, decision.reason) == (LeaveOpen(), RecoverReason.NOT_FENCED)


def test_what_a_verb_declares_says_how_safe_it_is() -> None:
    """The effect first, then that it is idempotent, then whom it can have asked."""

    def spec(effect: VerbEffect = VerbEffect.PRIVATE, **more: object) -> VerbSpec:
        return VerbSpec.model_validate(
            {
                "name": "shelf.put",
                "description": "Put.",
                "effect": effect,
                "arguments": {},
                "input_schema": {},
                **more,
            }
        )

    asked = Reconcile(verb="shelf.find")
    voiding = Reconcile(verb="shelf.find", voids=True)
    assert safety_of(spec(VerbEffect.READ, idempotent=True)) == "read"
    assert safety_of(spec(idempotent=True, reconcile=voiding)) == "idempotent"
    assert [safety_of(spec(reconcile=one)) for one in ("shelf.find", asked, voiding, None)] == [
        "reconcile",
        "reconcile",
        "voids",
        "nothing",
    ]
