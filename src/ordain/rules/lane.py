"""Rule ``lane``: which class of model serves a call (RTE-01, LLM-02, LLM-03, B-09).

The first row of policy's route table that fits, else the lane of the purpose; after a failure the
lane that policy names next. A mode never implies a lane.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ordain.contracts.model_policy import LaneRoute, LaneWhy
from ordain.contracts.policy import Lane, Policy
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule, tells_of
from ordain.rules.profile import HeldProfile, model_of
from ordain.rules.reasons import Reason


class LaneReason(Reason):
    """Why a lane serves a call (RTE-01, B-09)."""

    BY_PURPOSE = "lane.by_purpose", "Policy's table names the lane for this purpose."
    AFTER_FAILURE = (
        "lane.after_failure",
        "The lane that policy names after the one whose models failed.",
    )
    ROUTINE = "lane.routine", "A row of the route table: routine or low-risk work."
    ESCALATED = (
        "lane.escalated",
        "A row of the route table: the work asks for more than its purpose's lane.",
    )
    ROUTED = "lane.routed", "A row of the route table names the lane."
    PINNED = (
        "lane.pinned",
        (
            "The model that the pinned profile names for the role is asked first; it stands behind "
            "the lane, or one that may follow it."
        ),
    )
    PIN_NOT_HERE = (
        "lane.pin_not_here",
        (
            "The model that the pinned profile names for the role is none that policy lets "
            "the call "
            "reach: the lane's own order holds."
        ),
    )
    SEES = (
        "lane.sees",
        "The prompt shows images: of the models that policy names only those are asked that see.",
    )
    BLIND = "lane.blind", "The prompt shows images, and no model that policy names sees."
    EMPTY = "lane.empty", "No model profile stands behind the lane."


class LaneChosen(Struct, frozen=True, gc=False, tag="lane"):
    """The lane and its model profiles, in the order in which they are tried."""

    lane: Lane
    profiles: tuple[str, ...]


class LaneEmpty(Struct, frozen=True, gc=False, tag="empty"):
    """Policy names a lane behind which there is no model."""

    lane: Lane


class LaneFacts(Struct, frozen=True, kw_only=True):
    """What the call is for (a purpose of a kind's prompt); ``after`` is the lane that failed, if
    one did.

    ``ahead``: nothing is asked by this decision; a child will ask, and decide for itself, and what
    its models can read is needed now. The rest is there where policy has a route table: the verb
    whose prompt plan asks, its category and those of its tags that the table names, the class of
    the turn and whether its wording left its meaning or path open. ``profile`` is the pinned
    profile that names models by role. ``images`` counts those that the prompt shows, where it shows
    any.
    """

    purpose: str
    after: Lane | None = None
    verb: str | UnsetType = UNSET
    category: str | UnsetType = UNSET
    tags: tuple[str, ...] | UnsetType = UNSET
    budget_class: str | UnsetType = UNSET
    ambiguous: bool | UnsetType = UNSET
    ahead: bool | UnsetType = UNSET
    profile: str | UnsetType = UNSET
    images: int | UnsetType = UNSET


class LaneInputs(Struct, frozen=True, kw_only=True):
    """The lane of a purpose for which policy's table has none: a function, so that a policy diff
    asks the other policy. ``held``: the profile that holds. ``seeing``: the model profiles that
    see.
    """

    by_purpose: Callable[[Policy], Lane]
    held: HeldProfile | None = None
    seeing: frozenset[str] = frozenset()


def decide_lane(
    facts: LaneFacts, inputs: LaneInputs, policy: Policy
) -> Decision[LaneChosen | LaneEmpty]:
    """The lane and its profiles; a lane without any is an outcome of its own."""
    lanes = policy.lanes
    lane, reason = (
        lanes.by_purpose.get(facts.purpose) or inputs.by_purpose(policy),
        LaneReason.BY_PURPOSE,
    )
    if facts.after is not None:
        lane, reason = lanes.next_lane.get(facts.after, facts.after), LaneReason.AFTER_FAILURE
    elif (row := next((route for route in lanes.routes if fits(route, facts)), None)) is not None:
        lane, reason = row.lane, WHY[row.why]
    profiles = tuple(lanes.profiles.get(lane, ()))
    if not profiles:
        return Decision(outcome=LaneEmpty(lane), reason=LaneReason.EMPTY)
    if facts.images:
        return _seeing(lane, inputs.seeing, policy)
    pinned = (
        ""
        if inputs.held is None
        else model_of(inputs.held, facts.purpose, facts.verb or "", policy)
    )
    if not pinned:
        return Decision(outcome=LaneChosen(lane, profiles), reason=reason)
    if pinned not in _reached(lane, policy):
        return Decision(outcome=LaneChosen(lane, profiles), reason=LaneReason.PIN_NOT_HERE)
    first = (pinned, *(name for name in profiles if name != pinned))
    return Decision(outcome=LaneChosen(lane, first), reason=LaneReason.PINNED)


def _seeing(lane: Lane, seeing: frozenset[str], policy: Policy) -> Decision[LaneChosen | LaneEmpty]:
    """Of the lane's models those that see; where none does, those of the lane with the best models
    that has one. What a profile pins goes before neither.
    """
    for one in (
        lane,
        *(other for other in (Lane.BRAIN, Lane.WORKER, Lane.LOCAL) if other is not lane),
    ):
        if profiles := tuple(name for name in policy.lanes.profiles.get(one, ()) if name in seeing):
            return Decision(outcome=LaneChosen(one, profiles), reason=LaneReason.SEES)
    return Decision(outcome=LaneEmpty(lane), reason=LaneReason.BLIND)


def _reached(lane: Lane, policy: Policy) -> frozenset[str]:
    """The model profiles that policy lets a call reach from a lane: those behind it, and behind
    each that may follow it.
    """
    found: list[Lane] = []
    lanes = policy.lanes
    following: Lane | None = lane
    while following is not None and following not in found:
        found.append(following)
        following = lanes.next_lane.get(following)
    return frozenset(name for one in found for name in lanes.profiles.get(one, ()))


def fits(route: LaneRoute, facts: LaneFacts) -> bool:
    """Whether the call is all that the row names."""
    return (
        route.purpose in (None, facts.purpose)
        and route.verb in (None, facts.verb)
        and route.category in (None, facts.category)
        and (route.tag is None or (facts.tags is not UNSET and route.tag in facts.tags))
        and route.budget_class in (None, facts.budget_class)
        and route.ambiguous in (None, facts.ambiguous)
    )


WHY: Mapping[LaneWhy, Reason] = {
    LaneWhy.ROUTINE: LaneReason.ROUTINE,
    LaneWhy.ESCALATED: LaneReason.ESCALATED,
    LaneWhy.ROUTED: LaneReason.ROUTED,
}

_CHOSEN = msgspec.json.Decoder(LaneChosen | LaneEmpty)


def _lane(outcome: Raw) -> str:
    return str(_CHOSEN.decode(outcome).lane)


class _Asked(Struct):
    """What of a decision's facts its line depends on."""

    ahead: bool = False


_ASKED = msgspec.json.Decoder(_Asked)
_SPEAKING = (
    *(
        LaneReason.EMPTY,
        LaneReason.BLIND,
        LaneReason.SEES,
        LaneReason.ROUTINE,
        LaneReason.ESCALATED,
        LaneReason.ROUTED,
    ),
    *(LaneReason.PINNED, LaneReason.PIN_NOT_HERE),
)
_OF_CALL = tells_of("lane", _SPEAKING, _lane)


def _tells(recorded: Recorded) -> HeaderShare:
    """The lane of a call; what was looked up ahead the child that makes the call will tell, if it
    does.
    """
    return SILENT if _ASKED.decode(recorded.facts).ahead else _OF_CALL(recorded)


LANE: Rule[LaneFacts, LaneInputs, Any] = Rule(
    name="lane",
    outcome=LaneChosen | LaneEmpty,
    apply=decide_lane,
    reasons=(LaneReason,),
    tells=_tells,
)
