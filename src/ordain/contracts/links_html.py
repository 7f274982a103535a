"""The addresses that a page of HTML loads or opens: its elements as a browser's parser has them, by
tables of their attributes.

Markdown hides and shows HTML that a browser would not (a tag in code, one that is never closed), so
each `<name` is read by itself as well. What hides in another text is read as one more page: a
`srcdoc`, an address with `data:`, a comment, a template. How much is read in all is bounded, and a
page is parsed in parts of so many tags, since a tree costs the square of its depth.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ordain.contracts.links_css import css_addresses
from ordain.contracts.url_hosts import cleaned, host_of

LOADED: Final = frozenset(
    {
        "background",
        "classid",
        "code",
        "codebase",
        "data",
        "dynsrc",
        "href",
        "icon",
        "lowsrc",
        "manifest",
        "poster",
        "profile",
        "src",
    }
)
"""Attributes whose address a page loads, whatever the element; of other ones, what names a host."""
OPENED: Final = frozenset({"action", "cite", "formaction", "longdesc", "ping"})
"""Attributes whose address is asked when somebody follows or sends something."""
FOLLOWED: Final = frozenset({"a", "area"})
"""Elements whose ``href`` is only opened."""
SETS: Final = frozenset({"imagesrcset", "srcset"})
LISTS: Final = {"archive": r"[\s,]+", "attributionsrc": r"\s+", "ping": r"\s+", "values": ";"}
"""Attributes that hold several addresses, and what parts them."""
SAID: Final = frozenset(
    {
        "about",
        "alt",
        "content",
        "itemid",
        "itemtype",
        "placeholder",
        "property",
        "resource",
        "title",
        "value",
        "vocab",
    }
)
"""Attributes that say something: an address in them is nobody's."""
GIVEN: Final = frozenset({("param", "value")})
"""Of these, what gives a plug-in its film or its page."""
RAW: Final = frozenset(
    {"iframe", "noembed", "noframes", "noscript", "plaintext", "script", "textarea", "title", "xmp"}
)
"""Elements in which a browser reads no elements, and another reader may."""

PAGES_CHARS: Final = 262_144
"""So much is read in all: a text four times."""
PAGE_CHARS: Final = 500
"""What a page counts for, however short it is."""
TAGS_MAX: Final = 1000
"""Tags of one part of a page."""
ADDRESSES_MAX: Final = 1000

_TAG: Final = re.compile(r"<([a-z][^\s/>]{0,40})([^<]*)", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(
    r"([^\s\"'<>/=]{1,60}+)\s*+(?:=\s*+(?:\"([^\"]*)(?:\"|\Z)|'([^']*)(?:'|\Z)|([^\s>]+)))?"
)
_REFRESH: Final = re.compile(r"[^;,]*[;,]?\s*(?:url\s*=\s*)?[\"']?([^\"']*)", re.IGNORECASE)
_DATA: Final = re.compile(r"data:([^,]{0,200}),(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(slots=True)
class HtmlAddresses:
    """Each address, and whether a page loads it by itself; ``base``: the host of those that name
    none.
    """

    loaded: dict[str, bool] = field(default_factory=dict[str, bool])
    base: str = ""

    def add(self, url: str, loaded: bool) -> None:
        """Add one; the first so many are kept."""
        if url and (url in self.loaded or len(self.loaded) < ADDRESSES_MAX):
            self.loaded[url] = self.loaded.get(url, False) or loaded


def html_addresses(text: str) -> HtmlAddresses:
    """What is in a text that is HTML, or has some. Total; its time is bounded by the text's
    length.
    """
    found, waiting, left = HtmlAddresses(), [text], PAGES_CHARS
    while waiting and left > 0:
        page = waiting.pop()[:left]
        left -= max(len(page), PAGE_CHARS)
        if "<" not in page:
            continue
        for part in _parts(page):
            for node in _nodes(part):
                waiting.extend(_within(node, found))
        for tag in _TAG.finditer(page):
            waiting.extend(_attributes(tag[1].lower(), _written(tag[2]), found))
    return found


def srcset(value: str) -> Iterator[str]:
    """The addresses of a ``srcset``: each up to white space or to a comma that ends it; what says
    for which width it is goes up to the next comma.
    """
    for one in re.finditer(r"[\s,]*([^\s,]\S*)([^,]*)", value):
        yield one[1].rstrip(",")
        if not one[1].endswith(","):
            continue
        yield from one[2].split()[:1]
    # as readers have it that know no commas in addresses
    yield from (one for part in value.split(",") for one in part.split()[:1])


def _parts(page: str) -> Iterator[str]:
    starts = [one.start() for one in re.finditer(r"<[a-zA-Z]", page)][TAGS_MAX::TAGS_MAX]
    for begin, end in zip([0, *starts], [*starts, len(page)], strict=True):
        yield page[begin:end]


def _nodes(part: str) -> Iterable[LexborNode]:
    root = LexborHTMLParser(part).root
    return root.traverse(include_text=True) if root else ()


def _within(node: LexborNode, found: HtmlAddresses) -> list[str]:
    """What an element names goes to what is found; what is to be read as a page is given back."""
    parent = node.parent
    if node.is_element_node:
        hidden = [node.inner_html or ""] if node.tag == "template" else []
        return hidden + _attributes(node.tag or "", node.attributes, found)
    if node.is_comment_node:
        return [(node.html or "")[4:-3]]
    if parent and parent.tag == "style":
        for url in css_addresses(node.text_content or ""):
            found.add(url, True)
    return [node.text_content or ""] if parent and parent.tag in RAW else []


def _written(attributes: str) -> dict[str, str | None]:
    values = dict[str, str | None]()
    for one in _ATTRIBUTE.finditer(attributes):
        values.setdefault(one[1].lower(), html.unescape(one[2] or one[3] or one[4] or ""))
    return values


def _attributes(tag: str, attributes: Mapping[str, str | None], found: HtmlAddresses) -> list[str]:
    pages = list[str]()
    for written, given in attributes.items():
        if not given or written.startswith("xmlns"):
            continue
        name = written.lower().rpartition(":")[2]
        if name == "href" and tag == "base":
            found.base = found.base or host_of(given)
        if "<" in given:
            pages.append(given)
        if (
            tag == "meta"
            and name == "content"
            and "http-equiv" in attributes
            and (told := _REFRESH.match(given))
        ):
            found.add(cleaned(told[1]), True)
        for url, loaded in _addresses(tag, name, given):
            found.add(url, loaded)
            if loaded and (page := _data(url)):
                pages.append(page)
    return pages


def _addresses(tag: str, name: str, value: str) -> Iterator[tuple[str, bool]]:
    if name in SETS:
        yield from ((cleaned(url), True) for url in srcset(value))
    elif name in LISTS:
        yield from (
            (url, name not in OPENED)
            for part in re.split(LISTS[name], value)
            if (url := cleaned(part))
        )
    elif name in OPENED or (name == "href" and tag in FOLLOWED):
        yield cleaned(value), False
    elif name in LOADED:
        yield cleaned(value), True
    elif name not in SAID or (tag, name) in GIVEN:
        yield from ((url, True) for url in css_addresses(value) if "(" in value or "\\" in value)
        if host_of(value):
            yield cleaned(value), True


def _data(url: str) -> str:
    """The page that an address holds itself, "" where it holds none."""
    found = _DATA.match(url)
    if not found:
        return ""
    body = unquote(found[2])
    if "base64" not in found[1].lower():
        return body
    try:
        return base64.b64decode(re.sub(r"[^A-Za-z0-9+/]", "", body) + "==").decode(
            "utf-8", "replace"
        )
    except binascii.Error:
        return ""
