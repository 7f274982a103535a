"""Phrases that come with code, from this room's folder ``tables``: the files of languages, their
table with what its phrases are compared by, and the first table, frozen.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

KEYS: Final = "keys"
"""The table of what shipped phrases are compared by, written by ``scripts.shipped``."""
_TABLES = files("ordain.wording").joinpath("tables")


def packaged_files(suffix: str) -> list[tuple[str, bytes]]:
    """Every file with this suffix, by name: where it stands, and what stands in it."""
    found = sorted(
        (entry for entry in _TABLES.iterdir() if entry.name.endswith(suffix)),
        key=lambda entry: entry.name,
    )
    return [(str(entry), entry.read_bytes()) for entry in found]


def packaged_table(name: str) -> bytes:
    """A table as it was written down."""
    return _TABLES.joinpath(f"{name}.json").read_bytes()


def first_table() -> bytes:
    """It is part of the package and of no storage: catalogs that name no wording mean it."""
    return packaged_table("first")
