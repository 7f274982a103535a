"""A JSON Schema as values are held to it: compiled once, and shared by all runs of a process."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import NoReturn

import jsonschema_rs
from msgspec import Struct
from pydantic import JsonValue

from ordain.errors import ConfigurationError

SCHEMA_ERRORS_MAX = 5
_PATTERNS = jsonschema_rs.FancyRegexOptions(backtrack_limit=2_000)
"""A hostile pattern gives up after a tenth of a millisecond, and its value is then not valid;
look-ahead over 5,000 characters needs less.
"""

_OUTSIDE = re.compile(r"(?<=remote \$ref refused: )\S{1,200}")
INVALID = "invalid JSON Schema: "
"""What the words of a schema that is none begin with."""


def _refuse_reference(uri: str) -> NoReturn:
    raise ValueError(f"remote $ref refused: {uri}")


class Immutable:
    """What all runs of a process share: a run's flow gets it as it is, so nothing of it can be put
    in another's place.
    """

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed: {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed: {name}")


class SchemaFault(Struct, frozen=True, kw_only=True):
    """One violation: where, in words, the value; and which property is ``missing`` or
    ``unexpected`` there, or which values it may have.
    """

    place: tuple[str, ...]
    message: str
    value: object
    missing: str = ""
    unexpected: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


class Schema(Immutable):
    """A compiled JSON Schema (2020-12) that never reaches out for a reference."""

    source: Mapping[str, JsonValue]
    _validator: jsonschema_rs.Draft202012Validator

    def __init__(self, source: Mapping[str, JsonValue]) -> None:
        """Compile.

        Raises:
            ConfigurationError: the schema is not one, or refers outside itself.
        """
        try:
            validator = _validator(json.dumps(source))
        except (
            TypeError,
            ValueError,
            RecursionError,
            jsonschema_rs.ValidationError,
            jsonschema_rs.ReferencingError,
        ) as error:
            raise ConfigurationError(f"{INVALID}{_why(error)}", code="invalid_schema") from error
        self.__dict__.update(source=source, _validator=validator)

    def accepts(self, value: object) -> bool:
        """Whether the value is valid."""
        return self._validator.is_valid(value)

    def faults(self, value: object) -> tuple[SchemaFault, ...]:
        """The first few violations with what was given: for whoever gave it, and nobody else."""
        found: list[SchemaFault] = []
        for error in islice(self._validator.iter_errors(value), SCHEMA_ERRORS_MAX):
            told = error.kind.as_dict()
            found.append(
                SchemaFault(
                    place=tuple(map(str, error.instance_path)),
                    message=error.message,
                    value=error.instance,
                    missing=str(told.get("property", "")),
                    unexpected=tuple(map(str, told.get("unexpected", ()))),
                    options=tuple(map(str, told.get("options", ()))),
                )
            )
        return tuple(found)

    def errors(self, value: object) -> tuple[str, ...]:
        """The first few violations as ``/path: keyword``: no values, so that nothing private
        leaks.
        """
        found: list[str] = []
        for error in self._validator.iter_errors(value):
            found.append(
                "/"
                + "/".join(str(part) for part in error.instance_path)
                + ": "
                + type(error.kind).__name__.rpartition("_")[2]
            )
            if len(found) == SCHEMA_ERRORS_MAX:
                break
        return tuple(found)


def _why(error: Exception) -> str:
    """What is wrong with a schema, and where, on one line: what is told beside it by the library is
    of use to its authors.
    """
    if not isinstance(error, jsonschema_rs.ValidationError):
        return str(error)
    if (outside := _OUTSIDE.search(error.message)) is not None:
        return f"it refers outside itself: {outside[0]}"
    where = "/".join(map(str, error.instance_path))
    return f"/{where}: {error.message}" if where else error.message


@lru_cache(maxsize=1024)
def _validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    """The compiled schema: a registry and every catalog with the same verb share it."""
    return jsonschema_rs.Draft202012Validator(
        schema, validate_formats=True, retriever=_refuse_reference, pattern_options=_PATTERNS
    )
