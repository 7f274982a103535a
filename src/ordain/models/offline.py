"""The provider when nothing is configured: rules, no language model, and it says so in every reply.

It never makes up a word. As a planner it calls a tool only if exactly one tool's required arguments can be filled from the request's own
words, reports what came back verbatim, and otherwise finishes and says why. Asked for a prompt-plan step it quotes: the sentences of the
input, whole and in order, in the shape of the step's output, or it fails with ``nothing_to_quote``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from ordain.contracts.planner import CONTENT_MAX, TOOL_ID_MAX
from ordain.contracts.policy import ModelErrorCode
from ordain.models.arguments import fill
from ordain.models.quoting import MARK, Unfillable, quote_into, statements
from ordain.models.sentences import has_sentence, split
from ordain.ports.model import ModelError, ModelReply, ModelRequest

NOTICE = "offline rules, no language model; set OPENAI_BASE_URL or a [models.*] profile"
ANSWER_BYTES = CONTENT_MAX - 500
_BYTES_PER_TOKEN = 4
_AROUND_BYTES = 500
_LISTED = 8
_NAME_CHARS = 60


class _Own(Struct, frozen=True):
    """The requester's own words: the text the request is about, and all of them."""

    text: str
    words: str


class OfflineModel:
    """Deterministic: the same request has the same answer. Errors: ``nothing_to_quote``, ``malformed``, ``truncated``."""

    async def attempt(self, request: ModelRequest) -> ModelReply | ModelError:
        """Answer by rule."""
        if request.purpose == "planner":
            answer = next_step(request.inputs, min(ANSWER_BYTES, request.max_tokens * _BYTES_PER_TOKEN - _AROUND_BYTES))
        else:
            answer = _quoted(request.inputs)
        if isinstance(answer, ModelError):
            return answer
        encoded = msgspec.json.encode(answer)
        if request.purpose != "planner" and len(encoded) > request.max_tokens * _BYTES_PER_TOKEN:
            message = f"the quotation needs {len(encoded)} bytes, more than max_tokens allows ({_BYTES_PER_TOKEN} bytes a token)"
            return ModelError(code=ModelErrorCode.TRUNCATED, message=message)
        return ModelReply(text=encoded.decode(), model=request.profile.model, input_tokens=None, output_tokens=None, notice=NOTICE)

    async def close(self) -> None:
        """Nothing is held."""


# --- a prompt-plan step ---------------------------------------------------------------------------------------------------------


def _quoted(inputs: Mapping[str, Any]) -> dict[str, Any] | ModelError:
    source: Any = inputs.get("input")
    text = _material(cast("dict[str, Any]", source) if isinstance(source, dict) else {})
    spans = split(text)
    if not has_sentence(text, spans):
        return ModelError(
            code=ModelErrorCode.NOTHING_TO_QUOTE, message="the input has no sentence to quote; no language model is configured"
        )
    schema: Any = inputs.get("output_schema")
    try:
        return quote_into(cast("dict[str, Any]", schema) if isinstance(schema, dict) else {"type": "object"}, text, spans)
    except Unfillable as error:
        return ModelError(code=ModelErrorCode.MALFORMED, message=f"offline rules cannot quote into this output: {error}"[:300])


def _material(given: Mapping[str, Any]) -> str:
    """The input's text; without one its lists, one item a line; without those its other texts. Options are no material."""
    text = given.get("text")
    if isinstance(text, str):
        return text
    lists: dict[str, Any] = {name: value for name, value in given.items() if isinstance(value, list)}
    texts: dict[str, Any] = {name: value for name, value in given.items() if isinstance(value, str)}
    return "\n".join(statements(lists or texts))


# --- a planner step -------------------------------------------------------------------------------------------------------------


def next_step(inputs: Mapping[str, Any], room_bytes: int = ANSWER_BYTES) -> dict[str, Any]:
    """The directive for a planner's inputs; a report of results takes at most ``room_bytes``."""
    if inputs.get("reask"):
        return _finish("The step was refused.", f"The last step was refused ({inputs['reask']}); offline rules have no other.")
    called = _called(inputs.get("trace") or ())
    if called:
        return _report(called[-1], room_bytes)
    own = _own(inputs)
    tools = cast("Sequence[Mapping[str, Any]]", inputs.get("tools") or ())
    fillable = [
        (str(tool["tool_id"]), filled) for tool in tools if (filled := fill(tool.get("input_schema"), own.text, own.words)) is not None
    ]
    if len(fillable) != 1:
        return _without_a_call(tools, [tool_id for tool_id, _ in fillable])
    tool_id, filled = fillable[0]
    thought = f"Only {tool_id[:TOOL_ID_MAX]} can be called with what the request itself says."
    return {"thought": thought, "finish": False, "action": {"tool_id": tool_id, "input": filled}, "final_answer": None}


def _own(inputs: Mapping[str, Any]) -> _Own:
    facts = cast("Mapping[str, object]", inputs.get("facts") or {})
    history = cast("Sequence[Mapping[str, object]]", inputs.get("history") or ())
    spoken = [message.get("content") for message in history if message.get("role") == "user"]
    found: list[object] = [facts.get("text"), *spoken[-1:], inputs.get("user_message"), inputs.get("goal")]
    texts = [text for text in found if isinstance(text, str) and text.strip()]
    return _Own(texts[0] if texts else "", "\n".join(dict.fromkeys(texts)))


def _called(trace: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [step for step in trace if step.get("action") is not None]


def _without_a_call(tools: Sequence[Mapping[str, Any]], fillable: list[str]) -> dict[str, Any]:
    if fillable:
        why = f"{len(fillable)} tools could be called with this request ({_names(fillable)}), and rules do not choose between them."
    elif tools:
        names = _names([str(tool.get("tool_id")) for tool in tools])
        why = f"No tool was called: the request itself does not unambiguously give the required arguments of any of {names}."
    else:
        why = "The request offers no tools."
    return _finish("Rules find no single call.", f"{why} No language model is configured, so nothing was worked out.")


def _names(tool_ids: list[str]) -> str:
    shown = [tool_id[:_NAME_CHARS] for tool_id in tool_ids[:_LISTED]]
    return ", ".join(shown) + (f" and {len(tool_ids) - _LISTED} more" if len(tool_ids) > _LISTED else "")


def _report(step: Mapping[str, Any], room_bytes: int) -> dict[str, Any]:
    """Finish with what the tool gave back, verbatim."""
    tool_id = str(step["action"].get("tool_id"))[:TOOL_ID_MAX]
    seen: Mapping[str, Any] = step.get("observation") or {}
    if seen.get("ok") is not True:
        problem: Any = seen.get("error")
        fields = cast("dict[str, Any]", problem) if isinstance(problem, dict) else {}
        code = f" ({str(fields['code'])[:_NAME_CHARS]})" if fields.get("code") else ""
        return _finish(f"{tool_id} failed.", f"{tool_id} failed{code}. Offline rules do not try again or choose another tool.")
    output: Any = seen.get("output")
    found = statements(cast("dict[str, Any]", output)) if isinstance(output, dict) else []
    told = seen.get("llm_output")
    if not found and isinstance(told, str):
        found = statements({"text": told})
    if not found:
        return _finish(f"{tool_id} returned.", f"{tool_id} returned nothing that could be quoted.")
    return _finish(f"{tool_id} returned; its result is quoted.", _listing(tool_id, found, room_bytes), {"method": MARK, "tool_id": tool_id})


def _listing(tool_id: str, found: list[str], room_bytes: int) -> str:
    """The statements as a list, as far as whole ones fit; what is left out is counted."""
    text = f"Quoted from the result of {tool_id}, not analysed:"
    for number, said in enumerate(found):
        bullet = f"\n- {said}"
        room_bytes -= len(msgspec.json.encode(bullet))
        if room_bytes < 0:
            return f"{text}\n({len(found) - number} more: they do not fit into an answer, see the trace)"
        text += bullet
    return text


def _finish(thought: str, content: str, structured: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"thought": thought, "finish": True, "action": None, "final_answer": {"content": content, "structured": structured or {}}}
