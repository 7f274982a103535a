"""Agents' cards: the five shipped ones, what a planner is told of them, what they come to together,
and the verb of each.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ordain.contracts.agent_verbs import HANDOFF, HANDOFF_INPUT, agent_verb
from ordain.contracts.cards import (
    AGENT_VERB,
    AgentCard,
    ToolFirst,
    agent_rows,
    card_faults,
    get_agent_schema,
)
from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import CatalogData
from ordain.contracts.council import Seat
from ordain.contracts.floor import raised
from ordain.contracts.verbs import VerbEffect, VerbSpec
from ordain.errors import ConfigurationError
from ordain.testing.catalogs import catalog_of, shipped_policy
from ordain.verbs.cards.folder import shipped_cards

NAMES = st.from_regex(r"\A[a-z][a-z0-9_]{0,8}\Z")
WORDS = st.text(
    st.characters(blacklist_characters="\u2028\u2029", blacklist_categories=("Cc", "Cs")),
    max_size=40,
)
TASK: dict[str, Any] = {
    "task": "Look at Ada's bank.",
    "intent": "A summary.",
    "reason": "domain",
    "payload": {"symbol": "ADA"},
}
ROWS: dict[str, dict[str, Any]] = {
    "creative_agent": {
        "name": "creative_agent",
        "description": "Creates expressive, poetic, or stylistic content.",
        "tools": ["creative.tonecheck"],
        "fallback_agent": "general_agent",
        "confidence_bias": 0.8,
    },
    "research_agent": {
        "name": "research_agent",
        "description": "Finds factual, evidence-backed information.",
        "tools": ["research.search", "research.summarizer"],
        "fallback_agent": "enterprise_agent",
        "confidence_bias": 0.9,
    },
    "finance_agent": {
        "name": "finance_agent",
        "description": "Performs financial analysis and forecasting.",
        "tools": ["finance.snapshot"],
        "fallback_agent": "enterprise_agent",
        "confidence_bias": 0.9,
    },
    "enterprise_agent": {
        "name": "enterprise_agent",
        "description": "Creates workflows, strategies, and executive documentation.",
        "tools": ["enterprise.playbook"],
        "fallback_agent": "research_agent",
        "confidence_bias": 0.85,
    },
    "general_agent": {
        "name": "general_agent",
        "description": "Handles greetings, casual queries, or triage.",
        "tools": [],
        "fallback_agent": None,
        "confidence_bias": 0.6,
    },
}


def card(name: str, **fields: Any) -> AgentCard:
    return AgentCard.model_validate({"name": name, "domain": name, **fields}, strict=False)


def told(name: str) -> dict[str, Any]:
    (row,) = get_agent_schema([shipped_cards()[name]])
    return row


def with_cards(*cards: AgentCard, **verbs: VerbSpec) -> Catalog:
    return Catalog(
        CatalogData(policy=shipped_policy(), verbs=verbs, cards={one.name: one for one in cards})
    )


def test_a_card_has_defaults_for_all_that_a_planner_is_told() -> None:
    """A card says its name and its domain, and needs to say no more.

    META-01 “Base agent gets `description: str=""`, `tool_preference: list[str]=[]`,
    `fallback_agent: str|None=None`, `confidence_bias: float=1.0`.”
    """
    base = card("base")
    assert (base.description, base.tool_preference, base.fallback_agent, base.confidence_bias) == (
        "",
        [],
        None,
        1.0,
    )


def test_the_creative_research_and_finance_agents_are_as_their_source_says() -> None:
    """Words, tools, fallbacks and numbers.

    META-02 "`creative_agent`: expressive/poetic/stylistic content; tools `creative.tonecheck`;
    fallback `general_agent`; bias 0.8."
    META-03 "`research_agent`: factual, evidence-backed info; tools
    `research.search`,`research.summarizer`; fallback `enterprise_agent`; bias 0.9."
    META-04 "`finance_agent`: financial analysis/forecasting; tools `finance.snapshot`; fallback
    `enterprise_agent`; bias 0.9."
    """
    for name in ("creative_agent", "research_agent", "finance_agent"):
        assert told(name) == ROWS[name]


def test_the_enterprise_and_general_agents_are_as_their_source_says() -> None:
    """Words, tools, fallbacks and numbers.

    META-05 "`enterprise_agent`: workflows, strategies, executive docs; tools `enterprise.playbook`;
    fallback `research_agent`; bias 0.85."
    META-06 "`general_agent`: greetings, casual queries, triage; tools none; fallback None; bias
    0.6."
    """
    for name in ("enterprise_agent", "general_agent"):
        assert told(name) == ROWS[name]


def test_a_planner_is_told_five_things_of_each() -> None:
    """META-07 "A schema helper returns per agent `{name, description, tools, fallback_agent,
    confidence_bias}` (tools = tool_preference).": of the shipped ones the five rows.
    """
    assert {row["name"]: row for row in get_agent_schema(shipped_cards().values())} == ROWS


def test_each_shipped_agent_is_described_and_has_its_place_taken_as_expected() -> None:
    """META-09 "Tests: every agent has non-empty description and the expected fallback": all five,
    and the rows of the prompt have every name (META-09 "the prompt includes all agent names").
    """
    rows = [
        json.loads(line.removeprefix("- "))
        for line in agent_rows(shipped_cards().values()).splitlines()
    ]
    assert [row["name"] for row in rows] == sorted(ROWS)
    assert {row["name"]: row["fallback_agent"] for row in rows if row["description"]} == {
        name: row["fallback_agent"] for name, row in ROWS.items()
    }


def test_those_whose_tools_come_first_are_the_sources() -> None:
    """Finance, research and enterprise are held to what their tools gave; creative and general are
    not.
    """
    first = {name for name, one in shipped_cards().items() if one.tool_first is ToolFirst.ENFORCED}
    assert first == {"finance_agent", "research_agent", "enterprise_agent"}


def test_one_agent_owns_one_primary_domain() -> None:
    """HND-05 "One agent owns one primary domain.": the first has it, whoever else claims it is told
    by name and place; the shipped five share none.
    """
    assert list(card_faults(shipped_cards())) == []
    both = {"ada": card("ada", domain="sums"), "bob": card("bob", domain="sums")}
    assert list(card_faults(both)) == [
        ("bob", (("domain",), "sums belongs to ada: one card owns a domain"))
    ]


def test_whoever_takes_a_place_is_there_and_another() -> None:
    """A card that is nowhere takes no place, none takes its own; two that take each other's are the
    source's own case.
    """
    cards = {
        one.name: one
        for one in (
            card("ada", fallback_agent="eve"),
            card("bob", fallback_agent="bob"),
            card("cy", fallback_agent="dan"),
        )
    }
    cards["dan"] = card("dan", fallback_agent="cy")
    assert list(card_faults(cards)) == [
        ("ada", (("fallback_agent",), "there is no card eve")),
        ("bob", (("fallback_agent",), "bob cannot take its own place")),
    ]


@pytest.mark.parametrize(
    "name", ["", "Ada", "a b", "a.b", "a\n", "a\nb", "ädä", "a" * 65, "1a", "*"]
)
def test_a_name_is_one_word(name: str) -> None:
    """It becomes the end of a verb's id: no line end, no dot, no glob."""
    with pytest.raises(ValidationError):
        AgentCard(name=name, domain="sums")


@pytest.mark.parametrize("words", ["a\rb", "a\x1b[2J", "a\x85b", "a\u2028b", "x" * 2001])
def test_a_description_commands_nothing(words: str) -> None:
    """No terminal, and no line of a prompt."""
    with pytest.raises(ValidationError):
        AgentCard(name="ada", domain="sums", description=words)


@given(st.dictionaries(NAMES, WORDS, max_size=8))
def test_each_card_is_one_row_whatever_it_says_of_itself(said: dict[str, str]) -> None:
    """No description ends a row or begins another: the rows read back are those given."""
    cards = [card(name, description=words) for name, words in said.items()]
    rows = agent_rows(cards).split("\n") if cards else []
    assert [json.loads(row.removeprefix("- ")) for row in rows] == get_agent_schema(
        sorted(cards, key=lambda one: one.name)
    )


@given(NAMES, WORDS)
def test_a_cards_verb_is_made_of_it(name: str, words: str) -> None:
    """Whatever a card says there is a verb, described, that reads, and whose effect nothing
    raises.
    """
    made = agent_verb(card(name, description=words))
    assert (made.name, made.flow, made.effect, made.entry) == (
        f"{AGENT_VERB}{name}",
        HANDOFF,
        VerbEffect.READ,
        False,
    )
    assert made.description.strip()
    assert raised(made) == made


def test_a_catalog_has_a_verb_for_each_card_and_stores_none() -> None:
    """They are made where it is compiled; without cards it is what it was, byte for byte."""
    catalog = with_cards(*shipped_cards().values())
    assert sorted(catalog.verbs) == sorted(f"agent.{name}" for name in ROWS)
    assert catalog.data.verbs == {}
    again = Catalog.from_bytes(catalog.encoded)
    assert (sorted(again.verbs), again.digest) == (sorted(catalog.verbs), catalog.digest)
    assert again.card_of("agent.finance_agent") == shipped_cards()["finance_agent"]
    assert again.card_of("agent.nobody") is None
    assert again.card_of("finance_agent") is None
    assert b'"cards"' not in with_cards().encoded


def test_cards_and_seats_are_in_one_order() -> None:
    """By name, whoever made the catalog and from whatever it is read: a flow that goes through them
    does the same when it is resumed.
    """
    seats = {name: Seat(name=name) for name in ("Pragmatist", "Analyst")}
    made = with_cards(card("bob"), card("ada")).changed(seats=seats)
    assert (list(made.data.cards), list(made.data.seats)) == (
        ["ada", "bob"],
        ["Analyst", "Pragmatist"],
    )
    again = Catalog.from_bytes(made.encoded)
    assert (list(again.data.cards), list(again.data.seats), list(again.verbs)) == (
        list(made.data.cards),
        list(made.data.seats),
        list(made.verbs),
    )


def test_a_verb_and_a_card_do_not_share_an_id() -> None:
    """Whose call it is must be plain: a catalog in which both have it is refused."""
    own = VerbSpec(name="agent.ada", description="Mine.", effect=VerbEffect.READ)
    with pytest.raises(ConfigurationError, match=r"agent\.ada is the handoff to a card") as error:
        Catalog(
            CatalogData(
                policy=shipped_policy(), verbs={"agent.ada": own}, cards={"ada": card("ada")}
            )
        )
    assert error.value.code == "duplicate_verb"
    assert list(with_cards(card("bob"), **{"agent.ada": own}).verbs) == ["agent.ada", "agent.bob"]


@pytest.mark.parametrize(
    "changed",
    [
        {"task": ""},
        {"task": "x" * 4001},
        {"intent": None},
        {"reason": "because"},
        {"payload": "prose"},
        {"scope": ["*"]},
        {"source": "finance_agent"},
        {"trace": {}},
        {"budget": 1},
        {"forward_skills": "math.evaluate"},
        {"priority": "urgent"},
        {"return_expected": "yes"},
        {"tools": [""]},
        {"tools": ["math.evaluate"] * 51},
    ],
)
def test_what_is_no_wish_is_no_argument(changed: dict[str, Any]) -> None:
    """A caller names task, intent, reason and payload, and wishes; scope, source, budget and trace
    are not its to say.
    """
    accepts = with_cards(card("ada")).verbs["agent.ada"].input.accepts
    wishes = {
        "forward_skills": ["math.evaluate"],
        "priority": "high",
        "return_expected": False,
        "tools": ["a"],
        "fallback_tools": [],
    }
    assert accepts(TASK)
    assert accepts({**TASK, **wishes})
    assert not accepts({**TASK, **changed})


@pytest.mark.parametrize("name", ["task", "intent", "reason", "payload"])
def test_what_a_handoff_needs_is_given(name: str) -> None:
    """Each of the four."""
    assert (
        not with_cards(card("ada"))
        .verbs["agent.ada"]
        .input.accepts({key: value for key, value in TASK.items() if key != name})
    )


def test_what_runs_share_of_cards_cannot_be_written_to() -> None:
    """Neither the cards nor the schemas of their verbs, which all of them have alike."""
    catalog = with_cards(card("ada", tool_preference=["a"]), card("bob"))
    with pytest.raises(TypeError, match="copy it first"):
        catalog.data.cards["ada"].tool_preference.append("b")
    properties: Any = catalog.verbs["agent.ada"].spec.input_schema["properties"]
    with pytest.raises(TypeError, match="copy it first"):
        properties["task"].pop("maxLength")
    assert catalog.verbs["agent.bob"].spec.input_schema == dict(HANDOFF_INPUT)


def test_a_catalog_without_cards_has_no_such_verb() -> None:
    """As those of earlier builds."""
    assert not [verb for verb in catalog_of().verbs if verb.startswith(AGENT_VERB)]
