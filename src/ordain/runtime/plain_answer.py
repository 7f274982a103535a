"""An answer as one plain text: its first lines code's, every line of a model's words behind its
mark. Pure.
"""

from __future__ import annotations

import re
import unicodedata

from msgspec import Struct

from ordain.contracts.conversation import ApprovalOpen, MessageAnswer, Question
from ordain.rules.header import MARKS
from ordain.rules.plain_reply import cleaned, plain_reply, quoted_lines
from ordain.runtime.brief import header_shown
from ordain.runtime.reason_words import meanings

REFUSED = f"{MARKS['fail']} What stands above was given up; what follows holds."
NOTHING = {
    "filler": "Taken as no request: nothing follows from it.",
    "override": "The work was stopped.",
    "repair": "Taken as part of what was said before.",
}
_MARKUP = re.compile(r"!(?=\[)|\](?=\()|~|<|\$(?=\$)|\\(?=[(\[])")
_UNMARKED = {
    "!": "! ",
    "]": "] ",
    "$": "$ ",
    "\\": "\\ ",
    "~": "\u223c",
    "<": "\u2039",
}
"""What opens an image, a link, formulae, what is struck out, or HTML; each looks as it did."""
FENCES = re.compile("`{3,}")
_SIGNS = ("CHECK", "TICK", "CROSS", "BALLOT", "SALTIRE", "MULTIPLICATION X", "SQUARE ROOT")
_DOTS = ("DOT", "BULLET", "HYPHENATION POINT", "SPACING POINT")
"""How Unicode calls what is drawn like a header's signs and like what stands between its parts."""


class PlainAnswer(Struct, frozen=True, kw_only=True):
    """An answer in parts: code's lines (header, or what is waited for) and a model's words ("":
    none).
    """

    header: str
    words: str

    @property
    def content(self) -> str:
        """Both as one text."""
        return plain_reply(self.header, self.words) if self.words else self.header


def answer_text_of(answer: MessageAnswer) -> PlainAnswer:
    """What became of a message."""
    if answer.reply is not None:
        header = header_shown(answer.reply.header, meanings())
        return PlainAnswer(header=in_markdown(header), words=answer.reply.narrative)
    if answer.question is not None:
        return PlainAnswer(
            header=f"{MARKS['unknown']} a question, which the next message answers",
            words=question_text(answer.question),
        )
    if answer.approval is not None:
        return PlainAnswer(
            header=approval_lines(answer.approval), words=as_it_stands(answer.approval.text)
        )
    return PlainAnswer(
        header=(
            f"{MARKS['info']} {NOTHING.get(answer.attached, 'Nothing more follows from it.')} "
            f"({answer.reason})"
        ),
        words="",
    )


def in_markdown(header: str) -> str:
    """A header for whoever shows it as Markdown: what is quoted in one line opens nothing that
    hides or strikes out others, or puts a picture in their place.
    """
    return _MARKUP.sub(lambda found: _UNMARKED[found[0]], header)


def as_it_stands(text: str) -> str:
    """A text that is shown exactly, also as Markdown: a block of code that it cannot end."""
    longest = max(map(len, FENCES.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def question_text(question: Question) -> str:
    """A question with what may be chosen."""
    return "\n".join(
        [question.text, *(f"{option.key}: {option.label}" for option in question.options)]
    )


def approval_lines(approval: ApprovalOpen) -> str:
    """That somebody has to say yes, and how: no message is a yes."""
    return (
        f"{MARKS['unknown']} waits for an approver ({approval.tier}): `ordain approvals approve "
        f"{approval.approval_id}`, or "
        f"POST /approvals/{approval.approval_id}/approve; a message here is no yes"
    )


def unlike_header(words: str) -> str:
    """A model's words where no header stands and no mark before them: they are cleaned, and a line
    that looks like a header's stands behind the mark.
    """
    return "\n".join(
        quoted_lines(line) if _resembles_header(line) else line
        for line in cleaned(words).split("\n")
    )


def _resembles_header(line: str) -> bool:
    """Whether a line opens with what resembles a header's sign and goes on in parts, as every
    header's does, or names a run.
    """
    sign, rest = line.lstrip()[:1], line.lstrip()[1:]
    return (sign in MARKS.values() or _is_called(sign, _SIGNS)) and (
        "ordain run" in rest or any(_is_called(one, _DOTS) for one in rest)
    )


def _is_called(sign: str, names: tuple[str, ...]) -> bool:
    called = unicodedata.name(sign, "") if sign and not sign.isalnum() else ""
    return any(name in called for name in names)


class Quoting:
    """A model's words as they come, each line behind its mark."""

    def __init__(self) -> None:
        """At the beginning of a line."""
        self._begun = False
        self.pieces: list[str] = []

    def piece(self, text: str) -> str:
        """What is sent for a piece of the words."""
        self.pieces.append(text)
        opening = "" if self._begun else quoted_lines("x").removesuffix("x")
        self._begun = True
        return opening + quoted_lines(f"x{text}x").removeprefix(quoted_lines("x"))[:-1]

    @property
    def words(self) -> str:
        """All of them so far."""
        return "".join(self.pieces)
