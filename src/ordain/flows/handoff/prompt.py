"""The planner's step of a specialist: the same question and contract as any planner's, asked as the
card that works.
"""

from __future__ import annotations

from ordain.contracts.catalog import Catalog
from ordain.contracts.planner import PlannerRequest
from ordain.effects.effect import ModelCall
from ordain.flows.handoff.request import planner_request
from ordain.flows.steps.prompt import build_step, built_prompt
from ordain.flows.transcript import Spoken
from ordain.flows.values import PromptInputs, Values


def _build(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    """Who the specialist is the catalog says; nothing of the conversation is shown to it but what
    was handed.
    """

    def given(values: Values) -> tuple[PlannerRequest, Spoken | None]:
        return planner_request(catalog, values[0]), None

    return build_step(given)(catalog, call, values)


HANDOFF_PROMPT = built_prompt(_build)
