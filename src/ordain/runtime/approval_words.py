"""What an approver is told: what will happen, in plain words made by code of what the verb
declares; then the exact arguments. No word of a model's but as a value.

A value stands there as JSON has it, with what could be taken for something else by its number
(``contracts.legible_text``). Nothing is left out unsaid: of what is too long for a line its length,
beginning and end are told, and the number of the exact call that has all of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from ordain.contracts.approvals import Subject
from ordain.contracts.catalog import Catalog
from ordain.contracts.legible_text import legible_json, legible_part, literal, name_text
from ordain.contracts.verbs import FREE_ROLES, ArgumentRole, VerbEffect, VerbSpec
from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked
from ordain.journal.records import ENCODER
from ordain.runtime.asking_run import NOTHING_BEFORE, AskedBefore
from ordain.runtime.handoff_words import further, handed, lead


class ToldLengths(Struct, frozen=True):
    """How long a value may be that is told whole, and how much is told of the beginning and the end
    of a longer one, in characters.
    """

    whole: int
    first: int
    last: int


ROOM, ROOM_OF_ROLE = ToldLengths(500, 300, 100), ToldLengths(4000, 3000, 500)
"""For what is said, and for what says whom or what it is about."""
NAME_CHARS = 100
ARGS_TOLD = 50
CALLS_TOLD = 20
TITLED = 5
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
NOT_TRACED = (
    "Where these arguments come from is not traced: a model may have taken them from anything "
    "that it read."
)
WHERE_UNDONE = "Where a later step fails, to undo the one above:"
UNKNOWN = "is none of this catalog's verbs"
FIXED = "as settings have it"
SURELY_DONE = (
    "  This very call happened before in this run or conversation, as an operator has found out "
    "since: it would happen again."
)
MAYBE_DONE = (
    "  This very call went out before in the same run, and nobody knows how that ended: it may "
    "have happened already, and would happen again."
)
MAYBE_ALIKE = (
    "  Another call of this verb went out before in the same run, and nobody knows how that "
    "ended: it may have happened already."
)
DONE_ELSEWHERE = (
    "  This very call went out before in another run of the same conversation, and nobody knows "
    "how that ended: it may have happened already, and would happen again."
)
ALIKE_ELSEWHERE = (
    "  Another call of this verb went out before in another run of the same conversation, and "
    "nobody knows how that ended: it may have happened already."
)
UNCONFIRMED_SAID = (
    "  No operator has confirmed what this verb declares, and of that these words are made."
)
PERHAPS_DONE = "(may have happened already) "
CUT = (
    "Not all of it stands here. Exact calls are shown whole by `ordain approvals show {0}`, and "
    "by GET /approvals/{0}."
)


def titled(asked: ApprovalAsked, before: AskedBefore = NOTHING_BEFORE) -> str:
    """It on one line, for a list: the verbs, and the workflow whose steps they are; those that
    would only undo are left out.

    That something of it may have happened already stands before that, where nothing cuts it off.
    """
    undo = set(asked.detail.get("undo", ()))
    verbs = [_name(call.verb) for number, call in enumerate(asked.calls) if number not in undo]
    named = ", ".join(verbs[:TITLED]) + (
        f" and {len(verbs) - TITLED} more" if len(verbs) > TITLED else ""
    )
    perhaps = PERHAPS_DONE if before.perhaps_done(asked.calls) else ""
    return (
        f"{perhaps}{_workflow(asked)}: {named}"
        if asked.subject is Subject.WORKFLOW
        else f"{perhaps}{named}"
    )


def told(
    asked: ApprovalAsked,
    catalog: Catalog,
    before: AskedBefore = NOTHING_BEFORE,
    *,
    approval: str = "",
) -> str:
    """All of what was asked for, on a few lines. Where there are several calls each has the number
    that it has among the exact ones.

    ``before`` has the calls that went out and of whose end nobody knows. ``approval`` is named
    where the exact calls do not stand beside it, and something is told in part: there all of it is
    to be seen.
    """
    undo = set(asked.detail.get("undo", ()))
    lines = [*_of_workflow(asked), *lead(asked)]
    for number, call in enumerate(asked.calls[:CALLS_TOLD], 1):
        lines += [WHERE_UNDONE] if number - 1 in undo else []
        lines += _call(asked, call, catalog, number)
        lines += [UNCONFIRMED_SAID] if call.verb in catalog.unconfirmed else []
        lines += _before(call, catalog, before)
    cut = [CUT.format(approval)] if approval and _is_cut(asked, catalog) else []
    beyond = range(CALLS_TOLD, len(asked.calls))
    return "\n".join(
        (
            *lines,
            *_further(asked.calls[CALLS_TOLD:]),
            *further(asked, beyond, catalog),
            *cut,
            NOT_TRACED,
        )
    )


def exact(call: Call) -> str:
    """The arguments of a call, all of them, on one line of JSON."""
    return legible_json(ENCODER.encode(call.args).decode())


def _of_workflow(asked: ApprovalAsked) -> list[str]:
    """What the calls are steps of; they run in this order, each after the one before it was
    done.
    """
    if asked.subject is not Subject.WORKFLOW:
        return []
    return [f"Workflow {_workflow(asked)}, in this order:"]


def _workflow(asked: ApprovalAsked) -> str:
    template, version = asked.detail.get("template", ""), asked.detail.get("version", 0)
    return f"{_name(str(template))}@{_name(str(version))}"


def _before(call: Call, catalog: Catalog, before: AskedBefore) -> list[str]:
    """That it, however it was spelled, or one like it may have happened already: the gravest that
    is known of it.
    """
    very = before.very((call,), catalog)
    if any(one.sure for one in very):
        return [SURELY_DONE]
    doubts = (before.unknown, before.elsewhere)
    exactly = [any(one in very for one in known) for known in doubts]
    alike = [any(one.call.verb == call.verb and not one.sure for one in known) for known in doubts]
    words = (MAYBE_DONE, DONE_ELSEWHERE, MAYBE_ALIKE, ALIKE_ELSEWHERE)
    return [line for holds, line in zip((*exactly, *alike), words, strict=True) if holds][:1]


def _is_cut(asked: ApprovalAsked, catalog: Catalog) -> bool:
    """Whether something of the exact calls is told in part, or by its number alone."""
    return len(asked.calls) > CALLS_TOLD or any(_is_call_cut(call, catalog) for call in asked.calls)


def _is_call_cut(call: Call, catalog: Catalog) -> bool:
    found = catalog.verbs.get(call.verb)
    if found is None or len(call.args) > ARGS_TOLD:
        return bool(call.args)
    return any(
        len(name) > NAME_CHARS or len(_text(value)) > _room(_role(found.spec, name)).whole
        for name, value in call.args.items()
    )


def _further(calls: tuple[Call, ...]) -> Iterator[str]:
    """The verbs of the calls that are not told, each with how often."""
    if calls:
        verbs = ", ".join(
            f"{_name(verb)} ({count})"
            for verb, count in Counter(call.verb for call in calls).items()
        )
        yield f"and exact calls {CALLS_TOLD + 1} to {CALLS_TOLD + len(calls)} besides: {verbs}"


def _call(asked: ApprovalAsked, call: Call, catalog: Catalog, number: int) -> Iterator[str]:
    found, counted = catalog.verbs.get(call.verb), "" if len(asked.calls) == 1 else f"{number}. "
    if found is None:
        yield f"{counted}{_name(call.verb)} {UNKNOWN}"
        return
    spec, card = found.spec, catalog.card_of(call.verb)
    does, *more = (
        [f"{DOES[spec.effect]}."] if card is None else handed(asked, card, number - 1, catalog)
    )
    yield f"{counted}{spec.name} {does}"
    yield from more
    names = _ordered(spec, call.args)
    for name in names[:ARGS_TOLD]:
        yield from _argument(spec, name, call.args[name], number)
    if (more := len(names) - ARGS_TOLD) > 0:
        yield f"  and {more} arguments more, which exact call {number} has"
    for name, value in sorted(catalog.data.fixed.get(spec.name, {}).items()):
        yield f"  {_name(name)} ({FIXED}): {literal(value)}"


def _argument(spec: VerbSpec, name: str, value: Any, number: int) -> Iterator[str]:
    """One argument; behind a value nothing stands on its line, whichever way that is read."""
    role = _role(spec, name)
    label = f"  {_name(name)}{f' ({role})' if role is not None else ''}"
    text, room = _text(value), _room(role)
    if len(text) <= room.whole:
        yield f"{label}: {literal(text) if text is value else legible_json(text)}"
        return
    kind = "characters" if text is value else "characters of JSON"
    yield (
        f"{label}, {len(text)} {kind}, all of which exact call {number} has; the first "
        f"{room.first} and the last {room.last}:"
    )
    for part in (text[: room.first], text[-room.last :]):
        yield f"    {literal(part) if text is value else legible_part(part)}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ENCODER.encode(value).decode()


def _role(spec: VerbSpec, name: str) -> ArgumentRole | None:
    return spec.arguments[name].role if name in spec.arguments else None


def _room(role: ArgumentRole | None) -> ToldLengths:
    return ROOM if role is None or role in FREE_ROLES else ROOM_OF_ROLE


def _name(name: str) -> str:
    if len(name) <= NAME_CHARS:
        return name_text(name)
    return f"{literal(name[:NAME_CHARS])} and {len(name) - NAME_CHARS} characters more of this name"


def _ordered(spec: VerbSpec, args: Mapping[str, Any]) -> list[str]:
    """Its arguments, first those that say whom or what it is about."""

    def free(name: str) -> bool:
        return name not in spec.arguments or spec.arguments[name].role in FREE_ROLES

    return sorted(args, key=lambda name: (free(name), name))
