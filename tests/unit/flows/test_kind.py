"""``Kinds``, the registry of a build: what cannot stand in it together is refused when it is made."""

from dataclasses import replace

import pytest

from ordain.errors import ConfigurationError
from ordain.flows.kind import Kinds
from ordain.flows.shipped import SHIPPED
from ordain.rules.lane import LANE
from ordain.rules.reasons import Reason
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
    """Kinds may share a purpose, but not for answers of two contracts; what an older version asked for binds nobody."""
    other = replace(SURVEY, name="other", rules=())
    assert Kinds((SURVEY, other)).prompts == {SURVEY_PROMPT.purpose: SURVEY_PROMPT}
    changed = (replace(SURVEY_PROMPT, contract="another"),)
    with pytest.raises(ConfigurationError, match="asks for two contracts: 'survey_step' and 'another'") as refused:
        Kinds((*SHIPPED, SURVEY, replace(other, prompts=changed)))
    assert refused.value.code == "duplicate_purpose"
    assert Kinds((SURVEY, replace(SURVEY, version=2, prompts=changed))).newest["survey"].version == 2


@pytest.mark.parametrize("rule", [replace(WORTH, reasons=(OtherReason,)), replace(LANE, reasons=())])
def test_one_name_is_one_rule(rule: object) -> None:
    """Two kinds that each bring a rule of one name are refused, and so is one that brings a rule of the house's name."""
    with pytest.raises(ValueError, match="there are two rules"):
        Kinds((SURVEY, replace(SURVEY, name="other", rules=(rule,))))
