"""``recall``: memory before an answer, asked for once, bounded, and told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.flows.commission import RecallAsked
from ordain.flows.context import FlowContext
from ordain.flows.recall import (
    QUERY_CHARS,
    RECALL_VERB,
    RECALLED_BYTES,
    Recollection,
    lines_of,
    recall,
    takes_recalled,
)
from ordain.testing import Played, ScriptedEffects, failed, interrupt, kind_of, returned
from tests.unit.flows.house import shipped


async def _recall(context: FlowContext, given: Any) -> Recollection:
    asked = None if given["asked"] is None else RecallAsked(**given["asked"])
    return await recall(context, asked, given["text"], given.get("verb", "chat_general"))


def play(*script: Any, asked: Any = None, **given: Any) -> Played[Recollection]:
    effects = ScriptedEffects(kind_of(_recall, verbs=(RECALL_VERB,)), shipped())
    played = effects.play({"text": "the lamp", **given, "asked": asked}, script)
    assert played.replayed().equal
    return played


def out(played: Played[Recollection]) -> Recollection:
    assert played.output is not None
    return played.output


def found(*texts: str, notice: str = "") -> Any:
    fragments = [
        {
            "id": str(number),
            "text": text,
            "title": "",
            "source": "",
            "kind": "note",
            "score": 1.0,
            "created_at": "2026-01-01",
            "trust": "own",
            "author": "ada",
        }
        for number, text in enumerate(texts)
    ]
    return returned(
        {"fragments": fragments, "method": "text", "mode": "hybrid", "notice": notice},
        verb=RECALL_VERB,
    )


def test_nobody_asked() -> None:
    """Then nothing is recalled, and nothing told."""
    assert out(play()) == Recollection()


def test_what_is_found_is_given_with_its_trust() -> None:
    """Without ids and scores, which are told instead; empty fields are left out."""
    recalled = out(
        play(found("The lamp is red.", notice="by words"), asked={"max_items": 3, "days": 7})
    )
    assert recalled.fragments == (
        {
            "text": "The lamp is red.",
            "kind": "note",
            "created_at": "2026-01-01",
            "trust": "own",
            "author": "ada",
        },
    )
    assert (
        recalled.told["found"],
        recalled.told["given"],
        recalled.told["notice"],
        recalled.error,
    ) == (1, 1, "by words", "")
    assert "The lamp is red." in lines_of(recalled)


def test_the_question_is_bounded() -> None:
    """The message's beginning, and what the message asked of memory."""
    played = play(found(), asked={"mode": "deep", "max_items": 2, "days": 3}, text="x" * 5000)
    assert played.calls[0].args == {
        "query": "x" * QUERY_CHARS,
        "max_items": 2,
        "time_window_days": 3,
        "mode": "deep",
    }
    assert lines_of(out(played)) == ""


def test_a_failure_is_told_and_is_the_callers_to_judge() -> None:
    """With the verb's code."""
    recalled = out(play(failed("no_library"), asked={"required": True}))
    assert recalled.error.startswith("no_library")
    assert (recalled.fragments, recalled.told["given"], recalled.told["required"]) == ((), 0, True)


def test_a_verb_that_takes_nothing_recalled_is_not_asked_for() -> None:
    """Nothing is looked for that nobody could use."""
    played = play(asked={}, verb="extract_facts")
    assert (played.asked, out(played).error) == ((), "extract_facts takes nothing recalled")


def test_profiles_are_not_used_and_that_is_told() -> None:
    """A caller that names one hears it."""
    assert "no recall profiles" in out(play(found(), asked={"profile": "p"})).told["profile"]


@given(st.lists(st.integers(0, 4000), max_size=6))
def test_what_is_given_is_bounded(sizes: list[int]) -> None:
    """The best come first, and what does not fit is counted as found, not given."""
    recalled = out(play(found(*("y" * size for size in sizes)), asked={}))
    assert sum(len(one["text"]) for one in recalled.fragments if "text" in one) <= RECALLED_BYTES
    assert recalled.told["found"] == len(sizes)
    assert recalled.told["given"] == len(recalled.fragments)


@pytest.mark.parametrize("in_flight", [False, True])
def test_an_interrupt_passes_through(in_flight: bool) -> None:
    """It is the turn's to tell."""
    assert play(interrupt(in_flight=in_flight), asked={}).output is None


def test_a_place_is_a_template_or_an_argument() -> None:
    """Whichever the verb has, and whatever carries it out: a template that shows it, else an
    argument by which a run gets it.
    """
    data = shipped().data
    plan, agent = data.verbs["chat_general"], data.verbs["agent_runtime"]
    shows, shows_not = "{{ recalled }}", "a\n=====\nb\n"
    for spec, template, takes in (
        (plan, shows, True),
        (plan, shows_not, False),
        (plan.model_copy(update={"flow": "another", "plan": []}), shows, True),
        (plan.model_copy(update={"flow": "another", "plan": []}), shows_not, False),
        (agent, shows_not, True),
        (
            agent.model_copy(update={"input_schema": {"type": "object", "properties": {}}}),
            shows,
            False,
        ),
        (agent.model_copy(update={"flow": None}), shows, False),
    ):
        prompts = {
            **data.prompts,
            **dict.fromkeys(
                {plan.prompt_template, *(step.prompt_template for step in plan.plan)} - {None},
                template,
            ),
        }
        catalog = shipped().changed(prompts=prompts, verbs={"v": spec})
        assert takes_recalled(catalog, "v") == takes
