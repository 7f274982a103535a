"""Flow ``synthesis``: what agents found, as one text (RTE-04, RTE-07).

A model writes it where there is one; else code lists what was found. Nothing depends on what it
says: whoever asked for it decides by acts alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ordain.effects.results import ModelAnswer
from ordain.flows.ask import ask
from ordain.flows.context import FlowContext
from ordain.flows.findings import (
    StepFinding,
    SynthesisInput,
    SynthesisOutput,
    listed,
    set_apart,
)
from ordain.flows.synthesis.prompt import SYNTHESIS_PROMPT
from ordain.ports.effects import Interrupted
from ordain.rules.proposals import without_thought

NO_WORDS = "no_words"


async def run_synthesis(context: FlowContext, given: SynthesisInput) -> SynthesisOutput:
    """One text, a model's or code's."""
    return await _run(context, given, set_apart)


async def run_synthesis_1(context: FlowContext, given: SynthesisInput) -> SynthesisOutput:
    """Version 1, where an agent's words could have a line like another agent's."""
    return await _run(context, given, listed)


async def _run(
    context: FlowContext, given: SynthesisInput, by_code: Callable[[Sequence[StepFinding]], str]
) -> SynthesisOutput:
    try:
        answer = await ask(context, SYNTHESIS_PROMPT, given)
    except Interrupted:
        return SynthesisOutput(error="cancelled")
    if not isinstance(answer, ModelAnswer):
        return SynthesisOutput(text=by_code(given.findings), why=answer.code)
    text = without_thought(answer.content or "").strip()
    return (
        SynthesisOutput(text=text)
        if text
        else SynthesisOutput(text=by_code(given.findings), why=NO_WORDS)
    )
