"""What a YAML text holds, with the line of every place in it."""

from __future__ import annotations

from types import MappingProxyType

from msgspec import Struct

from ordain.contracts.faults import FieldPath


class YamlDocument(Struct, frozen=True):
    """A JSON value and where its parts stand."""

    value: object
    lines: MappingProxyType[FieldPath, int]

    def line(self, path: FieldPath) -> int:
        """Line (from 1) of the place, or of the nearest place around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)
