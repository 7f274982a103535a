"""Laws of rule ``entry``: the verb of a turn is the one named or the mode's own, and nothing is put
in the place of what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.assistant import Assistant
from ordain.contracts.catalog import Catalog
from ordain.contracts.conversation import ExecMode
from ordain.contracts.policy import Activation, Policy, SupervisorPolicy, VerbsPolicy
from ordain.contracts.verbs import VerbEffect, VerbSpec
from ordain.rules.decision import FACTS_BYTES
from ordain.rules.entry import (
    ENTRY,
    ENTRY_OF,
    Entered,
    EntryFacts,
    EntryInputs,
    EntryReason,
    EntryRefused,
)
from tests.unit.rules.given import OPEN, catalog, decided, texts

KNOWN = [*ENTRY_OF.values(), "math.evaluate", "search", "write.note"]


def verb(name: str) -> VerbSpec:
    """A verb of no interest but its name; a mode's own entry is declared as such, as the shipped
    ones are.
    """
    entry = name in {ENTRY_OF[ExecMode.AGENT], ENTRY_OF[ExecMode.COUNCIL]}
    return VerbSpec(
        name=name,
        description="d",
        effect=VerbEffect.READ,
        arguments={},
        input_schema=OPEN,
        entry=entry,
    )


def house(names: Sequence[str]) -> Catalog:
    """A catalog of these verbs."""
    return catalog({name: verb(name) for name in names})


patterns = st.sampled_from(["*", "math.*", "chat_general", "agent_runtime", "write.*", "?"])
policies = st.builds(
    Policy,
    version=st.just(1),
    supervisor=st.builds(SupervisorPolicy, tools=st.lists(patterns, max_size=3)),
    verbs=st.builds(
        VerbsPolicy, default=st.builds(Activation, deny=st.lists(patterns, max_size=1))
    ),
)
names = st.one_of(st.sampled_from(KNOWN), texts)
modes = st.sampled_from(ExecMode)
everything = house(KNOWN)
houses = st.lists(st.sampled_from(KNOWN), unique=True, max_size=6).map(house)


def enter(
    mode: ExecMode, verb: str, tools: Sequence[str], known: Catalog, policy: Policy
) -> Entered | EntryRefused:
    """The rule applied, and held to what every rule owes."""
    facts = EntryFacts(mode=mode, verb=verb, tools=len(tools))
    return decided(ENTRY, facts, EntryInputs(tools=tools, catalog=known), policy).outcome


@given(modes, st.one_of(st.just(""), names), st.lists(names, max_size=4), houses, policies)
def test_an_entry_is_what_was_named_or_the_modes_own(
    mode: ExecMode, verb: str, tools: list[str], known: Catalog, policy: Policy
) -> None:
    """Exactly the named verb, or the mode's own; a refusal names what cannot be had, with a typed
    code.
    """
    outcome = enter(mode, verb, tools, known, policy)
    if isinstance(outcome, Entered):
        assert outcome.verb == (verb or ENTRY_OF[mode])
        assert outcome.verb in known.verbs
        assert known.inactive_reason(outcome.verb, policy.verbs) is None
    else:
        assert outcome.verb in {
            verb or ENTRY_OF[mode],
            *tools,
            verb[:128],
            *(tool[:128] for tool in tools),
        }
        assert outcome.code == "unknown_verb" or outcome.code.split(":")[0] in {
            "inactive_verb",
            "reserved_verb",
        }


@given(modes, st.one_of(st.just(""), names), st.lists(names, max_size=4), houses, policies)
def test_chat_general_is_nobodys_default_but_brains(
    mode: ExecMode, verb: str, tools: list[str], known: Catalog, policy: Policy
) -> None:
    """GW-01 "Verb default `chat_general` applies only to `mode=brain` with verb absent": other
    modes enter it only by name.
    """
    outcome = enter(mode, verb, tools, known, policy)
    if isinstance(outcome, Entered) and outcome.verb == "chat_general":
        assert verb == "chat_general" or (mode is ExecMode.BRAIN and not verb)


@given(modes, st.lists(names, min_size=1, max_size=4), houses, policies)
def test_tools_are_the_named_ones_and_no_others(
    mode: ExecMode, tools: list[str], known: Catalog, policy: Policy
) -> None:
    """B-33 "allowed-tool restriction": the tools are exactly those named, in order and without
    repeats.
    """
    outcome = enter(mode, "", tools, known, policy)
    if isinstance(outcome, Entered):
        assert outcome.tools == tuple(dict.fromkeys(tools))


@given(modes, houses, policies)
def test_policys_tools_hold_no_entry_verb(mode: ExecMode, known: Catalog, policy: Policy) -> None:
    """Where the message names no tools, policy's are active verbs, and no mode's entry is among
    them.
    """
    outcome = enter(mode, "", [], known, policy)
    if isinstance(outcome, Entered):
        assert not set(outcome.tools) & set(ENTRY_OF.values())
        assert all(known.inactive_reason(tool, policy.verbs) is None for tool in outcome.tools)


@given(
    modes, st.one_of(st.just(""), names), st.lists(names, max_size=3), houses, policies, patterns
)
def test_switching_off_never_lets_more_in(
    mode: ExecMode, verb: str, tools: list[str], known: Catalog, policy: Policy, off: str
) -> None:
    """Monotone: a policy that denies more never enters what it refused, and never adds a tool."""
    narrower = policy.verbs.model_copy(
        update={"default": Activation(deny=[*policy.verbs.default.deny, off])}
    )
    before = enter(mode, verb, tools, known, policy)
    after = enter(mode, verb, tools, known, policy.model_copy(update={"verbs": narrower}))
    if isinstance(before, EntryRefused):
        assert isinstance(after, EntryRefused)
    elif isinstance(after, Entered):
        assert set(after.tools) <= set(before.tools)


@pytest.mark.parametrize(
    ("mode", "verb"),
    [
        (mode, ENTRY_OF[other])
        for mode in ExecMode
        for other in (ExecMode.AGENT, ExecMode.COUNCIL)
        if other is not mode
    ],
)
def test_another_modes_entry_is_reserved(mode: ExecMode, verb: str) -> None:
    """A mode does not enter by another mode's own entry."""
    outcome = enter(mode, verb, [], everything, Policy(version=1))
    assert outcome == EntryRefused(verb=verb, code=f"reserved_verb:{verb}")


@pytest.mark.parametrize("mode", ExecMode)
def test_a_mode_without_its_entry_verb_is_refused(mode: ExecMode) -> None:
    """ING-10 "never hard-pin `chat_general`": where the mode's own verb is gone, the turn is a
    typed error and not another verb's.
    """
    own = ENTRY_OF[mode]
    known = house([name for name in KNOWN if name != own])
    decision = decided(
        ENTRY, EntryFacts(mode=mode), EntryInputs(tools=(), catalog=known), Policy(version=1)
    )
    assert decision.outcome == EntryRefused(verb=own, code="unknown_verb")
    assert decision.reason is EntryReason.UNKNOWN_VERB


def test_the_largest_facts_fit() -> None:
    """Facts are at most 1 KiB for the longest verb name that a message may carry."""
    facts = EntryFacts(mode=ExecMode.COUNCIL, verb="\x00" * 128, tools=50, attachments=20, packs=20)
    assert len(msgspec.json.encode(facts)) <= FACTS_BYTES


def enter_with(
    packs: Sequence[str], tools: Sequence[str], known: Catalog, policy: Policy
) -> Entered | EntryRefused:
    """An agent turn that names packs."""
    facts = EntryFacts(mode=ExecMode.AGENT, tools=len(tools), packs=len(packs))
    return decided(
        ENTRY, facts, EntryInputs(tools=tools, catalog=known, packs=packs), policy
    ).outcome


pack_names = st.sampled_from(["one", "two", "none", "executive_pack"])
packing = st.dictionaries(
    st.sampled_from(["one", "two"]),
    st.lists(st.one_of(patterns, st.sampled_from(KNOWN)), max_size=3),
)


@given(
    st.lists(pack_names, min_size=1, max_size=3),
    st.lists(st.sampled_from(KNOWN[3:]), max_size=3),
    packing,
    policies,
)
def test_packs_give_their_active_verbs_and_only_narrow(
    packs: list[str], tools: list[str], held: dict[str, list[str]], policy: Policy
) -> None:
    """C1's packs: tools are active verbs that a named pack holds, within the named tools; an
    unknown pack and an empty rest are refused.
    """
    policy = policy.model_copy(
        update={"supervisor": policy.supervisor.model_copy(update={"packs": held})}
    )
    outcome = enter_with(packs, tools, everything, policy)
    alone = enter_with((), tools, everything, policy)
    if isinstance(alone, EntryRefused):
        assert outcome == alone
    elif unknown := [name for name in packs if name not in held]:
        assert outcome == EntryRefused(verb=unknown[0], code="unknown_pack")
    elif isinstance(outcome, Entered):
        assert outcome.tools
        assert not set(outcome.tools) & set(ENTRY_OF.values())
        assert all(everything.inactive_reason(tool, policy.verbs) is None for tool in outcome.tools)
        wanted = [pattern for name in packs for pattern in held[name]]
        assert all(any(fnmatchcase(tool, pattern) for pattern in wanted) for tool in outcome.tools)
        assert not tools or set(outcome.tools) <= set(tools)
    else:
        assert outcome == EntryRefused(verb=packs[0], code="empty_pack")


@given(st.lists(pack_names, min_size=1, max_size=3), packing, policies)
def test_what_a_catalog_keeps_is_its_own_policys(
    packs: list[str], held: dict[str, list[str]], policy: Policy
) -> None:
    """Which verbs a pattern names is looked up once under the policy of the catalog itself; under
    an equal one, and one that has more or less, it comes out as if nothing had been kept.
    """
    policy = policy.model_copy(
        update={"supervisor": policy.supervisor.model_copy(update={"packs": held})}
    )
    known = catalog({name: verb(name) for name in KNOWN}, policy)
    others = (Policy(version=1), policy.model_copy(deep=True))
    for tried in (known.policy, *others, known.policy):
        apart = catalog({name: verb(name) for name in KNOWN})
        assert enter_with(packs, (), known, tried) == enter_with(packs, (), apart, tried)
        assert enter_with((), (), known, tried) == enter_with((), (), apart, tried)


@given(modes, st.one_of(st.just(""), names), st.lists(names, max_size=3), houses, policies)
def test_settings_may_have_another_verb_answer(
    mode: ExecMode, verb: str, tools: list[str], known: Catalog, policy: Policy
) -> None:
    """Where none is named, in mode brain alone; one that is not there or is switched off is
    refused, and nothing takes its place.
    """
    outcome = enter(
        mode, verb, tools, known.changed(assistant=Assistant(verb="write.note")), policy
    )
    if mode is not ExecMode.BRAIN or verb:
        assert outcome == enter(mode, verb, tools, known, policy)
    elif "write.note" in known.verbs and known.inactive_reason("write.note", policy.verbs) is None:
        assert isinstance(outcome, EntryRefused) or outcome.verb == "write.note"
    else:
        assert isinstance(outcome, EntryRefused)
        assert outcome.verb == "write.note"


def test_what_the_settings_have_answer_has_a_reason_of_its_own() -> None:
    """The header tells a turn that the settings' verb answered from one that named it."""
    changed = everything.changed(assistant=Assistant(verb="search"))
    found = ENTRY.apply(
        EntryFacts(mode=ExecMode.BRAIN), EntryInputs(tools=(), catalog=changed), Policy(version=1)
    )
    assert (found.outcome.verb, found.reason) == ("search", EntryReason.OF_ASSISTANT)
