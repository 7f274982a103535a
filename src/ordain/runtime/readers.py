"""What ``Read`` effects read: named views of shared state, as durable now. Their values are recorded, so they are small and whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ordain.flows.history import READ_HISTORY
from ordain.flows.triage import READ_THREADS
from ordain.flows.turn import READ_RUN
from ordain.ports.sessions import Sessions
from ordain.ports.store import JournalStore, StoredRun
from ordain.rules.header import render_header
from ordain.runtime.retrospect import open_question, so_far
from ordain.runtime.services import Reader

THREADS_SHOWN = 6
LINES_SHOWN = 40
FAILURES_SHOWN = 3


def readers(store: JournalStore, sessions: Sessions) -> Mapping[str, Reader]:
    """The readers of this build, by name."""

    def run(workspace: str, args: dict[str, Any]) -> Any:
        stored = store.load(str(args["run"]))
        return None if stored is None or stored.workspace != workspace else run_seen(stored, store)

    def history(workspace: str, args: dict[str, Any]) -> Any:
        own = int(args["own"])
        found = sessions.uncovered(workspace, args["session"], limit=int(args["limit"]), oldest=bool(args.get("oldest")))
        kept = tuple(entry for entry in found.entries if entry[0] != own)
        return msgspec.to_builtins(msgspec.structs.replace(found, entries=kept))

    def threads(workspace: str, args: dict[str, Any]) -> Any:
        found = sessions.threads(workspace, args["session"])[:THREADS_SHOWN]
        return [
            {
                "thread": thread.id,
                "about": thread.intent,
                "status": str(thread.status),
                "asks": None if thread.asked is None else thread.asked.text[:200],
                "expects": None if thread.asked is None else thread.asked.expects,
            }
            for thread in found
        ]

    return {READ_RUN: run, READ_HISTORY: history, READ_THREADS: threads}


def run_seen(stored: StoredRun, store: JournalStore) -> dict[str, Any]:
    """A run as others may tell of it: where it stands, its header's facts, and what it waits for the user to say."""
    facts, asks = so_far(stored, store), open_question(stored, store)
    status = "waiting for an answer" if asks else facts.status
    shown = msgspec.structs.replace(facts, lines=facts.lines[-LINES_SHOWN:])
    failures = [f"{line.what}: {line.reason}".strip(": ") for line in facts.lines if line.mark in ("fail", "unknown")]
    return {
        "run": stored.id,
        "status": status,
        "reason": stored.reason,
        "steps": facts.steps,
        "model_calls": facts.model_calls,
        "verb_calls": facts.verb_calls,
        "duration_ms": facts.duration_ms,
        "asks": asks,
        "failures": "; ".join(failures[-FAILURES_SHOWN:]),
        "header": msgspec.to_builtins(shown),
    }


def header_so_far(store: JournalStore) -> Callable[[str], str | None]:
    """Renders what a run has finished so far, by id; None where there is no such run."""

    def rendered(run: str) -> str | None:
        stored = store.load(run)
        return None if stored is None else render_header(so_far(stored, store))

    return rendered
