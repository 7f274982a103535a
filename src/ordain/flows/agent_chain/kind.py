"""Kind ``agent_chain`` as a value, and its version before for what was begun under it."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from ordain.flows.agent_chain.flow import run_chain, run_chain_1
from ordain.flows.agent_chain.prompt import CHAIN_PROMPT
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

AGENT_CHAIN: Kind[VerbPlanInput, VerbPlanOutput] = Kind(
    name="agent_chain",
    version=2,
    run=run_chain,
    decode_input=msgspec.json.Decoder(VerbPlanInput).decode,
    settle=settled_in_words,
    label=call_label,
    words=call_words,
    excerpt=verb_output,
    carries=carried_call,
    carrying=Carrying(waits=True, inherits=True, prompt=CHAIN_PROMPT),
    prompts=(CHAIN_PROMPT,),
    judged=True,
)
AGENT_CHAIN_1 = replace(AGENT_CHAIN, version=1, run=run_chain_1)
