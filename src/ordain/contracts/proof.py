"""How a server proves to a command of its own machine that it is the one of the data folder, before
it is told anything.

A word that a server tells everybody (``instance``) proves nothing: whoever heard it can repeat it
from the same port, once the server is gone. So the note in the data folder holds a key that its
owner alone can read, and is never sent; a caller sends chance, and a server answers with its HMAC
under that key.
"""

from __future__ import annotations

import hmac
import re
from hashlib import sha256

CHALLENGE_HEADER = "Ordain-Challenge"
PROOF_HEADER = "Ordain-Proof"
_SAYS = b"ordain server proof 1\n"
_CHALLENGE = re.compile(r"[0-9a-f]{64}")


def prove(key: str, challenge: str) -> str | None:
    """What a server with this key answers; None where it has none, or the challenge is not 64
    digits in base 16.
    """
    if not key or not _CHALLENGE.fullmatch(challenge):
        return None
    return hmac.new(key.encode(), _SAYS + challenge.encode(), sha256).hexdigest()


def is_proven(key: str, challenge: str, proof: str) -> bool:
    """Whether only a holder of the key can have answered so."""
    expected = prove(key, challenge)
    return expected is not None and hmac.compare_digest(expected.encode(), proof.encode())
