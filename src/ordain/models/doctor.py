"""What does an endpoint really do? Asks it, and believes only what comes back.

A native schema is proven by a value that plain text would not give: the probe's schema permits one word that the prompt never mentions.
Tools are proven by a tool call that comes back. What an endpoint declares about itself is not asked.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

import msgspec

from ordain.contracts.catalog import Schema
from ordain.contracts.policy import ModelErrorCode, ModelProfile
from ordain.models.openai import OpenAIModel
from ordain.ports.model import ModelError, ModelPort, ModelReply, ModelRequest

PROBE_TOKENS = 256
_WORD = "kestrel-4417"
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": [_WORD]}},
    "required": ["word"],
    "additionalProperties": False,
}
_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Looks up the weather of a place.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"], "additionalProperties": False},
    },
}
_NOT_REACHED = frozenset({ModelErrorCode.CONNECTION, ModelErrorCode.TIMED_OUT, ModelErrorCode.ADAPTER_BUG})
_SCHEMA_FAULTS = frozenset({ModelErrorCode.REJECTED, ModelErrorCode.SERVER_ERROR, ModelErrorCode.MALFORMED})


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """What was found. None means: not asked, because there is no endpoint or it gave no answer before."""

    profile: str
    provider: str
    endpoint: str | None
    asked_model: str
    reachable: bool
    error: ModelErrorCode | None = None
    message: str | None = None
    answering_model: str | None = None
    native_schema: bool | None = None
    declared_native_schema: bool = True
    tools: bool | None = None
    usage: bool | None = None
    notice: str | None = None
    calls: int = 0
    duration_ms: int = 0

    @property
    def ok(self) -> bool:
        """Whether the profile can be used as it is configured."""
        return self.error is None and not (self.declared_native_schema and self.native_schema is False)

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**asdict(self), "ok": self.ok}

    def lines(self) -> tuple[str, ...]:
        """For people, one fact a line."""
        found = [f"profile {self.profile}: provider {self.provider}, model {self.asked_model}", f"endpoint: {self.endpoint or 'none'}"]
        if self.error is not None:
            reached = "reached, but it answered" if self.reachable else "not reached:"
            return (*found, f"{reached} {self.error}: {self.message}")
        if self.notice is not None:
            return (*found, f"answers: {self.notice}")
        found += [
            f"answers as: {self.answering_model}",
            f"native schema: {_word(self.native_schema)}",
            f"tools: {_word(self.tools)}",
            f"token counts: {_word(self.usage)}",
            f"{self.calls} calls, {self.duration_ms} ms",
        ]
        if self.declared_native_schema and self.native_schema is False:
            found.append(f"set native_schema = false in profile {self.profile}: the endpoint does not enforce a schema")
        if not self.declared_native_schema and self.native_schema:
            found.append(f"profile {self.profile} could set native_schema = true")
        return tuple(found)


def _word(fact: bool | None) -> str:
    return "not asked" if fact is None else "yes" if fact else "no"


async def examine(name: str, profile: ModelProfile, model: ModelPort) -> DoctorReport:
    """Ask the model behind a profile; at most three short calls, fewer where the first one fails. Never raises for what it meets."""
    started = time.monotonic()
    probe = model if isinstance(model, OpenAIModel) else None
    report = DoctorReport(
        profile=name,
        provider=profile.provider,
        endpoint=probe.url if probe else None,
        asked_model=profile.model,
        reachable=True,
        declared_native_schema=profile.native_schema and probe is not None,
    )
    found = await (_endpoint(profile, probe) if probe else _embedded(profile, model))
    duration_ms = round((time.monotonic() - started) * 1000)
    return replace(report, **found, duration_ms=duration_ms)


async def _embedded(profile: ModelProfile, model: ModelPort) -> dict[str, Any]:
    answer = await model.attempt(_request(profile, _SCHEMA))
    if isinstance(answer, ModelError):
        return {"calls": 1, "error": answer.code, "message": answer.message}
    return {"calls": 1, "answering_model": answer.model, "notice": answer.notice, "usage": answer.input_tokens is not None}


async def _endpoint(profile: ModelProfile, model: OpenAIModel) -> dict[str, Any]:
    answer = await model.attempt(_request(profile.model_copy(update={"native_schema": True}), _SCHEMA))
    calls, native = 1, isinstance(answer, ModelReply) and _fits(answer.text)
    if isinstance(answer, ModelError) and answer.code in _SCHEMA_FAULTS:
        calls += 1  # it may refuse only the schema
        answer = await model.attempt(_request(profile.model_copy(update={"native_schema": False}), {"type": "object"}))
    if isinstance(answer, ModelError):
        return {"calls": calls, "reachable": answer.code not in _NOT_REACHED, "error": answer.code, "message": answer.message}
    return {
        "calls": calls + 1,
        "answering_model": answer.model,
        "native_schema": native,
        "tools": await _calls_tools(profile, model),
        "usage": answer.input_tokens is not None and answer.output_tokens is not None,
    }


def _request(profile: ModelProfile, schema: dict[str, Any]) -> ModelRequest:
    return ModelRequest(
        profile=profile,
        purpose="planner",
        system="Answer with one JSON object.",
        user="Name a bird.",
        schema_name="doctor_probe",
        schema=schema,
        max_tokens=PROBE_TOKENS,
        timeout_s=profile.timeout_ms / 1000,
        inputs={"goal": "Name a bird.", "tools": [], "trace": []},
        index=0,
        key="doctor",
    )


def _fits(text: str) -> bool:
    try:
        return Schema(_SCHEMA).accepts(msgspec.json.decode(text))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


async def _calls_tools(profile: ModelProfile, model: OpenAIModel) -> bool:
    body = msgspec.json.encode(
        {
            "model": profile.model,
            "messages": [{"role": "user", "content": "What is the weather in Lisbon? Use the tool."}],
            "tools": [_TOOL],
            "tool_choice": "auto",
            model.length_key: min(PROBE_TOKENS, profile.max_tokens),
        }
    )
    answer = await model.post(body, profile.timeout_ms / 1000)
    if isinstance(answer, ModelError) or answer.body is None or answer.status != 200:
        return False
    return _has_tool_call(answer.body)


class _Function(msgspec.Struct):
    name: str
    arguments: str


class _ToolCall(msgspec.Struct):
    function: _Function


class _Message(msgspec.Struct):
    tool_calls: list[_ToolCall] | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Answer(msgspec.Struct):
    choices: list[_Choice]


def _has_tool_call(body: bytes) -> bool:
    """Whether the answer calls the probe's tool with arguments that fit it."""
    try:
        calls = [call for choice in msgspec.json.decode(body, type=_Answer).choices for call in choice.message.tool_calls or ()]
        shape = Schema(_TOOL["function"]["parameters"])
        return any(call.function.name == "look_up" and shape.accepts(msgspec.json.decode(call.function.arguments)) for call in calls)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
