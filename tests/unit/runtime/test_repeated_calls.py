"""When two calls amount to the same, however they are spelled."""

from __future__ import annotations

from typing import Any

import pytest

from ordain import verb
from ordain.contracts.verbs import ArgumentRole
from ordain.effects.calls import Call
from ordain.runtime.repeated_calls import likeness
from ordain.testing import catalog_of

ROLES = dict.fromkeys(("item", "count", "gift", "notes"), ArgumentRole.CONTENT)


@verb(name="shop.order", effect="private", arguments=ROLES)
def order(
    item: str, count: float = 1, gift: bool = False, notes: dict[str, Any] | None = None
) -> dict[str, str]:
    """Order an item."""
    raise NotImplementedError


CATALOG = catalog_of(verbs=[order.spec])


def alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two orders with these arguments are one."""
    given = (Call(verb="shop.order", args=args) for args in (one, other))
    return len({likeness(call, CATALOG) for call in given}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"item": "t", "count": 2}, {"count": 2.0, "item": "t"}),
        ({"item": "t"}, {"item": "t", "count": 1.0, "gift": False}),
        ({"item": "t"}, {"item": "t", "notes": None}),
        ({"item": "caf\u00e9"}, {"item": "cafe\u0301"}),
        ({"item": "t", "notes": {"a": [1, None]}}, {"item": "t", "notes": {"a": [1.0, None]}}),
    ],
)
def test_the_same_said_otherwise_is_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Order of keys, spelling of numbers, defaults and nulls, normal forms of texts."""
    assert alike(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"item": "t", "count": 2}, {"item": "t", "count": 3}),
        ({"item": "t"}, {"item": "T"}),
        ({"item": "t"}, {"item": "t "}),
        ({"item": "1"}, {"item": 1}),
        ({"item": "t"}, {"item": "t", "gift": True}),
        ({"item": "t", "count": 1}, {"item": "t", "count": True}),
        ({"item": "t", "notes": {"a": 1}}, {"item": "t", "notes": {"a": 2}}),
    ],
)
def test_what_differs_is_another_call(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Another value, another letter, another type: nobody has made that yet."""
    assert not alike(one, other)


def test_a_verb_that_is_not_there_is_known_by_its_digest() -> None:
    """A call of a catalog of then, read under one of now."""
    gone = Call(verb="shop.gone", args={"item": "t"})
    assert likeness(gone, CATALOG) == likeness(gone, CATALOG)
