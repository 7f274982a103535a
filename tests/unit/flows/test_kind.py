"""``Kinds``, the registry of a build: what cannot stand in it together is refused when it is
made.
"""

from dataclasses import replace
from typing import Any, cast

import pytest
from msgspec import Raw

from ordain.contracts.model_policy import LanesPolicy
from ordain.contracts.policy import Lane, Policy
from ordain.errors import ConfigurationError, FlowFault
from ordain.flows.context import FlowContext
from ordain.flows.kinds import Kinds
from ordain.flows.shipped import SHIPPED, shipped_kinds
from ordain.rules.decision import Rule
from ordain.rules.lane import LANE, LaneFacts, LaneInputs
from ordain.rules.reasons import Reason
from ordain.rules.rulebook import ASKED_IN_STEPS, NO_FLOW_ASKS
from ordain.testing import ScriptedEffects, catalog_of, kind_of
from tests.shapes.survey import SURVEY, SURVEY_PROMPT, WORTH


class OtherReason(Reason):
    """Reasons of a rule of somebody else."""

    OTHER = ("worth.other", "it is another rule's")


def test_one_name_and_version_is_one_kind() -> None:
    """Two kinds of one name and version are refused; the same one twice is one."""
    with pytest.raises(ConfigurationError, match="two kinds survey@1") as refused:
        Kinds((SURVEY, replace(SURVEY, charged=False)))
    assert refused.value.code == "duplicate_kind"
    assert Kinds((SURVEY, SURVEY)).newest == {"survey": SURVEY}


def test_one_purpose_asks_for_one_contract() -> None:
    """Kinds may share a purpose, but not for answers of two contracts; what an older version asked
    for binds nobody.
    """
    other = replace(SURVEY, name="other", rules=())
    assert Kinds((SURVEY, other)).prompts == {SURVEY_PROMPT.purpose: SURVEY_PROMPT}
    changed = (replace(SURVEY_PROMPT, contract="another"),)
    with pytest.raises(
        ConfigurationError, match="asks for two contracts: 'survey_step' and 'another'"
    ) as refused:
        Kinds((*SHIPPED, SURVEY, replace(other, prompts=changed)))
    assert refused.value.code == "duplicate_purpose"
    assert (
        Kinds((SURVEY, replace(SURVEY, version=2, prompts=changed))).newest["survey"].version == 2
    )


def test_a_header_shows_of_a_child_what_its_kind_says() -> None:
    """The verb's own output of what carries one out; of a kind that says nothing, is not there or
    cannot read it, the whole.
    """
    wide, odd = Raw(b'{"output": {"n": 1}, "ok": true}'), Raw(b"7")
    assert {
        name: shipped_kinds().excerpt(name, wide)
        for name in ("verb_plan", "question", "supervisor")
    } == dict.fromkeys(("verb_plan", "question", "supervisor"), '{"n":1}')
    for kinds in (
        Kinds((SURVEY,)),
        Kinds(),
        Kinds((replace(SURVEY, excerpt=lambda _: cast("str", 7)),)),
    ):
        assert kinds.excerpt("survey", wide) == bytes(wide).decode()
    assert shipped_kinds().excerpt("verb_plan", odd) == "7"


def test_a_kinds_own_purpose_has_its_lane_in_policy() -> None:
    """Policy takes a lane for what a kind from elsewhere asks for, by name alone; for what nobody
    asks for it is refused, and for a word of its own.
    """
    policy = Policy(
        version=1,
        lanes=LanesPolicy.model_validate(
            {"profiles": {Lane.BRAIN: ["b"]}, SURVEY_PROMPT.purpose: Lane.BRAIN}
        ),
    )
    Kinds((SURVEY,)).check_policy(policy)
    asked = LaneFacts(purpose=SURVEY_PROMPT.purpose)
    assert (
        LANE.apply(asked, LaneInputs(by_purpose=SURVEY_PROMPT.lane), policy).outcome.lane
        is Lane.BRAIN
    )
    assert b'"survey":"brain"' in policy.model_dump_json().encode()
    assert Policy.model_validate_json(policy.model_dump_json()) == policy
    with pytest.raises(
        ConfigurationError, match=rf"policy: lanes\.{SURVEY_PROMPT.purpose} .*is none of"
    ):
        shipped_kinds().check_policy(policy)
    with pytest.raises(ConfigurationError, match="purpose routes") as refused:
        Kinds((replace(SURVEY, prompts=(replace(SURVEY_PROMPT, purpose="routes"),)),))
    assert refused.value.code == "reserved_purpose"


@pytest.mark.parametrize(
    "rule", [replace(WORTH, reasons=(OtherReason,)), replace(LANE, reasons=())]
)
def test_one_name_is_one_rule(rule: object) -> None:
    """Two kinds that each bring a rule of one name are refused, and so is one that brings a rule of
    the house's name.
    """
    with pytest.raises(ValueError, match="there are two rules"):
        Kinds((SURVEY, replace(SURVEY, name="other", rules=(rule,))))


@pytest.mark.parametrize(
    "rule",
    [rule for rule in shipped_kinds().rules.values() if rule.name in NO_FLOW_ASKS],
    ids=lambda rule: rule.name,
)
def test_no_kind_declares_what_grants(rule: Rule[Any, Any, Any]) -> None:
    """What the port, a claim or the door asks is no kind's to ask."""
    with pytest.raises(
        ConfigurationError, match=f"survey@1 declares what no flow asks: {rule.name}"
    ) as refused:
        replace(SURVEY, rules=(WORTH, rule))
    assert refused.value.code == "reserved_rule"


@pytest.mark.parametrize("rule", shipped_kinds().rules.values(), ids=lambda rule: rule.name)
def test_a_flow_asks_what_its_kind_declares(rule: Rule[Any, Any, Any]) -> None:
    """A rule of the shared steps is everybody's; any other is refused before it is asked, unless
    this very rule is declared.
    """

    def refused(asked: Rule[Any, Any, Any], *declared: Rule[Any, Any, Any]) -> bool:
        async def ask(context: FlowContext, _: object) -> None:
            context.fx.decide(asked, None, None)  # type: ignore[type-var]

        played = ScriptedEffects(kind_of(ask, rules=declared), catalog_of()).play(None, faults=True)
        return isinstance(played.fault, FlowFault)

    assert refused(rule) == (rule not in ASKED_IN_STEPS)
    if rule.name not in NO_FLOW_ASKS:
        assert not refused(rule, rule)
        assert refused(replace(rule, reasons=()), rule)
