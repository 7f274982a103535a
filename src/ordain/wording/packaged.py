"""Phrases that come with code, from this room's folder ``tables``: the files of languages, and the first table, frozen."""

from __future__ import annotations

from importlib.resources import files

_TABLES = files("ordain.wording").joinpath("tables")


def packaged_files(suffix: str) -> list[tuple[str, bytes]]:
    """Every file with this suffix, by name: where it stands, and what stands in it."""
    found = sorted((entry for entry in _TABLES.iterdir() if entry.name.endswith(suffix)), key=lambda entry: entry.name)
    return [(str(entry), entry.read_bytes()) for entry in found]


def first_table() -> bytes:
    """It is part of the package and of no storage: catalogs that name no wording mean it."""
    return _TABLES.joinpath("first.json").read_bytes()
