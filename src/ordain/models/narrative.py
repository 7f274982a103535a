"""The one text of a growing JSON answer that may be shown before the answer is whole. Pure,
incremental, total.

The object begins at the first ``{``, as ``rules.proposals`` reads it. What is given out is
provisional: nothing here judges the answer. Where it stops being an object that rule could read,
nothing more is given out. The time is linear in the text, and kept are a place and at most one key
no longer than the one that is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from ordain.ports.model import ModelRequest
from ordain.rules.thought_tags import CHANNELS, EITHER, MARK_CHARS, WordsApart

_Step = Callable[["Narrative", str, int], int]
# what a JSON string may hold as it stands, lone surrogates apart
_PLAIN = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]+')
_BLANKS = re.compile(r"[ \t\n\r]*")
_TURN = re.compile(r'["{}\[\],]')
_STRING_STOP = re.compile(r'["\\]')
_HEX4 = re.compile(r"[0-9a-fA-F]{1,4}")
_SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HIGH, _LOW, _AFTER = 0xD800, 0xDC00, 0xE000


WHOLE = "."
"""The place of a text that is all of its answer; no keys joined by dots are that."""


def place_of(request: ModelRequest) -> str:
    """Where in its answer the text stands that may be shown early; "" where there is none."""
    return WHOLE if request.schema is None and request.narrative else request.narrative


def early_text(place: str, *, unsure: bool = False) -> EarlyText:
    """What follows an answer whose text stands there; ``unsure`` as in ``WordsApart``."""
    return WordsApart(unsure=unsure) if place == WHOLE else Narrative(place)


class EarlyText(Protocol):
    """One answer in the making, of which a text may be shown before it is whole."""

    def feed(self, fragment: str) -> str:
        """What the next fragment of the answer adds to the text."""
        ...

    def rest(self) -> str:
        """What was kept back of a whole answer, now that nothing follows."""
        ...


class Narrative:
    """Follows one answer to the string at ``place`` (keys from the top, joined by dots; "" is no
    place).
    """

    def __init__(self, place: str) -> None:
        """One answer, one value: it cannot be used again."""
        self._path = place.split(".") if place else []
        self._level = 0
        # not bound to this value: that would be a cycle
        self._step: _Step | None = Narrative._before if place else None
        self._ended = False  # the text is whole, and what was kept back of it not yet given out
        self._last = ""  # of the prose before the object
        self._head = ""  # the end of that prose
        self._depth = 0  # within a value that is skipped
        self._key = ""
        self._pieces: list[str] = []
        self._escape = ""  # the part of an escape that has come
        self._high = 0  # a first surrogate that waits for its second
        self._words = WordsApart()  # of the text at the place: a thought in it is no word of it

    def feed(self, fragment: str) -> str:
        """What the next fragment of the answer adds to the text."""
        at = 0
        while self._step is not None and at < len(fragment):
            at = self._step(self, fragment, at)
        text = "".join(self._pieces)
        self._pieces.clear()
        words = self._words.feed(text) if text else ""
        if self._ended:
            words += self._words.rest()
            self._ended = False
        return words

    def rest(self) -> str:
        """Nothing is kept back."""
        return ""

    def _stop(self, text: str) -> int:
        self._step = None
        return len(text)

    def _before(self, text: str, at: int) -> int:
        start = text.find("{", at)
        head = self._head + (text[at:] if start < 0 else text[at:start])
        if EITHER.search(head) or CHANNELS.search(head):
            # an object within a thought is none, and which one that is the whole answer tells
            return self._stop(text)
        self._head = head[-MARK_CHARS:]
        self._last = (text[at:] if start < 0 else text[at:start]).rstrip()[-1:] or self._last
        if start < 0:
            return len(text)
        if self._last == "[":  # an object within a list is no answer
            return self._stop(text)
        self._step = Narrative._before_key
        return start + 1

    def _sign(self, text: str, at: int) -> tuple[str, int]:
        """The next character that is no blank, and the place after it."""
        at = _blanks_end(text, at)
        return text[at : at + 1], at + 1

    def _before_key(self, text: str, at: int) -> int:
        sign, at = self._sign(text, at)
        if sign == '"':
            self._key = ""
            self._step = Narrative._in_key
        elif sign:
            return self._stop(text)
        return at

    def _in_key(self, text: str, at: int) -> int:
        at = self._string(text, at, Narrative._before_colon)
        # one more than the key looked for tells them apart
        room = len(self._path[self._level]) + 1 - len(self._key)
        self._key += "".join(self._pieces)[:room]
        self._pieces.clear()
        return at

    def _before_colon(self, text: str, at: int) -> int:
        sign, at = self._sign(text, at)
        if sign == ":":
            self._step = Narrative._before_value
        elif sign:
            return self._stop(text)
        return at

    def _before_value(self, text: str, at: int) -> int:
        sign, after = self._sign(text, at)
        if not sign:
            return after
        if self._key != self._path[self._level]:
            self._depth = 0
            self._step = Narrative._in_skipped
            return after - 1
        if self._level + 1 < len(self._path) and sign == "{":
            self._level += 1
            self._step = Narrative._before_key
        elif self._level + 1 == len(self._path) and sign == '"':
            self._step = Narrative._in_text
        else:
            return self._stop(text)
        return after

    def _in_text(self, text: str, at: int) -> int:
        at = self._string(text, at, Narrative._over)
        self._ended = self._step == Narrative._over
        return at

    def _over(self, text: str, at: int) -> int:
        """The text is whole: what follows it is none of it."""
        return self._stop(text)

    def _in_skipped(self, text: str, at: int) -> int:
        found = _TURN.search(text, at)
        if found is None:
            return len(text)
        sign = found.group()
        if sign == '"':
            self._step = Narrative._in_skipped_string
        elif sign in "{[":
            self._depth += 1
        elif sign != ",":
            self._depth -= 1
        elif self._depth == 0:
            self._step = Narrative._before_key
        return self._stop(text) if self._depth < 0 else found.end()

    def _in_skipped_string(self, text: str, at: int) -> int:
        if self._escape:
            self._escape = ""
            return at + 1
        found = _STRING_STOP.search(text, at)
        if found is None:
            return len(text)
        if found.group() == '"':
            self._step = Narrative._in_skipped
        else:
            self._escape = "\\"
        return found.end()

    def _string(self, text: str, at: int, then: _Step) -> int:
        """One piece of a string that matters; at its end ``then`` follows."""
        if self._escape:
            return self._in_escape(text, at)
        if text[at] == "\\":
            self._escape = "\\"
            return at + 1
        plain = _PLAIN.match(text, at)
        if self._high or (plain is None and text[at] != '"'):
            # a lone surrogate or a bare control character: never an answer
            return self._stop(text)
        if plain is None:
            self._step = then
            return at + 1
        self._pieces.append(plain.group())
        return plain.end()

    def _in_escape(self, text: str, at: int) -> int:
        if self._escape == "\\" and text[at] == "u":
            self._escape = "\\u"
            return at + 1
        if self._escape == "\\":
            short = _SHORT.get(text[at])
            if short is None or self._high:
                return self._stop(text)
            self._pieces.append(short)
            self._escape = ""
            return at + 1
        digits = _HEX4.match(text, at, at + 6 - len(self._escape))
        if digits is None:
            return self._stop(text)
        self._escape += digits.group()
        if len(self._escape) == 6:
            unit, self._escape = self._escape[2:], ""
            self._unit(int(unit, 16))
        return digits.end()

    def _unit(self, unit: int) -> None:
        """One UTF-16 unit: a character, or half of one."""
        if self._high and _LOW <= unit < _AFTER:
            self._pieces.append(chr(0x10000 + ((self._high - _HIGH) << 10) + unit - _LOW))
            self._high = 0
        elif self._high or _LOW <= unit < _AFTER:
            self._step = None
        elif _HIGH <= unit < _LOW:
            self._high = unit
        else:
            self._pieces.append(chr(unit))


def _blanks_end(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return at if found is None else found.end()
