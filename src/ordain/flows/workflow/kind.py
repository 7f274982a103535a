"""Kind ``workflow`` as a value."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from ordain.effects.calls import spelled_call
from ordain.flows.kind import FailedStep, Kind, settled_in_words
from ordain.flows.workflow.flow import run_workflow
from ordain.flows.workflow_run import WORKFLOW_KIND, WorkflowInput, WorkflowOutput
from ordain.journal.records import Label
from ordain.rules.header import HeaderLine
from ordain.rules.workflow import WORKFLOW
from ordain.rules.workflow_step import WORKFLOW_STEP

_OUTPUT = msgspec.json.Decoder(WorkflowOutput)


def _header(output: WorkflowOutput) -> tuple[HeaderLine, ...]:
    """The steps that did not run, where some did not."""
    skipped = [step for step in output.steps if step.skipped and not step.error]
    return tuple(
        HeaderLine(mark="info", what=f"not run: step {step.order}, {step.step_name}")
        for step in skipped
    )


def _excerpt(output: Raw) -> str:
    """What the last step gave."""
    return msgspec.json.encode(_OUTPUT.decode(output).output).decode()


def _failed(output: WorkflowOutput) -> FailedStep | None:
    return output.failed


def _label(_: WorkflowInput) -> Label:
    return Label(agent=WORKFLOW_KIND)


def _words(given: WorkflowInput) -> str:
    return spelled_call(given.template, given.args)


WORKFLOW_RUN: Kind[WorkflowInput, WorkflowOutput] = Kind(
    name=WORKFLOW_KIND,
    version=1,
    run=run_workflow,
    decode_input=msgspec.json.Decoder(WorkflowInput).decode,
    settle=settled_in_words,
    label=_label,
    words=_words,
    rules=(WORKFLOW, WORKFLOW_STEP),
    header=_header,
    excerpt=_excerpt,
    failed=_failed,
    only_calls=True,
    judged=True,
)
