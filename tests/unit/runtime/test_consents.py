"""What a run's own records hold of a yes: a fold that gives each one to exactly the calls that it
was given for, once.
"""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from ordain.contracts.approvals import Consent, MayAsk, Subject, Tier
from ordain.effects.calls import Authorized, Call
from ordain.effects.children import Completed
from ordain.effects.effect import ApprovalAsked, Wait, WaitFor
from ordain.effects.results import (
    Answered,
    Approved,
    Expired,
    NotApproved,
    Resubmitted,
    VerbFailed,
    VerbReturned,
    VerbUnknown,
    VerbWithdrawn,
)
from ordain.journal.digests import call_digest
from ordain.journal.records import Started
from ordain.rules.acts import Act, ActEnd
from ordain.rules.authorize import Allow, AuthorizeReason, NeedsApproval, RefusedWhy
from ordain.rules.decision import Decision
from ordain.rules.grant import GrantTaken, NoGrant
from ordain.rules.header import HeaderFacts
from ordain.rules.spend import Spend
from ordain.runtime.consents import Consents

CALLS = [
    Call(verb=name, args={"text": text}) for name in ("post.out", "pay.out") for text in ("a", "b")
]
DIGESTS = [call_digest(call) for call in CALLS]
HEADER = HeaderFacts(
    run="r",
    flow="f@1",
    status="completed",
    reason="ok",
    models=(),
    notices=(),
    lines=(),
    steps=0,
    model_calls=0,
    verb_calls=0,
    tokens_in=0,
    tokens_out=0,
    estimated=False,
    usd_micros=0,
    duration_ms=0,
)
STARTED = Started(
    flow="f",
    flow_version=1,
    catalog="c",
    input=Raw(b"{}"),
    workspace="w",
    principal="p",
    subject="s",
    deadline=1,
    allowance=Spend(),
)
some_calls = st.lists(st.sampled_from(CALLS), min_size=1, max_size=4)


def wait(*calls: Call) -> Wait:
    return Wait(
        what=WaitFor.APPROVAL,
        about="x",
        deadline=1,
        approval=ApprovalAsked(subject=Subject.CALL, calls=calls, tier=Tier.WRITE),
    )


def yes(number: int = 0) -> Approved:
    return Approved(approval=f"a{number}", by="local:ben")


def allowed(call: str, reason: AuthorizeReason = AuthorizeReason.APPROVED) -> Decision[Allow]:
    return Decision(outcome=Allow(call), reason=reason)


@given(st.lists(some_calls, max_size=5), st.lists(st.sampled_from(CALLS), max_size=12))
def test_a_yes_is_for_exactly_its_calls_each_once(
    approved: list[list[Call]], made: list[Call]
) -> None:
    """Whatever is approved and made in whatever order, no call goes out more often than a yes was
    given to that very call.
    """
    consents, left = Consents(MayAsk.PEOPLE), Counter[str]()
    for number, calls in enumerate(approved):
        consents.answered(wait(*calls), yes(number))
        left.update(map(call_digest, calls))
    for call in made:
        digest = call_digest(call)
        has = "approval" in consents.facts(digest)
        assert has == (left[digest] > 0)
        if has:
            consents.decided(call, allowed(digest))
            left[digest] -= 1


@given(
    st.sampled_from(
        [
            NotApproved(approval="a", by="x"),
            Expired(),
            Expired(why="gone"),
            Answered(value=True, by="x"),
        ]
    ),
    some_calls,
)
def test_nothing_but_a_yes_is_one(
    result: NotApproved | Expired | Answered, calls: list[Call]
) -> None:
    """A no, time that is over, and an answer that says yes leave no consent."""
    consents = Consents(MayAsk.PEOPLE)
    consents.answered(wait(*calls), result)
    assert not any({"approval", "grant"} & consents.facts(digest).keys() for digest in DIGESTS)


def test_a_yes_to_a_wait_that_asked_for_none_is_none() -> None:
    """An approver's word counts where an approver was asked."""
    consents = Consents(MayAsk.PEOPLE)
    consents.answered(Wait(what=WaitFor.ANSWER, about="x", deadline=1), yes())
    assert consents.facts(DIGESTS[0]) == {"may_ask": MayAsk.PEOPLE}


def test_other_arguments_leave_the_first_call_without_a_yes() -> None:
    """Neither what was asked for nor what is proposed instead is approved by that."""
    consents = Consents(MayAsk.PEOPLE)
    consents.answered(wait(CALLS[0]), Resubmitted(approval="a", by="x", call=CALLS[1]))
    assert all("approval" not in consents.facts(digest) for digest in DIGESTS)


def test_of_a_run_that_may_ask_nobody_nothing_is_told() -> None:
    """Runs of builds before have the very facts that they had."""
    consents = Consents(None)
    consents.answered(wait(CALLS[0]), yes())
    assert consents.facts(DIGESTS[0]) == {}
    assert not consents.may_wait(
        ApprovalAsked(subject=Subject.CALL, calls=(CALLS[0],), tier=Tier.WRITE)
    )


def test_a_grant_is_for_one_call_and_used_up_by_it() -> None:
    """After that grants are looked at again for the same call, and meanwhile not."""
    consents = Consents(MayAsk.GRANTS)
    consents.decided(
        CALLS[0],
        Decision(
            outcome=NeedsApproval(DIGESTS[0], Tier.WRITE, MayAsk.GRANTS),
            reason=AuthorizeReason.NEEDS_GRANT,
        ),
    )
    pending = consents.pending(DIGESTS[0])
    assert pending is not None
    assert (pending.call, pending.tier, consents.pending(DIGESTS[1])) == (
        CALLS[0],
        Tier.WRITE,
        None,
    )
    consents.claimed(DIGESTS[0], GrantTaken("g", "local:ben"))
    assert consents.facts(DIGESTS[0]) == {
        "may_ask": MayAsk.GRANTS,
        "grant": "g",
        "by": "local:ben",
        "grant_asked": True,
    }
    assert consents.facts(DIGESTS[1]) == {"may_ask": MayAsk.GRANTS}
    consents.decided(CALLS[0], allowed(DIGESTS[0], AuthorizeReason.GRANTED))
    assert consents.facts(DIGESTS[0]) == {"may_ask": MayAsk.GRANTS}
    assert consents.pending(DIGESTS[0]) is None


def test_of_a_call_that_may_have_happened_a_person_is_asked() -> None:
    """No grant covers it again, whichever was looked for or taken; a run of a build before goes on
    as it began.
    """
    for asks_again in (True, False):
        consents = Consents(MayAsk.PEOPLE, asks_again=asks_again)
        consents.ended_unknown(Authorized(call=CALLS[0], decision="0/authorize#0"))
        consents.claimed(DIGESTS[0], GrantTaken("g", "local:ben"))
        assert ("grant" not in consents.facts(DIGESTS[0])) == asks_again
        assert consents.facts(DIGESTS[0])["grant_asked"]
        consents.answered(wait(CALLS[0]), yes())
        assert consents.facts(DIGESTS[0])["approval"] == "a0"
        assert "grant_asked" not in consents.facts(DIGESTS[1])


def test_what_is_in_doubt_is_so_for_the_whole_tree() -> None:
    """The rule is told of it where the run may ask nobody, too: of its own calls, of those that its
    parent knew of, and of those that a child left so; and a child begins with all of them. A run of
    a build before tells of none.
    """
    own, of_parent, of_child, other = DIGESTS
    ends = {of_child: ActEnd.UNKNOWN, other: ActEnd.DONE}
    acts = tuple(Act(verb="post.out", call=call, end=end) for call, end in ends.items())
    child = Completed(child="c", value=Raw(b"null"), header=replace(HEADER, acts=acts))
    for known in ((of_parent,), None):
        consents = Consents(None, asks_again=True, doubted=known)
        consents.ended_unknown(Authorized(call=CALLS[0], decision="0/authorize#0"))
        consents.joined(None, child)
        doubted = () if known is None else tuple(sorted((own, of_parent, of_child)))
        assert tuple(one for one in sorted(DIGESTS) if consents.facts(one)) == doubted
        begun = consents.begin(STARTED, Consent(id="a", by="local:ben"))
        assert begun.doubted == doubted
        assert begun.consent is not None


def test_a_call_that_was_held_back_is_in_doubt_from_then_on() -> None:
    """The rule is told that a person may be asked; a run of a build before tells nothing of that,
    and what was withdrawn for another reason is in no doubt.
    """
    held = VerbWithdrawn(message="m", in_doubt=True)
    for redoes in (True, False):
        consents = Consents(MayAsk.PEOPLE, asks_again=True, doubted=(), redoes=redoes)
        consents.attempted(Authorized(call=CALLS[0], decision="0/authorize#0"), held)
        consents.attempted(
            Authorized(call=CALLS[1], decision="0/authorize#1"), replace(held, in_doubt=False)
        )
        told = consents.facts(DIGESTS[0])
        assert told["in_doubt"] is True
        assert told["grant_asked"] is True
        assert ("redo" in told) is redoes
        assert "in_doubt" not in consents.facts(DIGESTS[1])
        assert consents.begin(STARTED, None).redoes is redoes


def test_a_call_in_doubt_is_settled_by_a_repeat_that_ran() -> None:
    """A repeat that failed leaves it open; one that ran under the same permit settles it, and none
    of another permit does.
    """
    consents = Consents(MayAsk.PEOPLE, asks_again=True)
    one, other = (Authorized(call=CALLS[0], decision=f"{n}/authorize#0") for n in range(2))
    open_one = VerbUnknown(message="m", repeat=VerbFailed(code="down", message="m"))
    ran = VerbReturned(output={})
    for authorized, result, asks in (
        (one, open_one, True),
        (one, open_one, True),
        (other, ran, True),
        (one, ran, False),
        (other, VerbUnknown(message="m"), True),
        (other, ran, True),
    ):
        consents.attempted(authorized, result)
        assert ("grant_asked" in consents.facts(DIGESTS[0])) == asks


def test_no_grant_is_looked_for_twice() -> None:
    """Where none covers a call, people are asked, or it is denied."""
    consents = Consents(MayAsk.PEOPLE)
    consents.claimed(DIGESTS[0], NoGrant())
    consents.answered(wait(CALLS[0]), Expired(why="switched off"))
    assert consents.facts(DIGESTS[0]) == {
        "may_ask": MayAsk.PEOPLE,
        "grant_asked": True,
        "refused": RefusedWhy.WITHDRAWN,
    }
