"""How much is remembered: bounds of a workspace and of a token, and what is removed or erased
counts back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ordain.contracts.library import MemoryPolicy
from ordain.contracts.verbs import Trust
from ordain.engines.clock import SystemClock
from ordain.errors import Refused
from ordain.ports.library import ItemKind, NewItem, Section
from ordain.store.library import SqliteLibrary
from ordain.store.library_units import PASSAGE_BYTES
from ordain.store.sqlite import SqliteStore, StoreOptions

Opened = Callable[[int, int], SqliteLibrary]


@pytest.fixture
async def opened(tmp_path: Path) -> Iterator[Opened]:
    """A library with so many passages for a workspace and a token; 0: without bound."""
    with ExitStack() as closing:

        def open_it(workspace: int, token: int) -> SqliteLibrary:
            store = SqliteStore(tmp_path / "data", StoreOptions(holder="test"))
            closing.callback(store.close)
            policy = MemoryPolicy(
                workspace_bytes=workspace * PASSAGE_BYTES, token_bytes=token * PASSAGE_BYTES
            )
            library = SqliteLibrary(store, SystemClock(), lambda: None, policy)
            closing.callback(library.close)
            return library

        yield open_it


def item(
    text: str, by: str = "", *, workspace: str = "w", source: str = "", passages: int = 1
) -> NewItem:
    kind = ItemKind.DOCUMENT if source else ItemKind.NOTE
    sections = tuple(Section(text=f"{text} {n}") for n in range(passages))
    return NewItem(
        workspace=workspace,
        kind=kind,
        sections=sections,
        trust=Trust.MEMBER,
        by=by,
        source=source,
        digest=text,
    )


def entry(call: str, by: str) -> NewItem:
    """What a verb's call writes: its key is the call's."""
    sections = (Section(text="The plan was simpler than it looked."),)
    return NewItem(
        workspace="w", kind=ItemKind.ENTRY, sections=sections, trust=Trust.FOREIGN, by=by, key=call
    )


async def code(library: SqliteLibrary, new: NewItem) -> str:
    """What an addition comes to."""
    try:
        return (await library.add(new)).outcome
    except Refused as refused:
        return f"{refused.status} {refused.code}: {refused.message.partition(' as much')[0]}"


WORKSPACE_FULL, TOKEN_FULL = (
    "507 quota_spent: the workspace remembers",
    "507 quota_spent: the token has added",
)


async def test_a_workspace_remembers_so_much(opened: Opened) -> None:
    """Whoever adds; another workspace has its own; what is forgotten makes room, and a refused
    addition leaves nothing behind.
    """
    library = opened(3, 0)
    kept = [
        await library.add(item(f"note {n}", by)) for n, by in enumerate(("", "token:a", "token:b"))
    ]
    assert await code(library, item("more")) == WORKSPACE_FULL
    assert await code(library, item("long", workspace="other", passages=4)) == WORKSPACE_FULL
    assert await code(library, item("more", workspace="other")) == "added"
    assert len(await library.items("w", (ItemKind.NOTE,), limit=9)) == 3
    await library.remove("w", kept[1].id, by="test")
    assert await code(library, item("more")) == "added"
    assert await code(library, item("more")) == "same"
    assert await code(library, item("again")) == WORKSPACE_FULL


async def test_a_token_adds_so_much(opened: Opened) -> None:
    """In all its workspaces together; other tokens, one whose name begins alike, and the owner are
    not held to it.
    """
    library = opened(0, 2)
    first = await library.add(item("one", "token:a"))
    assert await code(library, item("two", "token:a", workspace="other")) == "added"
    assert await code(library, item("three", "token:a")) == TOKEN_FULL
    assert [
        await code(library, item(f"by {by}", by))
        for by in ("token:ab", "token:b", "", "local:owner")
    ] == ["added"] * 4
    await library.remove("w", first.id, by="test")
    assert await code(library, item("three", "token:a")) == "added"


async def test_what_a_verb_writes_for_a_token_counts_as_the_tokens(opened: Opened) -> None:
    """Beside its notes; an entry that a build kept without saying who added it is still the one of
    its call, and counts for nobody.
    """
    library = opened(0, 2)
    assert await code(library, entry("one", "")) == "added"  # as builds before kept it
    assert await code(library, entry("one", "token:a")) == "same"
    assert await code(library, item("note", "token:a")) == "added"
    first = await library.add(entry("two", "token:a"))
    assert await code(library, entry("two", "token:a")) == "same"
    assert (
        await code(library, entry("three", "token:a"))
        == await code(library, item("more", "token:a"))
        == TOKEN_FULL
    )
    assert [await code(library, entry(f"by {by}", by)) for by in ("token:b", "local:owner")] == [
        "added"
    ] * 2
    await library.remove("w", first.id, by="test")
    assert await code(library, entry("three", "token:a")) == "added"


async def test_a_new_content_takes_the_place_of_the_old(opened: Opened) -> None:
    """A document that replaces another of its source needs room for what it has more."""
    library = opened(3, 3)
    assert await code(library, item("lease", "token:a", source="lease.md", passages=3)) == "added"
    assert (
        await code(library, item("lease again", "token:a", source="lease.md", passages=3))
        == "replaced"
    )
    assert (
        await code(library, item("lease at length", "token:a", source="lease.md", passages=4))
        == WORKSPACE_FULL
    )
    assert [one.passages for one in await library.items("w", (ItemKind.DOCUMENT,), limit=9)] == [3]


async def test_at_once_no_more_is_kept(opened: Opened) -> None:
    """Additions at one time are counted when they are whole."""
    library = opened(2, 0)
    told = await asyncio.gather(*(code(library, item(f"note {n}")) for n in range(6)))
    assert sorted(told) == [WORKSPACE_FULL] * 4 + ["added"] * 2
