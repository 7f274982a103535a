"""A terminal with two parts: what was said, which scrolls away for good, and below it a live part that is drawn anew on every change.

Lines come cleaned and are broken here, so that no line runs over and the live part is always found again.
"""

from __future__ import annotations

import os
import sys
import termios
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ordain.cli.columns import clipped, wrapped

DIM, BOLD, RED, GREEN, YELLOW, CYAN, RESET = "2", "1", "31", "32", "33", "36", "\x1b[0m"
COLUMNS_MIN, ROWS_MIN = 20, 6
PASTE_ON, PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenLine:
    """One line of foreign text made safe, and how it looks; ``mark`` colours its first sign that shows."""

    text: str
    style: str = ""
    mark: str = ""
    indent: str = ""


def is_terminal() -> bool:
    """Whether people sit at both ends, at a terminal that can move its cursor."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb")


def wants_colour() -> bool:
    """NO_COLOR, as its convention says: set and not empty means none."""
    return not os.environ.get("NO_COLOR")


@contextmanager
def keys_as_typed(descriptor: int) -> Generator[None]:
    """Every key is read at once and none is echoed or acts by itself; as it was, afterwards."""
    before = termios.tcgetattr(descriptor)
    mode = termios.tcgetattr(descriptor)
    mode[0] &= ~(termios.ICRNL | termios.IXON | termios.INLCR | termios.IGNCR)
    mode[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
    mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
    termios.tcsetattr(descriptor, termios.TCSADRAIN, mode)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


class Screen:
    """Writes to a terminal."""

    def __init__(self, descriptor: int, *, colour: bool) -> None:
        """Over an open file descriptor of a terminal."""
        self._descriptor, self._colour = descriptor, colour
        self._rows_up = 0
        self._columns_drawn = 0

    @property
    def columns(self) -> int:
        """Columns that a line may take: one less than there are, since the last one wraps in some terminals."""
        try:
            return max(COLUMNS_MIN, os.get_terminal_size(self._descriptor).columns - 1)
        except OSError:
            return 79

    @property
    def rows(self) -> int:
        """Rows of the terminal."""
        try:
            return max(ROWS_MIN, os.get_terminal_size(self._descriptor).lines)
        except OSError:
            return 24

    def draw(self, said: Sequence[ScreenLine], live: Sequence[ScreenLine], prompt: ScreenLine, cursor: int) -> None:
        """Put ``said`` above for good and draw the live part anew: its lines, then the prompt with the cursor at a column.

        Live lines are cut, never broken; where they are more than the terminal has rows, the last ones show.
        """
        columns = self.columns
        out = [self._back()]
        out += [f"{line}\r\n" for one in said for line in self._broken(one, columns)]
        shown = [*live][-(self.rows - 2) :]
        out += [f"{self._styled(one, clipped(one.text, columns))}\r\n" for one in shown]
        out.append(self._styled(prompt, clipped(prompt.text, columns)) + (f"\r\x1b[{cursor}C" if cursor else "\r"))
        self._rows_up, self._columns_drawn = len(shown), columns
        self._write("".join(out))

    def _back(self) -> str:
        """To the live part's first row, and everything from there on cleared. A narrower terminal has broken what was drawn wider."""
        rows = self._rows_up
        if self._columns_drawn > self.columns:
            rows = min(self.rows - 1, rows * (1 + self._columns_drawn // self.columns))
        return "\r" + (f"\x1b[{rows}A" if rows else "") + "\x1b[J"

    def _broken(self, line: ScreenLine, columns: int) -> list[str]:
        first, *rest = wrapped(line.text, columns, line.indent)
        return [self._styled(line, first), *(self._paint(part, line.style) for part in rest)]

    def _styled(self, line: ScreenLine, text: str) -> str:
        """With the first sign in the mark's colour."""
        lead = len(text) - len(text.lstrip())
        if not line.mark or lead >= len(text):
            return self._paint(text, line.style)
        return text[:lead] + self._paint(text[lead], line.mark) + self._paint(text[lead + 1 :], line.style)

    def _paint(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}{RESET}" if style and self._colour and text else text

    def clear(self) -> None:
        """An empty screen; the live part is to be drawn again."""
        self._rows_up = 0
        self._write("\x1b[H\x1b[2J")

    def begin(self) -> None:
        """Ask the terminal to mark what is pasted."""
        self._write(PASTE_ON)

    def end(self) -> None:
        """Leave nothing of the live part behind."""
        self._write(self._back() + PASTE_OFF)
        self._rows_up = 0

    def _write(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(self._descriptor, data) :]
