"""The spellings in which a secret comes back: whoever strikes secrets out looks for these."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

import msgspec

SHORTEST = 8
"""Fewer characters out of the middle of a base64 text say nothing of what they came from."""
_URL_SAFE = str.maketrans("+/", "-_")


def spellings(secret: str) -> frozenset[str]:
    """As it is and as servers write what they were sent.

    In JSON; percent-encoded; in base64 of both alphabets, alone or in the midst of other bytes, such as ``user:KEY`` of HTTP Basic; in hexadecimal,
    base32, and the entities of HTML, for what needs one or for every character.

    In the midst, the two characters that the secret shares with its neighbours may be left.
    """
    if not secret:
        return frozenset()
    found = {
        secret,
        json.dumps(secret)[1:-1],
        msgspec.json.encode(secret).decode()[1:-1],
        quote(secret, safe=""),
        quote_plus(secret),
        secret.replace(" ", "+"),
    }
    data = secret.encode("utf-8", "surrogatepass")
    whole = base64.b64encode(data).decode()
    encoded = {whole, whole.rstrip("="), *(one for one in (_within(data, before) for before in range(3)) if len(one) >= SHORTEST)}
    found |= {data.hex(), data.hex().upper(), base64.b32encode(data).decode().rstrip("="), *_entities(secret)}
    return frozenset(found | encoded | {one.translate(_URL_SAFE) for one in encoded})


def _entities(secret: str) -> Iterator[str]:
    """As HTML and XML are written."""
    escaped = html.escape(secret)
    yield from (escaped, escaped.replace("&#x27;", "&#39;"), escaped.replace("&#x27;", "&apos;"), html.escape(secret, quote=False))
    yield from ("".join(form.format(ord(one)) for one in secret) for form in ("&#{};", "&#x{:x};", "&#x{:X};"))


def _within(data: bytes, before: int) -> str:
    """The base64 characters that are the data's alone where ``before`` bytes, modulo three, stand in front and anything behind."""
    encoded = base64.b64encode(bytes(before) + data).decode()
    return encoded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
