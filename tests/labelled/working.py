"""What is said to work that runs, from wording and rules alone: which messages stop or correct it
that mean neither, and which orders are missed.

``python -m tests.labelled.working`` prints the figures; ``--show`` names the messages that are not
as labelled.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from ordain.rules.attach import Override, Repair
from ordain.wording.wording import Wording
from tests.labelled.judging import STOPPED, Mode, Row, labels, placed, rows, shipped

FILE: Final = Path(__file__).with_name("working.jsonl")
ENDS: Final = frozenset({"stop", "hold"})
"""Labels of messages after which work goes on no further."""
WRONG: Final = ("false stop", "false correction", "missed stop", "missed correction")


def misread(row: Row, wording: Wording) -> str:
    """What is wrong with how the message is placed, of ``WRONG``; "" where nothing is."""
    outcome, _ = placed(row, Mode.ALONE, wording)
    said = labels(row)
    if isinstance(outcome, Override | Repair):
        stops = outcome.stop if isinstance(outcome, Override) else False
        if not said & STOPPED:
            return "false stop" if stops else "false correction"
        if row["label"] in ENDS and not stops:
            return "missed stop"
        return "false stop" if stops and not said & ENDS else ""
    if row["label"] in ENDS:
        return "missed stop"
    return "missed correction" if row["label"] == "correct" else ""


def judged(some: Iterable[Row], wording: Wording) -> dict[str, list[str]]:
    """The messages that are misread, by what is wrong."""
    found: dict[str, list[str]] = {what: [] for what in WRONG}
    for row in some:
        if what := misread(row, wording):
            found[what].append(row["text"])
    return found


def table(wording: Wording) -> str:
    """How many of those that mean something else stop or correct work, and how many orders are
    missed.
    """
    every, count = rows(FILE), Counter[str]()
    for row in every:
        count[WRONG[0]] += not labels(row) & ENDS
        count[WRONG[1]] += not labels(row) & STOPPED
        count[WRONG[2]] += row["label"] in ENDS
        count[WRONG[3]] += row["label"] == "correct"
    found = judged(every, wording)
    return "\n".join(
        (
            f"{what:<18}{len(found[what]):>4} of {count[what]:>3} "
            f"({len(found[what]) / count[what]:.1%})"
        )
        for what in WRONG
    )


def main() -> None:
    """Print the figures; with ``--show`` what is not as labelled, too."""
    wording = shipped()
    lines = [table(wording)]
    if "--show" in sys.argv:
        lines += [
            "\n   ".join([f"-- {what}", *texts])
            for what, texts in judged(rows(FILE), wording).items()
        ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
