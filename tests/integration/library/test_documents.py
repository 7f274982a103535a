"""Documents of every format, read by a real process where the format is read apart; most of them
hostile.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader
from pypdf.errors import DependencyError

from ordain.errors import InvalidRequest
from ordain.ports.documents import DOCUMENT_BYTES
from ordain.store import document_formats, documents
from ordain.store.document_formats import Format, UnreadableDocument, parse
from ordain.store.documents import DocumentReader
from tests.integration.library.pdf import encrypted, filled_form, pdf, with_pictures

MARKDOWN = """\
Before any heading.

# Guide

Words *here*.

Install
-------
Run it.
```
# no heading
```
## Deeper ##
Last words.
"""
PAGE = """<!doctype html><html><head><meta charset="iso-8859-1"><title> A  page </title><style>p {color: red}</style></head>
<body><p>Caf\xe9 opens at <b>nine</b>.</p><script>alert("never")</script><h2>Prices</h2><ul><li>Tea 3</li><li>Coffee 4</li></ul>
<div hidden>not shown</div><!-- nor this --></body></html>"""


async def refused(name: str, content: bytes) -> str:
    with pytest.raises(InvalidRequest) as error:
        await DocumentReader().read(name, content)
    return error.value.code


async def test_markdown_is_read_by_its_headings() -> None:
    """Each section stands below the path of its headings, at its offset in the file; a line in a
    fence is no heading.
    """
    read = await DocumentReader().read("guide.md", MARKDOWN.encode())
    assert read.media_type == "text/markdown"
    assert [(one.heading, one.text.strip().splitlines()[0]) for one in read.sections] == [
        ("", "Before any heading."),
        ("Guide", "Words *here*."),
        ("Guide > Install", "Run it."),
        ("Guide > Deeper", "Last words."),
    ]
    assert all(MARKDOWN[one.start : one.start + len(one.text)] == one.text for one in read.sections)
    assert "# no heading" in read.sections[2].text


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("# A", "A"),
        ("   ###### A b\t", "A b"),
        ("# A ##", "A"),
        ("# A#", "A#"),
        ("# A # b", "A # b"),
        ("#\tA", "A"),
        ("# ##", ""),
        ("#", ""),
        ("#A", None),
        ("####### A", None),
        ("    # A", None),
        ("A # b", None),
    ],
)
def test_what_a_heading_is(line: str, name: str | None) -> None:
    """One to six marks, indented by three at most, then a blank or nothing; marks that close it are
    no part of it.
    """
    _, _, sections = parse(Format.MARKDOWN, f"{line}\nText.\n".encode())
    text = f"{line}\nText.\n" if name is None else "Text.\n"
    assert [(one[0], one[1]) for one in sections] == [(text, name or "")]


def test_a_run_of_blanks_is_read_once() -> None:
    """A heading with millions of blanks inside is read at all: no pattern tries them again and
    again.
    """
    line = "# a" + " " * 2_000_000 + "b"
    _, _, ((text, heading, _, _),) = parse(Format.MARKDOWN, f"{line}\n{line[1:]}\n".encode())
    assert (text, heading[0]) == (line[1:] + "\n", "a")


async def test_html_is_read_as_it_is_shown() -> None:
    """Text by its declared character set, blocks on lines of their own, no scripts, styles,
    comments or hidden parts.
    """
    read = await DocumentReader().read("page.html", PAGE.encode("latin-1"))
    assert (read.title, read.media_type) == ("A page", "text/html")
    assert [(one.heading, " ".join(one.text.split())) for one in read.sections] == [
        ("", "Café opens at nine."),
        ("Prices", "Tea 3 Coffee 4"),
    ]
    assert "Tea 3\n" in read.sections[1].text


async def test_a_pdf_is_read_page_by_page() -> None:
    """Each page with text is a section that knows its number; the format is told by the bytes and
    not by the name.
    """
    read = await DocumentReader().read("report", pdf("Revenue rose.", "", "Costs fell."))
    assert (read.media_type, read.pages) == ("application/pdf", 3)
    assert [(one.page, one.text.strip()) for one in read.sections] == [
        (1, "Revenue rose."),
        (3, "Costs fell."),
    ]


@pytest.mark.parametrize(
    ("meaning", "text"),
    [
        ({"B": "D835"}, "A \ufffd end"),
        ({"B": "DC00"}, "A \ufffd end"),
        ({"B": "D835DC00"}, "A \U0001d400 end"),
        ({"B": "0042"}, "A B end"),
    ],
)
async def test_half_a_character_in_a_pdf_is_replaced(meaning: dict[str, str], text: str) -> None:
    """A font that maps a glyph to half a surrogate pair costs that one character and not the
    document.
    """
    assert (await DocumentReader().read("report.pdf", pdf("A B end", meaning=meaning))).sections[
        0
    ].text.strip() == text


async def test_a_document_that_ends_its_process_is_said_to_take_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only an answer that is not there, or is cut off, is put down to time and memory."""
    monkeypatch.setattr(documents, "ANSWER_BYTES", 10)
    with pytest.raises(InvalidRequest, match="too much time or memory") as error:
        await DocumentReader().read("cut.txt", b"x" * 3_000_000)
    assert error.value.code == "document_unreadable"


def readers() -> int:
    """How many processes that read documents were begun by this one and run."""
    found = 0
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            stat = (
                command.with_name("stat")
                .read_text(encoding="ascii", errors="replace")
                .rpartition(")")[2]
                .split()
            )
            found += (
                b"document_formats" in command.read_bytes()
                and stat[0] != "Z"
                and int(stat[1]) == os.getpid()
            )
    return found


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8, 13, 50, 400])
def test_a_reading_that_is_given_up_ends_with_its_loop(turns: int) -> None:
    """Cut off after any turn of a loop that ends: that waits for nothing for ever, and no process
    is left.
    """

    async def leave() -> None:
        reading = asyncio.create_task(DocumentReader().read("long.txt", b"word " * 1_000_000))
        for _ in range(turns):
            await asyncio.sleep(0)
        assert not reading.done()

    asyncio.run(leave())
    assert readers() == 0


async def test_a_reading_that_is_cancelled_leaves_no_process() -> None:
    """Whoever gives up in the midst of it frees the place for the next."""
    reader = DocumentReader()
    for _ in range(5):
        reading = asyncio.create_task(reader.read("long.txt", b"word " * 1_000_000))
        await asyncio.sleep(0.05)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(reading, 30)
    assert (await reader.read("a.txt", b"One word.")).sections


@pytest.mark.parametrize("text", ["# Lease", "# Lease\n\n## Pets\n", "Lease\n=====\n"])
async def test_headings_alone_are_a_documents_text(text: str) -> None:
    """A Markdown file of headings says what they say: it is found by them."""
    (section,) = (await DocumentReader().read("todo.md", text.encode())).sections
    assert section.text == text


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("empty.txt", b"", "document_empty"),
        ("blank.md", b" \n\n ", "document_empty"),
        ("latin.txt", "Z\xfcrich".encode("latin-1"), "document_not_text"),
        ("nul.txt", b"a\0b", "document_not_text"),
        ("letter.docx", b"PK\x03\x04", "unsupported_document"),
        ("fake.pdf", b"no pdf at all", "unsupported_document"),
        ("broken.pdf", b"%PDF-1.7\ngarbage", "document_unreadable"),
        ("cut.pdf", pdf("Some text.")[:200], "document_unreadable"),
        ("scan.pdf", pdf("", ""), "document_empty"),
        ("secret.pdf", encrypted(pdf("Top secret."), "password"), "document_encrypted"),
        ("empty.html", b"<script>1</script>", "document_empty"),
        ("large.txt", b"x" * (DOCUMENT_BYTES + 1), "document_too_large"),
        ("long.txt", b"word " * 1_100_000, "document_too_long"),
    ],
)
async def test_what_cannot_be_read_is_refused_with_its_reason(
    name: str, content: bytes, code: str
) -> None:
    """A document without text, of another format, broken, encrypted or too large is refused with a
    code of its own.
    """
    assert await refused(name, content) == code


async def test_a_pdf_that_anyone_may_open_is_read() -> None:
    """A PDF that is encrypted without a password for reading is read."""
    assert (await DocumentReader().read("open.pdf", encrypted(pdf("For all."), ""))).sections[
        0
    ].text.strip() == "For all."


async def test_what_is_filled_into_a_form_is_read() -> None:
    """Fields stand behind their page's text by their names, a box where it is ticked, and what a
    field has from the one above it.
    """
    filled = filled_form(
        pdf("Application", "Terms"),
        surname="Lovelace",
        member="/Yes",
        guest="/Off",
        empty=" ",
        above_town="London",
    )
    read = await DocumentReader().read("form.pdf", filled)
    assert [one.text.split("\n") for one in read.sections] == [
        ["Application", "surname: Lovelace", "member: Yes", "above_town: London"],
        ["Terms"],
    ]


@pytest.mark.parametrize("broken", [b"7", b"[7 8]", b"[99 0 R]", b"<< /A 1 >>"])
def test_a_broken_form_hides_no_text(broken: bytes) -> None:
    """What stands on the page is read all the same."""
    content = pdf("On the page.").replace(b"/MediaBox", b"/Annots " + broken + b" /MediaBox")
    _, _, ((text, *_),) = parse(Format.PDF, content)
    assert text.strip() == "On the page."


async def test_a_page_that_is_a_picture_is_told_of_beside_what_is_read() -> None:
    """Whoever reads the rest is not to believe that it is all; a blank page says nothing, a
    document of pictures alone is refused.
    """
    pages = with_pictures(pdf("One.", "", "", "", "", "Six.", ""), 2, 3, 5)
    read = await DocumentReader().read("half.pdf", pages)
    assert read.pages == 7
    assert [(one.page, one.text.strip()) for one in read.sections] == [
        (1, "One."),
        (2, "[Pages 2 to 3 are pictures without text; nothing of it was read.]"),
        (5, "[Page 5 is a picture without text; nothing of it was read.]"),
        (6, "Six."),
    ]
    assert await refused("scan.pdf", with_pictures(pdf("", ""), 1, 2)) == "document_empty"


async def test_what_stands_before_a_pdf_is_passed_over() -> None:
    """Some programs and mail gateways put lines before it; a text about PDFs is a text."""
    begun = pdf("Behind junk.").replace(b"\n", b"\n%\xe2\xe3\xcf\xd3\n", 1)
    for name in ("a.pdf", "a"):
        read = await DocumentReader().read(name, b"HTTP/1.1 200 OK\r\n\r\n" + begun)
        assert (read.media_type, read.sections[0].text.strip()) == (Format.PDF, "Behind junk.")
    about = "A PDF begins so:\n%PDF-1.7\n% and a comment of odd letters: \u00e2\u00e3.\n"
    assert (await DocumentReader().read("a.txt", about.encode())).media_type == Format.TEXT


def test_a_cipher_that_cannot_be_read_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PDF whose cipher needs a package that is not there may well open without a password: it is
    told what to do, and not that it has one.
    """

    def without(reader: PdfReader, password: str) -> int:
        raise DependencyError(password)

    monkeypatch.setattr(PdfReader, "decrypt", without)
    with pytest.raises(UnreadableDocument, match="AES: save it without encryption") as error:
        parse(Format.PDF, encrypted(pdf("For all."), ""))
    assert error.value.code == "document_encrypted"


@pytest.mark.parametrize(
    ("declared", "content"),
    [
        ("utf-8", "Sch\xf6n \u201e\xfcber\u201c \u2013".encode("cp1252")),
        ("", "Sch\xf6n \u201e\xfcber\u201c \u2013".encode("cp1252")),
        ("iso-8859-1", "Sch\xf6n \u201e\xfcber\u201c \u2013".encode("cp1252")),
        ("utf-16", "Sch\xf6n \u201e\xfcber\u201c \u2013".encode()),
        ("no-such-set", "Sch\xf6n \u201e\xfcber\u201c \u2013".encode()),
        ("windows-1251", "\u041a\u043b\u044e\u0447".encode("cp1251")),
        ("gb2312", "\u4fe1 \u9555".encode("gb18030")),
        ("utf-8", "Sch\xf6n \u201e\xfcber\u201c \u2013 \ufffd".encode().replace(b"\xbf\xbd", b"")),
    ],
)
def test_a_page_is_read_in_the_letters_it_is_written_in(declared: str, content: bytes) -> None:
    """By what it declares, as browsers take it; where its bytes cannot be that, or it declares
    nothing, as what they can be. A stray byte makes no other set of it.
    """
    head = f'<meta charset="{declared}">' if declared else ""
    _, _, ((text, *_),) = parse(Format.HTML, f"<html>{head}<body>".encode() + content)
    assert text.strip().rstrip("\ufffd ") in (
        "Sch\xf6n \u201e\xfcber\u201c \u2013",
        "\u041a\u043b\u044e\u0447",
        "\u4fe1 \u9555",
    )


async def test_a_bomb_bursts_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that unpack to gigabytes end that process, not this one, and are refused; the next
    document is read as ever.
    """
    layer = zlib.compress(b" " * 400_000_000, 9)
    assert len(layer) < 1_000_000
    code = await refused("bomb.pdf", pdf("1", "2", stream=layer))
    assert code in {"document_unreadable", "document_too_large", "document_empty"}
    assert (await DocumentReader().read("next.pdf", pdf("Fine."))).sections[
        0
    ].text.strip() == "Fine."


@pytest.mark.parametrize("name", ["slow.pdf", "slow.html", "slow.md", "slow.txt"])
async def test_a_document_that_takes_too_long_is_given_up(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """When the time is up the process is ended and the document refused, whatever its format."""
    monkeypatch.setattr(documents, "WALL_S", 0.0)
    assert (
        await refused(name, pdf("Some text.") if name.endswith("pdf") else b"Some text.")
        == "document_too_slow"
    )


def running(tmp_path: Path, program: str) -> str:
    """What stands in for the interpreter: it runs this program, with the arguments of the real
    one.
    """
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{program}' \"$4\"\n")
    spy.chmod(0o755)
    return str(spy)


async def test_a_document_has_so_much_of_the_processor_and_of_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """10 s and 1 GiB, set by the system for the process that reads it, before it reads a byte; and
    no file may grow.
    """
    program = (
        "import ordain.store.document_formats as formats; from pathlib import Path;"
        'formats.read_here = lambda *_: {"error": "told", "message": '
        'Path("/proc/self/limits").read_text()};'
        "formats.main()"
    )
    monkeypatch.setattr(documents.sys, "executable", running(tmp_path, program))
    with pytest.raises(InvalidRequest) as error:
        await DocumentReader().read("a.txt", b"Some text.")
    limits = {
        line[:26].strip(): line[26:].split()[:2] for line in error.value.message.splitlines()[1:]
    }
    assert limits["Max cpu time"] == ["10", "10"]
    assert limits["Max address space"] == [str(2**30)] * 2
    assert limits["Max file size"] == limits["Max core file size"] == ["0", "0"]


async def test_a_document_that_uses_up_its_time_is_given_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A page whose parsing grows with the square of its depth: the system ends the process at its
    bound (here 1 s), and the next one is read.
    """
    program = "import ordain.store.document_formats as formats; formats.CPU_S = 1; formats.main()"
    monkeypatch.setattr(documents.sys, "executable", running(tmp_path, program))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with pytest.raises(InvalidRequest, match="too much time or memory") as error:
        await DocumentReader().read("square.html", b"<div>" * 200_000 + b"x")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert error.value.code == "document_unreadable"
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3
    assert (await DocumentReader().read("next.html", b"<p>Fine.")).sections[
        0
    ].text.strip() == "Fine."


@pytest.mark.parametrize("element", ["div", "b", "table><tr><td"])
async def test_a_page_that_nests_its_elements_too_deep_is_refused(element: str) -> None:
    """Up to 256 levels, the page itself and its text among them, are read; one more is refused by
    its own code, whatever the elements are.
    """
    each = 4 if "table" in element else 1  # the parser puts in a tbody
    fits = (document_formats.DEPTH_MAX - 2) // each
    assert document_formats.DEPTH_MAX == 256
    assert (
        await DocumentReader().read("deep.html", f"<{element}>".encode() * fits + b"words")
    ).sections[0].text.strip() == "words"
    assert (
        await refused("deeper.html", f"<{element}>".encode() * (fits + 1) + b"words")
        == "document_too_deep"
    )


async def test_the_process_sees_none_of_our_secrets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What reads a hostile document has no key in its environment."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    spy = tmp_path / "spy"
    spy.write_text(
        "#!/bin/sh\n"
        'env >&2; env | grep -q planted && echo \'{"error":"leaked","message":""}\' || echo '
        '\'{"error":"clean","message":""}\'\n'
    )
    spy.chmod(0o755)
    monkeypatch.setattr(documents.sys, "executable", str(spy))
    assert await refused("page.html", b"<p>x</p>") == "clean"


@given(st.sampled_from(Format), st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_a_document_or_a_refusal(format_: Format, content: bytes) -> None:
    """Whatever the bytes are, the answer is sections with text in them or a typed error."""
    answer = document_formats.read_here(format_, content)
    assert answer.keys() == {"error", "message"} or all(
        section[0].strip() for section in answer["sections"]
    )


def test_sections_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document of nothing but headings is refused when it has too many."""
    monkeypatch.setattr(document_formats, "SECTIONS_MAX", 10)
    with pytest.raises(UnreadableDocument) as error:
        parse(Format.MARKDOWN, b"# h\nx\n" * 20)
    assert error.value.code == "document_too_long"


def test_reading_stops_at_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows the last section that is permitted is not looked at."""
    monkeypatch.setattr(document_formats, "SECTIONS_MAX", 10)
    read: list[str] = []
    joined = document_formats._joined
    monkeypatch.setattr(document_formats, "_joined", lambda path: read.append("") or joined(path))
    with pytest.raises(UnreadableDocument):
        parse(Format.MARKDOWN, b"# h\nx\n" * 1000)
    assert len(read) < 20
