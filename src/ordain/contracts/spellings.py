"""The spellings in which a secret comes back: whoever strikes secrets out looks for these, in a
text and in what it reads as (``text_codes``).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

import msgspec
from msgspec import Struct

SHORTEST = 8
"""Fewer characters out of the middle of a base64 or base32 text say nothing of what they came
from.
"""
_URL_SAFE = str.maketrans("+/", "-_")
_SMALL = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


class Spellings(Struct, frozen=True):
    """``exact`` ones, and those of which the case of the letters does not matter (``folded``, in
    small letters).
    """

    exact: frozenset[str]
    folded: frozenset[str]


def folded(text: str) -> str:
    """The text with small letters for the capitals of ASCII, each in its place."""
    return text.lower() if text.isascii() else text.translate(_SMALL)


def spellings(secret: str) -> Spellings:
    """As it is and as servers write what they were sent.

    In JSON; percent-encoded; in base64 of both alphabets and in base32 in capitals or not, alone or
    in the midst of other bytes, such as ``user:KEY`` of HTTP Basic; in hexadecimal. Whatever a code
    writes for any of its characters is found by reading the code.

    In the midst, the two characters that the secret shares with its neighbours may be left.
    """
    if not secret:
        return Spellings(frozenset(), frozenset())
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
    encoded = {whole, whole.rstrip("="), *_within(data, 6)}
    any_case = {data.hex(), base64.b32encode(data).decode().rstrip("="), *_within(data, 5)}
    return Spellings(
        frozenset(found | encoded | {one.translate(_URL_SAFE) for one in encoded}),
        frozenset(map(folded, any_case)),
    )


def _within(data: bytes, bits: int) -> Iterator[str]:
    """The characters of so many bits that are the data's alone, by how many bytes stand in front
    and anything behind.
    """
    write = base64.b64encode if bits == 6 else base64.b32encode
    for before in range(3 if bits == 6 else 5):
        encoded = write(bytes(before) + data).decode()
        own = encoded[-(-before * 8 // bits) : (before + len(data)) * 8 // bits]
        if len(own) >= SHORTEST:
            yield own
