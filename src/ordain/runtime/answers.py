"""An operator's answer to a wait, as mail for the run that waits."""

from __future__ import annotations

from ordain.effects.effect import WaitFor
from ordain.errors import Conflict, InvalidRequest
from ordain.journal.records import ENCODER
from ordain.ports.store import StoredRun
from ordain.ports.writes import MailKind, NewMail
from ordain.rules.proposals import nesting
from ordain.runtime.asking_run import wait_at
from ordain.runtime.mail import AnswerBody, posted
from ordain.runtime.services import Services

ANSWER_BYTES = 262_144
ANSWER_DEPTH = 64


async def answered(services: Services, stored: StoredRun, addr: int, answer: AnswerBody) -> str:
    """Send it; ``sent``, ``duplicate`` or ``settled``.

    Raises:
        Conflict: the wait is for an approver (``approval_required``).
        InvalidRequest: ``answer_too_large``.
    """
    if (wait := wait_at(stored, addr)) is not None and wait.approval is not None:
        raise Conflict(f"effect {addr} of run {stored.id} waits for an approver, and no answer is one", code="approval_required")
    body = ENCODER.encode(answer)
    if len(body) > ANSWER_BYTES or nesting(body.decode()) > ANSWER_DEPTH:
        raise InvalidRequest(f"an answer has at most {ANSWER_BYTES} bytes and nests at most {ANSWER_DEPTH} deep", code="answer_too_large")
    at = services.clock.now()
    mail = NewMail(run=stored.id, kind=MailKind.ANSWER, key=f"{WaitFor.ANSWER}:{addr}", body=body, at=at, addr=addr)
    return (await services.store.submit(posted(stored.workspace, mail))).refused or "sent"
