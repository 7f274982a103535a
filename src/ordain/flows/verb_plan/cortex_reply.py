"""The reply that the sources' orchestrator gives for a prompt-plan verb (B-04, C3), made again from
the run that carried it out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ordain.effects.children import NULL
from ordain.flows.carried import StepResult, VerbPlanInput, VerbPlanOutput
from ordain.flows.kind import AnswerHad, Ending

ORIGIN = "ordain"


def cortex_reply(ending: Ending, answers: Sequence[AnswerHad]) -> dict[str, Any]:
    """``{verb_name, origin_node, steps_executed, step_results, context_echo}``: of each step what
    the model said, word for word.

    A step that failed has the last answer, where there is one that no other step took; a step that
    was skipped has none.
    """
    given = msgspec.convert(ending.given, VerbPlanInput)
    output = (
        VerbPlanOutput(ok=False)
        if ending.output == NULL
        else msgspec.json.decode(ending.output, type=VerbPlanOutput)
    )
    had = {one.answer.prompt_digest: one for one in answers}
    taken = {step.prompt_digest for step in output.step_results}
    left = next((one for one in reversed(answers) if one.answer.prompt_digest not in taken), None)
    return {
        "verb_name": given.verb,
        "origin_node": ORIGIN,
        "steps_executed": sum(not step.skipped for step in output.step_results),
        "step_results": [
            _step(ending.run, given.verb, step, _of(step, had, left))
            for step in output.step_results
        ],
        "context_echo": given.args,
    }


def _of(step: StepResult, had: Mapping[str, AnswerHad], left: AnswerHad | None) -> AnswerHad | None:
    if step.prompt_digest:
        return had.get(step.prompt_digest)
    return left if step.error else None


def _step(run: str, verb: str, step: StepResult, had: AnswerHad | None) -> dict[str, Any]:
    payload = None if had is None else had.answer.content
    return {
        "verb_name": verb,
        "step_name": step.step_name,
        "order": step.order,
        "services": [
            {
                "service": service,
                "trace_id": run,
                "ok": step.ok,
                "elapsed_ms": 0 if had is None else had.elapsed_ms,
                "payload": payload,
                **({"error": step.error} if step.error else {}),
            }
            for service in step.services
        ],
    }
