"""When two calls amount to the same, however they are spelled."""

from __future__ import annotations

from typing import Any

import pytest

from ordain import verb
from ordain.contracts.http_call import PLACEHOLDER, HttpCall, HttpMethod
from ordain.contracts.verbs import Argument, ArgumentRole, VerbSpec
from ordain.effects.calls import Call
from ordain.runtime.likeness import likeness
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
