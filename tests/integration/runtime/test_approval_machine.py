"""The state machine of approvals and grants: whatever people and runs do in whatever order, nothing
goes out that nobody said yes to.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.scope import Constraint
from ordain.effects.calls import Call
from ordain.errors import OrdainError
from ordain.journal.codec import decode
from ordain.journal.digests import call_digest
from ordain.journal.records import SETTLED, DecisionBody
from ordain.rules.approve import ApprovalState
from ordain.rules.authorize import AUTHORIZE, AuthorizeReason
from ordain.runtime.approvals import ApprovalView
from ordain.runtime.configuration import ControlPlane, RecordChange
from ordain.runtime.grants import GrantOffer
from ordain.testing import with_policy
from tests.lanes import examples
from tests.unit.runtime.office import ASKER, BEN, CLEO, LIMITED, Office, pay, post

FINAL = set(ApprovalState) - {ApprovalState.OPEN}
EXPIRES_S = 100
POLICY: dict[str, Any] = {
    "approvals": {"expires_s": EXPIRES_S, "rules": [{"verb": "pay.*", "not_requester": True}]}
}
EVE = "eve@example.org"
calls = st.sampled_from(
    [
        [post("a")],
        [post("a")] * 3,
        [pay("x")] * 2,
        [post("a"), pay("x"), post("b")],
        [post("e", EVE)] * 2,
    ]
)
people = st.sampled_from([BEN, CLEO, ASKER, "", LIMITED])
numbers = st.integers(0, 7)
Said = tuple[str, Any]
"""A call as people know it here: its verb and its one telling argument."""
NARROWED: dict[str, dict[str, Any]] = {
    "switched off": {"verbs": {"default": {"deny": ["post.*", "pay.*"]}}},
    "reads only": {"profile": {"safety": {"mode": "read_only"}}},
}
PINNED = "pinned"
"""A profile of the workspace narrows, and no policy."""


EVERY = [
    *(post(text) for text in "abc"),
    *(post(f"e{text}", EVE) for text in ("", "a", "b", "c")),
    *(pay(to) for to in "abcx"),
]
YES = (AuthorizeReason.APPROVED, AuthorizeReason.GRANTED)


def said(call: Call) -> Said:
    return call.verb, call.args["text" if call.verb == "post.out" else "to"]


@dataclass
class Given:
    """A grant as people remember it: how many calls it still lets out, until when, and whether to
    anybody.
    """

    id: str
    left: int
    expires_at: int
    anybody: bool


class Approving(RuleBasedStateMachine):
    """``yes`` counts what was approved, ``given`` are the grants as far as they let something out,
    ``states`` is where each approval was seen last.

    ``seen`` counts the decisions of each run that were looked at, by reason and call; ``narrowed``
    says what forbids everything now, and ``did`` how much had gone out when it began.
    """

    def __init__(self) -> None:
        super().__init__()
        self.loop, self.office = asyncio.Runner(), Office(POLICY)
        self.wide = self.office.services.catalogs.current
        self.control = ControlPlane(
            self.office.services.configuration, self.office.store, self.office.clock
        )
        self.runs: list[str] = []
        self.yes: Counter[Said] = Counter()
        self.given: list[Given] = []
        self.states: dict[str, ApprovalState] = {}
        self.seen: Counter[tuple[str, Said]] = Counter()
        self.narrowed = ""
        self.did = 0
        self.claims: dict[str, str] = {}

    def teardown(self) -> None:
        self.office.store.close()
        self.loop.close()

    # --- what people and runs do ------------------------------------------------------------------

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
        """Somebody says yes or no to an approval, having looked at it or at another; where an
        engine is awake the run goes on.
        """
        view, looked = self._view(number), self._view(other)
        same = view.row.digest == looked.row.digest
        refused = self.loop.run(
            self.office.decide(view, approve=approve, by=by, digest=looked.row.digest, drive=awake)
        )
        pays = view.calls[0].verb == "pay.out"
        may = by != LIMITED and not (pays and (by == "" or (by == ASKER and approve)))
        open_ = view.row.state == ApprovalState.OPEN and self.office.clock.at < view.row.expires_at
        void = approve and bool(self.narrowed)
        assert (refused == "") == (open_ and same and may and not void), refused
        if open_ and same and may and void:
            assert refused == "approval_stale"
            assert self.loop.run(self.office.state(view)) is ApprovalState.WITHDRAWN
        if not refused and approve:
            (call,) = view.calls
            self.yes[said(call)] += 1

    @precondition(lambda self: bool(self.states))
    @rule(number=numbers, by=people, word=st.sampled_from(["claim", "take over", "release"]))
    def claims_or_releases(self, number: int, by: Any, word: str) -> None:
        """Somebody says that they look at an approval, in another one's place, or no longer; what
        ``says`` expects has no part in it.
        """
        view, desk = self._view(number), self.office.desk
        name, holder = view.row.id, self.claims.get(view.row.id, "")
        try:
            wish = (
                desk.release(DEFAULT_WORKSPACE, name, by)
                if word == "release"
                else desk.claim(DEFAULT_WORKSPACE, name, by, take_over=word != "claim")
            )
            self.loop.run(wish)
        except OrdainError:
            return
        assert view.row.state == ApprovalState.OPEN
        assert by in (BEN, CLEO, ASKER)
        assert word != "claim" or holder in ("", by)
        assert word != "release" or holder == by
        self.claims[name] = "" if word == "release" else by

    @precondition(lambda self: bool(self.states))
    @rule(number=numbers, by=people, text=st.sampled_from("abc"))
    def proposes_otherwise(self, number: int, by: Any, text: str) -> None:
        """Somebody proposes other arguments; that is a yes to nothing."""
        view = self._view(number)
        before = view.calls[0].args
        text = f"e{text}" if before["to"] == EVE else text
        args = {**before, "text" if view.calls[0].verb == "post.out" else "to": text}
        try:
            self.loop.run(self.office.desk.resubmit(DEFAULT_WORKSPACE, view.row.id, args, by))
        except OrdainError:
            return
        assert view.row.state == ApprovalState.OPEN
        assert not self.narrowed

    @rule(
        number=st.integers(1, 2),
        counted=st.booleans(),
        anybody=st.booleans(),
        lasts_s=st.sampled_from([10, EXPIRES_S]),
    )
    def gives(self, number: int, counted: bool, anybody: bool, lasts_s: int) -> None:
        """A grant for sending, so many times, by its uses or by a bound of its scope; to anybody,
        or to one.
        """
        offer = GrantOffer(
            principal=ASKER,
            capabilities=("post.*",),
            ttl_s=lasts_s,
            uses=None if counted else number,
            targets=None if anybody else ("ben@example.org",),
            constraints={"post.*": Constraint(max_calls=number)} if counted else {},
        )
        grant = self.loop.run(self.office.grants.give(DEFAULT_WORKSPACE, offer, BEN))
        self.given.append(Given(grant.grant_id, number, grant.expires_at, anybody))

    @precondition(lambda self: bool(self.given))
    @rule(number=numbers)
    def revokes(self, number: int) -> None:
        """A grant is taken back; what of it was not used lets nothing go out."""
        self.loop.run(
            self.office.grants.revoke(
                DEFAULT_WORKSPACE, self.given.pop(number % len(self.given)).id, BEN
            )
        )

    @rule(how=st.sampled_from(["", *NARROWED, PINNED]))
    def narrows(self, how: str) -> None:
        """What everything is held to is narrowed, in one way or another, or that is over."""
        catalogs = self.office.services.catalogs
        catalogs.swap(with_policy(self.wide, NARROWED[how]) if how in NARROWED else self.wide)
        for resource, name, config in (
            ("profile", "p", {"safety": {"mode": "read_only"}}),
            (
                "policy",
                "profile-pin:workspace:default",
                {"profile": "p"} if how == PINNED else None,
            ),
        ):
            change = RecordChange(
                place=DEFAULT_WORKSPACE, resource=resource, id=name, config=config, owner=True
            )
            self.loop.run(self.control.change(change, by=BEN))
        self.narrowed, self.did = how, len(self.office.did)

    @rule(seconds=st.sampled_from([1, 10, EXPIRES_S]))
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

    # --- what holds -------------------------------------------------------------------------------

    def _allowed(self) -> Counter[tuple[str, Said]]:
        """Every decision so far that rests on somebody's yes, by its reason and call."""
        known = {
            call_digest(call): said(call)
            for call in (Call(verb=one["verb"], args=one["args"]) for one in EVERY)
        }
        found: Counter[tuple[str, Said]] = Counter()
        for run in self.runs:
            for record in self.office.stored(run).records:
                if (
                    record.name == AUTHORIZE.name
                    and isinstance(body := decode(record), DecisionBody)
                    and body.reason in YES
                ):
                    found[str(body.reason), known[msgspec.json.decode(body.facts)["call"]]] += 1
        return found

    @invariant()
    def nothing_goes_out_without_a_yes(self) -> None:
        """Each call at most as often as it was approved, and beyond that only what a grant that
        stands is for, as often as that says.
        """
        allowed = self._allowed()
        went = Counter(self.office.did)
        for (reason, call), times in allowed.items():
            assert reason == AuthorizeReason.GRANTED or times <= self.yes[call]
        for call, times in went.items():
            assert times <= sum(allowed[str(reason), call] for reason in YES)
        for (reason, call), times in (allowed - self.seen).items():
            for _ in range(times if reason == AuthorizeReason.GRANTED else 0):
                self._let_out(call)
        self.seen = allowed

    def _let_out(self, call: Said) -> None:
        """Some grant that stands is for it, and has one use less now: the one that expires
        first.
        """
        fit = [
            one
            for one in self.given
            if one.left
            and self.office.clock.at < one.expires_at
            and (one.anybody or not call[1].startswith("e"))
        ]
        assert call[0] == "post.out"
        assert fit, call
        min(fit, key=lambda one: one.expires_at).left -= 1

    @invariant()
    def nothing_outlives_a_narrowing(self) -> None:
        """Whatever was approved or granted before, nothing goes out while all of it is
        forbidden.
        """
        assert not self.narrowed or len(self.office.did) == self.did

    @invariant()
    def what_is_decided_stays(self) -> None:
        """An approval that is open no more is so for good, and says who decided it exactly where
        somebody did.
        """
        for view in self.loop.run(self.office.desk.listed(DEFAULT_WORKSPACE, states=(), limit=200)):
            state, before = ApprovalState(view.row.state), self.states.get(view.row.id)
            assert before not in FINAL or state is before
            assert bool(view.row.decided_at) == (state in FINAL)
            assert not view.row.decided_by or state in FINAL - {
                ApprovalState.EXPIRED,
                ApprovalState.WITHDRAWN,
            }
            self.states[view.row.id] = state
            assert view.row.claimed_by == self.claims.get(view.row.id, "")
            assert view.row.in_review_by == (
                view.row.claimed_by if state is ApprovalState.OPEN else ""
            )

    @invariant()
    def nothing_is_open_that_nobody_waits_for(self) -> None:
        """An open approval's run is not over."""
        for view in self.loop.run(self.office.desk.listed(DEFAULT_WORKSPACE, limit=200)):
            assert self.office.stored(view.row.run).status not in SETTLED


Approving.TestCase.settings = settings(
    max_examples=examples(40, quick=8), stateful_step_count=25, deadline=None
)


class TestApproving(Approving.TestCase):
    """Whatever is approved, denied, proposed otherwise, granted, taken back, cancelled or left to
    time: what is decided stays, and no call goes out unasked.
    """


def test_what_an_approver_ended_is_not_opened_again_by_its_run() -> None:
    """A yes to what nobody may say yes to any more ends it; the run that goes on by that asks for
    nothing anew, and who looked at it stands there still.
    """
    machine = Approving()
    machine.first([{"verb": "post.out", "args": {"to": "ben@example.org", "text": "a"}}])
    machine.what_is_decided_stays()
    machine.claims_or_releases(number=0, by=BEN, word="claim")
    machine.narrows(how=PINNED)
    machine.says(number=0, other=0, approve=True, by=BEN, awake=False)
    machine.goes_on(number=0, cancelled=False)
    machine.what_is_decided_stays()
    assert [*machine.claims.values()] == [BEN]
    machine.teardown()
