"""What people return from a function arrives, or is refused by name before or after: a write that
happened is not told as unknown because its receipt has a time in it.
"""

from __future__ import annotations

from collections import ChainMap, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta, timezone
from ipaddress import IPv4Address
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import AnyUrl, BaseModel, Field

from ordain.contracts.schema import Schema
from ordain.errors import ConfigurationError
from ordain.ports.verb import LeafCall, LeafFailed, LeafReturned
from ordain.verbs import LeafExecutor, Registry, verb

AT = datetime(2026, 11, 30, 9, 30)  # noqa: DTZ001 - what people return


@dataclass
class Receipt:
    number: int
    booked_at: datetime
    kept: Path


class Booking(BaseModel):
    at: datetime
    lasts: timedelta


def receipt() -> Receipt:
    """A dataclass."""
    return Receipt(1, AT, Path("/kept/here"))


def booking() -> Booking:
    """A model."""
    return Booking(at=AT, lasts=timedelta(seconds=-1.5))


def path() -> Path:
    """A path."""
    return Path("/kept/here")


def paths() -> dict[str, Path]:
    """Paths."""
    return {"one": Path("one")}


def url() -> AnyUrl:
    """An address."""
    return AnyUrl("https://e.example/a")


def host() -> IPv4Address:
    """A host."""
    return IPv4Address("127.0.0.1")


def moment() -> datetime:
    """A moment without a zone."""
    return AT


def zoned() -> datetime:
    """A moment with one."""
    return AT.replace(tzinfo=timezone(timedelta(hours=2)))


def hour() -> time:
    """A time of day."""
    return time(9, 30)


def lasts() -> timedelta:
    """Less than two seconds."""
    return timedelta(seconds=1.5)


def queue() -> deque[int]:
    """A queue."""
    return deque([1, 2])


def numbers() -> Sequence[int]:
    """A range."""
    return range(3)


def mapping() -> Mapping[str, int]:
    """A mapping that is no dict."""
    return MappingProxyType({"a": 1})


def chained() -> Mapping[str, int]:
    """Two of them."""
    return ChainMap({"a": 1}, {"b": 2})


async def returned(function: Any) -> Any:
    executor = LeafExecutor(Registry(functions=[made := verb(effect="read")(function)]), threads=1)
    try:
        return await executor.run(
            LeafCall(spec=made.spec, args={}, key="k", attempt=1, timeout_s=30)
        )
    finally:
        await executor.close()


@pytest.mark.parametrize(
    ("function", "output"),
    [
        (receipt, {"number": 1, "booked_at": "2026-11-30T09:30:00", "kept": "/kept/here"}),
        (booking, {"at": "2026-11-30T09:30:00", "lasts": "-PT1.5S"}),
        (path, {"result": "/kept/here"}),
        (paths, {"one": "one"}),
        (url, {"result": "https://e.example/a"}),
        (host, {"result": "127.0.0.1"}),
        (moment, {"result": "2026-11-30T09:30:00"}),
        (zoned, {"result": "2026-11-30T09:30:00+02:00"}),
        (hour, {"result": "09:30:00"}),
        (lasts, {"result": "PT1.5S"}),
        (queue, {"result": [1, 2]}),
        (numbers, {"result": [0, 1, 2]}),
        (mapping, {"a": 1}),
        (chained, {"a": 1, "b": 2}),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
async def test_what_a_hint_takes_can_be_returned(function: Any, output: dict[str, Any]) -> None:
    """And fits the schema that is made of the hint."""
    made = verb(effect="read")(function)
    assert await returned(function) == LeafReturned(output=output)
    assert Schema(made.spec.output_schema).accepts(output)


async def test_what_has_no_form_is_named() -> None:
    """By its type: nothing that it holds. What may never end is not gone through."""

    def zone() -> dict[str, Any]:
        """A zone."""
        return {"zone": ZoneInfo("UTC")}

    def endless() -> dict[str, Any]:
        """All numbers."""
        return {"numbers": count()}

    for function, named in ((zone, "ZoneInfo"), (endless, "count")):
        ended = await returned(function)
        assert isinstance(ended, LeafFailed)
        assert (ended.code, ended.message) == (
            "bad_output",
            f"a value of type {named} has no JSON form",
        )


def test_a_default_is_what_its_hint_takes() -> None:
    """A path and a tuple as JSON has them; what cannot be one is told by its parameter, with what
    to write instead.
    """

    @verb(effect="read")
    def find(below: Path = Path("/kept"), ids: tuple[int, ...] = (1, 2)) -> dict[str, str]:
        """Find."""
        return {}

    properties: Any = find.spec.input_schema["properties"]
    assert (properties["below"]["default"], properties["ids"]["default"]) == ("/kept", [1, 2])

    def endless(limit: float = float("inf")) -> dict[str, str]:
        """No default."""
        return {}

    def misplaced(limit: int = Field(5, ge=1)) -> dict[str, str]:
        """No default."""
        return {}

    for function, why in (
        (endless, "parameter limit: the default is no finite number"),
        (misplaced, "limit: Annotated"),
    ):
        with pytest.raises(ConfigurationError, match=why):
            verb(effect="read")(function)
