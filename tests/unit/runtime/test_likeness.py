"""When two calls amount to the same, however they are spelled."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from ordain import verb
from ordain.contracts.http_call import PLACEHOLDER, HttpCall, HttpMethod
from ordain.contracts.verbs import Argument, ArgumentRole, VerbSpec
from ordain.effects.calls import Call
from ordain.runtime.likeness import likeness
from ordain.testing import catalog_of

VISIT = ("at", "of", "tags", "cost")
ROLES = dict.fromkeys(("item", "count", "gift", "notes"), ArgumentRole.CONTENT)


@verb(name="shop.order", effect="private", arguments=ROLES)
def order(
    item: str, count: float = 1, gift: bool = False, notes: dict[str, Any] | None = None
) -> dict[str, str]:
    """Order an item."""
    raise NotImplementedError


CATALOG = catalog_of(verbs=[order.spec])


@verb(name="shop.visit", effect="private", arguments=dict.fromkeys(VISIT, ArgumentRole.CONTENT))
def visit(
    at: datetime | None = None,
    of: UUID | None = None,
    tags: set[str] | None = None,
    cost: Decimal | None = None,
) -> dict[str, str]:
    """Book a visit."""
    raise NotImplementedError


VISITS = catalog_of(verbs=[visit.spec])
IDENTITY = "12345678-1234-5678-1234-567812345678"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"at": "2026-05-17T10:00:00Z"}, {"at": "2026-05-17T12:00:00.000+02:00"}, True),
        ({"at": "2026-05-17T10:00:00Z"}, {"at": "2026-05-17T10:00:00+02:00"}, False),
        ({"at": "2026-05-17T10:00:00"}, {"at": "2026-05-17T10:00:00Z"}, False),
        ({"of": IDENTITY}, {"of": IDENTITY.replace("-", "")}, True),
        ({"of": "no id"}, {"of": "no id"}, True),
        ({"tags": ["a", "b"]}, {"tags": ["b", "a"]}, True),
        ({"tags": ["a", "b"]}, {"tags": ["a"]}, False),
        ({"cost": "1.50"}, {"cost": 1.5}, True),
        ({"cost": "1.50"}, {"cost": 15}, False),
    ],
)
def test_what_a_schema_says_may_be_written_in_several_ways_is_the_same_in_each(
    one: dict[str, Any], other: dict[str, Any], *, same: bool
) -> None:
    """Moments, ids, sets and numbers as texts; another moment, set or number is another call."""
    first, second = (likeness(Call(verb="shop.visit", args=args), VISITS) for args in (one, other))
    assert bool(first & second) == same


ITEM = {"item": Argument(role=ArgumentRole.CONTENT)}
LOOSE: list[dict[str, Any]] = [
    {"anyOf": [{"type": "number"}, {"type": "string"}]},
    {"type": "string", "format": "date-time"},
    {"type": "string", "format": "uuid"},
]


def alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two orders with these arguments are one."""
    given = (Call(verb="shop.order", args=args) for args in (one, other))
    first, second = (likeness(call, CATALOG) for call in given)
    return bool(first & second)


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


@pytest.mark.parametrize(
    "text",
    ["1e999999999", "-1e999999999", "1e-999999999", "9" * 5000, "Infinity", "sNaN", "1e", ""],
)
@pytest.mark.parametrize("schema", LOOSE, ids=["number", "moment", "id"])
def test_no_text_is_too_much(schema: dict[str, Any], text: str) -> None:
    """Whatever a model writes where a number, a moment or an id may stand is compared as it is."""
    spec = order.spec.model_copy(
        update={"input_schema": {**order.spec.input_schema, "properties": {"item": schema}}}
    )
    catalog = catalog_of(verbs=[spec.model_copy(update={"arguments": ITEM})])
    made = likeness(Call(verb="shop.order", args={"item": text}), catalog)
    assert made & likeness(Call(verb="shop.order", args={"item": text}), catalog)
    assert not made & likeness(Call(verb="shop.order", args={"item": f"{text}1"}), catalog)


def http(name: str, url: str = "http://shop.internal/put", **more: Any) -> VerbSpec:
    """A verb over HTTP that takes an item, and what else it declares."""
    properties = {"item": {"type": "string"}, **more.pop("properties", {})}
    required = ["item", *PLACEHOLDER.findall(url)]
    schema = {**order.spec.input_schema, "properties": properties, "required": required}
    return order.spec.model_copy(
        update={
            "name": name,
            "input_schema": schema,
            "arguments": {one: Argument(role=ArgumentRole.CONTENT) for one in properties},
            "http": HttpCall.model_validate(
                {
                    "method": HttpMethod.POST,
                    "url": url,
                    "hosts": ["shop.internal"],
                    "private": True,
                    **more,
                }
            ),
        }
    )


KIND = {"kind": {"type": "string"}}
TOLD = http("shop.put", query={"kind": "{kind}"}, properties=KIND)


@pytest.mark.parametrize(
    ("other", "args", "same"),
    [
        (http("shop.gift", query={"kind": "gift"}), {}, True),
        (http("shop.gift", query={"kind": "gift", "by": "post"}), {}, False),
        (http("shop.gift", properties=KIND), {"kind": "gift"}, False),
        (http("shop.gift", "http://shop.internal/give", query={"kind": "gift"}), {}, False),
        (http("shop.any", "http://shop.internal/{way}", query={"kind": "gift"},
              properties={"way": {"type": "string"}}), {"way": "put"}, True),
    ],
    ids=["fixed", "more", "in the body", "elsewhere", "filled path"],
)  # fmt: skip
def test_whatever_makes_the_same_request_is_the_same(
    other: VerbSpec, args: dict[str, Any], same: bool
) -> None:
    """What one verb fixes of a request another is given: the request counts, not who names what."""
    catalog = catalog_of(verbs=[TOLD, other])
    made = likeness(Call(verb="shop.put", args={"item": "t", "kind": "gift"}), catalog)
    assert bool(made & likeness(Call(verb=other.name, args={"item": "t", **args}), catalog)) is same


def test_a_default_of_then_is_said_where_it_is_another_by_now() -> None:
    """What was left out when its default was 1 is the same as 1 said by now, and not as 2 said."""
    now = order.spec.model_copy(deep=True)
    now.input_schema["properties"]["count"]["default"] = 2.0
    then = likeness(Call(verb="shop.order", args={"item": "t"}), CATALOG)
    for count, same in ((1, True), (2, False), (3, False)):
        call = Call(verb="shop.order", args={"item": "t", "count": count})
        assert bool(then & likeness(call, catalog_of(verbs=[now]))) is same
