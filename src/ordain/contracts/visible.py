"""Foreign text as faces give it on: what commands, hides or reorders is shown by a sign or its
number, and does nothing (C5). Pure.

A face has one place where all that it sends is spelled so, whatever field it stands in. What has to
stay exact says so there.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Set
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import Struct, structs

JOINERS: Final = frozenset("\u200c\u200d")
"""The only format characters that writing needs and that move nothing."""
PREPENDED: Final = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
"""Signs that Unicode counts as format characters and that are seen."""
REORDERING: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Bidirectional controls by which a text reads otherwise than it stands there."""
CONTROLS: Final = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f{REORDERING}]")
"""What commands whoever shows a text; what only ends a line or a column is none."""
NEXT_LINE: Final = "\x85"
"""Ends a line where text is read as that of old terminals, and nowhere else."""
ESCAPES: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ\\`-~]?)|"
    r"\x9b[0-?]*[ -/]*[@-~]?"
)
"""Terminal sequences, whole or cut off."""
UNFINISHED_CHARS: Final = 256
"""A sequence that is longer than that is cut off where a piece ends."""
_UNFINISHED: Final = re.compile(
    r"(?:\r|\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]*\x1b?|[ -/]*)|\x9b[0-?]*[ -/]*)\Z"
)
_LAST_OF_PLANES: Final = "".join(
    chr(plane * 0x10000 + last) for plane in range(17) for last in (0xFFFE, 0xFFFF)
)
_NOTHINGS: Final = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\ufdd0-\ufdef\U00016fe4\U0001d159\U000e0000-\U000e0fff"
HIDDEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u2065\u3164\uffa0\ufff0-\ufff8\ufdd0-\ufdef\U0001d159\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
    "|(?<![\u2800-\u28ff])\u2800+|(?<=[\u2801-\u28ff])\u2800++(?![\u2801-\u28ff])"
    "|(?<![\U00016fe4\U00018b00-\U00018cff])\U00016fe4"
    "|(?<![\u1820-\u18aa])[\u180b-\u180d\u180f]"
    "|(?<![^\x00-\x7f\ufe00-\ufe0f\U000e0100-\U000e01ef])(?:[\ufe00-\ufe0d\U000e0100-\U000e01ef]|(?<![0-9#*])[\ufe0e\ufe0f])"
    f"|[{_LAST_OF_PLANES}]"
)
"""Letters, marks and numbers of nothing that are not seen, whole texts of which could stand
anywhere. What chooses how the sign before it is drawn is seen by that, once, and the blank of
Braille between cells of it, as a blank is.
"""
_FLAGS: Final = re.compile(
    "(\U0001f3f4\U000e0067\U000e0062"
    "(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f)"
)
"""England's, Scotland's and Wales's: the only pictures that are spelled with tags."""
_NO_INK: Final = re.compile(f"[{_NOTHINGS}]")
"""Letters, marks and signs of nothing, wherever they stand."""
_MAY_HIDE: Final = frozenset(
    chr(number)
    for first, last in re.findall(r"(.)(?:-(.))?", _NOTHINGS + _LAST_OF_PLANES, re.DOTALL)
    for number in range(ord(first), ord(last or first) + 1)
)
"""Whatever ``HIDDEN`` finds is one of these: that a text has none is known in a tenth of the
time.
"""
MARKS: Final = 10
"""More marks than that no script puts on one letter; what stands above is drawn over the lines
around it.
"""
BEHIND: Final = 4 * MARKS
"""So many signs of what came before a piece say how it is shown."""
CUT_ABOVE: Final = 8 * BEHIND
"""Whoever keeps them cuts what it has where that is longer: at each piece would cost more."""
_MAY_FLOOD: Final = re.compile(rf"[^\w\s\x00-\x7f]{{{MARKS + 1},}}")
"""Where a flood of marks may be: signs without letters."""
_SIGN: Final = re.compile(".+", re.DOTALL)
_LONE_RETURN: Final = re.compile("\r(?!\n)")
"""Begins the line anew, and what stands behind it is written over what stood in it."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
_TEXTS: Final = re.compile(r'"(?:[^"\\]|\\.)*+"(?=(?P<key>\s*+:)?)', re.DOTALL)
"""The texts of a JSON text, and whether each is a key."""
_SPELLED: Final = ("\\u", "\\b", "\\f", "\\r")
"""How JSON spells what controls with signs that are seen: by number, or by a letter."""
_SPELLED_BYTES: Final = re.compile("|".join(map(re.escape, _SPELLED)).encode())
_ASCII: Final = bytes(range(128))
_PLAIN_JSON: Final = msgspec.json.Encoder()
_NOWHERE: Final[Set[str]] = frozenset()
V = TypeVar("V")


def visible(text: str) -> str:
    """Foreign text for a face that gives it on as data: without terminal sequences, and what else
    controls or reorders is shown.

    It is shown as ``␀``, ``␡`` or ``[U+202E]``, and so is what shows nothing (zero width, tags,
    separators of lines); all else is as it was.
    """
    return text if text.isascii() and text.isprintable() else besides_flags(text, _visible)


def unfinished(text: str) -> str:
    """What a text ends in that goes on in what follows it, if anything does: half of a line's end,
    or of a terminal sequence.
    """
    if text.isprintable():
        return ""
    found = _UNFINISHED.search(text, max(0, len(text) - UNFINISHED_CHARS))
    return "" if found is None else found[0]


def visible_piece(piece: str, before: str) -> str:
    """A piece of a text that comes in pieces, as ``visible`` has it behind ``before``, which is the
    last ``BEHIND`` signs that came: a sign of how another one is drawn may come apart from that.
    What is ``unfinished`` comes with what follows it.
    """
    if piece.isascii() and piece.isprintable():
        return piece  # as most are: nothing in it hides, or is drawn on another sign
    behind = _last_letter(before)
    ahead = "\u28ff" if piece.endswith("\u2800") else ""
    return visible(f"{behind}{piece}{ahead}").removeprefix(visible(behind)).removesuffix(ahead)


def shown_behind(piece: str, before: str) -> tuple[str, str]:
    """The piece as ``visible_piece`` has it, and what stands before the next one. Each piece of a
    streamed answer comes through here twice, and most are plain.
    """
    plain = piece.isascii() and piece.isprintable()
    shown = piece if plain else visible_piece(piece, before[-BEHIND:])
    return shown, (before if len(before) < CUT_ABOVE else before[-BEHIND:]) + piece


def _last_letter(text: str) -> str:
    """The last sign of a text that is seen, with what stands on it."""
    begin = len(text)
    while begin and (_is_mark(text[begin - 1]) or text[begin - 1] in JOINERS):
        begin -= 1
    letter = text[max(begin - 1, 0) :]
    return letter if letter[:1].isprintable() else letter[1:]


@lru_cache(4096)
def _is_mark(sign: str) -> bool:
    return unicodedata.category(sign).startswith("M") or unicodedata.combining(sign) > 0


def picture(found: re.Match[str]) -> str:
    """What is found, each character as it is shown."""
    return "".join(map(picture_of, found[0]))


def besides_flags(text: str, shown: Callable[[str], str]) -> str:
    """A text as it is shown, with the flags in it as they are."""
    parts = _FLAGS.split(text) if "\U0001f3f4" in text else [text]
    return "".join(part if at % 2 else shown(part) for at, part in enumerate(parts))


def _visible(text: str) -> str:
    if "\r" in text:
        text = _LONE_RETURN.sub("␍", text)
    if (
        text.isprintable()
        or text.replace("\n", "").replace("\t", "").replace("\r", "").isprintable()
    ):
        return unhidden(text)
    kept = ESCAPES.sub("", text)
    return CONTROLS.sub(picture, kept) if kept.isascii() else unhidden("".join(map(drawn, kept)))


def unhidden(text: str, shown: Callable[[re.Match[str]], str] = picture) -> str:
    """A text with what is not seen in it, and what floods it, as ``shown`` has it."""
    if text.isascii():
        return text
    text = text if _MAY_HIDE.isdisjoint(text) else HIDDEN.sub(shown, text)
    return _MAY_FLOOD.sub(lambda run: _thinned(run[0], shown), text)


def _thinned(run: str, shown: Callable[[re.Match[str]], str]) -> str:
    """Signs without letters, of which no more than ``MARKS`` marks stand behind one another as they
    are; a joiner between them is no end of that.
    """
    kept: list[str] = []
    for flood, signs in groupby(_flooding(run), key=itemgetter(0)):
        text = "".join(sign for _, sign in signs)
        kept.append(_SIGN.sub(shown, text) if flood else text)
    return "".join(kept)


def _flooding(run: str) -> Iterator[tuple[bool, str]]:
    """Each sign, and whether it stands behind as many marks as there may be."""
    marks = 0
    for sign in run:
        mark = _is_mark(sign)
        marks = marks + mark if mark or sign in JOINERS else 0
        yield mark and marks > MARKS, sign


def _is_unhidden(text: str) -> bool:
    """Whether ``unhidden`` has it as it is."""
    if text.isascii():
        return True
    if not _MAY_HIDE.isdisjoint(text) and HIDDEN.search(text) is not None:
        return False
    return not any(flood for run in _MAY_FLOOD.finditer(text) for flood, _ in _flooding(run[0]))


def shows_nothing(text: str) -> bool:
    """Whether nobody who is shown a text sees anything of it: it has no sign, or none but blanks,
    controls and letters of nothing.
    """
    return not any(map(_shows, text))


def visible_name(name: str) -> str:
    """A key as ``visible`` has texts, but that no part of it is left out: nobody's key becomes one
    that code wrote.
    """
    return name if _is_seen(name) else unhidden("".join(map(drawn, _LONE_RETURN.sub("␍", name))))


def visible_line(text: str, bound: int) -> str:
    """Foreign text on one line of ``bound`` characters at most: ends of lines and runs of blanks
    are one blank, nothing else is left out.
    """
    line = " ".join(visible_name(text[: bound * 4]).split())
    return line if len(line) <= bound else line[: bound - 1] + "…"


def visible_json(encoded: str) -> str:
    """JSON text whose texts and keys are visible; all else stands as it stood."""
    if not any(one in encoded for one in _SPELLED) and _is_seen(encoded):
        return encoded
    return _TEXTS.sub(_visible_text, encoded)


def escaped_json(encoded: str) -> str:
    r"""JSON text of the same value, in which what would be shown otherwise stands by its number
    (``\u202e``): for what has to stay exact.
    """
    if _is_seen(encoded):
        return encoded
    return unhidden("".join(map(_escaped, encoded)), lambda found: json.dumps(found[0])[1:-1])


def visible_value(value: V, exact: Set[str] = frozenset()) -> V:
    """A value, and all that is in it, whose texts and keys are visible, but for what stands at the
    places ``exact`` of a mapping or a struct, such as ``a.b``.
    """
    if not isinstance(value, str) and _is_visible(value):
        return value
    return _seen(value, exact)


def _is_visible(value: Any) -> bool:
    """Whether all texts of a value are plain, as its JSON shows at once; most are, and looking at
    each takes ten times as long.

    What stands between texts is ASCII and seen: signs of two texts are no neighbours. What may be
    hidden, and what may flood, is looked at text by text.
    """
    try:
        written = _PLAIN_JSON.encode(value)
    except (TypeError, ValueError, msgspec.MsgspecError, RecursionError):
        return False
    if b"\x7f" in written or _SPELLED_BYTES.search(written) is not None:
        return False
    signs = set(written.translate(None, _ASCII).decode())
    return (
        "".join(signs).isprintable()
        and _MAY_HIDE.isdisjoint(signs)
        and not any(map(_is_mark, signs))
    )


def _seen(value: V, exact: Set[str]) -> V:
    found: Any = value
    if isinstance(found, str):
        found = visible(found)
    elif isinstance(found, Mapping):
        items = cast("Mapping[Any, Any]", found).items()
        found = {
            visible_name(key) if isinstance(key, str) else key: one
            if key in exact
            else _seen(one, places_below(exact, key))
            for key, one in items
        }
    elif isinstance(found, list | tuple):
        seen = [_seen(one, _NOWHERE) for one in cast("list[Any]", found)]
        found = tuple(seen) if isinstance(found, tuple) else seen
    elif isinstance(found, Struct):
        found = structs.replace(
            found,
            **{
                name: _seen(getattr(found, name), places_below(exact, name))
                for name in found.__struct_fields__
                if name not in exact
            },
        )
    return cast("V", found)


def places_below(places: Set[str], name: str) -> Set[str]:
    """The places that begin at a name, from there on."""
    return (
        {
            rest
            for head, _, rest in (place.partition(".") for place in places)
            if head == name and rest
        }
        if places
        else places
    )


def _visible_text(found: re.Match[str]) -> str:
    written = found[0]
    if not any(one in written for one in _SPELLED) and _is_seen(written):
        return written
    text: str = json.loads(written, strict=False)
    shown = visible(text) if found["key"] is None else visible_name(text)
    return written if shown == text else json.dumps(shown, ensure_ascii=False)


def _is_seen(text: str) -> bool:
    return text.isprintable() and _is_unhidden(text)


@lru_cache(4096)
def _shows(character: str) -> bool:
    return (
        unicodedata.category(character) not in _UNSEEN or character in PREPENDED
    ) and _NO_INK.match(character) is None


@lru_cache(4096)
def drawn(character: str) -> str:
    """A character as data gives it on: what shows nothing, or moves or reads otherwise what stands
    beside it, by its number.
    """
    if CONTROLS.match(character):
        return picture_of(character)
    if (
        (unicodedata.category(character) not in ("Cf", "Zl", "Zp") and character != NEXT_LINE)
        or character in JOINERS
        or character in PREPENDED
    ):
        return character
    return picture_of(character)


@lru_cache(4096)
def _escaped(character: str) -> str:
    if drawn(character) == character:
        return character
    return "\\u007f" if character == "\x7f" else json.dumps(character)[1:-1]


@lru_cache(4096)
def picture_of(character: str) -> str:
    """A sign for a control of ASCII, else the number."""
    return (
        "␡"
        if character == "\x7f"
        else chr(0x2400 + ord(character))
        if character < " "
        else f"[U+{ord(character):04X}]"
    )
