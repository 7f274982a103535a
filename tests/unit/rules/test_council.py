"""Laws of rule ``council``: one row for every verdict, and nothing is accepted but what chair,
auditor and policy's bounds all bear.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.council import (
    AuditAction,
    BlinkJudgement,
    CouncilDirective,
    CouncilPolicy,
    Scores,
    read_proposal,
)
from ordain.contracts.policy import Policy
from ordain.rules.council import (
    COUNCIL,
    COURSE,
    DOUBTS,
    AskAuditor,
    CouncilEnd,
    CouncilFacts,
    CouncilFailed,
    CouncilGoesOn,
    CouncilInputs,
    CouncilStage,
)
from ordain.rules.decision import FACTS_BYTES, Decision, Recorded
from ordain.rules.proposals import Parsed, ProposalReason, Unparsed
from tests.shapes.council import SCORES, judgement, verdict
from tests.unit.rules.given import POLICY, decided, json_values, objects

fractions = st.floats(0, 1)
policies = st.builds(
    Policy,
    version=st.just(1),
    council=st.builds(
        CouncilPolicy,
        risk_below=fractions,
        disagreement_below=fractions,
        min_coherence=fractions,
        min_faithfulness=fractions,
    ),
)
scores = st.one_of(
    st.fixed_dictionaries(
        {}, optional={name: st.one_of(fractions, json_values) for name in SCORES}
    ),
    json_values,
)
judged = st.one_of(
    objects,
    st.builds(
        judgement,
        st.sampled_from(["Yes.", " "]),
        scores=scores,
        disagreement=st.one_of(fractions, json_values),
    ),
    st.builds(judgement, decision=st.sampled_from(["ACCEPT", "DELEGATE", "maybe", None])),
)
ruled = st.one_of(
    objects,
    st.builds(verdict, st.sampled_from([*map(str, AuditAction), "maybe"])),
    st.builds(
        verdict,
        st.sampled_from([*map(str, AuditAction)]),
        override_answer=st.one_of(st.just("Mine."), json_values),
    ),
    st.builds(verdict, constraints=json_values),
)


def parsed(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """What an answer parses to, or nothing."""
    broken = st.just(Unparsed(reason=ProposalReason.PROSE, size_bytes=5))
    return st.one_of(st.none(), broken, values.map(lambda value: Parsed(value=value, size_bytes=1)))


rounds = st.integers(1, 4)
states = st.builds(
    lambda at, more, stage, chair, auditor: CouncilFacts(
        round=at, rounds=at + more, stage=stage, chair=chair, auditor=auditor
    ),
    rounds,
    st.integers(0, 3),
    st.sampled_from(CouncilStage),
    st.sampled_from(["", "", "", "timed_out"]),
    st.sampled_from([msgspec.UNSET, "", "", "", "no_seat"]),
)


def council(
    facts: CouncilFacts, chair: Any, auditor: Any, policy: Policy = POLICY
) -> Decision[Any]:
    """The rule applied, and held to what every rule owes."""
    decision = decided(COUNCIL, facts, CouncilInputs(chair=chair, auditor=auditor), policy)
    assert len(msgspec.json.encode(facts)) <= FACTS_BYTES
    return decision


def of(value: Any) -> Parsed:
    return Parsed(value=value, size_bytes=1)


@pytest.mark.parametrize(
    ("word", "stage", "rounds_left"), list(product(AuditAction, CouncilStage, (True, False)))
)
def test_exactly_one_row_fits_every_verdict(
    word: AuditAction, stage: CouncilStage, rounds_left: bool
) -> None:
    """EXE-15 "branch transitions enforced": the table is whole, and says one thing of each."""
    assert len([row for row in COURSE if row.fits(word, stage, rounds_left=rounds_left)]) == 1


def test_the_words_are_mapped_one_to_one() -> None:
    """B-07 "Fixed 1:1 map": at first, with rounds left, each word leads to its own directive."""
    first = CouncilFacts(round=1, rounds=2, auditor="")
    led = {
        str(word): council(first, of(judgement()), of(verdict(word))).outcome.directive
        for word in AuditAction
    }
    assert led == {
        "accept": CouncilDirective.ACCEPT_TEXT,
        "revise_same_round": CouncilDirective.REVISE,
        "new_round": CouncilDirective.NEW_ROUND,
        "delegate": CouncilDirective.DELEGATE_CHAIN,
    }
    assert {str(row.leads_to) for row in COURSE} == {
        *map(str, CouncilDirective),
        *map(str, CouncilEnd),
    }


@given(states, parsed(judged), parsed(ruled), policies)
def test_nothing_is_accepted_but_what_all_three_bear(
    facts: CouncilFacts, chair: Any, auditor: Any, policy: Policy
) -> None:
    """B-07 "never default accept": a whole judgement, a whole verdict that says so, and scores
    within policy's bounds.
    """
    outcome = council(facts, chair, auditor, policy).outcome
    if isinstance(outcome, CouncilGoesOn) and outcome.directive is CouncilDirective.ACCEPT_TEXT:
        assert (facts.chair, facts.auditor) == ("", "")
        blink = read_proposal(chair.value, BlinkJudgement)
        assert blink is not None
        assert auditor.value["action"] == "accept"
        assert blink.decision != "DELEGATE"
        bounds = policy.council
        assert blink.scores.risk < bounds.risk_below
        assert blink.disagreement.level < bounds.disagreement_below
        assert blink.scores.coherence >= bounds.min_coherence
        assert blink.scores.faithfulness >= bounds.min_faithfulness


@given(states, parsed(judged), parsed(ruled), policies)
def test_a_council_never_goes_beyond_its_rounds(
    facts: CouncilFacts, chair: Any, auditor: Any, policy: Policy
) -> None:
    """No new round after the last, and one revision a round."""
    outcome = council(facts, chair, auditor, policy).outcome
    if isinstance(outcome, CouncilGoesOn):
        assert outcome.directive is not CouncilDirective.NEW_ROUND or facts.round < facts.rounds
        assert outcome.directive is not CouncilDirective.REVISE or facts.stage is CouncilStage.FIRST
    elif isinstance(outcome, AskAuditor):
        assert facts.auditor is msgspec.UNSET
    else:
        assert outcome.code in {"council_verdict_invalid", "council_unresolved"}
        assert outcome.code != "council_unresolved" or facts.round >= facts.rounds


@given(states, parsed(ruled), policies, fractions, fractions, fractions)
def test_a_worse_score_is_never_accepted_where_a_better_one_is_not(
    facts: CouncilFacts, auditor: Any, policy: Policy, better: float, worse: float, other: float
) -> None:
    """More risk or disagreement, less coherence or faithfulness: monotone."""
    low, high = sorted((better, worse))

    def accepted(risk: float, coherence: float) -> bool:
        given = of(
            judgement(
                scores={"risk": risk, "coherence": coherence, "faithfulness": coherence},
                disagreement=risk,
            )
        )
        outcome = council(facts, given, auditor, policy).outcome
        return (
            isinstance(outcome, CouncilGoesOn) and outcome.directive is CouncilDirective.ACCEPT_TEXT
        )

    assert accepted(low, other) or not accepted(high, other)
    assert accepted(other, high) or not accepted(other, low)


@given(parsed(judged), policies)
def test_a_chair_that_delegates_wins_over_every_verdict(auditor: Any, policy: Policy) -> None:
    """And over no verdict it does not: what is no verdict fails the council."""
    facts = CouncilFacts(round=1, rounds=1, stage=CouncilStage.REVISED, auditor="")
    for word in AuditAction:
        outcome = council(
            facts, of(judgement(decision="DELEGATE")), of(verdict(word)), policy
        ).outcome
        assert outcome.directive is CouncilDirective.DELEGATE_CHAIN
    assert isinstance(
        council(facts, of(judgement(decision="DELEGATE")), auditor, policy).outcome, CouncilFailed
    )


@given(st.sets(st.sampled_from(sorted(SCORES))))
def test_scores_that_are_left_out_have_their_defaults(given_scores: set[str]) -> None:
    """C4's, and they are told by name."""
    chair = {"proposed_answer": "Yes.", "scores": {name: SCORES[name] for name in given_scores}}
    outcome = council(CouncilFacts(round=1, rounds=1, auditor=""), of(chair), of(verdict())).outcome
    assert set(outcome.absent) == {*SCORES, "disagreement"} - given_scores
    blink = read_proposal(chair, BlinkJudgement)
    assert blink is not None
    defaults = msgspec.to_builtins(Scores())
    assert defaults == {
        "coherence": 0.7,
        "faithfulness": 0.7,
        "usefulness": 0.7,
        "risk": 0.3,
        "effort_cost": 0.5,
        "novelty": 0.5,
        "overall": 0.7,
    }
    assert msgspec.to_builtins(blink.scores) == {**defaults, **chair["scores"]}


def test_each_doubt_is_of_a_bound_of_policy() -> None:
    """The table names fields that there are."""
    assert {doubt.bound for doubt in DOUBTS} <= set(CouncilPolicy.model_fields)
    assert len({doubt.reason for doubt in DOUBTS}) == len(DOUBTS)


def test_the_header_tells_what_each_verdict_led_to() -> None:
    """A judgement that only leads to the auditor is no line of its own."""
    assert COUNCIL.tells is not None
    for auditor, line in (
        (msgspec.UNSET, None),
        ("", "council round 1 of 2: accept_text"),
        ("timed_out", "council round 1 of 2: council_verdict_invalid"),
    ):
        facts = CouncilFacts(round=1, rounds=2, auditor=auditor)
        made = council(facts, of(judgement()), of(verdict()))
        encoded = (
            msgspec.Raw(msgspec.json.encode(made.outcome)),
            msgspec.Raw(msgspec.json.encode(facts)),
        )
        share = COUNCIL.tells(
            Recorded(outcome=encoded[0], reason=str(made.reason), facts=encoded[1], judged=True)
        )
        assert [one.what for one in share.lines] == ([] if line is None else [line])
