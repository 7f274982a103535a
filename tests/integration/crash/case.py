"""One case of the crash harness: a shape, the moments at which its processes die, and the processes
themselves.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ordain import app
from ordain.app import Ordain
from ordain.store.sqlite import SqliteStore
from ordain.wording.wording import wording_of
from tests.integration.crash.chores import CHORES, POLICY, Chore, left_behind
from tests.integration.crash.chores import outcome as chore_outcome
from tests.integration.crash.laws import Evidence, broken_laws, outcome, read_journals
from tests.integration.crash.talk_laws import broken_talk
from tests.shapes import talks
from tests.shapes.catalogue import KILLERS, SHAPES, Shape, play
from tests.shapes.client import Client, Diary
from tests.shapes.flows import SHAPE_KINDS
from tests.shapes.handoffs import write_cards
from tests.shapes.house import HeldModel, MovableClock, build_house
from tests.shapes.ledger import Ledger, ledger_verbs
from tests.shapes.moments import Moments
from tests.shapes.talk import Puppet, make_ordain, talk_settings
from tests.shapes.talks import SCRIPT, TALKS, Talk, Talker
from tests.shapes.workflows import write_templates

BOOTS = 5
ALL: dict[str, Shape | Talk | Chore] = {**SHAPES, **KILLERS, **TALKS, **CHORES}
BOOT_S = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """``deaths`` are (kind of moment, which one) for the first processes, in order; ``kill`` is the
    ledger's to carry out.

    ``begins`` is the id of a case that has ended: this one begins with a copy of its folder.
    """

    id: str
    shape: str
    deaths: tuple[tuple[str, int], ...] = ()
    kill: dict[str, Any] | None = None
    threaded: bool = False
    expected: str = ""
    begins: str = ""


class Fatal(Moments):
    """Kills this process, as ``kill -9`` does, at one moment."""

    def __init__(self, kind: str, n: int) -> None:
        super().__init__()
        self._kind, self._n = kind, n

    def pass_by(self, kind: str) -> None:
        super().pass_by(kind)
        if kind == self._kind and self.counts[kind] == self._n:
            os.kill(os.getpid(), signal.SIGKILL)


class Watched:
    """A connection whose commits are moments: before it everything is written and nothing is
    durable, after it all is. So are its checkpoints.
    """

    def __init__(self, connection: sqlite3.Connection, moments: Moments) -> None:
        self._connection, self._moments = connection, moments

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, parameters: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        moment = (
            "commit"
            if sql == "COMMIT"
            else "checkpoint"
            if sql.startswith("PRAGMA wal_checkpoint")
            else ""
        )
        if not moment:
            return self._connection.execute(sql, parameters)
        self._moments.pass_by(f"{moment} before")
        cursor = self._connection.execute(sql)
        self._moments.pass_by(f"{moment} after")
        return cursor


def build_houses(ledger: Ledger) -> dict[str, Ordain]:
    """An Ordain for every shape, made once in the process that all others are forked from, and with
    it what each would make anew.
    """
    houses = {name: _house(shape, ledger) for name, shape in ALL.items()}
    for house in houses.values():
        wording_of(house.catalog)
        _ = house.catalog.digest
    return houses


def _house(shape: Shape | Talk | Chore, ledger: Ledger) -> Ordain:
    verbs, unused = ledger_verbs(ledger), Path("unused")
    match shape:
        case Shape():
            return build_house(unused, ledger, script=shape.script)
        case Talk():
            home = Path(tempfile.mkdtemp()) if shape.templates or shape.cards else unused
            write_files(home, shape)
            return make_ordain(
                talk_settings(home, shape.policy), Puppet(SCRIPT), verbs=verbs, memory=False
            )
        case Chore():
            return make_ordain(
                talk_settings(unused, POLICY),
                Puppet(SCRIPT),
                verbs=verbs,
                kinds=SHAPE_KINDS,
                memory=False,
            )


def write_files(home: Path, talk: Talk) -> None:
    """What the data folder of a conversation holds beforehand."""
    write_templates(home, talk.templates)
    if talk.cards:
        write_cards(home, talk.cards)


def run_case(case: Case, folder: Path, house: Ordain, ledger: Ledger) -> dict[str, Any]:
    """Start process after process until one comes to the end; gives its report, or what went
    wrong.
    """
    if case.begins:
        shutil.copytree(folder.parent / case.begins, folder)
    else:
        folder.mkdir(parents=True)
    ledger.case = case.id
    ledger.prepare(kill=case.kill, hold=ALL[case.shape].hold)
    for boot in range(1, BOOTS + 1):
        ledger.boot = boot
        child = os.fork()
        if child == 0:
            _in_child(case, folder, house, ledger)
        status = _ended(child)
        if status is None:
            return {
                "id": case.id,
                "broken": [f"process {boot} hangs: {_said(folder)}"],
                "boots": boot,
            }
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            continue
        if status != 0:
            return {
                "id": case.id,
                "broken": [f"process {boot} ended with {status}: {_said(folder)}"],
                "boots": boot,
            }
        return {"id": case.id, "boots": boot, **json.loads((folder / "report.json").read_text())}
    return {"id": case.id, "broken": ["it died more often than it should"], "boots": BOOTS}


def _ended(child: int) -> int | None:
    """The child's exit status; None, and it is killed, where it does not end."""
    for _ in range(round(BOOT_S / 0.002)):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _said(folder: Path) -> str:
    return (folder / "stderr").read_text()[-1500:]


def _in_child(case: Case, folder: Path, house: Ordain, ledger: Ledger) -> None:
    """Never returns: nothing of the process it was forked from is to be torn down here."""
    status = 1
    try:
        os.dup2(os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
        death = case.deaths[ledger.boot - 1] if ledger.boot <= len(case.deaths) else ("", 0)
        asyncio.run(_boot(case, folder, house, ledger, Fatal(*death)))
        status = 0
    except BaseException:  # a forked process must not unwind into its parent's frames
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


async def _boot(case: Case, folder: Path, house: Ordain, ledger: Ledger, moments: Moments) -> None:
    shape, before = ALL[case.shape], _found(folder, ledger.boot)

    class WatchedStore(SqliteStore):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            watched: Any = Watched(self.writer._db, moments)
            self.writer._db = watched

    vars(app)["SqliteStore"] = WatchedStore
    house.settings = house.settings.model_copy(update={"home": folder})
    if isinstance(shape, Talk):
        write_files(folder, shape)
    house._extras = app.Extras(
        **{
            **_fields(house._extras),
            "store": app.StoreOptions(holder="crash", threaded=case.threaded),
        }
    )
    model = house.models["default"]
    assert isinstance(model, HeldModel | Puppet)
    model.moments = moments
    await house.start()
    MovableClock.within(house, folder / "clock")
    client = Client(house, ledger, diary=Diary(folder / "diary"), moments=moments)
    if isinstance(shape, Talk):
        report = await _talked(case, shape, client, before, folder)
    elif isinstance(shape, Chore):
        report = await _kept(case, shape, client, before, folder)
    else:
        await play(shape, client)
        report = _report(case, shape, client, before, folder)
    (folder / "report.json").write_text(json.dumps(report))


def _fields(extras: app.Extras) -> dict[str, Any]:
    return {name: getattr(extras, name) for name in extras.__dataclass_fields__}


def _found(folder: Path, boot: int) -> list[Any]:
    """The journals that every process but the first found, this one's included."""
    if boot == 1:
        return []
    file = folder / "found"
    found = [*(pickle.loads(file.read_bytes()) if file.exists() else []), read_journals(folder)]
    file.write_bytes(pickle.dumps(found))
    return found


def _report(
    case: Case, shape: Shape, client: Client, before: list[Any], folder: Path
) -> dict[str, Any]:
    ordain, after = client.ordain, read_journals(folder)
    seen = Evidence(
        before=before, after=after, calls=client.ledger.calls(), diary=client.diary.entries
    )
    return {
        "broken": [line[:300] for line in broken_laws(ordain, shape, seen, case.expected)][:4]
        if shape.lawful
        else [],
        "runs": dict(ordain.store.query("SELECT id, status FROM runs")),
        "seen": [(call["text"], call["boot"]) for call in seen.calls][:20],
        "counts": client.moments.counts,
        "calls": len(seen.calls),
        "result": outcome(ordain),
        "unknown": sum(
            b'"outcome_unknown"' in row[7]
            for rows in after.values()
            for row in rows
            if row[1] == "observation"
        ),
    }


async def _talked(
    case: Case, talk: Talk, client: Client, before: list[Any], folder: Path
) -> dict[str, Any]:
    """Play a conversation to its end, and report on it."""
    talker = Talker(client)
    await talk.play(talker)
    await client.until(
        "all is at rest",
        lambda: not client.ordain.engine.driving and not client.ordain.engine.ready_runs,
    )
    counts = dict(client.moments.counts)
    after = read_journals(folder)
    seen = Evidence(
        before=before, after=after, calls=client.ledger.calls(), diary=client.diary.entries
    )
    return {
        "broken": [line[:300] for line in broken_talk(talker, talk, seen, case.expected)][:4],
        "counts": counts,
        "calls": len(seen.calls),
        "result": talks.outcome(talker, talk),
    }


async def _kept(
    case: Case, chore: Chore, client: Client, before: list[Any], folder: Path
) -> dict[str, Any]:
    """Do a chore to its end, and report on it."""
    await chore.play(client)
    counts = dict(client.moments.counts)
    seen = Evidence(
        before=before,
        after=read_journals(folder),
        calls=client.ledger.calls(),
        diary=client.diary.entries,
    )
    broken = chore.broken(client, seen, case.expected)
    result = chore_outcome(client)
    return {
        "broken": [
            line[:300]
            for line in [
                *broken,
                *(await left_behind(client.ordain) if before or case.begins else []),
            ]
        ][:4],
        "counts": counts,
        "calls": len(seen.calls),
        "result": result,
    }
