"""Where a text has addresses that a renderer would load or open: Markdown by a parser of it, HTML and CSS by what browsers take an address from.

Whatever stands behind it is found at the place where it stands, so that what is said of a page is what a page would do: in a reference that is defined within
a quote, in a picture whose words hold brackets, in the second candidate of a set, in a document within an attribute.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin

VALUE_CHARS: Final = 4000
"""So much of an attribute is looked at, and so far back the tag that it stands in is looked for."""
BRACKETS_MOST: Final = 1000
CROWDED_CHARS: Final = 8192
"""So much of a text is read as Markdown that holds more brackets than that: a parser of it takes the square of their number."""
LOADED: Final = frozenset(
    {
        "src",
        "srcset",
        "imagesrcset",
        "poster",
        "background",
        "data",
        "lowsrc",
        "dynsrc",
        "archive",
        "codebase",
        "classid",
        "manifest",
        "icon",
    }
)
"""Attributes whose address a page loads by itself, in whatever tag they stand."""
SETS: Final = frozenset({"srcset", "imagesrcset", "archive"})
"""Of these, those that hold several."""
OPENED_IN: Final = frozenset({"", "a", "area"})
"""Tags whose ``href`` is opened by whoever clicks; that of any other is loaded: a picture of SVG, a style sheet, what relative addresses begin with."""
_NAMES = "|".join(
    sorted({*LOADED, "href", "xlink:href", "action", "formaction", "cite", "ping", "content", "srcdoc"}, key=len, reverse=True)
)
_ATTRIBUTE: Final = re.compile(
    rf"(?<![\w:-])({_NAMES})[ \t\r\n\f]{{0,20}}=[ \t\r\n\f]{{0,20}}(?:\"([^\"]{{0,{VALUE_CHARS}}})|'([^']{{0,{VALUE_CHARS}}})|([^\s\"'<>]{{1,{VALUE_CHARS}}}))",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"<([a-z][a-z0-9:-]{0,40})", re.IGNORECASE)
_REFRESH: Final = re.compile(r"\burl[ \t\r\n]{0,20}=[ \t\r\n]{0,20}[\"']?([^\"']{1,4000})", re.IGNORECASE)
_SHEET: Final = re.compile(r"(?:\b(?:url|src)\(|@import\b|\bimage(?:-set)?\()[ \t\r\n]{0,20}([^)]{1,4000})", re.IGNORECASE)
_IN_SHEET: Final = re.compile(r"\"([^\"\n]{1,4000})\"|'([^'\n]{1,4000})'|^([^\s\"',);]{1,4000})")
_CODE_OF_SHEET: Final = re.compile(r"\\([0-9a-f]{1,6})[ \t\r\n]?", re.IGNORECASE)
_CANDIDATE: Final = re.compile(r"(?:^|[\s,])([^\s,]\S{0,4000})")
_UNSEEN: Final = re.compile(r"[\t\r\n]")


class Place(NamedTuple):
    """An address where it stands: how far into the text, as a renderer takes it, whether a page loads it by itself, and what relative ones begin with."""

    at: int
    url: str
    image: bool
    base: str = ""


def markdown_places(text: str) -> Iterator[Place]:
    """Links, pictures and definitions of Markdown, as a parser of it reads them; it may hold HTML, which is not looked at here."""
    if "](" not in text and "][" not in text and "]:" not in text:
        return
    if text.count("[") > BRACKETS_MOST:  # nobody writes so many; what stands behind is found as whatever looks like an address is
        text = text[:CROWDED_CHARS]
    beside: dict[str, Any] = {}
    lines: list[int] = [0, *(found.end() for found in re.finditer("\n", text))]
    for token in _markdown().parse(text, beside):
        line: int = token.map[0] if token.map else 0
        begins = lines[min(line, len(lines) - 1)]
        waiting = list(token.children or ())
        while waiting:
            one = waiting.pop(0)
            waiting[:0] = one.children or ()
            url, image = (one.attrs.get("src"), True) if one.type == "image" else (one.attrs.get("href"), False)
            if isinstance(url, str):
                yield Place(max(text.find(url, begins), begins), url, image)
    for defined in beside.get("references", {}).values():
        yield Place(max(text.find(defined["href"]), 0), defined["href"], image=True)  # of a link or of a picture


@lru_cache(1)
def _markdown() -> Any:
    from markdown_it import MarkdownIt  # lazy: most texts have no link, and a start reads none

    parser = MarkdownIt("commonmark", {"maxNesting": 20})
    parser.validateLink = _takes_any
    parser.normalizeLink = lambda url: url
    return parser


def _takes_any(url: str) -> bool:
    """What one renderer leaves out, another one shows."""
    del url
    return True


def html_places(text: str, *, within: bool = False) -> Iterator[Place]:
    """The addresses in attributes of HTML and SVG; ``within``: of a document that stands in an attribute of another one, of which none is looked for."""
    if "=" not in text:
        return
    base = ""
    for found in _ATTRIBUTE.finditer(text):
        name, at = found[1].lower(), found.start()
        value = html.unescape(next(value for value in found.groups()[1:] if value is not None))
        tag = _tag(text, at)
        if name == "srcdoc":
            yield from () if within else (place._replace(at=at) for place in (*html_places(value, within=True), *sheet_places(value)))
        elif name == "content":
            yield from (Place(at, _address(url[1]), image=True) for url in _REFRESH.finditer(value))
        elif name in SETS:
            yield from (Place(at, _address(url[1].rstrip(",")), image=True, base=base) for url in _CANDIDATE.finditer(value))
        else:
            image = name in LOADED or (name.endswith("href") and tag not in OPENED_IN)
            base = _address(value) if tag == "base" and name == "href" and not base else base
            yield Place(at, _address(value), image, base)


def sheet_places(text: str) -> Iterator[Place]:
    """The addresses in CSS, in a style sheet or in an attribute; all of them are loaded."""
    if "\\" in text and (plain := _CODE_OF_SHEET.sub(_of_sheet, text)) != text:
        yield from (place._replace(at=min(place.at, len(text))) for place in sheet_places(plain.replace("\\", "")))
    for found in _SHEET.finditer(text):
        for url in _IN_SHEET.finditer(found[1]):
            yield Place(found.start(1) + url.start(), _address(html.unescape(url[url.lastindex or 0])), image=True)


def begun_with(base: str, url: str) -> str:
    """A relative address behind what its document says that those begin with."""
    try:
        return urljoin(base if "://" in base else f"https:{base}" if base.startswith("//") else base, url)
    except ValueError:
        return url


def _of_sheet(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"


def _address(value: str) -> str:
    """As a browser takes an address: what cannot be seen around it and the ends of lines in it are no part of it."""
    return _UNSEEN.sub("", value).strip("".join(map(chr, range(0x21))))


def _tag(text: str, at: int) -> str:
    """The tag that an attribute stands in; "" where it stands in none."""
    begins = text.rfind("<", max(at - VALUE_CHARS, 0), at)
    found = _TAG.match(text, begins) if begins >= 0 else None
    return "" if found is None or ">" in text[begins:at] else found[1].lower().rpartition(":")[2]
