"""The wire form of what a tool call gave: the superset observation of B-04. Pure."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from ordain.effects.results import (
    VerbFailed,
    VerbReturned,
    VerbTimedOut,
    VerbUnknown,
    VerbWithdrawn,
)
from ordain.flows.acted import Acted

TEXT_KEYS = ("text", "summary", "content", "result", "step", "message")


def observation(acted: Acted) -> dict[str, Any]:
    """``{ok, output, error?, llm_output, spark_meta, step_meta}``; ``llm_output`` is the output as
    text.
    """
    result = acted.result
    step_meta: dict[str, Any] = {"verb_name": acted.verb}
    if acted.child:
        step_meta["run_id"] = acted.child
        step_meta["steps_executed"] = sum(not step.skipped for step in acted.steps)
        step_meta["step_results"] = msgspec.to_builtins(acted.steps)
    if isinstance(result, VerbReturned):
        return {
            "ok": True,
            "output": result.output,
            "llm_output": as_text(result.output),
            "spark_meta": None,
            "step_meta": step_meta,
        }
    return {
        "ok": False,
        "output": acted.payload,
        "error": error_of(acted),
        "llm_output": None,
        "spark_meta": None,
        "step_meta": step_meta,
    }


def error_of(acted: Acted) -> dict[str, Any]:
    """``{code, message}`` of a call that did not return."""
    match acted.result:
        case VerbFailed(code=code, message=message):
            return {"code": code, "message": message}
        case VerbTimedOut(message=message):
            return {"code": "timed_out", "message": message}
        case VerbUnknown(message=message):
            return {"code": "outcome_unknown", "message": message}
        case VerbWithdrawn(message=message):
            return {"code": "withdrawn", "message": message}
        case VerbReturned():
            return {}


def as_text(output: dict[str, Any]) -> str:
    """A structured output as text: its list as bullets, its text field as it is, otherwise compact
    JSON.
    """
    quoted = "Quoted, not analysed:\n" if output.get("method") == "quoted" else ""
    for value in output.values():
        if isinstance(value, list) and (lines := _lines(cast("list[Any]", value))):
            return quoted + "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    for key in TEXT_KEYS:
        if isinstance(output.get(key), str):
            return quoted + output[key]
    return msgspec.json.encode(output).decode()


def _lines(items: list[Any]) -> list[str]:
    lines = [item if isinstance(item, str) else _line(item) for item in items]
    return [line for line in lines if line]


def _line(item: Any) -> str:
    if not isinstance(item, dict):
        return ""
    fields = cast("dict[str, Any]", item)
    for key in TEXT_KEYS:
        value = fields.get(key)
        if isinstance(value, str):
            return value
    return " ".join(value for value in fields.values() if isinstance(value, str))
