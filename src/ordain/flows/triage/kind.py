"""Kind ``triage`` as a value, and its versions before for what was begun under them."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from ordain.flows.kind import Kind, Serves, settled_by_error
from ordain.flows.triage.flat_input import FlatTriageInput
from ordain.flows.triage.flow import run_triage
from ordain.flows.triage.prompt import TRIAGE_PROMPT
from ordain.flows.triage.request import AGENT, TriageInput, TriageOutput, triage_input
from ordain.flows.triage.v1 import run_triage as run_triage_1
from ordain.flows.triage.v2 import run_triage as run_triage_2
from ordain.flows.triage.v3 import run_triage as run_triage_3
from ordain.flows.triage.v5 import run_triage as run_triage_5
from ordain.journal.records import Label
from ordain.rules.answer import ANSWER
from ordain.rules.attachment import AttachReason
from ordain.rules.suggestion import SUGGESTION

HALTED = (
    "This was not begun: an order to stop came before it was. Say it again if it is still wanted."
)
"""What is told by versions whose flow does not know of that."""


def _label(_: TriageInput | FlatTriageInput) -> Label:
    return Label(agent=AGENT)


def _words(given: TriageInput | FlatTriageInput) -> str:
    return given.text


def _reply(output: TriageOutput) -> str | None:
    return output.narrative or (HALTED if output.reason == str(AttachReason.HALTED) else None)


TRIAGE: Kind[TriageInput, TriageOutput] = Kind(
    name="triage",
    version=6,
    run=run_triage,
    decode_input=msgspec.json.Decoder(TriageInput).decode,
    settle=settled_by_error,
    label=_label,
    words=_words,
    prompts=(TRIAGE_PROMPT,),
    rules=(SUGGESTION, ANSWER),
    reply=_reply,
    serves=Serves.PLACING,
    commissioned=triage_input,
    judged=True,
)
TRIAGE_5 = replace(TRIAGE, version=5, run=run_triage_5)
TRIAGE_4 = replace(TRIAGE_5, version=4, judged=False)
TRIAGE_3: Kind[FlatTriageInput, TriageOutput] = Kind(
    name="triage",
    version=3,
    run=run_triage_3,
    decode_input=msgspec.json.Decoder(FlatTriageInput).decode,
    settle=settled_by_error,
    label=_label,
    words=_words,
    prompts=(TRIAGE_PROMPT,),
    rules=(SUGGESTION, ANSWER),
    reply=_reply,
    serves=Serves.PLACING,
)
TRIAGE_2 = replace(TRIAGE_3, version=2, run=run_triage_2, rules=())
TRIAGE_1 = replace(TRIAGE_2, version=1, run=run_triage_1, charged=False)
"""A model was asked whatever the shared accounts had left."""
