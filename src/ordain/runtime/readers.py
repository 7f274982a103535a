"""What ``Read`` effects read: named views of shared state, as durable now. Their values are
recorded, so they are small and whole.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from ordain.effects.effect import Read, SharedState
from ordain.effects.results import ReadFailed, ReadResult, ReadValue
from ordain.ports.configuration import Configuration
from ordain.ports.sessions import Sessions
from ordain.ports.store import JournalStore, StoredRun
from ordain.rules.header import HeaderFacts, HeaderLine, render_header
from ordain.runtime.approvers_word import noes_below
from ordain.runtime.brief import readable_header
from ordain.runtime.configuration import pins_seen
from ordain.runtime.earlier_plans import earlier_plans
from ordain.runtime.headers import Headers, loaded
from ordain.runtime.services import Services, StateReader

THREADS_SHOWN = 6
LINES_SHOWN = 40
FAILURES_SHOWN = 3
FAILURE_CHARS = 200
"""Most of what was said about one failure."""


async def read(services: Services, stored: StoredRun, effect: Read) -> ReadResult:
    """What a run's effect reads of its session, or that nothing is read by that name. Raises as the
    reader.
    """
    if effect.what == SharedState.PLANS:
        return ReadValue(value=await earlier_plans(services, stored, effect.args))
    reader = services.readers.get(effect.what)
    if reader is None:
        return ReadFailed(code="unknown_read", message=f"nothing is read by the name {effect.what}")
    return ReadValue(value=await reader(stored.workspace, stored.session, effect.args))


def readers(
    headers: Headers,
    store: JournalStore,
    sessions: Sessions,
    records: Configuration,
    now: Callable[[], int],
) -> Mapping[str, StateReader]:
    """The readers of this build, by name; ``now`` in microseconds since 1970."""

    async def run(workspace: str, session: str, args: dict[str, Any]) -> Any:
        stored = await loaded(str(args["run"]), store)
        if isinstance(stored, HeaderLine):
            return nothing_seen(str(args["run"]), stored)
        if stored is None or (stored.workspace, stored.session) != (workspace, session):
            return None
        given = await noes_below(store, stored)
        seen = await run_seen(stored, headers, now(), given)
        if given or not seen["failures"]:
            return seen
        kept = next(
            (
                one.last_error
                for one in await sessions.threads(workspace, session, limit=THREADS_SHOWN)
                if one.id == stored.thread
            ),
            None,
        )
        said = kept["output"] if kept is not None and kept.get("runId") == stored.id else ""
        return (
            seen
            if said[:FAILURE_CHARS] in seen["failures"]
            else {**seen, "failures": f"{said.rstrip('.')}; {seen['failures']}"}
        )

    async def history(workspace: str, session: str, args: dict[str, Any]) -> Any:
        own = int(args["own"])
        found = await sessions.uncovered(
            workspace, session, limit=int(args["limit"]), oldest=bool(args.get("oldest"))
        )
        kept = tuple([entry for entry in found.entries if entry[0] != own])
        return msgspec.to_builtins(msgspec.structs.replace(found, entries=kept))

    async def threads(workspace: str, session: str, _: dict[str, Any]) -> Any:
        found = (await sessions.threads(workspace, session, limit=THREADS_SHOWN))[:THREADS_SHOWN]
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

    async def profile(workspace: str, session: str, _: dict[str, Any]) -> Any:
        return msgspec.to_builtins(await pins_seen(records, workspace, session))

    return {
        SharedState.RUN: run,
        SharedState.HISTORY: history,
        SharedState.THREADS: threads,
        SharedState.PROFILE: profile,
    }


async def run_seen(
    stored: StoredRun, headers: Headers, now: int, noes: Sequence[str] = ()
) -> dict[str, Any]:
    """A run as others may tell of it: where it stands, since when, its header's facts, and what it
    waits for the user to say.

    ``noes`` are those that approvers gave it: no header says why, and whoever asks what went wrong
    is told that first.
    """
    facts, asks = await headers.so_far(stored), await headers.open_question(stored)
    approvals = [
        {"approval": approval, "what": what}
        for approval, what in await headers.open_approvals(stored)
    ]
    status = (
        "waiting for an answer"
        if asks
        else "waiting for an approver"
        if approvals
        else facts.status
    )
    shown = msgspec.structs.replace(facts, lines=facts.lines[-LINES_SHOWN:])
    failures = [_failure(line) for line in facts.lines if line.mark in ("fail", "unknown")]
    return {
        "run": stored.id,
        "status": status,
        "reason": stored.reason,
        "steps": facts.steps,
        "model_calls": facts.model_calls,
        "verb_calls": facts.verb_calls,
        "age_ms": max(0, (stored.ended_at or now) - stored.created_at) // 1000,
        "asks": asks,
        "failures": "; ".join([*noes[-FAILURES_SHOWN:], *failures[-FAILURES_SHOWN:]]),
        "header": msgspec.to_builtins(shown),
        **({"approvals": approvals} if approvals else {}),
    }


def _failure(line: HeaderLine) -> str:
    """What a line of the header tells of a failure, with what was said about it."""
    said = line.excerpt[:FAILURE_CHARS]
    return f"{line.what}: {line.reason}".strip(": ") + (f" ({said})" if said else "")


def nothing_seen(run: str, line: HeaderLine) -> dict[str, Any]:
    """The same of a run that cannot be read: whoever goes on from here is told that nobody knows
    what it has done.
    """
    facts = HeaderFacts(
        run=run,
        flow="",
        status="unknown",
        reason="journal_corrupt",
        models=(),
        notices=(),
        lines=(line,),
        steps=0,
        model_calls=0,
        verb_calls=0,
        tokens_in=0,
        tokens_out=0,
        estimated=False,
        usd_micros=0,
        duration_ms=0,
    )
    return {
        "run": run,
        "status": facts.status,
        "reason": facts.reason,
        "steps": 0,
        "model_calls": 0,
        "verb_calls": 0,
        "age_ms": 0,
        "asks": "",
        "failures": line.what,
        "header": msgspec.to_builtins(facts),
    }


def header_so_far(headers: Headers, store: JournalStore) -> Callable[[str], Awaitable[str | None]]:
    """Renders what a run has finished so far, by id; None where there is no such run."""

    async def rendered(run: str) -> str | None:
        stored = await loaded(run, store)
        return (
            None
            if not isinstance(stored, StoredRun)
            else readable_header(render_header(await headers.so_far(stored)))
        )

    return rendered
