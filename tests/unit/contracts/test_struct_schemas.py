"""What msgspec's types say of themselves in a schema."""

from __future__ import annotations

from msgspec import Struct

from ordain.contracts.struct_schemas import struct_schemas


class Depot(Struct):
    """A depot: where it is,
    and until when.

    Times are local.
    """

    name: str


class Order(Struct):
    """One line."""

    depot: Depot


def test_what_a_type_says_is_the_same_under_each_python() -> None:
    """Before 3.13 a docstring keeps the indentation of its further lines."""
    (schema,), components = struct_schemas([Order], "#/{name}")
    assert schema == {"$ref": "#/Order"}
    assert components["Order"]["description"] == "One line."
    assert components["Depot"]["description"] == (
        "A depot: where it is,\nand until when.\n\nTimes are local."
    )
