"""The addresses that Markdown gives to links and images, by more than any one of its dialects
would: none reads it quite as another does.

An image is `![`, a text in which nearly everything may stand, and `](` with its address. Which `![`
a `](` ends is sure only where nothing stands between them that could end or hide a bracket;
anywhere else it is an image's if one may still be open. So whatever a renderer shows as an image is
one here, and each sign is looked at once, however deep they lie in one another.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_SIGN: Final = re.compile(
    # what escapes a bracket, and what can hide one: code, HTML, an address, a formula
    r"\\.|[`<>$]"
    r"|!\[|\[|\]\(|\]"
    r"|\n[ \t\r]*\n",  # no text of an image goes over an empty line
    re.DOTALL,
)
_PAIR: Final = r"(?:\\.|[^\s\\()])"
_NESTED: Final = rf"(?:{_PAIR}|\((?:{_PAIR}|\((?:{_PAIR}|\({_PAIR}*+\))*+\))*+\))"
_ADDRESS: Final = re.compile(rf"[\s>]*+(?:<((?:\\.|[^<>\\\n]){{1,4000}}+)>|({_NESTED}{{1,4000}}+))")
"""Behind `](` or `]:`, over ends of lines and into the lines of a quotation: in pointed brackets,
or up to white space or the closing bracket.
"""
_DEFINED: Final = re.compile(r"^[ \t>*+.)\d-]*+\[(?:\\.|[^\[\]\\]){1,1000}+\]:", re.MULTILINE)
"""A definition, wherever quotations and lists have it."""
_WRITTEN: Final = re.compile(
    r"\\([!-/:-@\[-`{-~])|(&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{0,31});)"
)


def markdown_addresses(text: str) -> Iterator[tuple[int, str, bool]]:
    """Where each stands, the address without its escapes, and whether an image has it. A definition
    counts as an image's.
    """
    for at, image in _ends(text):
        yield from _address(text, at, image)
    for defined in _DEFINED.finditer(text):
        yield from _address(text, defined.end(), True)


def unescaped(written: str) -> str:
    """An address as it is meant: strokes before signs go, entities become what they name."""
    return _WRITTEN.sub(lambda one: one[1] or html.unescape(one[2]), written)


def _address(text: str, at: int, image: bool) -> Iterator[tuple[int, str, bool]]:
    if found := _ADDRESS.match(text, at):
        yield found.start(found.lastindex or 0), unescaped(found[1] or found[2]), image


@dataclass(slots=True)
class _Open:
    """Brackets that are open: of an image or not, and whether nothing stood in them that makes
    their end unsure.
    """

    brackets: list[tuple[bool, bool]] = field(default_factory=list[tuple[bool, bool]])
    images: int = 0
    loose: int = 0  # images that seem to have ended without an address, and may not have

    def unsure(self) -> None:
        if self.brackets:
            self.brackets[-1] = self.brackets[-1][0], False

    def begin(self, image: bool) -> None:
        self.unsure()
        self.brackets.append((image, True))
        self.images += image

    def end(self, addressed: bool) -> bool:
        """Whether an image may end here."""
        image, sure = self.brackets.pop() if self.brackets else (False, False)
        may = image or (not sure and bool(self.images or self.loose))
        self.images -= image
        self.loose += image and not (sure and addressed)
        return may


def _ends(text: str) -> Iterator[tuple[int, bool]]:
    """The place behind each `](`, and whether it may be an image's."""
    opened = _Open()
    for sign in _SIGN.finditer(text):
        match sign[0]:
            case "![" | "[" as begun:
                opened.begin(len(begun) == 2)
            case "](" | "]" as ended:
                may = opened.end(len(ended) == 2)
                if len(ended) == 2:
                    yield sign.end(), may
            case other if other[0] == "\n":
                opened = _Open()
            case _:
                opened.unsure()
