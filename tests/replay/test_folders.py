"""Data folders as killed processes of other builds left them: opened, gone on with, replayed; and
newer ones refused aloud.

A folder is kept for ever with a statement of what must come of it. Whatever else this build does
otherwise, it does this.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from ordain import Ordain
from ordain.errors import OrdainError
from ordain.flows.shipped import shipped_kinds
from ordain.journal.records import SETTLED, Status
from ordain.store.folder_lock import take_lock
from tests.commands import run_command
from tests.lanes import dice, is_full, sampled
from tests.replay.folder_file import (
    FOLDERS,
    LATE,
    SOON,
    Call,
    End,
    names,
    packed,
    statement,
    unpack,
)
from tests.replay.folder_going_on import go_on
from tests.shapes.ledger import Ledger, ledger_process
from tests.shapes.talk import PRINCIPAL

EVERY = names()
SOME = sampled(EVERY, 4, "kept folders")
"""Folders with which something is done that does not hang on what they are kept for."""
SOON_OR_LATE = [
    (name, case)
    for name in EVERY
    for case in ((SOON, LATE) if is_full() else (dice(name).choice((SOON, LATE)),))
]
"""How folders are opened: each of them, soon or late, and both where everything is tested."""
COMMAND_S = 60
DATABASE = "ordain.db"
NEWER = 1000
"""A version of the schema that no build of these years knows."""


def held(**versions: int) -> set[tuple[str, str]]:
    """What runs of a folder must be at when their process dies, in these versions of the flows that
    have come to another one.
    """
    turn, supervisor, triage, planner, question, verb = (
        f"{name}@{versions[name]}"
        for name in ("turn", "supervisor", "triage", "planner", "question", "verb")
    )
    return {
        *(
            (flow, "model_call")
            for flow in (
                turn,
                supervisor,
                triage,
                planner,
                f"verb_plan@{versions.get('verb_plan', 1)}",
            )
        ),
        *((flow, "children") for flow in (turn, supervisor, planner, verb)),
        *((flow, "wait answer") for flow in (question, triage)),
        *((flow, "wait timer") for flow in (planner, verb)),
        *((verb, f"verb_call {name}") for name in ("page_read", "entry_book", "entry_add")),
        (planner, "verb_call note_put"),
        (supervisor, "verb_call entry_add"),
        (turn, "verb_call note_put"),
    }


def company(
    seat: int = 1,
    roster: int = 1,
    supervisor: int = 6,
    worker: int = 1,
    below: int = 0,
    synthesis: int = 1,
) -> set[tuple[str, str]]:
    """What runs of the kinds in which several models work must be at, in these versions of those
    that have come to another one; ``below`` is that of who works for another, ``worker``'s where it
    is 0.
    """
    return {
        ("council@1", "model_call"),
        (f"synthesis@{synthesis}", "model_call"),
        (f"agent_chain@{worker}", "model_call"),
        *((f"{kind}@{below or worker}", "model_call") for kind in ("subgoal", "handoff")),
        *((kind, "model_call") for kind in (f"seat@{seat}", f"roster@{roster}")),
        *((kind, "children") for kind in (f"supervisor@{supervisor}", f"roster@{roster}")),
        (f"roster@{roster}", "wait approval"),
    }


HELD = {
    "killed": held(turn=2, supervisor=2, triage=2, planner=1, question=1, verb=1),
    "killed_turn3": held(turn=3, supervisor=3, triage=3, planner=2, question=2, verb=1),
    "killed_turn4": held(turn=4, supervisor=3, triage=4, planner=2, question=2, verb=2),
    "killed_sheets": held(turn=4, supervisor=3, triage=4, planner=2, question=2, verb=2),
    "killed_turn5": held(
        turn=5, supervisor=4, triage=5, planner=3, question=3, verb=3, verb_plan=2
    ),
    "killed_supervisor5": held(
        turn=5, supervisor=5, triage=5, planner=3, question=3, verb=3, verb_plan=2
    ),
    "killed_question4": held(
        turn=5, supervisor=4, triage=6, planner=3, question=4, verb=3, verb_plan=2
    ),
    "killed_turn6": held(
        turn=6, supervisor=5, triage=6, planner=3, question=4, verb=3, verb_plan=2
    ),
    "killed_turn7": held(turn=7, supervisor=6, triage=6, planner=4, question=4, verb=3, verb_plan=2)
    | company(),
    "killed_seat2": held(turn=7, supervisor=6, triage=6, planner=4, question=4, verb=3, verb_plan=2)
    | company(seat=2),
    "killed_supervisor7": held(
        turn=7, supervisor=7, triage=6, planner=4, question=4, verb=3, verb_plan=2
    )
    | company(seat=2, roster=2, supervisor=7),
    "killed_supervisor8": held(
        turn=7, supervisor=8, triage=6, planner=5, question=4, verb=3, verb_plan=2
    )
    | company(seat=2, roster=2, supervisor=8, worker=2),
    "killed_roster3": held(
        turn=7, supervisor=8, triage=6, planner=5, question=4, verb=3, verb_plan=2
    )
    | company(seat=3, roster=3, supervisor=8, worker=2),
    "killed_turn8": held(turn=8, supervisor=8, triage=6, planner=5, question=4, verb=3, verb_plan=2)
    | company(seat=3, roster=3, supervisor=8, worker=2),
    "killed_roster4": held(
        turn=8, supervisor=8, triage=6, planner=5, question=4, verb=3, verb_plan=2
    )
    | company(seat=3, roster=4, supervisor=8, worker=2, below=3),
    "killed_turn9": held(turn=9, supervisor=9, triage=6, planner=5, question=4, verb=3, verb_plan=2)
    | company(seat=3, roster=4, supervisor=9, worker=2, below=3),
    "killed_roster5": held(
        turn=9, supervisor=9, triage=6, planner=5, question=4, verb=3, verb_plan=2
    )
    | company(seat=3, roster=5, supervisor=9, worker=2, below=3),
    "killed_synthesis2": held(
        turn=9, supervisor=9, triage=6, planner=5, question=4, verb=3, verb_plan=2
    )
    | company(seat=3, roster=5, supervisor=9, worker=2, below=3, synthesis=2),
    "killed_turn10": held(
        turn=10, supervisor=9, triage=6, planner=5, question=4, verb=3, verb_plan=2
    )
    | company(seat=3, roster=6, supervisor=9, worker=2, below=3, synthesis=2),
    "killed_ledgerless": held(
        turn=5, supervisor=4, triage=5, planner=3, question=3, verb=3, verb_plan=2
    ),
}
"""By folder."""
OF_ROWS = frozenset({"killed", "killed_turn3", "killed_turn4"})
"""Folders whose journals have a row for each record; their statements are of a time when no
reconcile voided.
"""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The ledger's process."""
    with ledger_process() as started:
        yield started


def ordain(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command, in a process of its own."""
    done = run_command(*map(str, arguments), environment=os.environ, timeout=COMMAND_S)
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


UNFENCED, DOUBTFUL = "verb_call entry_book", End("failed", "outcome_unknown", 1)
"""Whose reconcile said no without declaring that it voids: folders that were kept before say that
the call was made again.
"""


class Since(Struct, frozen=True):
    """What comes of a folder's runs since a run's time stands still where a person has the word, or
    it was stopped, and what they call then.

    Of each: a turn that waits for a question goes on once that has expired, and a call that can be
    repeated is, once an operator resumes its run.
    """

    ends: dict[str, End] = {}
    calls: tuple[Call, ...] = ()


LATER = msgspec.json.decode(
    (Path(__file__).parent / "late_ends.json").read_bytes(), type=dict[str, Since]
)
"""By folder, of what is opened late; folders that were kept since say it themselves."""


def told(end: End, case: str) -> End:
    """An end as far as it must come out. Where all time is over at once, a parent may call off a
    child before the child's own time ends it.
    """
    called_off = case == LATE and end.status in (Status.CANCELLED, Status.TIMED_OUT)
    return End("called off", "", end.unknown) if called_off else end


def replayed(home: Path) -> dict[str, Any]:
    """What replaying everything in a folder says."""
    ran = ordain("replay", "--all", "--json", "--data-dir", home)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(ran.stdout)


def continued(home: Path) -> set[str]:
    """The runs that an earlier build began, a row for each record, and that went on in sheets."""
    with closing(sqlite3.connect(home / DATABASE)) as database:
        both = (
            "SELECT id FROM runs WHERE no IN (SELECT run FROM records) AND no IN (SELECT run FROM "
            "sheets)"
        )
        return {run for (run,) in database.execute(both)}


def test_the_kept_folders_are_never_made_again() -> None:
    """The committed folders and their statements are byte for byte what they were when their list
    of digests was written.
    """
    listed = dict(
        reversed(line.split("  "))
        for line in (FOLDERS / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    )
    files = sorted(file for file in FOLDERS.iterdir() if file.name != "SHA256SUMS")
    assert {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files} == listed
    assert {file.name for file in files} == {
        f"{name}.{ending}" for name in names() for ending in ("json", "tar.xz")
    }


@pytest.mark.parametrize("name", EVERY)
def test_a_folder_holds_what_it_is_kept_for(name: str) -> None:
    """Runs queued, ready, waiting, in a join, in a model call and inside each kind of verb, and an
    open question of each kind.
    """
    kept = statement(name)
    doing = {(run.flow, run.doing) for run in kept.runs}
    lacking = {
        one
        for one in HELD[name]
        if not any(flow == one[0] and at.startswith(one[1]) for flow, at in doing)
    }
    assert lacking == set()
    assert {run.status for run in kept.runs} >= {
        "queued",
        "ready",
        "running",
        "waiting",
        "quarantined",
        "completed",
        "failed",
    }
    assert {run.flow for run in kept.runs if run.status not in SETTLED} == {
        run.flow for run in kept.runs
    }
    assert {answer.expects for answer in kept.answers} == {
        "location",
        "date_time",
        "yes_no",
        "freeform",
        "choice",
    }


def test_a_folder_holds_a_ticket_in_review(tmp_path: Path) -> None:
    """What waits for a yes, and somebody looks at when the process dies, is looked at still by
    whoever said so; it is decided with all others where a folder goes on.
    """
    home = unpack(packed("killed_roster4"), tmp_path / "home")
    with closing(sqlite3.connect(home / DATABASE)) as database:
        claimed = database.execute(
            "SELECT a.state, a.claimed_by FROM approvals a JOIN runs r ON r.no = a.run WHERE "
            "a.claimed_by <> ''"
        ).fetchall()
    assert claimed == [("open", PRINCIPAL)]


def test_every_newest_flow_is_in_a_folder() -> None:
    """A killed process has left an unsettled run of whatever begins now: whoever brings a new
    version records a folder of it.
    """
    left = {
        run.flow for name in names() for run in statement(name).runs if run.status not in SETTLED
    }
    assert {f"{kind.name}@{kind.version}" for kind in shipped_kinds().newest.values()} <= left


@pytest.mark.parametrize("name", EVERY)
def test_an_untouched_folder_replays(tmp_path: Path, name: str) -> None:
    """Read as a guest, all that has settled replays equal, all that has not replays as far as it
    goes, and every session verifies.
    """
    kept, home = statement(name), unpack(packed(name), tmp_path / "home")
    found = replayed(home)
    assert {run["run"]: (run["flow"], run["verdict"], run["settled"]) for run in found["runs"]} == {
        run.id: (run.flow, "equal", run.status in SETTLED) for run in kept.runs
    }
    assert {session["session"] for session in found["sessions"]} == {
        run.session for run in kept.runs if run.session
    }
    assert {session["verdict"] for session in found["sessions"]} == {"equal"}


@pytest.mark.parametrize(("name", "case"), SOON_OR_LATE)
async def test_a_folder_goes_on(tmp_path: Path, port: int, name: str, case: str) -> None:
    """Every run comes to the end that its statement names, nothing is done twice, and everything
    replays and retells equal afterwards.
    """
    kept, home = statement(name), unpack(packed(name), tmp_path / "home")
    ends, calls = await go_on(home, kept, Ledger(port, f"{name}-{case}"), case)
    stated = {run.id: told(run.ends[case], case) for run in kept.runs}
    doubtful = (
        run.id
        for run in kept.runs
        if name in OF_ROWS and run.doing == UNFENCED and run.ends[LATE].reason == "not_started"
    )
    unfenced = dict.fromkeys(doubtful, DOUBTFUL)
    assert bool(unfenced) == (name in OF_ROWS)
    since = LATER.get(name, Since()) if case == LATE else Since()
    assert {run: told(end, case) for run, end in ends.items()} == stated | since.ends | unfenced
    made = (*kept.calls[case], *since.calls)
    assert calls == tuple(
        sorted(call for call in made if name not in OF_ROWS or call.text != "hang unsent: booked")
    )
    assert continued(home) >= {
        run.id
        for run in kept.runs
        if name in OF_ROWS and run.status in {Status.READY, Status.RUNNING}
    }
    found = await asyncio.to_thread(replayed, home)
    assert {run["run"] for run in found["runs"]} >= {run.id for run in kept.runs}
    assert {(run["verdict"], run["settled"]) for run in found["runs"]} == {("equal", True)}
    assert {session["verdict"] for session in found["sessions"]} == {"equal"}


@pytest.mark.parametrize("name", EVERY)
def test_a_statement_demands_that_nothing_is_done_twice(name: str) -> None:
    """What had reached the ledger is not applied again, what nobody can know is not called again,
    and both are what the statement says.
    """
    kept = statement(name)
    for case in (SOON, LATE):
        applied = [
            call.key
            for call in (*kept.world, *kept.calls[case])
            if call.applied and call.verb != "page"
        ]
        assert len(applied) == len(set(applied))
        unknown = {run.id for run in kept.runs if run.ends[case].unknown}
        assert unknown >= {run.id for run in kept.runs if run.doing == "verb_call entry_add"}
        assert not [call for call in kept.calls[case] if "added" in call.text]


@pytest.mark.parametrize("name", SOME)
def test_a_folder_still_remembers(tmp_path: Path, name: str) -> None:
    """What was remembered in the folder is found in it, by its words, without anything being
    driven.
    """
    home = unpack(packed(name), tmp_path / "home")
    ran = ordain("memory", "search", "milk tea", "--json", "--data-dir", home)
    assert ran.returncode == 0, ran.stderr
    assert "Ada drinks her tea without milk." in ran.stdout


@pytest.mark.parametrize("name", SOME)
def test_a_folder_is_backed_up_and_restored(tmp_path: Path, name: str) -> None:
    """A backup of the folder as it lies holds all its runs, and a folder restored from it replays
    as the first one does.
    """
    kept, home = statement(name), unpack(packed(name), tmp_path / "home")
    for arguments in (
        ("backup", tmp_path / "copy", "--data-dir", home),
        ("restore", tmp_path / "copy", "--data-dir", tmp_path / "other"),
    ):
        ran = ordain(*arguments, "--json")
        assert ran.returncode == 0, ran.stderr
        assert json.loads(ran.stdout)["runs"] == len(kept.runs)
    assert replayed(tmp_path / "other") == replayed(home)


@pytest.mark.parametrize("name", SOME)
def test_a_compacted_folder_replays(tmp_path: Path, name: str) -> None:
    """Compacting writes what earlier builds left as rows in this build's form; every run and
    session is what it was.
    """
    home = unpack(packed(name), tmp_path / "home")
    before = replayed(home)
    ran = ordain("store", "compact", "--data-dir", home)
    assert ran.returncode == 0, ran.stderr
    with closing(sqlite3.connect(home / DATABASE)) as database:
        assert database.execute("SELECT count(*) FROM records").fetchone() == (0,)
    assert replayed(home) == before


# --- newer folders --------------------------------------------------------------------------------


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """A folder that a build of a later schema has written to."""
    home = unpack(packed("killed"), tmp_path / "newer")
    with closing(sqlite3.connect(home / DATABASE)) as database:
        database.execute(f"PRAGMA user_version = {NEWER}")
    return home


@pytest.mark.parametrize(
    "command", ["serve", "replay --all", "runs list", "backup {copy}", "chat hello"]
)
def test_a_command_refuses_a_newer_folder_aloud(newer: Path, tmp_path: Path, command: str) -> None:
    """It fails, says that the folder is newer and what to do, and leaves the folder as it is."""
    before = (newer / DATABASE).read_bytes()
    ran = ordain(*command.format(copy=tmp_path / "copy").split(), "--data-dir", newer)
    assert ran.returncode != 0
    assert "[newer_schema]" in ran.stderr
    assert f"schema version {NEWER}" in ran.stderr
    assert "use a newer Ordain" in ran.stderr
    assert (newer / DATABASE).read_bytes() == before
    assert not (tmp_path / "copy").exists()


def test_nobody_brings_a_served_folder_on(tmp_path: Path) -> None:
    """Beside an engine of an older build, which would keep no ledger, nothing is opened by this
    one; once that is gone it is.
    """
    home = unpack(packed("killed_ledgerless"), tmp_path / "served")
    lock = take_lock(home)
    refused = ordain("replay", "--all", "--data-dir", home)
    lock.close()
    assert (refused.returncode != 0, "[older_schema]" in refused.stderr) == (True, True)
    with closing(sqlite3.connect(home / DATABASE)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (12,)
    assert ordain("replay", "--all", "--data-dir", home).returncode == 0


async def test_the_library_refuses_a_newer_folder_aloud(newer: Path) -> None:
    """A program that starts it is told the same, and the folder's lock is let go of."""
    before = (newer / DATABASE).read_bytes()
    for _ in range(2):
        with pytest.raises(OrdainError) as refused:
            await Ordain(home=newer).start()
        assert refused.value.code == "newer_schema"
    assert (newer / DATABASE).read_bytes() == before


def test_a_backup_of_a_newer_build_is_not_restored(newer: Path, tmp_path: Path) -> None:
    """A file with a later schema is no backup of this build's, and nothing is put in its place."""
    ran = ordain("restore", newer / DATABASE, "--data-dir", tmp_path / "other")
    assert ran.returncode != 0
    assert f"schema version {NEWER}" in ran.stderr
    assert not (tmp_path / "other" / DATABASE).exists()
