"""Laws of a lane, and of what a mode may not be taken for."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.catalogs import build_registry
from ordain.contracts.conversation import ExecMode
from ordain.contracts.model_policy import LanesPolicy
from ordain.contracts.policy import Lane, Policy
from ordain.flows.shipped import shipped_kinds
from ordain.rules.lane import LANE, LaneFacts, LaneInputs
from ordain.settings import load_settings
from tests.unit.rules.given import decided, lanes_policies

PROMPTS = shipped_kinds().prompts


@given(st.sampled_from(sorted(PROMPTS)), lanes_policies, lanes_policies)
def test_a_lane_is_the_tables_alone(purpose: str, one: LanesPolicy, other: LanesPolicy) -> None:
    """The facts of rule lane hold a purpose and no mode; the same table gives the same lane,
    another table its own.

    B-09 "mode never implies lane (policy table maps)"
    """
    assert "mode" not in LaneFacts.__struct_fields__
    inputs = LaneInputs(by_purpose=PROMPTS[purpose].lane)
    for table in (one, other):
        expected = table.verb if purpose == "verb" else table.planner
        assert (
            decided(
                LANE, LaneFacts(purpose=purpose), inputs, Policy(version=1, lanes=table)
            ).outcome.lane
            is expected
        )


@given(st.sampled_from(sorted(PROMPTS)), st.sampled_from(Lane), lanes_policies)
def test_policy_names_the_lane_of_any_purpose(purpose: str, lane: Lane, table: LanesPolicy) -> None:
    """Whatever a kind asks for, a key of policy's table decides its lane: also under purposes that
    no field is named after.
    """
    named = LanesPolicy.model_validate({**table.model_dump(), purpose: lane})
    inputs = LaneInputs(by_purpose=PROMPTS[purpose].lane)
    assert (
        decided(
            LANE, LaneFacts(purpose=purpose), inputs, Policy(version=1, lanes=named)
        ).outcome.lane
        is lane
    )


@pytest.mark.parametrize("mode", list(ExecMode))
def test_a_mode_is_no_lane(mode: ExecMode) -> None:
    """Mode and lane share a word and no type: neither is read as the other where they differ, and
    no verb has a mode's name.

    B-09 "Separate types `ExecMode`, `ModelLane`, verb id"
    """
    assert str(mode) not in build_registry(load_settings(environment={})).specs
    assert not isinstance(mode, Lane)
    assert {str(mode) for mode in ExecMode} & {str(lane) for lane in Lane} == {"brain"}
    if mode is not ExecMode.BRAIN:
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"purpose": "verb", "after": str(mode)}, LaneFacts)
