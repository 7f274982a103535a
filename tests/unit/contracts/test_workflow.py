"""Laws of workflow templates: expanding is total and gives equal steps for equal arguments, and no
argument ever becomes anything but a value.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ordain.contracts.compiled_workflow import CompiledWorkflow
from ordain.contracts.workflow import (
    ARGUMENT,
    STEPS_MAX,
    FixedCall,
    FixedStep,
    WorkflowTemplate,
    calls_of,
    expanded,
    referred,
    steps_digest,
)
from ordain.verbs.workflow.folder import shipped_workflows
from tests.shapes.workflows import step, template
from tests.unit.rules.given import json_values, objects

ARGUMENTS = ["text", "more"]


def made(found: list[dict[str, Any]]) -> WorkflowTemplate:
    properties = {name: {} for name in ARGUMENTS}
    return WorkflowTemplate.model_validate(
        template("any", found, **properties) | {"schema": schema(properties=properties)}
    )


def schema(**more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {}, "additionalProperties": False, **more}


literals = json_values.filter(lambda value: "$" not in repr(value))
values = st.one_of(literals, st.sampled_from(ARGUMENTS).map(lambda name: {ARGUMENT: name}))
verb_names = st.sampled_from(["note", "mail.send", "pay"])
calls = st.fixed_dictionaries(
    {"verb": verb_names, "args": st.dictionaries(st.sampled_from("abc"), values, max_size=3)}
)
steps = st.builds(
    lambda call, undo: {**call, **({} if undo is None else {"compensate": undo})},
    calls,
    st.none() | calls,
)
templates = st.lists(steps, min_size=1, max_size=4).map(made)
hostile = st.sampled_from(
    [
        {ARGUMENT: "more"},
        {"verb": "pay", "args": {}},
        [{"verb": "pay"}],
        {"steps": [{"verb": "pay"}]},
        "{$arg: text}",
        {"$verb": "search"},
    ]
)
given_args = st.dictionaries(
    st.sampled_from([*ARGUMENTS, "other", ARGUMENT]), st.one_of(json_values, hostile)
)


@given(templates, given_args)
def test_expanding_is_total_and_deterministic(one: WorkflowTemplate, args: dict[str, Any]) -> None:
    """Whatever is given, there are as many steps as the template has, and the same ones again."""
    found = expanded(one, {}, args)
    assert found == expanded(one, {}, args)
    assert len(found) == len(one.steps)
    assert steps_digest(one, found) == steps_digest(one, expanded(one, {}, args))


@given(templates, given_args)
def test_an_argument_never_becomes_a_step(one: WorkflowTemplate, args: dict[str, Any]) -> None:
    """The verbs and the names of their arguments are the template's; each value is a literal of it,
    or exactly what was given, as it was given.
    """
    for call, fixed in zip(one.calls, calls_of(expanded(one, {}, args)), strict=True):
        assert fixed.verb == call.verb
        assert fixed.args.keys() <= call.args.keys()
        for name, value in call.args.items():
            refers = referred(value)
            if refers is None:
                assert fixed.args[name] == value
            elif refers in args:
                assert fixed.args[name] is args[refers]
            else:
                assert name not in fixed.args


@given(templates, objects, objects)
def test_the_hash_is_of_exactly_these_steps(
    one: WorkflowTemplate, args: dict[str, Any], others: dict[str, Any]
) -> None:
    """Steps that differ in anything have another one."""
    first, second = expanded(one, {}, args), expanded(one, {}, others)
    assert (steps_digest(one, first) == steps_digest(one, second)) or first != second


def test_time_and_attempts_and_what_undoes_a_step_are_under_the_hash() -> None:
    """And the version: what is approved is approved as a whole."""
    one = made([{"verb": "note"}])
    call = FixedCall(verb="note", args={})
    found = [
        FixedStep(call=call),
        FixedStep(call=call, timeout_ms=1),
        FixedStep(call=call, attempts=1),
        FixedStep(call=call, compensate=call),
        FixedStep(call=FixedCall(verb="note", args={"a": 1})),
    ]
    digests = {steps_digest(one, (fixed,)) for fixed in found}
    again = one.model_copy(update={"version": 2})
    assert len(digests | {steps_digest(again, (found[0],))}) == len(found) + 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema": {"type": "object", "properties": {}}}, "additionalProperties is false"),
        ({"schema": schema(additionalProperties=True)}, "additionalProperties is false"),
        ({"schema": schema(type="array")}, "type is object"),
        ({"schema": {"type": "object", "additionalProperties": False}}, "properties are named"),
        ({"schema": schema(patternProperties={".*": {}})}, "not by patterns"),
        ({"schema": schema(required=["to"])}, "schema.required: names what properties lack: to"),
        ({"schema": schema(**{"$schema": "http://json-schema.org/draft-04/schema#"})}, "2020-12"),
        (
            {"steps": [{"verb": "note", "args": {"a": {ARGUMENT: "no"}}}]},
            "schema has no argument 'no'",
        ),
        (
            {"steps": [{"verb": "note", "args": {"a": [{ARGUMENT: "text"}]}}]},
            "nothing inside of one",
        ),
        (
            {"steps": [{"verb": "note", "args": {"a": {ARGUMENT: "text", "b": 1}}}]},
            "nothing inside of one",
        ),
        (
            {"steps": [{"verb": "note", "args": {"a": {"$verb": "search"}}}]},
            "nothing inside of one",
        ),
        (
            {"steps": [{"verb": "note", "args": {"a": {ARGUMENT: ["text"]}}}]},
            "nothing inside of one",
        ),
        (
            {"steps": [step("note", compensate={"verb": "note", "args": {"a": {ARGUMENT: "no"}}})]},
            "schema has no argument 'no'",
        ),
        ({"steps": [{"verb": {ARGUMENT: "text"}, "args": {}}]}, "verb"),
        ({"steps": [{"verb": "no verb", "args": {}}]}, "verb"),
        ({"steps": [{"verb": "note", "when": "text == 'a'"}]}, "Extra inputs are not permitted"),
        ({"steps": []}, "at least 1 item"),
        ({"steps": [{"verb": "note"}] * (STEPS_MAX + 1)}, f"at most {STEPS_MAX} items"),
        ({"steps": [step("note", timeout_ms=0)]}, "greater than or equal to 1"),
        ({"version": 0}, "greater than or equal to 1"),
        ({"id": "Announce"}, "should match pattern"),
        ({"on_error": "go on"}, "Extra inputs are not permitted"),
    ],
)
def test_what_could_be_filled_in_with_anything_is_no_template(
    change: dict[str, Any], says: str
) -> None:
    """Refused at load, with what is wrong."""
    with pytest.raises(ValidationError, match=re.escape(says)):
        WorkflowTemplate.model_validate(template("announce", [step("note")]) | change)


def test_a_setting_names_a_verb() -> None:
    """A step may leave its verb to the settings, and nothing else; where they name none there is
    none.
    """
    one = WorkflowTemplate.model_validate(
        template("look", [{"verb": {"$verb": "search"}, "args": {}}])
    )
    assert CompiledWorkflow(one, {"search": "web.find"}).verbs == ("web.find",)
    assert CompiledWorkflow(one, {}).verbs == ()
    assert expanded(one, {}, {"text": "$verb"})[0].call.verb == ""


def test_how_a_template_is_described_makes_it_no_other_one() -> None:
    """What it comes to does: steps, schema, version, and the verbs that the settings name."""
    one = WorkflowTemplate.model_validate(
        template("look", [{"verb": {"$verb": "search"}, "args": {}}])
    )
    first = CompiledWorkflow(one, {"search": "web.find"})
    assert first.is_as(
        CompiledWorkflow(
            one.model_copy(update={"description": "Otherwise."}),
            {"search": "web.find", "weather": "sky"},
        )
    )
    assert not first.is_as(CompiledWorkflow(one, {"search": "web.post"}))
    assert not first.is_as(
        CompiledWorkflow(one.model_copy(update={"version": 2}), {"search": "web.find"})
    )
    again = WorkflowTemplate.model_validate(
        template("look", [{"verb": {"$verb": "search"}, "args": {}}] * 2)
    )
    assert not first.is_as(CompiledWorkflow(again, {"search": "web.find"}))


def test_the_shipped_ones_are_those_of_the_sources() -> None:
    """C5's six, each with closed arguments."""
    assert set(shipped_workflows()) == {
        "search_web",
        "lookup_weather",
        "draft_email",
        "send_email",
        "complete_task",
        "delegate_to_agent",
    }
