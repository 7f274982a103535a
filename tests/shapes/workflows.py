"""Workflow templates to be carried out in tests, and the desk on which their verbs leave what they
did.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ordain.contracts.verbs import ArgumentRole, Retry
from ordain.verbs.functions import FunctionVerb, VerbContext, VerbError, verb

TEXT = {"type": "string", "minLength": 1, "maxLength": 500}


def template(
    template_id: str, steps: list[dict[str, Any]], *, version: int = 1, **properties: Any
) -> dict[str, Any]:
    """A template whose arguments are these, ``text`` where none is named; all of them have to be
    given.
    """
    known = properties or {"text": TEXT}
    schema = {
        "type": "object",
        "properties": known,
        "required": sorted(known),
        "additionalProperties": False,
    }
    return {
        "id": template_id,
        "version": version,
        "description": f"{template_id}, for tests.",
        "schema": schema,
        "steps": steps,
    }


def step(verb_id: str, undone_by: str = "", **more: Any) -> dict[str, Any]:
    """A step of which ``text`` is the template's argument; undone by a verb that is given the
    same.
    """
    given = {"text": {"$arg": "text"}}
    made = {"verb": verb_id, "args": given, **more}
    return made | ({"compensate": {"verb": undone_by, "args": given}} if undone_by else {})


TEMPLATES: Mapping[str, dict[str, Any]] = {
    made["id"]: made
    for made in (
        template(
            "note_twice", [step("note_down"), {"verb": "note_down", "args": {"text": "and again"}}]
        ),
        template("announce", [step("note_down", "note_back"), step("send_out")]),
        template(
            "send_and_break", [step("note_down", "note_back"), step("send_out"), step("break_off")]
        ),
        template(
            "fragile",
            [
                step("note_down", "note_back"),
                step("note_more", "note_back"),
                step("break_off"),
                step("note_down"),
            ],
        ),
        template(
            "half_undone",
            [step("note_down", "note_back"), step("note_more", "break_off"), step("break_off")],
        ),
        template("lost", [step("note_down", "note_back"), step("get_lost"), step("note_more")]),
        template("slow", [step("note_down", "note_back"), step("hold_on"), step("note_more")]),
        template("patient", [step("third_time", retry={"max_attempts": 2})]),
        template("pay_off", [step("pay_out")]),
    )
}


LEDGER: Mapping[str, dict[str, Any]] = {
    made["id"]: made
    for made in (
        template("tell_all", [step("note_put"), step("note_send")]),
        template(
            "try_to_tell", [step("note_put", "entry_book"), step("note_send"), step("note_refuse")]
        ),
    )
}
"""Of the verbs that write to the ledger: one that comes to its end, and one whose last step
fails.
"""


def write_templates(home: Path, templates: Mapping[str, Any] = TEMPLATES) -> None:
    """The files of a data folder; JSON is YAML."""
    folder = home / "workflows"
    if templates:
        folder.mkdir(parents=True, exist_ok=True)
    for name, made in templates.items():
        (folder / f"{name}.yaml").write_text(json.dumps(made))


class Desk:
    """What the verbs did, in order: (verb, text); ``gate`` lets go of what holds on."""

    def __init__(self) -> None:
        """Nothing lies on it."""
        self.did: list[tuple[str, str]] = []
        self.holding = asyncio.Event()
        self.gate = asyncio.Event()

    @property
    def verbs(self) -> list[FunctionVerb[..., Any]]:
        """Verbs that leave something here."""
        did, content = self.did, {"text": ArgumentRole.CONTENT}

        def private(name: str) -> FunctionVerb[..., Any]:
            def leave(text: str) -> str:
                """Leave a note."""
                did.append((name, text))
                return text

            leave.__name__ = name
            return verb(effect="private", arguments=content)(leave)

        @verb(effect="send", arguments={"text": ArgumentRole.RECIPIENT})
        def send_out(text: str) -> str:
            """Send a text to others."""
            did.append(("send_out", text))
            return text

        @verb(effect="pay", arguments={"text": ArgumentRole.RECIPIENT})
        def pay_out(text: str) -> str:
            """Pay somebody."""
            did.append(("pay_out", text))
            return text

        @verb(effect="private", arguments=content)
        def break_off(text: str) -> str:
            """Fail, and say so at length."""
            raise VerbError("no_ink", f"there is no ink for it: {'x y ' * 225}", happened=False)

        @verb(effect="private", arguments=content)
        def get_lost(text: str) -> str:
            """Fail, and nobody knows how far it got."""
            did.append(("get_lost", text))
            raise VerbError("connection", "nobody knows", happened=None)

        @verb(effect="private", arguments=content)
        async def hold_on(text: str) -> str:
            """Take until the gate is open."""
            self.holding.set()
            await self.gate.wait()
            did.append(("hold_on", text))
            return text

        @verb(effect="private", arguments=content, retry=Retry(max_attempts=3), idempotent=True)
        def third_time(text: str, context: VerbContext) -> str:
            """Keep a text at the third attempt."""
            did.append(("third_time", str(context.attempt)))
            if context.attempt < 3:
                raise VerbError("not_yet", "later", retryable=True, happened=False)
            return text

        noted = [private(name) for name in ("note_down", "note_more", "note_back")]
        return [*noted, send_out, pay_out, break_off, get_lost, hold_on, third_time]
