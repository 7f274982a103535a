"""JSON Schemas of msgspec's types.

A Python before 3.13 keeps the indentation of a docstring's further lines: without it what a type
says of itself, and with that the digest of a verb, is the same under each of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import msgspec


def struct_schemas(
    types: Iterable[Any], template: str
) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    """The schema of each type, and the components that they refer to by ``template`` (with
    ``{name}``).

    Raises:
        TypeError, RuntimeError: one of them has none.
    """
    schemas, components = msgspec.json.schema_components(types, ref_template=template)
    return tuple(map(_told, schemas)), {name: _told(part) for name, part in components.items()}


def _told(schema: dict[str, Any]) -> dict[str, Any]:
    said = schema.get("description")
    return {**schema, "description": inspect.cleandoc(said)} if isinstance(said, str) else schema
