"""Kind ``roster`` as a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec

from ordain.contracts.roster import StepRecord, StepStatus
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
from ordain.flows.roster.before import (
    run_roster_1,
    run_roster_2,
    run_roster_3,
    run_roster_4,
    run_roster_5,
)
from ordain.flows.roster.flow import run_roster
from ordain.flows.roster.prompt import ROSTER_PROMPT
from ordain.rules.header import HeaderLine
from ordain.rules.negotiate import NEGOTIATE
from ordain.rules.plan import PLAN
from ordain.rules.plan_step import PLAN_STEP
from ordain.rules.plan_wave import PLAN_WAVE
from ordain.rules.recourse import RECOURSE
from ordain.rules.step_event import STEP_EVENT

_MARKS = {StepStatus.COMPLETED: "info", StepStatus.CANCELLED: "info"}


def _header(output: VerbPlanOutput) -> tuple[HeaderLine, ...]:
    """Each step with whom it was planned for, who had it, if anybody, and where it came to
    (PLAN-18).
    """
    return _lines(
        output,
        lambda record: (
            _had(record, record.executed_agent)
            if record.executed_agent
            else f"{record.planned_agent}, handed to nobody"
        ),
    )


def _header_1(output: VerbPlanOutput) -> tuple[HeaderLine, ...]:
    return _lines(output, lambda record: _had(record, record.executed_agent or "nobody"))


def _had(record: StepRecord, who: str) -> str:
    return who if who == record.planned_agent else f"{who} instead of {record.planned_agent}"


def _lines(output: VerbPlanOutput, had: Callable[[StepRecord], str]) -> tuple[HeaderLine, ...]:
    if output.output is None or "structured" not in output.output:
        return ()
    records = msgspec.convert(output.output["structured"]["steps"], list[StepRecord])
    return tuple(_line(record, had(record), len(records)) for record in records)


def _line(record: StepRecord, who: str, steps: int) -> HeaderLine:
    tools = f", tools {', '.join(record.executed_tools)}" if record.executed_tools else ""
    what = f"plan step {record.index + 1} of {steps}: {who}, {record.status}{tools}"
    return HeaderLine(
        mark=_MARKS.get(record.status, "fail"), what=what, excerpt=record.planned_reason
    )


ROSTER: Kind[VerbPlanInput, VerbPlanOutput] = Kind(
    name="roster",
    version=6,
    run=run_roster,
    decode_input=msgspec.json.Decoder(VerbPlanInput).decode,
    settle=settled_in_words,
    label=call_label,
    words=call_words,
    excerpt=verb_output,
    carries=carried_call,
    carrying=Carrying(waits=True, inherits=True),
    prompts=(ROSTER_PROMPT,),
    rules=(PLAN, PLAN_STEP, PLAN_WAVE, STEP_EVENT, RECOURSE, NEGOTIATE),
    header=_header,
    nests=False,
    judged=True,
)
ROSTER_5 = replace(ROSTER, version=5, run=run_roster_5)
ROSTER_4 = replace(ROSTER, version=4, run=run_roster_4)
ROSTER_3 = replace(ROSTER, version=3, run=run_roster_3)
ROSTER_2 = replace(ROSTER, version=2, run=run_roster_2)
ROSTER_1 = replace(ROSTER, version=1, run=run_roster_1, header=_header_1)
