"""What does an endpoint really do? Asks it, and believes only what comes back.

A native schema is proven by a value that plain text would not give: the probe's schema permits one
word that the prompt never mentions. Tools are proven by a call of the one tool that was offered,
whose input fits its schema. What an endpoint declares about itself is not asked.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

import msgspec

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile, Structured
from ordain.contracts.schema import Schema
from ordain.ports.model import ByCode, ModelError, ModelPort, ModelReply, ModelRequest

PROBE_TOKENS = 256
_WORD = "kestrel-4417"
PROBE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": [_WORD]}},
    "required": ["word"],
    "additionalProperties": False,
}
_NOT_REACHED = frozenset(
    {ModelErrorCode.CONNECTION, ModelErrorCode.TIMED_OUT, ModelErrorCode.ADAPTER_BUG}
)
_SCHEMA_FAULTS = frozenset(
    {ModelErrorCode.REJECTED, ModelErrorCode.SERVER_ERROR, ModelErrorCode.MALFORMED}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """What was found. None means: not asked, because there is no endpoint or it gave no answer
    before.
    """

    profile: str
    provider: str
    endpoint: str | None
    asked_model: str
    reachable: bool
    error: ModelErrorCode | None = None
    message: str | None = None
    answering_model: str | None = None
    native_schema: bool | None = None
    declared: Structured | None = None
    """How the profile has its answers held to their schema; None without an endpoint."""
    tools: bool | None = None
    usage: bool | None = None
    notice: str | None = None
    calls: int = 0
    duration_ms: int = 0

    @property
    def ok(self) -> bool:
        """Whether the profile can be used as it is configured."""
        return self.error is None and self._holds(self.declared) is not False

    def _holds(self, way: Structured | None) -> bool | None:
        """Whether the endpoint does what this way needs."""
        return (
            {Structured.NATIVE: self.native_schema, Structured.TOOL: self.tools}.get(way)
            if way is not None
            else None
        )

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**asdict(self), "ok": self.ok}

    def lines(self) -> tuple[str, ...]:
        """For people, one fact a line."""
        found = [
            f"profile {self.profile}: provider {self.provider}, model {self.asked_model}",
            f"endpoint: {self.endpoint or 'none'}",
        ]
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
        if self._holds(self.declared) is False:
            does = (
                "call the tool that it is given"
                if self.declared is Structured.TOOL
                else "enforce a schema"
            )
            instead = next(
                (way for way in (Structured.NATIVE, Structured.TOOL) if self._holds(way)),
                Structured.TEXT,
            )
            found.append(
                f'set structured = "{instead}" in profile {self.profile}: the endpoint does not '
                f"{does}"
            )
        if self.declared is Structured.TEXT and self.native_schema:
            found.append(f'profile {self.profile} could set structured = "native"')
        return tuple(found)


def _word(fact: bool | None) -> str:
    return "not asked" if fact is None else "yes" if fact else "no"


async def examine(name: str, profile: ModelProfile, model: ModelPort) -> DoctorReport:
    """Ask the model behind a profile; at most three short calls, fewer where the first one fails.
    Never raises for what it meets.
    """
    started = time.monotonic()
    url: str | None = getattr(model, "url", None)  # what is asked over a network says where
    report = DoctorReport(
        profile=name,
        provider=profile.provider,
        endpoint=url,
        asked_model=profile.model,
        reachable=True,
        declared=None if url is None else profile.held_by,
    )
    found = await (_embedded(profile, model) if url is None else _endpoint(profile, model))
    duration_ms = round((time.monotonic() - started) * 1000)
    return replace(report, **found, duration_ms=duration_ms)


async def _embedded(profile: ModelProfile, model: ModelPort) -> dict[str, Any]:
    answer = await model.attempt(probe_request(profile, PROBE_SCHEMA))
    if isinstance(answer, ModelError):
        return {"calls": 1, "error": answer.code, "message": answer.message}
    return {
        "calls": 1,
        "answering_model": answer.model,
        "notice": answer.notice,
        "usage": answer.input_tokens is not None,
    }


async def _endpoint(profile: ModelProfile, model: ModelPort) -> dict[str, Any]:
    answer = await model.attempt(probe_request(_held(profile, Structured.NATIVE), PROBE_SCHEMA))
    calls, native = 1, isinstance(answer, ModelReply) and fits_probe(answer.text)
    if isinstance(answer, ModelError) and answer.code in _SCHEMA_FAULTS:
        calls += 1  # it may refuse only the schema
        answer = await model.attempt(
            probe_request(_held(profile, Structured.TEXT), {"type": "object"})
        )
    if isinstance(answer, ModelError):
        return {
            "calls": calls,
            "reachable": answer.code not in _NOT_REACHED,
            "error": answer.code,
            "message": answer.message,
        }
    called = await model.attempt(probe_request(_held(profile, Structured.TOOL), PROBE_SCHEMA))
    return {
        "calls": calls + 1,
        "answering_model": answer.model,
        "native_schema": native,
        "tools": isinstance(called, ModelReply) and fits_probe(called.text),
        "usage": answer.input_tokens is not None and answer.output_tokens is not None,
    }


def _held(profile: ModelProfile, way: Structured) -> ModelProfile:
    return profile.model_copy(update={"structured": way})


def probe_request(profile: ModelProfile, schema: dict[str, Any]) -> ModelRequest:
    """The probe's question: short, cheap, and never answered as ``PROBE_SCHEMA`` wants it by plain
    text.
    """
    return ModelRequest(
        profile=profile,
        purpose="probe",
        by_code=ByCode.STEP,
        system="Answer with one JSON object.",
        user="Name a bird.",
        schema_name="doctor_probe",
        schema=schema,
        max_tokens=PROBE_TOKENS,
        timeout_s=profile.timeout_ms / 1000,
        inputs={"goal": "Name a bird.", "tools": [], "trace": []},
        index=0,
    )


def fits_probe(text: str) -> bool:
    """Whether an answer is of ``PROBE_SCHEMA``."""
    try:
        return Schema(PROBE_SCHEMA).accepts(msgspec.json.decode(text))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
