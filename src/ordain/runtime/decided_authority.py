"""Decisions that change what a run may do: of which rules they are, and what its authority is told
of them.
"""

from __future__ import annotations

from typing import Any

from ordain.contracts.catalog import Catalog
from ordain.rules.decision import Decision, Rule
from ordain.rules.guardrail import GUARDRAIL
from ordain.rules.handoff import HANDOFF
from ordain.rules.lane import LANE
from ordain.rules.profile import PROFILE
from ordain.runtime.recorded_form import lane_form
from ordain.runtime.run_state import RunState

TELLING = frozenset({LANE.name, PROFILE.name, HANDOFF.name, GUARDRAIL.name})
"""The names of those rules: most decisions are of none of them."""


def tell_authority(
    state: RunState,
    catalog: Catalog,
    rule: Rule[Any, Any, Any],
    asked: tuple[Any, Any, tuple[int, ...]],
    decision: Decision[Any],
) -> None:
    """A rule of ``TELLING`` has decided; ``asked`` are its facts, its inputs and what it refers to.

    Raises:
        FlowFault: it was not decided from what stands on record.
    """
    (facts, inputs, refs), outcome, authority = asked, decision.outcome, state.authority
    if rule is LANE:
        authority.lane_chosen(lane_form(facts), inputs, outcome)
    elif rule is PROFILE:
        seen = state.values.get(refs[0]) if refs else None
        authority.profiled(outcome, facts, inputs, seen, catalog)
    elif rule is HANDOFF:
        authority.handings.decided(facts, inputs, outcome, authority.own)
    elif rule is GUARDRAIL:
        authority.handings.guarded(facts, inputs, outcome, catalog)
