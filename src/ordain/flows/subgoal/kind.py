"""Kind ``subgoal`` as a value."""

from __future__ import annotations

import msgspec

from ordain.flows.act import VerbPlanInput, VerbPlanOutput, call_label, call_words, carried_call, verb_output
from ordain.flows.context import Carrying
from ordain.flows.kind import Kind, settled_in_words
from ordain.flows.subgoal.flow import run_subgoal
from ordain.flows.subgoal.prompt import SUBGOAL_PROMPT

SUBGOAL: Kind[VerbPlanInput, VerbPlanOutput] = Kind(
    name="subgoal",
    version=1,
    run=run_subgoal,
    decode_input=msgspec.json.Decoder(VerbPlanInput).decode,
    settle=settled_in_words,
    label=call_label,
    words=call_words,
    excerpt=verb_output,
    carries=carried_call,
    carrying=Carrying(waits=True, inherits=True),
    raises=True,
    prompts=(SUBGOAL_PROMPT,),
    judged=True,
)
