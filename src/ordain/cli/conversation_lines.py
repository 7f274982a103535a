"""What of a conversation people see in a terminal, as lines. Pure.

All that a model, a tool or a user said is cleaned first, and below a header no line looks like one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ordain.cli.columns import clipped
from ordain.cli.output import HEADER_INDENT, marked_lines, people_read
from ordain.cli.screen import BOLD, CYAN, DIM, GREEN, RED, WITHIN, YELLOW, ScreenLine
from ordain.cli.talk import Turn
from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.events import (
    ApprovalEvent,
    ErasedEvent,
    MessageEvent,
    OptionView,
    QuestionEvent,
    ReplyEvent,
    SaidEvent,
    SessionEvent,
    SummaryEvent,
)
from ordain.rules.header import MARKS
from ordain.rules.plain_reply import cleaned
from ordain.runtime.brief import at_work
from ordain.runtime.reason_words import meanings

COLOURS = {MARKS["ok"]: GREEN, MARKS["fail"]: RED, MARKS["unknown"]: YELLOW}
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
ABOUT_CHARS = 60
TURNS_SHOWN = 4
FAR, LINES_SHOWN = 3, 2
"""Times as much as there is room for; of a text's lines, some of which make none."""
FENCE = "```"
"""Around a block of code in Markdown."""
EMPTY = ScreenLine(text="")


def one_line(text: str, columns: int = ABOUT_CHARS) -> str:
    """Foreign text on one line, in quotation marks."""
    return f"“{clipped(' '.join(cleaned(text).split()).replace('”', '’'), columns)}”"


def notice(text: str) -> ScreenLine:
    """Something this command says by itself."""
    return ScreenLine(text=f"({cleaned(text)})".replace("\n", " "), style=DIM, indent=" ")


def header_lines(header: str) -> list[ScreenLine]:
    """A header, as code wrote it."""
    return [
        ScreenLine(
            text=line, style=DIM, mark=COLOURS.get(line.lstrip()[:1], ""), indent=HEADER_INDENT
        )
        for line in cleaned(header).split("\n")
    ]


def words(text: str, columns: int, within: str = "") -> list[ScreenLine]:
    """Foreign text, broken to fit; each line that comes of it stands behind its mark, as no line of
    a header does. What is left of one: behind ``within``.
    """
    return [ScreenLine(text=line) for line in marked_lines(text.strip("\n"), columns, within)]


def tail(text: str, columns: int, rows: int) -> str:
    """The text's end, as much of it as a screen has room for or more, from the beginning of a line
    unless that is far; within a block of code it still is one.
    """
    most, start = rows * columns, len(text)
    for _ in range(LINES_SHOWN * rows):
        start = text.rfind("\n", 0, start)
        if start < 0:
            break
    start = max(0, start, len(text) - most)
    cut = text.rfind("\n", 0, start) + 1
    cut = start if start - cut > FAR * most else cut
    inside = sum(line.lstrip().startswith(FENCE) for line in text[:cut].split("\n")) % 2
    return f"{FENCE}\n{text[cut:]}" if inside else text[cut:]


def question_lines(
    text: str, expected: str, options: Sequence[OptionView], columns: int
) -> list[ScreenLine]:
    """A question back: what it is about, the options, and what an answer should be."""
    chosen = [
        ScreenLine(
            text=f"  {clipped(cleaned(option.key), 8)}  {one_line(option.label, columns - 12)}",
            style=CYAN,
        )
        for option in options
    ]
    keys = [clipped(cleaned(option.key), 8) for option in options]
    wanted = (
        " or ".join(filter(None, (", ".join(keys[:-1]), *keys[-1:]))) or one_line(expected)[1:-1]
    )
    return [
        ScreenLine(text="Ordain asks:", style=BOLD),
        *words(text, columns),
        *chosen,
        notice(f"expects {wanted}"),
    ]


class Looks(Struct, frozen=True, kw_only=True):
    """How things are shown: in how many columns, headers whole or not, and how a model's words
    are.
    """

    columns: int
    whole: bool = False
    said: Callable[[str, int], list[ScreenLine]] = words


def event_lines(
    event: SessionEvent, turn: Turn | None, looks: Looks, *, mine: bool, several: bool
) -> list[ScreenLine]:
    """What a durable event adds to the screen for good; ``turn`` is the one it closes or asks for,
    ``mine`` whether it was typed here.
    """
    columns = looks.columns
    about = (
        [ScreenLine(text=f"re {one_line(turn.text)}", style=CYAN)]
        if turn is not None and turn.text and (several or turn.named)
        else []
    )
    match event:
        case ReplyEvent(header=header, narrative=narrative):
            below = [EMPTY, *looks.said(narrative, columns)] if cleaned(narrative).strip() else []
            return [*about, *header_lines(people_read(header, whole=looks.whole)), *below, EMPTY]
        case QuestionEvent():
            return [
                *about,
                *question_lines(event.text, event.expected_type, event.options, columns),
                EMPTY,
            ]
        case ApprovalEvent(text=text, approval=approval, tier=tier):
            return [
                *about,
                waits_line(tier),
                *words(text, columns, WITHIN),
                notice(f"approval {one_line(approval)[1:-1]}"),
                EMPTY,
            ]
        case SaidEvent(text=text):
            return [*words(text, columns), EMPTY]
        case MessageEvent() if not mine:
            return [
                ScreenLine(
                    text=f"{one_line(event.user, 30)}: {one_line(event.text, columns)[1:-1]}",
                    style=BOLD,
                ),
                EMPTY,
            ]
        case SummaryEvent(imported=True):
            return [notice("what a client showed of before was imported")]
        case SummaryEvent():
            return [notice("what was said earlier has been summed up")]
        case ErasedEvent():
            return [notice("erased")]
        case _:
            return []


def waits_line(tier: str) -> ScreenLine:
    """That an approver is waited for."""
    return ScreenLine(text=f"Ordain waits for an approver ({one_line(tier)[1:-1]}):", style=BOLD)


def answer_lines(answer: MessageAnswer) -> list[ScreenLine]:
    """What is said of a message that nobody answers."""
    if answer.run_id is None and answer.reply is None:
        return [notice(f"nothing follows from that: {answer.attached}, {answer.reason}"), EMPTY]
    return []


def thread_lines(session: Mapping[str, Any]) -> list[ScreenLine]:
    """The threads of a session, as the face shows it."""
    found: list[ScreenLine] = []
    for thread in session["threads"]:
        active = "  active" if thread["threadId"] == session["activeThreadId"] else ""
        asks = thread["pendingQuestion"]
        waits = f"  expects {one_line(asks['expectedType'])[1:-1]}" if asks else ""
        approval = thread["awaitingApproval"]
        waits += f"  approval {one_line(approval['approvalId'])[1:-1]}" if approval else ""
        flight = thread["inFlight"]
        queued = f"  {len(flight['queued'])} queued" if flight and flight["queued"] else ""
        found.append(
            ScreenLine(
                text=(
                    f"{thread['threadId']:>3}  {thread['status']:<17} "
                    f"{one_line(thread['intent'])}{waits}{queued}{active}"
                )
            )
        )
    return found or [notice("no threads yet")]


def live_lines(
    turns: Sequence[Turn], seconds: Sequence[int], frame: int, looks: Looks, rows: int
) -> list[ScreenLine]:
    """The live part: the latest provisional text under its header, then what is at work; ``rows``
    are how many there are for it.
    """
    working = [
        (turn, since) for turn, since in zip(turns, seconds, strict=True) if not turn.waiting
    ]
    status = [
        ScreenLine(
            text=(
                f"{SPINNER[frame % len(SPINNER)]} "
                f"{one_line(turn.text) if turn.text else 'at work'} {since} s"
            ),
            style=DIM,
        )
        for turn, since in working[-TURNS_SHOWN:]
    ]
    showing = next((turn for turn, _ in reversed(working) if turn.header), None)
    if showing is None:
        return status
    header, room = header_lines(at_work(showing.header, meanings())), rows - len(status) - 1
    if len(header) > room // 2:
        header = [header[0], *header[len(header) - max(1, room // 2) + 1 :]]
    said = (
        looks.said(tail(showing.shows, looks.columns, rows), looks.columns)[
            -max(1, room - len(header)) :
        ]
        if showing.shows
        else []
    )
    return [*header, *([EMPTY, *said] if said else []), *status]
