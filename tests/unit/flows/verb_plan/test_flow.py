"""Flow ``verb_plan``: the steps of a prompt plan, in order, and each way in which one fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from ordain.contracts.verbs import MODEL_SERVICE, OutputField, PlanStep, Trust, VerbEffect, VerbSpec
from ordain.effects.effect import ModelCall
from ordain.flows.carried import VerbPlanInput, VerbPlanOutput
from ordain.flows.verb_plan.kind import VERB_PLAN_KIND
from ordain.journal.records import Status
from ordain.testing import (
    AS_CHILD,
    Played,
    ScriptedEffects,
    catalog_of,
    fails,
    interrupt,
    output,
    says,
)

OUTPUT = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "more": {}},
    "required": ["text"],
    "additionalProperties": False,
}
PROMPTS = {"first": "One.\n=====\n{{ input }}\n", "second": "Two.\n=====\n{{ previous }}\n"}


def plan(*steps: PlanStep) -> VerbSpec:
    return VerbSpec(
        name="tell",
        description="Tell.",
        effect=VerbEffect.READ,
        plan=list(steps),
        output_schema=OUTPUT,
        output_max_tokens=300,
        output={"text": OutputField(trust=Trust.OWN)},
        prompt_template="first",
    )


def asks(name: str, order: int, template: str = "first") -> PlanStep:
    return PlanStep(name=name, order=order, services=[MODEL_SERVICE], prompt_template=template)


TWO = plan(asks("write", 2, "second"), asks("think", 1))
GIVEN = VerbPlanInput(verb="tell", args={"text": "the lamp is red"})


def run(*script: Any, spec: VerbSpec = TWO, given: VerbPlanInput = GIVEN) -> Played[VerbPlanOutput]:
    catalog = catalog_of(VERB_PLAN_KIND, verbs=[spec], prompts=PROMPTS)
    played = ScriptedEffects(VERB_PLAN_KIND, catalog, standing=AS_CHILD).play(given, script)
    assert played.replayed().equal
    return played


def out(played: Played[VerbPlanOutput]) -> VerbPlanOutput:
    assert played.output is not None
    return played.output


def test_steps_run_in_their_order() -> None:
    """The second step's prompt holds what the first one gave, and the last answer is the verb's
    output.
    """
    played = run(output(text="thought"), output(text="written", more=1))
    assert ["lamp" in one.user for one in played.requests] == [True, False]
    assert "thought" in played.requests[1].user
    assert out(played).output == {"text": "written", "more": 1}
    assert [step.step_name for step in out(played).step_results] == ["think", "write"]
    assert [one.schema_name for one in played.requests] == ["verb_tell"] * 2


def test_trust_is_as_declared() -> None:
    """A field that the declaration does not name is nobody's own."""
    trust = out(run(output(text="a"), output(text="b", more=1))).trust
    assert trust["text"] is Trust.OWN
    assert trust.get("more", Trust.FOREIGN) is Trust.FOREIGN


def test_a_step_without_a_model_only_composes() -> None:
    """It is counted and asks nothing."""
    composing = PlanStep(name="compose", order=0, services=["PromptComposer"])
    played = run(output(text="a"), spec=plan(composing, asks("write", 1)))
    assert [(step.step_name, step.ok) for step in out(played).step_results] == [
        ("compose", True),
        ("write", True),
    ]


def test_a_plan_without_a_model_is_empty() -> None:
    """Nothing asks, so there is no output."""
    played = run(spec=plan(PlanStep(name="compose", order=0, services=["PromptComposer"])))
    assert (out(played).error, played.status) == ("empty_plan", Status.FAILED)


@pytest.mark.parametrize("answer", [says("no JSON"), output(no="such field")])
def test_an_answer_that_does_not_fit_ends_the_verb(answer: Any) -> None:
    """The failed step stands in the results with its reason, no further step is asked, and what is
    left of the plan is skipped.
    """
    played = run(answer)
    assert out(played).error == "bad_output"
    step, rest = out(played).step_results
    assert (rest.step_name, rest.ok, rest.skipped, rest.error) == ("write", False, True, "")
    assert (step.ok, step.skipped) == (False, False)
    assert (step.ok, step.error) == (False, str(played.decided("output")[0].reason))


def test_a_failed_model_ends_the_verb_with_its_code() -> None:
    """After the first step has succeeded, too."""
    played = run(output(text="a"), fails("rejected"))
    assert (out(played).error, [step.ok for step in out(played).step_results]) == (
        "rejected",
        [True, False],
    )


@pytest.mark.parametrize(("lowered", "most"), [(0, 300), (50, 50), (900, 300)])
def test_a_turn_lowers_what_an_answer_may_have(lowered: int, most: int) -> None:
    """Never above what the verb declares."""
    given = VerbPlanInput(verb="tell", args={"text": "a"}, max_tokens=lowered)
    assert {
        one.max_tokens for one in run(output(text="a"), output(text="b"), given=given).model_calls
    } == {most}


@pytest.mark.parametrize("in_flight", [False, True])
def test_an_interrupt_ends_it(in_flight: bool) -> None:
    """There is nothing to clean up."""
    assert run(output(text="a"), interrupt(in_flight=in_flight)).status is Status.CANCELLED


SPOKEN = VerbSpec(
    name="tell",
    description="Tell.",
    effect=VerbEffect.READ,
    plan=[asks("think", 1), asks("write", 2, "second")],
    answer="text",
    output_schema={
        "type": "object",
        "properties": {"content": {"type": "string", "minLength": 1, "maxLength": 40}},
        "required": ["content"],
        "additionalProperties": False,
    },
    prompt_template="first",
)


def test_words_are_the_output() -> None:
    """A verb that answers in words is asked for no JSON: what the model says is ``{content}``, and
    the next step is shown it.
    """
    played = run(
        says("<think>hm</think>\nIt is {red}."), says('{"content": "It is red."}\n'), spec=SPOKEN
    )
    assert out(played).output == {"content": '{"content": "It is red."}\n'}
    assert [one.schema for one in played.requests] == [None, None]
    assert "It is {red}." in played.requests[1].user
    assert "hm" not in played.requests[1].user


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("  \n", "output.empty"),
        ("<think>no more</think>", "output.empty"),
        ("x" * 41, "output.schema"),
    ],
)
def test_words_are_bounded(said: str, reason: str) -> None:
    """None, or too many: the step fails by rule, as JSON that does not fit does."""
    played = run(says(said), spec=SPOKEN)
    assert (out(played).error, out(played).output) == ("bad_output", None)
    assert [step.error for step in out(played).step_results] == [reason, ""]


@pytest.mark.parametrize(("narrate", "place"), [(True, "content"), (False, "")])
def test_words_may_be_shown_early_where_they_are_the_turns(narrate: bool, place: str) -> None:
    """All of them are text for the user, without a field that is named."""
    given = VerbPlanInput(verb="tell", args={"text": "the lamp is red"}, narrate=narrate)
    played = run(says("a"), says("b"), spec=SPOKEN, given=given)
    assert [one.narrative for one in played.asked if isinstance(one, ModelCall)] == [place, place]


@pytest.mark.parametrize(
    ("keep", "kept"), [(True, "<think>private</think>It is red."), (False, "It is red.")]
)
def test_a_thought_before_the_words_is_kept_only_where_it_may_be(keep: bool, kept: str) -> None:
    """Live and replay see the same words, and what may not be kept stands in no record."""
    catalog = catalog_of(VERB_PLAN_KIND, verbs=[SPOKEN], prompts=PROMPTS)
    standing = replace(AS_CHILD, keep_thoughts=keep)
    played = ScriptedEffects(VERB_PLAN_KIND, catalog, standing=standing).play(
        GIVEN, (says("<think>private</think>It is red."), says("Red."))
    )
    assert played.replayed().equal
    assert out(played).ok
    found = [
        msgspec.json.decode(one.body or b"{}")
        for one in played.stored.records
        if one.name == "model_call" and one.kind == "observation"
    ]
    assert found[0]["result"]["content"] == kept
