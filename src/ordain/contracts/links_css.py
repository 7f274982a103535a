"""The addresses that a style loads: `url()`, `@import`, and any text in quotes that names a host,
as functions for images take one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ordain.contracts.url_hosts import ADDRESS_CHARS, cleaned, host_of

_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\r\n\f]?|\r?\n|(.))", re.DOTALL)
_TAKEN: Final = re.compile(
    r"(?:url\(|src\(|@import(?!\s*+(?:url|src)\())\s*+(?:[\"']\s*+([^\"'\n]{1,4000})|"
    r"([^\s\"'<>)]{1,4000}))",
    re.IGNORECASE,
)


def css_addresses(style: str) -> Iterator[str]:
    """Each, without its escapes, as often as it is found."""
    for read in {_plain(style), _plain(_COMMENT.sub(" ", style))}:
        # behind `url(` no comment begins
        for one in _TAKEN.finditer(read):
            yield cleaned(one[1] or one[2])
        for quoted in re.split(r"[\"']", read)[1:]:
            if (
                len(quoted) <= ADDRESS_CHARS
                and ("/" in quoted or "\\" in quoted or ":" in quoted)
                and host_of(quoted)
            ):
                yield cleaned(quoted)


def _plain(style: str) -> str:
    return _ESCAPE.sub(_meant, style) if "\\" in style else style


def _meant(escape: re.Match[str]) -> str:
    if escape[1]:
        code = int(escape[1], 16)
        return chr(code) if 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "\ufffd"
    return escape[2] or ""
