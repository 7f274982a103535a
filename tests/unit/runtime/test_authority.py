"""The law of authority: whatever a flow asks of its port, it gets nothing that its first record did not give."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordain.contracts.catalog import Catalog
from ordain.contracts.profiles import ModelProfile
from ordain.effects.effect import Claim, ModelCall, Read, VerbCall
from ordain.errors import FlowFault
from ordain.flows.kind import Kinds
from ordain.flows.verb_plan.kind import VERB_PLAN_KIND
from ordain.journal.records import Status
from ordain.rules.spend import Spend
from ordain.testing import (
    AS_ROOT,
    Played,
    ScriptedEffects,
    Standing,
    catalog_of,
    completed,
    fails,
    joined,
    proposes,
    read,
    returned,
)
from tests.shapes.hostile import HOSTILE, SCOPE, TEMPLATES, VERBS, Op
from tests.shapes.overreach import Bounds

PROFILES = {
    name: ModelProfile(provider="scripted", model=name, usd_micros_per_1k_input=1000, usd_micros_per_1k_output=1000)
    for name in ("default", "second")
}
BUDGET = {"run_tokens": 1000, "run_usd_micros": 900, "run_model_calls": 3, "run_verb_calls": 4}
KINDS = Kinds((HOSTILE, VERB_PLAN_KIND))


def catalog(**budget: Any) -> Catalog:
    return catalog_of(HOSTILE, VERB_PLAN_KIND, policy={"budget": {**BUDGET, **budget}}, verbs=VERBS, profiles=PROFILES, prompts=TEMPLATES)


FREE = catalog()
SHARED = {rest: catalog(day_tokens=1500, day_usd_micros=1500, rest=rest) for rest in (False, True)}
TIGHT = catalog(day_tokens=100, rest=False)
STANDINGS = {
    "root": AS_ROOT,
    "session": Standing(session="s1"),
    "no thoughts": Standing(keep_thoughts=False),
    "child": Standing(child=True, depth=1, scope=SCOPE, allowance=Spend(tokens=500, usd_micros=500, model_calls=2, verb_calls=2)),
    "deep": Standing(child=True, depth=4, scope=SCOPE),
    "nothing": Standing(child=True, depth=1, scope=(), allowance=Spend()),
}

names = st.sampled_from([spec.name for spec in VERBS] + ["no.such"])
amounts = st.sampled_from([-1_000_000, -1, 0, 1, 100, 400, 1000, 1_000_000])
money = st.sampled_from([-1_000_000, 0, 0, 300, 900, 10_000])
calls = st.sampled_from([-1, 0, 0, 1, 2, 9])
later = st.sampled_from([-60_000_000, 0, 0, 1, 10**12])
permits = st.integers(-2, 3)
texts = st.sampled_from(["a", "a", "b"])
sessions = st.sampled_from(["", "s1", "s2"])
digests = st.sampled_from(["right", "right", "none", "wrong"])
authorizing = st.builds(Op, do=st.just("authorize"), verb=names, text=texts)
verbs = st.builds(
    Op,
    do=st.just("verb"),
    verb=names,
    claims=st.just("") | names,
    permit=permits,
    digest=digests,
    text=texts,
    later=later,
    siblings=st.integers(0, 2),
)
deciding = st.builds(
    Op, do=st.just("decide"), claims=st.sampled_from(["authorize", "reserve", "settle", "carve", "forged"]), verb=names, tokens=amounts
)
models = st.builds(
    Op,
    do=st.just("model"),
    tokens=amounts,
    bound=st.sampled_from([-1_000_000, 0, 40, 200, 200, 900]),
    later=later,
    keep=st.booleans(),
    hedge=st.booleans(),
)
claims = st.builds(
    Op, do=st.just("claim"), claims=st.sampled_from(["", "", "other", "attach"]), tokens=amounts, money=money, session=sessions
)
reads = st.builds(Op, do=st.just("read"), claims=st.sampled_from(["", "history"]), session=sessions, later=later)
others = st.builds(Op, do=st.sampled_from(["change", "say", "wait"]), verb=names, text=texts)


def spawning(inner: st.SearchStrategy[tuple[Op, ...]]) -> st.SearchStrategy[Op]:
    return st.builds(
        Op,
        do=st.sampled_from(["children", "children", "performed children"]),
        flow=st.sampled_from(["hostile", "hostile", "verb_plan", "no_such"]),
        verb=st.sampled_from(["plan.own", "plan.other", "note.add"]),
        permit=permits,
        text=texts,
        later=later,
        tokens=amounts,
        money=money,
        calls=calls,
        keep=st.booleans(),
        scope=st.sampled_from([(), ("note.add",), SCOPE, ("note.*",), ("*",), ("note.other",)]),
        siblings=st.integers(1, 3),
        inner=inner,
    )


def programs(nested: int) -> st.SearchStrategy[tuple[Op, ...]]:
    """Port calls in any order; ``nested`` runs deep in a live one."""
    inner = programs(nested - 1) if nested else st.just(())
    return st.lists(
        authorizing | authorizing | verbs | verbs | deciding | models | claims | reads | others | spawning(inner), max_size=8
    ).map(tuple)


def answer(asked: Any) -> Any:
    """Every effect succeeds as far as it can; a model fails at what is charged all the same, every now and then."""
    match asked:
        case ModelCall():
            return fails("connection") if asked.args["text"] == "b" else proposes("", {"done": True}).used(20, 1)
        case VerbCall():
            return returned({"done": True})
        case Read():
            return read([])
        case Claim():
            return None
        case _ if hasattr(asked, "spawns"):
            return joined(*(completed([], spent=spawn.allowance) for spawn in asked.spawns))
        case _:
            return None


def play(ops: tuple[Op, ...], standing: Standing = AS_ROOT, within: Catalog = FREE) -> Played[list[str]]:
    played = ScriptedEffects(HOSTILE, within, standing=standing, kinds=KINDS).play(ops, answer, faults=True)
    Bounds(played.stored, within, KINDS).check()
    replayed = played.replayed()
    assert replayed.equal, replayed
    return played


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(programs(0), st.sampled_from(sorted(STANDINGS)), st.sampled_from([FREE, SHARED[False], SHARED[True]]))
def test_no_port_call_gets_more_than_the_first_record_gave(ops: tuple[Op, ...], standing: str, within: Catalog) -> None:
    """Whatever is asked, in whatever order: nothing runs out of scope, deeper, dearer or later, and the journal replays equal."""
    play(ops, STANDINGS[standing], within)


# --- holes that were found, each on its own ---------------------------------------------------------------------------------------------

SPENT = Op(do="model", bound=400, tokens=100)
CHILD = Op(do="children", permit=-2, tokens=900, money=0, calls=1)
HOLES: dict[str, tuple[tuple[Op, ...], Catalog]] = {
    "children by perform, whose spending nobody books": ((*[msgspec.structs.replace(CHILD, do="performed children")] * 2,), FREE),
    "a forged decision of a shared rule, for which accounts are given back": ((Op(do="decide", claims="carve"),), SHARED[True]),
    "work although the shared accounts refused": ((Op(do="claim", tokens=1000, money=900), SPENT), TIGHT),
    "accounts charged twice": ((Op(do="claim", tokens=1000), Op(do="claim", tokens=400)), SHARED[True]),
    "a call whose bound is less than nothing": ((Op(do="model", tokens=-1_000_000, bound=400, text="b"), *[SPENT] * 3), FREE),
    "a prompt-plan verb without a decision": ((Op(do="children", flow="verb_plan", verb="plan.other", permit=-2),), FREE),
    "a prompt-plan verb by another's permit": (
        (Op(do="authorize"), Op(do="children", flow="verb_plan", verb="plan.other", claims="note.add")),
        FREE,
    ),
    "a prompt-plan verb with other arguments": (
        (Op(do="authorize", verb="plan.own"), Op(do="children", flow="verb_plan", verb="plan.own", given="b")),
        FREE,
    ),
    "a refusal that is swallowed": ((Op(do="decide"), Op(do="say"), Op(do="authorize"), Op(do="verb")), FREE),
}


@pytest.mark.parametrize("hole", HOLES)
def test_holes_that_were_found_are_closed(hole: str) -> None:
    """Each is a fault of the flow: nothing of it goes live, nothing follows it, and the run replays equal."""
    ops, within = HOLES[hole]
    played = play(ops, within=within)
    assert isinstance(played.fault, FlowFault)


def test_honest_work_completes() -> None:
    """What a run may do it can do, each thing up to its bound."""
    plan = Op(do="children", flow="verb_plan", verb="plan.own", permit=2, tokens=300, money=300, calls=0)
    ops = (
        Op(do="claim", tokens=1000, money=900),
        *(Op(do="authorize", verb=name) for name in ("note.add", "note.try", "plan.own")),
        Op(do="verb"),
        *(Op(do="verb", verb="note.try", permit=1) for _ in range(2)),
        plan,
        Op(do="model", tokens=100, bound=200),
        Op(do="children", permit=-2, tokens=100, money=50, calls=0, siblings=2),
        Op(do="wait"),
        Op(do="say"),
    )
    played = play(ops, Standing(session="s1"), SHARED[True])
    assert (played.status, played.output) == (Status.COMPLETED, [])
    assert [one.verb for one in played.calls] == ["note.add", "note.try", "note.try"]
    assert (played.left.verb_calls, len(played.spawns)) == (0, 3)
