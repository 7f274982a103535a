"""Laws of rule ``attach``: what a message can mean is bounded by the session's state, and by its
wording where nobody suggests.
"""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ordain.contracts.lanes import AttachPolicy
from ordain.contracts.policy import Policy, SessionPolicy
from ordain.ports.sessions import ThreadStatus
from ordain.rules.answer import ExpectedType, Takes
from ordain.rules.attach import (
    ATTACH,
    THREADS_MAX,
    AnswerPending,
    Attached,
    AttachOutcome,
    AttachReason,
    Barred,
    Edit,
    Filler,
    MessageReading,
    NewRequest,
    Override,
    Repair,
    SessionBusy,
    StatusNudge,
    ThreadFact,
    Triage,
    inline,
    possible,
)
from ordain.rules.attachment import AttachFacts
from ordain.rules.decision import FACTS_BYTES
from ordain.rules.reasons import Reason
from ordain.wording.cues import Cues, Partly
from tests.unit.rules.given import decided

grades = st.integers(0, 2)
wordings = st.builds(
    Cues,
    words=st.integers(0, 12),
    question=st.booleans(),
    stop=grades,
    steer=grades,
    nudge=grades,
    trouble=grades,
    filler=grades,
    yes=st.booleans(),
    no=st.booleans(),
    date_time=st.booleans(),
    location=st.booleans(),
    choice=st.sampled_from(["", "A", "B"]),
    order=st.booleans(),
)


@st.composite
def threads(draw: st.DrawFn) -> tuple[ThreadFact, ...]:
    """Threads as a session can have them: a question is open only where a turn is unsettled."""
    found: list[ThreadFact] = []
    for number in draw(st.lists(st.integers(1, 9), unique=True, max_size=THREADS_MAX)):
        live = draw(st.booleans())
        asks = draw(st.sampled_from(["", *ExpectedType])) if live else ""
        status = draw(st.sampled_from(ThreadStatus))
        idle = live and draw(st.booleans())
        barred = draw(st.sampled_from([Barred.NO, *Barred])) if asks else Barred.NO
        fits = bool(asks) and not barred and draw(st.booleans())
        fact = ThreadFact(
            id=number,
            status=str(status),
            live=live,
            idle=idle,
            asks=str(asks),
            fits=fits,
            barred=barred,
        )
        found.append(fact)
    return tuple(found)


@st.composite
def readings(draw: st.DrawFn) -> MessageReading:
    """A reading that a repair question offers."""
    attached = draw(st.sampled_from([Attached.OVERRIDE, Attached.ANSWER]))
    return MessageReading(
        attached=attached,
        thread=draw(st.integers(1, 9)),
        stop=attached is Attached.OVERRIDE and draw(st.booleans()),
    )


@st.composite
def states(draw: st.DrawFn, *, plain: bool = False) -> AttachFacts:
    """Facts of any message in any session; ``plain``: no edit, nobody suggests or chooses."""
    known = draw(threads())
    anchor = draw(st.sampled_from([0, 0, *(thread.id for thread in known), 8]))
    live = sum(thread.live for thread in known)
    found = AttachFacts(
        cues=draw(wordings),
        threads=known,
        approvals=tuple(sorted(draw(st.sets(st.integers(0, len(known) - 1))))) if known else (),
        active=draw(st.sampled_from([0, *(thread.id for thread in known)])),
        anchor=anchor,
        asked=anchor != 0 and draw(st.booleans()),
        closed=anchor != 0 and draw(st.booleans()),
        explicit=draw(st.booleans()),
        at_work=draw(st.integers(0, live)),
        open=draw(st.integers(live, live + 3)),
    )
    if plain:
        return found
    edit = draw(st.sampled_from(Edit))
    if edit is Edit.LIVE and not any(thread.live and thread.id == anchor for thread in known):
        edit = Edit.OVER
    options = draw(st.one_of(st.just(()), st.tuples(readings(), readings())))
    return msgspec.structs.replace(
        found,
        edit=edit,
        may_ask=draw(st.booleans()),
        suggests=draw(st.sampled_from(["", "none", *Attached])),
        suggested_thread=draw(st.integers(0, 9)),
        confidence=draw(st.floats(0, 1)),
        options=options,
        choice=draw(st.sampled_from(["A", "B"])) if options else "",
        asks_back=draw(st.booleans()),
    )


policies = st.builds(
    Policy,
    version=st.just(1),
    session=st.builds(SessionPolicy, max_active=st.integers(1, 6), max_open=st.integers(1, 12)),
    attach=st.builds(AttachPolicy, threshold=st.floats(0, 1)),
)


def attach(facts: AttachFacts, policy: Policy) -> tuple[AttachOutcome, Reason]:
    """The rule applied, and held to what every rule owes."""
    decision = decided(ATTACH, facts, None, policy)
    return decision.outcome, decision.reason


def working(facts: AttachFacts) -> list[ThreadFact]:
    """The threads with unsettled work; a question which of two was meant is none."""
    return [
        thread for thread in facts.threads if thread.live and thread.asks != ExpectedType.CHOICE
    ]


def thread_of(facts: AttachFacts, number: int) -> ThreadFact:
    """A thread of the facts, which must be there."""
    (found,) = [thread for thread in facts.threads if thread.id == number]
    return found


@given(states(), policies)
def test_whatever_is_decided_can_be_carried_out(facts: AttachFacts, policy: Policy) -> None:
    """RTE-08 "Code enforces message attachment/thread selection": every outcome names only threads
    that exist and are in the state that it needs.
    """
    outcome, _ = attach(facts, policy)
    match outcome:
        case Override(thread=number):
            assert thread_of(facts, number).live
        case AnswerPending(thread=number):
            assert thread_of(facts, number).live
            assert thread_of(facts, number).asks
            assert not thread_of(facts, number).barred
        case StatusNudge(thread=number):
            assert thread_of(facts, number).live or thread_of(facts, number).status in {
                "failed",
                "blocked",
            }
        case NewRequest(thread=number):
            assert number in {0, facts.anchor} or any(
                thread.id == number for thread in facts.threads
            )
        case Repair(a=first, b=second):
            assert first.thread != second.thread
            assert thread_of(facts, first.thread).live
            assert thread_of(facts, second.thread).live
        case Filler() | Triage() | SessionBusy():
            pass


@given(states(plain=True), policies)
def test_nothing_is_stopped_by_a_weak_word(facts: AttachFacts, policy: Policy) -> None:
    """Without a suggestion, work is overridden only by wording that means it."""
    weak = msgspec.structs.replace(
        facts,
        cues=msgspec.structs.replace(
            facts.cues, stop=facts.cues.stop % 2, steer=facts.cues.steer % 2
        ),
    )
    outcome, _ = attach(weak, policy)
    assert not isinstance(outcome, Override)
    assert not (isinstance(outcome, Repair) and outcome.a.attached is Attached.OVERRIDE)


@given(states(plain=True), policies)
def test_a_stop_never_begins_anything(facts: AttachFacts, policy: Policy) -> None:
    """A plain order to stop ends something, asks which, or wants nothing: it is never taken for a
    task.
    """
    stop = msgspec.structs.replace(facts.cues, stop=2, steer=0)
    outcome, _ = attach(msgspec.structs.replace(facts, cues=stop, explicit=False), policy)
    assert isinstance(outcome, Override | Repair | Filler | SessionBusy)
    if isinstance(outcome, Override):
        assert outcome.stop


@given(states(plain=True), policies)
def test_no_question_is_answered_by_what_does_not_fit(facts: AttachFacts, policy: Policy) -> None:
    """C5 "answer_to_pending only if it fits expectedType": code alone never attaches an answer that
    does not fit.
    """
    outcome, _ = attach(facts, policy)
    if isinstance(outcome, AnswerPending):
        assert thread_of(facts, outcome.thread).fits


@given(states(plain=True), policies, st.sampled_from(["yes", "no", "hold"]))
def test_what_waits_for_an_approver_gets_no_yes_from_a_message(
    facts: AttachFacts, policy: Policy, word: str
) -> None:
    """Yes, no and wait reach nothing that waits for an approver but a question after it; whom
    nothing is asked they stop nothing and begin nothing.
    """
    says = Cues(words=1, yes=word == "yes", no=word == "no", hold=word == "hold", whole=True)
    waiting = tuple(
        msgspec.structs.replace(one, asks="", fits=False, barred=Barred.NO) for one in facts.threads
    )
    assume(any(one.live for one in waiting))
    quiet = msgspec.structs.replace(
        facts,
        cues=says,
        threads=waiting,
        approvals=tuple(range(len(waiting))),
        explicit=False,
        closed=False,
        asked=False,
    )
    outcome, reason = attach(
        msgspec.structs.replace(quiet, open=min(facts.open, 2 * policy.session.max_open - 1)),
        policy,
    )
    assert isinstance(outcome, StatusNudge)
    assert reason is AttachReason.APPROVAL
    assert thread_of(facts, outcome.thread).live


@given(states(plain=True), policies)
def test_a_nudge_with_something_at_work_wins_over_an_answer(
    facts: AttachFacts, policy: Policy
) -> None:
    """C5 "override > nudge (if a target exists) > fitting answer": a clear nudge is no answer while
    a turn is unsettled.
    """
    assume(working(facts))
    nudge = msgspec.structs.replace(facts.cues, nudge=2, stop=0, steer=0)
    roomy = msgspec.structs.replace(facts, open=min(facts.open, 2 * policy.session.max_open - 1))
    outcome, reason = attach(msgspec.structs.replace(roomy, cues=nudge), policy)
    assert isinstance(outcome, StatusNudge)
    assert reason is AttachReason.NUDGE


@example(
    AttachFacts(
        cues=Cues(words=3, trouble=2, question=True),
        threads=(
            ThreadFact(id=3, status="failed"),
            ThreadFact(id=1, status="in_progress", live=True),
        ),
        anchor=3,
        open=1,
    ),
    Policy(version=1),
)
@given(states(plain=True), policies)
def test_a_nudge_is_about_the_message_it_replies_to(facts: AttachFacts, policy: Policy) -> None:
    """Where the thread replied to works, waits or failed, its state is told, whatever else is at
    work.
    """
    outcome, reason = attach(facts, policy)
    told = [
        thread.id
        for thread in facts.threads
        if thread in working(facts) or thread.status in {"failed", "blocked"}
    ]
    if (
        isinstance(outcome, StatusNudge)
        and max(facts.cues.nudge, facts.cues.trouble) == 2
        and facts.anchor in told
    ):
        assert (outcome.thread, reason) == (facts.anchor, AttachReason.NUDGE)


@given(states(plain=True), policies)
def test_a_strong_override_wins_over_everything(facts: AttachFacts, policy: Policy) -> None:
    """C5: with exactly one turn unsettled, an order to stop is an override, whatever else the words
    could mean.
    """
    assume(working(facts))
    live, *more = working(facts)
    facts = msgspec.structs.replace(
        facts, threads=tuple(thread for thread in facts.threads if thread not in more)
    )
    roomy = msgspec.structs.replace(facts, open=min(facts.open, 2 * policy.session.max_open - 1))
    outcome, _ = attach(
        msgspec.structs.replace(roomy, cues=msgspec.structs.replace(facts.cues, stop=2, steer=0)),
        policy,
    )
    assert outcome == Override(thread=live.id, stop=True)


@given(states(), policies, st.integers(0, 4), st.integers(0, 4))
def test_a_fuller_session_never_accepts_more(
    facts: AttachFacts, policy: Policy, work: int, more: int
) -> None:
    """Monotone: what a session refuses as busy, it refuses with more turns at work or open, too,
    and under narrower caps.
    """
    outcome, _ = attach(facts, policy)
    if isinstance(outcome, SessionBusy):
        fuller = msgspec.structs.replace(
            facts, at_work=facts.at_work + work, open=facts.open + work + more
        )
        assert attach(fuller, policy)[0] == SessionBusy()
        session = policy.session
        narrower = session.model_copy(
            update={
                "max_active": max(1, session.max_active - work),
                "max_open": max(1, session.max_open - more),
            }
        )
        assert attach(facts, policy.model_copy(update={"session": narrower}))[0] == SessionBusy()


@given(states(), policies)
def test_no_new_turn_above_the_caps(facts: AttachFacts, policy: Policy) -> None:
    """A turn in a thread of its own opens only below both caps; an override puts at most one turn
    in the place of another.
    """
    outcome, _ = attach(facts, policy)
    if isinstance(outcome, Triage | NewRequest):
        assert facts.open < policy.session.max_open
    if isinstance(outcome, Override):
        assert facts.open < 2 * policy.session.max_open
    opens = isinstance(outcome, NewRequest) or (isinstance(outcome, Override) and not outcome.stop)
    if opens and not any(
        thread.live and not thread.idle and thread.id == outcome.thread for thread in facts.threads
    ):
        assert facts.at_work < policy.session.max_active


@given(states(), policies)
def test_a_suggestion_chooses_only_what_is_possible(facts: AttachFacts, policy: Policy) -> None:
    """RTE-03 "LLMs may only suggest": a suggested class counts only among those that wording and
    state leave open.
    """
    outcome, reason = attach(facts, policy)
    if reason is AttachReason.SUGGESTED:
        assert Attached(facts.suggests) in possible(facts)
        assert facts.confidence >= policy.attach.threshold
    silent = msgspec.structs.replace(facts, suggests="", may_ask=False)
    if reason is AttachReason.SUGGESTION_REJECTED:
        assert attach(silent, policy)[0] == outcome


@given(states(), policies)
def test_a_suggestion_alone_stops_and_closes_nothing(facts: AttachFacts, policy: Policy) -> None:
    """What a model takes for an override is asked back; it closes no question but by an answer that
    code reads, or one that goes back itself.
    """
    facts = msgspec.structs.replace(facts, asks_back=True)
    outcome, reason = attach(facts, policy)
    if reason not in (AttachReason.SUGGESTED, AttachReason.SUGGESTED_BACK):
        return
    assert not isinstance(outcome, Override)
    if isinstance(outcome, AnswerPending):
        asking = next(thread for thread in facts.threads if thread.id == outcome.thread)
        assert asking.fits or (outcome.partly is Partly.LEANS and asking.takes is Takes.UNCLEAR)
    if isinstance(outcome, Repair):
        assert outcome.b.attached is Attached.NEW_REQUEST
        assert outcome.a.attached in (Attached.OVERRIDE, Attached.ANSWER)
        assert reason is AttachReason.SUGGESTED_BACK


@given(states(), policies, st.floats(0, 1))
def test_a_less_sure_suggestion_never_counts_more(
    facts: AttachFacts, policy: Policy, lower: float
) -> None:
    """Monotone: what is rejected at one confidence is rejected at a lower one."""
    _, reason = attach(facts, policy)
    if reason is AttachReason.SUGGESTION_REJECTED:
        _, again = attach(
            msgspec.structs.replace(facts, confidence=min(lower, facts.confidence)), policy
        )
        assert again is AttachReason.SUGGESTION_REJECTED


@given(states(), policies)
def test_certain_wording_asks_no_model(facts: AttachFacts, policy: Policy) -> None:
    """A model is asked only where wording and state leave the class open and something is
    unsettled.
    """
    if attach(facts, policy)[0] == Triage():
        assert facts.may_ask
        assert any(thread.live for thread in facts.threads)
        settled = attach(msgspec.structs.replace(facts, may_ask=False), policy)
        assert isinstance(settled[0], NewRequest | SessionBusy)


@given(states(), policies)
def test_late_and_superseded_edits_change_nothing(facts: AttachFacts, policy: Policy) -> None:
    """An edit that a later one has overtaken, and a message whose edit came first, want nothing."""
    plain = msgspec.structs.replace(facts, choice="", options=())
    for edit in (Edit.STALE, Edit.SUPERSEDED):
        assert attach(msgspec.structs.replace(plain, edit=edit), policy)[0] == Filler()


@given(states(), policies)
def test_a_choice_does_what_was_offered_or_less(facts: AttachFacts, policy: Policy) -> None:
    """A repair's choice is the reading that was offered, or, where its thread has moved on, a
    request or nothing.
    """
    assume(facts.options)
    outcome, reason = attach(facts, policy)
    chosen = facts.options["AB".index(facts.choice)]
    match outcome:
        case Override(thread=number, stop=stop):
            assert (number, stop, Attached.OVERRIDE) == (
                chosen.thread,
                chosen.stop,
                chosen.attached,
            )
        case AnswerPending(thread=number):
            assert (number, Attached.ANSWER) == (chosen.thread, chosen.attached)
        case Filler():
            assert chosen.stop or thread_of(facts, chosen.thread).barred
        case other:
            assert isinstance(other, NewRequest | SessionBusy)
    assert isinstance(outcome, SessionBusy) or reason is AttachReason.CHOSEN


@given(states(), policies)
def test_what_needs_naming_is_named(facts: AttachFacts, policy: Policy) -> None:
    """C5 inline replies: overrides and repairs always, several live threads always, the active
    thread alone never.
    """
    outcome, _ = attach(facts, policy)
    live = sum(thread.live for thread in facts.threads)
    if isinstance(outcome, Override | Repair) or live > 1:
        assert inline(facts, outcome)
    elif getattr(outcome, "thread", 0) in (0, facts.active):
        assert not inline(facts, outcome)


full = st.integers(10**6, 10**7 - 1)
LARGEST_CUES = Cues(
    words=4000,
    question=True,
    stop=2,
    steer=2,
    nudge=2,
    trouble=2,
    filler=2,
    yes=True,
    no=True,
    date_time=True,
    location=True,
    choice="A",
    order=True,
)


@given(st.lists(full, min_size=THREADS_MAX, max_size=THREADS_MAX), full, st.floats(0, 1))
@example([9_999_999] * THREADS_MAX, 9_999_999, 0.12345678901234568)
def test_the_largest_facts_fit(ids: list[int], number: int, confidence: float) -> None:
    """Facts are at most 1 KiB: six threads with the longest words, seven-digit numbers, every cue,
    and a suggestion or two options.
    """
    asks, status, barred = (
        str(max(names, key=len)) for names in (ExpectedType, ThreadStatus, Barred)
    )
    # what is barred fits nothing
    thread = ThreadFact(id=0, status=status, live=True, asks=asks, barred=Barred(barred))
    facts = AttachFacts(
        cues=LARGEST_CUES,
        approvals=tuple(range(THREADS_MAX)),
        threads=tuple(msgspec.structs.replace(thread, id=id_) for id_ in ids),
        active=number,
        anchor=number,
        asked=True,
        explicit=True,
        at_work=64,
        open=256,
        edit=max(Edit, key=len),
        asks_back=True,
    )
    option = MessageReading(attached=Attached.ANSWER, thread=number, stop=True)
    chosen = msgspec.structs.replace(facts, options=(option, option), choice="B")
    said = msgspec.structs.replace(
        facts, edit=Edit.NONE, asked=False, addressed=True, last=number, aside=True, told=True
    )
    answered = msgspec.structs.replace(said, answered=number, refused=True, revises=True)
    for largest in (said, answered, msgspec.structs.replace(said, paused=number)):
        suggested = msgspec.structs.replace(
            largest, suggests=str(Attached.ANSWER), suggested_thread=number, confidence=confidence
        )
        for facts in (msgspec.structs.replace(largest, may_ask=True), suggested):
            assert len(msgspec.json.encode(facts)) <= FACTS_BYTES
    assert len(msgspec.json.encode(chosen)) <= FACTS_BYTES


def _asking(takes: Takes, partly: Partly, barred: Barred = Barred.NO) -> ThreadFact:
    return ThreadFact(
        id=1,
        status="waiting_for_user",
        live=True,
        asks="yes_no",
        takes=takes,
        partly=partly,
        barred=barred,
    )


@pytest.mark.parametrize(
    ("takes", "partly", "outcome", "reason"),
    [
        (
            Takes.UNCLEAR,
            Partly.LEANS,
            AnswerPending(thread=1, partly=Partly.LEANS),
            AttachReason.UNCLEAR,
        ),
        (Takes.CONDITION, Partly.LEANS, NewRequest(), AttachReason.NEW_REQUEST),
        (
            Takes.UNCLEAR,
            Partly.CONDITION,
            AnswerPending(thread=1, partly=Partly.CONDITION),
            AttachReason.CONDITION,
        ),
        (
            Takes.CONDITION,
            Partly.CONDITION,
            AnswerPending(thread=1, partly=Partly.CONDITION),
            AttachReason.CONDITION,
        ),
        (Takes.UNCLEAR, Partly.MAYBE, NewRequest(), AttachReason.NEW_REQUEST),
        (Takes.NOTHING, Partly.LEANS, NewRequest(), AttachReason.NEW_REQUEST),
    ],
)
def test_what_is_partly_an_answer(
    takes: Takes, partly: Partly, outcome: AttachOutcome, reason: AttachReason
) -> None:
    """It goes back once, a condition at any time; what a question does not take is what it would be
    without it.
    """
    facts = AttachFacts(
        cues=Cues(words=9, whole=True, partly=partly), threads=(_asking(takes, partly),)
    )
    decision = decided(ATTACH, facts, None, Policy(version=1))
    assert (decision.outcome, decision.reason) == (outcome, reason)


def test_what_is_put_to_another_goes_back_to_nobody() -> None:
    """In a session of several people a question is not asked again of whom it was not put to."""
    facts = AttachFacts(
        cues=Cues(words=9, whole=True),
        threads=(_asking(Takes.UNCLEAR, Partly.LEANS, barred=Barred.OTHER),),
    )
    assert decided(ATTACH, facts, None, Policy(version=1)).outcome == NewRequest()


@given(
    st.sampled_from([str(kind) for kind in Attached]),
    st.integers(0, 2),
    st.integers(0, 2),
    st.booleans(),
)
def test_a_model_stops_only_what_the_wording_grades(
    suggests: str, stop: int, steer: int, hold: bool
) -> None:
    """A suggestion alone stops nothing, and a question is not stopped by what may be its answer."""
    working = ThreadFact(id=2, status="in_progress", live=True)
    facts = AttachFacts(
        cues=Cues(words=5, whole=True, stop=min(stop, 1), steer=min(steer, 1), hold=False),
        threads=(_asking(Takes.UNCLEAR, Partly.MAYBE), working),
        suggests=suggests,
        suggested_thread=1 + hold,
        confidence=1.0,
    )
    outcome = decided(ATTACH, facts, None, Policy(version=1)).outcome
    if isinstance(outcome, Override):
        assert max(stop, steer) >= 1
        assert outcome.thread == 2


@pytest.mark.parametrize(
    ("cues", "outcome"),
    [
        (Cues(words=5, whole=True, hold=True), Override(thread=2, stop=True)),
        (Cues(words=5, whole=True, steer=1), Override(thread=2, stop=False)),
        (Cues(words=5, whole=True, stop=1, steer=1), Override(thread=2, stop=True)),
        (Cues(words=5, whole=True), NewRequest()),
        (Cues(words=5, stop=1), Override(thread=2, stop=True)),
        (Cues(words=5, steer=1), Override(thread=2, stop=False)),
        (Cues(words=5, stop=1, steer=1), Override(thread=2, stop=False)),
        (Cues(words=5), NewRequest()),
    ],
)
def test_what_a_suggested_override_does(cues: Cues, outcome: AttachOutcome) -> None:
    """A bare wait, or a graded stop, only stops; what may say something new is handed on; of words
    that grade neither it is none.
    """
    facts = AttachFacts(
        cues=cues,
        threads=(ThreadFact(id=2, status="in_progress", live=True),),
        suggests=str(Attached.OVERRIDE),
        suggested_thread=2,
        confidence=1.0,
    )
    assert decided(ATTACH, facts, None, Policy(version=1)).outcome == outcome


@pytest.mark.parametrize(
    ("cues", "stop"),
    [
        (Cues(words=5, whole=True, steer=1), False),
        (Cues(words=5, whole=True, stop=1), True),
        (Cues(words=2, stop=1), True),
    ],
)
def test_a_suggested_override_is_asked_back(cues: Cues, stop: bool) -> None:
    """The sender says whether the work was meant or the message is a request of its own; what is
    chosen then happens.
    """
    working = ThreadFact(id=2, status="in_progress", live=True)
    facts = AttachFacts(
        cues=cues,
        threads=(working,),
        suggests="override",
        suggested_thread=2,
        confidence=1.0,
        asks_back=True,
    )
    decision = decided(ATTACH, facts, None, Policy(version=1))
    meant = MessageReading(attached=Attached.OVERRIDE, thread=2, stop=stop)
    alone = MessageReading(attached=Attached.NEW_REQUEST, thread=0)
    assert (decision.outcome, decision.reason) == (
        Repair(a=meant, b=alone),
        AttachReason.SUGGESTED_BACK,
    )
    for choice, outcome in (("A", Override(thread=2, stop=stop)), ("B", NewRequest())):
        chosen = AttachFacts(
            cues=cues, threads=(working,), options=(meant, alone), choice=choice, asks_back=True
        )
        assert decided(ATTACH, chosen, None, Policy(version=1)).outcome == outcome


@pytest.mark.parametrize(
    ("takes", "outcome"),
    [
        (Takes.UNCLEAR, AnswerPending(thread=1, partly=Partly.LEANS)),
        (Takes.CONDITION, NewRequest()),
    ],
)
def test_a_suggested_answer_goes_back_once(takes: Takes, outcome: AttachOutcome) -> None:
    """A question that wants a yes, a no or an option is not closed without one; where it went back
    already it stays open.
    """
    facts = AttachFacts(
        cues=Cues(words=5, whole=True),
        threads=(_asking(takes, Partly.MAYBE),),
        suggests="answer_to_pending",
        confidence=1.0,
        asks_back=True,
    )
    assert decided(ATTACH, facts, None, Policy(version=1)).outcome == outcome


def test_a_suggested_free_answer_is_asked_back() -> None:
    """What asks or orders something is the answer to a free question only where its sender says
    so.
    """
    free = ThreadFact(id=1, status="waiting_for_user", live=True, asks=str(ExpectedType.FREEFORM))
    facts = AttachFacts(
        cues=Cues(words=5, whole=True, question=True),
        threads=(free,),
        suggests="answer_to_pending",
        confidence=1.0,
        asks_back=True,
    )
    meant, alone = (
        MessageReading(attached=Attached.ANSWER, thread=1),
        MessageReading(attached=Attached.NEW_REQUEST, thread=0),
    )
    assert decided(ATTACH, facts, None, Policy(version=1)).outcome == Repair(a=meant, b=alone)
    chosen = AttachFacts(
        cues=Cues(words=5), threads=(free,), options=(meant, alone), choice="A", asks_back=True
    )
    assert decided(ATTACH, chosen, None, Policy(version=1)).outcome == AnswerPending(thread=1)


def test_of_many_questions_two_are_offered() -> None:
    """An answer that fits three is asked back about the first two of them."""
    asking = tuple(
        ThreadFact(id=n, status="waiting_for_user", live=True, asks="yes_no", fits=True)
        for n in (3, 1, 2)
    )
    decision = decided(
        ATTACH,
        AttachFacts(cues=Cues(words=1, whole=True, yes=True), threads=asking),
        None,
        Policy(version=1),
    )
    first, second = (MessageReading(attached=Attached.ANSWER, thread=n) for n in (3, 1))
    assert (decision.outcome, decision.reason) == (
        Repair(a=first, b=second),
        AttachReason.AMBIGUOUS,
    )


def test_what_leaves_nothing_open_asks_no_model() -> None:
    """Where the wording allows a new request alone, no model is asked about it."""
    long = Cues(words=60, whole=True, question=True)
    facts = AttachFacts(
        cues=long, threads=(ThreadFact(id=1, status="in_progress", live=True),), may_ask=True
    )
    assert decided(ATTACH, facts, None, Policy(version=1)).outcome == NewRequest()
