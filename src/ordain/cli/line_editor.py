"""Editing one line in a terminal: bytes of the keyboard in, a changed line or an order out. Pure, so that every key is a test."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from enum import StrEnum

from ordain.cli.columns import fitting, width

NEWLINE_SHOWN = "⏎"
HISTORY_MAX = 200
LINE_MAX = 32_000
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~])")
_PARTIAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?\Z")
PASTE, PASTED = "\x1b[200~", "\x1b[201~"


class Order(StrEnum):
    """What a key asks for beyond the line."""

    INTERRUPT = "interrupt"
    END = "end"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnteredLine:
    """A finished line."""

    text: str


_KEYS = {
    "\x1b[D": "left",
    "\x1bOD": "left",
    "\x02": "left",
    "\x1b[C": "right",
    "\x1bOC": "right",
    "\x06": "right",
    "\x1b[H": "home",
    "\x1bOH": "home",
    "\x1b[1~": "home",
    "\x01": "home",
    "\x1b[F": "end",
    "\x1bOF": "end",
    "\x1b[4~": "end",
    "\x05": "end",
    "\x1b[A": "earlier",
    "\x1bOA": "earlier",
    "\x10": "earlier",
    "\x1b[B": "later",
    "\x1bOB": "later",
    "\x0e": "later",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x1b[3~": "delete",
    "\x15": "kill_before",
    "\x0b": "kill_after",
    "\x17": "kill_word",
}


@dataclass(slots=True)
class LineEditor:
    """The line, the place in it, and the lines before."""

    text: str = ""
    at: int = 0
    _history: list[str] = field(default_factory=list[str])
    _back: int = 0
    _kept: str = ""
    _pending: str = ""
    _pasting: bool = False
    _decoder: codecs.IncrementalDecoder = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace"))

    def feed(self, data: bytes) -> list[EnteredLine | Order]:
        """Take what came from the keyboard; what it asks for, in order. A key that arrives in pieces is put together."""
        self._pending += self._decoder.decode(data)
        found: list[EnteredLine | Order] = []
        while self._pending:
            key = self._key()
            if key is None:
                break
            self._pending = self._pending[len(key) :]
            if (made := self._take(key)) is not None:
                found.append(made)
        return found

    def _key(self) -> str | None:
        """The first key of what came; None where the rest of it has not come yet."""
        if self._pending[0] != "\x1b":
            return self._pending[0]
        if (whole := _SEQUENCE.match(self._pending)) is not None:
            return whole.group()
        if _PARTIAL.match(self._pending):
            return None
        following = self._pending[1]
        return self._pending[:2] if following == "\r" or following.isprintable() else "\x1b"

    def _take(self, key: str) -> EnteredLine | Order | None:
        if key in (PASTE, PASTED):
            self._pasting = key == PASTE
        elif key == "\x03":
            self._pasting = False
            return Order.INTERRUPT
        elif self._pasting:
            self._insert("\n" if key in "\r\n" else key)
        elif key in ("\r", "\n"):
            return self._enter()
        elif key == "\x1b\r":
            self._insert("\n")
        elif key == "\x0c":
            return Order.CLEAR
        elif key == "\x04":
            if not self.text:
                return Order.END
            self._edit("delete")
        elif key in _KEYS:
            self._edit(_KEYS[key])
        else:
            self._insert(key)
        return None

    def _insert(self, key: str) -> None:
        key = "    " if key == "\t" else key
        if (key == "\n" or key.isprintable() or key in "\u200c\u200d") and len(self.text) < LINE_MAX:
            self.text = self.text[: self.at] + key + self.text[self.at :]
            self.at += len(key)

    def _enter(self) -> EnteredLine:
        text = self.text
        if text.strip() and self._history[-1:] != [text]:
            self._history = [*self._history, text][-HISTORY_MAX:]
        self._set("")
        self._back, self._kept = 0, ""
        return EnteredLine(text=text)

    def _set(self, text: str) -> None:
        self.text, self.at = text, len(text)

    def _edit(self, what: str) -> None:
        before, after = self.text[: self.at], self.text[self.at :]
        match what:
            case "left" | "right":
                self.at = max(0, min(len(self.text), self.at + (1 if what == "right" else -1)))
            case "home":
                self.at = 0
            case "end":
                self.at = len(self.text)
            case "backspace":
                self.text, self.at = before[:-1] + after, max(0, self.at - 1)
            case "delete":
                self.text = before + after[1:]
            case "kill_before":
                self.text, self.at = after, 0
            case "kill_after":
                self.text = before
            case "kill_word":
                kept = before.rstrip()
                kept = kept[: kept.rfind(" ") + 1]
                self.text, self.at = kept + after, len(kept)
            case _:
                self._look_back(1 if what == "earlier" else -1)

    def _look_back(self, by: int) -> None:
        back = max(0, min(len(self._history), self._back + by))
        if back == self._back:
            return
        self._kept = self.text if self._back == 0 else self._kept
        self._back = back
        self._set(self._history[-back] if back else self._kept)

    def shown(self, columns: int) -> tuple[str, int]:
        """The part of the line around the cursor that fits, and the cursor's column in it."""
        text = self.text.replace("\n", NEWLINE_SHOWN)
        start = 0
        while fitting(text[start : self.at], columns - 1) < self.at - start:  # not its width: that reads all of a long line every time
            start += max(1, fitting(text[start:], max(1, columns // 2)))
        start = min(start, self.at)
        part = text[start:]
        return part[: fitting(part, columns)], width(text[start : self.at])
