"""A call of a verb, rehearsed: the flows themselves decide, up to the first thing that would go live, and nothing does.

What is shown is therefore what would be decided, by the same rules on the same facts, and the prompt is the one that would be rendered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.effects.effect import Children, Effect, ModelCall
from ordain.flows.context import Flow
from ordain.flows.prompting import prompt_inputs
from ordain.flows.verb_plan import VERB_FLOW, VERB_PLAN_FLOW, VerbRunInput, VerbRunOutput
from ordain.journal.records import DecisionBody
from ordain.prompts.renderer import Prompt, render
from ordain.rules.decision import Rule
from ordain.rules.spend import Spend
from ordain.runtime.execution import Execution
from ordain.runtime.replay import EndOfJournal
from ordain.runtime.unspent import Unspending, run_unspent, unspent_opening

REHEARSAL = "rehearsal"
HOUR_US = 3_600_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """One decision: the rule, its outcome and facts as JSON values, and the reason with its meaning."""

    rule: str
    outcome: Any
    reason: str
    meaning: str
    facts: Any


@dataclass(slots=True, kw_only=True)
class Rehearsed:
    """What was decided; ``goes_live`` is what would have come next ("": nothing), ``error`` how the call would have ended before."""

    decisions: list[Decided] = field(default_factory=list[Decided])
    goes_live: str = ""
    error: Mapping[str, str] | None = None
    call: ModelCall | None = None
    prompt: Prompt | None = None


class _Rehearsal(Unspending):
    """Keeps what is decided, and the first effect."""

    def __init__(self, catalog: Catalog, into: Rehearsed) -> None:
        super().__init__(catalog.policy)
        self._into = into
        self.effect: Effect[Any] | None = None

    def decided(self, rule: Rule[Any, Any, Any], body: DecisionBody) -> None:
        reason = rule.reason(body.reason)
        outcome, facts = msgspec.json.decode(body.outcome), msgspec.json.decode(body.facts)
        self._into.decisions.append(Decided(rule=rule.name, outcome=outcome, reason=str(reason), meaning=reason.meaning, facts=facts))

    async def begin(self, addr: int, effect: Effect[Any]) -> Any:
        self.effect = effect
        raise EndOfJournal


def rehearse_verb(catalog: Catalog, verb_id: str, args: Mapping[str, Any]) -> Rehearsed:
    """What would become of this call for a caller from outside (VRB-02), up to its first live effect.

    Raises:
        ConfigurationError: the prompt cannot be rendered from these arguments.
    """
    done = Rehearsed()
    given = VerbRunInput(verb_id=verb_id, payload=dict(args), caller=REHEARSAL)
    effect, output, _ = _until_live(catalog, VERB_FLOW, given, done)
    if isinstance(output, VerbRunOutput):
        done.error = output.error
        return done
    if isinstance(effect, Children) and effect.spawns[0].flow == VERB_PLAN_FLOW.name:
        planned = VERB_PLAN_FLOW.decode_input(effect.spawns[0].input)
        effect, output, execution = _until_live(catalog, VERB_PLAN_FLOW, planned, done, effect.spawns[0].allowance)
        if output is not None:
            done.error = {"code": output.error, "message": output.message}
        if isinstance(effect, ModelCall):
            done.call = effect
            resolved = prompt_inputs(catalog, effect, execution.values)
            done.prompt = render(resolved.source, resolved.inputs)
    done.goes_live = "" if effect is None else str(type(effect).__struct_config__.tag)
    return done


def _until_live(
    catalog: Catalog, flow: Flow[Any, Any], given: Any, done: Rehearsed, allowance: Spend | None = None
) -> tuple[Effect[Any] | None, Any, Execution]:
    beyond = _Rehearsal(catalog, done)
    opening = unspent_opening(flow, given, REHEARSAL, HOUR_US)
    output, execution = run_unspent(flow, given, catalog, beyond, opening, allowance)
    return beyond.effect, output, execution
