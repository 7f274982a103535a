"""Leases over a shared memory: engines by their last beat, and what each of them holds."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ordain.journal.lost_time import Pause
from ordain.journal.records import SETTLED, Record, RecordKind, Status
from ordain.ports.leases import Beat, Held, Lease, deaths
from ordain.ports.store import Mail
from ordain.testing.memory.rows import EngineRow, KeptRun, MemoryRows, going
from ordain.testing.memory.shared import SharedMemory


class Wanted(Struct, frozen=True, kw_only=True):
    """What an engine asks to hold: as ``Leases.hold`` has it."""

    limit: int
    flows: Collection[tuple[str, int]] | None
    only: tuple[str, ...]


def join(shared: SharedMemory, build: str) -> Lease:
    """A new engine. Where no other one is at work, what has passed since one was is lost for
    all.
    """
    rows, now = shared.rows, shared.now()
    alone = not any(shared.lives(engine) for engine in tuple(rows.engines))
    last_beat = (
        max((row.last_beat for row in rows.engines.values()), default=None) if alone else None
    )
    number = rows.number("engines")
    rows.engines[number] = EngineRow(build=build, last_beat=now)
    return Lease(engine=number, alone=False, last_beat=last_beat, pauses=rows.spans.get("", ()))


def beat(shared: SharedMemory, lease: Lease, said: Beat) -> None:
    """Keep the lease. A pause in which another engine was at work is none in which nobody could
    work.
    """
    rows, pauses = shared.rows, shared.rows.spans.get("", ())
    row = rows.engines[lease.engine]
    rows.engines[lease.engine] = replace(row, last_beat=max(row.last_beat, shared.now()))
    if (back := said.clock_back) is not None:
        pauses = tuple(Pause(began, min(ended, back)) for began, ended in pauses if began < back)
        for run, row in list(rows.runs.items()):
            if (
                row.run.status is Status.WAITING
                and row.run.wake_at is not None
                and row.run.wake_at >= back + said.back_us
            ):
                rows.runs[run] = replace(
                    row, run=replace(row.run, wake_at=row.run.wake_at - said.back_us)
                )
    others = [other.last_beat for number, other in rows.engines.items() if number != lease.engine]
    for pause in said.pauses:
        if pause not in pauses and all(last <= pause.began for last in others):
            oldest = _oldest_unsettled(rows)
            pauses = (
                *(
                    one
                    for one in pauses
                    if one.ended >= (pause.began if oldest is None else oldest)
                ),
                pause,
            )
    rows.spans[""] = pauses


def _oldest_unsettled(rows: MemoryRows) -> int | None:
    asking = [
        row.run.created_at
        for row in rows.runs.values()
        if going(row.run.status) or row.run.status is Status.QUEUED
    ]
    return min(asking, default=None)


def hold(shared: SharedMemory, lease: Lease, wanted: Wanted) -> list[Held]:
    """Runs that are the engine's from now on; those of lapsed engines first."""
    rows = shared.rows
    if wanted.only:
        asked = [rows.runs[run] for run in dict.fromkeys(wanted.only) if run in rows.runs]
        found = [
            row
            for row in asked
            if row.run.holder == lease.engine
            or row.run.status in SETTLED
            or _fits(shared, row, wanted)
        ]
    else:
        free = [
            row
            for row in rows.runs.values()
            if _has_work(row, shared.now()) and _fits(shared, row, wanted)
        ]
        free = [row for row in free if row.run.holder != lease.engine]
        found = sorted(free, key=lambda row: (row.run.holder == 0, row.no))[: wanted.limit]
    return [_taken(shared, lease, row) for row in found]


def _has_work(row: KeptRun, now: int) -> bool:
    if row.run.status is Status.WAITING:
        return row.run.wake_at is not None and row.run.wake_at <= now
    return going(row.run.status)


def _fits(shared: SharedMemory, row: KeptRun, wanted: Wanted) -> bool:
    """Whether nobody holds the run, and the engine that asks has its flow."""
    run = row.run
    return (run.holder == 0 or not shared.lives(run.holder)) and (
        wanted.flows is None or (run.flow, run.flow_version) in wanted.flows
    )


def _taken(shared: SharedMemory, lease: Lease, row: KeptRun) -> Held:
    """The run as it is once it is the engine's. A settled one is nobody's to drive, and is only
    shown.
    """
    rows, run = shared.rows, row.run
    lost: tuple[Pause, ...] = ()
    if run.holder != lease.engine and run.status not in SETTLED:
        resumes, resumes_at = run.resumes, row.resumes_at
        if run.holder and going(run.status):  # it died with the run
            came_to = _progress(run.records)
            resumes = deaths(
                resumes, moved=resumes_at != came_to, driven=run.status is Status.RUNNING
            )
            resumes_at = came_to
            last_beat = rows.engines[run.holder].last_beat
            if run.status is not Status.WAITING and last_beat < shared.now():
                lost = (Pause(last_beat, shared.now()),)
        run = replace(run, epoch=run.epoch + 1, holder=lease.engine, resumes=resumes)
        rows.runs[run.id] = replace(row, run=run, resumes_at=resumes_at)
    return Held(id=run.id, run=run, mail=untaken(rows, run.id), lost=lost)


def _progress(records: Sequence[Record]) -> int:
    """The last record that says how far a run came.

    That a call which was cut off is made again is no progress, nor is what is said of lost time: a
    verb may kill the process each time.
    """
    for record in reversed(records):
        said = record.kind, record.name
        if said not in ((RecordKind.DECISION, "recover"), (RecordKind.RESUMED, "lost")):
            return record.seq
    return records[-1].seq


def untaken(rows: MemoryRows, run: str) -> tuple[Mail, ...]:
    """Mail that no record has taken, in the order of its commits."""
    return tuple(there.mail for there in rows.mailbox.get(run, ()) if there.taken is None)


def held(shared: SharedMemory, lease: Lease) -> list[str]:
    """What the engine holds and has something to do."""
    rows, now = shared.rows.runs.values(), shared.now()
    return [row.run.id for row in rows if row.run.holder == lease.engine and _has_work(row, now)]


def next_due(shared: SharedMemory, flows: Collection[tuple[str, int]] | None) -> int | None:
    """When the first run is due that waits, that nobody holds, and whose flow is one of these."""
    wanted = Wanted(limit=1, flows=flows, only=())
    waiting = [
        row.run
        for row in shared.rows.runs.values()
        if row.run.status is Status.WAITING and _fits(shared, row, wanted)
    ]
    return min((run.wake_at for run in waiting if run.wake_at is not None), default=None)


def release(shared: SharedMemory, lease: Lease, runs: Sequence[str] | None) -> None:
    """Let go of runs, or of all: whoever takes them next counts no death."""
    for run in (
        [run for run, row in shared.rows.runs.items() if going(row.run.status)]
        if runs is None
        else runs
    ):
        row = shared.rows.runs.get(run)
        if row is not None and row.run.holder == lease.engine:
            shared.rows.runs[run] = replace(row, run=replace(row.run, holder=0))
