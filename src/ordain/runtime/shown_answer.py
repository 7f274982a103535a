"""Whether an answer that a client shows is one that was given: as it was sent, whole or in pieces,
with the id of its run. Pure.

Clients keep what they were sent as text, some with other white space; whatever else they show was
not said here.
"""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct

from ordain.contracts.conversation import MessageAnswer
from ordain.rules.header import MARKS, TITLE
from ordain.rules.plain_reply import QUOTE
from ordain.runtime.brief import SHORT_ID, brief_line, reasons_as_codes, recalled_in_words
from ordain.runtime.plain_answer import (
    FENCES,
    REFUSED,
    PlainAnswer,
    answer_text_of,
    in_markdown,
)

_QUOTED = re.compile(rf"^{re.escape(QUOTE.rstrip())} ?")
_LINE = re.compile(
    rf"(?P<mark>[{''.join(MARKS.values())}]) (?:.* · )?(?P<run>[0-9a-f]{{{SHORT_ID}}})"
)
"""A header on one line."""
_OPENS = (MARKS["info"], MARKS["proposal"])
"""What a line begins with that tells of nothing that was done: an answer that is still written
opens with such.
"""


class _Parts(Struct, frozen=True):
    """An answer as text: code's lines, and the words that stand quoted."""

    own: tuple[str, ...]
    words: str


def was_given(shown: str, answer: MessageAnswer) -> bool:
    """Whether a client that was sent this answer may show it so: with no other words, no other
    line, and the id of no other run.
    """
    told = answer_text_of(answer)
    if shown == told.content:
        return True
    parts = _parts(shown)
    if not parts.words and told.words and not any(map(_names_run, parts.own)):
        return _is_bare(shown, told)
    given = _parts(told.content)
    if parts.words != given.words or not (parts.own or parts.words):
        return False
    header = "" if answer.reply is None else answer.reply.header
    known = {
        in_markdown(reasons_as_codes(line))
        for line in (
            *given.own,
            *(line.strip() for line in header.split("\n")),
            brief_line(header),
        )
    }
    # as it was told once, by whichever build
    return all(
        in_markdown(line) in known or _opens(line, answer.run_id or "")
        for line in map(reasons_as_codes, map(recalled_in_words, parts.own))
    )


def run_named(shown: str) -> str:
    """The end of the id of the one run that the header of a shown answer names; "" where that is
    none, or several.
    """
    found = {
        line["run"][-SHORT_ID:]
        for text in _parts(shown).own
        if (line := _LINE.fullmatch(text) or TITLE.fullmatch(text)) is not None
    }
    return found.pop() if len(found) == 1 else ""


def _parts(text: str) -> _Parts:
    """What holds of a text: of an answer of which a part was given up what stands behind that."""
    lines = text.rpartition(REFUSED)[2].split("\n") if REFUSED in text else text.split("\n")
    quoted = [_QUOTED.sub("", line) for line in lines if _QUOTED.match(line)]
    quoted = [line for line in quoted if not FENCES.fullmatch(line.strip())]  # builds before: none
    own = [line.strip() for line in lines if line.strip() and not _QUOTED.match(line)]
    return _Parts(tuple(own), _words(" ".join(quoted)))


def _words(text: str) -> str:
    """A text without regard to white space."""
    return " ".join(text.split())


def _names_run(line: str) -> bool:
    return _LINE.fullmatch(line) is not None or TITLE.fullmatch(line) is not None


def _opens(line: str, run: str) -> bool:
    """Whether a line may have stood there while the answer was written: its header then, which
    names the run, or what was told without being done.
    """
    title = TITLE.fullmatch(line)
    brief = _LINE.fullmatch(line)
    if title is not None or brief is not None:
        return bool(run) and (
            title["run"] == run
            if title is not None
            else brief is not None and run.endswith(brief["run"])
        )
    return line.startswith(_OPENS)


def _is_bare(shown: str, told: PlainAnswer) -> bool:
    """Whether it is the words alone, as where an answer of a form was asked for; then the form may
    stand alone as well.
    """
    if _words(shown) == _words(told.words):
        return True
    found = _json(shown)
    return found is not None and found == _json(
        told.words[told.words.find("{") : told.words.rfind("}") + 1]
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
