"""What an embedder is given back: a plan's answer, a verb's reply and a council's with names and
types, over the response that goes over the wire.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import msgspec
from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic_core import ErrorDetails

from ordain.contracts.council import CouncilResult
from ordain.contracts.planner import TEXT_MAX, PlanErrorBody, PlannerRequest, TraceStep, Usage
from ordain.contracts.visible import visible_line
from ordain.errors import CallerError

T = TypeVar("T")
_USAGE, _TRACE = TypeAdapter(Usage), TypeAdapter(list[TraceStep])
UNFIT_TOLD, UNFIT_CHARS = 10, 300
"""Of what a type's own checks say of an answer so many, and of each so many characters, are
told.
"""
AGAIN = ":again"
"""Follows the id of a request in that of the one that asks again: who repeats the first is given
the same answer.
"""
SHOWN_CHARS = 200
"""So many characters of each part of a result stand in its ``repr``."""
NOT_SCHEMA = frozenset({"$defs"})
DEFINED = "#/$defs/"


@dataclass(frozen=True, repr=False)
class _Told:
    """What every result has; ``wire`` is the response as it goes over HTTP."""

    wire: dict[str, Any]

    def __repr__(self) -> str:
        """What it came to, in one line: whoever prints it sees that something failed, and why."""
        error = self.error
        parts = {
            "verdict": self.verdict,
            "content": getattr(self, "content", ""),
            "output": getattr(self, "output", None),
            "error": "" if error is None else f"{error.code}: {error.message}",
            "run_id": self.run_id,
        }
        told = ", ".join(f"{name}={_short(value)}" for name, value in parts.items() if value)
        return f"{type(self).__name__}({told})"

    @property
    def run_id(self) -> str:
        """The run, as `ordain runs show` finds it."""
        return str(self.wire.get("run_id") or "")

    @property
    def request_id(self) -> str:
        """The request's id, the caller's own or the run's; "" where there is none."""
        return str(self.wire.get("request_id") or "")

    @property
    def header(self) -> str:
        """What really happened, written by code."""
        return str(self.wire.get("header") or "")

    @property
    def verdict(self) -> str:
        """What the work came to, as the header opens ("ok", "partial", ...); "" of what was not
        judged.
        """
        return str(self.wire.get("verdict") or "")

    @property
    def error(self) -> PlanErrorBody | None:
        """Why it is not ok; None where it is."""
        told = self.wire.get("error")
        return (
            None
            if told is None
            else PlanErrorBody(
                code=str(told["code"]), message=str(told["message"]), remedy=told.get("remedy")
            )
        )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"


@dataclass(frozen=True, repr=False)
class PlanResult(_Told, Generic[T]):
    """What a planning request came to. ``output`` is the answer's structured part: of the type that
    was asked for, None where the run failed.
    """

    output: T | None = None

    @property
    def ok(self) -> bool:
        """Whether there is an answer that counts."""
        return self.status == "ok"

    @property
    def status(self) -> str:
        """``ok``, ``error`` or ``timeout``."""
        return str(self.wire["status"])

    @property
    def content(self) -> str:
        """The answer in words; of a run that failed what was salvaged, "" where there is
        nothing.
        """
        answer = self.wire.get("final_answer")
        return "" if answer is None else str(answer["content"])

    @property
    def usage(self) -> Usage:
        """Steps, tokens and time."""
        return _USAGE.validate_python(self.wire["usage"])

    @property
    def trace(self) -> list[TraceStep]:
        """The steps, empty where the request wanted none or they were erased."""
        return _TRACE.validate_python(self.wire.get("trace") or [])


@dataclass(frozen=True, repr=False)
class CallResult(_Told, Generic[T]):
    """What calling a verb came to. ``output`` is what it returned, of the type that was asked for;
    None where it failed.

    Of work that was handed on and failed it is ``{status, mode, failure}``, where no type was asked
    for: ``failure`` names the run with the trace.
    """

    output: T | None = None

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return bool(self.wire["ok"])


@dataclass(frozen=True, repr=False)
class DeliberationResult(_Told):
    """What a council came to."""

    @property
    def ok(self) -> bool:
        """Whether there is an answer that counts: one that a verdict accepted, or the agent chain's
        that a verdict called for.
        """
        return self.wire["status"] == "ok"

    @property
    def next(self) -> str:
        """What its last verdict has done (`accept_text`, `revise`, ...); "" where there was
        none.
        """
        return str(self.wire.get("next") or "")

    @property
    def content(self) -> str:
        """That answer in words; "" where there is none."""
        if (chain := self.wire.get("chain")) is not None:
            return str(chain["content"])
        return "" if self.result is None else self.result.final_text

    @property
    def result(self) -> CouncilResult | None:
        """All of it: opinions, judgement, verdict, rounds; None where it failed before."""
        found = self.wire.get("result")
        return None if found is None else msgspec.convert(found, CouncilResult)


def answer_schema(output_type: type[Any]) -> dict[str, Any]:
    """The JSON Schema of a Pydantic model, a dataclass or a TypedDict, without references, as a
    request may carry it.

    Raises:
        CallerError: it has none, is no object, or refers to itself.
    """
    schema = _adapter(output_type).json_schema()
    whole = _inlined(schema, schema.get("$defs", {}), ())
    if whole.get("type") != "object":
        raise CallerError(
            f"{_name(output_type)} is no model, dataclass or TypedDict: an answer is an object",
            code="output_type",
        )
    return whole


def _inlined(part: Any, defined: Mapping[str, Any], within: tuple[str, ...]) -> Any:
    if isinstance(part, list):
        return [_inlined(one, defined, within) for one in cast("list[Any]", part)]
    if not isinstance(part, dict):
        return part
    members = cast("dict[str, Any]", part)
    if isinstance(named := members.get("$ref"), str) and named.startswith(DEFINED):
        name = named.removeprefix(DEFINED)
        if name in within:
            raise CallerError(
                f"type {name} refers to itself: no answer can be asked for so", code="output_type"
            )
        found = _inlined(defined[name], defined, (*within, name))
        return {**found, **{key: value for key, value in members.items() if key != "$ref"}}
    return {
        key: _inlined(value, defined, within)
        for key, value in members.items()
        if key not in NOT_SCHEMA
    }


def read_as(output_type: type[T], value: object, run: str) -> T:
    """What a run came to as the type; ``run`` stands in the details of a refusal, whose result can
    be had there.

    Raises:
        CallerError: ``output_mismatch``: it fits the type's JSON Schema and not the type, whose own
            checks say more; they stand in the details, if it was these that refused it (``unfit``).
            ``output_type`` as above.
    """
    adapter = _adapter(output_type)
    unfit: list[str] = []
    try:
        return adapter.validate_json(json.dumps(value))
    except ValidationError as error:
        unfit = [
            _unfit(one)
            for one in error.errors(include_url=False, include_context=False, include_input=False)[
                :UNFIT_TOLD
            ]
        ]
        found, cause = f"{error.error_count()} of its checks fail: {'; '.join(unfit)}", error
    except Exception as error:  # a type's own code may raise anything
        found, cause = f"its own code raises {type(error).__name__}", error
    message = f"the output of run {run} is no {_name(output_type)}: {found}"
    raise CallerError(
        message, code="output_mismatch", details={"run": run, **({"unfit": unfit} if unfit else {})}
    ) from cause


def _unfit(error: ErrorDetails) -> str:
    place = ".".join(map(str, error["loc"]))
    return visible_line(f"{place}: {error['msg']}" if place else error["msg"], UNFIT_CHARS)


def asked_again(
    request: PlannerRequest, answer: object, refused: CallerError
) -> PlannerRequest | None:
    """The request that asks once more for an answer which only the type's own checks refuse; None
    where there is no room to say why, or those checks broke.

    It has no tools: what was done is done, and is not done again. What was answered and what does
    not fit stand among its facts, which are material.
    """
    unfit = refused.details.get("unfit")
    if not unfit:
        return None
    said = "\n".join(
        (
            (
                f"Run {refused.details['run']} answered this request, and its answer's "
                "`structured` "
                "was refused:"
            ),
            json.dumps(answer, ensure_ascii=False),
            "What does not fit in it:",
            *(f"- {one}" for one in cast("list[str]", unfit)),
            "Finish with the answer in which it does. No tool is left.",
        )
    )
    given, facts = request.model_dump(exclude_unset=True), request.context.external_facts
    text = said if facts.text is None else f"{facts.text}\n\n{said}"
    if len(text) > TEXT_MAX:
        return None
    again = f"{request.request_id}{AGAIN}" if request.request_id else None
    context = {
        **given.get("context", {}),
        "external_facts": {**facts.model_dump(exclude_unset=True), "text": text},
    }
    try:
        return PlannerRequest.model_validate(
            {**given, "request_id": again, "toolset": [], "context": context}
        )
    except ValidationError:  # its id is as long as one may be
        return PlannerRequest.model_validate(
            {**given, "request_id": None, "toolset": [], "context": context}
        )


def _adapter(output_type: type[T]) -> TypeAdapter[T]:
    try:
        adapter = TypeAdapter(output_type)
        adapter.json_schema()
    except PydanticUserError as error:
        raise CallerError(
            f"{_name(output_type)} has no JSON Schema: {error.message}", code="output_type"
        ) from error
    except RecursionError as error:
        raise CallerError(
            f"{_name(output_type)} nests too deep to be asked for", code="output_type"
        ) from error
    return adapter


def _name(output_type: type[Any]) -> str:
    return getattr(output_type, "__name__", str(output_type))
