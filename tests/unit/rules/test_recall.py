"""Laws of rule ``recall``."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from ordain.contracts.policy import Policy
from ordain.rules.decision import HeaderShare, Recorded
from ordain.rules.recall import RECALL, Answerable, RecallFacts, RecallReason, Unanswerable
from tests.unit.rules.given import counts, decided, texts

recalls = st.builds(
    RecallFacts,
    required=st.booleans(),
    code=st.one_of(st.just(""), texts),
    found=counts,
    given=counts,
    auto=st.booleans(),
)
POLICY = Policy(version=1)


def told(facts: RecallFacts) -> HeaderShare:
    made = decided(RECALL, facts, None, POLICY)
    recorded = Recorded(
        outcome=Raw(msgspec.json.encode(made.outcome)),
        reason=made.reason,
        facts=Raw(msgspec.json.encode(facts)),
    )
    assert RECALL.tells is not None
    return RECALL.tells(recorded)


@given(recalls)
def test_only_what_is_required_and_cannot_be_had_stops_a_turn(facts: RecallFacts) -> None:
    """However much or little was found: to have found nothing is an answer."""
    outcome = decided(RECALL, facts, None, POLICY).outcome
    assert isinstance(outcome, Unanswerable if facts.required and facts.code else Answerable)


@given(recalls)
def test_to_require_less_never_stops_more(facts: RecallFacts) -> None:
    """What is answered where memory is required is answered where it is not."""
    free = msgspec.structs.replace(facts, required=False)
    assert isinstance(decided(RECALL, free, None, POLICY).outcome, Answerable)
    if isinstance(decided(RECALL, facts, None, POLICY).outcome, Answerable) and facts.required:
        assert decided(RECALL, free, None, POLICY).reason in (
            RecallReason.HAD,
            RecallReason.AUTO,
            RecallReason.NOTHING,
        )


@given(recalls)
def test_the_header_says_what_could_not_be_had(facts: RecallFacts) -> None:
    """With its code, as a failure only where it was required; what was had shows in its call, and
    has a line of its own where nobody asked for it.
    """
    lines = [(line.mark, line.what, line.reason) for line in told(facts).lines]
    reason = decided(RECALL, facts, None, POLICY).reason
    if facts.code:
        assert lines == [
            ("fail" if facts.required else "info", f"recall: {facts.code}", str(reason))
        ]
    elif facts.auto and facts.given:
        ((mark, what, told_reason),) = lines
        assert (mark, told_reason) == ("info", str(RecallReason.AUTO))
        assert f"{facts.given} of {facts.found}" in what
    else:
        assert lines == []


@given(recalls)
def test_policys_asking_stops_no_turn_and_is_told_by_its_own_reason(facts: RecallFacts) -> None:
    """Whatever comes of it, the message is answered as if nobody had asked."""
    facts = msgspec.structs.replace(facts, auto=True, required=False)
    made = decided(RECALL, facts, None, POLICY)
    assert isinstance(made.outcome, Answerable)
    assert (made.reason is RecallReason.WITHOUT) == bool(facts.code)
    assert facts.code or (made.reason is RecallReason.AUTO) == bool(facts.given)
