"""The verdict on what a run did: its order, what makes a failure good, and that it equals a slow
statement of its definition.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ordain.contracts.policy import Policy
from ordain.contracts.verbs import Argument, ArgumentRole, VerbEffect, VerbSpec
from ordain.contracts.verdict import RunVerdict
from ordain.effects.calls import Call
from ordain.flows.act import act
from ordain.flows.acted import Acted, acts_of
from ordain.flows.context import FlowContext
from ordain.journal.digests import call_digest
from ordain.rules.acts import Act, ActEnd, Work, not_made_good, verdict_of
from ordain.rules.header import HeaderFacts, HeaderLine, render_header, with_verdict
from ordain.rules.verdict import VERDICT, VerdictFacts, VerdictInputs
from ordain.testing import ScriptedEffects, catalog_of, failed, kind_of, returned

TEXT: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
OWN = {"text": Argument(role=ArgumentRole.CONTENT)}
EFFECTS = {
    "look": VerbEffect.READ,
    "find": VerbEffect.READ,
    "write": VerbEffect.PRIVATE,
    "send": VerbEffect.ADMIN,
}


def leaf(name: str) -> VerbSpec:
    """A leaf verb of this effect; one that needs an approval is denied."""
    arguments = {} if EFFECTS[name] is VerbEffect.READ else OWN
    return VerbSpec(
        name=name,
        description=name,
        effect=EFFECTS[name],
        input_schema=TEXT,
        output_schema=TEXT,
        timeout_ms=5000,
        arguments=arguments,
    )


CATALOG = catalog_of(verbs=[leaf(name) for name in EFFECTS])


class Did(NamedTuple):
    """A call that is made in a test, and what becomes of it where it is not denied."""

    verb: str
    text: str
    end: str  # "done", "failed", "unknown", or "denied" whatever it is


def called(did: Did) -> str:
    """What becomes of it: a verb that would need an approval is denied, and of a read nobody has to
    know whether it happened.
    """
    if EFFECTS[did.verb] is VerbEffect.ADMIN or did.end == "denied":
        return "denied"
    return "failed" if did.end == "unknown" and EFFECTS[did.verb] is VerbEffect.READ else did.end


def never_twice(dids: list[Did]) -> list[Did]:
    """The same, but that a call of whose end nobody knows is denied from then on."""
    found: list[Did] = []
    for did in dids:
        before = {(one.verb, one.text) for one in found if called(one) == "unknown"}
        found.append(did._replace(end="denied") if (did.verb, did.text) in before else did)
    return found


def slow(dids: list[Did], *, completed: bool) -> str:
    """The definition in the words of the requirement, one look at everything per sentence and
    nothing shared with the rule.

    RTE-12, FAIL-04: unknown, partial, no tool succeeded, nothing done, ok, in this order. Code
    wrote the answer of every run here.
    """
    ends = [called(did) for did in dids]
    if "unknown" in ends:
        return "unknown"
    for at, did in enumerate(dids):
        if ends[at] not in ("failed", "denied"):
            continue
        later = [dids[after] for after in range(at + 1, len(dids)) if ends[after] == "done"]
        read = EFFECTS[did.verb] is VerbEffect.READ
        if read and any(one.verb == did.verb for one in later):
            continue
        if any((one.verb, one.text) == (did.verb, did.text) for one in later):
            continue
        return "partial"
    if "done" in ends:
        return "ok" if completed else "partial"
    return "no tool succeeded" if dids else "nothing done"


dids = st.lists(
    st.builds(
        Did,
        verb=st.sampled_from(sorted(EFFECTS)),
        text=st.sampled_from("ab"),
        end=st.sampled_from(["done", "done", "failed", "unknown"]),
    ),
    max_size=7,
)


REFUSED = Act(verb="send", call="step 1: send", end=ActEnd.REFUSED)
DONE = Act(verb="look", call="a", end=ActEnd.DONE, reads=True)
RECALLED = structs.replace(DONE, own=True)


@pytest.mark.parametrize(
    ("work", "verdict", "verbs"),
    [
        (
            Work(acts=(REFUSED, DONE), proposed=2, completed=True, answered=True),
            "partial",
            ("send",),
        ),
        (
            Work(acts=(DONE, REFUSED), proposed=2, completed=True, answered=True),
            "partial",
            ("send",),
        ),
        (
            Work(acts=(REFUSED,), proposed=1, completed=True, answered=True),
            "no tool succeeded",
            ("send",),
        ),
        (
            Work(
                acts=(REFUSED, structs.replace(DONE, verb="send")),
                proposed=2,
                completed=True,
                answered=True,
            ),
            "ok",
            (),
        ),
        (Work(acts=(RECALLED,), completed=True), "nothing done", ()),
        (Work(acts=(RECALLED,), completed=True, answered=True), "ok", ()),
        (Work(acts=(RECALLED,), completed=False), "nothing done", ()),
        (
            Work(acts=(RECALLED, REFUSED), proposed=1, completed=True, answered=True),
            "no tool succeeded",
            ("send",),
        ),
    ],
)
def test_what_was_refused_weighs_and_what_code_looked_up_does_not(
    work: Work, verdict: str, verbs: tuple[str, ...]
) -> None:
    """A call that a model proposed and code refused is made good by a success of its verb alone;
    that memory answered is no work done.
    """
    assert (verdict_of(work), not_made_good(work.acts)) == (verdict, verbs)


async def _do(context: FlowContext, given: list[Any]) -> list[Any]:
    done: list[Acted] = [
        await act(context, Call(verb=name, args={"text": text})) for name, text, _ in given
    ]
    return [[str(one.end), one.verb, one.call] for made in done for one in acts_of(context, made)]


KIND = replace(kind_of(_do, verbs=EFFECTS), judged=True)


@given(dids)
def test_a_header_comes_to_what_the_definition_says(made: list[Did]) -> None:
    """Over any sequence of calls, made through the port and folded from the journal; what a flow is
    told of its acts is what its header has.
    """
    made = never_twice(made)
    answers = {
        "done": lambda: returned({"text": "x"}),
        "failed": lambda: failed("no_service"),
        "unknown": lambda: failed("connection", happened=None),
    }
    script = [answers[did.end]() for did in made if called(did) != "denied"]
    played = ScriptedEffects(KIND, CATALOG).play(made, script)
    assert played.facts.verdict == slow(made, completed=True)
    assert played.header.partition(" · ")[0].endswith(played.facts.verdict)
    assert played.output == [[str(one.end), one.verb, one.call] for one in played.facts.acts]
    assert played.replayed().equal
    marks = [line.mark for line in played.lines]
    assert marks == [{"done": "ok", "unknown": "unknown"}.get(called(did), "fail") for did in made]
    assert played.facts.verb_calls == sum(called(did) != "denied" for did in made)


def as_acts(made: list[Did]) -> tuple[Act, ...]:
    """The same as acts, without a journal."""
    return tuple(
        Act(
            verb=did.verb,
            call=call_digest(Call(verb=did.verb, args={"text": did.text})),
            end=ActEnd(called(did)),
            reads=EFFECTS[did.verb] is VerbEffect.READ,
        )
        for did in made
    )


@given(dids, st.booleans())
def test_the_rule_says_what_the_definition_says(made: list[Did], completed: bool) -> None:
    """Whether the run came to its end or not; and the rule that a turn asks agrees with what opens
    its header.
    """
    acts = as_acts(made)
    verdict = verdict_of(Work(acts=acts, completed=completed))
    assert verdict == slow(made, completed=completed)
    facts = VerdictFacts(proposed=0, acts=len(acts), answered=False)
    judged = VERDICT.apply(facts, VerdictInputs(acts=acts), Policy(version=1))
    assert judged.outcome.verdict == slow(made, completed=True)
    assert judged.outcome.verbs == not_made_good(acts)[:5]


@given(dids, dids)
def test_more_success_never_makes_it_worse(made: list[Did], more: list[Did]) -> None:
    """What was not made good is made good or stays; a later success is never what makes something
    bad.
    """
    after = [did for did in more if called(did) == "done"]
    assert set(not_made_good(as_acts(made + after))) <= set(not_made_good(as_acts(made)))


DONE, FAILED = (
    Act(verb="look", call="1", end=ActEnd.DONE, reads=True),
    Act(verb="look", call="1", end=ActEnd.FAILED),
)


@pytest.mark.parametrize(
    ("work", "verdict"),
    [
        (Work(completed=True, answered=True), "ok"),
        (Work(completed=True), "nothing done"),
        (Work(completed=False, answered=True), "nothing done"),
        (Work(completed=True, answered=True, proposed=1), "no tool succeeded"),
        (Work(completed=True, proposed=1, acts=(DONE,)), "ok"),
        (Work(completed=False, acts=(DONE,)), "partial"),
        (Work(completed=True, acts=(FAILED, DONE)), "ok"),
        (Work(completed=True, acts=(DONE, FAILED)), "partial"),
        (Work(completed=True, carries=True), "ok"),
        (
            Work(completed=True, acts=(Act(verb="extract", call="2", end=ActEnd.QUOTED),)),
            "nothing done",
        ),
        (
            Work(
                completed=True,
                answered=True,
                acts=(Act(verb="extract", call="2", end=ActEnd.QUOTED),),
            ),
            "ok",
        ),
    ],
)
def test_each_verdict(work: Work, verdict: str) -> None:
    """The first that holds, by acts, proposals, and who answered."""
    assert verdict_of(work) == RunVerdict(verdict)


FACTS = HeaderFacts(
    run="r1", flow="turn@7", status="completed", reason="ok", models=(), notices=(),
        lines=(HeaderLine(mark="proposal", what="step 1: look"),),
    steps=1, model_calls=1, verb_calls=0, tokens_in=0, tokens_out=0, estimated=False,
        usd_micros=72_966, duration_ms=5, judged=True,
)  # fmt: skip


def test_a_header_is_opened_by_its_verdict() -> None:
    """A proposal has a mark of its own; an answer without a proposed call says that no tool was
    used; a run at work has no verdict yet.
    """
    told = render_header(with_verdict(structs.replace(FACTS, answered=True))).split("\n")
    assert told[:3] == [
        "✓ ok · ordain run r1 · turn@7 · completed · ok",
        "→ step 1: look",
        "· no tool was used",
    ]
    proposed = render_header(with_verdict(structs.replace(FACTS, answered=True, proposed=1)))
    assert proposed.startswith("✗ no tool succeeded · ordain run r1")
    assert "no tool was used" not in proposed
    assert with_verdict(structs.replace(FACTS, status="running")).verdict == ""
    assert with_verdict(structs.replace(FACTS, judged=False, answered=True)).verdict == ""


def test_a_reservation_says_that_it_is_one() -> None:
    """Money booked for attempts that told of no use is not shown as if it had been used."""
    facts = structs.replace(FACTS, reserved_usd_micros=72_966, reserved_tokens=4096)
    told = render_header(structs.replace(facts, reserves_apart=True)).split("\n")[-1]
    assert (
        "0+0 tokens, $0.072966 (reserved for attempts that told of no use: 4096 tokens more, "
        "$0.072966 of the sum), 5 ms"
    ) in told
    plain = render_header(facts).split("\n")[-1]  # as builds before told it
    assert (
        "0+0 tokens, $0.072966 (of it reserved for attempts that told of no use: 4096 tokens, "
        "$0.072966), 5 ms"
    ) in plain
    assert "reserved" not in render_header(FACTS)
