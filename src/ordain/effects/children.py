"""Child runs: what starts one, how a join ends, and how a child ends."""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, TypeVar

from msgspec import Raw, Struct

from ordain.effects.calls import Authorized
from ordain.rules.header import HeaderFacts
from ordain.rules.spend import Spend

R_co = TypeVar("R_co", covariant=True)

NULL = Raw(b"null")
"""No value, where raw JSON is expected."""


class Spawn(Struct, Generic[R_co], frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """A child run to start: its flow, input and what it may use. A child never gets more than its
    parent has.
    """

    flow: str
    input: Raw
    scope: tuple[str, ...] = ()
    deadline: int
    allowance: Spend
    keep_thoughts: bool = True
    authorized: Authorized | None = None


class JoinMode(StrEnum):
    """When a join ends: see ``Join``."""

    ALL = "all"
    FIRST = "first"
    QUORUM = "quorum"


class Join(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """``all`` waits for every child, ``first`` and ``quorum`` for that many that completed.

    A join also ends when its number can no longer be reached, or at the deadline. The rest are
    interrupted and awaited.
    """

    mode: JoinMode = JoinMode.ALL
    quorum: int = 1
    deadline: int | None = None


class Ended(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="ended"):
    """How a child ended, what it spent and its header. ``seq`` is the record that says so, in the
    parent's journal.

    ``runs`` is how many were opened below it, children of children included. ``lost_us`` is how
    much of its time was lost: who joins it lost that, too.
    """

    child: str
    spent: Spend = Spend()
    runs: int = 0
    lost_us: int = 0
    header: HeaderFacts | None = None
    seq: int = -1


class Completed(Ended, frozen=True, kw_only=True, omit_defaults=True, tag="completed"):
    """The child's flow returned ``value`` (raw JSON of the flow's output)."""

    value: Raw


class Failed(Ended, frozen=True, kw_only=True, omit_defaults=True, tag="failed"):
    """The child ended in a typed failure; ``value`` is what it returned all the same."""

    reason: str
    value: Raw = NULL


class Cancelled(Ended, frozen=True, kw_only=True, omit_defaults=True, tag="cancelled"):
    """The child was interrupted."""

    reason: str = ""


class TimedOut(Ended, frozen=True, kw_only=True, omit_defaults=True, tag="timed_out"):
    """The child's or the join's deadline came first."""


class Unknown(Ended, frozen=True, kw_only=True, omit_defaults=True, tag="unknown"):
    """The child holds an effect whose outcome nobody can know."""

    reason: str = ""


AnyEnded = Completed | Failed | Cancelled | TimedOut | Unknown
