"""Labelled messages, half of them worded by somebody who saw no code, through wording and rule
``attach`` in many states of a session.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ordain.contracts.policy import Policy
from ordain.rules.answer import ExpectedType, fits
from ordain.rules.attach import Attached, Edit, ThreadFact, decide_attach
from ordain.rules.attachment import AttachFacts
from ordain.wording.cues import Cues
from ordain.wording.languages import shipped_table
from ordain.wording.wording import Wording, compiled

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "messages"
FILES = ("independent", "own")
ENOUGH = 0.9
WORDING = compiled(shipped_table())
ITEMS = {file: json.loads((FOLDER / f"{file}.json").read_text(encoding="utf-8")) for file in FILES}


def facts_of(item: Mapping[str, Any], found: Cues) -> AttachFacts:
    """The session's state, by its name: threads separated by a plus, the most recently touched
    first.
    """
    threads: list[ThreadFact] = []
    waiting = 0
    for number, part in enumerate(
        [] if item["state"] == "idle" else item["state"].split("+"), start=1
    ):
        what, _, asks = part.partition(":")
        if what == "queued":
            waiting += 1
            continue
        status = {"running": "in_progress", "asked": "waiting_for_user", "failed": "failed"}.get(
            what, "done"
        )
        live = what in {"running", "asked"}
        threads.append(
            ThreadFact(
                id=number,
                status=status,
                live=live,
                asks=asks,
                fits=bool(asks) and fits(ExpectedType(asks), found),
            )
        )
    unsettled = sum(thread.live for thread in threads)
    return AttachFacts(
        cues=found,
        threads=tuple(threads),
        active=threads[0].id if threads else 0,
        anchor=item.get("anchor", 0),
        asked=item.get("asked", False),
        at_work=unsettled,
        open=unsettled + waiting,
        edit=Edit(item.get("edit", "")),
    )


def attached(item: Mapping[str, Any], wording: Wording = WORDING) -> tuple[str, int]:
    """The class that a message gets, and its thread."""
    outcome = decide_attach(
        facts_of(item, wording.cues(item["text"])), None, Policy(version=1)
    ).outcome
    return str(outcome.__struct_config__.tag), getattr(outcome, "thread", 0)


def right(item: Mapping[str, Any]) -> bool:
    """Whether class and, where the label names one, thread are as labelled."""
    found, thread = attached(item)
    return found in {item["label"], item.get("either")} and thread == item.get("thread", thread)


def test_there_are_enough_and_of_every_kind() -> None:
    """At least 200 labelled messages, half of them worded independently, in at least three
    languages, of every class.
    """
    everything = [item for file in FILES for item in ITEMS[file]]
    assert len({(item["text"], item["state"]) for item in everything}) >= 200
    assert len(ITEMS["independent"]) >= 100
    assert len({item["lang"] for item in everything}) >= 3
    assert {item["label"] for item in everything} == {
        str(kind) for kind in Attached if kind is not Attached.TRIAGE
    }


@pytest.mark.parametrize("file", FILES)
def test_nine_in_ten_are_attached_as_labelled(file: str) -> None:
    """RTE-08 "Code enforces message attachment": at least nine in ten messages get the class and
    thread that a person gave them.
    """
    wrong = [
        f"{item['label']} in {item['state']}, got {attached(item)}: {item['text']}"
        for item in ITEMS[file]
        if not right(item)
    ]
    kinds = Counter(line.partition(" ")[0] for line in wrong)
    assert len(wrong) <= (1 - ENOUGH) * len(ITEMS[file]), (
        f"{len(wrong)} of {len(ITEMS[file])} wrong: {kinds}\n" + "\n".join(wrong)
    )


@pytest.mark.parametrize("file", FILES)
def test_no_work_is_overridden_wrongly(file: str) -> None:
    """The costliest mistake: not one message that means something else stops or changes what runs,
    nor asks which to stop.
    """
    wrong = [
        item["text"]
        for item in ITEMS[file]
        if item["label"] not in {"override", "repair"}
        and attached(item)[0] in {"override", "repair"}
        and not right(item)
    ]
    assert wrong == []
