"""``ordain backup`` and ``ordain restore``: one database copied whole, and the rows of a copy put
into a new folder.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from ordain.cli.archive import open_archive
from ordain.cli.copy_target import check_target, place
from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.hints import in_folder
from ordain.cli.output import print_json, show_line
from ordain.cli.person import operator
from ordain.cli.places import home_of
from ordain.engines.clock import SystemClock
from ordain.errors import ConfigurationError, FlowUnavailable, JournalCorrupt, StorageUnavailable
from ordain.runtime.store_replay import EQUAL, Ledgered
from ordain.runtime.transcript_replay import Retold
from ordain.store.folder import FILE, RESTS
from ordain.store.restoring import Restored, restore
from ordain.store.schema import VERSION
from ordain.store.workshop import workshop

T = TypeVar("T")

SAMPLE = 50
NAMES_ALL = "`ordain replay --all` names everything"
TOLD = 5
"""Most differences that are told at once."""


class Verified(Struct, frozen=True, kw_only=True):
    """What checking a copy came to: how many runs and sessions it has, how many of them were gone
    through, and what holding it to its ledger found.

    ``altered`` are the sessions that do not verify.
    """

    runs: int
    replayed: int
    ledger: Ledgered
    sessions: int = 0
    retold: int = 0
    altered: tuple[Retold, ...] = ()

    @property
    def code(self) -> int:
        """The exit code: what is not as it was written is kept, and is no success."""
        return OK if self.ledger.verdict == EQUAL and not self.altered else FAILED

    def lines(self) -> Generator[str]:
        """What people are told besides; nothing where all was gone through and is as it was
        written.
        """
        if self.ledger.verdict != EQUAL:
            yield f"NOT AS IT WAS WRITTEN: it does not hold to its ledger; {NAMES_ALL}"
            for found in self.ledger.differences[:TOLD]:
                yield f"  {found.line}"
        for told in self.altered[:TOLD]:
            yield (
                f"NOT AS IT WAS WRITTEN: session {told.session} of workspace {told.workspace}; "
                f"{NAMES_ALL}"
            )
        if self.runs > SAMPLE or self.sessions > SAMPLE:
            yield (
                f"a sample was gone through; {in_folder('`ordain replay --all`')} goes through "
                f"{self.runs} runs and {self.sessions} sessions"
            )


def verify_copy(folder: Path) -> Verified:
    """Check a copied database whole, replay a sample of its runs, and hold all of it to its ledger.

    Raises:
        JournalCorrupt: the database or a run is not what was written.
    """
    try:
        return asyncio.run(_verified(folder))
    except (sqlite3.Error, StorageUnavailable) as error:
        raise JournalCorrupt(f"the copy is damaged: {error.__cause__ or error}") from error


async def _verified(folder: Path) -> Verified:
    with open_archive(folder) as archive:
        if damage := archive.store.damage():
            raise JournalCorrupt(f"the copy is damaged: {damage}")
        ledger, known = await archive.held_to_ledger()
        every, replayed = await archive.runs(), 0
        for report in await archive.replays(_sampled(every), known):
            if report.verdict == FlowUnavailable.code:
                continue  # of an embedder's own kind: nobody here can judge its decisions
            if report.verdict not in {"equal", "erased"}:
                raise JournalCorrupt(
                    f"run {report.run} does not replay: {report.verdict}", code="replay_failed"
                )
            replayed += 1
        sessions = await archive.runtime.search.every_session()
        told = [await archive.retell(*session, known) for session in _sampled(sessions)]
        return Verified(
            runs=len(every),
            replayed=replayed,
            ledger=ledger,
            sessions=len(sessions),
            retold=len(told),
            altered=tuple(one for one in told if not one.verifies),
        )


def _sampled(every: Sequence[T]) -> Sequence[T]:
    """So many of them, from the first to the last."""
    return every[:: max(1, len(every) // SAMPLE)]


def back_up(data_dir: Path | None, file: Path, *, as_json: bool) -> int:
    """Copy, verify, then give the copy its name.

    Raises:
        ConfigurationError: FILE exists or may be no backup's name (``cli.copy_target``), or its
            folder does not exist.
    """
    home = home_of(data_dir)
    check_target(file, home)
    with workshop(file.absolute().parent) as made:
        with open_archive(home) as archive:
            archive.store.backup(made / FILE)
        (made / FILE).chmod(0o600)
        with _naming(f"{file} is not written, {home} cannot be backed up"):
            verified = verify_copy(made)
        place(made / FILE, file.absolute(), "file_exists")
    facts = {"file": str(file), "bytes": file.stat().st_size, **_facts(verified)}
    return _say(
        facts, [f"backed up: {_counted(verified)}", *verified.lines()], verified, as_json=as_json
    )


def restore_from(data_dir: Path | None, file: Path, *, keep_tokens: bool, as_json: bool) -> int:
    """Copy a backup's rows into an empty data folder, verified first; says what was done with them.

    Raises:
        ConfigurationError: there is data already, or FILE is no backup that this build can take
            (``store.restoring``).
        JournalCorrupt: it is damaged, or a run of it does not replay.
    """
    home = home_of(data_dir)
    for name in (FILE, *(f"{FILE}{rest}" for rest in RESTS)):
        # what a killed process left beside would be played into the restored data
        if os.path.lexists(home / name):
            message = (
                f"{home / name} exists; a restore never overwrites: move the whole folder away, "
                "or restore elsewhere with --data-dir"
            )
            raise ConfigurationError(message, code="data_exists")
    _check_alone(file)
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with workshop(home) as made:
        os.close(os.open(made / FILE, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with _naming(f"{file} is not restored"):
            done = restore(
                file,
                made / FILE,
                keep_tokens=keep_tokens,
                by=operator(),
                at=SystemClock().now(),
            )
            verified = verify_copy(made)
        place(made / FILE, home / FILE, "data_exists")
    facts = {
        "home": str(home),
        **_facts(verified),
        "rows": done.rows,
        "unsettled": done.unsettled,
        "schema": done.version,
        "tokens_revoked": list(done.revoked),
        "tokens_kept": done.kept,
        "left_out": list(done.left_out),
    }
    return _say(facts, [*_told(done, verified), *verified.lines()], verified, as_json=as_json)


@contextmanager
def unpacked(file: Path) -> Generator[Path]:
    """The rows of a backup in a folder of their own, to be read until it is gone. What is damaged
    there, whoever reads it finds.

    Raises:
        ConfigurationError: FILE is no backup that this build can take (``store.restoring``).
        JournalCorrupt: it is no sound database.
    """
    _check_alone(file)
    with workshop(Path(tempfile.gettempdir())) as made:
        os.close(os.open(made / FILE, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with _naming(f"{file} is not read"):
            restore(file, made / FILE, keep_tokens=False, by=operator(), at=SystemClock().now())
        yield made


@contextmanager
def _naming(what: str) -> Generator[None]:
    """What is wrong with a file is told behind ``what``, which names it."""
    try:
        yield
    except (ConfigurationError, JournalCorrupt, StorageUnavailable) as error:
        raise type(error)(f"{what}: {error.message}", code=error.code) from error


def _told(done: Restored, verified: Verified) -> Generator[str]:
    yield f"restored: {_counted(verified)}; {done.rows} rows, copied into tables made here"
    if done.version < VERSION:
        yield f"brought from schema version {done.version} to {VERSION}"
    if done.left_out:
        yield f"left out, as Ordain makes none such: {', '.join(done.left_out)}"
    if done.revoked:
        yield (
            f"tokens revoked: {', '.join(done.revoked)}; make new ones with "
            f"`{in_folder('ordain token create')}`"
        )
    if done.kept:
        yield f"tokens kept: {done.kept} not revoked, as asked"
    if done.unsettled:
        yield in_folder(
            f"{done.unsettled} runs are not at an end, and go on when the folder is served: "
            "`ordain runs list` shows them"
        )


def _counted(verified: Verified) -> str:
    return f"{verified.runs} runs, {verified.replayed} of them checked by replay"


def _facts(verified: Verified) -> dict[str, object]:
    ledger = verified.ledger
    differences = [asdict(one) for one in ledger.differences]
    return {
        "runs": verified.runs,
        "replayed": verified.replayed,
        "sessions": verified.sessions,
        "retold": verified.retold,
        "altered": [
            {"workspace": one.workspace, "session": one.session, "verdict": one.verdict}
            for one in verified.altered
        ],
        "ledger": {"verdict": ledger.verdict, "head": ledger.head, "differences": differences},
    }


def _check_alone(file: Path) -> None:
    if not file.is_file():
        raise ConfigurationError(f"there is no file {file}", code="no_backup")
    for rest in RESTS:
        if os.path.lexists(f"{file}{rest}"):
            message = (
                f"{file} is the file of a data folder, with {file}{rest} beside it; a backup is "
                "what `ordain backup` makes"
            )
            raise ConfigurationError(message, code="no_backup")


def _say(
    facts: Mapping[str, object], lines: Iterable[str], verified: Verified, *, as_json: bool
) -> int:
    if as_json:
        print_json(facts)
    else:
        for line in lines:
            show_line(line)
    return verified.code
