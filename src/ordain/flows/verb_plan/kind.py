"""Kind ``verb_plan`` as a value, and its version before for what was begun under it."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from ordain.flows.carried import (
    VERB_PLAN,
    VerbPlanInput,
    VerbPlanOutput,
    call_label,
    call_words,
    carried_call,
    verb_output,
)
from ordain.flows.context import Carrying
from ordain.flows.kind import Kind, settled_in_words
from ordain.flows.verb_plan.cortex_reply import cortex_reply
from ordain.flows.verb_plan.flow import run_verb_plan
from ordain.flows.verb_plan.prompt import VERB_PROMPT
from ordain.flows.verb_plan.v1 import run_verb_plan as run_verb_plan_1
from ordain.rules.output import OUTPUT

VERB_PLAN_KIND: Kind[VerbPlanInput, VerbPlanOutput] = Kind(
    name=VERB_PLAN,
    version=2,
    run=run_verb_plan,
    decode_input=msgspec.json.Decoder(VerbPlanInput).decode,
    settle=settled_in_words,
    label=call_label,
    words=call_words,
    excerpt=verb_output,
    cortex=cortex_reply,
    carries=carried_call,
    carrying=Carrying(prompt=VERB_PROMPT, by_verb=True),
    prompts=(VERB_PROMPT,),
    rules=(OUTPUT,),
    judged=True,
)
VERB_PLAN_1 = replace(VERB_PLAN_KIND, version=1, run=run_verb_plan_1, judged=False)
