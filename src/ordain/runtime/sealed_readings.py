"""What readers make of an answer and is not what stands there: a secret that only they put together
is found in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from ordain.contracts.text_links import links_of
from ordain.rules.thought_tags import spoken, without_thoughts

_SPLITS = ("\\", "\n", "\r", "\t")
"""What a reader of an address takes away."""
_ADDRESSES = ("(", "<", "]:")
"""One of these has an address of which it does."""


def readings(text: str) -> Iterator[str]:
    """What is made of an answer and is not what stands there: its words without thoughts, and the
    addresses in it, of which a reader takes escapes and ends of lines away.
    """
    words = spoken(text)
    if words != text:
        yield words
    if (objects := without_thoughts(text)) != text:
        yield objects
    if not (any(sign in text for sign in _SPLITS) and any(sign in text for sign in _ADDRESSES)):
        return
    try:
        value = msgspec.json.decode(objects)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = words
    for one in _texts(value):
        yield from (link.url for link in links_of(one))


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*cast("dict[str, Any]", one).keys(), *cast("dict[str, Any]", one).values()]
        elif isinstance(one, list):
            waiting += cast("list[Any]", one)
