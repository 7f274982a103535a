"""A call of a verb, rehearsed: the flows themselves decide, up to the first thing that would go
live, and nothing does.

What is shown is therefore what would be decided, by the same rules on the same facts, and the
prompt is the one that would be rendered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Raw

from ordain.contracts.catalog import Catalog
from ordain.contracts.verbs import VerbRequest
from ordain.effects.children import NULL, Spawn
from ordain.effects.effect import AnyEffect, Children, Effect, ModelCall
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.journal.records import DecisionBody, Status
from ordain.prompts.prompt import Prompt, render
from ordain.rules.decision import Rule
from ordain.runtime.dry_run import NothingSpent, dry_opening, dry_run
from ordain.runtime.foreign_code import asked_of
from ordain.runtime.run_state import RunState

REHEARSAL = "rehearsal"
HOUR_US = 3_600_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """One decision: the rule, its outcome and facts as JSON values, and the reason with its
    meaning.
    """

    rule: str
    outcome: Any
    reason: str
    meaning: str
    facts: Any


@dataclass(slots=True, kw_only=True)
class Rehearsed:
    """What was decided; ``goes_live`` is what would have come next ("": nothing), ``error`` how the
    call would have ended before.
    """

    decisions: list[Decided] = field(default_factory=list[Decided])
    goes_live: str = ""
    error: Mapping[str, str] | None = None
    call: ModelCall | None = None
    prompt: Prompt | None = None


class _Rehearsal(NothingSpent):
    """Keeps what is decided, and the first effect."""

    def __init__(self, catalog: Catalog, into: Rehearsed) -> None:
        super().__init__(catalog.policy)
        self._into = into
        self.effect: Effect[Any] | None = None

    def decided(self, rule: Rule[Any, Any, Any], body: DecisionBody) -> None:
        reason = rule.reason(body.reason)
        outcome, facts = msgspec.json.decode(body.outcome), msgspec.json.decode(body.facts)
        self._into.decisions.append(
            Decided(
                rule=rule.name,
                outcome=outcome,
                reason=str(reason),
                meaning=reason.meaning,
                facts=facts,
            )
        )

    async def begin(self, addr: int, effect: AnyEffect, encoded: Raw) -> Any:
        self.effect = effect
        raise self.stop()


def rehearse_verb(
    kinds: Kinds, catalog: Catalog, verb_id: str, args: Mapping[str, Any]
) -> Rehearsed:
    """What would become of this call for a caller from outside (VRB-02), up to its first live
    effect.

    Raises:
        ConfigurationError: the prompt cannot be rendered from these arguments.
    """
    done = Rehearsed()
    kind = kinds.answering(VerbRequest)
    asked = VerbRequest(verb_id=verb_id, payload=dict(args), caller=REHEARSAL)
    given = (
        asked_of(kind, "wire.take", kind.wire.take, asked, catalog, REHEARSAL).input
        if kind.wire is not None
        else NULL
    )
    effect, ended, _ = _until_live(kind, given, catalog, done, kinds)
    if ended is not None:
        done.error = ended
        return done
    spawned = effect.spawns[0] if isinstance(effect, Children) else None
    child = None if spawned is None else kinds.newest.get(spawned.flow)
    if spawned is not None and child is not None:
        effect, done.error, state = _until_live(child, spawned.input, catalog, done, kinds, spawned)
        if isinstance(effect, ModelCall):
            done.call = effect
            prompt = child.prompt(effect.purpose)
            done.prompt = render(
                prompt.source_of(catalog, effect),
                prompt.build(catalog, effect, state.values).inputs,
            )
    done.goes_live = "" if effect is None else str(type(effect).__struct_config__.tag)
    return done


def _until_live(
    kind: Kind[Any, Any],
    given: Raw,
    catalog: Catalog,
    done: Rehearsed,
    kinds: Kinds,
    spawn: Spawn[Any] | None = None,
) -> tuple[Effect[Any] | None, Mapping[str, str] | None, RunState]:
    """The first effect, or how the run would have ended before it."""
    beyond = _Rehearsal(catalog, done)
    output, state = dry_run(
        kind, dry_opening(given, REHEARSAL, HOUR_US), catalog, beyond, kinds, spawn
    )
    if output is None:
        return beyond.effect, None, state
    settled = kind.settle(output)
    error = (
        None
        if settled.status is Status.COMPLETED
        else {"code": settled.reason, "message": settled.message}
    )
    return beyond.effect, error, state
