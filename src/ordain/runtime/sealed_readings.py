"""What readers make of a text and is not what stands there: a secret that only they put together is
found in it.

A face leaves out the sequences of terminals, a flow takes thoughts out of an answer, and who
follows an address takes away its strokes, tabs and ends of lines. None of them is asked: all that
any of them takes is taken at once, which is more than each does, whatever it stands in, and quick.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ordain.contracts.visible import ESCAPES
from ordain.rules.thought_tags import EITHER

_IN_ADDRESSES = "\\\n\r\t"
_GONE = str.maketrans("", "", _IN_ADDRESSES)
_CSS = re.compile(r"\\([0-9a-fA-F]{1,6})[ \t\n\r\f]?")
"""A character by its number, as style sheets have it."""
_MARKS = ("<", "◁", "THINK]")
"""Every mark of a thought has one of these."""
_PARTING = (*_IN_ADDRESSES, *_MARKS, "\x1b", "\x9b")


def may_part(text: str) -> bool:
    """Whether anything stands in a text that some reader takes away; most have nothing, and each
    sign by itself is found far sooner than any of them by a pattern.
    """
    for sign in _PARTING:  # noqa: SIM110 - `any` would take as long again as all of it
        if sign in text:
            return True
    return False


def readings(text: str) -> Iterator[str]:
    """Each way to read it, but as it stands."""
    shown = ESCAPES.sub("", text) if "\x1b" in text or "\x9b" in text else text
    for said in (shown, *_without_thoughts(shown)):
        if said is not text:
            yield said
        if any(sign in said for sign in _IN_ADDRESSES):
            yield said.translate(_GONE)
            if "\\" in said:
                yield _CSS.sub(_character, said).translate(_GONE)


def _character(found: re.Match[str]) -> str:
    number = int(found[1], 16)
    return chr(number) if number <= 0x10FFFF else ""


def _without_thoughts(text: str) -> Iterator[str]:
    """Without whatever stands between two marks, and without the blanks behind that."""
    if not any(sign in text for sign in _MARKS):
        return
    parts, at, depth = list[str](), 0, 0
    for mark in EITHER.finditer(text):
        if depth == 0:
            parts.append(text[at : mark.start()])
        depth = depth + 1 if mark[1] else max(0, depth - 1)
        at = mark.end()
    if not parts:
        return
    if depth == 0:
        parts.append(text[at:])
    yield "".join(parts)
    yield "".join([parts[0], *(part.lstrip() for part in parts[1:])])
