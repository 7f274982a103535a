"""Laws of access: a narrower token never allows more, what has ended never allows anything, and
nobody is taken for the owner.
"""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from ordain.contracts.access import TokenScope
from ordain.contracts.policy import Policy
from ordain.rules.access import (
    ACCESS,
    AccessFacts,
    AccessReason,
    Admitted,
    NotAdmitted,
    Presented,
    Refusal,
)
from ordain.rules.decision import Decision
from ordain.rules.rate import COST, RATE, Granted, RateFacts, Spent
from tests.unit.rules.given import decided

POLICY = Policy(version=1)
moments = st.integers(0, 2**53)
scopes = st.lists(st.sampled_from(TokenScope), max_size=4, unique=True).map(tuple)
places = st.sampled_from(["", "default", "team-a", "team-b"])
facts = st.builds(
    AccessFacts,
    presented=st.sampled_from(Presented),
    demanded=st.booleans(),
    public=st.sampled_from([False, False, False, True]),
    asked=scopes,
    workspace=places,
    at=moments,
    scopes=scopes,
    workspaces=st.lists(places.filter(bool), max_size=3, unique=True).map(tuple),
    expires_at=st.none() | moments,
    revoked_at=st.none() | moments,
)
ORDER = (Admitted, NotAdmitted)


def access(given_facts: AccessFacts) -> Decision[Any]:
    return decided(ACCESS, given_facts, None, POLICY)


def allowed(given_facts: AccessFacts) -> bool:
    return isinstance(access(given_facts).outcome, Admitted)


@given(facts)
def test_access_is_total_and_its_reason_says_what_it_did(found: AccessFacts) -> None:
    """Every request is admitted or not, for a reason of the rule's own; a reason that admits never
    stands beside a refusal.
    """
    decision = access(found)
    assert isinstance(decision.outcome, ORDER)
    admits = {AccessReason.PUBLIC, AccessReason.LOCAL, AccessReason.OWNER, AccessReason.TOKEN}
    assert (decision.reason in admits) == isinstance(decision.outcome, Admitted)
    assert decision.reason.value.startswith("access.")


@given(facts, scopes, st.integers(0, 3), moments, st.booleans())
def test_a_narrower_token_never_allows_more(
    found: AccessFacts, taken: tuple[TokenScope, ...], places_left: int, end: int, revoked: bool
) -> None:
    """Fewer scopes, fewer workspaces, an earlier end: what the narrower token opens the wider one
    opens too.
    """
    narrower = msgspec.structs.replace(
        found,
        scopes=tuple(scope for scope in found.scopes if scope not in taken),
        workspaces=found.workspaces[:places_left],
        expires_at=end if found.expires_at is None else min(end, found.expires_at),
        revoked_at=found.revoked_at if not revoked else min(end, found.revoked_at or end),
    )
    if allowed(narrower):
        assert allowed(found)


@given(facts, scopes)
def test_an_address_that_asks_for_less_is_opened_by_no_fewer(
    found: AccessFacts, more: tuple[TokenScope, ...]
) -> None:
    """Where any of several scopes will do, one more that will do closes nothing; and a demand for a
    token opens nothing.
    """
    assume(found.asked)
    wider = msgspec.structs.replace(found, asked=tuple(dict.fromkeys((*found.asked, *more))))
    assert not allowed(found) or allowed(wider)
    demanding = msgspec.structs.replace(found, demanded=True)
    assert not allowed(demanding) or allowed(found)


@given(
    facts.filter(lambda one: one.presented is Presented.TOKEN and not one.public),
    st.integers(0, 10**9),
)
def test_a_token_that_has_ended_opens_nothing(found: AccessFacts, later: int) -> None:
    """Revoked or expired, now or before: unauthenticated, whatever it is used for; and it never
    comes back.
    """
    for end in ("expires_at", "revoked_at"):
        ended = msgspec.structs.replace(found, **{end: found.at - min(later, found.at)})
        assert access(ended).outcome == NotAdmitted(Refusal.UNAUTHENTICATED)
    if access(found).outcome == NotAdmitted(Refusal.UNAUTHENTICATED):
        assert not allowed(msgspec.structs.replace(found, at=found.at + later))


@given(facts.filter(lambda one: not one.public))
def test_nobody_without_a_good_credential_is_let_in_where_one_is_demanded(
    found: AccessFacts,
) -> None:
    """Nothing, what is malformed and what is unknown are 401; and what is malformed or unknown also
    where nothing is demanded.
    """
    decision = access(found)
    if found.presented in (Presented.MALFORMED, Presented.UNKNOWN) or (
        found.presented is Presented.NOTHING and found.demanded
    ):
        assert decision.outcome == NotAdmitted(Refusal.UNAUTHENTICATED)
    if isinstance(decision.outcome, Admitted):
        assert decision.outcome.presented is found.presented


@given(facts.filter(lambda one: one.presented is Presented.TOKEN and not one.public))
def test_a_token_opens_exactly_what_it_names(found: AccessFacts) -> None:
    """A live token is admitted where it has one of the scopes asked for and the workspace, and is
    forbidden anything else.
    """
    live = msgspec.structs.replace(found, expires_at=None, revoked_at=None)
    fits = bool(live.scopes) and (not live.asked or bool(set(live.asked) & set(live.scopes)))
    fits = fits and (not live.workspace or live.workspace in live.workspaces)
    assert access(live).outcome == (
        Admitted(Presented.TOKEN) if fits else NotAdmitted(Refusal.FORBIDDEN)
    )


# --- rate -----------------------------------------------------------------------------------------

rates = st.builds(
    RateFacts,
    requests=st.integers(1, 10**6),
    seconds=st.sampled_from([1, 60, 3600]),
    level=st.none() | st.integers(0, 10**16),
    elapsed_us=st.integers(-(10**12), 10**12),
)


def rate(given_facts: RateFacts) -> Any:
    return decided(RATE, given_facts, None, POLICY).outcome


@given(rates)
def test_a_bucket_is_never_overdrawn_nor_overfull(found: RateFacts) -> None:
    """What is left lies between nothing and a period's requests, and whoever waits as long as told
    is let in.
    """
    outcome = rate(found)
    assert 0 <= outcome.level <= found.requests * found.seconds * COST
    if isinstance(outcome, Spent):
        assert outcome.retry_after_s >= 1
        after = RateFacts(
            requests=found.requests,
            seconds=found.seconds,
            level=outcome.level,
            elapsed_us=outcome.retry_after_s * 1_000_000,
        )
        assert isinstance(rate(after), Granted)


@given(
    st.integers(1, 50), st.sampled_from([1, 60]), st.lists(st.integers(0, 2_000_000), max_size=120)
)
def test_no_window_grants_more_than_its_bucket_and_its_time(
    requests: int, seconds: int, gaps: list[int]
) -> None:
    """However requests are spread, those granted are at most a full bucket and what flowed in
    since; asking in vain costs nothing.
    """
    level: int | None = None
    granted = 0
    for gap in gaps:
        outcome = rate(RateFacts(requests=requests, seconds=seconds, level=level, elapsed_us=gap))
        granted += isinstance(outcome, Granted)
        level = outcome.level
    assert granted <= requests + sum(gaps) * requests // (seconds * COST)
    assert granted >= min(len(gaps), requests)


@given(rates, st.integers(0, 10**9))
def test_more_time_never_refuses(found: RateFacts, more: int) -> None:
    """A later request is granted where an earlier one would have been; a clock that steps back
    fills nothing.
    """
    if isinstance(rate(found), Granted):
        assert isinstance(
            rate(msgspec.structs.replace(found, elapsed_us=found.elapsed_us + more)), Granted
        )
    back = msgspec.structs.replace(found, elapsed_us=-more)
    assert rate(back) == rate(msgspec.structs.replace(found, elapsed_us=0))
