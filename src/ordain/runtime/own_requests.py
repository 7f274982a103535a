"""What is Ordain's own is no business of a verb: a mark by which a server knows a request that a
verb of its own process sent.

Addresses are compared before anything is sent (``verbs.own_addresses``). A proxy or another
machine's name in front of this server shows none of them: there the mark comes back with the
request, and it is refused.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from hmac import compare_digest
from typing import Final

HEADER: Final = "Ordain-Verb"
MARK: Final = secrets.token_hex(16)
"""This process's; whoever else reads it can have their own requests refused with it, and nothing
more.
"""


def is_own(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a request with these headers (names in lower case) was sent by a verb of this
    process.
    """
    return any(
        name == HEADER.lower().encode() and compare_digest(value, MARK.encode())
        for name, value in headers
    )
