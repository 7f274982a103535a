"""Malformed proposals, second part: one JSON object that is no directive, contradicts itself, or
asks for what cannot be had.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from ordain.rules.proposals import ProposalReason
from ordain.rules.step import StepReason
from tests.integration.proposals.materials import (
    OUTSIDE,
    Json,
    acting,
    changed,
    directive,
    finishing,
    shown,
    words,
)
from tests.integration.proposals.syntax_classes import made


def drop(*path: str) -> Callable[[Random, Json], None]:
    """Take a key out."""

    def change(_: Random, value: Json) -> None:
        for key in path[:-1]:
            value = value[key]
        del value[path[-1]]

    return change


def put(value: Callable[[Random], Any] | Any, *path: str) -> Callable[[Random, Json], None]:
    """Set a key."""

    def change(random: Random, target: Json) -> None:
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = value(random) if callable(value) else value

    return change


def rename(new: str, *path: str) -> Callable[[Random, Json], None]:
    """Call a key by another name."""

    def change(_: Random, value: Json) -> None:
        for key in path[:-1]:
            value = value[key]
        value[new] = value.pop(path[-1])

    return change


def both(*changes: Callable[[Random, Json], None]) -> Callable[[Random, Json], None]:
    def change(random: Random, value: Json) -> None:
        for each in changes:
            each(random, value)

    return change


def number(random: Random) -> int:
    return random.randrange(10**6)


SHAPE = [
    made(
        "key_missing",
        StepReason.MISSING_KEY,
        changed(directive, drop("thought")),
        changed(directive, drop("finish")),
        changed(acting, drop("action", "tool_id")),
        changed(acting, drop("action", "input")),
        changed(finishing, drop("final_answer", "content")),
    ),
    made(
        "key_by_another_name",
        StepReason.MISSING_KEY,
        changed(directive, rename("thoughts", "thought")),
        changed(directive, rename("Finish", "finish")),
        changed(acting, rename("tool", "action", "tool_id")),
        changed(acting, rename("arguments", "action", "input")),
        changed(finishing, rename("text", "final_answer", "content")),
        changed(acting, rename("tool_name", "action", "tool_id")),
    ),
    made(
        "other_protocol",
        StepReason.MISSING_KEY,
        shown(lambda r: {"name": "weather", "arguments": {"place": words(r)}}),
        shown(
            lambda r: {
                "tool_calls": [
                    {"id": number(r), "function": {"name": "weather", "arguments": words(r)}}
                ]
            }
        ),
        shown(lambda r: {"action": "shelf.find", "action_input": words(r)}),
        shown(lambda r: {"answer": words(r)}),
        shown(lambda r: {"finish": True, "final_text": words(r)}),
        shown(lambda r: {"directive": directive(r)}),
        shown(lambda r: {"type": "object", "properties": {"thought": {"const": words(r)}}}),
    ),
    made(
        "key_unknown",
        StepReason.UNKNOWN_KEY,
        changed(directive, lambda r, v: v.update(confidence=r.random())),
        changed(directive, lambda r, v: v.update({words(r): None})),
        changed(acting, put(words, "action", "reason")),
        changed(finishing, put(words, "final_answer", "summary")),
        changed(directive, put(directive, "next")),
        changed(acting, put(words, "action", "tool_id ")),
    ),
    made(
        "finish_is_no_boolean",
        StepReason.WRONG_TYPE,
        changed(directive, put("true", "finish")),
        changed(directive, put(lambda r: r.randint(0, 1), "finish")),
        changed(directive, put(None, "finish")),
        changed(directive, put([False], "finish")),
        changed(directive, put(lambda r: {"value": True}, "finish")),
        changed(directive, put(0.0, "finish")),
    ),
    made(
        "action_is_no_object",
        StepReason.WRONG_TYPE,
        changed(acting, put("weather", "action")),
        changed(acting, lambda r, v: v.update(action=[v["action"]])),
        changed(acting, lambda r, v: v.update(action=json.dumps(v["action"]))),
        changed(acting, put(False, "action")),
        changed(acting, put(number, "action")),
    ),
    made(
        "tool_id_is_no_text",
        StepReason.WRONG_TYPE,
        changed(acting, put(None, "action", "tool_id")),
        changed(acting, put(number, "action", "tool_id")),
        changed(acting, put(["weather"], "action", "tool_id")),
        changed(acting, put({"name": "weather"}, "action", "tool_id")),
        changed(acting, put(True, "action", "tool_id")),
    ),
    made(
        "input_is_no_object",
        StepReason.WRONG_TYPE,
        changed(acting, lambda r, v: v["action"].update(input=json.dumps(v["action"]["input"]))),
        changed(acting, put(words, "action", "input")),
        changed(acting, put(None, "action", "input")),
        changed(acting, lambda r, v: v["action"].update(input=[v["action"]["input"]])),
        changed(acting, put(number, "action", "input")),
    ),
    made(
        "thought_is_no_text",
        StepReason.WRONG_TYPE,
        changed(directive, put(lambda r: [words(r)], "thought")),
        changed(directive, put(number, "thought")),
        changed(directive, put(lambda r: {"reasoning": words(r)}, "thought")),
        changed(directive, put(True, "thought")),
        changed(directive, put(lambda r: r.random(), "thought")),
    ),
    made(
        "answer_is_no_object",
        StepReason.WRONG_TYPE,
        changed(finishing, put(words, "final_answer")),
        changed(finishing, lambda r, v: v.update(final_answer=[v["final_answer"]])),
        changed(finishing, put(True, "final_answer")),
        changed(finishing, put(number, "final_answer")),
        changed(finishing, lambda r, v: v.update(final_answer=json.dumps(v["final_answer"]))),
    ),
    made(
        "answer_holds_the_wrong_types",
        StepReason.WRONG_TYPE,
        changed(finishing, put(None, "final_answer", "content")),
        changed(finishing, put(lambda r: [words(r)], "final_answer", "content")),
        changed(finishing, put(lambda r: {"text": words(r)}, "final_answer", "content")),
        changed(finishing, put(lambda r: [number(r)], "final_answer", "structured")),
        changed(finishing, put(words, "final_answer", "structured")),
        changed(finishing, put(number, "final_answer", "content")),
    ),
    made(
        "text_that_says_nothing",
        StepReason.EMPTY_TEXT,
        changed(finishing, put("", "final_answer", "content")),
        changed(finishing, put(" \n\t ", "final_answer", "content")),
        changed(acting, put("", "action", "tool_id")),
        changed(acting, put("   ", "action", "tool_id")),
        changed(finishing, put("\u3000\u00a0", "final_answer", "content")),
    ),
]

CONSISTENCY = [
    made(
        "finish_with_action",
        StepReason.FINISH_WITH_ACTION,
        changed(finishing, lambda r, v: v.update(action=acting(r)["action"])),
        changed(acting, put(True, "finish")),
        changed(
            acting, lambda r, v: v.update(finish=True, final_answer=finishing(r)["final_answer"])
        ),
        changed(finishing, put({"tool_id": "no_such_tool", "input": {}}, "action")),
        changed(finishing, put({"tool_id": "weather", "input": {"place": 1}}, "action")),
    ),
    made(
        "finish_without_answer",
        StepReason.FINISH_WITHOUT_ANSWER,
        changed(finishing, put(None, "final_answer")),
        changed(finishing, drop("final_answer")),
        changed(finishing, both(drop("final_answer"), drop("action"))),
        changed(acting, both(put(True, "finish"), put(None, "action"))),
        shown(
            lambda r: {
                "finish": True,
                "thought": f"The answer is: {words(r)}",
                "final_answer": None,
            }
        ),
    ),
    made(
        "act_with_answer",
        StepReason.ACT_WITH_ANSWER,
        changed(acting, lambda r, v: v.update(final_answer=finishing(r)["final_answer"])),
        changed(finishing, put(False, "finish")),
        changed(finishing, both(put(False, "finish"), drop("action"))),
        changed(acting, put(lambda r: {"content": f"I will {words(r)}"}, "final_answer")),
        changed(
            finishing,
            lambda r, v: v.update(finish=False, action={"tool_id": "nothing_like_it", "input": {}}),
        ),
    ),
    made(
        "act_without_action",
        StepReason.ACT_WITHOUT_ACTION,
        changed(acting, put(None, "action")),
        changed(acting, drop("action")),
        changed(acting, both(drop("action"), drop("final_answer"))),
        changed(finishing, both(put(False, "finish"), put(None, "final_answer"))),
        shown(lambda r: {"thought": f"I still think: {words(r)}", "finish": False}),
    ),
]

TOOL = [
    made(
        "tool_nearly_right",
        StepReason.UNKNOWN_TOOL,
        changed(acting, lambda r, v: v["action"].update(tool_id=v["action"]["tool_id"].upper())),
        changed(acting, lambda r, v: v["action"].update(tool_id=" " + v["action"]["tool_id"])),
        changed(acting, lambda r, v: v["action"].update(tool_id=v["action"]["tool_id"] + "()")),
        changed(
            acting, lambda r, v: v["action"].update(tool_id="functions." + v["action"]["tool_id"])
        ),
        changed(acting, put("shelf_find", "action", "tool_id")),
        changed(acting, put("we\u0430ther", "action", "tool_id")),
    ),
    made(
        "tool_invented",
        StepReason.UNKNOWN_TOOL,
        changed(acting, put("Tell the weather.", "action", "tool_id")),
        changed(acting, put(lambda r: f"search_{number(r)}", "action", "tool_id")),
        changed(acting, put("*", "action", "tool_id")),
        changed(acting, put("shelf.find, weather", "action", "tool_id")),
        changed(acting, put(lambda r: words(r)[:100], "action", "tool_id")),
        changed(acting, put("__import__", "action", "tool_id")),
    ),
    made(
        "tool_outside_the_toolset",
        StepReason.TOOL_OUTSIDE,
        *[changed(acting, put(verb, "action", "tool_id")) for verb in OUTSIDE[:3]],
        changed(
            acting,
            lambda r, v: v.update(action={"tool_id": "extract_facts", "input": {"text": words(r)}}),
        ),
        changed(
            acting,
            lambda r, v: v.update(
                action={"tool_id": "summarize_facts", "input": {"facts": [{"text": words(r)}]}}
            ),
        ),
    ),
]


def calling(tool: str, arguments: Callable[[Random], Json]) -> Any:
    return changed(acting, lambda r, v: v.update(action={"tool_id": tool, "input": arguments(r)}))


INPUT = [
    made(
        "input_incomplete",
        StepReason.INPUT_INVALID,
        calling("weather", lambda r: {}),
        calling("weather", lambda r: {"place": words(r)[:40]}),
        calling("weather", lambda r: {"unit": "kelvin"}),
        calling("shelf.find", lambda r: {}),
        calling("shelf.find", lambda r: {"most": r.randint(1, 20)}),
    ),
    made(
        "input_of_another_type",
        StepReason.INPUT_INVALID,
        calling("shelf.find", lambda r: {"topic": number(r)}),
        calling("shelf.find", lambda r: {"topic": "bees", "most": str(number(r))}),
        calling("shelf.find", lambda r: {"topic": [words(r)]}),
        calling("weather", lambda r: {"place": {"city": words(r)}, "unit": "kelvin"}),
        calling("weather", lambda r: {"place": None, "unit": "celsius"}),
        calling("shelf.find", lambda r: {"topic": "bees", "most": r.random() + 1}),
    ),
    made(
        "input_out_of_bounds",
        StepReason.INPUT_INVALID,
        calling("shelf.find", lambda r: {"topic": "bees", "most": 21 + number(r)}),
        calling("shelf.find", lambda r: {"topic": "bees", "most": -number(r)}),
        calling("shelf.find", lambda r: {"topic": words(r) * 4}),
        calling("weather", lambda r: {"place": words(r) + "!" * 40, "unit": "kelvin"}),
        calling("weather", lambda r: {"place": "Oslo", "unit": words(r)}),
    ),
    made(
        "input_with_more_than_asked",
        StepReason.INPUT_INVALID,
        calling("weather", lambda r: {"place": "Oslo", "unit": "kelvin", "when": words(r)}),
        calling("shelf.find", lambda r: {"topic": "bees", words(r): 1}),
        calling("shelf.find", lambda r: {"query": words(r), "topic": "bees"}),
        calling(
            "weather",
            lambda r: {"place": "Oslo", "unit": "kelvin", "tool_id": "weather", "n": number(r)},
        ),
        calling("weather", lambda r: {"place": words(r)[:40], "unit": "celsius", "Unit": "kelvin"}),
    ),
]

PRECEDENCE = [
    made(
        "large_before_shape",
        ProposalReason.TOO_LARGE,
        changed(directive, both(put(lambda r: words(r) * 1500, "extra"), put("no", "finish"))),
        changed(
            acting, both(put(lambda r: [words(r)] * 1500, "action", "tool_id"), drop("thought"))
        ),
        changed(finishing, both(put(lambda r: [words(r)] * 1500, "thought"), put(True, "action"))),
        changed(
            acting,
            both(
                put(lambda r: {words(r): words(r) * 1000}, "action", "input"),
                put("no_such", "action", "tool_id"),
            ),
        ),
        changed(
            acting,
            both(put(True, "finish"), put(lambda r: {"place": words(r) * 1500}, "action", "input")),
        ),
    ),
    made(
        "long_text_before_shape",
        StepReason.TEXT_TOO_LONG,
        changed(directive, both(put(lambda r: words(r) * 200, "thought"), drop("finish"))),
        changed(
            acting, both(put(lambda r: words(r) * 10, "action", "tool_id"), drop("action", "input"))
        ),
        changed(
            finishing,
            both(put(lambda r: words(r) * 600, "final_answer", "content"), put(1, "extra")),
        ),
        changed(finishing, both(put(lambda r: words(r) * 200, "thought"), put("x", "action"))),
        changed(
            acting, both(put(lambda r: words(r) * 10, "action", "tool_id"), put(True, "finish"))
        ),
    ),
    made(
        "missing_before_unknown_and_type",
        StepReason.MISSING_KEY,
        changed(directive, both(drop("thought"), put(words, "extra"))),
        changed(directive, both(drop("finish"), put(number, "thought"))),
        changed(acting, both(drop("action", "input"), put(number, "action", "tool_id"))),
        changed(
            finishing,
            both(drop("final_answer", "content"), put(words, "final_answer", "structured")),
        ),
        changed(acting, both(drop("action", "tool_id"), put(True, "finish"))),
    ),
    made(
        "unknown_key_before_consistency",
        StepReason.UNKNOWN_KEY,
        changed(acting, both(put(True, "finish"), put(words, "extra"))),
        changed(finishing, both(put(False, "finish"), put(words, "final_answer", "why"))),
        changed(acting, both(put("no_such", "action", "tool_id"), put(words, "action", "why"))),
        changed(acting, both(put({}, "action", "input"), put(words, "note"))),
        changed(finishing, both(put(None, "final_answer"), put(number, "score"))),
    ),
    made(
        "consistency_before_tool",
        StepReason.ACT_WITH_ANSWER,
        changed(
            acting,
            both(
                put("no_such", "action", "tool_id"),
                put(lambda r: {"content": words(r)}, "final_answer"),
            ),
        ),
        changed(
            acting,
            both(
                put("extract_facts", "action", "tool_id"),
                put(lambda r: {"content": words(r)}, "final_answer"),
            ),
        ),
        changed(
            acting,
            both(put({}, "action", "input"), put(lambda r: {"content": words(r)}, "final_answer")),
        ),
        changed(
            acting,
            both(
                put({"x": 1}, "action", "input"),
                put(lambda r: {"content": words(r), "structured": {}}, "final_answer"),
            ),
        ),
        changed(
            acting, both(put("", "thought"), put(lambda r: {"content": words(r)}, "final_answer"))
        ),
    ),
    made(
        "tool_before_input",
        StepReason.UNKNOWN_TOOL,
        changed(acting, both(put("no_such", "action", "tool_id"), put({}, "action", "input"))),
        changed(
            acting, both(put("Weather", "action", "tool_id"), put({"place": 1}, "action", "input"))
        ),
        changed(
            acting,
            both(
                put(lambda r: f"w{number(r)}", "action", "tool_id"),
                put({"unit": []}, "action", "input"),
            ),
        ),
        changed(
            acting,
            both(put("shelf.find.more", "action", "tool_id"), put({"most": -1}, "action", "input")),
        ),
        changed(
            acting,
            both(
                put("shelf", "action", "tool_id"), put(lambda r: {words(r): 1}, "action", "input")
            ),
        ),
    ),
]

CLASSES = (*SHAPE, *CONSISTENCY, *TOOL, *INPUT, *PRECEDENCE)
