"""A golden journal's file: a whole run with its catalog, as JSON."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.ports.store import StoredRun

GOLDEN = Path(__file__).parent / "golden"


class GoldenJournal(msgspec.Struct, frozen=True, kw_only=True):
    """A run with everything needed to replay it; bytes are base64 in the file."""

    run: StoredRun
    catalog: bytes

    def compiled(self) -> Catalog:
        """The run's pinned catalog."""
        return Catalog.from_bytes(self.catalog)


def read(file: Path) -> GoldenJournal:
    """A journal from its file."""
    return msgspec.json.decode(file.read_bytes(), type=GoldenJournal)


def write(file: Path, journal: GoldenJournal) -> None:
    """A journal to its file, one value per line so that a change can be read."""
    file.write_bytes(msgspec.json.format(msgspec.json.encode(journal, order="sorted"), indent=1) + b"\n")
