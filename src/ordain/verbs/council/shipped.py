"""The shipped seats (C4)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ordain.contracts.council import Seat
from ordain.verbs.shipped_file import read_shipped


@cache
def shipped_seats() -> Mapping[str, Seat]:
    """The seats of ``seats.yaml`` beside this file, by name; read once, they are part of the
    build.
    """
    return read_shipped(Path(__file__).parent, Seat)
