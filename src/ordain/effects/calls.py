"""A proposed verb call, and one that a decision allows."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Call(Struct, frozen=True, gc=False, kw_only=True):
    """A proposed verb call: the exact verb id and arguments."""

    verb: str
    args: dict[str, Any]


class Authorized(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """A call together with the address of the decision that allows it and the digest of what it allows.

    Built only by ``flows.act``; the executor checks it against the journal before anything goes live.
    """

    call: Call
    digest: str = ""
    decision: str
