"""A folder whose verb sends something, and so needs somebody's yes; what it sent; and asking for
it.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from tests.e2e.process import PATIENCE_S, Server
from tests.e2e.talking import begin
from tests.shapes.workflows import template, write_templates

JSON_BODY = {"Content-Type": "application/json"}
SENDS = '''"""Sends a text: a line in a file of this folder; it holds on while there is a file `hold`."""

import asyncio
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ordain import verb
from ordain.contracts.verbs import Argument, ArgumentRole

HOME = Path({home!r})
Text = Annotated[str, Field(min_length=1, max_length=500)]


@verb(
    name="note.send",
    effect="send",
    arguments={{"to": Argument(role=ArgumentRole.RECIPIENT), "text": Argument(role=ArgumentRole.CONTENT)}},
    idempotent=True,
    timeout_ms=60_000,
)
async def note_send(to: Text, text: Text) -> str:
    """Send a text to somebody."""
    while (HOME / "hold").exists():
        await asyncio.sleep(0.02)
    with (HOME / "sent.txt").open("a") as file:
        file.write(f"{{to}}: {{text}}\\n")
    return text
'''
ANNOUNCE = template(
    "announce",
    [
        {
            "verb": "mail.draft",
            "args": {"to": ["ada@example.org"], "subject": "News", "body": {"$arg": "text"}},
        },
        {"verb": "note.send", "args": {"to": "ada@example.org", "text": {"$arg": "text"}}},
    ],
)


def furnish(home: Path) -> Path:
    """The verb ``note.send`` and the workflow ``announce``."""
    (home / "verbs").mkdir(parents=True, exist_ok=True)
    (home / "verbs" / "note_send.py").write_text(SENDS.format(home=str(home)), encoding="utf-8")
    (home / "ordain.toml").write_text("[verbs]\npython = true\n", encoding="utf-8")
    write_templates(home, {"announce": ANNOUNCE})
    return home


def sent(home: Path) -> list[str]:
    """What was sent, in order."""
    file = home / "sent.txt"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def clear(server: Server) -> None:
    """Nothing is open, granted or sent."""
    for item in server.http.get("/approvals").json()["approvals"]:
        decide(server, item, "deny")
    for grant in server.http.get("/grants").json()["grants"]:
        server.http.post(f"/grants/{grant['grantId']}/revoke", json={})
    (server.home / "sent.txt").unlink(missing_ok=True)


def announce(server: Server, session: str, text: str = "tea") -> str:
    """A message that names the workflow; where its answer will be."""
    return begin(
        server,
        "announce it",
        session,
        hints={"workflow": {"template": "announce", "args": {"text": text}}},
    )


def ask_to_send(server: Server, text: str = "tea", **headers: str) -> str:
    """A verb call outside any session whose caller does not wait; the run."""
    body = {"verb_id": "note.send", "payload": {"to": "ada@example.org", "text": text}}
    response = server.http.post(
        "/verbs/execute", json=body, headers={"Prefer": "respond-async", **headers}
    )
    assert response.status_code == 202, response.text
    return str(response.json()["run_id"])


def open_approvals(server: Server, count: int = 1, **headers: str) -> list[dict[str, Any]]:
    """The approvals that are open, the latest first, once there are so many."""
    deadline = time.monotonic() + PATIENCE_S
    while len(found := server.http.get("/approvals", headers=headers).json()["approvals"]) != count:
        assert time.monotonic() < deadline, json.dumps(found)
        time.sleep(0.02)
    return found


def decide(
    server: Server,
    item: dict[str, Any],
    word: str = "approve",
    *,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> Any:
    """Say yes or no to it."""
    body = {"digest": item["digest"], **more}
    return server.http.post(
        f"/approvals/{item['approval_id']}/{word}", json=body, headers=headers or {}
    )
