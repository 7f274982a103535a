"""The prompts of a supervised turn: the planner's step in a conversation, and what a model sees
that may suggest the next move (EXE-11).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.policy import Lane, Policy
from ordain.effects.effect import ModelCall
from ordain.effects.results import ModelAnswer
from ordain.flows.context import FlowContext
from ordain.flows.kind import ModelQuestion, PromptKind
from ordain.flows.steps.prompt import step_prompt
from ordain.flows.steps.steps import Progress, left_answer, left_reason
from ordain.flows.steps.trace import shown_steps
from ordain.flows.supervisor.request import request_of
from ordain.flows.transcript import Spoken, resolve
from ordain.flows.values import PromptInputs, Values
from ordain.rules.proposals import Parsed, parse_object
from ordain.rules.supervise import Move, Pending

TEMPLATE = "supervisor_step"
SHOWN_STEPS = 3
MAX_TOKENS = 100
STEP_CHARS = 1000
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decision": {"enum": [str(move) for move in Move]},
    },
    "required": ["decision"],
    "additionalProperties": False,
}
"""The contract of the answer (EXE-12)."""


class SupervisorPrompt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The template's input: the steps so far, whether an action or a final answer is pending and
    what it says, what is left.

    ``budgets`` names what is left of each bound (EXE-11): tokens for reasoning and for the answer,
    verb and model calls, money, time.
    """

    trace: tuple[dict[str, Any], ...]
    pending: str
    proposal: dict[str, Any]
    steps_left: int
    budgets: dict[str, int] = {}


def size_bound(source: str, prompt: SupervisorPrompt, proposal_bytes: int) -> int:
    """Upper bound of the rendered prompt in bytes; the proposal has at most ``proposal_bytes``. A
    template of an older catalog shows no budgets.
    """
    proposal_bytes += len(msgspec.json.encode(prompt.budgets)) if "budgets" in source else 0
    shown = sum(min(len(msgspec.json.encode(step)), 4 * (STEP_CHARS + 1)) for step in prompt.trace)
    return len(source.encode()) * (1 + len(prompt.trace)) + 2 * (shown + proposal_bytes) + 200


class PendingStep(Struct, frozen=True, kw_only=True):
    """What the supervisor model is asked about: the planner's answer, what it came to, and where
    the loop stands.
    """

    progress: Progress
    answer: int
    pending: Pending


def _ask(context: FlowContext, given: PendingStep) -> ModelQuestion:
    return _question(context, given, budgets_left(context, given.progress))


def _ask_3(context: FlowContext, given: PendingStep) -> ModelQuestion:
    """As versions before 4 asked: the model was told of the steps that were left, and of nothing
    else.
    """
    return _question(context, given, {})


def budgets_left(context: FlowContext, progress: Progress) -> dict[str, int]:
    """What is left of each bound of the loop and of its run."""
    return {
        "tokens_reason": left_reason(progress),
        "tokens_answer": left_answer(progress),
        **context.budgets,
    }


def _question(context: FlowContext, given: PendingStep, budgets: dict[str, int]) -> ModelQuestion:
    progress, answer = given.progress, given.answer
    shown = progress.steps[-SHOWN_STEPS:]
    left = progress.limits.max_steps - len(progress.steps)
    prompt = SupervisorPrompt(
        trace=tuple(step.wire for step in shown),
        pending=str(given.pending),
        proposal={},
        steps_left=left,
        budgets=budgets,
    )
    return ModelQuestion(
        refs=(
            0,
            answer,
            *(seq for step in shown for seq in (step.answer, step.acted) if seq is not None),
        ),
        args={
            "answer": answer,
            "first": len(progress.steps) - len(shown),
            "steps": [[step.answer, step.acted, step.denied] for step in shown],
            "pending": str(given.pending),
            "left": left,
            **({"budgets": budgets} if budgets else {}),
        },
        prompt_tokens=size_bound(
            context.catalog.data.prompts[TEMPLATE], prompt, context.catalog.policy.step.max_bytes
        ),
        max_tokens=MAX_TOKENS,
    )


def _build(_: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    answer: ModelAnswer = values[call.args["answer"]]
    found = parse_object(answer.content or "")
    value = found.value if isinstance(found, Parsed) else {}
    proposal: dict[str, Any] = value.get("action") or value.get("final_answer") or {}
    prompt = SupervisorPrompt(
        trace=shown_steps(call, values),
        pending=call.args["pending"],
        proposal=proposal,
        steps_left=call.args["left"],
        budgets=call.args.get("budgets", {}),
    )
    return PromptInputs(inputs=msgspec.structs.asdict(prompt), schema=SCHEMA)


def _lane(policy: Policy) -> Lane:
    return policy.supervisor.ask or policy.lanes.planner


MOVE_PROMPT: PromptKind[PendingStep] = PromptKind(
    purpose="supervisor",
    template=TEMPLATE,
    package="ordain.flows.supervisor",
    contract="supervisor_step",
    lane=_lane,
    ask=_ask,
    build=_build,
)
MOVE_PROMPT_3 = replace(MOVE_PROMPT, ask=_ask_3)


def _given(values: Values) -> tuple[PlannerRequest, Spoken | None]:
    call = values[0]
    return request_of(call), resolve(values.transcript, call.history)


STEP_PROMPT = step_prompt(_given)
