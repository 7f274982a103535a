"""Laws of rule ``chain_end``: a chain's text counts with the validated final answer that led there,
and with nothing less.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.planner import CONTENT_MAX
from ordain.rules.chain_end import (
    CHAIN_END,
    ChainEndInputs,
    ChainEndReason,
    ChainFinished,
    ChainUnfinished,
)
from ordain.rules.decision import Decision
from tests.unit.rules.given import POLICY, decided, json_values, objects, texts

said = st.one_of(texts, json_values)
answers = st.fixed_dictionaries(
    {"content": said}, optional={"structured": st.one_of(objects, json_values)}
)
directives = st.one_of(
    json_values,
    st.fixed_dictionaries(
        {"thought": st.one_of(st.none(), texts), "finish": st.booleans()},
        optional={
            "action": st.one_of(st.none(), objects),
            "final_answer": st.one_of(st.none(), answers),
            "more": texts,
        },
    ),
)
results = st.one_of(
    objects,
    st.fixed_dictionaries(
        {"text": said, "structured": st.one_of(objects, json_values)},
        optional={
            "mode": texts,
            "planner_raw": st.one_of(json_values, st.fixed_dictionaries({"directive": directives})),
        },
    ),
)


def end(result: dict[str, Any]) -> Decision[ChainFinished | ChainUnfinished]:
    inputs = ChainEndInputs(result=result)
    return decided(CHAIN_END, inputs.facts, inputs, POLICY)


def finished(content: str = "It is 42.", **changes: Any) -> dict[str, Any]:
    directive = {
        "thought": None,
        "finish": True,
        "action": None,
        "final_answer": {"content": content, "structured": {}},
    }
    return {
        "mode": "agent",
        "text": content,
        "structured": {},
        "planner_raw": {"directive": {**directive, **changes}, "answer": 7},
    }


@given(results)
def test_nothing_counts_without_a_finishing_directive_of_the_same_words(
    result: dict[str, Any],
) -> None:
    """Whatever a chain gives: what counts holds a directive that finishes with exactly that text.

    EXE-07 "AgentChain `text` is never accepted as terminal text without a validated decision that
    led there."
    ACH-02 "Prose-first result is not a decision: it must carry, or be wrapped with, a validated
    executable directive before Exec finishes on it."
    """
    decision = end(result)
    if isinstance(decision.outcome, ChainFinished):
        directive = result["planner_raw"]["directive"]
        assert (
            directive["finish"],
            directive.get("action"),
            directive["final_answer"]["content"],
        ) == (True, None, result["text"])
        assert directive["final_answer"].get("structured", {}) == result["structured"]
        assert result["text"].strip()
    else:
        assert decision.outcome.code == "agent_chain_unfinished"


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=40).filter(str.strip))
def test_a_validated_answer_counts(content: str) -> None:
    """Whatever it says."""
    assert end(finished(content)).reason is ChainEndReason.FINISHED


CALL = {"tool_id": "math.evaluate", "input": {}}


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({}, ChainEndReason.MALFORMED),
        ({"text": "  ", "structured": {}}, ChainEndReason.MALFORMED),
        ({"text": 42, "structured": {}}, ChainEndReason.MALFORMED),
        ({**finished(), "structured": None}, ChainEndReason.MALFORMED),
        ({"text": "All done.", "structured": {}}, ChainEndReason.NO_DIRECTIVE),
        ({"text": "All done.", "structured": {}, "planner_raw": {}}, ChainEndReason.NO_DIRECTIVE),
        (
            {"text": "All done.", "structured": {}, "planner_raw": "maybe"},
            ChainEndReason.NO_DIRECTIVE,
        ),
        (
            {"text": "All done.", "structured": {}, "planner_raw": {"directive": "maybe"}},
            ChainEndReason.NO_DIRECTIVE,
        ),
        (finished(finish=False), ChainEndReason.INVALID),
        (finished(finish="maybe"), ChainEndReason.INVALID),
        (finished(finish=False, action=CALL, final_answer=None), ChainEndReason.INVALID),
        (finished(action=CALL), ChainEndReason.INVALID),
        (finished(final_answer=None), ChainEndReason.INVALID),
        (finished(confidence=1.0), ChainEndReason.INVALID),
        (finished("x" * (CONTENT_MAX + 1)), ChainEndReason.INVALID),
        ({**finished(), "text": "It is 43."}, ChainEndReason.OTHER_TEXT),
        ({**finished(), "structured": {"sum": 43}}, ChainEndReason.OTHER_TEXT),
    ],
)
def test_what_does_not_count_says_why(result: dict[str, Any], reason: ChainEndReason) -> None:
    """Prose, a call, a directive with a key too many or with other words: each with a reason of its
    own.
    """
    decision = end(result)
    assert (decision.reason, isinstance(decision.outcome, ChainUnfinished)) == (reason, True)
