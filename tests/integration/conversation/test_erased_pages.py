"""What is erased, byte by byte: copies that SQLite leaves in unused parts of pages are cleared by
compacting, in a store that gives room back by itself, too.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ordain.contracts.library import NoteRequest
from ordain.errors import StorageUnavailable
from ordain.ports.upkeep import OldContent
from ordain.runtime.upkeep import carried_out
from ordain.store.compaction import compact
from ordain.store.folder import FILE
from tests.shapes.talk import House

MESSAGES = 300
KESTREL = "kestrel{:04}"
LEAVES = {0x0A: 8, 0x0D: 8}
"""Kinds of pages that hold rows or an index's entries, with the size of their heading:
https://sqlite.org/fileformat2.html#b_tree_pages.
"""
TABLES = ("threads", "engine", "erasures", "probes", "turns", "sessions")
"""Some that have room on their first page."""


def bytes_of(folder: Path) -> bytes:
    """All that any file of the folder holds, in small letters."""
    return b"".join(file.read_bytes() for file in folder.iterdir()).lower()


def leave_copies(file: Path, word: bytes) -> int:
    """Put a word where SQLite leaves copies: on a page of a table, between the directory of its
    rows and the first of them. The number of pages that have it then.
    """
    with closing(sqlite3.connect(file)) as db:
        (size,) = db.execute("PRAGMA page_size").fetchone()
        roots = [
            db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]
            for name in TABLES
        ]
    content, left = bytearray(file.read_bytes()), 0
    for root in roots:
        page = content[(root - 1) * size : root * size]
        if page[0] not in LEAVES:
            continue
        begins = LEAVES[page[0]] + 2 * int.from_bytes(page[3:5], "big")
        ends = int.from_bytes(page[5:7], "big") or 65_536
        if ends - begins > len(word):
            at = (root - 1) * size + ends - len(word)
            content[at : at + len(word)] = word
            left += 1
    file.write_bytes(content)
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return left


async def erased(folder: Path) -> None:
    """A session of some hundred messages is erased, a note forgotten, another session swept."""
    async with House(folder) as house:
        for number in range(MESSAGES):
            await house.say(f"{KESTREL.format(number)} " + "and so on " * (number % 40))
        await house.say("osprey in another session", session="s2")
        library = house.ordain.runtime.library
        note = NoteRequest(text="The heron is a note.", user_id="ada")
        added = await library.add_note("default", note)
        await library.forget("default", added.id, by="op")
        operators = house.ordain.runtime.operators
        assert await operators.erase_session("s1", by="op", why="asked to") > MESSAGES
        now = house.ordain.runtime.services.clock.now() + 1
        for kind in ("input", "model", "verb", "result"):
            await carried_out(
                house.ordain.runtime.services.upkeep,
                OldContent(content_class=kind, before=now, at=now),
            )


async def test_no_erased_word_is_left_once_it_is_compacted(tmp_path: Path) -> None:
    """Whatever copies stood in pages: of what was erased, forgotten and swept no file has a byte;
    what was written since the compaction before is cleared by the next.
    """
    await erased(tmp_path)
    for word in (b"kestrel0007", b"osprey in another"):
        assert leave_copies(tmp_path / FILE, word) > 1
        assert word in bytes_of(tmp_path)
        compact(tmp_path, lambda _: None, lambda *_: None)
        assert word not in bytes_of(tmp_path)
    held = bytes_of(tmp_path)
    assert [n for n in range(MESSAGES) if KESTREL.format(n).encode() in held] == []
    assert b"heron" not in held
    assert b"osprey" not in held


async def test_what_somebody_reads_stays_and_that_is_said(tmp_path: Path) -> None:
    """The file is what it was while a reader looks at it: no success, until it is run again."""
    async with House(tmp_path) as house:
        await house.say("hello")
    word = b"kestrel0007"
    assert leave_copies(tmp_path / FILE, word)
    with closing(sqlite3.connect(tmp_path / FILE)) as reader:

        def look(_: object) -> None:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM runs").fetchone()

        with pytest.raises(StorageUnavailable) as refused:
            compact(tmp_path, look, lambda *_: None)
        assert refused.value.code == "being_read"
        assert word in bytes_of(tmp_path)
    compact(tmp_path, lambda _: None, lambda *_: None)
    assert word not in bytes_of(tmp_path)
