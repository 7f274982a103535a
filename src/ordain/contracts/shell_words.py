"""Words of command lines that people are told to run: copied into a shell, each means the name that
it was made of, and nothing else. Pure.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

from ordain.contracts.visible import shows_nothing

_BLANKS: Final = re.compile("(?<= ) +")
"""Of several blanks those behind the first: whoever tells a line may tell one."""
_BY_NUMBER: Final = frozenset("'\\!")
"""Seen, and read by some shells within such quotation."""


def shell_word(name: object) -> str:
    r"""A name, or a path, as one word of a command line.

    As it is where a shell reads that so, else in quotation marks; ``$'a\033b'`` of what is not seen
    or not told as it is: controls, what shows nothing, several blanks, bytes that are no text.
    Shells that know no such quotation (dash) take it for another name, and never for a command.
    """
    text = str(name)
    kept = [_is_seen(sign) for sign in text]
    for run in _BLANKS.finditer(text):
        kept[run.start() : run.end()] = [False] * len(run[0])
    if all(kept):
        return shlex.quote(text)
    signs = (
        sign if seen and sign not in _BY_NUMBER else _octal(sign)
        for sign, seen in zip(text, kept, strict=True)
    )
    return f"$'{''.join(signs)}'"


def _is_seen(sign: str) -> bool:
    return sign == " " or (sign.isprintable() and not shows_nothing(sign))


def _octal(sign: str) -> str:
    """Its bytes as they stand in a name of a file, which need be no text."""
    try:
        written = sign.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        written = sign.encode("utf-8", "surrogatepass")
    return "".join(f"\\{byte:03o}" for byte in written)
