"""The shipped seats (C4)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, cast

from ordain.contracts.council import Seat
from ordain.verbs.yaml_document import parse_document

FILE = "seats.yaml"


@cache
def shipped_seats() -> Mapping[str, Seat]:
    """The seats of the file beside this one, by name; read once, they are part of the build."""
    source = files(__package__ or "").joinpath(FILE)
    rows = cast("list[Any]", parse_document(source.read_text(encoding="utf-8"), FILE).value)
    seats = [Seat.model_validate_json(json.dumps(row)) for row in rows]
    return MappingProxyType({seat.name: seat for seat in seats})
