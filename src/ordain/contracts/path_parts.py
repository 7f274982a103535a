"""Names as parts of an address."""

from __future__ import annotations

from urllib.parse import quote


def path_part(name: str, *, safe: str = "") -> str:
    """One part of a path, whatever it holds: ``.`` and ``..`` too are names here, where clients
    would leave them out and ask for another address.
    """
    return name.replace(".", "%2E") if name in {".", ".."} else quote(name, safe=safe)
