"""Which decisions change what a run may do: its authority is told of these, once each, and of no
others.
"""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from ordain.flows.kinds import Kinds
from ordain.flows.shipped import SHIPPED
from ordain.rules.decision import Decision, Rule
from ordain.rules.guardrail import GUARDRAIL
from ordain.rules.handoff import HANDOFF
from ordain.rules.lane import LANE, LaneFacts, LaneReason
from ordain.rules.profile import PROFILE
from ordain.runtime.decided_authority import TELLING, tell_authority

RULES = Kinds(SHIPPED).rules
TOLD = {
    LANE.name: "lane_chosen",
    PROFILE.name: "profiled",
    HANDOFF.name: "decided",
    GUARDRAIL.name: "guarded",
}
FACTS = LaneFacts(purpose="planner_step")


class _Heard:
    """An authority that says what it is told, and of what."""

    own = "its bounds"

    def __init__(self) -> None:
        self.heard: list[tuple[str, tuple[Any, ...]]] = []
        self.handings = self

    def __getattr__(self, name: str) -> Any:
        def told(*given: Any) -> None:
            self.heard.append((name, given))

        return told


def _heard(
    rule: Rule[Any, Any, Any], refs: tuple[int, ...] = ()
) -> list[tuple[str, tuple[Any, ...]]]:
    authority = _Heard()
    state: Any = SimpleNamespace(authority=authority, values={7: "what it refers to"})
    decision = Decision[Any](outcome=msgspec.Raw(b"{}"), reason=LaneReason.BLIND)
    tell_authority(state, "the catalog", rule, (FACTS, "its inputs", refs), decision)  # pyright: ignore[reportArgumentType]
    return authority.heard


def test_the_names_are_those_of_the_rules_that_tell() -> None:
    """Whoever asks by name first misses none."""
    assert TOLD.keys() == TELLING
    assert {name for name, rule in RULES.items() if _heard(rule)} == TELLING


@pytest.mark.parametrize("name", sorted(TELLING))
def test_each_is_told_once_and_another_rule_of_its_name_tells_nothing(name: str) -> None:
    """A kind may bring a rule of its own; it grants nothing whatever it is called."""
    (told,) = _heard(RULES[name])
    assert told[0] == TOLD[name]
    rule = RULES[name]
    other: Rule[Any, Any, Any] = Rule(
        name=name, outcome=rule.outcome, apply=rule.apply, reasons=rule.reasons
    )
    assert _heard(other) == []


def test_a_profile_is_told_with_what_its_decision_refers_to() -> None:
    """The record that was handed to the flow, and none where there is no reference."""
    assert _heard(PROFILE, (7,))[0][1][3] == "what it refers to"
    assert _heard(PROFILE)[0][1][3] is None
