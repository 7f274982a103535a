"""A person's file in TOML, read within bounds.

Python's reader keeps every beginning of a dotted key: one of 100,000 parts, 200 KB of text, takes
40 GB. Policies and phrases come from other people too, a pull request's for instance.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

TEXT_CHARS: Final = 1024 * 1024
"""Most characters of a text. A policy that names everything has some 20,000."""
KEY_PARTS: Final = 32
"""Most parts of one key. The deepest that anything here knows has six."""

_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?)"""
_KEY = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+")
_PARTS = re.compile(_PART)
"""A quote that is not closed is taken, too: nothing is looked at twice."""


def toml_values(text: str) -> dict[str, Any]:
    """What a TOML text holds.

    Raises:
        ValueError: it is none (``tomllib.TOMLDecodeError``, which names the place), or more than is
            read.
    """
    if len(text) > TEXT_CHARS:
        raise ValueError(f"it has more than {TEXT_CHARS:,} characters")
    for key in _KEY.finditer(text):
        if len(key[0]) > 2 * KEY_PARTS and len(_PARTS.findall(key[0])) > KEY_PARTS:
            line = text.count("\n", 0, key.start()) + 1
            raise ValueError(f"a key has more than {KEY_PARTS} parts (at line {line})")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # Python's own bound
        raise ValueError("a number has more digits than can be read") from None
    except RecursionError:
        raise ValueError("it nests too deep") from None
