"""Whether a decision comes out as it is on record, by what would be recorded and by what it
means.
"""

from __future__ import annotations

import msgspec
import pytest

from ordain.journal.records import DecisionBody, raw
from ordain.rules.authorize import (
    AUTHORIZE,
    Allow,
    AuthorizeOutcome,
    AuthorizeReason,
    Deny,
)
from ordain.rules.decision import Decision
from ordain.runtime.flips import Flip, as_recorded, note
from ordain.runtime.policy_changes import PolicyChange

ALLOWED = AuthorizeReason.READ
DENIED = AuthorizeReason.OUT_OF_SCOPE


def recorded(outcome: bytes, reason: AuthorizeReason = ALLOWED) -> DecisionBody:
    """A decision as a journal has it."""
    return DecisionBody(
        addr="1/authorize#0", outcome=msgspec.Raw(outcome), reason=reason, facts=raw({})
    )


def made(
    outcome: AuthorizeOutcome, reason: AuthorizeReason = ALLOWED
) -> Decision[AuthorizeOutcome]:
    """The same decision made again."""
    return Decision(outcome=outcome, reason=reason, address="1/authorize#0")


def test_what_would_be_recorded_alike_is_the_same() -> None:
    """Of the same bytes and the same reason nothing need be read back."""
    body = recorded(bytes(raw(Allow("c"))))
    assert as_recorded(body, made(Allow("c")))
    assert not as_recorded(body, made(Allow("d")))
    assert not as_recorded(body, made(Allow("c"), DENIED))


def test_what_is_written_otherwise_may_mean_the_same() -> None:
    """Bytes of another build, which wrote its fields in another order or spelled out a default, are
    read, and what they say is compared: that is no flip.
    """
    written = bytes(raw(Deny("why")))
    spaced = written.replace(b":", b": ").replace(b",", b", ")
    body = recorded(spaced, DENIED)
    assert not as_recorded(body, made(Deny("why"), DENIED))
    flips: list[Flip] = []
    before = Decision(
        outcome=AUTHORIZE.read_outcome(bytes(body.outcome)),
        reason=AUTHORIZE.reason(body.reason),
        address=body.addr,
    )
    note(flips, before, made(Deny("why"), DENIED), (AUTHORIZE.name, "v"), exact=True)
    assert flips == []


@pytest.mark.parametrize(
    ("verb", "change"), [("mail.send", PolicyChange.NEW_DENY), ("", PolicyChange.OTHER)]
)
def test_a_flip_says_what_it_changes_of_one_call(verb: str, change: PolicyChange) -> None:
    """Where the decision on record was about another call (no verb), nothing is more or less
    allowed.
    """
    flips: list[Flip] = []
    note(flips, made(Allow("c")), made(Deny(), DENIED), (AUTHORIZE.name, verb), exact=False)
    (flip,) = flips
    assert (flip.verb, flip.change, flip.exact, flip.address) == (
        verb,
        change,
        False,
        "1/authorize#0",
    )
