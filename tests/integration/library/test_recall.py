"""recall.fetch_context, collapse.write_entry and research.search through the one door, over a real
store and the real embedder.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ordain import Ordain
from ordain.contracts.library import NoteRequest
from ordain.contracts.moments import moment
from ordain.contracts.verbs import Trust, VerbRequest
from ordain.errors import Erased, InvalidRequest, Transient
from ordain.ports.library import ItemKind, LibrarySearch, NewItem, Section
from ordain.ports.store import Operation
from ordain.ports.verb import LeafCall
from ordain.store import library as library_module
from ordain.store import library_units
from ordain.store.folder import FILE
from tests.at_once import at_once

NOTES: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "recall" / "notes.json").read_text(encoding="utf-8")
)


@pytest.fixture
async def ordain(tmp_path: Path) -> AsyncIterator[Ordain]:
    async with Ordain(home=tmp_path) as running:
        yield running


async def output(ordain: Ordain, verb: str, **payload: Any) -> dict[str, Any]:
    reply = (await ordain.execute(verb, payload)).wire
    assert reply["ok"], reply
    assert reply["error"] is None
    return reply["output"]


def trust_of(ordain: Ordain, run: str) -> dict[str, Trust]:
    """The trust that a verb run recorded for its output's fields; one that the record does not name
    is foreign.
    """
    (observed,) = (
        json.loads(record.body)["result"]
        for record in at_once(ordain.runtime.view(run)).stored.records
        if record.kind == "observation" and record.body
    )
    return {field: observed.get("trust", {}).get(field, "foreign") for field in observed["output"]}


async def test_paraphrases_are_found(ordain: Ordain) -> None:
    """VRB-09 "`recall.fetch_context`": of 48 notes the right one is among the first 3 for every
    question that shares words, and for 14 of 16 paraphrases.
    """
    for text in NOTES["notes"]:
        await ordain.runtime.library.add_note("default", NoteRequest(text=text, user_id="ada"))
    counts: dict[str, int] = {}
    for kind in ("shared", "paraphrased"):
        answers = [
            (await output(ordain, "recall.fetch_context", query=asked, max_items=3), number)
            for asked, number in NOTES[kind]
        ]
        assert {answer["method"] for answer, _ in answers} == {"dense"}
        counts[kind] = sum(
            NOTES["notes"][number] in [one["text"] for one in answer["fragments"]]
            for answer, number in answers
        )
    assert counts["shared"] == 16
    assert counts["paraphrased"] >= 14


async def test_an_entry_is_written_once_and_recalled(ordain: Ordain) -> None:
    """VRB-09 "`collapse.write_entry`": it returns its collapse_id; what a verb wrote is recalled as
    foreign, with where it came from.
    """
    written = await output(
        ordain,
        "collapse.write_entry",
        text="The plan was simpler than it looked.",
        theme=" Quiet  RELIEF",
        tags=["work"],
    )
    assert written["outcome"] == "added"
    reply = (
        await ordain.execute("recall.fetch_context", {"query": "was the plan difficult?"})
    ).wire
    (fragment,) = reply["output"]["fragments"]
    assert (fragment["id"], fragment["trust"], fragment["source"], fragment["kind"]) == (
        written["collapse_id"],
        "foreign",
        "collapse.write_entry",
        "entry",
    )
    (kept,) = await ordain.runtime.library.notes("default", limit=9, before=None)
    assert fragment["created_at"] == moment(kept.created_at)
    assert trust_of(ordain, reply["run_id"]) == {
        "fragments": "foreign",
        "method": "system",
        "mode": "system",
        "notice": "foreign",
        "of": "system",
    }
    assert [one.theme for one in await ordain._open_library().themes("default", limit=9)] == [
        "quiet relief"
    ]


async def test_a_repeated_call_writes_no_second_entry(ordain: Ordain) -> None:
    """Two attempts of one authorised call are one entry: the key is the call's."""
    spec = ordain.registry.specs["collapse.write_entry"]
    calls = [
        LeafCall(spec=spec, args={"text": "Once."}, key="k", attempt=attempt, timeout_s=9)
        for attempt in (1, 2)
    ]
    first, second = [(await ordain.runtime.services.verbs.run(call)).output for call in calls]  # pyright: ignore[reportAttributeAccessIssue]
    assert (second["collapse_id"], second["outcome"]) == (first["collapse_id"], "same")


async def test_what_a_tokens_runs_write_counts_for_the_token(tmp_path: Path) -> None:
    """Whoever asks for the run, in whichever workspace: beyond its bound the verb fails and says
    so; for another token and the owner it goes on.
    """
    (tmp_path / "policy.toml").write_text(
        f"version = 1\n[memory]\ntoken_bytes = {2 * library_units.PASSAGE_BYTES}\n"
    )
    async with Ordain(home=tmp_path) as ordain:

        async def written(principal: str, workspace: str = "default") -> Any:
            request = VerbRequest(
                verb_id="collapse.write_entry",
                payload={"text": f"Written for {principal}."},
                caller="python",
            )
            accepted = await ordain.runtime.accept(request, principal, workspace)
            reply = ordain.runtime.response(await ordain.runtime.wait(accepted.run))
            return reply["error"]["code"] if reply["error"] else reply["output"]["outcome"]

        of = [
            ("token:a", "default"),
            ("token:a", "other"),
            ("token:a", "default"),
            ("token:b", "default"),
            ("local:owner", "default"),
        ]
        assert [await written(*one) for one in of] == [
            "added",
            "added",
            "quota_spent",
            "added",
            "added",
        ]


async def test_trust_is_as_low_as_the_least_trusted_fragment(ordain: Ordain) -> None:
    """What the user's own notes say is theirs only in their session; one foreign fragment makes the
    whole output foreign.
    """
    library = ordain.runtime.library
    await library.add_note(
        "default", NoteRequest(text="Ada's tulips bloom in April.", user_id="ada")
    )
    reply = (await ordain.execute("recall.fetch_context", {"query": "tulips"})).wire
    assert trust_of(ordain, reply["run_id"])["fragments"] == "member"
    await library.add_document("default", "web.txt", b"Tulips are said to be poisonous for cats.")
    deep = (await ordain.execute("recall.fetch_context", {"query": "tulips", "mode": "deep"})).wire
    assert {one["trust"] for one in deep["output"]["fragments"]} == {"member", "foreign"}
    assert trust_of(ordain, deep["run_id"])["fragments"] == "foreign"


async def test_modes_say_what_was_done(ordain: Ordain) -> None:
    """Hybrid looks at notes and entries, deep at documents too; no graph is kept, and the answer
    says that it was searched as hybrid.
    """
    await ordain.runtime.library.add_document("default", "a.txt", b"The pump is in the cellar.")
    asked = {"query": "where is the pump"}
    assert (await output(ordain, "recall.fetch_context", **asked))["fragments"] == []
    deep = await output(ordain, "recall.fetch_context", **asked, mode="deep")
    assert (deep["mode"], [one["source"] for one in deep["fragments"]]) == ("deep", ["a.txt"])
    graph = await output(ordain, "recall.fetch_context", **asked, mode="graph")
    assert (graph["mode"], graph["notice"].split("; ")[0]) == (
        "hybrid",
        "no graph is kept: searched as hybrid",
    )


async def test_documents_are_searched_with_where_it_stands(ordain: Ordain) -> None:
    """VRB-09 "`research.search`": passages of the user's documents with name, heading and offsets,
    in one document where that is asked.
    """
    text = (
        "# Lease\n\nThe tenant may keep a dog.\n\n## Notice\n\n"
        "Either side gives three months' notice.\n"
    )
    lease = await ordain.runtime.library.add_document("default", "lease.md", text.encode())
    other = await ordain.runtime.library.add_document(
        "default", "gym.md", b"# Gym\n\nCancel with four weeks' notice.\n"
    )
    found = await output(
        ordain, "research.search", query="how many months of notice", document=lease.id, max_items=1
    )
    (passage,) = found["passages"]
    assert (passage["document"], passage["heading"], passage["page"]) == (
        "lease.md",
        "Lease > Notice",
        0,
    )
    assert (
        text[passage["start"] : passage["stop"]]
        == passage["text"]
        == "Either side gives three months' notice."
    )
    every = await output(ordain, "research.search", query="notice period")
    assert {one["document_id"] for one in every["passages"]} == {lease.id, other.id}
    assert (await output(ordain, "research.search", query="notice", document="nothing"))[
        "passages"
    ] == []


@pytest.mark.parametrize(
    ("verb", "payload"),
    [
        ("recall.fetch_context", {"query": ""}),
        ("recall.fetch_context", {"query": "x" * 2001}),
        ("recall.fetch_context", {"query": "x", "max_items": 0}),
        ("recall.fetch_context", {"query": "x", "mode": "psychic"}),
        ("collapse.write_entry", {"text": "x" * 20_001}),
        ("collapse.write_entry", {"text": " \n "}),
        ("collapse.write_entry", {"text": "x", "tags": ["y"] * 21}),
        ("research.search", {"query": ["x"]}),
    ],
)
async def test_what_does_not_fit_is_refused(
    ordain: Ordain, verb: str, payload: dict[str, Any]
) -> None:
    """Empty, too long, of another type or of an unknown mode: each is a typed failure, and nothing
    is stored.
    """
    reply = (await ordain.execute(verb, payload)).wire
    assert (reply["ok"], reply["output"]) == (False, None)
    assert reply["error"]["code"]
    assert await ordain.runtime.library.notes("default", limit=9, before=None) == []


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "***",
        "NEAR(a b)",
        "a:b",
        "'; DROP TABLE items; --",
        "\u202e\u0000",
        "🐈" * 100,
        "(" * 500,
    ],
)
async def test_no_question_is_a_command(ordain: Ordain, query: str) -> None:
    """Whatever stands in a question, it is asked and answered, and what is remembered stays."""
    await ordain.runtime.library.add_note("default", NoteRequest(text="The cat sleeps."))
    assert (await output(ordain, "recall.fetch_context", query=query))["method"] in {
        "dense",
        "text",
    }
    assert len(await ordain.runtime.library.notes("default", limit=9, before=None)) == 1


async def test_erasing_a_run_erases_what_it_wrote(ordain: Ordain) -> None:
    """What a run wrote into the library goes with the run's content, from every kind of search."""
    reply = (await ordain.execute("collapse.write_entry", {"text": "A secret about herons."})).wire
    await ordain.runtime.operators.erase(reply["run_id"], by="ada", why="asked for it")
    for query in ("herons", '"secret about"'):
        assert (await output(ordain, "recall.fetch_context", query=query))["fragments"] == []
    assert await ordain.runtime.library.notes("default", limit=9, before=None) == []


LONG = "\n\n".join(
    f"Paragraph {number}: " + "the zebrafink sings of herons at dawn. " * 20 for number in range(24)
)


async def long_entry(ordain: Ordain) -> str:
    """A run that wrote an entry of many passages, all of one subject; gives the run."""
    run = (await ordain.execute("collapse.write_entry", {"text": LONG, "theme": "vuvuzela"})).wire[
        "run_id"
    ]
    assert ordain.store.query("SELECT passages > 10 FROM items") == [(1,)]
    return run


async def seen(ordain: Ordain) -> list[Any]:
    """Everything that readers of the library are shown."""
    library = ordain._open_library()
    asked = [
        LibrarySearch(workspace="default", query=query, limit=9, kinds=tuple(ItemKind))
        for query in ("what sings", '"sings of herons"')
    ]
    found = [fragment for one in asked for fragment in (await library.search(one)).fragments]
    return [
        *found,
        *await library.items("default", tuple(ItemKind), limit=9),
        *await library.themes("default", limit=9),
    ]


def left(ordain: Ordain) -> list[tuple[Any, ...]]:
    """What of the erased entry is still stored: passages, vectors, indexes that hold deleted words,
    and what its row says.
    """
    counted = (
        "(SELECT count(*) FROM passages), (SELECT count(*) FROM vectors), (SELECT count(*) FROM "
        "word_indexes WHERE merged < deletions)"
    )
    return ordain.store.query(f"SELECT {counted}, title || theme || author || source FROM items")


def written_in(home: Path) -> list[bytes]:
    """The entry's words that stand in any of the database's files."""
    everything = b"".join(file.read_bytes() for file in home.glob(f"{FILE}*")).lower()
    return [word for word in (b"zebrafink", b"heron", b"vuvuzela") if word in everything]


async def test_what_is_erased_is_destroyed_in_short_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much a subject's runs wrote, no write of an erasure destroys more than its share;
    when it returns nothing is left in any file.
    """
    monkeypatch.setattr(library_units, "PURGED", 3)
    async with Ordain(home=tmp_path) as ordain:
        run = await long_entry(ordain)
        assert written_in(tmp_path) != []
        stored: list[int] = []
        ordain.store._db.create_function(
            "seen",
            0,
            lambda: stored.append(
                ordain.store._db.execute("SELECT count(*) FROM passages").fetchone()[0]
            ),
        )
        ordain.store._db.execute(
            "CREATE TEMP TRIGGER seeing AFTER UPDATE OF removals ON library BEGIN SELECT "
            "seen(); END"
        )
        await ordain.runtime.operators.erase(run, by="ada", why="asked for it")
        assert left(ordain) == [(0, 0, 0, "")]
        assert max(before - after for before, after in pairwise(stored)) <= 3
        assert len(stored) > 3
        assert written_in(tmp_path) == []


async def test_an_erasure_that_is_cut_off_is_finished(tmp_path: Path) -> None:
    """With the commit that erases nobody reads any of it any more; if the process dies then, the
    next start destroys the rest.
    """
    async with Ordain(home=tmp_path) as ordain:
        run = await long_entry(ordain)
        assert len(await seen(ordain)) >= 4
        # and nothing after it
        await ordain.store.submit(Operation(name="erase", args={"run": run, "at": 1}))
        assert await seen(ordain) == []
        ((passages, vectors, _, said),) = left(ordain)
        assert (passages > 10, vectors > 10, said) == (True, True, "")
    async with Ordain(home=tmp_path) as ordain:
        assert left(ordain) == [(0, 0, 0, "")]
        assert await seen(ordain) == []
    assert written_in(tmp_path) == []


async def test_an_erasure_that_storage_stops_is_gone_on_with(ordain: Ordain) -> None:
    """Where what is erased cannot be deleted yet, whoever erases is told so, nobody reads it, and
    erasing again finishes it.
    """
    run = await long_entry(ordain)
    ordain.store._db.execute(
        "CREATE TEMP TRIGGER refusing BEFORE DELETE ON passages BEGIN SELECT RAISE(ABORT, "
        "'full'); END"
    )
    with pytest.raises(Transient):
        await ordain.runtime.operators.erase(run, by="ada", why="asked for it")
    assert await seen(ordain) == []
    ordain.store._db.execute("DROP TRIGGER refusing")
    assert await ordain.runtime.operators.erase(run, by="ada", why="asked for it") == 0
    assert left(ordain) == [(0, 0, 0, "")]


async def test_an_addition_whose_run_is_erased_meanwhile_is_erased_too(
    ordain: Ordain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a run is still adding when it is erased is not kept, and whoever adds is told why."""
    monkeypatch.setattr(library_module, "FILLED", 2)
    run = await long_entry(ordain)
    erasing: list[asyncio.Future[int]] = []

    def progress(stored: int, of: int) -> None:
        if not erasing:
            erasing.append(
                asyncio.ensure_future(
                    ordain.runtime.operators.erase(run, by="ada", why="asked for it")
                )
            )

    sections = tuple(Section(text=f"Paragraph {number} about herons.") for number in range(40))
    adding = NewItem(
        workspace="default", kind=ItemKind.ENTRY, trust=Trust.FOREIGN, sections=sections, run=run
    )
    with pytest.raises(Erased, match="erased meanwhile"):
        await ordain._open_library().add(adding, progress)
    assert await erasing[0] > 0
    assert ordain.store.query("SELECT DISTINCT state FROM items") == [("gone",)]
    assert left(ordain)[0][:3] == (0, 0, 0)


async def test_a_document_without_a_name_is_refused(ordain: Ordain) -> None:
    """A name is a line of text of some length."""
    for name in ("", "  ", "x" * 201, "a\u202eb"):
        with pytest.raises(InvalidRequest) as error:
            await ordain.runtime.library.add_document("default", name, b"Text.")
        assert error.value.code == "invalid_name"


@pytest.mark.parametrize("shared", [False, True])
async def test_what_a_turn_wrote_is_its_users(tmp_path: Path, shared: bool) -> None:
    """An entry of a session's run is found for that session's user alone, and its theme is in
    nobody else's history, but where policy shares memory.
    """
    (tmp_path / "policy.toml").write_text(
        f"version = 1\n[memory]\nshared = {str(shared).lower()}\n"
    )
    async with Ordain(home=tmp_path) as ordain:
        library, runs = ordain._open_library(), dict[str, str]()
        for user in ("ada", "mallory"):
            message = {
                "session_id": f"of:{user}",
                "user_id": user,
                "message": {"text": "What is the boiler's pressure?"},
            }
            answer = await ordain.answer(await ordain.send(message))
            runs[user] = answer.run_id or ""
            entry = NewItem(
                workspace="default",
                kind=ItemKind.ENTRY,
                sections=(Section(text=f"The boiler of {user}."),),
                trust=Trust.FOREIGN,
                theme=user,
                run=runs[user],
                key=user,
                size=1,
            )
            await library.add(entry)
        for query in ('"boiler"', "the boiler"):
            asked = LibrarySearch(
                workspace="default",
                query=query,
                limit=9,
                kinds=(ItemKind.ENTRY,),
                run=runs["ada"],
                personal=True,
            )
            found = sorted(one.text for one in (await library.search(asked)).fragments)
            assert found == ["The boiler of ada.", "The boiler of mallory."][: 2 if shared else 1]
        themes = await library.themes("default", limit=9, run=runs["ada"])
        assert [one.theme for one in themes] == ["ada", "mallory"][: 2 if shared else 1]
        assert len(await library.themes("default", limit=9)) == 2
