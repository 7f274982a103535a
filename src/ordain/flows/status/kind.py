"""Kind ``status`` as a value, and its version before for what was begun under it."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from ordain.flows.commission import Commission
from ordain.flows.kind import Kind, Serves, settled_by_error
from ordain.flows.status.flow import StatusInput, StatusOutput, run_status
from ordain.journal.records import Label


def _label(given: StatusInput) -> Label:
    return Label(after=given.run)


def _reply(output: StatusOutput) -> str:
    return output.narrative


def _input(given: Commission) -> StatusInput:
    return StatusInput(
        session=given.session,
        seq=given.seq,
        run=given.run,
        intent=given.intent,
        about=given.telling,
        queued=given.queued,
    )


STATUS: Kind[StatusInput, StatusOutput] = Kind(
    name="status",
    version=2,
    run=run_status,
    decode_input=msgspec.json.Decoder(StatusInput).decode,
    settle=settled_by_error,
    label=_label,
    reply=_reply,
    serves=Serves.STATUS,
    commissioned=_input,
    judged=True,
)
STATUS_1 = replace(STATUS, version=1, judged=False)
