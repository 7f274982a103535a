"""Who has waited before it acts looks once more whether it may: a stop that was acknowledged
meanwhile, or a verb that was switched off, keeps back what has not gone out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ordain import Ordain, VerbContext, VerbError, verb
from ordain.app import Extras, with_profile
from ordain.catalogs import build_catalog
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.policy import Activation
from ordain.errors import StorageUnavailable
from ordain.journal.records import Status
from ordain.models.scripted import ScriptedModel, make_script
from ordain.ports.verb import AnyLeafResult, LeafCall, LeafFailed, LeafReturned
from ordain.runtime.calls import STOPPED
from ordain.runtime.replay import replay
from ordain.runtime.services import Catalogs
from ordain.settings import load_settings
from ordain.verbs import FunctionVerb, LeafExecutor, Registry
from ordain.verbs.builtin.mail_verbs import mail_send
from ordain.verbs.http_access import HttpAccess
from ordain.verbs.http_verb import http_verb
from tests.integration.verbs.test_http_verb import serving, spec
from tests.replay.golden import act, finish, request
from tests.shapes.house import SCRIPTED
from tests.shapes.mail_servers import arguments, declared, scripted

WHY = "switched off"


@dataclass
class Look:
    """What the last look says, and how much of the other side stood when it was taken."""

    says: str | None
    stood: Any = None
    seen: list[Any] = field(default_factory=list[Any])

    async def __call__(self) -> str | None:
        self.seen.append(self.stood())
        return self.says


async def attempted(function: FunctionVerb[..., Any], args: dict[str, Any], look: Look) -> Any:
    executor = LeafExecutor(Registry(functions=[function]))
    try:
        result: AnyLeafResult = await executor.run(
            LeafCall(
                spec=function.spec, args=args, key="k", attempt=1, timeout_s=20.0, last_look=look
            )
        )
        return result
    finally:
        await executor.close()


@pytest.mark.parametrize("says", [None, WHY])
async def test_a_request_is_looked_at_once_more_when_its_connection_stands(
    says: str | None,
) -> None:
    """Not one byte of it has come to the server by then; what may go on does."""
    async with serving() as server:
        resolved = list[str]()

        async def resolver(host: str, _: int) -> Sequence[str]:
            resolved.append(host)
            return ["127.0.0.1"]

        look = Look(says, lambda: (list(resolved), len(server.open), len(server.asked)))
        declared_verb = spec(
            server,
            effect="private",
            http_url=f"http://here.test:{server.port}/items/{{item_id}}",
            http_hosts=["here.test"],
            http_method="POST",
        )
        made = http_verb(declared_verb, HttpAccess(resolver=resolver))
        result = await attempted(made, {"item_id": "7"}, look)
        assert look.seen[0][0] == ["here.test"]
        assert look.seen[0][2] == 0
        if says is None:
            assert isinstance(result, LeafReturned)
            assert len(server.asked) == 1
        else:
            assert result == LeafFailed(code="withdrawn", message=WHY, happened=False)
            assert server.asked == []
        for task in set(server.open):
            task.cancel()


@pytest.mark.parametrize("says", [None, WHY])
async def test_a_mail_is_looked_at_once_more_before_its_text(says: str | None) -> None:
    """The server has taken sender and recipients by then, and waits for the text: it gets none, and
    no goodbye in its place.
    """
    async with scripted() as server:
        look = Look(says, lambda: list(server.words))
        result = await attempted(mail_send(declared(server.port)), arguments(), look)
        assert look.seen == [["EHLO", "MAIL", "RCPT", "DATA"]]
        if says is None:
            assert isinstance(result, LeafReturned)
            assert len(server.texts) == 1
        else:
            assert result == LeafFailed(code="withdrawn", message=WHY, happened=False)
    assert bool(server.texts) is (says is None)
    assert server.words[:4] == ["EHLO", "MAIL", "RCPT", "DATA"]


# --- in a house -----------------------------------------------------------------------------------


class Slow:
    """A verb that waits for somebody before it acts, and what it did."""

    def __init__(self, *, begins: bool = False) -> None:
        self.begins = begins
        self.waits, self.goes_on = asyncio.Event(), asyncio.Event()
        self.done = list[str]()
        slow = self

        @verb(name="shelf.put", effect="private", idempotent=True, arguments={"text": "content"})
        async def put(text: str, context: VerbContext) -> str:
            """Put something on the shelf.

            Args:
                text: what.
                context: the call.
            """
            if slow.begins:
                slow.done.append("begun")
            slow.waits.set()
            await slow.goes_on.wait()
            try:
                await context.still_allowed()
            except VerbError:
                if slow.begins:
                    raise VerbError("withdrawn", "its beginning is out") from None
                raise
            slow.done.append(text)
            return "done"

        self.verb = put


@asynccontextmanager
async def planning(home: Path, slow: Slow) -> AsyncIterator[tuple[Ordain, str]]:
    """A plan that stands in that verb."""
    model = ScriptedModel(make_script(planner=[act("shelf.put", {"text": "x"}), finish("so")]))
    extras = Extras(models={"default": model}, memory=True)
    settings = with_profile(load_settings({}, home), SCRIPTED)
    async with Ordain(settings, verbs=(slow.verb,), extras=extras) as ordain:
        accepted = await ordain.runtime.accept(
            PlannerRequest.model_validate(request("shelf.put")), "local:test"
        )
        await asyncio.wait_for(slow.waits.wait(), 20)
        yield ordain, accepted.run
        assert replay_equal(ordain, accepted.run)


def replay_equal(ordain: Ordain, run: str) -> bool:
    stored = ordain.store.stored(run)
    assert stored is not None
    return replay(stored, ordain.catalog, ordain.kinds).equal


def observed(ordain: Ordain, run: str) -> list[bytes]:
    stored = ordain.store.stored(run)
    assert stored is not None
    return [
        record.body or b""
        for record in stored.records
        if record.kind == "observation" and record.name == "verb_call"
    ]


async def test_a_stop_that_is_acknowledged_keeps_back_what_waits(tmp_path: Path) -> None:
    """The verb waits for its connection, somebody stops the run and is told that it is so: nothing
    goes out after that, and the header says why.
    """
    slow = Slow()
    async with planning(tmp_path, slow) as (ordain, run):
        await ordain.runtime.operators.cancel(run, by="user:ada", why="no more")
        slow.goes_on.set()
        view = await ordain.runtime.wait(run)
        assert (view.stored.status, slow.done) == (Status.CANCELLED, [])
        (seen,) = observed(ordain, run)
        assert b'"result":"withdrawn"' in seen
        assert STOPPED.encode() in seen
        assert f'shelf.put · withdrawn · "{STOPPED}"' in view.header


async def test_a_verb_that_is_switched_off_keeps_back_what_waits(tmp_path: Path) -> None:
    """The run goes on, and its model is told."""
    slow = Slow()
    async with planning(tmp_path, slow) as (ordain, run):
        policy = ordain.settings.policy
        verbs = policy.verbs.model_copy(update={"default": Activation(deny=["shelf.*"])})
        narrowed = ordain.settings.model_copy(
            update={"policy": policy.model_copy(update={"verbs": verbs})}
        )
        services = ordain.runtime.services
        services.catalogs = Catalogs(
            build_catalog(narrowed, ordain.registry, ordain.kinds), ordain.store.catalog
        )
        slow.goes_on.set()
        view = await ordain.runtime.wait(run)
        assert (view.stored.status, slow.done) == (Status.COMPLETED, [])
        assert "shelf.put · withdrawn" in view.header


async def test_of_what_has_begun_nobody_says_that_it_has_not_happened(tmp_path: Path) -> None:
    """Its author knows: the outcome is unknown, whatever the last look said."""
    slow = Slow(begins=True)
    async with planning(tmp_path, slow) as (ordain, run):
        await ordain.runtime.operators.cancel(run, by="user:ada", why="no more")
        slow.goes_on.set()
        await ordain.runtime.wait(run)
        assert slow.done == ["begun"]
        assert b'"result":"outcome_unknown"' in observed(ordain, run)[0]


async def test_where_nobody_can_tell_nothing_goes_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The storage cannot be read just then: the verb has done nothing, and is told so."""
    slow = Slow()
    async with planning(tmp_path, slow) as (ordain, run):

        async def unread(_: str) -> Any:
            raise StorageUnavailable("away")

        with monkeypatch.context() as patched:
            patched.setattr(ordain.store, "mail", unread)
            slow.goes_on.set()
            view = await asyncio.wait_for(ordain.runtime.wait(run), 20)
        assert (view.stored.status, slow.done) == (Status.COMPLETED, [])
        assert b'"result":"withdrawn"' in observed(ordain, run)[0]


async def test_who_may_go_on_does(tmp_path: Path) -> None:
    """Nobody has said anything meanwhile."""
    slow = Slow()
    async with planning(tmp_path, slow) as (ordain, run):
        slow.goes_on.set()
        view = await ordain.runtime.wait(run)
        assert (view.stored.status, slow.done) == (Status.COMPLETED, ["x"])
