"""The state machine of approvals and grants: whatever people and runs do in whatever order, nothing goes out that nobody said yes to."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.errors import OrdainError
from ordain.journal.records import SETTLED
from ordain.rules.approve import ApprovalState
from ordain.runtime.approvals import ApprovalView
from ordain.runtime.grants import GrantOffer
from tests.lanes import examples
from tests.unit.runtime.office import ASKER, BEN, CLEO, LIMITED, Office, pay, post

FINAL = set(ApprovalState) - {ApprovalState.OPEN}
EXPIRES_S = 100
POLICY: dict[str, Any] = {"approvals": {"expires_s": EXPIRES_S, "rules": [{"verb": "pay.*", "not_requester": True}]}}
calls = st.sampled_from([[post("a")], [post("a")] * 3, [pay("x")] * 2, [post("a"), pay("x"), post("b")]])
people = st.sampled_from([BEN, CLEO, ASKER, "", LIMITED])
numbers = st.integers(0, 7)


class Approving(RuleBasedStateMachine):
    """``yes`` counts what was approved by (verb, argument), ``uses`` what grants still let go out, ``states`` is where each approval was seen last."""

    def __init__(self) -> None:
        super().__init__()
        self.loop, self.office = asyncio.Runner(), Office(POLICY)
        self.runs: list[str] = []
        self.yes: Counter[tuple[str, Any]] = Counter()
        self.given = 0
        self.grants: list[str] = []
        self.states: dict[str, ApprovalState] = {}

    def teardown(self) -> None:
        self.office.store.close()
        self.loop.close()

    # --- what people and runs do ------------------------------------------------------------------------------------------------------

    @initialize(given=calls)
    def first(self, given: list[dict[str, Any]]) -> None:
        self.begins(given)

    @rule(given=calls)
    def begins(self, given: list[dict[str, Any]]) -> None:
        """A run with some calls begins."""
        if len(self.runs) < 5:
            self.runs.append(self.loop.run(self.office.begun(*given)))

    def _view(self, number: int) -> ApprovalView:
        found = self.loop.run(self.office.desk.listed(DEFAULT_WORKSPACE, states=()))
        return found[number % len(found)]

    @precondition(lambda self: bool(self.states))
    @rule(number=numbers, other=numbers, approve=st.booleans(), by=people, awake=st.booleans())
    def says(self, number: int, other: int, approve: bool, by: Any, awake: bool) -> None:
        """Somebody says yes or no to an approval, having looked at it or at another; where an engine is awake the run goes on."""
        view, looked = self._view(number), self._view(other)
        same = view.row.digest == looked.row.digest
        refused = self.loop.run(self.office.decide(view, approve=approve, by=by, digest=looked.row.digest, drive=awake))
        pays = view.calls[0].verb == "pay.out"
        may = by != LIMITED and not (pays and (by == "" or (by == ASKER and approve)))
        open_ = view.row.state == ApprovalState.OPEN and self.office.clock.at < view.row.expires_at
        assert (refused == "") == (open_ and same and may), refused
        if not refused and approve:
            (call,) = view.calls
            self.yes[call.verb, call.args["text" if call.verb == "post.out" else "to"]] += 1

    @precondition(lambda self: bool(self.states))
    @rule(number=numbers, by=people, text=st.sampled_from("abc"))
    def proposes_otherwise(self, number: int, by: Any, text: str) -> None:
        """Somebody proposes other arguments; that is a yes to nothing."""
        view = self._view(number)
        args = {**view.calls[0].args, "text" if view.calls[0].verb == "post.out" else "to": text}
        try:
            self.loop.run(self.office.desk.resubmit(DEFAULT_WORKSPACE, view.row.id, args, by))
        except OrdainError:
            return
        assert view.row.state == ApprovalState.OPEN

    @rule(uses=st.integers(1, 2))
    def gives(self, uses: int) -> None:
        """A grant for sending."""
        offer = GrantOffer(principal=ASKER, capabilities=("post.*",), ttl_s=EXPIRES_S, uses=uses)
        self.grants.append(self.loop.run(self.office.grants.give(DEFAULT_WORKSPACE, offer, BEN)).grant_id)
        self.given += uses

    @precondition(lambda self: bool(self.grants))
    @rule(number=numbers)
    def revokes(self, number: int) -> None:
        """A grant is taken back; what of it was not used lets nothing go out."""
        taken = self.loop.run(self.office.grants.revoke(DEFAULT_WORKSPACE, self.grants.pop(number % len(self.grants)), BEN))
        self.given -= taken.uses_left or 0

    @rule(seconds=st.sampled_from([1, EXPIRES_S]))
    def time_passes(self, seconds: int) -> None:
        """Nobody is awake meanwhile."""
        self.office.clock.pass_s(seconds)

    @rule(number=numbers, cancelled=st.booleans())
    def goes_on(self, number: int, cancelled: bool) -> None:
        """An engine drives a run, which somebody may have cancelled."""
        run = self.runs[number % len(self.runs)]
        if cancelled and number > 5:
            self.loop.run(self.office.interrupt(run))
        if self.office.stored(run).status not in SETTLED:
            self.loop.run(self.office.drive(run))

    # --- what holds -------------------------------------------------------------------------------------------------------------------

    @invariant()
    def nothing_goes_out_without_a_yes(self) -> None:
        """Each call at most as often as it was approved; beyond that only sending, and only as often as grants were given."""
        beyond = Counter(self.office.did) - self.yes
        assert all(verb == "post.out" for verb, _ in beyond)
        assert sum(beyond.values()) <= self.given

    @invariant()
    def what_is_decided_stays(self) -> None:
        """An approval that is open no more is so for good, and says who decided it exactly where somebody did."""
        for view in self.loop.run(self.office.desk.listed(DEFAULT_WORKSPACE, states=(), limit=200)):
            state, before = ApprovalState(view.row.state), self.states.get(view.row.id)
            assert before not in FINAL or state is before
            assert bool(view.row.decided_at) == (state in FINAL)
            assert not view.row.decided_by or state in FINAL - {ApprovalState.EXPIRED, ApprovalState.WITHDRAWN}
            self.states[view.row.id] = state

    @invariant()
    def nothing_is_open_that_nobody_waits_for(self) -> None:
        """An open approval's run is not over."""
        for view in self.loop.run(self.office.desk.listed(DEFAULT_WORKSPACE, limit=200)):
            assert self.office.stored(view.row.run).status not in SETTLED


Approving.TestCase.settings = settings(max_examples=examples(40, quick=8), stateful_step_count=25, deadline=None)


class TestApproving(Approving.TestCase):
    """Whatever is approved, denied, proposed otherwise, granted, taken back, cancelled or left to time: what is decided stays, and no call goes out unasked."""
