"""The ledger seen from this side: starting its process, asking it, and the verbs that write to it
for the test user.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict

from ordain.contracts.verbs import ArgumentRole, Reconcile, Trust
from ordain.verbs.functions import FunctionVerb, VerbContext, VerbError, verb

SERVER = Path(__file__).with_name("ledger_server.py")
CALL_S = 30.0


@contextmanager
def ledger_process() -> Iterator[int]:
    """The server in a process of its own, for as long as the block lasts; gives its port."""
    with subprocess.Popen(
        [sys.executable, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()
            process.wait(10)


class Receipt(TypedDict):
    """What the ledger answers."""

    receipt: str


class Found(TypedDict):
    """What the ledger knows of a key."""

    happened: bool
    output: dict[str, str]


class Ledger:
    """One case of the server; ``boot`` counts the processes that play the case."""

    def __init__(self, port: int = 0, case: str = "", boot: int = 1) -> None:
        """Nothing is sent before the first call."""
        self.port, self.case, self.boot = port, case, boot

    def ask(
        self,
        method: str,
        path: str = "",
        body: dict[str, Any] | None = None,
        key: str = "",
        attempt: int = 1,
    ) -> Any:
        """One request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=CALL_S)
        try:
            headers = {
                "Idempotency-Key": key,
                "X-Attempt": str(attempt),
                "X-Boot": str(self.boot),
                "X-Pid": str(os.getpid()),
            }
            connection.request(
                method, f"/{self.case}{path}", None if body is None else json.dumps(body), headers
            )
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def prepare(self, *, kill: dict[str, Any] | None = None, hold: bool = False) -> None:
        """Say when the calling process is to be killed, and whether calls are held."""
        self.ask("PUT", body={"kill": kill, "hold": hold})

    def calls(self) -> list[dict[str, Any]]:
        """Every call that has arrived: verb, key, boot, text, applied, answered."""
        return self.ask("GET")["calls"]

    def let_go(self) -> None:
        """Answer what is held."""
        self.ask("DELETE")

    def write(self, kind: str, text: str, key: str, attempt: int = 1) -> Receipt:
        """Write to the ledger; a lost connection leaves the outcome open."""
        try:
            return self.ask("POST", f"/{kind}", {"text": text}, key, attempt)
        except OSError as error:
            raise VerbError("connection", "the ledger did not answer", happened=None) from error


def ledger_verbs(ledger: Ledger) -> list[FunctionVerb[..., Any]]:
    """Ways to write for the test user: repeatable, for others too, not repeatable, and not
    repeatable but answerable, with the answer; and one that fails.
    """

    @verb(
        effect="private",
        arguments={"text": ArgumentRole.CONTENT},
        output={"receipt": Trust.OWN},
        idempotent=True,
    )
    def note_put(text: str, context: VerbContext) -> Receipt:
        """Put a note into the ledger; the same key twice puts it once."""
        return ledger.write("note", text, context.key)

    @verb(effect="private", arguments={"text": ArgumentRole.CONTENT}, output={"receipt": Trust.OWN})
    def entry_add(text: str, context: VerbContext) -> Receipt:
        """Add an entry to the ledger; twice adds two."""
        return ledger.write("entry", text, context.key)

    @verb(
        effect="private",
        arguments={"text": ArgumentRole.CONTENT},
        output={"receipt": Trust.OWN},
        reconcile=Reconcile(verb="entry_find", voids=True),
    )
    def entry_book(text: str, context: VerbContext) -> Receipt:
        """Add an entry to a ledger that can be asked afterwards."""
        return ledger.write("entry", text, context.key, context.attempt)

    @verb(
        effect="send",
        arguments={"text": ArgumentRole.RECIPIENT},
        output={"receipt": Trust.OWN},
        idempotent=True,
    )
    def note_send(text: str, context: VerbContext) -> Receipt:
        """Put a note into the ledger that others read; the same key twice puts it once."""
        return ledger.write("note", text, context.key)

    @verb(effect="private", arguments={"text": ArgumentRole.CONTENT}, idempotent=True)
    def note_refuse(text: str) -> str:
        """Fail without having done anything."""
        raise VerbError("no_room", "the ledger is full", happened=False)

    @verb(effect="read")
    def entry_find(key: str, args: dict[str, str], attempt: int = 1) -> Found:
        """Say whether the entry with this key is in the ledger, and otherwise void the attempt and
        those before it.
        """
        return ledger.ask("GET", f"/entry/{key}/{attempt}")

    return [note_put, note_send, note_refuse, entry_add, entry_book, entry_find]
