"""Kind ``question`` as a value."""

from __future__ import annotations

import msgspec

from ordain.flows.act import VerbPlanInput, VerbPlanOutput, call_label, carried_call
from ordain.flows.kind import Kind, settled_by_error
from ordain.flows.question.flow import run_question

QUESTION: Kind[VerbPlanInput, VerbPlanOutput] = Kind(
    name="question",
    version=1,
    run=run_question,
    decode_input=msgspec.json.Decoder(VerbPlanInput).decode,
    settle=settled_by_error,
    label=call_label,
    carries=carried_call,
    spelled_out=True,
)
