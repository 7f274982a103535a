"""Laws of rule ``tool_first``: words do not stand in for a tool that was to be called."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.policy import Policy
from ordain.contracts.verbs import VerbEffect, VerbSpec
from ordain.rules.tool_first import (
    TOOL_FIRST,
    CalledTool,
    OutputCounts,
    OutputPassed,
    ToolClass,
    ToolFirstFacts,
    ToolFirstInputs,
    ToolFirstReason,
    ToolFirstViolation,
)
from tests.unit.rules.given import POLICY, catalog, decided, json_values

TOOLS = ["finance.snapshot", "math.evaluate", "research.search", "finance.more"]
VERBS = {name: VerbSpec(name=name, description="d", effect=VerbEffect.READ) for name in TOOLS}
OFF = Policy.model_validate(
    {"version": 1, "verbs": {"default": {"allow": [], "deny": ["finance.*"]}}}
)
calls = st.lists(st.builds(CalledTool, verb=st.sampled_from(TOOLS), ok=st.booleans()), max_size=6)
tools = st.lists(st.sampled_from([*TOOLS, "no.such", "finance.*"]), unique=True, max_size=3)
PASSES = {"passed": True, "confidence": 0}


def judged(
    made: Any, planned: Any = (), fallback: Any = (), *, policy: Policy = POLICY, **more: Any
) -> Any:
    structured, preferred = more.pop("structured", None), more.pop("preferred", ())
    facts = ToolFirstFacts(
        **{
            "agent": "finance_agent",
            "enforced": False,
            "planned": len(planned),
            "fallback": len(fallback),
            "calls": len(made),
        }
        | more
    )
    inputs = ToolFirstInputs(
        catalog=catalog(VERBS, policy),
        calls=made,
        planned=planned,
        fallback=fallback,
        preferred=preferred,
        structured=structured,
    )
    return decided(TOOL_FIRST, facts, inputs, policy)


@given(calls, tools, tools, st.booleans(), json_values)
def test_what_counts_where_a_tool_was_planned_rests_on_one_that_succeeded(
    made: list[CalledTool], planned: list[str], fallback: list[str], enforced: bool, said: Any
) -> None:
    """On a planned one or one that stands in; whatever the agent says besides."""
    structured = said if isinstance(said, dict) else None
    decision = judged(made, planned, fallback, enforced=enforced, structured=structured)
    if planned and isinstance(decision.outcome, OutputCounts):
        assert decision.outcome.tools in (ToolClass.PRIMARY, ToolClass.FALLBACK)
    if not any(call.ok for call in made) and (planned or enforced):
        assert isinstance(decision.outcome, ToolFirstViolation)
    session = decision.outcome.session
    assert (session.attempts, session.successes + session.failures) == (len(made), len(made))


@given(calls, calls, tools, tools)
def test_a_further_success_never_makes_it_count_less(
    made: list[CalledTool], more: list[CalledTool], planned: list[str], fallback: list[str]
) -> None:
    """Where tools were planned."""
    if planned and isinstance(judged(made, planned, fallback).outcome, OutputCounts):
        assert isinstance(judged([*made, *more], planned, fallback).outcome, OutputCounts)


SNAPSHOT = ("finance.snapshot",)


@pytest.mark.parametrize(
    ("made", "more", "reason"),
    [
        ([("finance.snapshot", True)], {"planned": SNAPSHOT}, ToolFirstReason.PRIMARY),
        (
            [("finance.snapshot", False), ("finance.snapshot", True)],
            {"planned": SNAPSHOT},
            ToolFirstReason.PRIMARY,
        ),
        (
            [("math.evaluate", True)],
            {"planned": SNAPSHOT, "fallback": ("math.evaluate",)},
            ToolFirstReason.FALLBACK,
        ),
        ([("math.evaluate", True)], {"planned": SNAPSHOT}, ToolFirstReason.UNPLANNED),
        ([("finance.snapshot", False)], {"planned": SNAPSHOT}, ToolFirstReason.NO_SUCCESS),
        ([], {"planned": SNAPSHOT}, ToolFirstReason.NO_SUCCESS),
        ([], {"enforced": True, "preferred": SNAPSHOT}, ToolFirstReason.NO_SUCCESS),
        (
            [("finance.snapshot", True)],
            {"enforced": True, "preferred": SNAPSHOT},
            ToolFirstReason.PRIMARY,
        ),
        (
            [("finance.more", True)],
            {"enforced": True, "preferred": ("finance.*",)},
            ToolFirstReason.PRIMARY,
        ),
        ([("math.evaluate", True)], {"enforced": True}, ToolFirstReason.UNPLANNED),
        ([], {}, ToolFirstReason.OPTIONAL),
        ([("math.evaluate", True)], {}, ToolFirstReason.OPTIONAL),
        ([], {"agent": "general_agent"}, ToolFirstReason.TRIAGE),
        ([], {"planned": SNAPSHOT, "substitute": True}, ToolFirstReason.SUBSTITUTE),
        ([], {"planned": SNAPSHOT, "policy": OFF}, ToolFirstReason.SWITCHED_OFF),
        (
            [],
            {"planned": ("finance.snapshot", "math.evaluate"), "policy": OFF},
            ToolFirstReason.NO_SUCCESS,
        ),
        ([], {"planned": ("no.such",), "policy": OFF}, ToolFirstReason.NO_SUCCESS),
        ([], {"planned": SNAPSHOT, "structured": PASSES}, ToolFirstReason.PASSED),
        (
            [],
            {"planned": SNAPSHOT, "structured": {"passed": True, "confidence": 0.1}},
            ToolFirstReason.NO_SUCCESS,
        ),
        ([], {"planned": SNAPSHOT, "structured": {"passed": True}}, ToolFirstReason.NO_SUCCESS),
        (
            [],
            {"planned": SNAPSHOT, "structured": {"passed": "yes", "confidence": 0}},
            ToolFirstReason.NO_SUCCESS,
        ),
        (
            [],
            {"planned": SNAPSHOT, "structured": {"passed": True, "confidence": False}},
            ToolFirstReason.NO_SUCCESS,
        ),
    ],
)
def test_each_reason(
    made: list[tuple[str, bool]], more: dict[str, Any], reason: ToolFirstReason
) -> None:
    """One case of each.

    PLAN-15 "Tool-first policy reads `tools`/`fallback_tools` from the active steps." PLAN-15
    "(semantics → C6)"
    """
    assert judged([CalledTool(verb=verb, ok=ok) for verb, ok in made], **more).reason is reason


def test_who_passes_has_no_result() -> None:
    """The step is done, and nothing that the agent says besides is its result."""
    assert isinstance(
        judged([], SNAPSHOT, structured={**PASSES, "content": "It went up."}).outcome, OutputPassed
    )


@given(calls, tools, st.integers(0, 3))
def test_who_wanted_a_tool_and_got_none_does_not_count(
    made: list[CalledTool], fallback: list[str], refused: int
) -> None:
    """Where none was planned, too: an agent that proposed calls, of which code let none be made,
    says what nothing shows. One that proposed none counts.

    RTE-12 "Code enforces error visibility: failures must not be summarised away."
    """
    decision = judged(made, (), fallback, refused=refused)
    assert (decision.reason is ToolFirstReason.REFUSED) is (refused > 0 and not made)
    assert isinstance(decision.outcome, ToolFirstViolation) is (refused > 0 and not made)
