"""What an operator may do to a run; each is journalled with who and why."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal

from pydantic import Field, JsonValue
from starlette.requests import Request
from starlette.responses import Response

from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.planner import Strict
from ordain.errors import Conflict, JournalError, no_run
from ordain.runtime.resolution import ResolveWord
from ordain.server import examples
from ordain.server.bodies import read
from ordain.server.documents import documented
from ordain.server.face import Face, Json, unreadable
from ordain.server.refusals import refusing
from ordain.server.resource import Resource, resource
from ordain.server.segments import SEQ_MAX
from ordain.server.workspaces import Workspace, check_run

WHY_CHARS = 1000


class Why(Strict):
    """The reason, kept in the journal."""

    why: str = Field(min_length=1, max_length=WHY_CHARS)


class Resolution(Why):
    """What became of the effect whose outcome is unknown."""

    effect: int = Field(
        ge=0, le=SEQ_MAX, description="The effect's number, from `unknown_effects`."
    )
    happened: bool
    correct: bool = Field(
        default=False, description="Whoever said otherwise of it before was mistaken."
    )


class Answer(Strict):
    """The answer to the wait at an effect; the first one counts."""

    effect: int = Field(ge=0, le=SEQ_MAX, description="The effect's number, from `waiting_at`.")
    value: JsonValue


class Done(Strict):
    """What came of it."""

    run_id: str
    outcome: Literal["sent", "already_asked", "resumed", "resolved", "erased"]
    records: int | None = Field(
        default=None, description="How many records were emptied, for erase."
    )


_ID = {"run_id": examples.RUN}
ASK = documented(
    Why,
    Done,
    example={"why": "the wrong document was attached"},
    answer={**_ID, "outcome": "sent"},
    status=202,
)
RESOLVE = documented(
    Resolution,
    Done,
    example={"effect": 3, "happened": True, "why": "seen in the ledger"},
    answer={**_ID, "outcome": "resolved"},
)
ERASE = documented(
    Why, Done, example=examples.ERASE, answer={**_ID, "outcome": "erased", "records": 12}
)
ANSWER = documented(
    Answer,
    Done,
    example={"effect": 2, "value": "yes"},
    answer={**_ID, "outcome": "sent"},
    status=202,
)
RUN = ("run_not_found", "run_unreadable")


def operators_router(face: Face) -> Resource:
    """Operating routes."""
    router = resource("operators", prefix="/runs/{run}")
    runtime = face.runtime

    @router.post("/cancel", **refusing(ASK, *RUN, "settled"))
    async def cancel_run(
        run: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Interrupt the run at its next effect; a side effect in flight is awaited, never cut
        off.
        """
        given = await read(request, Why, face.body)
        await check_run(runtime, run, workspace)
        with _readable(run):
            became = await runtime.operators.cancel(run, by=face.by(request), why=given.why)
        return _sent(run, became)

    @router.post("/resume", **refusing(ASK, *RUN, "not_stopped", "erased", "thread_taken"))
    async def resume_run(
        run: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Drive a stopped run (faulted, diverged, quarantined) again, after the fix."""
        given = await read(request, Why, face.body)
        await check_run(runtime, run, workspace)
        with _readable(run):
            await runtime.operators.resume(run, by=f"{face.by(request)}: {given.why}")
        return _sent(run, "resumed")

    @router.post(
        "/resolve", **refusing(RESOLVE, *RUN, "not_at_rest", "not_unknown", "already_resolved")
    )
    async def resolve_effect(
        run: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Say whether an effect with unknown outcome happened; the run's own record of it stays."""
        given = await read(request, Resolution, face.body)
        await check_run(runtime, run, workspace)
        with _readable(run):
            word = ResolveWord(
                addr=given.effect,
                happened=given.happened,
                by=face.by(request),
                why=given.why,
                correct=given.correct,
            )
            await runtime.operators.resolve(run, word)
        return Json({"run_id": run, "outcome": "resolved"})

    @router.post("/erase", **refusing(ERASE, *RUN, "not_at_rest"))
    async def erase_run(
        run: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Destroy the content of the run and of everything that belongs to the same subject;
        headers and shapes stay, as may copies in unused parts of pages: `ordain store compact`.
        """
        given = await read(request, Why, face.body)
        await check_run(runtime, run, workspace)
        with _readable(run):
            emptied = await runtime.operators.erase(run, by=face.by(request), why=given.why)
        return Json({"run_id": run, "outcome": "erased", "records": emptied})

    @router.post(
        "/answer",
        **refusing(
            ANSWER,
            *RUN,
            "settled",
            "already_answered",
            "answer_too_large",
            "answer_unfit",
            "approval_required",
        ),
    )
    async def answer_run(
        run: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Answer what the run waits for. What waits for an approver is decided by `/approvals`
        alone.

        `outcome` is `sent`, or `asked_again` where the answer leaves open what it grants: the
        question then goes back once as A and B.
        """
        given, by = await read(request, Answer, face.body), face.by(request)
        await check_run(runtime, run, workspace)
        with _readable(run):
            became = await runtime.operators.answer(run, given.effect, given.value, by=by)
        return _sent(run, became)

    return router


@contextmanager
def _readable(run: str) -> Generator[None]:
    """What cannot be read cannot be operated: that is how the run stands, and no failure of this
    request.
    """
    try:
        yield
    except JournalError as error:
        raise unreadable(run, error) from None


def _sent(run: str, became: str) -> Response:
    match became:
        case "settled":
            raise Conflict(f"run {run} has settled", code="settled")
        case "duplicate":
            raise Conflict(f"that effect of run {run} was answered before", code="already_answered")
        case "not_found":
            raise no_run(run)
        case _:
            return Json({"run_id": run, "outcome": became}, status_code=202)
