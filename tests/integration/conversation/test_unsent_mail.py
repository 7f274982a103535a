"""A mailbox that somebody else has written into: nothing that nobody sent is carried out, the run
stops and its people are told, and replay names it first.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ordain.cli.archive import open_archive
from ordain.errors import JournalCorrupt
from ordain.journal.records import Status
from ordain.ports.writes import MailKind
from ordain.store.folder import FILE
from ordain.store.posted_mail import NOT_SENT, covers_mail
from ordain.store.sqlite import SqliteStore
from tests.shapes.lines import asks, script_of
from tests.shapes.talk import House

ASKING = script_of(asks("whether", "yes_no"))
YES = {"value": {"message_id": "forged", "text": "yes", "value": True}, "by": "user:ada"}
PUT = (
    "INSERT INTO mailbox(run, kind, addr, key, body, at) SELECT no, ?1, ?2, ?3, ?4, 1 FROM runs "
    "WHERE id = ?5"
)


def edit(home: Path, statement: str, *values: object) -> None:
    """What another program does to the closed folder."""
    with closing(sqlite3.connect(home / FILE)) as db, db:
        assert db.execute(statement, values).rowcount == 1


async def asked(home: Path) -> tuple[str, int]:
    """A folder with a question that is open: the run that asks, and its effect."""
    async with House(home, script=ASKING) as house:
        assert (
            await house.say("find out whether the plants want water", mode="agent")
        ).question is not None
        ((run, addr),) = house.query(
            "SELECT json_extract(asked, '$.run'), json_extract(asked, '$.addr') FROM threads"
        )
    return run, addr


async def held(home: Path) -> list[str]:
    """What replaying everything would name of the ledger."""
    with open_archive(home) as archive:
        report, _ = await archive.held_to_ledger()
    return [f"{one.place}: {one.now}" for one in report.differences]


FORGED: dict[str, tuple[str, bytes]] = {
    "an answer": (MailKind.ANSWER, json.dumps(YES).encode()),
    "an answer by the API": (MailKind.ANSWER, b'{"value":true,"by":"local:ada"}'),
    "a cancel": (MailKind.INTERRUPT, b'{"what":"cancel","by":"user:ada","why":""}'),
    "what cannot be read": (MailKind.ANSWER, b"\xff{{{"),
    "no known kind": ("answerx", b"{}"),
    "a child's end": (MailKind.CHILD, b'{"ended":"completed","child":"x","value":1}'),
}


@pytest.mark.parametrize("what", FORGED)
async def test_what_nobody_sent_is_not_carried_out(tmp_path: Path, what: str) -> None:
    """Mail that is not on the ledger is named by replay before anybody takes it, stops its run with
    a reason, tells its session, and is never taken.
    """
    run, addr = await asked(tmp_path)
    kind, body = FORGED[what]
    edit(
        tmp_path,
        PUT,
        kind,
        addr,
        f"answer:{addr}" if kind != MailKind.INTERRUPT else "cancel:x",
        body,
        run,
    )
    (number,) = [one for one in await held(tmp_path) if "mail" in one and "nobody sent it" in one]
    assert run in number
    async with House(tmp_path, script=ASKING) as house:
        await house.until(
            "the run has stopped",
            lambda: (
                house.query("SELECT status FROM runs WHERE id = ?", run) == [(Status.DIVERGED,)]
            ),
        )
        await house.quiet()
        assert house.query("SELECT reason FROM runs WHERE id = ?", run) == [(NOT_SENT,)]
        assert house.query(
            "SELECT count(*) FROM mailbox WHERE taken IS NULL AND run = (SELECT no FROM runs "
            "WHERE id = ?)",
            run,
        ) == [(1,)]
        assert house.query(
            "SELECT count(*) FROM transcript WHERE kind = 'stopped' OR (kind = 'reply' AND body "
            "IS NOT NULL)"
        ) == [(1,)]
        assert house.query("SELECT slots FROM threads") == [(None,)]
        assert (
            await house.ordain.runtime.operators.cancel(run, by="local:test", why="it was forged")
            == "sent"
        )
        await house.until(
            "it has ended",
            lambda: (
                house.query("SELECT status FROM runs WHERE id = ?", run) == [(Status.CANCELLED,)]
            ),
        )


@pytest.mark.parametrize("column", ["kind", "addr", "key", "body", "at", "taken", "run"])
async def test_mail_that_was_changed_was_not_sent_so(tmp_path: Path, column: str) -> None:
    """Each column of what waits to be taken is under the ledger: whichever is another, nobody takes
    the mail, and replay says so.
    """
    run, addr = await asked(tmp_path)
    store = SqliteStore(tmp_path)
    try:
        with open_archive(tmp_path) as archive:
            assert (
                await archive.runtime.operators.answer(run, addr, False, by="local:test") == "sent"
            )
            assert await held(tmp_path) == []
        values = {
            "kind": "'interrupt'",
            "addr": "addr + 1",
            "key": "key || 'x'",
            "body": "CAST(replace(body, 'false', 'true') AS BLOB)",
        }
        changed = {**values, "at": "at + 1", "taken": "1", "run": "run - 1"}[column]
        edit(tmp_path, f"UPDATE mailbox SET {column} = {changed} WHERE taken IS NULL")
        assert [one for one in await held(tmp_path) if "mail" in one]
        if column in {"taken", "run"}:
            assert not store.untaken(run)
        else:
            with pytest.raises(JournalCorrupt, match="was not sent") as raised:
                store.untaken(run)
            assert raised.value.code == NOT_SENT
    finally:
        store.close()


async def test_mail_of_a_build_before_is_sent(tmp_path: Path) -> None:
    """A folder whose ledger says nothing of mail says it from the first engine that opens it on:
    what lay there then is carried out.
    """
    run, addr = await asked(tmp_path)
    with open_archive(tmp_path) as archive:
        await archive.runtime.operators.answer(run, addr, False, by="local:test")
    with closing(sqlite3.connect(tmp_path / FILE)) as db, db:
        # as a build before left it: none of its rows says anything of mail
        db.execute("DELETE FROM ledger")
    assert not any("mail" in one for one in await held(tmp_path))
    async with House(tmp_path, script=ASKING) as house:
        await house.until(
            "the answer was taken",
            lambda: not house.query("SELECT 1 FROM mailbox WHERE taken IS NULL"),
        )
        await house.quiet()
        assert house.query("SELECT status FROM runs WHERE id = ?", run) == [(Status.COMPLETED,)]
        assert covers_mail(house.ordain.store.reading)
    assert not any("mail" in one for one in await held(tmp_path))
