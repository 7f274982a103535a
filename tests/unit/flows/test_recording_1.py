"""The first form of records: what old versions put on record says more than what today's do, and
comes to the same.
"""

from __future__ import annotations

from inspect import unwrap
from typing import Any

import pytest
from msgspec.structs import asdict

from ordain.contracts.planner import PlannerRequest
from ordain.effects.calls import Authorized, Call
from ordain.effects.effect import ModelCall, VerbCall
from ordain.errors import FlowFault
from ordain.flows.carried import VerbPlanOutput
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind
from ordain.flows.planner.kind import PLANNER, PLANNER_1
from ordain.flows.recording_1 import spelled_out
from ordain.flows.shipped import shipped_kinds
from ordain.flows.verb.kind import VERB, VERB_1
from ordain.flows.verb.request import VerbRunInput
from ordain.journal.digests import call_digest
from ordain.testing import (
    Played,
    ScriptedEffects,
    call,
    completed,
    finish,
    joined,
    kind_of,
    returned,
    says,
)
from tests.unit.flows.house import play, shipped

SUM = call("math.evaluate", expression="6 * 7")
RESULT = returned({"result": "42", "decimal": "42", "exact": True}, verb="math.evaluate")
PLAN = PlannerRequest.model_validate(
    {"goal": {"type": "chat", "description": "x"}, "toolset": [{"tool_id": "math.evaluate"}]}
)
WRONG = call("math.evaluate", expression=7)
SIX = Call(verb="math.evaluate", args={"expression": "6 * 7"})
FACTS = VerbRunInput(verb_id="extract_facts", payload={"text": "The lamp is red."}, caller="python")


def bare(call: ModelCall) -> dict[str, Any]:
    """A model call without what the two forms write differently."""
    return {
        name: value
        for name, value in asdict(call).items()
        if name not in ("prompt", "contract", "args", "refs")
    }


def planned(kind: Kind[Any, Any], *script: Any) -> Played[Any]:
    return play(kind, PLAN, *script)


PLANS: dict[str, tuple[Any, ...]] = {
    "many steps": (*(SUM, RESULT) * 5, finish("42")),
    "refused and mended": (says("no directive at all"), SUM, RESULT, finish("42")),
    "wrong input": (WRONG, SUM, RESULT, finish("42")),
}


@pytest.mark.parametrize("script", PLANS.values(), ids=PLANS)
def test_a_model_is_asked_the_same_in_either_form(script: tuple[Any, ...]) -> None:
    """The old form names template, contract and steps, the new one refers to them: the prompts that
    they are made into are equal.
    """
    before, now = planned(PLANNER_1, *script), planned(PLANNER, *script)
    assert before.requests == now.requests
    assert list(map(bare, before.model_calls)) == list(map(bare, now.model_calls))
    assert {(one.prompt, one.contract) for one in before.model_calls} == {
        ("planner_step", "planner_step")
    }
    assert {(one.prompt, one.contract) for one in now.model_calls} == {("", "")}
    assert [one.args.keys() - {"reask"} for one in before.model_calls] == [
        {"first", "steps", "left"}
    ] * len(before.model_calls)
    assert all("steps" not in one.args for one in now.model_calls)


def test_the_steps_of_a_prompt_stand_in_the_arguments_of_the_first_form() -> None:
    """Each of the last three by the seqs of answer and result, the refused one without a result;
    the references hold no place for what is not there.
    """
    (*_, last) = planned(
        PLANNER_1, says("no directive at all"), SUM, RESULT, finish("42")
    ).model_calls
    (refused, called) = last.args["steps"]
    assert refused[1:] == [None, ""]
    assert called[1] is not None
    assert last.refs == (0, refused[0], *called[:2])
    assert last.args["first"] == 0


@pytest.mark.parametrize(("kind", "told"), [(PLANNER_1, True), (PLANNER, False)])
def test_the_toolsets_digest_stands_where_it_was_decided(kind: Kind[Any, Any], told: bool) -> None:
    """Rule ``scope`` has it on record; the first form says it with each step again."""
    played = planned(kind, SUM, RESULT, finish("42"))
    (digest,) = {one.facts["digest"] for one in played.decisions if one.rule == "scope"}
    steps = [one.facts.get("toolset") for one in played.decisions if one.rule == "step"]
    assert steps == [digest if told else None] * 2


@pytest.mark.parametrize(("kind", "told"), [(VERB_1, True), (VERB, False)])
def test_a_permit_names_its_decision(kind: Kind[Any, Any], told: bool) -> None:
    """The decision says which call it allows; the first form says so beside it, of a leaf and of a
    child.
    """
    given = VerbRunInput(verb_id=SIX.verb, payload=SIX.args, caller="python")
    (leaf,) = play(kind, given, RESULT).verb_calls
    (spawn,) = play(
        kind, FACTS, joined(completed(VerbPlanOutput(ok=True, output={"facts": []})))
    ).spawns
    for permit in (leaf.authorized, spawn.authorized):
        assert permit is not None
        assert permit.decision.endswith("/authorize#0")
        assert permit.digest == (call_digest(permit.call) if told else "")


def test_a_digest_that_a_flow_gives_is_not_mended() -> None:
    """A permit with the digest of something else goes to the port as it is, which stops the run."""

    @spelled_out()
    async def forge(context: FlowContext, _: Any) -> None:
        address = context.fx.authorize(SIX, context.scope).address
        await context.fx.perform(
            VerbCall(
                authorized=Authorized(call=SIX, digest="0" * 32, decision=address),
                deadline=context.deadline,
            )
        )

    with pytest.raises(FlowFault):
        ScriptedEffects(kind_of(forge, verbs=("math.evaluate",)), shipped()).play({}, (RESULT,))


def test_what_begins_now_says_nothing_twice() -> None:
    """No newest version of a kind works over the first form."""
    kinds = shipped_kinds()
    assert [name for name, kind in kinds.newest.items() if unwrap(kind.run) is not kind.run] == []
    assert len([kind for kind in kinds.all if unwrap(kind.run) is not kind.run]) >= 8
