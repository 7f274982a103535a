"""A proposed verb call, and one that a decision allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, json


class Call(Struct, frozen=True, gc=False, kw_only=True):
    """A proposed verb call: the exact verb id and arguments."""

    verb: str
    args: dict[str, Any]


class Authorized(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """A call together with the address of the decision that allows it and the digest of what it
    allows.

    Built only by ``flows.act``; the executor checks it against the journal before anything goes
    live.
    """

    call: Call
    digest: str = ""
    decision: str


def spelled_call(name: str, args: Mapping[str, Any]) -> str:
    """A call for people, as ``ordain call`` takes it: texts as they are, all else as JSON."""
    told = (
        f"{key}={value if isinstance(value, str) else json.encode(value).decode()}"
        for key, value in args.items()
    )
    return " ".join((name, *told))
