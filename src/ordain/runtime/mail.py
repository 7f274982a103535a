"""What a mailbox row says, by its kind, and how one comes from outside; a child's end is an
``Ended`` as it stands in its parent's journal.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.journal.records import SETTLED
from ordain.ports.shared import Ruling, RunFound, RunRead, Shared
from ordain.ports.store import Arrive
from ordain.ports.writes import ClosedQuestion, MailKind, NewMail


class InterruptBody(Struct, frozen=True, kw_only=True):
    """What an interrupt says: cancel or override, by whom and why."""

    what: str
    by: str
    why: str = ""


class AnswerBody(Struct, frozen=True, kw_only=True):
    """An answer to a wait."""

    value: Any
    by: str


def posted(workspace: str, mail: NewMail) -> Arrive:
    """Mail for a run from outside. Refused: there is no such run (``not_found``), nobody would read
    it any more (``settled``), its like has come (``duplicate``).
    """

    def decide(run: RunFound | None) -> Ruling:
        if run is None:
            return Ruling(refused="not_found")
        if run.status in SETTLED or (answers and run.over and not run.mailed):
            return Ruling(refused="settled")
        if run.mailed:
            return Ruling(refused="duplicate")
        return Ruling(
            writes=(mail, ClosedQuestion(run=mail.run, addr=mail.addr)) if answers else (mail,),
            run=mail.run,
        )

    answers = mail.kind is MailKind.ANSWER
    return Arrive(
        workspace=workspace,
        shared=Shared(reads=(RunRead(run=mail.run, addr=mail.addr, key=mail.key),), decide=decide),
    )
