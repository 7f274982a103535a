"""What a model sees that puts findings into one text: the request and the findings, and nothing of
the run's authority.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Lane, Policy
from ordain.effects.effect import ModelCall
from ordain.flows.context import FlowContext
from ordain.flows.findings import StepFinding, SynthesisInput
from ordain.flows.kind import ModelQuestion, PromptKind
from ordain.flows.values import PromptInputs, Values

TEMPLATE = "synthesis"
MAX_TOKENS = 2000
WORDS_MOST = 20_000


def _found(finding: StepFinding) -> dict[str, Any]:
    if finding.error:
        return {"agent": finding.agent, "done": False, "error": finding.error}
    return {"agent": finding.agent, "done": True, "found": finding.content}


def _inputs(given: SynthesisInput) -> dict[str, Any]:
    return {"request": given.request, "found": [_found(finding) for finding in given.findings]}


def _ask(context: FlowContext, given: SynthesisInput) -> ModelQuestion:
    bound = len(context.catalog.data.prompts[TEMPLATE].encode()) + 4 * len(
        msgspec.json.encode(_inputs(given))
    )
    return ModelQuestion(refs=(0,), args={}, prompt_tokens=bound, max_tokens=MAX_TOKENS)


def _build(_: Catalog, __: ModelCall, values: Values) -> PromptInputs:
    return PromptInputs(inputs=_inputs(values[0]), schema=None, advised=True, words_most=WORDS_MOST)


def _lane(policy: Policy) -> Lane:
    return policy.lanes.planner


SYNTHESIS_PROMPT: PromptKind[SynthesisInput] = PromptKind(
    purpose="synthesis",
    template=TEMPLATE,
    package="ordain.flows.synthesis",
    contract="synthesis",
    lane=_lane,
    ask=_ask,
    build=_build,
)
