"""Rule ``lane``: which class of model serves a call (RTE-01, B-09). A policy table over the purpose; a mode never implies a lane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from ordain.contracts.policy import Lane, Policy
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason


class LaneChosen(Struct, frozen=True, tag="lane"):
    """The lane and its model profiles, in the order in which they are tried."""

    lane: Lane
    profiles: tuple[str, ...]


class LaneEmpty(Struct, frozen=True, tag="empty"):
    """Policy names a lane behind which there is no model."""

    lane: Lane


class LaneFacts(Struct, frozen=True, kw_only=True):
    """What the call is for (``PURPOSES``); ``after`` is the lane that failed, if one did."""

    purpose: str
    after: Lane | None = None


def _verb(policy: Policy) -> Lane:
    return policy.lanes.verb


PURPOSES: Mapping[str, Callable[[Policy], Lane]] = {
    "planner": lambda policy: policy.lanes.planner,
    "verb": _verb,
    "router": lambda policy: policy.router.ask or policy.lanes.planner,
    "supervisor": lambda policy: policy.supervisor.ask or policy.lanes.planner,
    "triage": lambda policy: policy.attach.ask or policy.lanes.planner,
}
"""The lane of each purpose, from policy."""


def decide_lane(facts: LaneFacts, inputs: None, policy: Policy) -> Decision[LaneChosen | LaneEmpty]:
    """The purpose's lane, or after a failure the lane that policy names next."""
    lanes = policy.lanes
    lane = PURPOSES.get(facts.purpose, _verb)(policy)
    if facts.after is not None:
        lane = lanes.next_lane.get(facts.after, facts.after)
    profiles = tuple(lanes.profiles.get(lane, ()))
    if not profiles:
        return Decision(outcome=LaneEmpty(lane), reason=Reason.LANE_EMPTY)
    return Decision(outcome=LaneChosen(lane, profiles), reason=Reason.LANE_BY_PURPOSE)


LANE: Rule[LaneFacts, None, Any] = Rule(name="lane", outcome=LaneChosen | LaneEmpty, apply=decide_lane)
