"""Kind ``synthesis`` as a value."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from msgspec import Raw

from ordain.flows.findings import SYNTHESIS_KIND, SynthesisInput, SynthesisOutput
from ordain.flows.kind import Kind, settled_by_error
from ordain.flows.synthesis.flow import run_synthesis, run_synthesis_1
from ordain.flows.synthesis.prompt import SYNTHESIS_PROMPT
from ordain.journal.records import Label
from ordain.rules.header import HeaderLine

_OUTPUT = msgspec.json.Decoder(SynthesisOutput)


def _header(output: SynthesisOutput) -> tuple[HeaderLine, ...]:
    """Whose text it is."""
    if output.error:
        return ()
    by_code = f"the results are listed by code: {output.why}"
    return (
        HeaderLine(
            mark="info",
            what=by_code
            if output.why
            else "a model put the results into words; it decides nothing",
        ),
    )


def _excerpt(output: Raw) -> str:
    """What a parent's header shows: nothing of the words, which stand under it."""
    return (
        ""
        if not _OUTPUT.decode(output).why
        else msgspec.json.encode(_OUTPUT.decode(output).why).decode()
    )


def _label(_: SynthesisInput) -> Label:
    return Label(agent=SYNTHESIS_KIND)


SYNTHESIS: Kind[SynthesisInput, SynthesisOutput] = Kind(
    name=SYNTHESIS_KIND,
    version=2,
    run=run_synthesis,
    decode_input=msgspec.json.Decoder(SynthesisInput).decode,
    settle=settled_by_error,
    label=_label,
    prompts=(SYNTHESIS_PROMPT,),
    header=_header,
    excerpt=_excerpt,
    only_calls=True,
    judged=True,
)
SYNTHESIS_1 = replace(SYNTHESIS, version=1, run=run_synthesis_1)
