"""What is said while something is open that waits for its person: an approval, or a question of yes
or no. Read from wording and rules alone.

``python -m tests.labelled.beside`` prints what each kind of message becomes, in both states;
``--show`` names those that are not as labelled.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from ordain.rules.answer import AnswerInputs, ExpectedType, Takes, fits, partly
from ordain.rules.attach import AttachOutcome, ThreadFact, decide_attach
from ordain.rules.attachment import (
    AnswerPending,
    AttachFacts,
    AttachReason,
    NewRequest,
    StatusNudge,
)
from ordain.rules.reasons import Reason
from ordain.wording.cues import Cues, Partly
from ordain.wording.wording import Wording
from tests.labelled.judging import POLICY, Row, rows, shipped

FILE: Final = Path(__file__).with_name("beside.jsonl")
OPEN_THREAD: Final = 1


class Open(StrEnum):
    """What waits."""

    APPROVAL = "approval"
    QUESTION = "question"


KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("consent", "refusal", "hedge"), "answer"),
    "status": "status",
    **dict.fromkeys(("stop", "correct"), "stop"),
    **dict.fromkeys(("request", "yes_and", "no_and"), "request"),
    "chatter": "chatter",
}
"""The kind of each label."""


def facts_of(text: str, state: Open, wording: Wording) -> tuple[AttachFacts, Cues]:
    """The session that the message comes to: one thread that waits for an approver, or for a yes or
    a no.
    """
    found = wording.cues(text)
    thread = ThreadFact(id=OPEN_THREAD, status="in_progress", live=True)
    if state is Open.QUESTION:
        given = AnswerInputs(text=text, wording=wording)
        thread = ThreadFact(
            id=OPEN_THREAD,
            status="waiting_for_user",
            live=True,
            asks=ExpectedType.YES_NO,
            fits=fits(ExpectedType.YES_NO, found),
            takes=Takes.UNCLEAR,
            partly=Partly.NO
            if fits(ExpectedType.YES_NO, found)
            else partly(ExpectedType.YES_NO, found, given),
        )
    facts = AttachFacts(
        cues=found,
        threads=(thread,),
        approvals=(0,) if state is Open.APPROVAL else (),
        active=OPEN_THREAD,
        at_work=1,
        open=1,
        asks_back=True,
        addressed=True,
        newest=True,
        outspoken=True,
        last=OPEN_THREAD,
    )
    return facts, found


def became(text: str, state: Open, wording: Wording) -> tuple[AttachOutcome, Reason, Cues]:
    """What the message is decided to be where no model is asked."""
    facts, found = facts_of(text, state, wording)
    decision = decide_attach(facts, None, POLICY)
    return decision.outcome, decision.reason, found


def judged(state: Open, wording: Wording) -> Iterator[tuple[Row, str, str]]:
    """Each message with what it became."""
    for row in rows(FILE):
        outcome, reason, found = became(row["text"], state, wording)
        yield row, shown(outcome, reason, found), str(reason)


def shown(outcome: AttachOutcome, reason: Reason, found: Cues) -> str:
    """The column of an outcome: an answer that grants is told from one that grants nothing, work
    that is told from how a yes is given.
    """
    match outcome:
        case AnswerPending(partly=Partly.NO):
            return "yes" if found.yes else "no"
        case AnswerPending():
            return "goes back"
        case StatusNudge():
            return "how it is given" if reason is AttachReason.APPROVAL else "told"
        case NewRequest():
            return "request"
        case _:
            return type(outcome).__name__.lower()


COLUMNS: Final = (
    "yes",
    "no",
    "goes back",
    "how it is given",
    "told",
    "override",
    "filler",
    "repair",
    "request",
)


def matrix(state: Open, wording: Wording) -> str:
    """What each label becomes, counted."""
    count: Counter[tuple[str, str]] = Counter()
    for row, column, _ in judged(state, wording):
        count[row["label"], column] += 1
    lines = [f"{state!s:<10}" + "".join(f"{name:>17}" for name in COLUMNS)]
    lines += [
        f"{label:<10}" + "".join(f"{count[label, name]:>17}" for name in COLUMNS) for label in KINDS
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the tables."""
    wording = shipped()
    for state in Open:
        sys.stdout.write(matrix(state, wording) + "\n")
        if "--show" in sys.argv:
            for row, column, reason in judged(state, wording):
                sys.stdout.write(f"  {row['label']:<8} {column:<16} {reason:<28} {row['text']}\n")


if __name__ == "__main__":
    main()
