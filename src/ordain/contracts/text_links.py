"""What a text would make a page load or open: its links and images as data, with their hosts,
beside the text.

A model's text is not gated (it is what somebody reads), and whoever renders it decides what is
fetched. What is found errs on the side of too much: Markdown, other markup (``links_markup``),
HTML, CSS and bare addresses, read as a browser would, whether or not a renderer knows them.
Patterns find what looks like an address; what has a structure (``links_markdown``, ``links_html``)
is read by it as well. An address is listed where either finds it, and is loaded where either says
so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final, cast

import msgspec
from msgspec import Raw
from pydantic import Field

from ordain.contracts.links_markdown import markdown_addresses, unescaped
from ordain.contracts.links_markup import MARKUP, MARKUP_BEFORE_COLON
from ordain.contracts.url_hosts import host_of

LINKS_MAX: Final = 200
"""Most links of one text; what is not listed is not to be fetched."""
URL_CHARS: Final = 2000
TEXT_CHARS: Final = 65_536
"""So much of a text is looked at."""

_SPACE = r"[ \t\r\n]{0,20}"
_TARGET = r"<?([^\s<>)\"']{1,4000})"
_FOUND: Final = (
    # [text](url), ![text](url)
    (re.compile(rf"(!?)\[[^\[\]]{{0,1000}}\]\({_SPACE}{_TARGET}"), None),
    # whatever stands before, as an image within a link
    (re.compile(rf"(\])\(({_SPACE}<?[^\s<>)\"']{{1,4000}})"), None),
    # [name]: url, of a link or of an image
    (re.compile(rf"^ {{0,3}}\[[^\[\]]{{1,1000}}\]:{_SPACE}{_TARGET}", re.MULTILINE), True),
    # of wikis and of forums
    (
        re.compile(
            r"!\[\[([^\[\]\n]{1,4000})\]\]|\[img[^\[\]\n]{0,100}\]([^\s\[\]]{1,4000})",
            re.IGNORECASE,
        ),
        True,
    ),
    (
        re.compile(
            rf"\b(?:src|srcset|poster|background|data|lowsrc){_SPACE}="
            rf"{_SPACE}[\"']?([^\s\"'<>]{{1,4000}})",
            re.IGNORECASE,
        ),
        True,
    ),
    (
        re.compile(
            rf"\b(?:href|action|formaction|cite|ping){_SPACE}={_SPACE}[\"']?([^\s\"'<>]{{1,4000}})",
            re.IGNORECASE,
        ),
        False,
    ),
    # CSS
    (
        re.compile(
            rf"(?:\burl\(|@import\b{_SPACE}){_SPACE}[\"']?([^\s\"'<>)]{{1,4000}})", re.IGNORECASE
        ),
        True,
    ),
    (
        re.compile(r"\b([a-z][a-z0-9+.-]{1,20}:[/\\]{2}[^\s<>\"'`()\[\]]{1,4000})", re.IGNORECASE),
        False,
    ),
    (re.compile(r"(?<![\w@./])(www\.[^\s<>\"'`()\[\]]{3,4000})", re.IGNORECASE), False),
    *MARKUP,
)
"""Patterns, and whether what they find is loaded (True), opened (False), or which of the two their
first group says (None).
"""
_BEFORE_COLON: Final = "|".join(f"(?<={re.escape(word)}:)" for word in MARKUP_BEFORE_COLON)
_ENDS: Final = re.escape("".join(sorted({word[-1] for word in MARKUP_BEFORE_COLON})))
_HELD: Final = tuple(
    (sign, re.compile(pattern, re.IGNORECASE | re.ASCII))
    for sign, pattern in (
        ("=", r"="),
        ("\\", r"\\"),
        ("]", r"\][(\[:]"),
        ("[", r"\[(?:img|(?<=!\[)\[)"),
        ("/", r"/(?<=[:/]/)"),
        ("@", r"@import"),
        ("<", r"<style"),
        (".", r"\.(?<=www\.)"),
        ("(", r"\((?<=url\(|src\()"),
        (":", rf":(?<=[{_ENDS}]:)(?:{_BEFORE_COLON})"),
    )
)
"""One of these stands in whatever a pattern finds; each is looked for where its sign is, with which
it begins so that it is looked at nowhere else. Most texts have none, and an answer is looked at
each time it is asked for.
"""
_ODD: Final = (("\N{KELVIN SIGN}", "k"), ("\N{LATIN SMALL LETTER LONG S}", "s"), ("\u0130", "i"))
"""Letters beyond ASCII that are one of it where case does not count."""
_TAIL: Final = ".,;:!?*_~"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLink:
    """A link of a text. ``host``: whom it asks, "" where it names none. ``image``: a page that
    renders the text might load it by itself.
    """

    url: str
    host: str
    image: bool


Links = Annotated[
    list[TextLink],
    Field(
        max_length=LINKS_MAX,
        exclude_if=lambda links: not links,
        description=(
            "The addresses in its text, with whom they ask; images are fetched by nobody here. "
            "Absent where there are none."
        ),
    ),
]
"""The field of an answer beside its text."""


def with_links(given: Any, *parts: str) -> Any:
    """The fields of an answer with the links of all texts in these of its fields."""
    if not isinstance(given, dict):
        return given
    fields = cast("dict[str, Any]", given)
    return {**fields, "links": links_of(texts_of([fields.get(part) for part in parts]))}


def links_of(text: str) -> list[TextLink]:
    """Every address in a text once, in the order in which they stand there, images of an address
    before links to it. Pure; linear in the text.
    """
    looked_at = text[:TEXT_CHARS]
    if not _may_hold(looked_at):
        return []
    found, base = dict[str, tuple[int, bool]](), ""
    for at, url, image in _places(looked_at):
        first, loaded = found.get(url, (at, False))
        found[url] = min(at, first), loaded or image
    if "<" in looked_at:
        base = _add_html(looked_at, found)
    ordered = sorted(found.items(), key=lambda one: one[1][0])[:LINKS_MAX]
    return [
        TextLink(
            url=url[:URL_CHARS], host=host_of(url) or host_of(unescaped(url), base), image=image
        )
        for url, (_, image) in ordered
    ]


def _may_hold(text: str) -> bool:
    """Whether any pattern may find something. A sign is found in a moment; to make letters small
    takes longer than all of it.
    """
    for odd, letter in _ODD:
        if odd in text:
            text = text.replace(odd, letter)
    return any(sign in text and held.search(text) is not None for sign, held in _HELD)


def _add_html(text: str, found: dict[str, tuple[int, bool]]) -> str:
    """Add what HTML has, and give the host of addresses that name none. One that is written in
    another way than it is meant comes behind the others.
    """
    from ordain.contracts.links_html import (
        html_addresses,
    )  # lazy: most texts have none, and a start needs no parser

    read = html_addresses(text)
    for url, loaded in read.loaded.items():
        at, image = found.get(url) or (text.find(url), False)
        found[url] = at if at >= 0 else len(text), image or loaded
    return read.base


def as_field(text: str) -> dict[str, list[dict[str, Any]]]:
    """The field ``links`` of an answer that is put together as JSON; nothing where the text has
    none.
    """
    links = links_of(text)
    return {"links": [asdict(link) for link in links]} if links else {}


def each_linked(objects: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Objects, each with the links of its own texts. Of all together no more is looked at than of
    one text; what one leaves of its share the others have.
    """
    texts, left = [texts_of(one) for one in objects], TEXT_CHARS
    by_size = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    for before, at in enumerate(by_size):
        texts[at] = texts[at][: left // (len(texts) - before)]
        left -= len(texts[at])
    return [{**one, **as_field(text)} for one, text in zip(objects, texts, strict=True)]


def linked(result: Raw) -> Any:
    """A result that goes out as it was recorded, with the links of all its texts beside them; the
    same where it has none, or a field of that name.
    """
    value: Any = msgspec.json.decode(result)
    if (
        not isinstance(value, dict)
        or "links" in value
        or not (links := as_field(texts_of(cast("object", value))))
    ):
        return result
    return {**cast("dict[str, Any]", value), **links}


def _places(text: str) -> Iterator[tuple[int, str, bool]]:
    """What stands there as Markdown, and beside it whatever looks like an address."""
    yield from markdown_addresses(text)
    for pattern, loaded in _FOUND:
        for match in pattern.finditer(text):
            url = match[match.lastindex or 0].strip().lstrip("<").rstrip(_TAIL)
            if url:
                yield (
                    match.start(match.lastindex or 0),
                    url,
                    match[1] == "!" if loaded is None else loaded,
                )


def texts_of(value: object) -> str:
    """Every text in a JSON value, a line each, as far as a text's links are looked for."""
    found: list[str] = []
    left = TEXT_CHARS
    waiting = cast("list[object]", value)[::-1] if isinstance(value, list) else [value]
    while waiting and left > 0:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one[:left])
            left -= len(one) + 1
        elif isinstance(one, dict):
            waiting.extend(reversed(list(cast("dict[str, Any]", one).values())))
        elif isinstance(one, list):
            waiting.extend(reversed(cast("list[Any]", one)))
    return "\n".join(found)
