"""What every router is given, and waiting on behalf of a caller."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response

from ordain.contracts.access import LOOPBACK, OWNER, Principal, local_principal
from ordain.contracts.approvals import MayAsk
from ordain.errors import Conflict, JournalCorrupt, JournalError, StorageUnavailable, Transient
from ordain.runtime.access import ON_LOOPBACK, Exposure
from ordain.runtime.beginnings import started
from ordain.runtime.door import Runtime, RunView
from ordain.runtime.intake import Accepted
from ordain.server.bodies import SHIPPED, BodyBounds, of_messages
from ordain.server.sent_json import spelled

BODY_S = 20.0
PRINCIPAL = LOOPBACK
CALLER = "ordain.caller"
"""Where a request's scope says who asks, once the guard has let them in by name."""
LOOK_S, STORAGE_PATIENCE_S = 1.0, 5.0
"""How often who waits looks up, and how long runs may not be written until they are told."""
NOT_WRITTEN = (
    "what runs do cannot be written now; what was accepted is kept, and goes on when it can: "
    "GET /ready says why"
)
NO_HEADERS: Mapping[str, str] = MappingProxyType({})
Given = TypeVar("Given")


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """The runtime behind the routes, who a caller without a name is, what a body may be, a word
    that tells servers apart, and a key that proves it.

    ``person`` is what the command calls whoever runs the server ("": nobody knows).
    ``body`` is how large a JSON body may be, ``body_s`` how many seconds a body it may take (a
    large one longer: ``arrival``).

    ``stopping`` is set once the engine has drained: whoever still waits for a run is told where to
    find it later.
    """

    runtime: Runtime
    principal: str = PRINCIPAL
    body: BodyBounds = SHIPPED
    body_s: float = BODY_S
    instance: str = ""
    proof_key: str = field(default="", repr=False)
    exposure: Exposure = ON_LOOPBACK
    person: str = ""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def message(self) -> BodyBounds:
        """How large a message may be, on whichever way it comes: its files are in it."""
        return of_messages(self.body)

    def by(self, request: HTTPConnection) -> str:
        """Who makes a request, as the journal is to name them: ``token:NAME``, or whoever speaks
        here without a token.
        """
        spending = request.scope.get(CALLER)
        return self.principal if spending is None else str(spending.caller.principal)

    def asks(self, request: HTTPConnection) -> Principal:
        """Who makes a request, with the scopes of their token: what a run that it opens may use of
        them.
        """
        spending = request.scope.get(CALLER)
        return Principal(self.by(request), None if spending is None else spending.caller.scopes)

    def decides(self, request: HTTPConnection) -> Principal:
        """Who decides an approval or gives a grant: as ``asks``, but whoever has the key in the
        data folder is the user whose folder it is.
        """
        who = self.asks(request)
        return Principal(local_principal(os.geteuid())) if who.name == OWNER else who

    def person_of(self, request: HTTPConnection) -> str:
        """Who speaks without a name: whoever runs the server, since processes of others are let in
        with a token alone; "" of whoever has one.
        """
        return self.person if request.scope.get(CALLER) is None else ""

    def speaks(self, request: HTTPConnection) -> bool:
        """Whether what a request says of a user counts as that user's own word."""
        spending = request.scope.get(CALLER)
        return spending is None or bool(spending.caller.speaks)


class Json(Response):
    """A JSON response from values or structs, as this face spells them."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Encode."""
        return spelled(content)


def location(run: str) -> str:
    """The address of a run."""
    return f"/runs/{run}"


async def first_of(
    face: Face,
    work: Coroutine[Any, Any, Given],
    *,
    stopped: Transient,
    timeout_s: float | None = None,
    request: Request | None = None,
) -> Given | None:
    """What ``work`` gives; None where ``timeout_s`` has passed first, and the work is given up.

    Raises:
        Transient: the server stops first; it is ``stopped``. Without ``timeout_s`` likewise
            ``StorageUnavailable``, where what runs do cannot be written for some time.
        ClientDisconnect: the caller of ``request`` has gone, and nobody waits any more.
    """
    doing = asyncio.ensure_future(work)
    stop = asyncio.ensure_future(face.stopping.wait())
    gone = () if request is None else (asyncio.ensure_future(_gone(request)),)
    looks_s = LOOK_S if timeout_s is None else timeout_s
    try:
        while True:
            done, _ = await asyncio.wait(
                {doing, stop, *gone}, timeout=looks_s, return_when=asyncio.FIRST_COMPLETED
            )
            if done or timeout_s is not None:
                break
            if _unwritten_s(face) > STORAGE_PATIENCE_S:
                raise StorageUnavailable(NOT_WRITTEN, details=stopped.details)
    finally:
        for task in (doing, stop, *gone):
            task.cancel()
    if doing in done:
        return doing.result()
    if stop in done:
        raise stopped
    if done:
        raise ClientDisconnect
    return None


def _unwritten_s(face: Face) -> float:
    """How long somebody has had something to write that the storage does not take."""
    services = face.runtime.services
    now = services.clock.now()
    return (now - min(services.lost.refusals, default=now)) / 1e6


async def _gone(request: Request) -> None:
    """Returns once the caller has closed its connection; the body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def at_rest(
    face: Face, run: str, timeout_s: float | None = None, *, request: Request | None = None
) -> RunView:
    """Wait until the run rests, the server stops or ``timeout_s`` has passed; in the last case the
    run may not rest.

    Raises:
        Transient: the server stops first (``stopping``), or the storage takes nothing; the run
            goes on when it is back.
        ClientDisconnect: the caller of ``request`` has gone, and nobody waits any more; the run
            goes on.
    """
    details = {"run_id": run, "location": location(run)}
    stopped = Transient(
        "the server stops; the run is kept and goes on when it is back",
        code="stopping",
        details=details,
    )
    view = await first_of(
        face, face.runtime.wait(run), stopped=stopped, timeout_s=timeout_s, request=request
    )
    return await face.runtime.view(run) if view is None else view


def unreadable(run: str, error: JournalError) -> Conflict:
    """What cannot be read cannot be shown or operated: that is how the run stands, and no failure
    of this request.
    """
    return Conflict(
        f"run {run} cannot be read: {error.message}", code="run_unreadable", details=error.details
    )


async def outcome(
    face: Face, request: Request, accepted: Accepted, body: Callable[[RunView], Mapping[str, Any]]
) -> Response:
    """The run's outcome as 200 (B-45), or where to find it as 202 if the caller asked not to wait
    (RFC 7240).
    """
    if prefers_async(request):
        return _later(accepted.run, {"Preference-Applied": "respond-async"})
    view = await _unless_people(face, accepted, request)
    if view is None:
        return _later(accepted.run)
    try:
        return Json(body(view))
    except JournalCorrupt as error:
        raise unreadable(accepted.run, error) from None


async def _unless_people(face: Face, accepted: Accepted, request: Request) -> RunView | None:
    """The run at rest; None where it waits for somebody's yes, which may take days: another request
    that did not wait has opened it, and this one is the same again.
    """
    view = None if accepted.new else await face.runtime.view(accepted.run)
    begun = None if view is None else started(view.stored.records[0])
    if view is None or begun is None or begun.may_ask is not MayAsk.PEOPLE:
        return await at_rest(face, accepted.run, request=request)
    while not view.at_rest:
        if await face.runtime.services.headers.open_approvals(view.stored):
            return None
        view = await at_rest(face, accepted.run, LOOK_S, request=request)
    return view


def _later(run: str, applied: Mapping[str, str] = NO_HEADERS) -> Response:
    found = location(run)
    return Json(
        {"run_id": run, "location": found},
        status_code=202,
        headers={"Location": found, **applied},
    )


def prefers_async(request: Request) -> bool:
    """Whether the caller sent ``Prefer: respond-async``."""
    given = ",".join(request.headers.getlist("prefer"))
    return any(
        part.partition(";")[0].strip().lower() == "respond-async" for part in given.split(",")
    )
