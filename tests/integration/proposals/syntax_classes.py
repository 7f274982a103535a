"""Malformed proposals, first part: text from which no single JSON object can be read, or only one
that is too large.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

from ordain.rules.proposals import ProposalReason
from ordain.rules.reasons import Reason
from ordain.rules.step import StepReason
from tests.integration.proposals.materials import (
    Generator,
    Json,
    MalformedClass,
    acting,
    call_input,
    changed,
    directive,
    finishing,
    presented,
    words,
    write,
)


def made(name: str, reason: Reason, *generators: Generator) -> MalformedClass:
    return MalformedClass(name=name, reason=reason, generators=generators)


def text(base: Callable[[Random], Json], spoil: Callable[[Random, str], str]) -> Generator:
    """A generator that spoils the text of an otherwise valid directive."""

    def generate(random: Random) -> str:
        return presented(random, spoil(random, json.dumps(base(random))))

    return generate


def sub(pattern: str, replacement: str) -> Callable[[Random, str], str]:
    """Spoil the first place that matches."""

    def spoil(random: Random, source: str) -> str:
        spoiled, count = re.subn(pattern, replacement, source, count=1)
        assert count, (pattern, source)
        return spoiled

    return spoil


def _arguments(random: Random) -> str:
    return ", ".join(f'{key}="{value}"' for key, value in call_input(random, "weather").items())


def _yaml(random: Random) -> str:
    return (
        f"thought: {words(random)}\nfinish: false\naction:\n  tool_id: weather\n  input:\n"
        f"    place: {words(random)}\nfinal_answer: null"
    )


PROSE = [
    made(
        "prose_answer",
        ProposalReason.PROSE,
        lambda r: f"{words(r).capitalize()}. Therefore {words(r)}.",
        lambda r: f"Sorry, I cannot help with that: {words(r)}.",
        lambda r: f"FINAL ANSWER: {words(r)}",
        lambda r: "\n".join(f"- {words(r)}" for _ in range(3)),
        lambda r: f"Infinity is not a number, {words(r)}; NaN neither.",
        lambda r: f"| fact | case |\n|---|---|\n| {words(r)} | {r.randrange(10**6)} |",
    ),
    made(
        "prose_that_announces_a_call",
        ProposalReason.PROSE,
        lambda r: f"I will now call weather with place = {words(r)} and unit = kelvin.",
        lambda r: f"Thought: {words(r)}\nAction: shelf.find\nAction Input: {words(r)}",
        lambda r: f"weather({_arguments(r)})",
        lambda r: f"[TOOL_CALL] shelf.find topic={words(r)} [/TOOL_CALL]",
        lambda r: f"Use the tool `weather` for {words(r)}, then finish.",
    ),
    made(
        "markup_instead_of_json",
        ProposalReason.PROSE,
        lambda r: f"<tool_call><name>weather</name><place>{words(r)}</place></tool_call>",
        lambda r: f"<directive finish='false' thought='{words(r)}'/>",
        lambda r: f'<?xml version="1.0"?>\n<step>\n  <thought>{words(r)}</thought>\n</step>',
        lambda r: f"<html><body><h1>502 Bad Gateway</h1><p>{words(r)}</p></body></html>",
        lambda r: f"<|channel|>analysis<|message|>{words(r)}<|end|>",
    ),
    made(
        "yaml_instead_of_json",
        ProposalReason.PROSE,
        _yaml,
        lambda r: f"```yaml\n{_yaml(r)}\n```",
        lambda r: f"---\n{_yaml(r)}\n...",
        lambda r: f"finish = true\n[final_answer]\ncontent = '{words(r)}'",
        lambda r: f"thought={words(r)}&finish=true&final_answer.content={words(r)}",
    ),
]

BROKEN = [
    made(
        "cut_off",
        ProposalReason.BROKEN,
        lambda r: json.dumps(directive(r))[: r.randint(2, 120)],
        lambda r: f"```json\n{json.dumps(directive(r))[: -r.randint(1, 25)]}",
        lambda r: json.dumps({**finishing(r), "thought": words(r)}, indent=2)[: -r.randint(2, 40)],
        lambda r: f"Here it is: {json.dumps(acting(r))[: -r.randint(1, 3)]}",
        lambda r: (
            json.dumps(acting(r)).partition('"action"')[0]
            + f'"action": {{"tool_id": "weather", "input": {{"place": "{words(r)}'
        ),
    ),
    made(
        "comma_missing",
        ProposalReason.BROKEN,
        text(directive, sub(r', "finish"', ' "finish"')),
        text(directive, sub(r', "action"', ' "action"')),
        text(directive, sub(r', "final_answer"', '\n"final_answer"')),
        text(acting, sub(r', "input"', ' "input"')),
        text(finishing, sub(r', "structured"', ' "structured"')),
    ),
    made(
        "comma_too_many",
        ProposalReason.BROKEN,
        text(acting, sub(r"null}$", "null,}")),
        text(finishing, sub(r"}}}$", "},}}")),
        text(directive, sub(r', "finish"', ',, "finish"')),
        text(directive, sub(r"^{", "{,")),
        text(acting, sub(r'"input": {', '"input": {,')),
    ),
    made(
        "colon_missing_or_equals",
        ProposalReason.BROKEN,
        text(directive, sub(r'"thought":', '"thought" =')),
        text(directive, sub(r'"finish":', '"finish"')),
        text(acting, sub(r'"tool_id":', '"tool_id" =>')),
        text(finishing, sub(r'"content":', '"content"')),
        text(directive, sub(r'"action":', '"action"::')),
    ),
    made(
        "single_quotes",
        ProposalReason.BROKEN,
        lambda r: presented(r, repr(acting(r))),
        lambda r: presented(r, repr(finishing(r))),
        text(directive, sub(r'"thought": "([^"]*)"', r'"thought": \'\1\'')),
        text(directive, sub(r'"finish"', "'finish'")),
        text(acting, sub(r'"tool_id": "([^"]*)"', r"'tool_id': '\1'")),
    ),
    made(
        "keys_without_quotes",
        ProposalReason.BROKEN,
        text(directive, sub(r'"thought":', "thought:")),
        text(directive, sub(r'"finish":', "finish:")),
        text(acting, sub(r'"tool_id":', "tool_id:")),
        text(finishing, sub(r'"content":', "content:")),
        lambda r: presented(r, re.sub(r'"(\w+)":', r"\1:", json.dumps(directive(r)))),
    ),
    made(
        "words_of_another_language",
        ProposalReason.BROKEN,
        text(acting, sub("false", "False")),
        text(finishing, sub("true", "True")),
        text(directive, sub("null", "None")),
        text(directive, sub("null", "undefined")),
        text(finishing, sub("true", "yes")),
    ),
    made(
        "comments",
        ProposalReason.BROKEN,
        text(directive, sub(r', "finish"', r', // what follows\n"finish"')),
        text(directive, sub(r"^{", "{ /* my step */ ")),
        text(directive, sub(r', "action"', r', # the action\n"action"')),
        text(acting, sub(r'"input": {', '"input": { /* place or topic */ ')),
        text(directive, sub(r'"thought"', '<!-- thinking --> "thought"')),
    ),
    made(
        "raw_control_character",
        ProposalReason.BROKEN,
        text(directive, sub(r'"thought": "', '"thought": "first\nthen ')),
        text(directive, sub(r'"thought": "', '"thought": "\t')),
        text(finishing, sub(r'"content": "', '"content": "one\r\ntwo ')),
        text(directive, sub(r'"thought": "', '"thought": "\x07')),
        text(acting, sub(r'"(place|topic)": "', '"\\1": "\n')),
    ),
    made(
        "quote_inside_a_text",
        ProposalReason.BROKEN,
        text(directive, sub(r'"thought": "', '"thought": "they said "yes" and ')),
        text(finishing, sub(r'"content": "', '"content": "the "answer" is ')),
        text(directive, sub(r'"thought": "', '"thought": ""')),
        text(acting, sub(r'"(place|topic)": "', '"\\1": "so-called "')),
        text(directive, sub(r'", "finish"', ', "finish"')),
    ),
    made(
        "unknown_escape",
        ProposalReason.BROKEN,
        text(directive, sub(r'"thought": "', r'"thought": "C:\\new\\qork ')),
        text(directive, sub(r'"thought": "', r'"thought": "\\x41 ')),
        text(finishing, sub(r'"content": "', r'"content": "\\q and \\\\ ')),
        text(directive, sub(r'"thought": "', r'"thought": "\\u12G4 ')),
        text(acting, sub(r'"(place|topic)": "', r'"\1": "50\\% ')),
    ),
    made(
        "braces_that_are_no_json",
        ProposalReason.BROKEN,
        lambda r: f"Call {{tool}} with {words(r)}.",
        lambda r: f"weather {{ place -> {words(r)} }}",
        lambda r: f"\\boxed{{{words(r)}}}",
        lambda r: f"{{{{ {words(r)} }}}}",
        lambda r: f"function step() {{ return '{words(r)}'; }}",
        lambda r: f"I use {{weather}} first: {json.dumps(directive(r))}",
    ),
    made(
        "brace_too_many",
        ProposalReason.BROKEN,
        text(acting, sub(r"}$", "}}")),
        text(finishing, sub(r"}$", "}\n}")),
        text(directive, sub(r"}$", "}}}}")),
        lambda r: f"```json\n{write(r, directive(r))}}}\n```",
        lambda r: f"{write(r, acting(r))} }} That is my step about {words(r)}.",
    ),
]

SEVERAL = [
    made(
        "two_directives",
        ProposalReason.SEVERAL,
        lambda r: write(r, acting(r)) + "\n" + write(r, finishing(r)),
        lambda r: write(r, acting(r)) + write(r, acting(r)),
        lambda r: "".join(f"```json\n{write(r, directive(r))}\n```\n" for _ in range(2)),
        lambda r: f"First {write(r, acting(r))}, and once that is done {write(r, finishing(r))}.",
        lambda r: "\n".join(json.dumps(directive(r)) for _ in range(r.randint(3, 6))),
    ),
    made(
        "directive_and_something_else",
        ProposalReason.SEVERAL,
        lambda r: write(r, directive(r)) + '\n{"confidence": 0.9}',
        lambda r: write(r, {"note": words(r)}) + "\n" + write(r, directive(r)),
        lambda r: write(r, directive(r)) + f"\nI filled {{place}} with {words(r)}.",
        lambda r: f'For example {{"thought": "{words(r)}"}}. Mine: {write(r, directive(r))}',
        lambda r: write(r, directive(r)) + f"\n\n{{ {words(r)}",
    ),
]


NOT_OBJECT = [
    made(
        "list_of_directives",
        ProposalReason.NOT_OBJECT,
        lambda r: write(r, [directive(r)]),
        lambda r: write(r, [acting(r), finishing(r)]),
        lambda r: f"```json\n{write(r, [directive(r)])}\n```",
        lambda r: f"My steps: [{json.dumps(directive(r))}]",
        lambda r: write(r, [[directive(r)], r.randrange(10**6)]),
    ),
    made(
        "directive_in_a_string",
        ProposalReason.NOT_OBJECT,
        lambda r: json.dumps(json.dumps(directive(r))),
        lambda r: json.dumps(f"```json\n{json.dumps(acting(r))}\n```"),
        lambda r: f"```json\n{json.dumps(json.dumps(finishing(r)))}\n```",
        lambda r: json.dumps(json.dumps([directive(r)])),
        lambda r: json.dumps(words(r)),
    ),
    made(
        "bare_value",
        ProposalReason.NOT_OBJECT,
        lambda r: str(r.randrange(10**9)),
        lambda r: repr(r.random() * 10 ** r.randint(-5, 5)),
        lambda r: write(r, [words(r), words(r)]),
        lambda r: f"```json\n{r.randrange(10**9)}\n```",
        lambda r: f"[true, {r.randrange(10**9)}, null]",
    ),
]


def _twice(key: str, value: Callable[[Random], Any]) -> Callable[[Random, str], str]:
    def spoil(random: Random, source: str) -> str:
        return sub(f'"{key}":', f'"{key}": {json.dumps(value(random))}, "{key}":')(random, source)

    return spoil


def _number(written: str) -> Callable[[Random, str], str]:
    def spoil(random: Random, source: str) -> str:
        number = written.replace("#", str(random.randrange(10**6)))
        return sub(r'"(place|topic|case|content)": ("[^"]*"|\d+)', rf'"\1": {number}')(
            random, source
        )

    return spoil


VALUES = [
    made(
        "key_twice",
        ProposalReason.DUPLICATE_KEY,
        text(directive, _twice("thought", words)),
        text(directive, _twice("finish", lambda r: True)),
        text(acting, _twice("tool_id", lambda r: "weather")),
        text(acting, _twice("input", lambda r: {})),
        text(finishing, _twice("content", words)),
        text(finishing, _twice("case", lambda r: r.randrange(10**6))),
    ),
    made(
        "not_a_number",
        ProposalReason.NOT_FINITE,
        text(acting, _number("NaN")),
        text(directive, _number("Infinity")),
        text(finishing, _number("-Infinity")),
        text(acting, _number("[1, NaN, #]")),
        text(finishing, _number('{"deep": [-Infinity, #]}')),
    ),
    made(
        "number_out_of_range",
        ProposalReason.NOT_FINITE,
        text(acting, _number("1e999")),
        text(finishing, _number("-#e400")),
        text(acting, _number("9223372036854775808")),
        text(finishing, _number("-9223372036854775809")),
        text(directive, _number("#" * 5)),
        text(
            directive,
            lambda r, s: sub(r'"finish": \w+', f'"finish": {"9" * r.randint(400, 5000)}')(r, s),
        ),
    ),
    made(
        "half_a_character",
        ProposalReason.ENCODING,
        text(directive, sub(r'"thought": "', r'"thought": "\\ud83d ')),
        text(directive, sub(r'"thought": "', r'"thought": "\\udc00 ')),
        text(finishing, sub(r'"content": "', r'"content": "\\uDBFF.')),
        text(acting, sub(r'"(place|topic)": "', r'"\1": "\\ud800\\ud800')),
        text(acting, sub(r'"(place|topic)": "', r'"\\udfff": 1, "\1": "')),
    ),
]


def _nested(random: Random, depth: int, *, lists: bool = True) -> Any:
    value: Any = words(random)
    for _ in range(depth):
        value = [value] if lists and random.random() < 0.5 else {"in": value}
    return value


def _long(random: Random, least: int) -> str:
    return (words(random) + " ") * (least // 20 + 1)


SIZE = [
    made(
        "too_many_bytes",
        ProposalReason.TOO_LARGE,
        changed(acting, lambda r, v: v["action"]["input"].update(place=_long(r, 40_000))),
        changed(
            finishing,
            lambda r, v: v["final_answer"]["structured"].update(
                {words(r): words(r) for _ in range(900)}
            ),
        ),
        changed(directive, lambda r, v: v.update(notes=[words(r) for _ in range(1200)])),
        changed(finishing, lambda r, v: v["final_answer"].update(content=_long(r, 60_000))),
        lambda r: f"{write(r, acting(r))}\n\nBecause {_long(r, 40_000)}",
        lambda r: _long(r, 1_100_000) + write(r, finishing(r)),
    ),
    made(
        "too_deep",
        ProposalReason.TOO_DEEP,
        changed(
            acting, lambda r, v: v["action"].update(input={"place": _nested(r, r.randint(33, 90))})
        ),
        changed(
            finishing,
            lambda r, v: v["final_answer"].update(
                structured=_nested(r, r.randint(33, 90), lists=False)
            ),
        ),
        changed(directive, lambda r, v: v.update(thought=_nested(r, r.randint(33, 60)))),
        changed(directive, lambda r, v: v.update({words(r): _nested(r, r.randint(33, 60))})),
        text(
            directive,
            lambda r, s: sub(r'"thought": "', f'"thought": {"[" * r.randint(300, 9000)}"')(r, s),
        ),
        lambda r: (
            f'The 5" one: {json.dumps({**acting(r), "deep": _nested(r, r.randint(40, 150))})}'
        ),
    ),
    made(
        "text_too_long",
        StepReason.TEXT_TOO_LONG,
        changed(directive, lambda r, v: v.update(thought=_long(r, 4200)[: r.randint(4001, 4200)])),
        changed(
            finishing,
            lambda r, v: v["final_answer"].update(
                content=_long(r, 17_000)[: r.randint(16_001, 17_000)]
            ),
        ),
        changed(
            acting, lambda r, v: v["action"].update(tool_id=_long(r, 400)[: r.randint(129, 400)])
        ),
        changed(
            acting,
            lambda r, v: v["action"].update(
                tool_id="weather" + "_" * r.randint(130, 900) + str(r.randrange(10**6))
            ),
        ),
        changed(finishing, lambda r, v: v.update(thought=_long(r, 9000)[:9000])),
    ),
]

CLASSES = (*PROSE, *BROKEN, *SEVERAL, *NOT_OBJECT, *VALUES, *SIZE)
