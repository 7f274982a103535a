"""Kind ``handoff`` as a value, and its versions before for what was begun under it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ordain.flows.carried import VerbPlanInput, VerbPlanOutput, call_label, call_words, carried_call
from ordain.flows.context import Carrying
from ordain.flows.handoff.flow import run_handoff, run_handoff_1, run_handoff_2
from ordain.flows.handoff.prompt import HANDOFF_PROMPT
from ordain.flows.kind import Kind, settled_in_words
from ordain.rules.tool_first import TOOL_FIRST


class _Payload(Struct, rename="camel"):
    output_payload: dict[str, Any] = {}


class _Output(Struct):
    output: _Payload | None = None


_OUTPUT = msgspec.json.Decoder(_Output)


def _excerpt(output: Raw) -> str:
    """What the specialist said; "" where that was not wanted back."""
    given = _OUTPUT.decode(output).output
    said = None if given is None else given.output_payload.get("content")
    return "" if said is None else msgspec.json.encode(said).decode()


HANDOFF_RUN: Kind[VerbPlanInput, VerbPlanOutput] = Kind(
    name="handoff",
    version=3,
    run=run_handoff,
    decode_input=msgspec.json.Decoder(VerbPlanInput).decode,
    settle=settled_in_words,
    label=call_label,
    words=call_words,
    excerpt=_excerpt,
    carries=carried_call,
    carrying=Carrying(waits=True),
    nests=False,
    prompts=(HANDOFF_PROMPT,),
    rules=(TOOL_FIRST,),
    judged=True,
)
HANDOFF_RUN_2 = replace(HANDOFF_RUN, version=2, run=run_handoff_2)
HANDOFF_RUN_1 = replace(HANDOFF_RUN, version=1, run=run_handoff_1)
