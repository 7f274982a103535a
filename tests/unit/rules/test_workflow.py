"""Laws of rule ``workflow``: a suggestion comes to the template's own steps or to nothing, whoever
makes it and whatever it says.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.approvals import MayAsk
from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import CatalogData
from ordain.contracts.policy import Policy
from ordain.contracts.scope import CapabilityScope
from ordain.contracts.verbs import Argument, ArgumentRole, VerbEffect, VerbSpec
from ordain.contracts.workflow import WorkflowTemplate, steps_digest
from ordain.rules.decision import FACTS_BYTES
from ordain.rules.proposals import Parsed, ProposalReason, Unparsed
from ordain.rules.workflow import (
    WORKFLOW,
    Expanded,
    NothingSuggested,
    SuggestedBy,
    SuggestionRefused,
    WorkflowFacts,
    WorkflowInputs,
    WorkflowReason,
)
from tests.shapes.workflows import step, template
from tests.unit.rules.given import POLICY, decided, json_values, objects, texts

TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 9}},
    "required": ["text"],
    "additionalProperties": False,
}
EFFECTS = {
    "look": VerbEffect.READ,
    "note": VerbEffect.PRIVATE,
    "send": VerbEffect.SEND,
    "pay": VerbEffect.PAY,
    "off": VerbEffect.PRIVATE,
}
SWITCHED = Policy.model_validate(
    {"version": 1, "verbs": {"default": {"allow": [], "deny": ["off"]}}}
)


def spec(name: str, effect: VerbEffect) -> VerbSpec:
    roles = {"text": Argument(role=ArgumentRole.RECIPIENT)}
    return VerbSpec(name=name, description="d", effect=effect, input_schema=TEXT, arguments=roles)


TEMPLATES = {
    "quiet": [step("note"), step("look")],
    "loud": [step("note"), step("send")],
    "dear": [step("pay"), step("send")],
    "undo": [step("note", "send")],
    "absent": [step("note"), step("no.such")],
    "unset": [{"verb": {"$verb": "search"}, "args": {"text": {"$arg": "text"}}}],
    "blocked": [step("off")],
    "narrow": [{"verb": "note", "args": {"text": "much too long for it"}}],
}
CATALOG = Catalog(
    CatalogData(
        policy=SWITCHED,
        verbs={name: spec(name, effect) for name, effect in EFFECTS.items()},
        workflows={
            name: WorkflowTemplate.model_validate(template(name, steps))
            for name, steps in TEMPLATES.items()
        },
    )
)
ALL = CapabilityScope(allowed=tuple(EFFECTS))
scopes = st.lists(st.sampled_from([*EFFECTS, "no.such"]), unique=True).map(
    lambda names: CapabilityScope(allowed=tuple(names))
)
names = st.sampled_from([*TEMPLATES, "no_such", ""])
args = st.one_of(st.just({"text": "tea"}), objects, st.dictionaries(st.just("text"), json_values))


def by_sender(
    name: str,
    given_args: dict[str, Any],
    scope: CapabilityScope = ALL,
    by: SuggestedBy = SuggestedBy.SENDER,
    **more: Any,
) -> Any:
    facts = WorkflowFacts(by=by, template=name, given=len(given_args), **more)
    return decided(
        WORKFLOW,
        facts,
        WorkflowInputs(catalog=CATALOG, scope=scope, template=name, args=given_args),
        SWITCHED,
    )


def by_model(value: Any, *, answered: bool = True) -> Any:
    proposal = (
        Parsed(value=value, size_bytes=9)
        if isinstance(value, dict)
        else Unparsed(reason=ProposalReason.PROSE, size_bytes=9)
    )
    inputs = WorkflowInputs(catalog=CATALOG, scope=ALL, proposal=proposal)
    return decided(
        WORKFLOW, WorkflowFacts(by=SuggestedBy.MODEL, answered=answered), inputs, SWITCHED
    )


@given(names, args, scopes)
def test_what_is_carried_out_is_the_templates_own(
    name: str, given_args: dict[str, Any], scope: CapabilityScope
) -> None:
    """Its verbs, as many steps as it has, under the hash of exactly these."""
    outcome = by_sender(name, given_args, scope).outcome
    if isinstance(outcome, Expanded):
        workflow = CATALOG.workflows[name]
        steps = workflow.steps_of(given_args)
        assert (outcome.template, outcome.verbs, outcome.steps) == (
            name,
            workflow.verbs,
            len(workflow.template.steps),
        )
        assert outcome.digest == steps_digest(workflow.template, steps)
        assert all(scope.permits(verb) for verb in outcome.verbs)


@given(names, args, scopes, scopes)
def test_a_narrower_scope_never_allows_more(
    name: str, given_args: dict[str, Any], scope: CapabilityScope, less: CapabilityScope
) -> None:
    """What is carried out in part of a scope is carried out in all of it, the same."""
    narrow = by_sender(name, given_args, scope.narrowed(less.allowed)).outcome
    if isinstance(narrow, Expanded):
        assert by_sender(name, given_args, scope).outcome == narrow


@given(
    st.one_of(
        objects,
        json_values,
        st.builds(lambda name, found: {"template": name, "args": found}, names, args),
    )
)
def test_a_model_names_a_template_and_arguments_and_nothing_else(value: Any) -> None:
    """Any other answer comes to nothing; what it does name comes to what it would from a sender."""
    outcome = by_model(value).outcome
    if isinstance(outcome, Expanded):
        assert value.keys() == {"template", "args"}
        assert outcome == by_sender(value["template"], value["args"]).outcome
    elif isinstance(value, dict) and value.keys() != {"template", "args"}:
        assert (outcome.code, outcome.template) == ("malformed_suggestion", "")


@given(names, args, st.sampled_from([None, *MayAsk]))
def test_nothing_that_needs_a_yes_is_carried_out_unasked(
    name: str, given_args: dict[str, Any], may_ask: MayAsk | None
) -> None:
    """Where people may be asked it is proposed; where nobody may be it is refused before its first
    step.
    """
    outcome = by_sender(name, given_args, by=SuggestedBy.RUN, may_ask=may_ask).outcome
    if isinstance(outcome, Expanded):
        asked = any(EFFECTS[verb] in {VerbEffect.SEND, VerbEffect.PAY} for verb in outcome.verbs)
        assert bool(outcome.tier) == asked
        assert outcome.proposed == (asked and may_ask is MayAsk.PEOPLE)
        assert not asked or may_ask is not None


@pytest.mark.parametrize(
    ("name", "given_args", "reason"),
    [
        ("no_such", {"text": "tea"}, WorkflowReason.UNKNOWN_TEMPLATE),
        ("", {"text": "tea"}, WorkflowReason.UNKNOWN_TEMPLATE),
        ("quiet", {}, WorkflowReason.MISSING_ARGUMENT),
        ("quiet", {"text": "tea", "verb": "pay"}, WorkflowReason.UNKNOWN_ARGUMENT),
        ("quiet", {"verb": "pay"}, WorkflowReason.UNKNOWN_ARGUMENT),
        ("quiet", {"text": 1}, WorkflowReason.MISTYPED_ARGUMENT),
        ("quiet", {"text": None}, WorkflowReason.MISTYPED_ARGUMENT),
        ("quiet", {"text": "ten letters"}, WorkflowReason.STEP_ARGUMENTS),
        ("narrow", {"text": "tea"}, WorkflowReason.STEP_ARGUMENTS),
        ("absent", {"text": "tea"}, WorkflowReason.TOOL_UNAVAILABLE),
        ("unset", {"text": "tea"}, WorkflowReason.TOOL_UNAVAILABLE),
        ("blocked", {"text": "tea"}, WorkflowReason.TOOL_UNAVAILABLE),
        ("quiet", {"text": "tea"}, WorkflowReason.UNASKED),
        ("loud", {"text": "tea"}, WorkflowReason.TO_BE_APPROVED),
        ("undo", {"text": "tea"}, WorkflowReason.TO_BE_APPROVED),
    ],
)
def test_each_reason(name: str, given_args: dict[str, Any], reason: WorkflowReason) -> None:
    """One case of each."""
    assert by_sender(name, given_args).reason is reason


def test_the_tier_is_the_highest_of_its_calls() -> None:
    """A payment among sendings is destructive."""
    assert (
        by_sender("dear", {"text": "ben"}).outcome.tier,
        by_sender("loud", {"text": "ben"}).outcome.tier,
    ) == ("destructive", "write")


@pytest.mark.parametrize("value", [{"template": None, "args": {}}, {"template": "", "args": {}}])
def test_a_model_may_suggest_nothing(value: Any) -> None:
    """And one that does not answer suggests nothing either."""
    assert by_model(value).reason is WorkflowReason.NOTHING_SUGGESTED
    assert by_model(value, answered=False).outcome == NothingSuggested()


@given(texts.map(lambda text: text * 40), st.lists(texts.map(lambda text: text * 20), max_size=5))
def test_names_that_somebody_gave_are_cut(name: str, more: list[str]) -> None:
    """Facts and outcome are bounded, however long what was given is."""
    outcome = by_sender(name[:128], {}).outcome
    assert isinstance(outcome, SuggestionRefused)
    assert len(outcome.template) <= 64
    assert len(by_sender("quiet", dict.fromkeys(more, 1)).outcome.detail) <= 200
    facts = WorkflowFacts(by=SuggestedBy.SENDER, template="\x00" * 128, given=2**31)
    assert len(msgspec.json.encode(facts)) <= FACTS_BYTES
    assert POLICY.outcome.ask is None
