"""The provider when nothing is configured: rules, no language model, and it says so in every reply.

It never makes up a word. As a planner it calls a tool only if exactly one tool's required arguments
can be filled from the request's own words, reports what came back verbatim, and otherwise finishes
and says why. Asked for a prompt-plan step it quotes: the sentences of the input, whole and in
order, in the shape of the step's output, or it fails with ``nothing_to_quote``. In a conversation
it quotes the message, or the history where there is no message; where an answer for a person is
wanted (``content``) it says that it can only repeat. It chooses no route: what routes by rule needs
no model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.planner import CONTENT_MAX, TOOL_ID_MAX
from ordain.contracts.remedies import NO_MODEL
from ordain.contracts.verbs import TEXT_FIELD, text_of
from ordain.models.arguments import fill
from ordain.models.quotation import MARK, Unfillable, quote_into, say_into, statements
from ordain.models.sentences import Span, has_sentence, split
from ordain.ports.model import ByCode, Heard, ModelError, ModelReply, ModelRequest

NOTICE = NO_MODEL
ANSWER_BYTES = CONTENT_MAX - 500
_BYTES_PER_TOKEN = 4
_AROUND_BYTES = 500
_LISTED = 8
_NAME_CHARS = 60
_REPEATED_CHARS = 400
QUOTED = "Quoted, not analysed:\n"
"""So plain text begins that is the input's own, where no field can say so."""
_REPEATS = "No language model is configured here, so I can only repeat what {who} said: “{said}”"


class _Own(Struct, frozen=True):
    """The requester's own words: the text the request is about, and all of them."""

    text: str
    words: str


class OfflineModel:
    """Deterministic: the same request has the same answer. Errors: ``nothing_to_quote``,
    ``needs_model``, ``malformed``, ``truncated``.
    """

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """Answer by rule."""
        if request.by_code == ByCode.STEP:
            answer = next_step(
                request.inputs,
                min(ANSWER_BYTES, request.max_tokens * _BYTES_PER_TOKEN - _AROUND_BYTES),
            )
        elif request.by_code == ByCode.QUOTE:
            answer = _quoted(
                request.inputs,
                request.max_tokens * _BYTES_PER_TOKEN - _AROUND_BYTES,
                plain=request.schema is None,
            )
        else:
            answer = ModelError(
                code=ModelErrorCode.NEEDS_MODEL,
                message="rules choose nothing here; no language model is configured",
            )
        if isinstance(answer, ModelError):
            return answer
        encoded = (
            msgspec.json.encode(answer)
            if request.schema is not None
            else (text_of(answer) or "").encode()
        )
        if request.by_code != ByCode.STEP and len(encoded) > request.max_tokens * _BYTES_PER_TOKEN:
            message = (
                f"the quotation needs {len(encoded)} bytes, more than max_tokens allows "
                f"({_BYTES_PER_TOKEN} bytes a token)"
            )
            return ModelError(code=ModelErrorCode.TRUNCATED, message=message)
        return ModelReply(
            text=encoded.decode(),
            model=request.profile.model,
            input_tokens=None,
            output_tokens=None,
            notice=NOTICE,
        )

    async def close(self) -> None:
        """Nothing is held."""


# --- a prompt-plan step ---------------------------------------------------------------------------


def _nothing(why: str) -> ModelError:
    return ModelError(
        code=ModelErrorCode.NOTHING_TO_QUOTE, message=f"{why}; no language model is configured"
    )


def _quoted(
    inputs: Mapping[str, Any], room_bytes: int, *, plain: bool
) -> dict[str, Any] | ModelError:
    source: Any = inputs.get("input")
    told = _told(inputs)
    text = (
        _material(cast("dict[str, Any]", source) if isinstance(source, dict) else {})
        if told is None
        else told
    )
    declared: Any = inputs.get("output_schema")
    schema = cast("dict[str, Any]", declared) if isinstance(declared, dict) else {"type": "object"}
    try:
        answers = inputs.get("message") is not None or not plain
        if told is not None and answers and (bound := _text_bound(schema, TEXT_FIELD)) is not None:
            return _repeated(
                schema, told, "you" if inputs.get("message") is not None else "was", bound
            )
        spans = split(text)
        if not has_sentence(text, spans):
            return _nothing("the input has no sentence to quote")
        if (
            told is not None
            and (bound := _text_bound(schema, TEXT_FIELD if plain else "summary")) is not None
        ):
            spans = _fitting(text, spans, bound, room_bytes)
        quoted = quote_into(schema, text, spans)
        return {TEXT_FIELD: QUOTED + quoted[TEXT_FIELD]} if plain and told is None else quoted
    except Unfillable as error:
        return ModelError(
            code=ModelErrorCode.MALFORMED,
            message=(
                "no language model is configured, and offline rules cannot quote into this "
                f"output: {error}"
            )[:300],
        )


def _told(inputs: Mapping[str, Any]) -> str | None:
    """What a conversation is about: its current message, else its history, one entry a line; None
    where there is none.
    """
    message: Any = inputs.get("message")
    if message is not None:
        return message if isinstance(message, str) else None
    history: Any = inputs.get("history")
    entries = cast("Sequence[Any]", history) if isinstance(history, list | tuple) else ()
    contents = [
        cast("dict[str, Any]", entry).get("content") for entry in entries if isinstance(entry, dict)
    ]
    return (
        "\n".join(content for content in contents if isinstance(content, str)) if contents else None
    )


def _text_bound(schema: Mapping[str, Any], name: str) -> int | None:
    """How many characters the shape's text of this name may have; None where it has no such
    text.
    """
    properties: Any = schema.get("properties")
    part: Any = (
        cast("dict[str, Any]", properties).get(name) if isinstance(properties, dict) else None
    )
    if not isinstance(part, dict) or cast("dict[str, Any]", part).get("type") not in (
        "string",
        ["string", "null"],
    ):
        return None
    most: Any = cast("dict[str, Any]", part).get("maxLength")
    return min(most, CONTENT_MAX) if isinstance(most, int) else CONTENT_MAX


def _repeated(
    schema: Mapping[str, Any], told: str, who: str, bound: int
) -> dict[str, Any] | ModelError:
    """An answer to a person: that there is no model, and what was said, as far as it is short."""
    told = told.strip()
    if not told:
        return _nothing("nothing was said in words")
    most = min(_REPEATED_CHARS, bound - len(_REPEATS.format(who=who, said="")))
    if len(told) > most:
        told = told[: max(most - 1, 0)]
        told = (
            told.rsplit(None, 1)[0] if any(character.isspace() for character in told) else told
        ) + "…"
    return say_into(schema, "content", _REPEATS.format(who=who, said=told))


def _fitting(text: str, spans: tuple[Span, ...], bound: int, room_bytes: int) -> tuple[Span, ...]:
    """The first whole sentences that fit together, from the first one that fits at all; all of them
    where none does.
    """
    taken: list[Span] = []
    for span in spans:
        first = taken[0] if taken else span
        piece = text[first.start : span.end]
        if len(piece) <= bound and len(msgspec.json.encode(piece)) <= room_bytes:
            taken.append(span)
        elif taken:
            break
    return tuple(taken) or spans


def _material(given: Mapping[str, Any]) -> str:
    """The input's text; without one its lists, one item a line; without those its other texts.
    Options are no material.
    """
    text = given.get("text")
    if isinstance(text, str):
        return text
    lists: dict[str, Any] = {
        name: value for name, value in given.items() if isinstance(value, list)
    }
    texts: dict[str, Any] = {name: value for name, value in given.items() if isinstance(value, str)}
    return "\n".join(statements(lists or texts))


# --- a planner step -------------------------------------------------------------------------------


def next_step(inputs: Mapping[str, Any], room_bytes: int = ANSWER_BYTES) -> dict[str, Any]:
    """The directive for a planner's inputs; a report of results takes at most ``room_bytes``."""
    if inputs.get("reask"):
        return _finish(
            "The step was refused.",
            f"The last step was refused ({inputs['reask']}); offline rules have no other.",
        )
    called = _called(inputs.get("trace") or ())
    if called:
        return _report(called[-1], room_bytes)
    own = _own(inputs)
    tools = cast("Sequence[Mapping[str, Any]]", inputs.get("tools") or ())
    fillable = [
        (str(tool["tool_id"]), filled)
        for tool in tools
        if (filled := fill(tool.get("input_schema"), own.text, own.words)) is not None
    ]
    if len(fillable) != 1:
        return _without_a_call(tools, [tool_id for tool_id, _ in fillable])
    tool_id, filled = fillable[0]
    thought = f"Only {tool_id[:TOOL_ID_MAX]} can be called with what the request itself says."
    return {
        "thought": thought,
        "finish": False,
        "action": {"tool_id": tool_id, "input": filled},
        "final_answer": None,
    }


def _own(inputs: Mapping[str, Any]) -> _Own:
    facts = cast("Mapping[str, object]", inputs.get("facts") or {})
    history = cast("Sequence[Mapping[str, object]]", inputs.get("history") or ())
    spoken = [message.get("content") for message in history if message.get("role") == "user"]
    found: list[object] = [
        facts.get("text"),
        *spoken[-1:],
        inputs.get("user_message"),
        inputs.get("goal"),
    ]
    texts = [text for text in found if isinstance(text, str) and text.strip()]
    return _Own(texts[0] if texts else "", "\n".join(dict.fromkeys(texts)))


def _called(trace: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [step for step in trace if step.get("action") is not None]


def _without_a_call(tools: Sequence[Mapping[str, Any]], fillable: list[str]) -> dict[str, Any]:
    if fillable:
        why = (
            f"{len(fillable)} tools could be called with this request ({_names(fillable)}), and "
            "rules do not choose between them."
        )
    elif tools:
        names = _names([str(tool.get("tool_id")) for tool in tools])
        why = (
            "No tool was called: the request itself does not unambiguously give the required "
            f"arguments of any of {names}."
        )
    else:
        why = "The request offers no tools."
    return _finish(
        "Rules find no single call.",
        f"{why} No language model is configured, so nothing was worked out.",
    )


def _names(tool_ids: list[str]) -> str:
    shown = [tool_id[:_NAME_CHARS] for tool_id in tool_ids[:_LISTED]]
    return ", ".join(shown) + (
        f" and {len(tool_ids) - _LISTED} more" if len(tool_ids) > _LISTED else ""
    )


def _report(step: Mapping[str, Any], room_bytes: int) -> dict[str, Any]:
    """Finish with what the tool gave back, verbatim."""
    tool_id = str(step["action"].get("tool_id"))[:TOOL_ID_MAX]
    seen: Mapping[str, Any] = step.get("observation") or {}
    if seen.get("ok") is not True:
        problem: Any = seen.get("error")
        fields = cast("dict[str, Any]", problem) if isinstance(problem, dict) else {}
        code = f" ({str(fields['code'])[:_NAME_CHARS]})" if fields.get("code") else ""
        return _finish(
            f"{tool_id} failed.",
            f"{tool_id} failed{code}. Offline rules do not try again or choose another tool.",
        )
    output: Any = seen.get("output")
    found = statements(cast("dict[str, Any]", output)) if isinstance(output, dict) else []
    told = seen.get("llm_output")
    if not found and isinstance(told, str):
        found = statements({"text": told})
    if not found:
        return _finish(f"{tool_id} returned.", f"{tool_id} returned nothing that could be quoted.")
    return _finish(
        f"{tool_id} returned; its result is quoted.",
        _listing(tool_id, found, room_bytes),
        {"method": MARK, "tool_id": tool_id},
    )


def _listing(tool_id: str, found: list[str], room_bytes: int) -> str:
    """The statements as a list, as far as whole ones fit; what is left out is counted."""
    text = f"Quoted from the result of {tool_id}, not analysed:"
    for number, said in enumerate(found):
        bullet = f"\n- {said}"
        room_bytes -= len(msgspec.json.encode(bullet))
        if room_bytes < 0:
            return (
                f"{text}\n"
                f"({len(found) - number} more: they do not fit into an answer, see the trace)"
            )
        text += bullet
    return text


def _finish(thought: str, content: str, structured: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "thought": thought,
        "finish": True,
        "action": None,
        "final_answer": {"content": content, "structured": structured or {}},
    }
