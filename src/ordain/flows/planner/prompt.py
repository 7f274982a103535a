"""The planner prompt of a planning request, and what stands beside it: what its session came to
before, and the critique of an answer that is to be bettered.
"""

from __future__ import annotations

from typing import Any

from ordain.contracts.planner import PlannerRequest
from ordain.effects.effect import ModelCall
from ordain.effects.results import VerbReturned
from ordain.flows.planner.session import EARLIER
from ordain.flows.steps.prompt import build_step, built_prompt, step_prompt
from ordain.flows.steps.trace import acted_in, proposal_of
from ordain.flows.transcript import Spoken
from ordain.flows.values import Values
from ordain.rules.proposals import Parsed

DRAFT, CRITIQUE = "draft", "critique"
DRAFT_CHARS = 4000
CRITIC = "self_critique"
NOT_YET = (
    "The draft is no answer yet: propose a final answer that meets the critique, or a call that "
    "it needs first."
)


def _given(values: Values) -> tuple[PlannerRequest, Spoken | None]:
    return values[0], None


def _beside(call: ModelCall, values: Values) -> dict[str, Any]:
    """Material of the records that the call names beside its steps."""
    named: dict[str, int] = call.args.get("beside", {})
    found: dict[str, Any] = {}
    if EARLIER in named:
        found["earlier_requests"] = values[named[EARLIER]].value
    if CRITIQUE in named:
        acted, proposal = (
            acted_in(CRITIC, values[named[CRITIQUE]]),
            proposal_of(values[named[DRAFT]]),
        )
        draft = proposal.value["final_answer"]["content"] if isinstance(proposal, Parsed) else ""
        said = acted.result.output if isinstance(acted.result, VerbReturned) else {}
        found[CRITIQUE] = {DRAFT: draft[:DRAFT_CHARS], "found": said, "note": NOT_YET}
    return found


PROMPT_3 = step_prompt(_given)
PROMPT = built_prompt(build_step(_given, _beside))
