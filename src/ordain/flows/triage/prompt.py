"""The triage prompt: what a model sees that may suggest what a message means to its session
(RTE-05), on record and from it.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Lane, Policy
from ordain.effects.effect import ModelCall
from ordain.flows.context import FlowContext
from ordain.flows.kind import ModelQuestion, PromptKind
from ordain.flows.triage.flat_input import FlatTriageInput
from ordain.flows.triage.request import TriageInput
from ordain.flows.values import PromptInputs, Values
from ordain.rules.suggestion import SUGGESTED

TEMPLATE = "triage_step"
MAX_TOKENS = 200
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"enum": [str(kind) for kind in SUGGESTED]},
        "thread": {"type": "integer", "minimum": 0},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["type", "thread", "confidence"],
    "additionalProperties": False,
}
"""The contract of the answer; thread 0 is none."""


class TriagePrompt(Struct, frozen=True, kw_only=True):
    """The template's input: the message, and the session's threads with what each is about, where
    it stands and what it asks.
    """

    message: str
    threads: tuple[dict[str, Any], ...]


def size_bound(source: str, prompt: TriagePrompt) -> int:
    """Upper bound of the rendered prompt in bytes."""
    return len(source.encode()) * (1 + len(prompt.threads)) + 4 * len(msgspec.json.encode(prompt))


class Unplaced(Struct, frozen=True, kw_only=True):
    """What the model is asked about: the message, and the session's threads as the record ``read``
    has them.
    """

    given: TriageInput | FlatTriageInput
    read: int
    threads: tuple[dict[str, Any], ...]


def _ask(context: FlowContext, unplaced: Unplaced) -> ModelQuestion:
    prompt = TriagePrompt(message=unplaced.given.text, threads=unplaced.threads)
    tokens = size_bound(context.catalog.data.prompts[TEMPLATE], prompt)
    return ModelQuestion(
        refs=(0, unplaced.read), args={}, prompt_tokens=tokens, max_tokens=MAX_TOKENS
    )


def _build(_: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    given: TriageInput | FlatTriageInput = values[0]
    threads: Any = getattr(values[call.refs[1]], "value", None) or []
    prompt = TriagePrompt(message=given.text, threads=tuple(threads))
    return PromptInputs(inputs=msgspec.structs.asdict(prompt), schema=SCHEMA)


def _lane(policy: Policy) -> Lane:
    return policy.attach.lane or policy.lanes.planner


TRIAGE_PROMPT: PromptKind[Unplaced] = PromptKind(
    purpose="triage",
    template=TEMPLATE,
    package="ordain.flows.triage",
    contract="triage_step",
    lane=_lane,
    ask=_ask,
    build=_build,
)
