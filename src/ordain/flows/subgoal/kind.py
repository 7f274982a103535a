"""Kind ``subgoal`` as a value, and its versions before for what was begun under it."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from ordain.flows.carried import (
    VerbPlanInput,
    VerbPlanOutput,
    call_label,
    call_words,
    carried_call,
    verb_output,
)
from ordain.flows.context import Carrying
from ordain.flows.kind import Kind, settled_in_words
from ordain.flows.subgoal.flow import run_subgoal, run_subgoal_1, run_subgoal_2
from ordain.flows.subgoal.prompt import SUBGOAL_PROMPT
from ordain.rules.verdict import VERDICT

SUBGOAL: Kind[VerbPlanInput, VerbPlanOutput] = Kind(
    name="subgoal",
    version=3,
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
    rules=(VERDICT,),
    judged=True,
)
SUBGOAL_2 = replace(SUBGOAL, version=2, run=run_subgoal_2)
SUBGOAL_1 = replace(SUBGOAL, version=1, run=run_subgoal_1)
