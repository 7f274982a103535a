"""A terminal for the command under test: a pty, and a screen that understands what the command
writes to it.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ordain.cli.conversation_lines import SPINNER
from tests.commands import start_command

PATIENCE_S = 60.0
"""How long something may take before a test gives up: never a measure."""
COLUMNS, ROWS = 100, 30
_SEQUENCE = re.compile(rb"\x1b\[([?]?[0-9;]*)([A-Za-z])")
_PARTIAL = re.compile(rb"\x1b(?:\[[?0-9;]*)?\Z")
_DRAWN = b"\x1b[?25h"
"""The cursor shows again: what every drawing ends with."""
_MODES = {"1", "7", "12", "25", "2004"}
"""Of the keyboard, of wrapping, of the cursor, of pasting: nothing that shows."""


class VirtualScreen:
    """Rows of text, the oldest first, scrolled-off ones included; refuses every control that it
    does not know.
    """

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.rows: list[list[str]] = [[]]
        self.row = self.column = 0
        self.colours = 0
        self.wraps = False
        """Whether what runs over goes on below, as a terminal has it: of what a program says when
        it no longer draws.
        """
        self._rest = b""

    def write(self, data: bytes) -> None:
        """Take what a program wrote."""
        data = self._rest + data
        self._rest = b""
        while data:
            if data.startswith(b"\x1b"):
                found = _SEQUENCE.match(data)
                if found is None:
                    assert _PARTIAL.match(data), f"unknown sequence {data[:20]!r}"
                    self._rest = data
                    return
                self._order(found[1].decode(), found[2].decode())
                data = data[found.end() :]
                continue
            text, escape, after = data.partition(b"\x1b")
            whole = text.decode(errors="ignore")
            if not escape:
                self._rest = text[len(whole.encode()) :]
            for character in whole:
                self._put(character)
            data = escape + after

    def _put(self, character: str) -> None:
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row += 1
            if self.row == len(self.rows):
                self.rows.append([])
        elif character == "\b":
            self.column = max(0, self.column - 1)
        else:
            assert character.isprintable(), f"control character {character!r}"
            line = self.rows[self.row]
            if self.wraps and self.column == self.columns:
                self._put("\r")
                self._put("\n")
                line = self.rows[self.row]
            assert self.column < self.columns, f"a line runs over: {''.join(line)}"
            line += [" "] * (self.column + 1 - len(line))
            line[self.column] = character
            self.column += 1

    def _order(self, given: str, order: str) -> None:
        if order == "A":
            self.row -= int(given or 1)
            assert self.row >= 0, "above what was written"
        elif order in ("C", "D"):
            self.column = max(0, self.column + int(given or 1) * (1 if order == "C" else -1))
        elif order in ("J", "K") and given in ("", "0"):
            del self.rows[self.row][self.column :]
            if order == "J":
                del self.rows[self.row + 1 :]
        elif order == "m":
            self.colours += given.strip("0") != ""
        else:
            assert given[:1] == "?" and given[1:] in _MODES and order in ("h", "l"), (  # noqa: PT018 - one law
                f"unknown order {given}{order}"
            )

    @property
    def lines(self) -> list[str]:
        """What stands there, without empty rows at the end."""
        lines = ["".join(row).rstrip() for row in self.rows]
        while len(lines) > 1 and not lines[-1]:
            lines.pop()
        return lines

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.lines)


class Terminal:
    """One command in a terminal of its own."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], columns: int
    ) -> None:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        self._slave, self._master = slave, master
        self.screen = VirtualScreen(columns)
        self._ahead = b""
        self.process = start_command(
            *arguments,
            environment=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            session=True,
        )

    def type(self, text: str, *, enter: bool = True) -> None:
        """Press keys."""
        os.write(self._master, text.encode() + (b"\r" if enter else b""))

    def paste(self, text: str) -> None:
        """Paste a block, as terminals do that mark it."""
        os.write(self._master, b"\x1b[200~" + text.encode() + b"\x1b[201~")

    def resize(self, columns: int) -> None:
        """Make it wider."""
        assert columns >= self.screen.columns
        self.screen.columns = columns
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def read(self, for_s: float) -> bool:
        """Take the next drawing, or what of it is there, waiting so long for its first bytes;
        whether anything came.

        One at a time: nothing that stood on the screen is passed over, however much came while this
        process was not looking.
        """
        if not self._ahead and select.select([self._master], [], [], for_s)[0]:
            with suppress(OSError):
                self._ahead = os.read(self._master, 65_536)
        if not self._ahead:
            return False
        end = self._ahead.find(_DRAWN)
        drawing = self._ahead if end < 0 else self._ahead[: end + len(_DRAWN)]
        self._ahead = self._ahead[len(drawing) :]
        self.screen.write(drawing)
        return True

    def until(self, words: str) -> str:
        """Wait until the words stand on the screen; returns the screen."""
        return self._until(words, lambda: words in self.screen.text)

    def until_prompt(self, prompt: str) -> str:
        """Wait until the prompt is the last line, as it is once the screen was drawn whole; returns
        the screen.
        """
        return self._until(prompt, lambda: self.screen.lines[-1] == prompt)

    def until_wide(self, columns: int) -> None:
        """Wait until a line takes more columns."""
        self._until(
            f"a line of more than {columns} columns",
            lambda: any(len(line) > columns for line in self.screen.lines),
        )

    def until_answered(self, words: str) -> str:
        """Wait until the words stand there for good: nothing is at work, whose words could still
        change; returns the screen.
        """
        return self._until(words, lambda: words in self.screen.text and self._rests())

    def _rests(self) -> bool:
        """Whether the screen was drawn whole, and no line of it says that something is at work."""
        lines = self.screen.lines
        return lines[-1].endswith(" >") and not any(
            line.startswith(tuple(SPINNER)) for line in lines
        )

    def _until(self, what: str, seen: Callable[[], bool]) -> str:
        deadline = time.monotonic() + PATIENCE_S
        while not seen():
            assert time.monotonic() < deadline, (
                f"never saw {what!r}; the screen:\n{self.screen.text}"
            )
            if not self.read(0.2) and self.process.poll() is not None and not seen():
                raise AssertionError(
                    f"ended with {self.process.returncode} before {what!r}; the screen:\n"
                    f"{self.screen.text}"
                )
        return self.screen.text

    def end(self) -> int:
        """Wait for its end; the exit code. The terminal's modes must be as they were."""
        deadline = time.monotonic() + PATIENCE_S
        self.screen.wraps = True
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"did not end; the screen:\n{self.screen.text}"
            self.read(0.1)
        while self.read(0.05):
            pass
        assert termios.tcgetattr(self._slave) == self.before
        assert self.process.returncode is not None
        return self.process.returncode

    def close(self) -> None:
        """Nothing of it stays."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self._master)
        os.close(self._slave)


@contextmanager
def chatting(
    home: Path | None, *arguments: str, columns: int = COLUMNS, **environment: str
) -> Iterator[Terminal]:
    """``ordain chat`` in a terminal, over a data folder of its own, or what the arguments say."""
    terminal = Terminal(
        ("chat", *(() if home is None else ("--data-dir", str(home))), *arguments),
        {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", **environment},
        columns,
    )
    try:
        yield terminal
    finally:
        terminal.close()
