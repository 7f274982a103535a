"""A run set up to be executed: its kind, its input, its port and what its flow sees of it. Live,
replay and rehearsals are set up here alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct, structs

from ordain.contracts.catalog import Catalog
from ordain.contracts.moments import EPOCH
from ordain.contracts.scope import CapabilityScope
from ordain.errors import FlowFault, JournalDiverged
from ordain.flows.accounts import bounding
from ordain.flows.context import FlowContext, advice_of
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.flows.transcript import TranscriptReader
from ordain.journal.records import Record, Started
from ordain.ports.sessions import EntryText
from ordain.rules.spend import Spend
from ordain.runtime.authority import Authority
from ordain.runtime.beyond import PLAINLY, Beyond, Rereading
from ordain.runtime.execution import Execution
from ordain.runtime.flow_port import flow_port
from ordain.runtime.foreign_code import asked_of
from ordain.runtime.run_state import RunState


class AccountView(Struct, frozen=True, eq=False):
    """Implements ``flows.context.Account``: what a flow sees of its run's spending, in copies."""

    _copy_of: Callable[[str], Spend]
    _runs_left: Callable[[], int]

    @property
    def cap(self) -> Spend:
        """See ``Account.cap``."""
        return self._copy_of("cap")

    @property
    def spent(self) -> Spend:
        """See ``Account.spent``."""
        return self._copy_of("spent")

    @property
    def runs_left(self) -> int:
        """See ``Account.runs_left``."""
        return self._runs_left()


def account_view(authority: Authority) -> AccountView:
    """To be read from only: no attribute of it is the authority, or an amount that this counts
    by.
    """
    return AccountView(
        lambda which: structs.replace(authority.cap if which == "cap" else authority.spent),
        lambda: authority.runs_left,
    )


def _moment(state: RunState) -> Callable[[], int]:
    """The flow's own time, in microseconds since 1970."""
    return lambda: state.flow_at


def _dated(state: RunState) -> Callable[[], datetime]:
    """The wall clock's time of the last record that was handed to the flow."""
    return lambda: EPOCH + timedelta(microseconds=state.handed_at)


class RunSetup(Struct, frozen=True, kw_only=True):
    """A run as its first record has it: its kind, its input, what others know of it and what it may
    do.
    """

    run: str
    kind: Kind[Any, Any]
    started: Started
    given: Any
    catalog: Catalog
    agent: str
    scope: CapabilityScope
    kinds: Kinds

    @classmethod
    def of(
        cls, run: str, kind: Kind[Any, Any], started: Started, catalog: Catalog, kinds: Kinds
    ) -> RunSetup:
        """Read the input; where the record does not say what the run may do, it is a root's that
        its kind grants, and a child's ``scope``.

        Raises:
            JournalDiverged: the run began with another wording than the one that this build reads
                with under its catalog.
            ConfigurationError: the kind cannot read the input any more, or fails at what it says of
                the run.
        """
        if started.wording not in ("", catalog.wording_id):
            began, reads = started.wording[:14], catalog.wording_id[:14]
            raise JournalDiverged(
                f"run {run} began with wording {began}, and its catalog names {reads}",
                details={"seq": 0},
            )
        given = asked_of(kind, "decode_input", kind.decode_input, started.input)
        label = (
            asked_of(kind, "label", kind.label, given) if started.label is None else started.label
        )
        if started.grant is not None:
            scope = started.grant
        elif started.parent is not None:
            scope = CapabilityScope(allowed=started.scope)
        else:
            scope = asked_of(kind, "grant", kind.grant, given, catalog)
        return cls(
            run=run,
            kind=kind,
            started=started,
            given=given,
            catalog=catalog,
            agent=label.agent,
            scope=scope,
            kinds=kinds,
        )

    @property
    def root(self) -> str:
        """The run at the root of this one; of a child of a build before, the one above it."""
        return self.started.root or self.started.parent or self.run

    def state(self, began: int, transcript: TranscriptReader | None = None) -> RunState:
        """A new state; the run has done nothing yet."""
        charged = self.kind.charged and self.started.parent is None and self._bounded()
        own = None if transcript is None else _of_session(transcript, self.started.session)
        state = RunState(
            began,
            Authority(self.started, self.kind, self.given, self.scope, charged=charged),
            own,
            self.kind,
        )
        state.values[0] = self.given
        state.values.advice = advice_of(self.catalog, self.started.session, self.started.profile)
        return state

    def execution(
        self,
        records: Sequence[Record],
        beyond: Beyond,
        state: RunState,
        reading: Rereading = PLAINLY,
    ) -> Execution:
        """The port over these records."""
        return Execution(self.run, records, beyond, self.catalog, state, reading)

    def context(self, execution: Execution) -> FlowContext:
        """What the flow is given: the same live, resumed and replayed."""
        started = self.started
        return FlowContext(
            fx=flow_port(execution, execution.state.asked),
            moment=_moment(execution.state),
            dated=_dated(execution.state),
            catalog=self.catalog,
            account=account_view(execution.state.authority),
            scope=structs.replace(
                self.scope,
                constraints=deepcopy(bounds) if (bounds := self.scope.constraints) else {},
            ),
            deadline=started.deadline,
            hard=started.deadline,
            agent=self.agent,
            child=started.parent is not None,
            session=started.session,
            keep_thoughts=started.keep_thoughts,
            may_ask=started.may_ask,
            carrying=self.kinds.carrying,
            profiled=started.profiled,
            held=started.profile,
            run=self.run,
            root=self.root,
            chain=started.chain,
            principal=started.principal,
            scopes=started.scopes,
            granted=structs.replace(self.scope, constraints=deepcopy(bounds) if bounds else {}),
        )

    def _bounded(self) -> bool:
        """Whether policy bounds an account that the run belongs to; which one it is then depends on
        the time.
        """
        return bool(bounding(self.catalog.policy.budget, self.started.session))


def _of_session(transcript: TranscriptReader, session: str) -> TranscriptReader:
    """The transcript of the run's own session: a prompt shows no other, whatever its kind refers
    to.
    """
    if not session:
        return _no_session

    def own(asked: str, first: int, last: int) -> Sequence[EntryText]:
        return (
            transcript(session, first, last)
            if asked == session
            else _no_session(asked, first, last)
        )

    return own


def _no_session(_asked: str, _first: int, _last: int) -> Sequence[EntryText]:
    raise FlowFault("a prompt refers to another session")
