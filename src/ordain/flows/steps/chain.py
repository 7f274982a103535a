"""Entering an agent chain: the one call by which a turn or a supervisor does, and the rule that
says whether what came of it counts (ACH-02, ACH-03, EXE-07).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.chain import CHAIN_VERB, TOOLS_MAX
from ordain.contracts.council import CouncilResult
from ordain.contracts.packs import pack_verbs
from ordain.effects.calls import Call
from ordain.effects.results import VerbReturned
from ordain.flows.act import act
from ordain.flows.acted import Acted
from ordain.flows.carried import InConversation, StepResult
from ordain.flows.context import FlowContext
from ordain.flows.observations import error_of
from ordain.flows.steps.steps import Progress
from ordain.rules.chain_end import CHAIN_END, ChainEndInputs, ChainUnfinished

DONE_CHARS = 8000
STEP_CHARS = 600
"""Most of what one step gave in what a chain is told of the steps before it."""


def pack_tools(catalog: Catalog, packs: Sequence[str] | None = None) -> tuple[str, ...]:
    """The verbs of these packs, or of policy's for a chain, that may run here, as far as a request
    may name them.
    """
    return pack_verbs(
        catalog.policy.agent_chain.packs if packs is None else packs, catalog, catalog.policy
    )[:TOOLS_MAX]


class ChainAsked(Struct, frozen=True, kw_only=True):
    """What a chain is asked: the words, the verbs that it may use, what it may use of steps, tokens
    and time (0: as policy has it), and material.
    """

    text: str
    tools: Sequence[str]
    mode: str = "agent"
    max_steps: int = 0
    max_tokens_reason: int = 0
    max_tokens_answer: int = 0
    timeout_ms: int = 0
    before: str = ""
    recalled: str = ""

    @property
    def call(self) -> Call:
        """The call of the reserved verb."""
        args: dict[str, Any] = {"text": self.text, "mode": self.mode, "tools": list(self.tools)}
        more = {
            "max_steps": self.max_steps,
            "max_tokens_reason": self.max_tokens_reason,
            "max_tokens_answer": self.max_tokens_answer,
            "timeout_ms": self.timeout_ms,
            "before": self.before[:DONE_CHARS],
            "recalled": self.recalled,
        }
        return Call(
            verb=CHAIN_VERB, args=args | {name: value for name, value in more.items() if value}
        )


class Chained(Struct, frozen=True, kw_only=True):
    """What came of it: the answer where it counts, else the code and the words for why there is
    none. ``acted`` is the call.
    """

    acted: Acted
    answer: dict[str, Any] | None = None
    error: str = ""
    message: str = ""

    @property
    def step(self) -> StepResult:
        """The chain as one step of what it was entered from."""
        skipped = bool(self.acted.denied)
        return StepResult(
            step_name=CHAIN_VERB,
            order=0,
            ok=self.answer is not None,
            error=self.error,
            call=self.acted.asked,
            skipped=skipped,
        )


async def enter_chain(
    context: FlowContext, asked: ChainAsked, talk: InConversation, refs: tuple[int, ...]
) -> Chained:
    """Run a chain, and take its answer where a validated directive led there; its text alone ends
    nothing.
    """
    acted = await act(context, asked.call, refs, talk)
    if not isinstance(acted.result, VerbReturned):
        error = error_of(acted)
        return Chained(acted=acted, error=error["code"], message=error["message"])
    output = acted.result.output
    if (fault := chain_fault(context, output, (acted.seq,))) is not None:
        return Chained(
            acted=acted, error=fault.code, message=fault.detail or "the chain's text is no answer"
        )
    return Chained(
        acted=acted, answer={"content": output["text"], "structured": output["structured"]}
    )


def chain_fault(
    context: FlowContext, result: Mapping[str, Any], refs: tuple[int, ...]
) -> ChainUnfinished | None:
    """Why a chain's result does not count; None: it does."""
    inputs = ChainEndInputs(result=result)
    outcome = context.fx.decide(CHAIN_END, inputs.facts, inputs, refs).outcome
    return outcome if isinstance(outcome, ChainUnfinished) else None


def steps_told(progress: Progress) -> list[str]:
    """The steps that were carried out, a line each: what was called, and what it gave."""
    told: list[str] = []
    for step in progress.steps:
        action, observed = step.wire["action"], step.wire["observation"]
        if action is not None and observed is not None:
            said = (
                observed["llm_output"] if observed["ok"] else f"failed, {observed['error']['code']}"
            )
            told.append(f"{action['tool_id']}: {said}"[:STEP_CHARS])
    return told


def left_open(result: CouncilResult) -> str:
    """What the council did not settle, as a chain is told of it: no answer, and material alone."""
    why = "" if result.verdict is None else result.verdict.reason
    proposed = (
        f"What it had in mind, and did not accept: {result.tentative_text}"
        if result.tentative_text
        else ""
    )
    return "\n".join(filter(None, ("The council handed this over to longer work.", why, proposed)))
