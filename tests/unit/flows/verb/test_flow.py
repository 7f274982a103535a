"""Flow ``verb``: one call for a caller from outside, and every way in which it does not come to its
result.
"""

from __future__ import annotations

from typing import Any

import pytest

from ordain.flows.carried import StepResult, VerbPlanOutput
from ordain.flows.verb.kind import VERB
from ordain.flows.verb.request import VerbRunInput, VerbRunOutput
from ordain.journal.records import Status
from ordain.rules.spend import Spend
from ordain.testing import (
    Played,
    carved,
    child_failed,
    completed,
    failed,
    hung,
    interrupt,
    joined,
    returned,
    withdrawn,
)
from tests.unit.flows.house import play

SUM = VerbRunInput(verb_id="math.evaluate", payload={"expression": "6 * 7"}, caller="python")
FACTS = VerbRunInput(verb_id="extract_facts", payload={"text": "The lamp is red."}, caller="python")
RESULT = {"result": "42", "decimal": "42", "exact": True}


def run(given: VerbRunInput, *script: Any, **how: Any) -> Played[VerbRunOutput]:
    return play(VERB, given, *script, **how)


def out(played: Played[VerbRunOutput]) -> VerbRunOutput:
    assert played.output is not None
    return played.output


def test_a_leaf_gives_its_output() -> None:
    """The exact arguments go out, and what comes back is the reply."""
    played = run(SUM, returned(RESULT, verb="math.evaluate"))
    assert out(played) == VerbRunOutput(ok=True, output=RESULT, error=None)
    assert [one.args for one in played.calls] == [SUM.payload]


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (failed("overflow"), "overflow"),
        (hung(), "timed_out"),
        (withdrawn(), "withdrawn"),
        (returned({"no": "such"}), "bad_output"),
    ],
)
def test_a_failure_is_typed(script: Any, code: str) -> None:
    """Whatever the verb came to instead of its output has a code."""
    error = out(run(SUM, script)).error
    assert error is not None
    assert error["code"] == code


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (VerbRunInput(verb_id="no.such", payload={}, caller="python"), "unknown_verb"),
        (VerbRunInput(verb_id="math.evaluate", payload={"no": 1}, caller="python"), "schema"),
        (
            VerbRunInput(verb_id="ask_user", payload={"question": "?"}, caller="python"),
            "session_only",
        ),
    ],
)
def test_what_may_not_run_does_not_go_live(given: VerbRunInput, code: str) -> None:
    """Rule ``authorize`` refuses it, and nothing happens."""
    played = run(given)
    assert (out(played).error or {})["code"] == code
    assert played.asked == ()


def test_a_prompt_plan_is_a_child() -> None:
    """It is opened with the call's own permit and nothing in scope; its steps stand in the
    reply.
    """
    steps = (StepResult(step_name="ask", order=0, ok=True),)
    played = run(
        FACTS, joined(completed(VerbPlanOutput(ok=True, output={"facts": []}, step_results=steps)))
    )
    assert out(played) == VerbRunOutput(
        ok=True, output={"facts": []}, error=None, step_results=steps
    )
    (spawn,) = played.spawns
    assert (spawn.flow, spawn.scope, spawn.authorized is not None) == ("verb_plan", (), True)
    assert played.left.verb_calls == spawn.allowance.verb_calls


def test_a_failed_prompt_plan_is_the_replys_error() -> None:
    """With the code that its run ended with."""
    played = run(
        FACTS,
        joined(
            child_failed("bad_output", VerbPlanOutput(ok=False, error="bad_output", message="no"))
        ),
    )
    assert (out(played).error, played.status) == (
        {"code": "bad_output", "message": "no"},
        Status.FAILED,
    )


def test_spent_accounts_refuse_it() -> None:
    """A caller whose account is spent gets no call."""
    bounded = {"budget": {"agent": {"tokens": 100, "per": "ever"}}}
    played = run(SUM, carved({"agent:python": Spend(tokens=100)}), policy=bounded)
    assert (out(played).error or {})["code"] == "budget_exceeded"
    assert played.calls == ()


@pytest.mark.parametrize("in_flight", [False, True])
def test_an_interrupt_before_the_verb_begins_cancels(in_flight: bool) -> None:
    """The call is not made, or given up before it began."""
    played = run(SUM, interrupt(in_flight=in_flight))
    assert (played.status, (out(played).error or {})["code"]) == (Status.CANCELLED, "cancelled")


def test_an_interrupt_in_a_join_waits_for_the_child() -> None:
    """The child is stopped, its spending booked, and then the run is cancelled."""
    end = child_failed("cancelled", spent=Spend(model_calls=1, tokens=10))
    played = run(FACTS, interrupt(in_flight=True, ends=[end]))
    assert played.status is Status.CANCELLED
    assert played.facts.model_calls == 1
