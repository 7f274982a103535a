"""Which requests begin a WebSocket, told before the library that speaks it reads them: what that
refuses it refuses in words and without headers of its own.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Final

_KEY, _VERSION = b"sec-websocket-key", b"sec-websocket-version"
ONCE: Final = frozenset({_KEY, _VERSION, b"origin", b"host"})
"""Headers that a handshake has once at the most."""


def opens_socket(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether a GET that asks for an upgrade has a key and a version that we speak, and says
    nothing twice of what can be said once.
    """
    said = [(name.lower(), value.strip()) for name, value in headers if name.lower() in ONCE]
    once = dict(said)
    if len(once) != len(said) or once.get(_VERSION) != b"13":
        return False
    try:
        return len(base64.b64decode(once.get(_KEY, b""), validate=True)) == 16
    except binascii.Error:
        return False
