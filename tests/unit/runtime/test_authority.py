"""The law of authority: whatever a flow asks of its port, it gets nothing that its first record did
not give.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordain import Ordain, verb
from ordain.app import Extras, with_profile
from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import CatalogData
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.scope import CapabilityScope
from ordain.contracts.verbs import Retry, VerbSpec
from ordain.effects.calls import Call
from ordain.effects.effect import Claim, ModelCall, Read, VerbCall
from ordain.errors import FlowFault
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.flows.shipped import SHIPPED
from ordain.flows.verb_plan.kind import VERB_PLAN_KIND
from ordain.journal.records import Status
from ordain.ports.store import StoredRun
from ordain.rules.spend import Spend
from ordain.settings import load_settings
from ordain.store.sqlite import StoreOptions
from ordain.testing import (
    AS_ROOT,
    ModelScript,
    Played,
    ScriptedEffects,
    ScriptedModels,
    Standing,
    catalog_of,
    completed,
    fails,
    joined,
    kind_of,
    proposes,
    read,
    recorded,
    returned,
    with_policy,
)
from tests.lanes import examples
from tests.replayed import replayed
from tests.shapes.hostile import DO, HOSTILE, SCOPE, TEMPLATES, VERBS, Op, encoded
from tests.shapes.overreach import Bounds

PROFILES = {
    name: ModelProfile(
        provider="scripted", model=name, usd_micros_per_1k_input=1000, usd_micros_per_1k_output=1000
    )
    for name in ("default", "second", "third")
}
BUDGET = {"run_tokens": 1000, "run_usd_micros": 900, "run_model_calls": 3, "run_verb_calls": 4}
LANES = {"profiles": {"local": ["default", "second"], "worker": ["default"], "brain": ["third"]}}
COUNTERFEIT = replace(VERB_PLAN_KIND, name="counterfeit")
"""A kind that carries out verbs, though none names it."""
KINDS = Kinds((HOSTILE, VERB_PLAN_KIND, COUNTERFEIT))


def catalog(**budget: Any) -> Catalog:
    return catalog_of(
        HOSTILE,
        VERB_PLAN_KIND,
        policy={"budget": {**BUDGET, **budget}, "lanes": LANES},
        verbs=VERBS,
        profiles=PROFILES,
        prompts=TEMPLATES,
    )


FREE = catalog()
SHARED = {rest: catalog(day_tokens=1500, day_usd_micros=1500, rest=rest) for rest in (False, True)}
TIGHT = catalog(day_tokens=100, rest=False)
STANDINGS = {
    "root": AS_ROOT,
    "session": Standing(session="s1"),
    "no thoughts": Standing(keep_thoughts=False),
    "child": Standing(
        child=True,
        depth=1,
        scope=SCOPE,
        allowance=Spend(tokens=500, usd_micros=500, model_calls=2, verb_calls=2),
    ),
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
authorizing = st.builds(Op, do=st.just("authorize"), verb=names, text=texts, lies=st.booleans())
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
    Op,
    do=st.just("decide"),
    claims=st.sampled_from(["authorize", "reserve", "settle", "carve", "forged"]),
    verb=names,
    tokens=amounts,
)
models = st.builds(
    Op,
    do=st.just("model"),
    tokens=amounts,
    bound=st.sampled_from([-1_000_000, 0, 40, 200, 200, 900]),
    later=later,
    keep=st.booleans(),
    hedge=st.booleans(),
    lane=st.sampled_from(["own", "own", "own", "none", "ahead", "other", "forged"]),
    profile=st.sampled_from(["default", "default", "second", "third"]),
)
claims = st.builds(
    Op,
    do=st.just("claim"),
    claims=st.sampled_from(["", "", "other", "attach"]),
    tokens=amounts,
    money=money,
    session=sessions,
)
reads = st.builds(
    Op, do=st.just("read"), claims=st.sampled_from(["", "history"]), session=sessions, later=later
)
others = st.builds(
    Op,
    do=st.sampled_from(["change", "say", "wait"]),
    verb=names,
    text=texts,
    through=st.sampled_from([0, 0, -1, 1, 99]),
)


def spawning(inner: st.SearchStrategy[tuple[Op, ...]]) -> st.SearchStrategy[Op]:
    return st.builds(
        Op,
        do=st.sampled_from(["children", "children", "performed children"]),
        flow=st.sampled_from(["hostile", "hostile", "verb_plan", "counterfeit", "no_such"]),
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
        authorizing
        | authorizing
        | verbs
        | verbs
        | deciding
        | models
        | claims
        | reads
        | others
        | spawning(inner),
        max_size=8,
    ).map(tuple)


def answer(asked: Any) -> Any:
    """Every effect succeeds as far as it can; a model fails at what is charged all the same, every
    now and then.
    """
    match asked:
        case ModelCall():
            return (
                fails("connection")
                if asked.args["text"] == "b"
                else proposes("", {"done": True}).used(20, 1)
            )
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


def play(
    ops: tuple[Op, ...], standing: Standing = AS_ROOT, within: Catalog = FREE
) -> Played[list[str]]:
    played = ScriptedEffects(HOSTILE, within, standing=standing, kinds=KINDS).play(
        ops, answer, faults=True
    )
    Bounds(played.stored, within, KINDS).check()
    replayed = played.replayed()
    assert replayed.equal, replayed
    return played


@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.too_slow])
@given(
    programs(0),
    st.sampled_from(sorted(STANDINGS)),
    st.sampled_from([FREE, SHARED[False], SHARED[True]]),
)
def test_no_port_call_gets_more_than_the_first_record_gave(
    ops: tuple[Op, ...], standing: str, within: Catalog
) -> None:
    """Whatever is asked, in whatever order: nothing runs out of scope, deeper, dearer or later, and
    the journal replays equal.
    """
    play(ops, STANDINGS[standing], within)


# --- holes that were found, each on its own -------------------------------------------------------

SPENT = Op(do="model", bound=400, tokens=100)
CHILD = Op(do="children", permit=-2, tokens=900, money=0, calls=1)
HOLES: dict[str, tuple[tuple[Op, ...], Catalog]] = {
    "children by perform, whose spending nobody books": (
        (*[msgspec.structs.replace(CHILD, do="performed children")] * 2,),
        FREE,
    ),
    "a forged decision of a shared rule, for which accounts are given back": (
        (Op(do="decide", claims="carve"),),
        SHARED[True],
    ),
    "work although the shared accounts refused": (
        (Op(do="claim", tokens=1000, money=900), SPENT),
        TIGHT,
    ),
    "accounts charged twice": (
        (Op(do="claim", tokens=1000), Op(do="claim", tokens=400)),
        SHARED[True],
    ),
    "a call whose bound is less than nothing": (
        (Op(do="model", tokens=-1_000_000, bound=400, text="b"), *[SPENT] * 3),
        FREE,
    ),
    "a prompt-plan verb without a decision": (
        (Op(do="children", flow="verb_plan", verb="plan.other", permit=-2),),
        FREE,
    ),
    "a prompt-plan verb by another's permit": (
        (
            Op(do="authorize"),
            Op(do="children", flow="verb_plan", verb="plan.other", claims="note.add"),
        ),
        FREE,
    ),
    "a prompt-plan verb with other arguments": (
        (
            Op(do="authorize", verb="plan.own"),
            Op(do="children", flow="verb_plan", verb="plan.own", given="b"),
        ),
        FREE,
    ),
    "a prompt-plan verb by another kind": (
        (
            Op(do="authorize", verb="plan.own"),
            Op(do="children", flow="counterfeit", verb="plan.own"),
        ),
        FREE,
    ),
    "a leaf by a run": ((Op(do="authorize"), Op(do="children", flow="verb_plan")), FREE),
    "a model without a lane": ((Op(do="model", lane="none"),), FREE),
    "a model of a child's lane": ((Op(do="model", lane="ahead"),), FREE),
    "a model of another purpose's lane": ((Op(do="model", lane="other"),), FREE),
    "a model of a lane that the flow made up": (
        (Op(do="model", lane="forged", profile="third"),),
        FREE,
    ),
    "a model beside those of its lane": ((Op(do="model", profile="third"),), FREE),
    "a hedge beside those of its lane": ((Op(do="model", hedge=True, second="third"),), FREE),
    "a summary of a session by anybody": ((Op(do="say", through=1),), FREE),
    "a summary up to nowhere": ((Op(do="say", through=-1),), FREE),
    "a verb by a name that equals every other": (
        (Op(do="authorize", verb="note.other", lies=True), Op(do="verb", verb="note.other")),
        FREE,
    ),
    "a refusal that is swallowed": (
        (Op(do="decide"), Op(do="say"), Op(do="authorize"), Op(do="verb")),
        FREE,
    ),
}


@pytest.mark.parametrize("hole", HOLES)
def test_holes_that_were_found_are_closed(hole: str) -> None:
    """Each is a fault of the flow: nothing of it goes live, nothing follows it, and the run replays
    equal.
    """
    ops, within = HOLES[hole]
    played = play(ops, within=within)
    assert isinstance(played.fault, FlowFault)


def test_honest_work_completes() -> None:
    """What a run may do it can do, each thing up to its bound."""
    plan = Op(
        do="children", flow="verb_plan", verb="plan.own", permit=2, tokens=300, money=300, calls=0
    )
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


# --- what a turn enters by ------------------------------------------------------------------------

IN_SESSION = Standing(session="s1")
AS_ITS_CHILD = Standing(session="s1", child=True, depth=0, scope=(*SCOPE, "enter.by", "enter.here"))


def entry(name: str, *, session_only: bool = False) -> VerbSpec:
    """A verb that a turn enters by."""
    return VERBS[0].model_copy(update={"name": name, "entry": True, "session_only": session_only})


async def _enter(context: FlowContext, verb_id: str) -> str:
    return context.fx.authorize(Call(verb=verb_id, args={"text": "a"}), context.scope).reason


@pytest.mark.parametrize(
    ("enters", "standing", "verb_id", "reason"),
    [
        (True, IN_SESSION, "enter.by", "authorize.read"),
        (True, IN_SESSION, "enter.here", "authorize.read"),
        (True, AS_ROOT, "enter.by", "authorize.read"),
        (False, IN_SESSION, "enter.by", "authorize.reserved_verb"),
        (False, IN_SESSION, "enter.here", "authorize.reserved_verb"),
        (True, AS_ITS_CHILD, "enter.here", "authorize.reserved_verb"),
        (False, AS_ITS_CHILD, "enter.here", "authorize.reserved_verb"),
        (False, AS_ROOT, "enter.by", "authorize.reserved_verb"),
        (False, AS_ROOT, "enter.here", "authorize.session_only"),
    ],
)
def test_what_a_turn_enters_by_is_no_tool(
    enters: bool, standing: Standing, verb_id: str, reason: str
) -> None:
    """Only a root that enters may call it, whatever a scope says; else it would nest without any
    depth being counted.
    """
    kind = replace(kind_of(_enter, verbs=("enter.by", "enter.here")), enters=enters)
    within = catalog_of(verbs=[entry("enter.by"), entry("enter.here", session_only=True)])
    played = ScriptedEffects(kind, within, standing=standing).play(verb_id)
    assert played.output == reason
    assert played.replayed().equal
    facts = played.decided("authorize")[0].facts
    assert ("reserved" in msgspec.to_builtins(facts)) == (reason == "authorize.reserved_verb")


@pytest.mark.parametrize("standing", [IN_SESSION, AS_ITS_CHILD])
def test_who_escalates_may_call_what_it_escalates_to_and_no_other_entry(standing: Standing) -> None:
    """As a child as well, and that verb alone; what it opens does not escalate again.

    ACH-03 "Agent chain is entered only through a validated path: router `agent_chain`, supervisor
    `escalate_agent_chain`, council `delegate_chain`."
    """
    kind = replace(
        kind_of(_enter, verbs=("enter.by", "enter.here")), escalates=frozenset({"enter.here"})
    )
    within = catalog_of(verbs=[entry("enter.by"), entry("enter.here", session_only=True)])
    reasons = {
        verb: ScriptedEffects(kind, within, standing=standing).play(verb).output
        for verb in ("enter.here", "enter.by")
    }
    assert reasons == {"enter.here": "authorize.read", "enter.by": "authorize.reserved_verb"}
    assert {(kind.name, *kind.escalates) for kind in SHIPPED if kind.escalates} == {
        ("turn", "agent_chain"),
        ("supervisor", "agent_chain"),
        ("council", "agent_chain"),
        ("planner", "agent_chain"),
    }


def test_who_enters() -> None:
    """A session's turn, and who carries out a verb by its name; of what they open nothing does, an
    agent's loop included.
    """
    assert {kind.name for kind in SHIPPED if kind.enters} == {"turn", "verb"}


# --- live -----------------------------------------------------------------------------------------

LIVE_NAMES = {"plan.own": "extract_facts", "plan.other": "summarize_facts"}
LIVE_SCOPE = CapabilityScope(allowed=tuple(LIVE_NAMES.get(name, name) for name in SCOPE))
LIVE = replace(HOSTILE, grant=lambda _, __: LIVE_SCOPE)


class Done(TypedDict):
    done: bool


@verb(name="note.add", effect="read")
async def note_add(text: str) -> Done:
    """Add a note."""
    return {"done": True}


@verb(name="note.try", effect="read", retry=Retry(max_attempts=2))
async def note_try(text: str) -> Done:
    """Try to add a note."""
    return {"done": True}


@verb(name="note.other", effect="read")
async def note_other(text: str) -> Done:
    """Add somebody else's note."""
    return {"done": True}


def named_live(op: Op) -> Op:
    """The same with prompt-plan verbs that the build has, and room enough for their prompts."""
    names = {
        "verb": LIVE_NAMES.get(op.verb, op.verb),
        "claims": LIVE_NAMES.get(op.claims, op.claims),
    }
    return msgspec.structs.replace(op, **names, inner=tuple(map(named_live, op.inner)))


def opened(kind: Kind[Any, Any], verbs: Sequence[Any] = (), **budget: Any) -> Ordain:
    """An Ordain in memory with this kind, not yet started; its model is done with everything."""
    base = with_profile(load_settings(environment={}, home=Path("/nowhere")), PROFILES["default"])
    policy = with_policy(
        Catalog(CatalogData(policy=base.policy)), {"budget": {**BUDGET, **budget}, "lanes": LANES}
    ).policy
    settings = base.model_copy(update={"policy": policy, "profiles": PROFILES})
    script = ModelScript().on(
        "",
        lambda request: (
            fails("connection") if request.inputs.get("text") == "b" else {"done": True}
        ),
    )
    extras = Extras(
        verbs=verbs,
        kinds=(kind, COUNTERFEIT),
        models=dict.fromkeys(PROFILES, ScriptedModels(script)),
        memory=True,
        store=StoreOptions(holder="test", threaded=False),
    )
    return Ordain(settings, extras=extras)


async def settled(ordain: Ordain, ops: tuple[Op, ...]) -> StoredRun:
    """A run of these port calls, once it rests; every run that there is then is held to its first
    record, and replayed.
    """
    run = (await ordain.runtime.open("hostile", encoded(ops), "local:test")).run
    view = await asyncio.wait_for(ordain.runtime.wait(run), 20)
    for row in await ordain.runtime.runs(roots_only=False):
        stored = ordain.store.stored(row.id)
        assert stored is not None
        Bounds(stored, ordain.catalog, ordain.kinds).check()
        assert replayed(ordain.runtime.services, stored).equal
    return view.stored


async def play_live(ops: tuple[Op, ...], **budget: Any) -> StoredRun:
    """Play a hostile flow in a whole Ordain; what the verbs themselves saw is held to its scope and
    calls too.
    """
    recording = [recorded(one) for one in (note_add, note_try, note_other)]
    async with opened(LIVE, [one.verb for one in recording], **budget) as ordain:
        stored = await settled(ordain, tuple(map(named_live, ops)))
    assert sum(len(one.calls) for one in recording) <= BUDGET["run_verb_calls"]
    assert all(LIVE_SCOPE.permits(one.verb.spec.name) for one in recording if one.calls)
    return stored


@settings(
    max_examples=examples(12),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(programs(1), st.booleans())
def test_no_port_call_gets_more_live(ops: tuple[Op, ...], shared: bool) -> None:
    """The same in a whole Ordain with children that are as hostile, whether shared accounts bound
    it or not.
    """
    budget: dict[str, Any] = {"day_tokens": 1500, "rest": True} if shared else {}
    asyncio.run(play_live(ops, **budget))


@pytest.mark.parametrize("hole", sorted(HOLES))
async def test_holes_that_were_found_are_closed_live(hole: str) -> None:
    """In a whole Ordain each stops its run as faulted, with nothing that would have to be waited
    for.
    """
    ops, within = HOLES[hole]
    budget = within.policy.budget
    stored = await play_live(
        ops, day_tokens=budget.day_tokens, day_usd_micros=budget.day_usd_micros, rest=budget.rest
    )
    assert stored.status is Status.FAULTED


async def test_two_effects_at_once_are_a_fault() -> None:
    """A flow that makes two calls beside each other gets neither reserved against what the other
    one takes.
    """

    async def run(context: FlowContext, given: tuple[Op, ...]) -> list[str]:
        first, second = (DO["model"](context, SPENT, []) for _ in range(2))
        try:
            await asyncio.gather(first, second, return_exceptions=True)
        finally:
            second.close()
        return []

    async with opened(replace(LIVE, run=run)) as ordain:
        assert (await settled(ordain, ())).status is Status.FAULTED


async def test_a_session_of_others_stays_closed() -> None:
    """Neither a run of another session is seen, nor is the place of its messages claimed."""
    async with opened(LIVE) as ordain:
        answer = await ordain.chat("hello", session="theirs", user="ada")
        for op in (
            Op(do="read", claims="run", text=answer.run_id or ""),
            Op(do="claim", claims="attach", session="theirs"),
        ):
            stored = await settled(ordain, (op,))
            assert not any(record.kind == "claim" for record in stored.records)
            assert not any(b"chat_general" in (record.body or b"") for record in stored.records[1:])
