"""What a caller in Python gives for free keys has a form in JSON and in a record, or is refused by
its place.
"""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from ordain.contracts.json_only import DEPTH_MAX
from ordain.contracts.planner import PlannerRequest


def request(**facts: Any) -> dict[str, Any]:
    return {
        "goal": {"type": "analysis", "description": "What is 6 * 7?"},
        "toolset": [],
        "context": {"external_facts": facts},
    }


LOOP: dict[str, Any] = {}
LOOP["again"] = LOOP


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("-inf"),
        [1, {"b": float("inf")}],
        10**6000,
        2**63,
        b"x",
        object(),
        {1: 2},
        {3},
        LOOP,
        deep(DEPTH_MAX),
        deep(5000),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_form_is_refused_by_its_place(value: Any) -> None:
    """Nothing becomes null on the way, and nobody's settings are blamed."""
    with pytest.raises(ValidationError) as refused:
        PlannerRequest.model_validate(request(fact=value))
    assert refused.value.errors()[0]["loc"][:3] == ("context", "external_facts", "fact")


def test_what_has_one_is_as_it_was_given() -> None:
    """Free keys hold any JSON."""
    facts = {
        "deep": deep(DEPTH_MAX - 1),
        "a": [1, 2.5, None, True, {"b": "x"}],
        "most": 2**63 - 1,
        "least": -(2**63),
    }
    taken = PlannerRequest.model_validate(request(**facts))
    assert taken.context.external_facts.model_dump(exclude_none=True) == facts
    assert PlannerRequest.model_validate_json(taken.model_dump_json()) == taken
