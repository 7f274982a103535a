"""Headers as runs of this build leave them."""

from __future__ import annotations

import msgspec

from ordain.rules.acts import Act, ActEnd
from ordain.rules.header import HeaderFacts, render_header, with_verdict

RUN = "01a218e25968ad9b501d2a4aa3ae3473"
DONE = HeaderFacts(
    run=RUN,
    flow="turn@7",
    status="completed",
    reason="ok",
    models=("worker (openai: gpt-x)",),
    notices=(),
    lines=(),
    steps=2,
    model_calls=3,
    verb_calls=2,
    tokens_in=400,
    tokens_out=20,
    estimated=False,
    usd_micros=312,
    duration_ms=1_742,
    judged=True,
    answered=True,
    acts=(Act(verb="math.evaluate", call="c", end=ActEnd.DONE, run=RUN),),
)


def header(**changes: object) -> str:
    """What a run of this build leaves, with these facts otherwise."""
    return render_header(with_verdict(msgspec.structs.replace(DONE, **changes)))
