"""``ScriptedEffects``: a flow's unit test without store, engine, model or event loop.

The port is the runtime's own (``Execution`` over a ``RunSetup``): rules decide, authority is
checked, effects are numbered, reserved and settled exactly as live. Only where the journal ends
does a script answer instead of the world, and the journal that comes of it replays.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Raw, structs
from pydantic import BaseModel

from ordain.contracts.access import TokenScope
from ordain.contracts.approvals import MayAsk
from ordain.contracts.catalog import Catalog
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.moments import EPOCH
from ordain.contracts.scope import CapabilityScope
from ordain.flows.context import FlowContext, micros
from ordain.flows.kind import Kind, PromptKind, Settlement
from ordain.flows.kinds import Kinds
from ordain.flows.transcript import TranscriptReader
from ordain.journal.codec import Scribe
from ordain.journal.digests import KEY_BYTES, derived_id
from ordain.journal.folds import Fold
from ordain.journal.records import FaultedBody, Record, RecordKind, Status, raw
from ordain.ports.store import StoredRun
from ordain.rules.decision import Rule
from ordain.rules.spend import Spend
from ordain.runtime.flow_end import FlowEnd
from ordain.runtime.flow_outcome import FlowRaised, flow_outcome
from ordain.runtime.opening import Opening, root_run
from ordain.runtime.setup import RunSetup
from ordain.testing.catalogs import PolicyTables, with_policy
from ordain.testing.script import RunScript, ScriptError
from ordain.testing.scripted_beyond import ScriptedBeyond, check_template
from ordain.testing.scripted_run import Played

I = TypeVar("I")  # noqa: E741 - input, as in ordain.flows.kind
O = TypeVar("O")  # noqa: E741 - output

KEY = b"\x07" * KEY_BYTES
PARENT = derived_id("scripted", "parent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Under what a scripted run is opened: when, for how long, for whom, in which conversation, and
    as whose child.

    ``child``: another run opened it; ``scope`` and ``allowance`` are then what that one let it have
    (None: what a root of its kind would get), ``depth`` how many verb calls it is nested in,
    ``chain`` the cards that its work was handed through, ``runs`` how many it may open below it
    (None: as a root). ``transcript`` reads what references into the session say. ``may_ask`` is
    whom it may ask for a yes: nobody, its principal's grants, or people too, as a session's runs
    may; ``scopes`` are those of the token that asked for it (None: the owner).
    """

    at: datetime = EPOCH + timedelta(days=20_000)
    lasts: timedelta = timedelta(hours=1)
    session: str = ""
    thread: int = 0
    keep_thoughts: bool = True
    child: bool = False
    depth: int = 0
    chain: tuple[str, ...] = ()
    scope: Iterable[str] | None = None
    allowance: Spend | None = None
    runs: int | None = None
    transcript: TranscriptReader | None = None
    workspace: str = DEFAULT_WORKSPACE
    principal: str = "user:test"
    may_ask: MayAsk | None = None
    scopes: tuple[TokenScope, ...] | None = None


AS_ROOT = Standing()
AS_CHILD = Standing(child=True, depth=1)


class ScriptedEffects(Generic[I, O]):
    """Plays one kind's flow by a script, as often as you like; each ``play`` is a run of its
    own.
    """

    def __init__(
        self,
        kind: Kind[I, O],
        catalog: Catalog,
        *,
        policy: PolicyTables | None = None,
        standing: Standing = AS_ROOT,
        kinds: Kinds | None = None,
    ) -> None:
        """``policy`` changes single values of the catalog's; ``kinds`` are those that children may
        be of.

        Without ``kinds`` nobody looks, and a verb's run has the verb's own time and none of its
        caller's verbs.

        Raises:
            ValidationError: ``policy`` names what there is not.
        """
        self.kind = kind
        self.catalog = catalog if policy is None else with_policy(catalog, policy)
        self.standing = standing
        self.kinds = kinds

    def play(self, given: I | Raw, script: RunScript = (), *, faults: bool = False) -> Played[O]:
        """Run the flow to its end; ``given`` is its input, as a value or as JSON. A bug in the flow
        is raised, or kept where ``faults``.

        Raises:
            ScriptError: the flow asked for what the script does not have, or did not ask for all of
                it.
            FlowFault: the flow reached for more than it may.
        """
        kinds = self.kinds or Kinds((self.kind,))
        setup, scribe, record = self._opened(given, kinds)
        state = setup.state(record.at, self.standing.transcript)
        beyond = ScriptedBeyond(setup, state, scribe, record, script, self.kinds)
        outcome = flow_outcome(setup, setup.execution((record,), beyond, state))
        came = outcome if isinstance(outcome, FlowEnd) else None
        fault = outcome.error if isinstance(outcome, FlowRaised) else None
        if isinstance(fault, KeyError):
            # a flow that looks its template up itself, to know what it will cost
            check_template(self.kind, self.catalog, fault.args[0] if fault.args else None)
        if fault is not None and (
            not faults or isinstance(fault, ScriptError) or not isinstance(fault, Exception)
        ):
            raise fault
        beyond.check_over(faulted=fault is not None)
        fold = Fold(setup.run, beyond.records, kinds)
        if came is None:
            beyond.write(RecordKind.FAULTED, "fault", FaultedBody(error=type(fault).__name__))
            facts = fold.header(Status.FAULTED, "faulted")
        else:
            ended, facts = came.record(fold)
            beyond.write(RecordKind.ENDED, ended.status, ended)
        authority = state.authority
        return Played(
            output=None if came is None else came.returned,
            settlement=None if came is None else came.settlement,
            fault=fault,
            reply=None if came is None else came.told,
            facts=facts,
            asked=tuple(beyond.asked),
            decisions=tuple(beyond.decisions),
            requests=tuple(beyond.requests),
            spent=authority.spent,
            left=authority.cap.less(authority.spent),
            stored=_stored(setup, tuple(beyond.records), came),
            catalog=self.catalog,
            kinds=kinds,
            transcript=self.standing.transcript,
        )

    def _opened(self, given: I | Raw, kinds: Kinds) -> tuple[RunSetup, Scribe, Record]:
        """The run with its first record: a root as intake opens it, or a child as its parent
        would.
        """
        standing, at = self.standing, micros(self.standing.at)
        run = derived_id("scripted", self.kind.name)
        opening = Opening(
            run=run,
            input=_encoded(given),
            workspace=standing.workspace,
            principal=standing.principal,
            subject=run,
            key=KEY,
            at=at,
            deadline=at + standing.lasts // timedelta(microseconds=1),
            keep_thoughts=standing.keep_thoughts,
            session=standing.session,
            thread=standing.thread or int(bool(standing.session)),
            may_ask=standing.may_ask,
            scopes=standing.scopes,
        )
        started = root_run(self.kind, opening, self.catalog).started
        started = structs.replace(
            started,
            depth=standing.depth,
            chain=standing.chain,
            allowance=standing.allowance or started.allowance,
        )
        if standing.runs is not None:
            started = structs.replace(started, runs=standing.runs)
        if standing.scope is not None:
            started = structs.replace(
                started, grant=CapabilityScope(allowed=tuple(sorted(set(standing.scope))))
            )
        if standing.child:
            started = structs.replace(started, parent=PARENT, parent_addr=0)
        scribe = Scribe(run, KEY)
        record = scribe.write(RecordKind.STARTED, self.kind.name, started, at)
        return RunSetup.of(run, self.kind, started, self.catalog, kinds), scribe, record

    def __repr__(self) -> str:
        """The kind."""
        return f"<ScriptedEffects of {self.kind.name}@{self.kind.version}>"


def kind_of(
    run: Callable[[FlowContext, Any], Coroutine[Any, Any, O]],
    *,
    prompts: Iterable[PromptKind[Any]] = (),
    rules: Iterable[Rule[Any, Any, Any]] = (),
    verbs: Iterable[str] = (),
    charged: bool = False,
    decode: Callable[[Raw], Any] = msgspec.json.decode,
) -> Kind[Any, O]:
    """A kind made of part of a flow, so that it can be played alone: it may use ``verbs``, ask for
    what ``prompts`` ask for, and ask ``rules``.
    """
    scope = CapabilityScope(allowed=tuple(sorted(set(verbs))))
    return Kind(
        name="part",
        version=1,
        run=run,
        decode_input=decode,
        settle=lambda _: Settlement(status=Status.COMPLETED, reason="ok"),
        grant=lambda _, __: scope,
        prompts=tuple(prompts),
        rules=tuple(rules),
        charged=charged,
    )


def _encoded(given: Any) -> Raw:
    if isinstance(given, Raw):
        return given
    return (
        Raw(given.model_dump_json(exclude_unset=True).encode())
        if isinstance(given, BaseModel)
        else raw(given)
    )


def _stored(setup: RunSetup, records: tuple[Record, ...], came: FlowEnd | None) -> StoredRun:
    """The run as a store would have it."""
    started = setup.started
    return StoredRun(
        id=setup.run,
        flow=started.flow,
        flow_version=started.flow_version,
        catalog=started.catalog,
        workspace=started.workspace,
        subject=started.subject,
        key=KEY,
        status=Status.FAULTED if came is None else came.settlement.status,
        reason="faulted" if came is None else came.settlement.reason,
        parent=started.parent,
        parent_addr=-1 if started.parent_addr is None else started.parent_addr,
        index=started.index,
        root=started.parent or setup.run,
        resumes=0,
        wake_at=None,
        created_at=records[0].at,
        ended_at=None if came is None else records[-1].at,
        records=records,
        session=started.session,
        thread=started.thread,
    )
