"""``enterprise.playbook``: the steps that people wrote down for a situation, as they stand.

The folder is the operator's; three examples are shipped and used while it has no file. What a file
says stays foreign: a step is text for a person or a planner, and gives no call a right that it
would not have without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ordain import FunctionVerb, VerbError, verb
from ordain.toolbox.playbooks import (
    STEP_CHARS_MAX,
    STEPS_MAX,
    TITLE_MAX,
    WHEN_MAX,
    Match,
    Playbook,
    PlaybookAids,
    PlaybookFolder,
    Shelf,
    find_playbooks,
)

SHIPPED = Path(__file__).parent / "playbooks"
SITUATION_MAX = 4000
OTHERS_MAX = 10
PROBLEMS_MAX = 10
_NAMES_IN_MESSAGE = 10


@dataclass(frozen=True, slots=True)
class PlaybookStep:
    """One step as it stands in the file."""

    number: Annotated[int, Field(ge=1, description="Its place in the playbook, from 1.")]
    text: Annotated[str, Field(max_length=STEP_CHARS_MAX)]
    line: Annotated[int, Field(ge=1, description="The line of the file where it begins.")]


@dataclass(frozen=True, slots=True)
class OtherPlaybook:
    """A playbook that fits less well."""

    name: Annotated[str, Field(max_length=80)]
    title: Annotated[str, Field(max_length=TITLE_MAX)]


@dataclass(frozen=True, slots=True)
class FoundPlaybook:
    """A playbook and its steps."""

    name: Annotated[str, Field(max_length=80, description="Ask for it again by this name.")]
    title: Annotated[str, Field(max_length=TITLE_MAX)]
    when: Annotated[str, Field(max_length=WHEN_MAX, description="The situation it is for.")]
    steps: Annotated[
        list[PlaybookStep], Field(max_length=STEPS_MAX, description="In order, word for word.")
    ]
    left_out: Annotated[int, Field(ge=0, description="Steps after those, because of max_steps.")]
    matched: Annotated[
        list[str],
        Field(
            max_length=100,
            description=(
                "The words (their stems) of the situation that it was found by; empty by name."
            ),
        ),
    ]
    ambiguous: Annotated[
        bool, Field(description="Whether another playbook fits just as well: look at others.")
    ]
    others: Annotated[
        list[OtherPlaybook],
        Field(max_length=OTHERS_MAX, description="Playbooks that fit too, the best first."),
    ]
    source: Annotated[
        Literal["own", "shipped"],
        Field(
            description=(
                "own: from the playbooks folder; shipped: an example, as the folder has none."
            )
        ),
    ]
    file: Annotated[str, Field(max_length=100)]
    problems: Annotated[
        list[Annotated[str, Field(max_length=500)]],
        Field(
            max_length=PROBLEMS_MAX,
            description="Files that are no playbooks, with line and reason.",
        ),
    ]


def enterprise_playbook(aids: PlaybookAids, folder: Path | None = None) -> FunctionVerb[Any, Any]:
    """The verb ``enterprise.playbook`` over the Markdown files of a folder, or over the shipped
    examples where it has none.
    """
    shelves = PlaybookFolder(aids, folder, SHIPPED)

    @verb(
        name="enterprise.playbook",
        label="Playbook",
        effect="read",
        category="ExecutiveControl",
        tags=["enterprise", "planning"],
        timeout_ms=10_000,
        idempotent=True,
        example={"input": {"situation": "The web shop is down since nine.", "max_steps": 2}},
    )
    def playbook(
        situation: Annotated[str, Field(min_length=1, max_length=SITUATION_MAX)] | None = None,
        name: Annotated[str, Field(min_length=1, max_length=80)] | None = None,
        max_steps: Annotated[int, Field(ge=1, le=STEPS_MAX)] = STEPS_MAX,
    ) -> FoundPlaybook:
        """Find the organisation's own playbook for a situation and return its steps word for word,
        each with its line in the file.

        Use it before planning what an organisation has rules for: incidents, escalations, requests.
        Give situation or name, not both. Fails with no_playbook where none fits, naming those there
        are. The steps are not carried out.

        Args:
            situation: what happened or is wanted, in plain words.
            name: the name of a playbook, as an earlier call gave it.
            max_steps: most steps that are returned.
        """
        shelf = shelves.look()
        if (situation is None) == (name is None):
            raise VerbError("bad_input", "give situation or name, one of them")
        if name is not None:
            return _found(_named(shelf, name), [], shelf, max_steps)
        matches = find_playbooks(shelf.playbooks, situation or "", aids.common_words)
        if not matches:
            raise VerbError("no_playbook", f"no playbook fits; {_known(shelf)}")
        return _found(matches[0].playbook, matches, shelf, max_steps)

    return playbook


def _named(shelf: Shelf, name: str) -> Playbook:
    for book in shelf.playbooks:
        if book.name == name:
            return book
    for problem in shelf.problems:
        if problem.name == name:
            raise VerbError("bad_playbook", problem.message)
    raise VerbError("no_playbook", f"there is no playbook of this name; {_known(shelf)}")


def _known(shelf: Shelf) -> str:
    names = [book.name for book in shelf.playbooks]
    shown = ", ".join(names[:_NAMES_IN_MESSAGE]) + (
        f" and {len(names) - _NAMES_IN_MESSAGE} more" if len(names) > _NAMES_IN_MESSAGE else ""
    )
    bad = (
        f"; {len(shelf.problems)} files are no playbooks: {shelf.problems[0].message}"
        if shelf.problems
        else ""
    )
    return (f"there are {shown}" if names else "there is none") + bad


def _found(book: Playbook, matches: list[Match], shelf: Shelf, max_steps: int) -> FoundPlaybook:
    others = [match for match in matches if match.playbook is not book]
    return FoundPlaybook(
        name=book.name,
        title=book.title,
        when=book.when,
        steps=[
            PlaybookStep(number, step.text, step.line)
            for number, step in enumerate(book.steps[:max_steps], 1)
        ],
        left_out=max(0, len(book.steps) - max_steps),
        matched=list(matches[0].words) if matches else [],
        ambiguous=bool(others) and others[0].score == matches[0].score,
        others=[
            OtherPlaybook(match.playbook.name, match.playbook.title)
            for match in others[:OTHERS_MAX]
        ],
        source="own" if shelf.own else "shipped",
        file=f"{book.name}.md",
        problems=[problem.message[:500] for problem in shelf.problems[:PROBLEMS_MAX]],
    )
