"""Where an answer comes from: from a turn, that worked on what was said, or from code, that tells
how things stand; and what it says waits for an approver.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ordain.contracts.conversation import MessageAnswer
from ordain.flows.kind import Serves
from ordain.journal.records import Label
from ordain.ports.search import BeginningSearch
from ordain.ports.store import StoredRun
from ordain.rules.approve import ApprovalState
from ordain.rules.attachment import AttachReason
from ordain.runtime.beginnings import started
from ordain.runtime.services import Services


class AnswerSource(Struct, frozen=True, kw_only=True):
    """``by_code``: no model was asked for this answer, so it is of no form that somebody wanted.
    ``approval`` is what it tells of that waits still ("": nothing).
    """

    by_code: bool
    approval: str = ""


async def answer_source(
    services: Services, search: BeginningSearch, workspace: str, answer: MessageAnswer
) -> AnswerSource:
    """Where an answer comes from. Of what is erased or unreadable it says what the answer itself
    holds.
    """
    if answer.reply is None:
        return AnswerSource(
            by_code=True, approval="" if answer.approval is None else answer.approval.approval_id
        )
    beginning = await search.beginning(answer.run_id or "")
    begun = None if beginning is None else started(beginning.opening)
    if beginning is None or begun is None:
        return AnswerSource(by_code=False)
    kind = services.kinds.get(beginning.flow, beginning.version)
    label = services.kinds.label(begun)
    by_code = kind is not None and kind.serves in (Serves.STATUS, Serves.PLACING)
    return AnswerSource(
        by_code=by_code, approval=await _told(services, workspace, answer, label, status=by_code)
    )


async def _told(
    services: Services, workspace: str, answer: MessageAnswer, label: Label, *, status: bool
) -> str:
    """The approval that the answer tells of: what the run waits for that it is about, or what a yes
    or no was not taken for.
    """
    found: Sequence[str] = ()
    if status and label.after and (about := await _run(services, label.after)) is not None:
        found = [approval for approval, _ in await services.headers.open_approvals(about)]
    elif (
        answer.reason == str(AttachReason.BESIDE)
        and label.untaken is not None
        and label.untaken.approval
    ):
        states = (ApprovalState.OPEN,)
        rows = await services.approvals.approvals(
            workspace, states=states, session=answer.session_id, limit=1, before=None
        )
        found = [row.id for row in rows]
    return found[0] if found else ""


async def _run(services: Services, run: str) -> StoredRun | None:
    found = (await services.store.load((run,))).get(run) if run else None
    return found if isinstance(found, StoredRun) and found.key is not None else None
