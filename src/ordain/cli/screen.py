"""Lines for a terminal, and what kind of one it is. Lines come cleaned; whoever shows one breaks
it, so that none runs over.
"""

from __future__ import annotations

import os
import sys

from msgspec import Struct

DIM, BOLD, RED, GREEN, YELLOW, CYAN = (
    "dim",
    "bold",
    "ansired",
    "ansigreen",
    "ansiyellow",
    "ansicyan",
)
"""As prompt_toolkit calls them."""
WITHIN = " " * 10
"""Before what is left of a line of an approval: no line of code's words begins so far in, so a
value makes none.
"""


class ScreenLine(Struct, frozen=True, kw_only=True):
    """One line of foreign text made safe, and how it looks; ``mark`` colours its first sign that
    shows. With ``spans`` (style, text) it is whole: it fits, and they are how its parts look.
    """

    text: str
    style: str = ""
    mark: str = ""
    indent: str = ""
    spans: tuple[tuple[str, str], ...] = ()


def is_terminal() -> bool:
    """Whether people sit at both ends, at a terminal that can move its cursor."""
    return (
        sys.stdin.isatty()
        and sys.stdout.isatty()
        and os.environ.get("TERM", "dumb") not in ("", "dumb")
    )


def wants_colour() -> bool:
    """NO_COLOR, as its convention says: set and not empty means none."""
    return not os.environ.get("NO_COLOR")
