"""What one execution of a run leaves to others: what happens where its journal ends, and who looks
on while records are read back.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec
from msgspec import Struct

from ordain.effects.children import AnyEnded
from ordain.effects.effect import AnyEffect, Claim
from ordain.flows.values import Values
from ordain.journal.codec import ReadRecord, decode
from ordain.journal.records import DecisionBody
from ordain.rules.decision import Decision, Rule
from ordain.rules.recover import Recovering


class Beyond(Protocol):
    """What happens where the journal ends."""

    def decided(self, rule: Rule[Any, Any, Any], body: DecisionBody) -> None:
        """A decision was made that no record holds yet."""
        ...

    async def claim(self, addr: int, claim: Claim[Any]) -> Decision[Any]:
        """Claim ``addr`` has no record: decide it in the write transaction."""
        ...

    async def begin(self, addr: int, effect: AnyEffect, encoded: msgspec.Raw) -> Any:
        """Effect ``addr`` has no record: announce it as ``encoded`` and carry it out."""
        ...

    async def resume(
        self,
        addr: int,
        effect: AnyEffect,
        ended: dict[int, AnyEnded],
        recover: Recovering | None = None,
    ) -> Any:
        """Effect ``addr`` was announced but has no observation; ``ended`` are the children already
        recorded, ``recover`` decides of a verb's call.
        """
        ...


class Judge(Protocol):
    """Looks on while recorded decisions are read back: replay compares, a policy diff may
    replace.
    """

    def judge(
        self, decision: Decision[Any], rule: Rule[Any, Any, Any], facts: Struct, inputs: object
    ) -> Decision[Any]:
        """The decision to hand to the flow."""
        ...

    def rendered(self, addr: int, effect: AnyEffect, result: Any, values: Values) -> None:
        """A recorded effect and its result, before the flow gets it."""
        ...


class Rereading(Struct, frozen=True, kw_only=True):
    """How records are read back: by what their bodies are decoded, and who looks on."""

    read: ReadRecord = decode
    judge: Judge | None = None


PLAINLY = Rereading()
