"""The text of a document, by its format: plain text, Markdown, HTML and PDF. Run as a program it
reads one document in a process of its own.

What is read is hostile: the program has little memory and little time, lets no file grow and dumps
no core (``store.documents`` says what it may do all the same), and its answer is JSON: ``{"title",
"pages", "sections": [[text, heading, page, start]...]}`` or ``{"error", "message"}``.
"""

from __future__ import annotations

import codecs
import io
import json
import re
import resource
import sys
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from typing import Any

from ordain.store.pdf_parts import filled_in, is_picture, tell_of

TEXT_CHARS = 5_000_000
"""Most characters of a document's text."""

PAGES_MAX, SECTIONS_MAX = 3000, 20_000
MEMORY_BYTES = 1024 * 1024 * 1024
CPU_S = 10
DEPTH_MAX = 256
"""Deepest nesting of a page's elements; written ones stay below 40."""
HEADING_CHARS = 200
TITLE_CHARS = 200

_SETEXT = re.compile(r"[ ]{0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_SPACES = re.compile(r"\s+")
_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}charset\s*=\s*["']?\s*([a-zA-Z0-9_-]{1,40})""", re.IGNORECASE
)
_TAKEN_AS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
"""Character sets that pages declare and mean a larger one by, as browsers take them."""
_SKIPPED = frozenset(
    {
        "script",
        "style",
        "noscript",
        "template",
        "head",
        "svg",
        "math",
        "iframe",
        "object",
        "canvas",
        "select",
        "textarea",
    }
)
_BLOCKS = frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "br",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
    }
    | {
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
    }
    | {"table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"}
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}

ParsedParts = list[tuple[str, str, int, int]]
"""(text, heading, page, start) of each section."""


class Format(StrEnum):
    """What a document is."""

    TEXT = "text/plain"
    MARKDOWN = "text/markdown"
    HTML = "text/html"
    PDF = "application/pdf"


class UnreadableDocument(Exception):
    """The document gives no text; ``code`` is stable, ``message`` holds nothing of it."""

    def __init__(self, code: str, message: str) -> None:
        """Say why."""
        super().__init__(message)
        self.code, self.message = code, message


def parse(format_: Format, content: bytes) -> tuple[str, int, ParsedParts]:
    """A document's title (""), its pages (0: it has none) and its sections.

    Raises:
        Unreadable: it cannot be read, is encrypted, has no text or too much of it.
    """
    match format_:
        case Format.TEXT:
            title, pages, sections = "", 0, [(_bounded(decoded(content)), "", 0, 0)]
        case Format.MARKDOWN:
            title, pages, sections = "", 0, _markdown(_bounded(decoded(content)))
        case Format.HTML:
            title, sections = _html(_declared(content))
            pages = 0
        case Format.PDF:
            title, sections = _pdf(content)
            pages = len(sections)
    kept: ParsedParts = []
    for one in sections:
        if one[0].strip():
            kept.append((_well_formed(one[0]), _well_formed(one[1]), one[2], one[3]))
        if len(kept) > SECTIONS_MAX:
            raise UnreadableDocument(
                "document_too_long", f"the document has more than {SECTIONS_MAX} sections"
            )
    if not kept and format_ is Format.MARKDOWN and (text := decoded(content)).strip():
        # of headings alone, which are what it says
        kept = [(text, "", 0, 0)]
    if not kept:
        raise UnreadableDocument(
            "document_empty",
            "the document has no text" + (" (a scan has none)" if format_ is Format.PDF else ""),
        )
    if sum(len(one[0]) for one in kept) > TEXT_CHARS:
        raise _too_long()
    return " ".join(_well_formed(title).split())[:TITLE_CHARS], pages, kept


def _well_formed(text: str) -> str:
    """The text with the halves of a surrogate pair joined, and a half that stands alone replaced:
    it is in no text that can be stored.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def decoded(content: bytes) -> str:
    """Bytes as text: UTF-8, or UTF-16 that says so.

    Raises:
        Unreadable: they are neither, or hold a NUL.
    """
    try:
        text = content.decode(
            "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        )
    except UnicodeDecodeError as error:
        raise UnreadableDocument(
            "document_not_text",
            f"the document is no UTF-8 text (byte {error.start}): save it as UTF-8 first",
        ) from None
    if (at := text.find("\0")) >= 0:
        raise UnreadableDocument(
            "document_not_text", f"the document is no text: character {at} is a NUL"
        )
    return text


def _bounded(text: str) -> str:
    if len(text) > TEXT_CHARS:
        raise _too_long()
    return text


def _too_long() -> UnreadableDocument:
    return UnreadableDocument(
        "document_too_long", f"the document has more than {TEXT_CHARS} characters of text"
    )


def _markdown(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Sections between headings, each below the path of its headings; a line in a fence is no
    heading.
    """
    path: list[tuple[int, str]] = []
    begin = at = 0
    fence = previous = ""
    previous_at = 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        heading: tuple[int, str, int] | None = None
        if (mark := _FENCE.match(bare)) and (
            not fence or (mark[1].startswith(fence) and not bare.strip().strip(fence[0]))
        ):
            fence = "" if fence else mark[1]
        elif not fence and (found := _atx(bare)):
            heading = *found, at
        elif not fence and previous.strip() and _SETEXT.match(bare) and not _atx(previous):
            heading = 1 if bare.strip().startswith("=") else 2, previous.strip(), previous_at
        if heading is not None:
            level, name, start = heading
            yield text[begin:start], _joined(path), 0, begin
            path = [*(one for one in path if one[0] < level), (level, name[:HEADING_CHARS])]
            begin = at + len(line)
        previous, previous_at = ("", at) if heading else (bare, at)
        at += len(line)
    yield text[begin:], _joined(path), 0, begin


def _atx(line: str) -> tuple[int, str] | None:
    """The level and the name of a line that is a heading: ``## Name ##``. By hand: a pattern tries
    a long run of blanks again and again.
    """
    marked = line.lstrip(" ")
    rest = marked.lstrip("#")
    level = len(marked) - len(rest)
    if len(line) - len(marked) > 3 or not 1 <= level <= 6 or (rest and rest[0] not in " \t"):
        return None
    name = rest.strip(" \t")
    unclosed = name.rstrip("#")
    return level, unclosed.rstrip(" \t") if not unclosed or unclosed[-1] in " \t" else name


def _joined(path: list[tuple[int, str]]) -> str:
    return " > ".join(name for _, name in path if name)[-HEADING_CHARS * 2 :]


def _declared(content: bytes) -> str:
    """A page as text, by the character set that it declares, else UTF-8; what does not fit is
    replaced. One whose bytes are no UTF-8 at all is Windows-1252, as where nothing is declared.
    """
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", errors="replace")
    found = _CHARSET.search(content[:4096])
    with suppress(LookupError):
        named = codecs.lookup("utf-8" if found is None else found[1].decode()).name
        # a page that can say so in plain letters is not of two or four bytes each
        if not named.startswith("utf-"):
            return content.decode(_TAKEN_AS.get(named, named), errors="replace")
    text = content.decode("utf-8-sig", errors="replace")
    odd = text.count("\ufffd")
    fitting = len(text) - len(text.encode("ascii", errors="ignore")) - odd
    return content.decode("cp1252", errors="replace") if odd > fitting else text


def _html(page: str) -> tuple[str, ParsedParts]:
    from selectolax.lexbor import LexborHTMLParser  # lazy: only this format needs it

    tree = LexborHTMLParser(page)
    title = tree.css_first("title")
    sections: ParsedParts = []
    path: list[tuple[int, str]] = []
    parts: list[str] = []
    start = total = 0

    def close() -> None:
        nonlocal parts, start, total
        text = "".join(parts)
        sections.append((text, _joined(path), 0, start))
        total, parts = total + len(text), []
        start = total

    stack: list[tuple[Any, bool, int]] = [] if tree.body is None else [(tree.body, False, 1)]
    while stack:
        node, left, depth = stack.pop()
        if depth > DEPTH_MAX:
            raise UnreadableDocument(
                "document_too_deep", f"the page nests its elements more than {DEPTH_MAX} deep"
            )
        tag: str = node.tag
        if tag == "-text":
            parts.append(_SPACES.sub(" ", node.text_content or ""))
            continue
        if left or tag in _BLOCKS:
            parts.append("\n")
        if left or tag.startswith("-") or tag in _SKIPPED or "hidden" in node.attributes:
            continue
        level = _HEADINGS.get(tag)
        if level is not None:
            close()
            path = [
                *(one for one in path if one[0] < level),
                (level, " ".join(node.text(deep=True, separator=" ").split())[:HEADING_CHARS]),
            ]
            continue
        if tag in _BLOCKS:
            stack.append((node, True, depth))
        children = list(node.iter(include_text=True))
        stack.extend((child, False, depth + 1) for child in reversed(children))
    close()
    return "" if title is None else title.text(), sections


def _pdf(content: bytes) -> tuple[str, ParsedParts]:
    from pypdf import PdfReader  # lazy: only this format needs it
    from pypdf.errors import DependencyError, PyPdfError  # lazy: see above

    try:
        reader = PdfReader(io.BytesIO(content), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableDocument(
                "document_encrypted", "the PDF is encrypted: save it without a password first"
            )
        pages = len(reader.pages)
        if pages > PAGES_MAX:
            raise UnreadableDocument(
                "document_too_long", f"the PDF has {pages} pages, at most {PAGES_MAX} are read"
            )
        sections: ParsedParts = []
        pictures: set[int] = set()
        total = 0
        for number, page in enumerate(reader.pages, 1):
            text = "\n".join((page.extract_text(), *filled_in(page)))
            total += len(text)
            if total > TEXT_CHARS:
                raise _too_long()
            sections.append((text, "", number, 0))
            if not text.strip() and is_picture(page):
                pictures.add(number)
        title = reader.metadata.title if reader.metadata else None
    except DependencyError:
        raise UnreadableDocument(
            "document_encrypted",
            "the PDF is encrypted with AES: save it without encryption first, or install the "
            "package cryptography where Ordain is",
        ) from None
    except PyPdfError:
        raise UnreadableDocument(
            "document_unreadable", "the PDF is damaged: it cannot be read"
        ) from None
    tell_of(pictures, sections)
    return title or "", sections


def read_here(format_: Format, content: bytes) -> dict[str, Any]:
    """The program's answer for one document; whatever the parsers raise is its ``error``."""
    try:
        title, pages, sections = parse(format_, content)
        return {"title": title, "pages": pages, "sections": sections}
    except UnreadableDocument as error:
        return {"error": error.code, "message": error.message}
    except MemoryError:
        return {
            "error": "document_too_long",
            "message": "reading the document takes too much memory",
        }
    except Exception:
        # the parsers are foreign and the document hostile: whatever they raise is that it cannot be
        # read
        return {
            "error": "document_unreadable",
            "message": "the document is damaged: it cannot be read",
        }


def main() -> None:
    """Read stdin as the format that the argument names, and print the answer."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    for none in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(none, (0, 0))
    answer = read_here(Format(sys.argv[1]), sys.stdin.buffer.read())
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
