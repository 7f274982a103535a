"""The prompt of one seat, put on record and made from it again."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.council import OPINION_CHARS, Seat
from ordain.contracts.policy import Lane, Policy
from ordain.effects.effect import ModelCall
from ordain.flows.context import FlowContext
from ordain.flows.deliberation.question import shown_history
from ordain.flows.deliberation.seat_run import SeatInput
from ordain.flows.kind import ModelQuestion, PromptKind
from ordain.flows.transcript import Spoken, resolve
from ordain.flows.values import PromptInputs, Values

TEMPLATE = "council_seat"
MAX_TOKENS = 1000
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string", "minLength": 1, "maxLength": OPINION_CHARS}},
    "required": ["text"],
    "additionalProperties": False,
}
"""The contract of an opinion."""


class SeatPrompt(Struct, frozen=True, kw_only=True):
    """The template's input: as whom the model speaks, what is asked, what was said before, and what
    verdicts hold the answer to.
    """

    role: str
    description: str
    question: str
    history: tuple[dict[str, str], ...]
    constraints: tuple[dict[str, Any], ...]
    phi: dict[str, float] | None
    state: str


def seat_prompt(seat: Seat, given: SeatInput, spoken: Spoken) -> SeatPrompt:
    """The typed input of the template."""
    question = given.question
    return SeatPrompt(
        role=seat.name,
        description=seat.role_description,
        question=question.prompt,
        history=shown_history(question, spoken),
        constraints=given.constraints,
        phi=question.phi if seat.use_phi else None,
        state=question.state,
    )


def _ask(context: FlowContext, given: SeatInput) -> ModelQuestion:
    data, policy = context.catalog.data, context.catalog.policy.council
    seat, source = data.seats[given.seat], data.prompts[TEMPLATE]
    held = 2 * len(msgspec.json.encode((given.constraints, seat.role_description)))
    repeats = 1 + given.question.repeats + len(given.constraints)
    return ModelQuestion(
        refs=(0,),
        args={},
        prompt_tokens=len(source.encode()) * repeats + given.question.size_bytes + held,
        max_tokens=MAX_TOKENS,
        role=seat.name,
        temperature=seat.temperature,
        timeout_ms=policy.llm_timeout_ms,
        attempts=policy.attempts,
    )


def _build(catalog: Catalog, _: ModelCall, values: Values) -> PromptInputs:
    given: SeatInput = values[0]
    prompt = seat_prompt(
        catalog.data.seats[given.seat], given, resolve(values.transcript, given.question.spoken)
    )
    return PromptInputs(inputs=msgspec.structs.asdict(prompt), schema=SCHEMA, words_at=("text",))


def _lane(policy: Policy) -> Lane:
    return policy.lanes.planner


SEAT_PROMPT: PromptKind[SeatInput] = PromptKind(
    purpose="seat",
    template=TEMPLATE,
    package="ordain.flows.seat",
    contract="council_opinion",
    lane=_lane,
    ask=_ask,
    build=_build,
)
