"""The codes in which a text may write any of its characters otherwise: the escapes of JSON, percent
signs, the entities of HTML. Pure, and linear in the text.

Each is read as its readers read it: digits in either case, zeros before them (``ZEROS`` at most),
an entity with its semicolon or, where HTML has it so, without.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from html.entities import html5
from typing import Final

import msgspec
from msgspec import Struct

ZEROS: Final = 64
CodeSpan = tuple[int, int, str]
"""Where a code begins and ends, and what it means."""

JSON_ESCAPE: Final = re.compile(
    r'\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|'
    r"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
"""An escape of JSON; a surrogate counts with its other half only."""
_JSON_RUN: Final = re.compile(f"(?:{JSON_ESCAPE.pattern})++")
_PERCENT: Final = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_NAME_CHARS: Final = max(map(len, html5)) - 1
_ENTITY: Final = re.compile(
    rf"&(?:#0{{0,{ZEROS}}}([0-9]{{1,7}})|#[xX]0{{0,{ZEROS}}}([0-9a-fA-F]{{1,6}})|"
    rf"([a-zA-Z][a-zA-Z0-9]{{1,{_NAME_CHARS - 1}}}))(;?)"
)
_UNENDED: Final = frozenset(name for name in html5 if not name.endswith(";"))
"""Entities that HTML takes without a semicolon, whatever comes behind them."""
_OPEN: Final = re.compile(
    r"(?:%[0-9a-fA-F]?|\\(?:u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?|"
    r"u[0-9a-fA-F]{0,3})?"
    rf"|&(?:#(?:0{{0,{ZEROS}}}[0-9]{{0,7}}|[xX]0{{0,{ZEROS}}}[0-9a-fA-F]{{0,6}})?|"
    rf"[a-zA-Z][a-zA-Z0-9]{{0,{_NAME_CHARS - 1}}})?)\Z"
)
_OPEN_CHARS: Final = ZEROS + 10
"""The longest that may become one of these."""


class Code(Struct, frozen=True):
    """A code: a sign that each of its codes has, where they stand in a text, and the text without
    them.

    Both are told whether the text is whole: one that may go on ends in no entity that could become
    another one. ``plain`` says what is most often asked in a tenth of the time.
    """

    sign: str
    reads: Callable[[str, bool], Iterator[CodeSpan]]
    plain: Callable[[str, bool], str]


def _json(text: str, _: bool) -> Iterator[CodeSpan]:
    for found in JSON_ESCAPE.finditer(text):
        yield found.start(), found.end(), msgspec.json.decode(f'"{found[0]}"')


def _json_plain(text: str, _: bool) -> str:
    return _JSON_RUN.sub(lambda run: msgspec.json.decode(f'"{run[0]}"'), text)


def _percent(text: str, _: bool) -> Iterator[CodeSpan]:
    for run in _PERCENT.finditer(text):
        at = run.start()
        for character in _percent_run(run):
            end = at + 3 * len(character.encode(errors="surrogateescape"))
            yield at, end, character
            at = end


def _percent_plain(text: str, _: bool) -> str:
    return _PERCENT.sub(_percent_run, text)


def _percent_run(run: re.Match[str]) -> str:
    return bytes.fromhex(run[0].replace("%", "")).decode(errors="surrogateescape")


def _entities(text: str, whole: bool) -> Iterator[CodeSpan]:
    for found in _ENTITY.finditer(text):
        size, read = _entity(found[0]) if _is_over(found, text, whole) else (0, "")
        if size:
            yield found.start(), found.start() + size, read


def _entities_plain(text: str, whole: bool) -> str:
    known: dict[str, str] = {}  # of this text alone: what people write is kept nowhere else

    def plain(found: re.Match[str]) -> str:
        written = found[0]
        if not _is_over(found, text, whole):
            return written
        if (read := known.get(written)) is None:
            size, meant = _entity(written)
            read = known[written] = meant + written[size:]
        return read

    return _ENTITY.sub(plain, text)


def _is_over(found: re.Match[str], text: str, whole: bool) -> bool:
    return bool(whole or found[4]) or found.end() != len(text)


def _entity(written: str) -> tuple[int, str]:
    """How much of what looks like an entity is one, and what it means; none of it may be."""
    found = _ENTITY.fullmatch(written)
    assert found is not None
    decimal, hexadecimal, name, ended = found.groups()
    if name is None:
        number = int(decimal) if decimal else int(hexadecimal, 16)
        return len(written), html.unescape(f"&#{number};")
    if ended and f"{name};" in html5:
        return len(written), html5[f"{name};"]
    begun = next((name[:size] for size in range(len(name), 1, -1) if name[:size] in _UNENDED), "")
    return (1 + len(begun), html5[begun]) if begun else (0, "")


JSON: Final = Code("\\", _json, _json_plain)
PERCENT: Final = Code("%", _percent, _percent_plain)
ENTITIES: Final = Code("&", _entities, _entities_plain)
CODES: Final = (JSON, PERCENT, ENTITIES)


def places(text: str, reads: Iterable[CodeSpan]) -> list[int]:
    """Where each character of the text without these codes stands in the text with them, and its
    end.
    """
    found, end = list[int](), 0
    for start, stop, read in reads:
        found += range(end, start)
        found += [start] * len(read)
        end = stop
    return [*found, *range(end, len(text) + 1)]


def open_code(text: str) -> int:
    """From where on a text may be the beginning of a code; its length where it may not."""
    if (found := _OPEN.search(text, max(0, len(text) - _OPEN_CHARS))) is None:
        return len(text)
    before = text[: found.start()]
    second_half = text[found.start()] == "\\" and (len(before) - len(before.rstrip("\\"))) % 2 == 1
    return len(text) if second_half else found.start()
