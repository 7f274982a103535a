"""What ships as YAML, as a start reads it: a folder's files in one of JSON, by name.

``python -m scripts.shipped --write`` makes it of them, and a test holds it to them: parsing the
YAML took a sixth of a start.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import msgspec
from pydantic import BaseModel

from ordain.contracts.read_only import read_only

M = TypeVar("M", bound=BaseModel)
SHIPPED = "shipped.json"


def read_shipped(folder: Path, contract: type[M]) -> Mapping[str, M]:
    """What the folder's file holds, by name; nobody can write to it."""
    written = msgspec.json.decode((folder / SHIPPED).read_bytes(), type=dict[str, msgspec.Raw])
    return MappingProxyType(
        {
            name: read_only(contract.model_validate_json(bytes(fields)))
            for name, fields in written.items()
        }
    )
