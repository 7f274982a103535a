"""Kind ``seat`` as a value."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from msgspec import Raw

from ordain.flows.deliberation.seat_run import SEAT_KIND, SeatInput, SeatOutput
from ordain.flows.kind import Kind, settled_in_words
from ordain.flows.seat.flow import run_seat, run_seat_1, run_seat_2
from ordain.flows.seat.prompt import SEAT_PROMPT
from ordain.journal.records import Label
from ordain.rules.opinion import OPINION

_OUTPUT = msgspec.json.Decoder(SeatOutput)


def _label(given: SeatInput) -> Label:
    return Label(agent=given.seat)


def _excerpt(output: Raw) -> str:
    """Who spoke; what was said is no part of any header."""
    return _OUTPUT.decode(output).name


SEAT: Kind[SeatInput, SeatOutput] = Kind(
    name=SEAT_KIND,
    version=3,
    run=run_seat,
    decode_input=msgspec.json.Decoder(SeatInput).decode,
    settle=settled_in_words,
    label=_label,
    excerpt=_excerpt,
    prompts=(SEAT_PROMPT,),
    rules=(OPINION,),
    only_calls=True,
    judged=True,
)
SEAT_2 = replace(SEAT, version=2, run=run_seat_2)
SEAT_1 = replace(SEAT, version=1, run=run_seat_1)
