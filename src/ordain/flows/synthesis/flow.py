"""Flow ``synthesis``: what agents found, as one text (RTE-04, RTE-07).

A model writes it where there is one; else code lists what was found. Nothing depends on what it
says: whoever asked for it decides by acts alone.
"""

from __future__ import annotations

from ordain.effects.results import ModelAnswer
from ordain.flows.ask import ask
from ordain.flows.context import FlowContext
from ordain.flows.findings import SynthesisInput, SynthesisOutput, listed
from ordain.flows.synthesis.prompt import SYNTHESIS_PROMPT
from ordain.ports.effects import Interrupted
from ordain.rules.proposals import without_thought

NO_WORDS = "no_words"


async def run_synthesis(context: FlowContext, given: SynthesisInput) -> SynthesisOutput:
    """One text, a model's or code's."""
    try:
        answer = await ask(context, SYNTHESIS_PROMPT, given)
    except Interrupted:
        return SynthesisOutput(error="cancelled")
    if not isinstance(answer, ModelAnswer):
        return SynthesisOutput(text=listed(given.findings), why=answer.code)
    text = without_thought(answer.content or "").strip()
    return (
        SynthesisOutput(text=text)
        if text
        else SynthesisOutput(text=listed(given.findings), why=NO_WORDS)
    )
