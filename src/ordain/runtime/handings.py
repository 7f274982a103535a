"""What a run's own records hold of work that it hands on: the envelopes that rule ``handoff`` made,
and what the guardrails said of each call.

A handoff's child is opened with exactly such an envelope, with no more verbs than that has, and
with the budget that it says: a flow makes none by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct, structs

from ordain.contracts.approvals import MayAsk
from ordain.contracts.catalog import Catalog
from ordain.contracts.handoff import Envelope, Handed
from ordain.contracts.scope import CapabilityScope
from ordain.contracts.verbs import VerbEffect
from ordain.effects.calls import Call
from ordain.effects.children import Spawn
from ordain.errors import FlowFault
from ordain.journal.digests import call_digest
from ordain.rules.guardrail import (
    Forbidden,
    GuardrailFacts,
    GuardrailInputs,
    GuardrailOutcome,
    Passed,
)
from ordain.rules.handoff import (
    HandoffAllowed,
    HandoffFacts,
    HandoffInputs,
    HandoffOutcome,
    HandoffStage,
)
from ordain.rules.profile import HeldProfile
from ordain.rules.spend import Spend


class _Given(Struct):
    """What of a composite verb's input says that work is handed on."""

    handoff: Envelope | None = None


_GIVEN = msgspec.json.Decoder(_Given)


class OwnBounds(Struct, frozen=True):
    """What a decision about a handoff has to be made of: whom the run may ask, the profile that
    holds, and what the run may do.
    """

    may_ask: MayAsk | None
    held: HeldProfile | None
    scope: CapabilityScope


class Handings:
    """Envelopes and guardrails by the digest of the call, the latest of each."""

    def __init__(self, chain: tuple[str, ...]) -> None:
        """Of a run that work came to through these cards."""
        self.chain = chain
        self._envelopes: dict[str, list[Envelope]] = {}
        self._guarded: dict[str, GuardrailOutcome] = {}

    def decided(
        self, facts: HandoffFacts, inputs: HandoffInputs, outcome: HandoffOutcome, own: OwnBounds
    ) -> None:
        """Keep the envelopes of a request that was allowed, and none of one that was refused.

        Raises:
            FlowFault: it was decided of something else than this run's own.
        """
        digests = [call_digest(Call(verb=ask.verb, args=ask.args)) for ask in inputs.calls]
        sound = (
            facts.chain == self.chain
            and facts.may_ask is own.may_ask
            and inputs.held == own.held
            and own.scope.covers(inputs.scope)
            and [ask.digest for ask in inputs.calls] == digests
            and facts.targets == len(digests)
        )
        if not sound:
            raise FlowFault("a handoff decided of what is not the run's own")
        if facts.stage is HandoffStage.RUN:
            return
        for digest in digests:
            self._envelopes.pop(digest, None)
            self._guarded.pop(digest, None)
        if isinstance(outcome, HandoffAllowed):
            for digest, envelope in zip(digests, outcome.envelopes, strict=False):
                self._envelopes.setdefault(digest, []).append(envelope)

    def guarded(
        self,
        facts: GuardrailFacts,
        inputs: GuardrailInputs,
        outcome: GuardrailOutcome,
        catalog: Catalog,
    ) -> None:
        """Keep what the guardrails say of a call.

        Raises:
            FlowFault: they were asked of another call, or of other verbs than it would be handed on
                with.
        """
        envelopes = self._envelopes.get(facts.call, ())
        verbs = {verb for envelope in envelopes for verb in envelope.scope or ()}
        if call_digest(
            Call(verb=facts.verb, args=inputs.args)
        ) != facts.call or facts.effects != catalog.effects_of(verbs):
            raise FlowFault("guardrails asked of something else than what is handed on")
        self._guarded[facts.call] = outcome

    def handed(self, call: str, catalog: Catalog) -> Handed:
        """What rule ``authorize`` is told of a call with this digest that hands work to a card."""
        envelopes, guarded = self._envelopes.get(call), self._guarded.get(call)
        if not envelopes or guarded is None or isinstance(guarded, Forbidden):
            return Handed.REFUSED
        if not isinstance(guarded, Passed) or any(envelope.expansion for envelope in envelopes):
            return Handed.PERSON
        verbs = (verb for envelope in envelopes for verb in envelope.scope or ())
        return (
            Handed.READS
            if all(catalog.verbs[verb].spec.effect is VerbEffect.READ for verb in verbs)
            else Handed.MORE
        )

    def check(self, spawns: Sequence[Spawn[object]], catalog: Catalog) -> None:
        """Children that work is handed to are opened as the rule said.

        Raises:
            FlowFault: one is not.
        """
        for spawn in spawns:
            if (
                spawn.authorized is not None
                and catalog.card_of(spawn.authorized.call.verb) is not None
            ):
                self._check(spawn, call_digest(spawn.authorized.call), catalog.scoring)

    def _check(self, spawn: Spawn[object], call: str, scoring: Sequence[str]) -> None:
        envelope = _GIVEN.decode(spawn.input).handoff
        made = [structs.replace(one, budget=None) for one in self._envelopes.get(call, ())]
        if (
            envelope is None
            or envelope.budget is None
            or structs.replace(envelope, budget=None) not in made
        ):
            raise FlowFault(
                f"a handoff in an envelope that no decision on record made: {spawn.flow}"
            )
        within = Spend(**structs.asdict(envelope.budget))
        if not within.covers(spawn.allowance) or not set(spawn.scope) <= {
            *(envelope.scope or ()),
            *scoring,
        }:
            raise FlowFault(f"a handoff with more than its envelope says: {spawn.flow}")
