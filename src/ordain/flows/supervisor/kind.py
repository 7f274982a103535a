"""Kind ``supervisor`` as a value, and its versions before for what was begun under them."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from ordain.contracts.chain import CHAIN_VERB
from ordain.flows.carried import (
    VerbPlanInput,
    VerbPlanOutput,
    call_label,
    call_words,
    carried_call,
    verb_output,
)
from ordain.flows.context import Carrying
from ordain.flows.deliberation.prompt import COUNCIL_PROMPTS
from ordain.flows.kind import Kind, settled_in_words
from ordain.flows.supervisor.flow import (
    run_supervisor,
    run_supervisor_6,
    run_supervisor_7,
    run_supervisor_8,
)
from ordain.flows.supervisor.prompt import MOVE_PROMPT, MOVE_PROMPT_3, STEP_PROMPT
from ordain.flows.supervisor.v1 import run_supervisor as run_supervisor_1
from ordain.flows.supervisor.v2 import run_supervisor as run_supervisor_2
from ordain.flows.supervisor.v3 import run_supervisor as run_supervisor_3
from ordain.flows.supervisor.v4 import run_supervisor as run_supervisor_4
from ordain.flows.supervisor.v5 import run_supervisor as run_supervisor_5
from ordain.rules.supervise import SUPERVISE

SUPERVISOR: Kind[VerbPlanInput, VerbPlanOutput] = Kind(
    name="supervisor",
    version=9,
    run=run_supervisor,
    decode_input=msgspec.json.Decoder(VerbPlanInput).decode,
    settle=settled_in_words,
    label=call_label,
    words=call_words,
    excerpt=verb_output,
    carries=carried_call,
    carrying=Carrying(waits=True, inherits=True, prompt=STEP_PROMPT),
    prompts=(STEP_PROMPT, MOVE_PROMPT, *COUNCIL_PROMPTS),
    rules=(SUPERVISE,),
    escalates=frozenset({CHAIN_VERB}),
    judged=True,
)
SUPERVISOR_8 = replace(SUPERVISOR, version=8, run=run_supervisor_8)
SUPERVISOR_7 = replace(SUPERVISOR_8, version=7, run=run_supervisor_7)
SUPERVISOR_6 = replace(SUPERVISOR_7, version=6, run=run_supervisor_6)
SUPERVISOR_5 = replace(
    SUPERVISOR_6,
    version=5,
    run=run_supervisor_5,
    prompts=(STEP_PROMPT, MOVE_PROMPT),
    escalates=frozenset(),
)
SUPERVISOR_4 = replace(SUPERVISOR_5, version=4, run=run_supervisor_4)
SUPERVISOR_3 = replace(
    SUPERVISOR_4,
    version=3,
    run=run_supervisor_3,
    prompts=(STEP_PROMPT, MOVE_PROMPT_3),
    judged=False,
)
SUPERVISOR_2 = replace(SUPERVISOR_3, version=2, run=run_supervisor_2)
SUPERVISOR_1 = replace(SUPERVISOR_2, version=1, run=run_supervisor_1)
