"""``/runs``: looking at runs, their journals and their events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Annotated

from starlette.responses import Response, StreamingResponse

from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.nearest import did_you_mean
from ordain.errors import InvalidRequest, JournalCorrupt, unknown_page
from ordain.runtime.door import Record, RunRow, Runtime, Status, StoredRun
from ordain.runtime.raw_cortex import raw_replies
from ordain.runtime.run_tree import run_tree
from ordain.server.documents import shown, streamed
from ordain.server.examples import RUN_ITEM, RUN_JOURNAL, RUN_TREE, RUN_VIEW
from ordain.server.face import Face, Json, at_rest, unreadable
from ordain.server.feed import HEARTBEAT_S, STREAM_HEADERS
from ordain.server.parameters import from_header, from_query
from ordain.server.refusals import refusing
from ordain.server.resource import Resource, resource
from ordain.server.segments import IdPart, Seq
from ordain.server.sent_json import spelled
from ordain.server.shapes import Journal, JournalRecord, Rest, Run, RunPage, RunTreeView
from ordain.server.views import journal_view, record_view, run_item, run_view, tree_view
from ordain.server.workspaces import Workspace, run_in

LIST_MAX = 500
WAIT_MAX_S = 300
AlsoBelow = Annotated[
    bool,
    from_query(
        alias="all",
        description=(
            "Child runs too; of those that have stopped they are listed whenever their status is "
            "asked for."
        ),
    ),
]
Debug = Annotated[
    bool,
    from_query(
        description=(
            "With `raw_cortex`: what each prompt-plan verb replied, word for word, cut at 4 KiB."
        )
    ),
]


def runs_router(face: Face) -> Resource:
    """Reading routes."""
    router = resource("runs", prefix="/runs")
    runtime = face.runtime

    @router.get(
        "",
        **refusing(
            shown(RunPage, example={"runs": [RUN_ITEM], "next": None}),
            "unknown_status",
            "unknown_page",
        ),
    )
    async def list_runs(
        status: Annotated[
            list[str] | None, from_query(description="Only these; several, or separated by commas.")
        ] = None,
        limit: Annotated[int, from_query(ge=1, le=LIST_MAX)] = 50,
        before: Annotated[
            str | None, from_query(description="Only runs older than this one.")
        ] = None,
        children: AlsoBelow = False,
        named: IdPart = "",
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """Runs, newest first."""
        asked = partial(runtime.runs, limit=limit, before=before, workspace=workspace)
        rows = await asked(
            statuses=_statuses(status), roots_only=not children, named=named
        ) or await _nothing_after(runtime, before, workspace)
        return Json(
            RunPage(
                runs=[run_item(runtime, row) for row in rows],
                next=rows[-1].id if len(rows) == limit else None,
            )
        )

    @router.get(
        "/{run}",
        **refusing(
            shown(Run, example=RUN_VIEW), "run_not_found", "run_unreadable", "journal_corrupt"
        ),
    )
    async def show_run(
        run: str,
        wait: Annotated[float, from_query(ge=0, le=WAIT_MAX_S)] = 0,
        debug: Debug = False,
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """One run; ``wait`` gives it up to that many seconds to come to rest. With ``debug`` the
        observations of its trace have ``raw_cortex``.
        """
        view = await run_in(runtime, run, workspace)
        if wait:
            view = await at_rest(face, run, wait)
        try:
            return Json(
                await run_view(runtime, view, await _raw(face, view.stored) if debug else None)
            )
        except JournalCorrupt as error:
            raise unreadable(run, error) from None

    @router.get(
        "/{run}/events",
        **refusing(
            streamed(JournalRecord, "One event per record, then `rest`.", ends=True),
            "run_not_found",
            "journal_corrupt",
        ),
    )
    async def stream_run(
        run: str,
        after: Annotated[
            Seq, from_query(ge=-1, description="Only records with a higher seq.")
        ] = -1,
        last_event_id: Annotated[Seq | None, from_header(ge=-1)] = None,
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """Server-sent events: one per journal record as it becomes durable, its id the record's
        ``seq``; then ``rest``, and the end.

        A client that reconnects with Last-Event-ID, or ``after``, misses nothing and sees nothing
        twice; where nothing is left the answer is 204.
        """
        if last_event_id is not None:
            after = last_event_id
        view = await run_in(runtime, run, workspace)
        if view.at_rest and after >= view.stored.records[-1].seq:
            return Response(status_code=204)
        return StreamingResponse(
            _events(face, run, after), media_type="text/event-stream", headers=STREAM_HEADERS
        )

    _inside(router, face)
    return router


def _inside(router: Resource, face: Face) -> None:
    """What a run consists of: the runs below it, and its journal."""
    runtime = face.runtime

    @router.get(
        "/{run}/tree",
        **refusing(
            shown(RunTreeView, example=RUN_TREE),
            "run_not_found",
            "run_unreadable",
            "journal_corrupt",
        ),
    )
    async def show_tree(run: str, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """The runs below a run: what was handed to whom, how far each came, its verdict, and what
        it cost. At most 200.
        """
        stored = (await run_in(runtime, run, workspace)).stored
        return Json(tree_view(run, await run_tree(runtime.services, stored)))

    @router.get(
        "/{run}/journal",
        **refusing(shown(Journal, example=RUN_JOURNAL), "run_not_found", "journal_corrupt"),
    )
    async def show_journal(
        run: str, debug: Debug = False, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Everything the run's journal holds, in order; with ``debug`` what it and the runs below
        it replied, by run.
        """
        stored = (await run_in(runtime, run, workspace)).stored
        return Json(journal_view(stored, await _raw(face, stored) if debug else {}))


async def _nothing_after(runtime: Runtime, before: str | None, workspace: str) -> Sequence[RunRow]:
    """No rows, where there is a run of the workspace that nothing is older than.

    Raises:
        InvalidRequest: there is none: whoever goes through the pages would take what is left for
            nothing.
    """
    if before is not None and await runtime.search.workspace(before) != workspace:
        raise unknown_page("run", before)
    return ()


async def _raw(face: Face, stored: StoredRun) -> Mapping[str, str]:
    services = face.runtime.services
    return await raw_replies(services.store, services.kinds, stored)


def _statuses(given: list[str] | None) -> list[str]:
    asked = [status for part in given or () for status in part.split(",") if status]
    known = {str(status) for status in Status}
    if any(status not in known for status in asked):
        meant = next((did_you_mean(one, known) for one in asked if one not in known), "")
        raise InvalidRequest(
            f"status is one of {', '.join(sorted(known))}{meant}", code="unknown_status"
        )
    return asked


async def _events(face: Face, run: str, after: int) -> AsyncIterator[bytes]:
    records = face.runtime.events(run, after)
    stop = asyncio.ensure_future(face.stopping.wait())
    following = asyncio.ensure_future(_next(records))
    try:
        while True:
            done, _ = await asyncio.wait(
                {following, stop}, timeout=HEARTBEAT_S, return_when=asyncio.FIRST_COMPLETED
            )
            if following in done:
                record = following.result()
                if record is None:
                    stored = (await face.runtime.view(run)).stored
                    yield (
                        b"event: rest\ndata: "
                        + spelled(Rest(status=stored.status, reason=stored.reason))
                        + b"\n\n"
                    )
                    return
                yield (
                    f"id: {record.seq}\nevent: {record.kind}\ndata: ".encode()
                    + spelled(record_view(record))
                    + b"\n\n"
                )
                following = asyncio.ensure_future(_next(records))
            elif stop in done:
                return
            else:
                yield b": still here\n\n"
    finally:
        stop.cancel()
        following.cancel()


async def _next(records: AsyncIterator[Record]) -> Record | None:
    return await anext(records, None)
