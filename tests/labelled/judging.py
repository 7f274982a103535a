"""The labelled messages through wording and rules, in three modes: wording alone, with an oracle
for a model, and with a model that always says override.

``python -m tests.labelled.judging`` prints the figures of both halves. Which half a message is in
its number's digest says. The half that is held out is counted and never printed: ``--show`` names
the messages of the other one that are not as labelled.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import msgspec

from ordain.contracts.policy import Policy
from ordain.rules.answer import (
    ANSWER,
    OPTION_KEYS,
    AnswerFacts,
    AnswerInputs,
    Chosen,
    ExpectedType,
    Takes,
    YesOrNo,
    fits,
    partly,
    whole_answer,
)
from ordain.rules.attach import (
    AnswerPending,
    Attached,
    AttachOutcome,
    NewRequest,
    Override,
    Repair,
    ThreadFact,
    Triage,
    decide_attach,
)
from ordain.rules.attachment import AttachFacts
from ordain.wording.cues import Cues, Partly
from ordain.wording.languages import shipped_table
from ordain.wording.wording import Wording, compiled

FILE: Final = Path(__file__).parent / "messages.jsonl"
TRIED: Final = FILE.with_name("tried.jsonl")
"""What somebody tried who wanted to be misread, as it was typed."""
LANGUAGES: Final = FILE.with_name("languages.jsonl")
"""Messages in five languages."""
POLICY: Final = Policy(version=1)
WORKING: Final = 1
ORACLE: Final[Mapping[str, tuple[str, int]]] = {
    **dict.fromkeys(
        ("consent", "refusal", "choice", "value", "condition"), ("answer_to_pending", WORKING)
    ),
    **dict.fromkeys(("unclear", "chatter"), ("filler", 0)),
    **dict.fromkeys(("stop", "hold", "correct", "more"), ("override", WORKING)),
    **dict.fromkeys(("other", "new"), ("new_request", 0)),
    "status": ("status_nudge", WORKING),
}
"""What a model says that reads each message as it is labelled. It has no word for consent."""
STOPPED: Final = frozenset({"stop", "hold", "correct", "more"})
OWN_TURN: Final = frozenset({"new", "other"})
"""Labels of messages that deserve a turn of their own."""


class Mode(StrEnum):
    """Who is asked where the wording leaves a class open."""

    ALONE = "wording alone"
    ORACLE = "oracle"
    OVERRIDE = "always override"


Row = Mapping[str, Any]


def rows(file: Path = FILE) -> list[Row]:
    """Every labelled message of a set."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def held_out(row: Row) -> bool:
    """Whether the message is of the half that is looked at once, at the end: by its number
    alone.
    """
    return hashlib.sha256(str(row["id"]).encode()).digest()[0] % 2 == 1


def labels(row: Row) -> frozenset[str]:
    """What an honest reader could call the message."""
    return frozenset([row["label"], *row.get("also", [])])


def shipped() -> Wording:
    """The wording that is shipped."""
    return compiled(shipped_table())


def facts_of(row: Row, found: Cues, wording: Wording) -> AttachFacts:
    """The session that the message comes to: one thread that asks or works, or none."""
    if row["state"] == "idle":
        return AttachFacts(cues=found, asks_back=True)
    asks = _expects(row)
    thread = ThreadFact(id=WORKING, status="in_progress", live=True)
    if asks is not None:
        fitting, takes = (
            _fits(row, asks, found, wording),
            Takes.NOTHING if asks is ExpectedType.FREEFORM else Takes.UNCLEAR,
        )
        given = AnswerInputs(
            text=row["text"], wording=wording, options=tuple(row.get("options", ()))
        )
        partial = partly(asks, found, given) if takes and not fitting else Partly.NO
        thread = msgspec.structs.replace(
            thread,
            status="waiting_for_user",
            asks=str(asks),
            fits=fitting,
            takes=takes,
            partly=partial,
        )
    return AttachFacts(
        cues=found, threads=(thread,), active=WORKING, at_work=1, open=1, asks_back=True
    )


def _expects(row: Row) -> ExpectedType | None:
    if row["state"] in ("working", "idle"):
        return None
    if row["state"] == "question":
        return ExpectedType.YES_NO
    return ExpectedType.OPTION if row["options"] else ExpectedType.FREEFORM


def _fits(row: Row, expects: ExpectedType, found: Cues, wording: Wording) -> bool:
    if expects is not ExpectedType.OPTION:
        return fits(expects, found)
    return (
        whole_answer(
            expects,
            AnswerInputs(text=row["text"], wording=wording, options=tuple(row["options"])),
            found,
        )
        is not None
    )


def placed(row: Row, mode: Mode, wording: Wording) -> tuple[AttachOutcome, Cues]:
    """What the message is decided to be, and the cues that it was decided from."""
    found = wording.cues(row["text"])
    facts = msgspec.structs.replace(facts_of(row, found, wording), may_ask=mode is not Mode.ALONE)
    outcome = decide_attach(facts, None, POLICY).outcome
    if not isinstance(outcome, Triage):
        return outcome, found
    suggests, thread = ("override", WORKING) if mode is Mode.OVERRIDE else ORACLE[row["label"]]
    asked = msgspec.structs.replace(
        facts, may_ask=False, suggests=suggests, suggested_thread=thread, confidence=1.0
    )
    return decide_attach(asked, None, POLICY).outcome, found


def granted(row: Row, outcome: AttachOutcome, wording: Wording) -> bool | str | None:
    """What the run that asked is given for a value: a truth value, an option, or None where nothing
    is granted.
    """
    expects = _expects(row)
    if not isinstance(outcome, AnswerPending) or expects in (None, ExpectedType.FREEFORM):
        return None
    options = tuple(row.get("options", ()))
    given = AnswerInputs(text=row["text"], wording=wording, options=options)
    facts = AnswerFacts(
        expects=expects,
        size=len(row["text"]),
        options=len(options),
        takes=Takes.UNCLEAR,
        sorted=outcome.partly,
    )
    said = ANSWER.apply(facts, given, POLICY).outcome
    if isinstance(said, YesOrNo):
        return said.yes
    return options[OPTION_KEYS.index(said.option)] if isinstance(said, Chosen) else None


class Figures:
    """What is counted of some messages in one mode; ``wrong`` names them by what is the matter."""

    def __init__(self, some: Iterable[Row], mode: Mode, wording: Wording) -> None:
        """Judge them."""
        self.count: Counter[str] = Counter()
        self.wrong: dict[str, list[str]] = {}
        for row in some:
            self._judge(row, mode, wording)

    def _judge(self, row: Row, mode: Mode, wording: Wording) -> None:
        outcome, found = placed(row, mode, wording)
        value, said = granted(row, outcome, wording), labels(row)
        self.count["messages"] += 1
        self.count["consents"] += row["label"] == "consent"
        busy = row["state"] != "idle"
        self.count["deserve no turn"] += busy and not said & OWN_TURN
        self._note("consent had", row, value is True and "consent" in said)
        self._note("false consent", row, value is True and "consent" not in said)
        self._note("false refusal", row, value is False and "refusal" not in said)
        self._note(
            "false choice",
            row,
            isinstance(value, str)
            and (not said & {"choice", "value"} or value != row.get("value")),
        )
        self._note(
            "stray turn",
            row,
            busy and isinstance(outcome, NewRequest) and not outcome.thread and not said & OWN_TURN,
        )
        stopped = isinstance(outcome, Override) or (
            isinstance(outcome, Repair) and outcome.b.attached is Attached.OVERRIDE
        )
        self._note("false stop", row, stopped and not said & STOPPED)
        graded = max(found.stop, found.steer) >= 1 or found.hold
        self._note("stop without a graded steer", row, stopped and not graded)

    def _note(self, what: str, row: Row, is_so: bool) -> None:
        if is_so:
            self.count[what] += 1
            self.wrong.setdefault(what, []).append(f"{row['state']}/{row['label']}: {row['text']}")

    @property
    def stray_share(self) -> float:
        """Stray turns among the messages that deserve none of their own: where something runs or is
        asked, since a turn that is all there is is not stray.
        """
        return self.count["stray turn"] / max(1, self.count["deserve no turn"])


TOLD: Final = (
    "false consent",
    "false refusal",
    "false choice",
    "false stop",
    "stop without a graded steer",
    "stray turn",
)


def table(wording: Wording, every: Sequence[Row]) -> str:
    """The figures of both halves in all modes, as a table."""
    lines = [
        f"{'half':<12}{'mode':<17}{'messages':>9}{'consents':>10}"
        + "".join(f"{what:>{len(what) + 2}}" for what in TOLD)
    ]
    for half, out in (("looked at", False), ("held out", True)):
        for mode in Mode:
            found = Figures([row for row in every if held_out(row) is out], mode, wording)
            consents = f"{found.count['consent had']}/{found.count['consents']}"
            line = f"{half:<12}{mode:<17}{found.count['messages']:>9}{consents:>10}"
            told = "".join(f"{found.count[what]:>{len(what) + 2}}" for what in TOLD)
            lines.append(
                f"{line}{told} of {found.count['deserve no turn']} ({found.stray_share:.1%})"
            )
    return "\n".join(lines)


def _shown(wording: Wording) -> str:
    """What is not as labelled in the half that may be looked at."""
    lines: list[str] = []
    for mode in Mode:
        found = Figures([row for row in rows() if not held_out(row)], mode, wording)
        lines.append(f"== {mode} {dict(found.count)} {found.stray_share:.1%}")
        lines += ["\n   ".join([f"-- {what}", *found.wrong.get(what, [])]) for what in TOLD]
    return "\n".join(lines)


def main() -> None:
    """Print the figures; with ``--show`` what is not as labelled in the half that may be looked at,
    and no figure of the other.
    """
    wording = shipped()
    sys.stdout.write((_shown(wording) if "--show" in sys.argv else table(wording, rows())) + "\n")


if __name__ == "__main__":
    main()
