"""Headers so far, and what readers see: of runs with children, of runs that took another's place,
of runs that cannot be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from ordain.effects.children import Join, Spawn
from ordain.effects.effect import SharedState, UserQuestion, Wait, WaitFor
from ordain.errors import JournalCorrupt
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.journal.digests import derived_id
from ordain.journal.records import Label, RecordKind, Status, raw
from ordain.ports.store import StoredRun
from ordain.runtime.headers import Headers, readable
from ordain.runtime.readers import header_so_far, readers
from ordain.testing import (
    ScriptedEffects,
    Standing,
    answered,
    catalog_of,
    child_cancelled,
    joined,
    kind_of,
    read,
)
from tests.at_once import at_once


@dataclass
class Runs:
    """As much of ``JournalStore`` as headers look at."""

    known: Mapping[str, StoredRun]
    broken: frozenset[str] = frozenset()

    async def load(self, runs: Sequence[str]) -> Mapping[str, StoredRun | JournalCorrupt]:
        found: dict[str, StoredRun | JournalCorrupt] = {
            run: self.known[run] for run in runs if run in self.known
        }
        return found | {run: JournalCorrupt("damaged") for run in runs if run in self.broken}


async def _parent(context: FlowContext, given: Any) -> Any:
    child = Spawn[Any](
        flow="part", input=raw(None), deadline=context.hard, allowance=context.share(1)
    )
    await context.fx.children((child,), Join())


async def _asking(context: FlowContext, given: Any) -> Any:
    question = UserQuestion(key="k", expects="freeform")
    await context.fx.perform(
        Wait(what=WaitFor.ANSWER, about="Which one?", deadline=context.hard, question=question)
    )


def kind(run: Any, name: str, after: str = "") -> Kind[Any, Any]:
    return replace(kind_of(run), name=name, label=lambda _: Label(after=after))


def stored(
    of: Kind[Any, Any], *script: Any, upto: RecordKind | None = None, **row: Any
) -> StoredRun:
    run = (
        ScriptedEffects(of, catalog_of(), standing=Standing(session="s1")).play(None, script).stored
    )
    if upto is not None:
        at = max(index for index, record in enumerate(run.records) if record.kind is upto)
        run = msgspec.structs.replace(
            run, records=run.records[: at + 1], status=Status.WAITING, reason=""
        )
    return msgspec.structs.replace(run, **row)


PARENT = kind(_parent, "parent")
ASKING = kind(_asking, "asking")
KINDS = Kinds((PARENT, ASKING))
WAITING = stored(PARENT, joined(child_cancelled()), upto=RecordKind.INTENT)
CHILD = stored(
    ASKING,
    answered("x"),
    upto=RecordKind.INTENT,
    ended_at=None,
    id=derived_id(WAITING.id, 0, 0),
    parent=WAITING.id,
)


def headers(
    *runs: StoredRun, broken: tuple[str, ...] = (), kinds: Kinds = KINDS
) -> tuple[Headers, Any]:
    store: Any = Runs({run.id: run for run in runs}, frozenset(broken))
    return Headers(store, kinds), store


def test_a_child_at_work_stands_in_its_parents_header() -> None:
    """With what it has done so far; and what waits for it is at work."""
    made, _ = headers(WAITING, CHILD)
    facts = at_once(made.so_far(WAITING))
    assert facts.status == "running"
    assert [line.what for line in facts.lines] == [f"asking@1 (run {CHILD.id}) at work"]


def test_a_child_that_cannot_be_read_is_told_as_such() -> None:
    """Nobody knows what it has done; the parent is no less true for it."""
    made, _ = headers(WAITING, broken=(CHILD.id,))
    (line,) = at_once(made.so_far(WAITING)).lines
    assert (line.mark, CHILD.id in line.what) == ("unknown", True)


def test_the_question_of_a_child_is_the_runs() -> None:
    """Whoever asks after it hears what it waits for."""
    made, _ = headers(WAITING, CHILD)
    assert at_once(made.open_question(WAITING)) == "Which one?"
    assert (
        at_once(made.open_question(msgspec.structs.replace(CHILD, status=Status.COMPLETED))) == ""
    )


def test_the_run_before_is_not_lost_from_sight() -> None:
    """Unless this run has read it, in which case its own header has it."""
    before = stored(ASKING, answered("x"), id="before")

    async def run(context: FlowContext, given: Any) -> None:
        await context.fx.perform(context.read(SharedState.RUN, {"run": "before"}))

    successor = kind(run, "successor", after="before")
    whole = stored(successor, read(None, "run"))
    kinds = Kinds((PARENT, ASKING, successor))
    made, _ = headers(before, whole, kinds=kinds)
    unread = msgspec.structs.replace(whole, records=whole.records[:1])
    assert [line.what for line in at_once(made.so_far(unread)).lines] == [
        "run before · completed",
        "wait answered",
    ]
    assert at_once(made.so_far(whole)).lines == ()


def test_a_damaged_end_is_told() -> None:
    """Everything before it stands."""
    damaged = (*CHILD.records, msgspec.structs.replace(CHILD.records[-1], seq=2, body=b"{"))
    assert len(readable(damaged)) == len(CHILD.records)
    made, _ = headers()
    assert (
        at_once(made.so_far(msgspec.structs.replace(CHILD, records=damaged))).lines[-1].mark
        == "unknown"
    )


def test_readers_see_runs_of_their_own_session_alone() -> None:
    """As durable now, small and whole; nothing of another session's or workspace's."""
    made, store = headers(WAITING, CHILD)
    sessions: Any = None
    read = readers(made, store, sessions, sessions, lambda: CHILD.created_at + 9_000_000)[
        SharedState.RUN
    ]

    def look(*given: Any) -> Any:
        return at_once(read(*given))

    seen = look(CHILD.workspace, "s1", {"run": CHILD.id})
    assert (seen["status"], seen["asks"], seen["age_ms"]) == (
        "waiting for an answer",
        "Which one?",
        9000,
    )
    assert look(CHILD.workspace, "s2", {"run": CHILD.id}) is None
    assert look("elsewhere", "s1", {"run": CHILD.id}) is None
    assert look(CHILD.workspace, "s1", {"run": "nobody"}) is None


def test_a_run_that_cannot_be_read_is_seen_as_unknown() -> None:
    """Whoever goes on from it is told that nobody knows what it has done."""
    made, store = headers(broken=("r1",))
    sessions: Any = None
    seen = at_once(
        readers(made, store, sessions, sessions, lambda: 0)[SharedState.RUN](
            "w", "s1", {"run": "r1"}
        )
    )
    assert (seen["status"], seen["reason"]) == ("unknown", "journal_corrupt")


def test_a_header_so_far_is_rendered() -> None:
    """By id; of no run there is none."""
    made, store = headers(WAITING, CHILD)
    rendered = header_so_far(made, store)
    assert "asking@1" in (at_once(rendered(WAITING.id)) or "")
    assert at_once(rendered("nobody")) is None
