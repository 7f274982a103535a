"""Laws of the route table, of waits before a retry, of the hedge and of what is left of an
account.
"""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from pydantic import ValidationError

from ordain.contracts.conversation import BudgetClass
from ordain.contracts.model_policy import (
    FallbackPolicy,
    LaneRoute,
    LanesPolicy,
    LaneWhy,
    ModelErrorCode,
    OnModelError,
)
from ordain.contracts.policy import BudgetPolicy, Lane, Policy
from ordain.contracts.verbs import Category
from ordain.flows.shipped import shipped_kinds
from ordain.rules.backoff import backoff_ms
from ordain.rules.budget import CARVE, AccountFacts, CarveFacts
from ordain.rules.decision import Recorded
from ordain.rules.fallback import (
    FALLBACK,
    FallbackFacts,
    GiveUp,
    NextLane,
    NextProfile,
    RetryProfile,
)
from ordain.rules.hedge import HEDGE, AskSecond, HedgeFacts
from ordain.rules.lane import LANE, WHY, LaneChosen, LaneFacts, LaneInputs, LaneReason
from ordain.rules.reasons import Reason
from ordain.rules.spend import Carved
from ordain.settings import read_policy
from tests.unit.rules.given import decided, lanes

TAGS = ["routine", "code", "other"]
optional = {
    "purpose": st.sampled_from(["planner", "verb", "router"]),
    "verb": st.sampled_from(["a", "b.c"]),
    "category": st.sampled_from([Category.GENERATIVE, Category.TRANSFORM]),
    "tag": st.sampled_from(TAGS),
    "budget_class": st.sampled_from(BudgetClass),
    "ambiguous": st.booleans(),
}


@st.composite
def routes(draw: st.DrawFn) -> LaneRoute:
    """Any row of a route table."""
    named = draw(st.sets(st.sampled_from(sorted(optional)), min_size=1))
    fields = {name: draw(optional[name]) for name in named}
    return LaneRoute(lane=draw(lanes), why=draw(st.sampled_from(LaneWhy)), **fields)


facts_of_calls = st.builds(
    LaneFacts,
    purpose=st.sampled_from(["planner", "verb", "router"]),
    verb=st.sampled_from(["a", "b.c"]),
    category=st.sampled_from([str(Category.GENERATIVE), str(Category.TRANSFORM)]),
    tags=st.lists(st.sampled_from(TAGS), unique=True).map(tuple),
    budget_class=st.sampled_from([str(one) for one in BudgetClass]),
    ambiguous=st.booleans(),
)
ALL = {lane: ["m"] for lane in Lane}
OF_PURPOSE = {
    purpose: LaneInputs(by_purpose=prompt.lane)
    for purpose, prompt in shipped_kinds().prompts.items()
}


def meets(route: LaneRoute, facts: LaneFacts) -> bool:
    """The table's law, put another way than the rule does: every column that is named agrees."""
    columns = {
        "purpose": facts.purpose,
        "verb": facts.verb,
        "category": facts.category,
        "budget_class": facts.budget_class,
        "ambiguous": facts.ambiguous,
    }
    agree = [
        getattr(route, name) == value
        for name, value in columns.items()
        if getattr(route, name) is not None
    ]
    return all(agree) and (route.tag is None or route.tag in facts.tags)  # type: ignore[operator] # drawn with tags


@given(facts_of_calls, st.lists(routes(), max_size=5), lanes, lanes)
def test_the_first_row_that_fits_decides(
    facts: LaneFacts, table: list[LaneRoute], planner: Lane, verb: Lane
) -> None:
    """A call gets the lane and the reason of the first row that fits, else its purpose's.

    RTE-01: "Policy resolves a model lane per turn: `local|worker|brain`", LLM-06: "Every lane
    decision and every fallback is logged with a typed reason code"
    """
    policy = Policy(
        version=1, lanes=LanesPolicy(planner=planner, verb=verb, profiles=ALL, routes=table)
    )
    decision = decided(LANE, facts, OF_PURPOSE[facts.purpose], policy)
    assert isinstance(decision.outcome, LaneChosen)
    row = next((route for route in table if meets(route, facts)), None)
    if row is None:
        assert (decision.outcome.lane, decision.reason) == (
            verb if facts.purpose == "verb" else planner,
            LaneReason.BY_PURPOSE,
        )
    else:
        assert (decision.outcome.lane, decision.reason) == (row.lane, WHY[row.why])


@given(facts_of_calls, st.lists(routes(), max_size=4), lanes, st.lists(st.just("p"), max_size=1))
def test_a_lane_looked_up_ahead_is_the_one_that_will_be_asked(
    facts: LaneFacts, table: list[LaneRoute], own: Lane, behind: list[str]
) -> None:
    """The same outcome for the same reason; the line that tells it stands with the call that is
    made.
    """
    policy = Policy(
        version=1, lanes=LanesPolicy(routes=table, profiles=dict.fromkeys(Lane, behind))
    )
    inputs, ahead = LaneInputs(by_purpose=lambda _: own), msgspec.structs.replace(facts, ahead=True)
    made = decided(LANE, facts, inputs, policy)
    assert decided(LANE, ahead, inputs, policy) == made
    assert LANE.tells is not None
    told, untold = (
        LANE.tells(
            Recorded(
                outcome=Raw(msgspec.json.encode(made.outcome)),
                reason=made.reason,
                facts=Raw(msgspec.json.encode(one)),
            )
        )
        for one in (facts, ahead)
    )
    assert (untold.lines, bool(told.lines)) == ((), made.reason is not LaneReason.BY_PURPOSE)


def shipped(**facts: object) -> tuple[Lane, Reason]:
    """What the shipped table makes of a verb's call, with a model behind each lane."""
    policy = read_policy(None)
    policy = policy.model_copy(update={"lanes": policy.lanes.model_copy(update={"profiles": ALL})})
    decision = decided(
        LANE,
        msgspec.structs.replace(LaneFacts(purpose="verb"), **facts),
        OF_PURPOSE["verb"],
        policy,
    )
    return decision.outcome.lane, decision.reason


def test_routine_checks_stay_local() -> None:
    """A verb tagged routine is served by lane local."""
    assert shipped(tags=("routine",)) == (Lane.LOCAL, LaneReason.ROUTINE)


def test_what_asks_for_more_is_escalated() -> None:
    """Code, large turns and turns whose path was left open go to the best model; everything else to
    worker.

    LLM-03: "Interactive coding, synthesis, ambiguous tasks escalate to `worker` or `brain`"
    """
    assert shipped(tags=("code",)) == (Lane.BRAIN, LaneReason.ESCALATED)
    assert shipped(budget_class="large") == (Lane.BRAIN, LaneReason.ESCALATED)
    assert shipped(ambiguous=True) == (Lane.BRAIN, LaneReason.ESCALATED)
    assert shipped(category=str(Category.GENERATIVE)) == (Lane.WORKER, LaneReason.BY_PURPOSE)


waiting = st.builds(
    FallbackPolicy,
    attempts_per_profile=st.just(10),
    attempts_total=st.just(50),
    backoff_ms=st.integers(0, 60_000),
    backoff_max_ms=st.integers(0, 600_000),
    wait_max_ms=st.integers(0, 60_000),
    on_error=st.just(dict.fromkeys(ModelErrorCode, OnModelError.RETRY)),
)
failed = st.builds(
    FallbackFacts,
    code=st.just(ModelErrorCode.RATE_LIMITED),
    attempts=st.integers(1, 10),
    attempts_total=st.just(10),
    profiles_left=st.integers(0, 3),
    lane_left=st.booleans(),
    left_ms=st.just(50_000),
    retry_after_ms=st.integers(0, 100_000),
)


@given(waiting, failed)
def test_waits_are_bounded_and_grow(table: FallbackPolicy, facts: FallbackFacts) -> None:
    """A retry waits at least what the provider asks for and no longer than there is time; a wait
    that policy dislikes needs no alternative.
    """
    outcome = decided(FALLBACK, facts, None, Policy(version=1, fallback=table)).outcome
    wait = max(
        facts.retry_after_ms, backoff_ms(table.backoff_ms, table.backoff_max_ms, facts.attempts)
    )
    others = facts.profiles_left or facts.lane_left
    if isinstance(outcome, RetryProfile):
        assert facts.retry_after_ms <= outcome.wait_ms == wait < facts.left_ms
        assert not (table.wait_max_ms and wait > table.wait_max_ms and others)
    elif isinstance(outcome, GiveUp):
        assert not others
    else:
        assert isinstance(outcome, NextProfile if facts.profiles_left else NextLane)


@given(
    lanes,
    st.integers(0, 3),
    st.booleans(),
    st.integers(0, 5000),
    st.dictionaries(lanes, st.integers(0, 4000)),
)
def test_a_second_model_is_asked_only_where_all_allow_it(
    lane: Lane, left: int, covered: bool, left_ms: int, table: dict[Lane, int]
) -> None:
    """No hedge without policy's delay, another profile, budget for both and time after the delay;
    and always with them.
    """
    facts = HedgeFacts(lane=lane, profiles_left=left, covered=covered, left_ms=left_ms)
    outcome = decided(
        HEDGE, facts, None, Policy(version=1, fallback=FallbackPolicy(hedge_ms=table))
    ).outcome
    expected = table.get(lane, 0) > 0 and left > 0 and covered and left_ms > table[lane]
    assert isinstance(outcome, AskSecond) is expected
    if isinstance(outcome, AskSecond):
        assert outcome.after_ms == table[lane]


@pytest.mark.parametrize("after_ms", [-5, 3_600_001])
def test_a_delay_before_a_second_model_has_bounds(after_ms: int) -> None:
    """Nothing is asked before it is asked: a delay below zero is refused, and so is one longer than
    any call.
    """
    with pytest.raises(ValidationError):
        FallbackPolicy(hedge_ms={Lane.WORKER: after_ms})


accounts = st.lists(
    st.builds(
        AccountFacts,
        name=st.sampled_from(["day:x", "session:s", "agent:a", "workspace"]),
        cap_tokens=st.integers(0, 1000),
        cap_usd_micros=st.integers(0, 1000),
        tokens=st.integers(0, 2000),
        usd_micros=st.integers(0, 2000),
    ),
    max_size=4,
).map(tuple)


@given(st.integers(1, 1000), st.integers(0, 1000), accounts)
def test_the_rest_of_an_account_is_never_exceeded(
    tokens: int, money: int, found: tuple[AccountFacts, ...]
) -> None:
    """A carved bound is within what was asked and within what every account has left; without
    tokens nothing is carved.

    RTE-11: "Code enforces model selection and budget caps"
    """
    policy = Policy(version=1, budget=BudgetPolicy(rest=True))
    outcome = decided(
        CARVE, CarveFacts(tokens=tokens, usd_micros=money, accounts=found), None, policy
    ).outcome
    empty = [
        account for account in found if account.cap_tokens and account.tokens >= account.cap_tokens
    ]
    assert isinstance(outcome, Carved) is (not empty)
    if isinstance(outcome, Carved):
        assert 0 < outcome.tokens <= tokens
        assert 0 <= outcome.usd_micros <= money
        for account in found:
            if account.cap_tokens:
                assert account.tokens + outcome.tokens <= account.cap_tokens
            if account.cap_usd_micros:
                assert outcome.usd_micros <= max(0, account.cap_usd_micros - account.usd_micros)
