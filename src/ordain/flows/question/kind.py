"""Kind ``question`` as a value, and its versions before for what was begun under them."""

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
from ordain.flows.question.flow import run_question
from ordain.flows.question.v1 import run_question as run_question_1
from ordain.flows.question.v3 import run_question as run_question_3
from ordain.rules.answer import ANSWER

QUESTION: Kind[VerbPlanInput, VerbPlanOutput] = Kind(
    name="question",
    version=4,
    run=run_question,
    decode_input=msgspec.json.Decoder(VerbPlanInput).decode,
    settle=settled_in_words,
    label=call_label,
    words=call_words,
    excerpt=verb_output,
    carries=carried_call,
    carrying=Carrying(waits=True, inherits=True),
    rules=(ANSWER,),
    judged=True,
)
QUESTION_3 = replace(QUESTION, version=3, run=run_question_3)
QUESTION_2 = replace(QUESTION_3, version=2, judged=False)
QUESTION_1 = replace(QUESTION_2, version=1, run=run_question_1, rules=())
