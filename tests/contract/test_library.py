"""Library over SQLite, with the real embedder: files and memory alike."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordain.contracts.verbs import Trust
from ordain.engines.clock import SystemClock
from ordain.errors import InvalidRequest
from ordain.models.embedding import StaticEmbedder
from ordain.ports.library import Added, Embedder, ItemKind, LibrarySearch, Method, NewItem, Section
from ordain.ports.store import Operation
from ordain.store import finder
from ordain.store import library as library_module
from ordain.store.checkpoints import TRUNCATE_BATCHES
from ordain.store.folder import FILE
from ordain.store.library import SqliteLibrary
from ordain.store.schema import make
from ordain.store.sqlite import SqliteStore, StoreOptions
from ordain.store.word_index import index_again
from tests.lanes import examples

EVERY = tuple(ItemKind)
EMBEDDER = StaticEmbedder()


class Clock(SystemClock):
    """The system's clock, moved on by hand."""

    ahead = 0

    def now(self) -> int:
        return super().now() + self.ahead


class OtherEmbedder:
    """Implements ``Embedder`` with another model's name: its vectors are the first one's, turned
    round.
    """

    name = "other-1"
    dimension = EMBEDDER.dimension

    def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        size = 4
        return [
            b"".join(vector[at : at + size] for at in range(len(vector) - size, -1, -size))
            for vector in EMBEDDER.embed(texts)
        ]


class House:
    """A store and its library, which can be opened again."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.clock = Clock()
        self.open(lambda: EMBEDDER)

    def open(self, embedder: Callable[[], Embedder | None]) -> SqliteLibrary:
        self.store = SqliteStore(self.folder, StoreOptions(holder="test"))
        self.library = SqliteLibrary(self.store, self.clock, embedder)
        return self.library

    def close(self) -> None:
        self.library.close()
        self.store.close()

    def again(self, embedder: Embedder | None = EMBEDDER) -> SqliteLibrary:
        self.close()
        return self.open(lambda: embedder)

    def bytes(self) -> bytes:
        """Everything on disk; the log, too, while the store is open."""
        assert self.folder is not None
        return b"".join(file.read_bytes() for file in self.folder.glob(f"{FILE}*"))


@pytest.fixture(params=["file", "memory"])
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    made = House(tmp_path / "data" if request.param == "file" else None)
    yield made
    made.close()


@pytest.fixture
async def on_disk(tmp_path: Path) -> AsyncIterator[House]:
    made = House(tmp_path / "data")
    yield made
    made.close()


def note(text: str, **more: object) -> NewItem:
    plain: dict[str, object] = {
        "workspace": "default",
        "kind": ItemKind.NOTE,
        "trust": Trust.OWN,
        "sections": (Section(text=text),),
        **more,
    }
    return NewItem(**plain)  # pyright: ignore[reportArgumentType]


def question(query: str, **more: object) -> LibrarySearch:
    return LibrarySearch(
        **{"workspace": "default", "query": query, "limit": 3, "kinds": EVERY, **more}
    )  # pyright: ignore[reportArgumentType]


async def found(library: SqliteLibrary, query: str, **more: object) -> list[str]:
    return [one.text for one in (await library.search(question(query, **more))).fragments]


async def test_words_that_stand_nearly_everywhere_are_not_weighed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by words: the rare ones find, the commonest are left out and named; a common word alone
    is looked up all the same.
    """
    monkeypatch.setattr(finder, "WEIGHED", 3)
    library = house.again(None)
    for place in ("harbour", "station", "market", "bridge"):
        await library.add(note(f"The bakery near the {place} opens early."))
    rare = await library.search(question("bakery harbour"))
    assert [one.text for one in rare.fragments] == ["The bakery near the harbour opens early."]
    assert "so many texts hold them: bakery" in rare.notice
    for query in ("bakery", "bakery zebrra"):  # alone, or beside a word that stands nowhere
        common = await library.search(question(query))
        assert len(common.fragments) == 3
        assert "so many" not in common.notice
    await library.add(note("Closed: the bakery of the mill.", kind=ItemKind.DOCUMENT))
    kind = await library.search(question("bakery opens", kinds=(ItemKind.DOCUMENT,)))
    assert [one.text for one in kind.fragments] == ["Closed: the bakery of the mill."]


async def test_what_others_have_is_not_counted(on_disk: House) -> None:
    """What lacks a vector is counted of what whoever asks may be given: others' notes and other
    sessions' files are no matter of theirs, and hinder no search by meaning.
    """
    library = on_disk.again(None)
    for author, text in (("bob", "Bob keeps bees."), ("ada", "Ada's kettle is red.")):
        await library.add(note(text, author=author))
    await (library := on_disk.again()).add(note("The tulips of Ada bloom in April.", author="ada"))
    asked: dict[str, object] = {"personal": True, "session": "s1"}
    for user, more in (("eve", {}), ("bob", {"kinds": (ItemKind.DOCUMENT,)})):
        nothing = await library.search(question("who keeps bees", user=user, **more, **asked))
        assert (nothing.method, nothing.fragments, nothing.notice) == (Method.DENSE, (), "")
    some = await library.search(question("the flowers of spring", user="ada", **asked))
    assert (some.method, some.notice[:26]) == (Method.DENSE, "1 passages have no vector ")
    assert (
        await library.search(question("who keeps bees", user="bob", **asked))
    ).notice == finder.NOTHING_EMBEDDED
    assert (await library.search(question("bees"))).notice.startswith("2 passages have no vector")


async def test_a_key_is_one_item_for_ever(house: House) -> None:
    """The same key adds once, whatever it says the second time, and adds nothing again once the
    item was removed.
    """
    first = await house.library.add(note("Tea at five.", key="k"))
    again = await house.library.add(note("Coffee at six.", key="k"))
    assert (first.outcome, again.outcome, again.id) == ("added", "same", first.id)
    assert await house.library.remove("default", first.id, by="me")
    assert (await house.library.add(note("Tea at five.", key="k"))).outcome == "same"
    assert await house.library.items("default", EVERY, limit=9) == []


async def test_a_digest_is_one_item_while_it_is_kept(house: House) -> None:
    """The same content is kept once; once it was forgotten it can be remembered again."""
    first = await house.library.add(note("Tea at five.", digest="d"))
    assert (await house.library.add(note("Tea at five.", digest="d"))).id == first.id
    assert (
        await house.library.add(note("Tea at five.", digest="d", workspace="other"))
    ).outcome == "added"
    await house.library.remove("default", first.id, by="me")
    assert (await house.library.add(note("Tea at five.", digest="d"))).outcome == "added"


@pytest.mark.parametrize("kind", [ItemKind.NOTE, ItemKind.DOCUMENT])
async def test_the_same_content_at_once_is_one_item(house: House, kind: ItemKind) -> None:
    """Who adds the same content at the same moment is told the same id, which stays; of the others'
    passages nothing is left.
    """
    same = note("Tea at five. " * 300, digest="d", kind=kind, source="/tea")
    added = await asyncio.gather(*(house.library.add(same) for _ in range(8)))
    assert sorted(one.outcome for one in added) == ["added", *["same"] * 7]
    (kept,) = {one.id for one in added}
    assert [one.id for one in await house.library.items("default", EVERY, limit=9)] == [kept]
    ((stored,),) = house.store.query("SELECT count(*) FROM passages")
    assert stored == max(one.passages for one in added) > 1
    assert house.store.query("SELECT count(*) FROM vectors") == [(stored,)]
    assert (await house.library.reindex("default")).passages == stored


async def test_a_key_that_lost_to_the_same_content_names_what_is_kept(house: House) -> None:
    """Of two keys that add the same content at the same moment one is kept; each, added again, is
    told that one's id.
    """
    items = [note("Tea at five. " * 300, digest="d", key=key) for key in ("one", "two")]
    first, second = await asyncio.gather(*map(house.library.add, items))
    assert sorted((first.outcome, second.outcome)) == ["added", "same"]
    for item in items:
        assert await house.library.add(item) == Added(id=first.id, outcome="same")
    assert await house.library.item("default", first.id) is not None
    assert house.store.query("SELECT count(*) FROM items") == [(1,)]


async def test_the_same_key_at_once_is_one_item(house: House) -> None:
    """Of additions with one key at the same moment the first is kept, whole, and the others are
    told its id: none takes another one's away.
    """
    texts = ["Tea at five. " * 300, "Coffee at six. " * 300, "Water at seven."]
    first, *others = await asyncio.gather(
        *(house.library.add(note(text, key="k")) for text in texts)
    )
    assert [(one.outcome, one.id) for one in (first, *others)] == [
        ("added", first.id),
        ("same", first.id),
        ("same", first.id),
    ]
    kept = await house.library.item("default", first.id)
    assert kept is not None
    assert (len(kept[1]), "Tea" in kept[1][-1].text) == (first.passages, True)
    assert house.store.query(
        "SELECT (SELECT count(*) FROM items), (SELECT count(*) FROM passages)"
    ) == [(1, first.passages)]


class Dying:
    """Implements ``Embedder``: fails at the calls that it is told to."""

    name, dimension = "dying-1", 1

    def __init__(self, *deaths: int) -> None:
        self.deaths, self.calls = deaths, 0

    def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        self.calls += 1
        if self.calls in self.deaths:
            raise RuntimeError("the embedder died")
        return [bytes(4)] * len(texts)


def in_storage(house: House) -> list[int]:
    """How many items, passages and vectors there are, kept or not."""
    return [
        house.store.query(f"SELECT count(*) FROM {table}")[0][0]
        for table in ("items", "passages", "vectors")
    ]


HERRINGS = tuple(
    Section(text=f"Paragraph {number} of the treaty about zebrafinks.") for number in range(7)
)


async def test_an_addition_that_fails_leaves_nothing(
    on_disk: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it breaks off with an error, all that it had stored is deleted at once, to the last
    byte; the same addition can then be made.
    """
    monkeypatch.setattr(library_module, "FILLED", 2)
    on_disk.close()
    library = on_disk.open(lambda: Dying(3))
    treaty = note("", sections=HERRINGS, kind=ItemKind.DOCUMENT, source="/treaty", digest="t")
    with pytest.raises(RuntimeError, match="died"):
        await library.add(treaty)
    assert in_storage(on_disk) == [0, 0, 0]
    on_disk.close()
    everything = on_disk.bytes().lower()
    library = on_disk.open(lambda: EMBEDDER)
    assert [word for word in (b"zebrafink", b"treati") if word in everything] == []
    assert (await library.add(treaty)).outcome == "added"
    assert in_storage(on_disk) == [1, 7, 7]


async def test_an_addition_that_fails_leaves_its_key_to_the_next(on_disk: House) -> None:
    """Whoever waits with the same key while one fails is not told that it is there: it adds."""
    on_disk.close()
    library = on_disk.open(lambda: Dying(1))
    failed, added = await asyncio.gather(
        *(library.add(note(text, key="k")) for text in ("Tea at five.", "Coffee at six.")),
        return_exceptions=True,
    )
    assert isinstance(failed, RuntimeError)
    assert isinstance(added, Added)
    assert (added.outcome, await found(library, '"Coffee at six."')) == (
        "added",
        ["Coffee at six."],
    )


async def test_an_addition_that_is_given_up_leaves_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever it is cancelled, it is kept whole or nothing of it is stored, and its key is free
    then.
    """
    monkeypatch.setattr(library_module, "FILLED", 2)
    outcomes: set[str] = set()
    for steps in range(0, 60, 3):
        adding = asyncio.ensure_future(
            house.library.add(note("", sections=HERRINGS, key=f"k{steps}"))
        )
        for _ in range(steps):
            await asyncio.sleep(0)
        adding.cancel()
        await asyncio.gather(adding, return_exceptions=True)
        kept = await house.library.items("default", EVERY, limit=9)
        assert in_storage(house)[1:] == [7 * len(kept)] * 2
        assert house.store.query(
            "SELECT count(*) FROM items WHERE state IN ('staged', 'removed')"
        ) == [(0,)]
        again = await house.library.add(note("", sections=HERRINGS, key=f"k{steps}"))
        assert again.outcome == ("same" if kept else "added")
        assert await house.library.remove("default", again.id, by="me")
        outcomes.add(again.outcome)
    assert "added" in outcomes


async def test_another_content_of_a_source_replaces_a_document(house: House) -> None:
    """A changed document takes the place of what was added of its source, which is found no
    longer.
    """
    old = note(
        "The notice period is two months.", kind=ItemKind.DOCUMENT, source="/contract", digest="1"
    )
    new = note(
        "The notice period is six weeks.", kind=ItemKind.DOCUMENT, source="/contract", digest="2"
    )
    elsewhere = note(
        "The notice period is a year.", kind=ItemKind.DOCUMENT, source="/other", digest="3"
    )
    first = await house.library.add(old)
    await house.library.add(elsewhere)
    replaced = await house.library.add(new)
    assert (replaced.outcome, replaced.id != first.id) == ("replaced", True)
    assert set(await found(house.library, "how long is the notice period")) == {
        "The notice period is six weeks.",
        "The notice period is a year.",
    }
    assert await house.library.item("default", first.id) is None


async def test_the_same_content_of_another_source_is_another_document(house: House) -> None:
    """A document whose new content is that of another source replaces its own old one, and leaves
    the other where it is.
    """
    await house.library.add(
        note(
            "The notice period is two months.",
            kind=ItemKind.DOCUMENT,
            source="report.md",
            digest="1",
        )
    )
    other = await house.library.add(
        note(
            "The notice period is six weeks.", kind=ItemKind.DOCUMENT, source="other.md", digest="2"
        )
    )
    second = note(
        "The notice period is six weeks.", kind=ItemKind.DOCUMENT, source="report.md", digest="2"
    )
    replaced = await house.library.add(second)
    assert (replaced.outcome, replaced.id != other.id) == ("replaced", True)
    assert (await house.library.add(second)) == Added(id=replaced.id, outcome="same")
    assert {
        (one.id, one.source) for one in await house.library.items("default", EVERY, limit=9)
    } == {
        (other.id, "other.md"),
        (replaced.id, "report.md"),
    }


async def test_workspaces_see_nothing_of_each_other(house: House) -> None:
    """What one workspace remembers is in no answer, list or count of another, by meaning, by
    letters or by id.
    """
    kept = await house.library.add(
        note("The safe opens with 7-7-1-3.", workspace="a", theme="home")
    )
    for query in ("how does the safe open", '"opens with"', "7-7-1-3"):
        assert await found(house.library, query, workspace="b") == []
        assert await found(house.library, query, workspace="a") != []
    assert await house.library.items("b", EVERY, limit=9) == []
    assert await house.library.item("b", kept.id) is None
    assert await house.library.themes("b", limit=9) == []
    assert not await house.library.remove("b", kept.id, by="me")
    assert (await house.library.reindex("b")).passages == 0


SECRET = "The vault code 4711-XYZ opens the vault; the code is in the vault, says the vault."
PROBES = (
    *(
        '"code 4711"',
        '"code 4712"',
        '"code 9999"',
        '"4711"',
        '"9999"',
        '"vault code" 4711',
        '"says the"',
        "4711",
        "vault",
    ),
    *(
        "4711 or 9999",
        "code 4712 9999",
        "amber beryl",
        '"amber stone" cellar',
        '"stone" amber beryl',
        "what does the vault say",
    ),
)


@pytest.mark.parametrize("embedder", [EMBEDDER, None], ids=["dense", "words"])
async def test_no_answer_tells_what_another_workspace_holds(
    on_disk: House, embedder: Embedder | None
) -> None:
    """Every answer, its scores and its order are the same whether or not another workspace holds
    the words that are asked for.
    """
    library = on_disk.again(embedder)
    for text in (
        "vault code 4711",
        "vault code 4712",
        "vault code 9999",
        "an amber stone",
        "a beryl stone",
        "a stone in the cellar",
    ):
        await library.add(note(text, workspace="alpha"))
    before = [await library.search(question(probe, workspace="alpha", limit=9)) for probe in PROBES]
    for text in (
        SECRET,
        "vault code 4711-XYZ",
        *(f"amber, code 9999 and stone number {number} in the cellar" for number in range(30)),
    ):
        await library.add(note(text, workspace="beta"))
    after = [await library.search(question(probe, workspace="alpha", limit=9)) for probe in PROBES]
    assert after == before
    scores = {
        one.text: one.score
        for one in before[0].fragments + before[1].fragments + before[2].fragments
    }
    assert len(scores) == 3
    assert len(set(scores.values())) == 1
    gone = await library.items("beta", EVERY, limit=99)
    for one in gone:
        await library.remove("beta", one.id, by="me")
    assert [
        await library.search(question(probe, workspace="alpha", limit=9)) for probe in PROBES
    ] == before


def as_version(file: Path, version: int) -> None:
    """Put a database of an earlier schema version in the place of one, with the rows that both have
    a table for.
    """
    older = file.with_name("older")
    with closing(sqlite3.connect(older)) as db:
        make(db, version)
        db.execute("ATTACH ? AS now", (str(file),))
        for (table,) in db.execute(
            "SELECT o.name FROM main.sqlite_master o JOIN now.sqlite_master n ON n.name = o.name "
            "AND n.type = 'table' WHERE o.type = 'table' AND o.name NOT LIKE 'sqlite_%' "
            "AND o.name NOT LIKE 'passages_text%'"
        ).fetchall():
            columns = ", ".join(
                name
                for (name,) in db.execute(
                    "SELECT o.name FROM pragma_table_info(?1, 'main') o JOIN "
                    "pragma_table_info(?1, 'now') n ON n.name = o.name",
                    (table,),
                )
            )
            db.execute(
                f"INSERT OR REPLACE INTO main.{table}({columns}) SELECT {columns} FROM now.{table}"
            )
        if version < 4:  # where one index was of all workspaces
            db.execute(
                "CREATE VIRTUAL TABLE IF NOT EXISTS passages_text USING fts5(heading, text, "
                "content='passages', content_rowid='no')"
            )
            db.execute("INSERT INTO passages_text(passages_text) VALUES ('rebuild')")
        else:
            db.execute("DELETE FROM word_indexes")
            index_again(db)
        db.commit()
    older.replace(file)


async def test_one_text_index_for_all_becomes_one_for_each_workspace(on_disk: House) -> None:
    """A database of schema version 3, with one text index over all workspaces, finds by words what
    it held, each workspace its own.
    """
    for workspace in ("alpha", "beta"):
        await on_disk.library.add(
            note(f"The pump of {workspace} stands in the cellar.", workspace=workspace)
        )
    on_disk.close()
    assert on_disk.folder is not None
    as_version(on_disk.folder / FILE, 3)
    library = on_disk.open(lambda: None)
    for workspace in ("alpha", "beta"):
        assert await found(library, '"stands in the cellar"', workspace=workspace) == [
            f"The pump of {workspace} stands in the cellar."
        ]
    assert on_disk.store.query(
        "SELECT count(*) FROM sqlite_master WHERE name = 'passages_text'"
    ) == [(0,)]


async def test_an_upgrade_leaves_the_text_indices_alone(on_disk: House) -> None:
    """A database of schema version 6 has its indices; brought on, it finds each passage once, and
    forgets it whole.
    """
    added = await on_disk.library.add(note("A zebrafink sang."))
    on_disk.close()
    assert on_disk.folder is not None
    as_version(on_disk.folder / FILE, 6)
    library = on_disk.open(lambda: None)
    assert len(await found(library, "zebrafink")) == 1
    assert await library.remove("default", added.id, by="me")
    assert b"zebrafink" not in on_disk.bytes()


async def test_trust_and_author_are_kept(house: House) -> None:
    """What is stored keeps its trust; what somebody wrote as their own is a member's to everybody
    else.
    """
    await house.library.add(note("Ada likes tulips.", author="ada"))
    await house.library.add(
        note("A page says that tulips are poisonous.", trust=Trust.FOREIGN, author="")
    )
    seen = {
        user: await house.library.search(question("tulips", user=user))
        for user in ("ada", "bob", "")
    }
    trusts = {
        user: {one.author: one.trust for one in answer.fragments} for user, answer in seen.items()
    }
    assert trusts["ada"] == {"ada": Trust.OWN, "": Trust.FOREIGN}
    assert trusts["bob"] == trusts[""] == {"ada": Trust.MEMBER, "": Trust.FOREIGN}


async def test_letters_are_found_by_the_text_index_alone(house: House) -> None:
    """What stands in quotes is found only where it stands so; an id that nothing holds falls back
    to meaning, and says so.
    """
    await house.library.add(note("Invoice INV-2024-113 is unpaid."))
    await house.library.add(note("Invoice INV-2024-114 was paid in May."))
    exact = await house.library.search(question("what about INV-2024-114"))
    assert (exact.method, [one.text for one in exact.fragments]) == (
        Method.TEXT,
        ["Invoice INV-2024-114 was paid in May."],
    )
    quoted = await house.library.search(question('"is paid"'))
    assert (quoted.method, quoted.fragments, "quotes" in quoted.notice) == (Method.TEXT, (), True)
    near = await house.library.search(question("unpaid invoice INV-2024-999"))
    assert (near.method, len(near.fragments), "INV-2024-999" in near.notice) == (
        Method.DENSE,
        2,
        True,
    )


async def test_without_an_embedder_words_are_found_and_it_says_so(on_disk: House) -> None:
    """Where there is no embedder the text index answers and the notice says so; what was kept so
    gets its vectors later.
    """
    library = on_disk.again(None)
    added = await library.add(note("Father was prescribed tablets against high blood pressure."))
    answer = await library.search(question("was a tablet prescribed"))
    assert (added.embedded, answer.method, len(answer.fragments)) == (False, Method.TEXT, 1)
    assert "no embedder" in answer.notice
    assert await found(library, "what medication does dad take for hypertension") == []
    assert (await library.reindex()).embedder == ""
    library = on_disk.again()
    assert "reindex" in (await library.search(question("tablets"))).notice
    done = await library.reindex()
    assert (done.added, done.embedded, done.passages) == (1, 1, 1)
    answer = await library.search(question("what medication does dad take for hypertension"))
    assert (answer.method, answer.notice, len(answer.fragments)) == (Method.DENSE, "", 1)


async def test_vectors_of_another_embedder_are_never_compared(on_disk: House) -> None:
    """After a change of embedder nothing is compared with the old vectors; ``reindex`` and a start
    give everything new ones.
    """
    await on_disk.library.add(note("The cat sleeps in the sun."))
    library = on_disk.again(OtherEmbedder())
    await library.add(note("The dog barks at night."))
    answer = await library.search(question("cat"))
    assert "The cat sleeps in the sun." not in [one.text for one in answer.fragments]
    assert "1 passages have no vector" in answer.notice
    await library.catch_up()
    assert "The cat sleeps in the sun." in await found(library, "where does the cat sleep")
    rows = on_disk.store.query("SELECT DISTINCT embedder, dimension, length(vector) FROM vectors")
    assert rows == [("other-1", EMBEDDER.dimension, 4 * EMBEDDER.dimension)]


async def test_forgetting_leaves_nothing_on_disk(on_disk: House) -> None:
    """After a note was forgotten none of its words is in any file: not in rows, not in the text
    index, not in free pages.
    """
    kept = await on_disk.library.add(note("Nothing much happened on Tuesday."))
    gone = [
        await on_disk.library.add(
            note(
                f"Zebrafink {number} met quagmirella.",
                title=f"Xylothek {number}",
                tags=("vuvuzela",),
                author="mxyzptlk",
            )
        )
        for number in range(20)
    ]
    for one in gone:
        assert await on_disk.library.remove("default", one.id, by="me")
    on_disk.close()
    everything = on_disk.bytes().lower()
    on_disk.open(lambda: EMBEDDER)
    assert [
        word
        for word in (b"zebrafink", b"quagmirel", b"xylothek", b"vuvuzela", b"mxyzptlk")
        if word in everything
    ] == []
    assert b"nothing much happened" in everything
    assert [one.id for one in await on_disk.library.items("default", EVERY, limit=99)] == [kept.id]
    assert on_disk.store.query("SELECT count(*) FROM vectors") == [(1,)]


async def test_forgetting_empties_the_log_too(on_disk: House) -> None:
    """While the engine runs no file has a word of what was forgotten; who still reads holds the log
    up only until they are done.
    """
    first = await on_disk.library.add(note("A zebrafink sang."))
    second = await on_disk.library.add(note("A quagmirella sang."))
    assert b"zebrafink" in on_disk.bytes()
    assert await on_disk.library.remove("default", first.id, by="me")
    assert b"zebrafink" not in on_disk.bytes()
    reader = on_disk.store.reader()
    assert reader is not None
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM items").fetchone()
    assert await on_disk.library.remove("default", second.id, by="me")
    reader.execute("ROLLBACK")
    reader.close()
    for _ in range(TRUNCATE_BATCHES):
        await on_disk.store.submit(Operation(name="release", args={"engine": 0, "runs": []}))
    assert b"quagmirella" not in on_disk.bytes()


async def test_an_addition_that_was_cut_off_leaves_nothing(
    on_disk: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a document is being added it is in no answer; what a crash left of it is gone after the
    next start.
    """
    monkeypatch.setattr(library_module, "FILLED", 2)
    sections = tuple(
        Section(text=f"Paragraph {number} of the treaty about herrings.") for number in range(7)
    )
    seen: list[int] = []

    class Crash(BaseException):
        """Stands for the end of the process."""

    def progress(stored: int, of: int) -> None:
        seen.append(stored)
        if stored >= 4:
            on_disk.store.writer._closed = True  # a process that has died writes nothing more
            raise Crash

    treaty = note("", sections=sections, kind=ItemKind.DOCUMENT, source="/treaty", digest="t")
    with pytest.raises(Crash):
        await on_disk.library.add(treaty, progress)
    assert seen == [2, 4]
    assert (
        await found(on_disk.library, "treaty about herrings")
        == await found(on_disk.library, '"treaty about herrings"')
        == []
    )
    library = on_disk.again()
    assert in_storage(on_disk) == [1, 4, 4]
    await library.recover()
    assert in_storage(on_disk) == [0, 0, 0]
    assert (await library.add(treaty)).outcome == "added"
    assert len(await found(library, "treaty about herrings", limit=9)) == 7


async def test_of_a_note_only_the_best_passage_is_given(house: House) -> None:
    """A long note is one fragment; a document may give several."""
    text = " ".join(f"The ferry to island {number} takes {number} hours." for number in range(80))
    await house.library.add(note(text))
    assert len(await found(house.library, "how long does the ferry take")) == 1
    await house.library.add(note(text, kind=ItemKind.DOCUMENT, source="/ferries"))
    assert (
        len(await found(house.library, "how long does the ferry take", kinds=(ItemKind.DOCUMENT,)))
        == 3
    )


async def test_only_what_is_recent_where_that_is_asked(house: House) -> None:
    """A window of days leaves out what was added before, by meaning and by words."""
    await house.library.add(note("The old bridge is closed."))
    house.clock.ahead = 5 * 86_400_000_000
    await house.library.add(note("The new bridge is open."))
    for query in ("bridge", '"bridge is"'):
        assert len(await found(house.library, query)) == 2
        assert await found(house.library, query, days=3) == ["The new bridge is open."]


async def test_what_a_window_leaves_out_is_said(house: House) -> None:
    """The notice says that only so many days were searched, where something older is kept or
    nothing was found; else nothing.
    """
    old = await house.library.add(note("The old bridge is closed."))
    house.clock.ahead = 5 * 86_400_000_000
    await house.library.add(note("The new bridge is open."))
    said = "only the last 3 days were searched; time_window_days 0 searches all"
    for query in ("bridge", '"bridge is"'):
        assert (await house.library.search(question(query, days=3))).notice == said
        assert (await house.library.search(question(query, days=9))).notice == ""
        assert (await house.library.search(question(query))).notice == ""
    assert said in (await house.library.search(question('"old bridge"', days=3))).notice
    await house.library.remove("default", old.id, by="me")
    assert (await house.library.search(question("bridge", days=3))).notice == ""
    assert said in (await house.library.search(question('"old bridge"', days=3))).notice


async def test_themes_come_in_order(house: House) -> None:
    """The last themes, oldest first; items without one, and removed ones, are not among them."""
    for number in range(5):
        await house.library.add(
            note(
                f"Entry {number}.",
                kind=ItemKind.ENTRY,
                theme=f"theme {number}" if number != 2 else "",
            )
        )
    items = await house.library.items("default", EVERY, limit=9)
    await house.library.remove(
        "default", next(one.id for one in items if one.theme == "theme 3"), by="me"
    )
    assert [one.theme for one in await house.library.themes("default", limit=2)] == [
        "theme 1",
        "theme 4",
    ]


async def test_an_item_has_a_bound(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """An item of too many passages is refused before anything of it is stored."""
    monkeypatch.setattr(library_module, "PASSAGES_MAX", 3)
    with pytest.raises(InvalidRequest) as refused:
        await house.library.add(
            note("", sections=tuple(Section(text=f"Part {number}.") for number in range(4)))
        )
    assert refused.value.code == "document_too_long"
    assert house.store.query("SELECT count(*) FROM items") == [(0,)]


NOTES = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "recall" / "notes.json").read_text(encoding="utf-8")
)


@settings(
    max_examples=examples(12),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(
        st.one_of(
            st.integers(0, 9).map(lambda n: ("add", n)),
            st.integers(0, 9).map(lambda n: ("remove", n)),
            st.just(("ask", 0)),
        ),
        max_size=25,
    )
)
async def test_the_cached_matrix_finds_what_a_fresh_one_finds(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    """Whatever was added and removed between questions, an index that was kept answers as one that
    reads everything anew.
    """
    house = House(tmp_path_factory.mktemp("library"))
    ids: dict[int, str] = {}
    for step, number in [*steps, ("ask", 0)]:
        if step == "add":
            ids[number] = (
                await house.library.add(note(NOTES["notes"][number], digest=str(number)))
            ).id
        elif step == "remove" and number in ids:
            await house.library.remove("default", ids.pop(number), by="me")
        elif step == "ask":
            warm = await house.library.search(question("birthday, boiler or flight", limit=9))
            fresh = SqliteLibrary(house.store, house.clock, lambda: EMBEDDER)
            assert msgspec.to_builtins(
                await fresh.search(question("birthday, boiler or flight", limit=9))
            ) == msgspec.to_builtins(warm)
            assert {one.id for one in warm.fragments} <= set(ids.values())
            fresh.close()
    house.close()
