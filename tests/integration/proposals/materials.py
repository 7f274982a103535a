"""What malformed proposals are made from: two verbs and their schemas, valid directives, and ways
in which models present them.

Everything here is drawn from a seeded ``Random``, so that a variant's name (class, generator,
number) is the variant.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Annotated, Any, Literal

from pydantic import Field

from ordain.contracts.schema import Schema
from ordain.rules.reasons import Reason
from ordain.verbs import verb

Json = dict[str, Any]
Generator = Callable[[Random], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MalformedClass:
    """One way for a directive not to be executable: the reason it must be given, and at least five
    generators of it.
    """

    name: str
    reason: Reason
    generators: tuple[Generator, ...]


@verb(effect="read", name="shelf.find")
def find(
    topic: Annotated[str, Field(min_length=1, max_length=60)],
    most: Annotated[int, Field(ge=1, le=20)] = 5,
) -> dict[str, str]:
    """Find books on a topic.

    Args:
        topic: what they are about
        most: how many at most
    """
    return {"found": f"{most} on {topic}"}


@verb(effect="read", name="weather")
def weather(
    place: Annotated[str, Field(max_length=40)], unit: Literal["celsius", "kelvin"]
) -> dict[str, str]:
    """Tell the weather.

    Args:
        place: where
        unit: of the temperature
    """
    return {"weather": f"fair in {place}, 290 {unit}"}


VERBS = (find, weather)
SCHEMAS: Mapping[str, tuple[Schema, ...]] = {
    verb.spec.name: (Schema(verb.spec.input_schema),) for verb in VERBS
}
OUTSIDE = (
    "extract_facts",
    "summarize_facts",
    "propose_next_steps",
    "fetch_url",
    "read_file",
    "calculate",
)
"""Verbs that are registered and not in the toolset."""

SUBJECTS = [
    "the librarian",
    "a courier",
    "our neighbour",
    "the night train",
    "my colleague",
    "this ledger",
    "the harbour",
    "an old map",
    "the committee",
]
ACTIONS = [
    "arrived late",
    "needs repair",
    "was seen in Lyon",
    "holds the key",
    "asked about prices",
    "left a note",
    "runs on Tuesdays",
    "is closed",
]
TOPICS = [
    "bees",
    "tides",
    "old clocks",
    "bread",
    "railways",
    "glass",
    "moss",
    "lighthouses",
    "ink",
    "chess",
    "maps",
    "kites",
    "salt",
    "violins",
    "dunes",
    "owls",
    "ferries",
]
PLACES = [
    "Lyon",
    "Oslo",
    "Kyoto",
    "Porto",
    "Tartu",
    "Ghent",
    "Quito",
    "Hobart",
    "Bergen",
    "Turin",
    "Malmö",
    "Żywiec",
    "Nantes",
    "Leeds",
    "Cork",
]


def words(random: Random) -> str:
    """A sentence that is hardly ever the same twice."""
    return f"{random.choice(SUBJECTS)} {random.choice(ACTIONS)}, case {random.randrange(10**6)}"


def call_input(random: Random, tool: str) -> Json:
    if tool == "shelf.find":
        return {
            "topic": f"{random.choice(TOPICS)} {random.randrange(10**5)}",
            "most": random.randint(1, 20),
        }
    return {
        "place": f"{random.choice(PLACES)} {random.randrange(10**5)}",
        "unit": random.choice(["celsius", "kelvin"]),
    }


def acting(random: Random) -> Json:
    """A valid directive that calls a tool."""
    tool = random.choice(sorted(SCHEMAS))
    action = {"tool_id": tool, "input": call_input(random, tool)}
    return {"thought": words(random), "finish": False, "action": action, "final_answer": None}


def finishing(random: Random) -> Json:
    """A valid directive that finishes."""
    answer: Json = {"content": words(random), "structured": {"case": random.randrange(10**6)}}
    return {"thought": words(random), "finish": True, "action": None, "final_answer": answer}


def directive(random: Random) -> Json:
    return random.choice([acting, finishing])(random)


def write(random: Random, value: Any) -> str:
    """JSON as models lay it out: compact, spaced or indented; with escapes or without."""
    layout: Json = random.choice([{}, {"indent": 2}, {"separators": (",", ":")}, {"indent": "\t"}])
    return json.dumps(value, ensure_ascii=random.random() < 0.3, **layout)


def presented(random: Random, text: str) -> str:
    """The text as models hand it over: bare, fenced, introduced, with a word after it. None of it
    matters (B-26).
    """
    fence = random.choice(["```json\n{}\n```", "```\n{}\n```", "{}", "{}", "\n\n{}\n"])
    before = random.choice(
        ["", "", "Here is my proposal:\n", f"I think {words(random)}.\n\n", "Step: "]
    )
    after = random.choice(["", "", "\nThat is all.", f"\n\n(Because {words(random)}.)"])
    return before + fence.replace("{}", text) + after


def shown(make: Callable[[Random], Any]) -> Generator:
    """A generator that writes and presents the value that ``make`` gives."""

    def generate(random: Random) -> str:
        return presented(random, write(random, make(random)))

    return generate


def changed(base: Callable[[Random], Json], change: Callable[[Random, Json], Any]) -> Generator:
    """A generator that changes one thing in an otherwise valid directive, in place."""

    def make(random: Random) -> Json:
        value = base(random)
        change(random, value)
        return value

    return shown(make)
