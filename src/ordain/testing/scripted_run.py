"""What a scripted run did: everything that a flow's unit test may want to look at, and its
journal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.effects.calls import Call
from ordain.effects.children import Spawn
from ordain.effects.effect import Children, ModelCall, Read, Say, VerbCall, Wait
from ordain.flows.kind import Settlement
from ordain.flows.kinds import Kinds
from ordain.flows.transcript import TranscriptReader
from ordain.journal.digests import derived_id
from ordain.journal.records import Status
from ordain.ports.model import ModelRequest
from ordain.ports.store import StoredRun
from ordain.rules.decision import Rule
from ordain.rules.header import HeaderFacts, HeaderLine, render_header
from ordain.rules.reasons import Reason
from ordain.rules.spend import Spend
from ordain.runtime.replay import Replayed, replay
from ordain.testing.script import Asked

O = TypeVar("O")  # noqa: E741 - output


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedDecision:
    """One decision as the flow got it: rule, typed outcome, reason, facts as JSON values, its
    address, and the records it was made from.
    """

    rule: str
    outcome: Any
    reason: Reason
    facts: dict[str, Any]
    address: str
    refs: tuple[int, ...] = ()

    def __repr__(self) -> str:
        """On one line."""
        return f"{self.address} {self.reason}: {self.outcome}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Played(Generic[O]):
    """A scripted run that has come to its end, or to a fault.

    ``output`` is what the flow returned, None where an interrupt or a ``fault`` ended it; ``reply``
    what its session is told of it. ``asked`` are its effects and claims, ``decisions`` those of
    local and shared rules, both in order; ``requests`` what models were sent; ``left`` what it may
    still spend. ``stored`` is the run with its journal, as a store would have it.
    """

    output: O | None
    settlement: Settlement | None
    fault: Exception | None
    reply: str | None
    facts: HeaderFacts
    asked: tuple[Asked, ...]
    decisions: tuple[PlayedDecision, ...]
    requests: tuple[ModelRequest, ...]
    spent: Spend
    left: Spend
    stored: StoredRun
    catalog: Catalog
    kinds: Kinds
    transcript: TranscriptReader | None = None

    @property
    def status(self) -> Status:
        """Where the run stands: settled, or faulted."""
        return self.stored.status

    @property
    def header(self) -> str:
        """The execution header, rendered."""
        return render_header(self.facts)

    @property
    def lines(self) -> tuple[HeaderLine, ...]:
        """The lines of the header."""
        return self.facts.lines

    # --- what it asked for ------------------------------------------------------------------------

    @property
    def model_calls(self) -> tuple[ModelCall, ...]:
        """Its model calls."""
        return tuple(effect for effect in self.asked if isinstance(effect, ModelCall))

    @property
    def verb_calls(self) -> tuple[VerbCall, ...]:
        """Its attempts at leaf verbs."""
        return tuple(effect for effect in self.asked if isinstance(effect, VerbCall))

    @property
    def calls(self) -> tuple[Call, ...]:
        """What its attempts at leaf verbs called."""
        return tuple(effect.authorized.call for effect in self.verb_calls)

    @property
    def keys(self) -> tuple[str, ...]:
        """The idempotency keys of its attempts at leaf verbs."""
        return tuple(
            derived_id(self.stored.id, effect.authorized.decision) for effect in self.verb_calls
        )

    @property
    def reads(self) -> tuple[Read, ...]:
        """What it read."""
        return tuple(effect for effect in self.asked if isinstance(effect, Read))

    @property
    def waits(self) -> tuple[Wait, ...]:
        """What it waited for, timers included."""
        return tuple(effect for effect in self.asked if isinstance(effect, Wait))

    @property
    def spawns(self) -> tuple[Spawn[Any], ...]:
        """The children that it opened."""
        return tuple(
            spawn
            for effect in self.asked
            if isinstance(effect, Children)
            for spawn in effect.spawns
        )

    @property
    def said(self) -> tuple[str, ...]:
        """What it said to its session, summaries of its history aside."""
        return tuple(
            effect.text
            for effect in self.asked
            if isinstance(effect, Say) and not effect.summary_through
        )

    # --- what was decided -------------------------------------------------------------------------

    def decided(self, rule: Rule[Any, Any, Any] | str) -> tuple[PlayedDecision, ...]:
        """The decisions of one rule, in order."""
        name = rule if isinstance(rule, str) else rule.name
        return tuple(made for made in self.decisions if made.rule == name)

    def reasons(self, rule: Rule[Any, Any, Any] | str) -> tuple[str, ...]:
        """The reasons of one rule's decisions, in order."""
        return tuple(str(made.reason) for made in self.decided(rule))

    def replayed(self) -> Replayed:
        """The run replayed from its journal: every fact, rule, prompt, the result and the header
        made anew and compared.
        """
        return replay(self.stored, self.catalog, self.kinds, self.transcript)

    def __repr__(self) -> str:
        """How it ended, and what it did on the way."""
        came = (
            f"faulted: {self.fault!r}"
            if self.fault is not None
            else f"{self.status} ({self.stored.reason})"
        )
        effects = ", ".join(
            str(type(one).__struct_config__.tag or type(one).__name__.lower()) for one in self.asked
        )
        return (
            f"<Played {self.stored.flow}@{self.stored.flow_version} {came}; "
            f"{effects or 'no effects'}; {len(self.decisions)} decisions>"
        )


def made_of(rule: Rule[Any, Any, Any], body: Any) -> PlayedDecision:
    """A recorded decision of a rule, decoded."""
    return PlayedDecision(
        rule=rule.name,
        outcome=msgspec.json.decode(body.outcome, type=rule.outcome),
        reason=rule.reason(body.reason),
        facts=msgspec.json.decode(body.facts),
        address=str(body.addr),
        refs=getattr(body, "refs", ()),
    )
