"""Files that come with a message: read before it, in the prompt that answers it, documents of its
session alone, erased with it.
"""

from __future__ import annotations

import asyncio
import os
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from ordain.contracts.conversation import Attachment, Message, MessageAnswer
from ordain.contracts.library import MemorySearch, NoteRequest, RecallMode
from ordain.errors import ConfigurationError, InvalidRequest, OrdainError
from ordain.ports.library import ItemKind, LibrarySearch
from ordain.ports.store import load_run
from ordain.runtime.attachments import file_read
from tests.integration.library.pdf import pdf
from tests.replayed import replayed
from tests.shapes.lines import holds, script_of
from tests.shapes.pictures import PNG
from tests.shapes.talk import PRINCIPAL, House

LEASE = (
    b"# Lease\n\nThe tenant may keep a dog.\n\n## Notice\n\n"
    b"Either side gives three months of notice.\n"
)


def with_files(
    text: str, *files: Attachment, session: str = "s1", user: str = "ada", **more: Any
) -> Message:
    return Message.model_validate(
        {
            "session_id": session,
            "user_id": user,
            "message": {"text": text, "attachments": list(files)},
            "context": {"routing_hints": more},
        }
    )


async def ask(house: House, message: Message) -> MessageAnswer:
    sent = await house.ordain.runtime.receive(message, PRINCIPAL)
    return await house.ordain.runtime.conversation.answer("default", sent)


def shown(house: House) -> list[dict[str, Any]]:
    """What the last prompt holds as recalled."""
    return list(house.puppet.requests[-1].inputs.get("recalled", ()))


def header(answer: MessageAnswer) -> str:
    assert answer.reply is not None
    return answer.reply.header


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("lease.md", LEASE, "Either side gives three months of notice."),
        (
            "lease.txt",
            b"Either side gives three months of notice.",
            "Either side gives three months of notice.",
        ),
        (
            "lease.html",
            b"<h1>Lease</h1><p>Either side gives <b>three</b> months.</p>",
            "Either side gives three months.",
        ),
        ("lease.pdf", pdf("Either side gives three months."), "Either side gives three months."),
        (
            "lease",
            b"Either side gives three months of notice.",
            "Either side gives three months of notice.",
        ),
    ],
)
async def test_what_is_attached_is_read(name: str, content: bytes, said: str) -> None:
    """Its text stands in the prompt as foreign material of kind attachment, the header says so, and
    replay needs no file.
    """
    async with House() as house:
        answer = await ask(house, with_files("sum this up", Attachment.of(name, content)))
        assert said in " ".join(one["text"] for one in shown(house))
        assert {(one["kind"], one["trust"], one["title"]) for one in shown(house)} == {
            ("attachment", "foreign", name)
        }
        assert "of 1 document given to the model · recall.attached" in header(answer)
        assert "not read" not in header(answer)
        services = house.ordain.runtime.services
        stored = await load_run(services.store, answer.run_id or "")
        assert stored is not None
        for document in await house.ordain.runtime.library.documents(
            "default", limit=9, before=None
        ):
            await house.ordain.runtime.library.remove_document("default", document.id, by="ada")
        assert replayed(services, stored).verdict == "equal"


async def test_it_is_a_document_of_its_session() -> None:
    """Later messages of that session are given it by what they ask; no other session is, and no
    other user elsewhere.
    """
    async with House() as house:
        await ask(house, with_files("sum this up", Attachment.of("lease.md", LEASE)))
        for session, user, finds in (
            ("s1", "ada", True),
            ("s1", "bob", True),
            ("s2", "ada", False),
            ("s2", "bob", False),
        ):
            await house.say('what of the "dog"?', session, user=user)
            assert bool([one for one in shown(house) if "dog" in one["text"]]) is finds


async def test_no_other_session_reads_it_by_its_id() -> None:
    """Neither verb gives a passage of what came in another session, whoever names its id."""
    async with House() as house:
        await ask(house, with_files("sum this up", Attachment.of("lease.md", LEASE)))
        (document,) = await house.ordain.runtime.library.documents("default", limit=9, before=None)
        library = house.ordain._open_library()
        search = house.ordain.runtime.library
        found = await search.search("default", MemorySearch(query='"dog"', mode=RecallMode.DEEP))
        assert len(found.fragments) == 1  # whoever may read all of the library's
        for session, finds in (("s1", True), ("s2", False), ("", False)):
            asked = LibrarySearch(
                workspace="default",
                query='"dog"',
                limit=5,
                kinds=(ItemKind.DOCUMENT,),
                user="eve",
                session=session,
                personal=True,
            )
            for one in (
                asked,
                structs.replace(asked, document=document.id),
                structs.replace(asked, attached=(document.id,)),
            ):
                assert bool((await library.search(one)).fragments) is finds


@pytest.mark.parametrize("shared", [False, True])
async def test_no_run_outside_its_session_finds_it(shared: bool) -> None:
    """Neither verb, by its words or its id, whoever runs it and whether memory is shared; other
    documents are found as ever, and lists say whose it is.
    """
    async with House(policy={"memory": {"shared": shared}}) as house:
        await ask(house, with_files("sum this up", Attachment.of("lease.md", LEASE)))
        library = house.ordain.runtime.library
        (document,) = await library.documents("default", limit=9, before=None)
        assert document.session == "s1"
        await library.add_document("default", "pets.md", b'A "dog" is a pet.')
        for query in ('what of the "dog"?', "may the tenant keep a dog?"):
            for more in ({}, {"document": document.id}):
                searched = (
                    await house.ordain.execute("research.search", {"query": query, **more})
                ).wire["output"]
                assert {one["document"] for one in searched["passages"]} == (
                    {"pets.md"} if not more else set()
                )
            for asked in ({"mode": "deep", "time_window_days": 0}, {"attached": [document.id]}):
                recalled = (
                    await house.ordain.execute("recall.fetch_context", {"query": query, **asked})
                ).wire["output"]
                assert {one["title"] for one in recalled["fragments"]} == (
                    {"pets.md"} if "mode" in asked else set()
                )
        await house.say('what of the "dog"?', "s2")
        assert {one["title"] for one in shown(house)} == {"pets.md"}


REFUSED = {
    "lies": ([Attachment.of("a.txt", PNG)], "attachment_unlike"),
    "lies by type": (
        [Attachment(name="a", media_type="text/plain", data=b64encode(b"%PDF-1.4").decode())],
        "attachment_unlike",
    ),
    "cut off": ([Attachment.of("a.png", PNG[:12])], "attachment_unlike"),
    "archive": ([Attachment.of("a.zip", b"PK\x03\x04....")], "attachment_unread"),
    "office": ([Attachment.of("a.docx", b"PK\x03\x04....")], "attachment_unread"),
    "program": ([Attachment.of("notes", b"\x7fELF\x02")], "attachment_unread"),
    "broken": ([Attachment(name="a.txt", data="###")], "attachment_invalid"),
    "empty": ([Attachment(name="a.txt", data="")], "attachment_invalid"),
    "no text": ([Attachment.of("a.txt", b"  \n ")], "document_empty"),
    "no unicode": ([Attachment.of("a.txt", b"\xc3\x28 words")], "document_not_text"),
    "not a pdf": ([Attachment.of("a.pdf", b"%PDF-1.7\nnothing more")], "document_unreadable"),
    "many": (
        [Attachment.of(f"{number}.txt", b"words") for number in range(9)],
        "attachments_too_many",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_all_else_is_refused_and_the_message_with_it(what: str) -> None:
    """By a code and in words that name the file; nothing is said in the session, and nothing stays
    behind, also of the good file beside it.
    """
    files, code = REFUSED[what]
    async with House() as house:
        with pytest.raises(InvalidRequest) as refused:
            await ask(
                house,
                with_files(
                    "read these",
                    *([] if what == "many" else [Attachment.of("good.txt", b"good words")]),
                    *files,
                ),
            )
        assert refused.value.code == code
        if what != "many":  # each refusal says which of the files it is about
            assert files[0].name in refused.value.message
            errors: Any = refused.value.details["errors"]
            assert [one["place"] for one in errors] == ["/message/attachments/1"]
        # nor what a parser calls it
        assert not re.search(r"[A-Z]\w+(Error|Exception)\b", refused.value.message)
        assert house.query(
            "SELECT (SELECT count(*) FROM transcript), (SELECT count(*) FROM items WHERE state <> "
            "'gone'), (SELECT count(*) FROM passages)"
        ) == [(0, 0, 0)]


async def test_too_many_bytes_are_refused() -> None:
    """Of all files together, before any is read."""
    async with House(policy={"attachments": {"max_bytes": 1000}}) as house:
        with pytest.raises(InvalidRequest) as refused:
            await ask(
                house,
                with_files(
                    "read",
                    Attachment.of("a.txt", b"word " * 150),
                    Attachment.of("b.txt", b"word " * 150),
                ),
            )
        assert refused.value.code == "attachment_too_large"


async def test_a_message_that_is_refused_leaves_no_document() -> None:
    """What was read for it is given up: it is in no search, and nothing of it is stored."""
    async with House(
        script=script_of(holds("slowly")), policy={"engine": {"max_accepted": 1}}
    ) as house:
        with pytest.raises(OrdainError):  # one is at work, however slow the machine is
            await asyncio.gather(
                *(
                    ask(
                        house,
                        with_files(
                            "read it slowly",
                            Attachment.of(f"{number}.txt", f"words {number}".encode()),
                            session=f"s{number}",
                        ),
                    )
                    for number in range(6)
                )
            )
        for _ in range(200):
            await asyncio.sleep(0.01)
            if not house.query("SELECT 1 FROM items WHERE state = 'staged'"):
                break
        messages = house.query("SELECT count(*) FROM transcript WHERE kind = 'message'")[0][0]
        assert house.query("SELECT count(*) FROM items WHERE state = 'kept'")[0][0] == messages
        assert not house.query("SELECT 1 FROM items WHERE state = 'staged'")


async def test_the_same_message_at_once_is_one(tmp_path: Path) -> None:
    """A client that gave up and sends it again while its file is still being read: one message, one
    document, one answer.
    """
    async with House(tmp_path) as house:
        message = with_files("sum this up", Attachment.of("lease.md", LEASE)).model_copy(
            update={"message_id": "m1"}
        )
        first, second = await asyncio.gather(
            *(house.ordain.runtime.receive(message, PRINCIPAL) for _ in range(2))
        )
        assert sorted([first.duplicate, second.duplicate]) == [False, True]
        assert (first.seq, house.query("SELECT count(*) FROM items")) == (second.seq, [(1,)])
        await house.ordain.runtime.conversation.answer("default", first)


async def test_the_same_file_again_is_one_document() -> None:
    """Of one session; the message that brings it again is given it all the same."""
    async with House() as house:
        for _ in range(2):
            await ask(house, with_files("sum this up", Attachment.of("lease.md", LEASE)))
            assert any("dog" in one["text"] for one in shown(house))
        assert house.query("SELECT count(*) FROM items WHERE state = 'kept'") == [(1,)]
        await ask(house, with_files("sum this up", Attachment.of("lease.md", LEASE), session="s2"))
        assert house.query("SELECT count(*) FROM items WHERE state = 'kept'") == [(2,)]


async def test_erasing_the_session_erases_its_files(tmp_path: Path) -> None:
    """Text, words and vectors: nothing of it is left in the database; and what is attached to that
    session's name afterwards is read anew.
    """
    async with House(tmp_path) as house:
        await ask(
            house, with_files("sum this up", Attachment.of("lease.md", b"The xylophone is blue."))
        )
        await house.ordain.runtime.operators.erase_session("s1", by="ada", why="asked for")
        assert house.query(
            "SELECT (SELECT count(*) FROM passages), (SELECT count(*) FROM vectors), (SELECT "
            "count(*) FROM items WHERE state <> 'gone')"
        ) == [(0, 0, 0)]
        await ask(
            house, with_files("sum this up", Attachment.of("lease.md", b"The xylophone is blue."))
        )
        assert [one["text"] for one in shown(house)] == ["The xylophone is blue."]
    assert b"xylophone" in (tmp_path / "ordain.db").read_bytes()


async def test_a_long_file_goes_along_in_part() -> None:
    """What it begins with, and what of it is nearest to the question; within policy's bytes, and
    the header says how much.
    """
    text = (
        "The beginning of it.\n\n"
        + "".join(f"Part {number} is about nothing.\n\n" * 30 for number in range(200))
        + "The zeppelin is in hangar nine."
    )
    async with House(policy={"attachments": {"prompt_bytes": 6000}}) as house:
        answer = await ask(
            house, with_files('where is the "zeppelin"?', Attachment.of("long.txt", text.encode()))
        )
        texts = [one["text"] for one in shown(house)]
        assert any("The beginning of it." in one for one in texts)
        assert any("zeppelin" in one for one in texts)
        assert sum(map(len, texts)) < 6000
        assert "passages of 1 document given to the model" in header(answer)


BOOK = "".join(
    f"# Chapter {number}\n\n" + f"In chapter {number} it rains. " * 30 + "\n\n"
    for number in range(60)
)


async def test_what_is_left_out_of_a_file_is_told() -> None:
    """The header counts the passages that the files have, not those that were looked up; the prompt
    says how many are missing, and each passage's heading.
    """
    async with House() as house:
        answer = await ask(
            house,
            with_files(
                "sum this up",
                Attachment.of("book.md", BOOK.encode()),
                Attachment.of("lease.md", LEASE),
            ),
        )
        (of,) = house.query("SELECT sum(passages) FROM items")[0]
        left_out, *given = shown(house)
        assert (
            f"attached: {len(given)} of {of} passages of 2 documents given to the model"
            in header(answer)
        )
        assert 1 < len(given) < 60 <= of
        assert left_out["text"].startswith(
            f"Of what is attached {len(given)} of {of} passages stand here; {of - len(given)} are "
            "left out"
        )
        assert (left_out["kind"], left_out["trust"]) == ("attachment", "system")
        assert {one["heading"] for one in given} >= {"Chapter 0", "Lease"}
        services = house.ordain.runtime.services
        stored = await load_run(services.store, answer.run_id or "")
        assert stored is not None
        assert replayed(services, stored).verdict == "equal"


@pytest.mark.parametrize("more", [{"mode": "agent"}, {"supervised": True}])
async def test_agents_are_told_what_is_left_out(more: dict[str, Any]) -> None:
    """As whoever answers without a plan."""
    async with House() as house:
        await ask(house, with_files("sum this up", Attachment.of("book.md", BOOK.encode()), **more))
        assert any(
            "are left out, and what they say is not known here" in one.user
            for one in house.puppet.requests
        )


@pytest.mark.parametrize("more", [{"mode": "agent"}, {"supervised": True}])
async def test_agents_are_given_it_too(more: dict[str, Any]) -> None:
    """The planner of an agent turn is told the text of what came with the message."""
    async with House() as house:
        await ask(house, with_files("sum this up", Attachment.of("lease.md", LEASE), **more))
        assert any("three months of notice" in one.user for one in house.puppet.requests)


async def test_a_verb_without_a_place_says_that_it_is_not_read() -> None:
    """No header passes over a file in silence."""
    async with House() as house:
        answer = await ask(
            house,
            with_files(
                "Something to extract.", Attachment.of("lease.md", LEASE), verb="extract_facts"
            ),
        )
        assert "attached: 1 document not read: no_place" in header(answer)


async def test_memory_is_not_mixed_with_what_is_attached() -> None:
    """A message with files is answered from them; the sender's notes are asked again with the
    next.
    """
    async with House() as house:
        await house.ordain.runtime.library.add_note(
            "default", NoteRequest(text='Ada loves the "dog" of the lease.', user_id="ada")
        )
        await ask(house, with_files('what of the "dog"?', Attachment.of("lease.md", LEASE)))
        assert {one["kind"] for one in shown(house)} == {"attachment"}
        await house.say('what of the "dog"?')
        assert {one["kind"] for one in shown(house)} == {"note", "document"}


async def test_python_sends_files(tmp_path: Path) -> None:
    """By their paths; one that cannot be read is refused by its name."""
    (tmp_path / "lease.md").write_bytes(LEASE)
    async with House() as house:
        answer = await house.ordain.chat("sum this up", attachments=[tmp_path / "lease.md"])
        assert "recall.attached" in header(answer)
        assert file_read(tmp_path / "lease.md").size_bytes == len(LEASE)
        with pytest.raises(ConfigurationError, match=r"cannot read .*gone\.md"):
            await house.ordain.chat("sum this up", attachments=[tmp_path / "gone.md"])


def test_only_a_regular_file_goes_with_a_message(tmp_path: Path) -> None:
    """A pipe that nobody writes to is refused at once, and so is a folder."""
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(ConfigurationError, match="is no regular file"):
            file_read(tmp_path / name)


async def test_what_is_only_named_is_told_as_not_read() -> None:
    """An attachment without its bytes stands in the transcript, and the header says that nobody
    read it.
    """
    async with House() as house:
        answer = await ask(
            house,
            with_files("see there", Attachment(name="a.pdf", url="https://example.org/a.pdf")),
        )
        assert "1 attachments: not read" in header(answer)
        assert house.query("SELECT count(*) FROM items") == [(0,)]
