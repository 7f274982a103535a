"""What a text would make a page load or open: its links and images as data, with their hosts, beside the text.

A model's text is not gated (it is what somebody reads), and whoever renders it decides what is fetched. What is found errs on the side of too much:
Markdown, HTML, CSS and bare addresses, read as a browser would, whether or not a renderer knows them.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final, cast
from urllib.parse import unquote, urlsplit

from pydantic import Field

from ordain.contracts.link_places import Place, begun_with, html_places, markdown_places, sheet_places

LINKS_MAX: Final = 200
"""Most links of one text; what is not listed is not to be fetched."""
URL_CHARS: Final = 2000
TEXT_CHARS: Final = 65_536
"""So much of a text is looked at."""

_SPACE = r"[ \t\r\n]{0,20}"
_TARGET = r"<?([^\s<>)\"']{1,4000})"
_FOUND: Final = (
    (re.compile(rf"(!?)\[[^\[\]]{{0,1000}}\]\({_SPACE}{_TARGET}"), None),  # [text](url), ![text](url)
    (re.compile(rf"(\])\(({_SPACE}<?[^\s<>)\"']{{1,4000}})"), None),  # whatever stands before, as an image within a link
    (re.compile(rf"^ {{0,3}}\[[^\[\]]{{1,1000}}\]:{_SPACE}{_TARGET}", re.MULTILINE), True),  # [name]: url, of a link or of an image
    (re.compile(r"!\[\[([^\[\]\n]{1,4000})\]\]|\[img[^\[\]\n]{0,100}\]([^\s\[\]]{1,4000})", re.IGNORECASE), True),  # of wikis and of forums
    (re.compile(rf"\b(?:src|srcset|poster|background|data|lowsrc){_SPACE}={_SPACE}[\"']?([^\s\"'<>]{{1,4000}})", re.IGNORECASE), True),
    (re.compile(rf"\b(?:href|action|formaction|cite|ping){_SPACE}={_SPACE}[\"']?([^\s\"'<>]{{1,4000}})", re.IGNORECASE), False),
    (re.compile(rf"\b(?:url\(|@import{_SPACE}){_SPACE}[\"']?([^\s\"'<>)]{{1,4000}})", re.IGNORECASE), True),  # CSS
    (re.compile(r"\b([a-z][a-z0-9+.-]{1,20}:[/\\]{2}[^\s<>\"'`()\[\]]{1,4000})", re.IGNORECASE), False),
    (re.compile(r"(?<![\w@./])(www\.[^\s<>\"'`()\[\]]{3,4000})", re.IGNORECASE), False),
)
"""Patterns, and whether what they find is loaded (True), opened (False), or which of the two their first group says (None)."""
_SIGNS: Final = ("](", "][", "]:", "=", ":/", ":\\", "url(", "src(", "image", "[img", "![[", "@import", "www.")
"""One of these stands, in small letters, in whatever a pattern finds: most texts have none, and an answer is looked at each time it is asked for."""
_HOST_LEAVES_OUT: Final = re.compile("[\u00ad\u034f\u200b-\u200d\u2060\ufeff]")
"""What a browser leaves out of a host's name (UTS 46)."""
_TAIL: Final = ".,;:!?*_~"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLink:
    """A link of a text. ``host``: whom it asks, "" where it names none. ``image``: a page that renders the text might load it by itself."""

    url: str
    host: str
    image: bool


Links = Annotated[
    list[TextLink],
    Field(
        max_length=LINKS_MAX,
        exclude_if=lambda links: not links,
        description="The addresses in its text, with whom they ask; images are fetched by nobody here. Absent where there are none.",
    ),
]
"""The field of an answer beside its text."""


def with_links(given: Any, text: str) -> Any:
    """The fields of an answer with the links of its field ``text``."""
    if not isinstance(given, dict):
        return given
    fields = cast("dict[str, Any]", given)
    said = fields.get(text)
    return {**fields, "links": links_of(said) if isinstance(said, str) else []}


def links_of(text: str) -> list[TextLink]:
    """Every address in a text once, in the order in which they stand there, images of an address before links to it. Pure; linear in the text."""
    looked_at = text[:TEXT_CHARS]
    small = looked_at.lower()
    if not any(sign in small for sign in _SIGNS):
        return []
    found = dict[str, tuple[int, bool, str]]()
    for at, url, image, base in _places(looked_at):
        first, loaded, host = found.get(url, (at, False, ""))
        found[url] = min(at, first), loaded or image, host or host_of(url) or (host_of(begun_with(base, url)) if base else "")
    ordered = sorted(found.items(), key=lambda one: one[1][0])[:LINKS_MAX]
    return [TextLink(url=url[:URL_CHARS], host=host, image=image) for url, (_, image, host) in ordered]


def as_field(text: str) -> dict[str, list[dict[str, Any]]]:
    """The field ``links`` of an answer that is put together as JSON; nothing where the text has none."""
    links = links_of(text)
    return {"links": [asdict(link) for link in links]} if links else {}


def host_of(url: str) -> str:
    """The host that a browser would ask, in lower case; "" where the address names none."""
    plain = re.sub(r"[\x00-\x20]", "", html.unescape(url)).replace("\\", "/")
    if re.match(r"www\.", plain, re.IGNORECASE):
        plain = f"//{plain}"
    try:
        host = urlsplit(re.sub(r"^([a-z][a-z0-9+.-]*:)/{0,9}(?=[^/])", _with_slashes, plain, flags=re.IGNORECASE)).hostname or ""
        return _HOST_LEAVES_OUT.sub("", unicodedata.normalize("NFKC", unquote(host))).replace("\u3002", ".").lower()
    except ValueError:
        return ""


def _with_slashes(scheme: re.Match[str]) -> str:
    """A browser reads ``https:example.org`` and ``https:///example.org`` as ``https://example.org``."""
    return f"{scheme[1]}//" if scheme[1].lower() in {"http:", "https:", "ftp:", "ws:", "wss:"} else scheme[0]


def _places(text: str) -> Iterator[Place]:
    """What readers of Markdown, HTML and CSS find, and beside them whatever looks like an address."""
    yield from (place for read in (markdown_places, html_places, sheet_places) for place in read(text) if place.url)
    for pattern, loaded in _FOUND:
        for match in pattern.finditer(text):
            url = match[match.lastindex or 0].strip().lstrip("<").rstrip(_TAIL)
            if url:
                yield Place(match.start(match.lastindex or 0), url, match[1] == "!" if loaded is None else loaded)


def texts_of(value: object) -> str:
    """Every text in a JSON value, a line each, as far as a text's links are looked for."""
    found, left, waiting = list[str](), TEXT_CHARS, list[object]((value,))
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
