"""The corpus of malformed proposals through parsing and rule ``step``, in process."""

from __future__ import annotations

import json
from random import Random

import pytest

from ordain.contracts.policy import Policy
from ordain.contracts.schema import Schema
from ordain.rules.decision import Decision
from ordain.rules.proposals import ProposalReason, parse_object
from ordain.rules.step import STEP, CallTool, Finish, Invalid, StepFacts, StepInputs, StepReason
from tests.integration.proposals.corpus import CLASSES, VARIANTS, normalised, variants
from tests.integration.proposals.materials import (
    OUTSIDE,
    SCHEMAS,
    MalformedClass,
    directive,
    presented,
    write,
)

POLICY = Policy(version=1)


def judged(text: str, answer: Schema | None = None) -> Decision[CallTool | Finish | Invalid]:
    """What rule ``step`` says of a text, where the answer has to fit a schema or (None) none."""
    proposal = parse_object(text)
    facts = StepFacts(step_index=0, size_bytes=proposal.size_bytes, tools=len(SCHEMAS), toolset="d")
    return STEP.apply(
        facts,
        StepInputs(
            proposal=proposal, tools=SCHEMAS, registered={*SCHEMAS, *OUTSIDE}, answer=answer
        ),
        POLICY,
    )


def test_the_corpus_is_large_and_varied() -> None:
    """Thirty classes and more, each named once, with sixty variants from five generators, and no
    two of all of them alike.
    """
    assert len(CLASSES) >= 30
    assert len({malformed.name for malformed in CLASSES}) == len(CLASSES)
    assert min(len(malformed.generators) for malformed in CLASSES) >= 5
    assert min(len(variants(malformed)) for malformed in CLASSES) >= VARIANTS
    every = [normalised(text) for malformed in CLASSES for text in variants(malformed)]
    assert len(set(every)) == len(every)


def test_every_reason_of_the_rule_has_its_class() -> None:
    """Each reason for which a directive can be refused is in the corpus; an empty answer, of which
    there is one, and one of another shape than was asked for, stand below.
    """
    apart = {StepReason.CALL, StepReason.FINISH, StepReason.ANSWER_INVALID, ProposalReason.EMPTY}
    refusing = {reason for reasons in STEP.reasons for reason in reasons} - apart
    assert {malformed.reason for malformed in CLASSES} == refusing
    assert {judged(text).reason for text in ("", " \n\t", "\ufeff", "\ufeff \n")} == {
        ProposalReason.EMPTY
    }


def test_an_answer_of_another_shape_is_refused_only_where_one_was_asked_for() -> None:
    """What the caller asked for is held to its schema: missing, of another type, out of bounds,
    with more than that; else any object will do.
    """
    wanted = Schema(
        {
            "type": "object",
            "properties": {"n": {"type": "integer", "maximum": 9}},
            "required": ["n"],
            "additionalProperties": False,
        }
    )

    def finished(structured: object) -> str:
        answer = {"content": "So.", "structured": structured}
        return json.dumps(
            {"thought": "done", "finish": True, "action": None, "final_answer": answer}
        )

    for structured in (
        {},
        {"n": "1"},
        {"n": 1.5},
        {"n": 10},
        {"n": 1, "m": 2},
        {"n": None},
        {"N": 1},
    ):
        assert judged(finished(structured), wanted).reason is StepReason.ANSWER_INVALID, structured
        assert judged(finished(structured)).reason is StepReason.FINISH
    assert judged(finished({"n": 9}), wanted).reason is StepReason.FINISH


@pytest.mark.parametrize("malformed", CLASSES, ids=lambda malformed: malformed.name)
def test_a_malformed_proposal_has_its_exact_reason(malformed: MalformedClass) -> None:
    """EXE-14 "Absent/invalid directive = deterministic fail state": each variant of a class is
    refused for the reason of the class.
    """
    wrong: dict[str, str] = {}
    for text in variants(malformed):
        decision = judged(text)
        if decision.reason is not malformed.reason or not isinstance(decision.outcome, Invalid):
            wrong[text[:300]] = decision.reason
    assert not wrong


@pytest.mark.parametrize("seed", range(5))
def test_a_valid_proposal_is_never_malformed(seed: int) -> None:
    """B-26 "strip fences/prose around one JSON object": the directives that the corpus spoils are
    executable, however presented.
    """
    for number in range(60):
        random = Random(f"valid/{seed}/{number}")
        value = directive(random)
        text = presented(random, write(random, value))
        decision = judged(text)
        expected = Finish() if value["finish"] else CallTool(value["action"]["tool_id"])
        assert decision.outcome == expected, text
