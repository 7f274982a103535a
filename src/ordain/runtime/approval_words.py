"""What an approver is told: what will happen, in plain words made by code of what the verb declares; then the exact arguments. No word of a model's but as a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from ordain.contracts.approvals import Subject
from ordain.contracts.catalog import Catalog
from ordain.contracts.verbs import FREE_ROLES, VerbEffect, VerbSpec
from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked
from ordain.journal.records import ENCODER
from ordain.rules.header import plain, quoted

VALUE_CHARS = 200
CALLS_TOLD = 20
DOES: Mapping[VerbEffect, str] = MappingProxyType(
    {
        VerbEffect.READ: "reads",
        VerbEffect.PRIVATE: "changes what is the user's own here",
        VerbEffect.EGRESS: "sends its arguments out of this system, to read something",
        VerbEffect.SEND: "sends something to others, or changes something elsewhere",
        VerbEffect.ADMIN: "changes settings or rights elsewhere",
        VerbEffect.PAY: "pays: money moves, and that cannot be undone",
        VerbEffect.DELETE: "deletes, which cannot be undone",
        VerbEffect.SECRET: "uses or changes a secret",
    }
)
NOT_TRACED = "Where these arguments come from is not traced: a model may have taken them from anything that it read."
WHERE_UNDONE = "Where a later step fails, to undo the one above:"
UNKNOWN = "is none of this catalog's verbs"


def told(asked: ApprovalAsked, catalog: Catalog) -> str:
    """All of what was asked for, on a few lines."""
    undo = set(asked.detail.get("undo", ()))
    lines = _of_workflow(asked)
    for number, call in enumerate(asked.calls[:CALLS_TOLD]):
        lines += [WHERE_UNDONE] if number in undo else []
        lines += _lines(call, catalog)
    if (more := len(asked.calls) - CALLS_TOLD) > 0:
        lines.append(f"and {more} calls more")
    return "\n".join((*lines, NOT_TRACED))


def _of_workflow(asked: ApprovalAsked) -> list[str]:
    """What the calls are steps of; they run in this order, each after the one before it was done."""
    if asked.subject is not Subject.WORKFLOW:
        return []
    template, version = plain(str(asked.detail.get("template", "")), VALUE_CHARS), asked.detail.get("version", 0)
    return [f"Workflow {template}@{version}, in this order:"]


def _lines(call: Call, catalog: Catalog) -> Iterable[str]:
    found = catalog.verbs.get(call.verb)
    if found is None:
        yield f"{plain(call.verb, VALUE_CHARS)} {UNKNOWN}"
        return
    spec = found.spec
    yield f"{spec.name} {DOES[spec.effect]}."
    for name in _ordered(spec, call.args):
        role = spec.arguments[name].role if name in spec.arguments else None
        yield f"  {plain(name, VALUE_CHARS)}{f' ({role})' if role is not None else ''}: {quoted(_value(call.args[name]), VALUE_CHARS)}"


def _ordered(spec: VerbSpec, args: Mapping[str, Any]) -> list[str]:
    """Its arguments, first those that say whom or what it is about."""

    def free(name: str) -> bool:
        return name not in spec.arguments or spec.arguments[name].role in FREE_ROLES

    return sorted(args, key=lambda name: (free(name), name))


def _value(value: Any) -> str:
    return value if isinstance(value, str) else ENCODER.encode(value).decode()
