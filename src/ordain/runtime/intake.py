"""Intake: a request becomes one run in one transaction, or the run that the same request already
became.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from pydantic import BaseModel

from ordain.contracts.access import TOKEN_PRINCIPAL, Principal, principal_of
from ordain.contracts.approvals import MayAsk
from ordain.errors import ConfigurationError, Conflict, InvalidRequest, Refused
from ordain.flows.kind import Kind, Taken
from ordain.ports.shared import Ruling, Shared
from ordain.ports.store import Arrive, RequestKey
from ordain.ports.writes import KeptCatalogs
from ordain.rules.profile import profiled_by
from ordain.runtime.configuration import any_pin
from ordain.runtime.foreign_code import asked_of
from ordain.runtime.opening import Opening, root_run
from ordain.runtime.services import Services

HALF_A_PAIR = "surrogates not allowed"
"""Why Python makes no bytes of a text."""


class Accepted(Struct, frozen=True, kw_only=True):
    """The run a request became; ``new`` is false where the same request came before."""

    run: str
    new: bool


class Intake:
    """Accepts requests and opens their root runs; a message's are opened by what follows from it
    (``Consequences``).
    """

    def __init__(self, services: Services) -> None:
        """Writes through the store's port."""
        self._services = services
        self._stored_catalog = ""

    async def of_request(
        self, request: BaseModel, principal: Principal | str, workspace: str, *, waits: bool = False
    ) -> Accepted:
        """Take a request from outside, and open the run of the kind that answers its contract;
        ``waits`` and raises as ``open``.

        Raises:
            InvalidRequest: the kind refuses it, or its id is not printable (B-46).
            ConfigurationError: the kind fails at it.
        """
        services = self._services
        kind = services.kinds.answering(type(request))
        assert kind.wire is not None
        run = services.clock.new_run_id()
        try:
            taken = asked_of(
                kind, "wire.take", kind.wire.take, request, services.catalogs.current, run
            )
        except ConfigurationError as error:
            # What came over HTTP was looked through before; a caller in Python may send anything.
            if (
                isinstance(cause := error.__cause__, UnicodeEncodeError)
                and cause.reason == HALF_A_PAIR
            ):
                raise InvalidRequest(
                    "a text holds half a surrogate pair", code="invalid_unicode", status=400
                ) from None
            raise
        if not (taken.request_id or "").isprintable():
            # it is echoed in headers, logs and lists; no contract says so, for older runs hold any
            raise InvalidRequest("a request id has 1 to 200 printable characters")
        return await self.open(kind, taken, run, (principal, workspace), waits=waits)

    async def open(
        self,
        kind: Kind[Any, Any],
        taken: Taken,
        run: str,
        asked: tuple[Principal | str, str],
        *,
        waits: bool = False,
    ) -> Accepted:
        """Open the run, or find the one that the same request became; ``asked`` is by whom, in
        which workspace.

        ``waits``: whoever asked looks for the end by itself, so that the run may wait for people,
        as long as a turn may.

        Raises:
            Conflict: the request id names a run with another body (``request_id_reused``).
            Refused: as many runs as policy permits are already accepted (429).
            StorageUnavailable: nothing can be written.
        """
        services, who, workspace = self._services, principal_of(asked[0]), asked[1]
        catalog, now = services.catalogs.current, services.clock.now()
        policy = catalog.policy
        opening = Opening(
            run=run,
            input=taken.input,
            workspace=workspace,
            principal=who.name,
            scopes=who.scopes,
            subject=run,
            key=services.clock.new_key(),
            at=now,
            deadline=now
            + round(
                (policy.session.hold_seconds if waits else policy.limits.timeout_seconds) * 1e6
            ),
            keep_thoughts=taken.keep_thoughts,
            may_ask=MayAsk.PEOPLE if waits else MayAsk.GRANTS,
            profiled=profiled_by(policy, pinned=await any_pin(services.configuration, workspace)),
        )
        kept = KeptCatalogs(stored=catalog.stored if self._stored_catalog != catalog.digest else ())
        opened = Ruling(
            writes=(kept, root_run(kind, opening, catalog)),
            run=run,
            accepted=policy.engine.max_accepted,
        )
        once = (
            None
            if taken.request_id is None
            else RequestKey(
                request_id=_key_of(kind.name, who.name, taken.request_id), digest=taken.digest
            )
        )
        outcome = await services.store.submit(
            Arrive(workspace=workspace, once=once, shared=Shared(reads=(), decide=lambda: opened))
        )
        match outcome.refused:
            case "request_id_reused":
                raise Conflict(
                    f"request id {taken.request_id} came before with another body",
                    code="request_id_reused",
                )
            case "busy":
                raise Refused(
                    "too many runs are accepted already",
                    code="busy",
                    status=429,
                    retry_after_s=policy.engine.retry_after_s,
                )
            case refused:
                if not refused:
                    self._stored_catalog = catalog.digest
                return Accepted(run=outcome.run, new=not refused)


def _key_of(kind: str, principal: str, request_id: str) -> str:
    """Whose request it is: an id belongs to the token that uses it, or to the owner, whichever door
    the owner came by.

    Nobody finds another's run by its request id, nor learns that there is one. No kind's name has
    an ``@``, no principal of a token a second ``:``.
    """
    return (
        f"{kind}@{principal}:{request_id}"
        if principal.startswith(TOKEN_PRINCIPAL)
        else f"{kind}:{request_id}"
    )
