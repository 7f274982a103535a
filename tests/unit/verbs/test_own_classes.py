"""Text and numbers of classes of their own are what they are: a write that happened is not told as
unknown because its result came from numpy.
"""

from __future__ import annotations

from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ordain.ports.verb import LeafCall, LeafFailed, LeafReturned
from ordain.verbs import LeafExecutor, Registry, verb


class Words(str):
    """Text that says something else of itself."""

    __slots__ = ()

    def __str__(self) -> str:
        return "forged"


class Cents(int):
    """A number."""

    def __index__(self) -> int:
        return int.__index__(self)


class Level(IntEnum):
    HIGH = 3


@verb(effect="read")
async def gives(what: str) -> Any:
    """Give something of a class of its own."""
    return {
        "text": Words("true"),
        "cents": Cents(7),
        "level": Level.HIGH,
        "float64": np.float64(1.5),
        "float32": [np.float32(0.5)],
        "int64": {"n": np.int64(2**40)},
        "nan": np.float64("nan"),
        "inf": np.float32("inf"),
        "fraction": Fraction(1, 3),
        "one key twice": {"kept": [{1: "a", "1": "b"}]},
        "keys of numbers": {1: "a", 2: "b"},
    }[what]


@pytest.mark.parametrize(
    ("what", "result"),
    [
        ("text", "true"),
        ("cents", 7),
        ("level", 3),
        ("float64", 1.5),
        ("float32", [0.5]),
        ("int64", {"n": 2**40}),
        ("nan", None),
        ("inf", None),
        ("fraction", "1/3"),
        ("one key twice", None),
        ("keys of numbers", {"1": "a", "2": "b"}),
    ],
)
async def test_they_arrive_as_json_or_are_refused(what: str, result: Any) -> None:
    """What is not finite, or would lose something, has no form."""
    executor = LeafExecutor(Registry(functions=[gives]), threads=1)
    try:
        ended = await executor.run(
            LeafCall(spec=gives.spec, args={"what": what}, key="k", attempt=1, timeout_s=30)
        )
    finally:
        await executor.close()
    if result is None:
        assert isinstance(ended, LeafFailed)
        assert ended.code == "bad_output"
    else:
        assert ended == LeafReturned(output={"result": result})
