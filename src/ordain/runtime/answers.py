"""An operator's answer to a wait, as mail for the run that waits."""

from __future__ import annotations

from ordain.effects.effect import UserQuestion, WaitFor
from ordain.errors import Conflict, InvalidRequest, JournalCorrupt
from ordain.journal.records import ENCODER
from ordain.ports.store import StoredRun
from ordain.ports.writes import MailKind, NewMail
from ordain.rules.answer import HalfAnswer, Unfit
from ordain.rules.proposals import nesting
from ordain.runtime.answer_reading import operators_answer
from ordain.runtime.asking_run import wait_at
from ordain.runtime.mail import AnswerBody, posted
from ordain.runtime.services import Services

ANSWER_BYTES = 262_144
ANSWER_DEPTH = 64


async def answered(services: Services, stored: StoredRun, addr: int, answer: AnswerBody) -> str:
    """Send it; ``sent``, ``asked_again`` where it leaves open what it grants, ``duplicate`` or
    ``settled``.

    Raises:
        Conflict: the wait is for an approver (``approval_required``).
        InvalidRequest: ``answer_too_large``, or it is none to the question, which stays open
            (``answer_unfit``).
    """
    wait = wait_at(stored, addr)
    if wait is not None and wait.approval is not None:
        raise Conflict(
            f"effect {addr} of run {stored.id} waits for an approver, and no answer is one",
            code="approval_required",
        )
    body = ENCODER.encode(answer)
    if len(body) > ANSWER_BYTES or nesting(body.decode()) > ANSWER_DEPTH:
        raise InvalidRequest(
            f"an answer has at most {ANSWER_BYTES} bytes and nests at most {ANSWER_DEPTH} deep",
            code="answer_too_large",
        )
    became = (
        "sent"
        if wait is None or wait.question is None
        else await _becomes(services, stored, wait.question, answer.value)
    )
    at = services.clock.now()
    mail = NewMail(
        run=stored.id,
        kind=MailKind.ANSWER,
        key=f"{WaitFor.ANSWER}:{addr}",
        body=body,
        at=at,
        addr=addr,
    )
    return (await services.store.submit(posted(stored.workspace, mail))).refused or became


async def _becomes(
    services: Services, stored: StoredRun, asked: UserQuestion, value: object
) -> str:
    """What the run will find that the answer is, read as it reads it."""
    try:
        outcome = operators_answer(asked, value, await services.catalogs.pinned(stored.catalog))
    except JournalCorrupt:
        return "sent"  # its run cannot go on, and stops as that
    if isinstance(outcome, Unfit):
        raise InvalidRequest(
            f"that is no answer to a question for {asked.expects}: it stays open",
            code="answer_unfit",
            status=422,
        )
    return "asked_again" if isinstance(outcome, HalfAnswer) else "sent"
