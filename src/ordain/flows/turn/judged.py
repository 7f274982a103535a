"""Whether a turn that had work done below it went well: one judgement for whatever carried it out,
by the acts, as the header has them (B-34, RTE-12).
"""

from __future__ import annotations

import msgspec

from ordain.contracts.verdict import FAILED_BY
from ordain.flows.context import FlowContext
from ordain.flows.turn.request import TurnOutput
from ordain.rules.acts import Act
from ordain.rules.header import HeaderFacts
from ordain.rules.verdict import VERDICT, VerdictFacts, VerdictInputs


def judged(
    context: FlowContext,
    told: TurnOutput,
    below: HeaderFacts | None,
    refs: tuple[int, ...],
    before: tuple[Act, ...] = (),
) -> TurnOutput:
    """The turn as its acts have it: those ``before``, and those of the run below. No word of a
    model counts, and none is taken back.
    """
    acts = (*before, *(() if below is None else below.acts))
    facts = VerdictFacts(
        proposed=0 if below is None else below.proposed,
        acts=len(acts),
        answered=below is not None and below.answered,
    )
    outcome = context.fx.decide(VERDICT, facts, VerdictInputs(acts=acts), refs).outcome
    if (code := FAILED_BY.get(outcome.verdict)) is None:
        return msgspec.structs.replace(told, ok=True)
    message = f"failed: {', '.join(outcome.verbs)}" if outcome.verbs else str(outcome.verdict)
    return msgspec.structs.replace(told, ok=False, error={"code": code, "message": message})
