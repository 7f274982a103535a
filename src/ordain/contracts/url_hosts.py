"""Whom an address asks, read as a browser reads it: what stands around it or hides in it is
dropped, strokes lean either way.
"""

from __future__ import annotations

import html
import re
from typing import Final
from urllib.parse import unquote, urlsplit

import idna

ADDRESS_CHARS: Final = 4000
"""So much of one address is looked at."""

_UNSEEN: Final = re.compile(r"[\x00-\x20\u200b\u2060\ufeff]")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_FREE_SLASHES: Final = re.compile(r"(https?:|ftp:|wss?:|(?=//))/*(?=[^/])", re.IGNORECASE)
"""Behind these schemes, and where a page's own is meant, any number of strokes means two."""
_LABELS_CHARS: Final = 253
"""Longest name of a host; nothing longer is asked."""


def host_of(url: str, base: str = "") -> str:
    """The host that a browser would ask, in lower case, as it asks for it; ``base`` where the
    address names none and no scheme either.
    """
    plain = _UNSEEN.sub("", html.unescape(url[:ADDRESS_CHARS])).replace("\\", "/")
    if plain[:4].lower() == "www.":
        plain = f"//{plain}"
    try:
        host = (
            urlsplit(
                _FREE_SLASHES.sub(r"\1//", plain, count=1) if _FREE_SLASHES.match(plain) else plain
            ).hostname
            or ""
        )
    except ValueError:
        return ""
    return _asked(host) if host else "" if _SCHEME.match(plain) else base


def cleaned(url: str) -> str:
    """An address as a browser takes it from an attribute: white space around it and ends of lines
    in it mean nothing.
    """
    return re.sub(r"[\t\r\n]", "", url[:ADDRESS_CHARS]).strip("".join(map(chr, range(0x21))))


def _asked(host: str) -> str:
    named = unquote(host) if "%" in host else host
    if named.isascii() or len(named) > _LABELS_CHARS:
        return named.lower()
    try:
        return idna.encode(named, uts46=True).decode()
    except idna.IDNAError:
        return named.lower()
