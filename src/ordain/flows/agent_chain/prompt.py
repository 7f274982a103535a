"""The planner's step of a chain: the same question and contract as any planner's, asked as
``agent_chain``.
"""

from __future__ import annotations

from ordain.contracts.catalog import Catalog
from ordain.contracts.planner import PlannerRequest
from ordain.effects.effect import ModelCall
from ordain.flows.agent_chain.request import chain_request, planner_request
from ordain.flows.steps.prompt import build_step, built_prompt
from ordain.flows.transcript import Spoken, resolve
from ordain.flows.values import PromptInputs, Values


def _build(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    """The tools may be those of the catalog's packs, so the catalog is asked too."""

    def given(values: Values) -> tuple[PlannerRequest, Spoken | None]:
        chain = values[0]
        return planner_request(catalog, chain_request(chain)), resolve(
            values.transcript, chain.history
        )

    return build_step(given)(catalog, call, values)


CHAIN_PROMPT = built_prompt(_build)
