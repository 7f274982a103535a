"""Laws of reading a model's answer: total, linear, and nothing invented."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.rules.proposals import (
    PARSE_BYTES,
    PARSE_DEPTH,
    Parsed,
    ProposalReason,
    Unparsed,
    nesting,
    parse_object,
    parse_whole,
    read_text,
)
from tests.lanes import size
from tests.unit.rules.given import json_values

bounded = st.dictionaries(
    st.text(st.characters(codec="utf-8"), max_size=8), json_values, max_size=4
)
prose = st.text(st.characters(codec="utf-8", exclude_characters="{}[]`"), max_size=40)
fences = st.sampled_from(
    ["{}", "```json\n{}\n```", "```\n{}\n```", "```json {} ```", "\n\n{}\n\n", "\ufeff{}"]
)
pieces = [*'{}[]",:\\ntu0129eE+-. \n', "NaN", "null", "\\u", "\\ud800", "```", '"a"', "é"]
json_like = st.lists(st.sampled_from(pieces), max_size=60).map("".join)


def exactly(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@given(
    st.one_of(
        st.text(), json_like, st.binary().map(lambda data: data.decode(errors="surrogateescape"))
    )
)
def test_every_text_is_read(text: str) -> None:
    """Any text gives one object or a reason of syntax or size, the same every time, and its size is
    that of its UTF-8.
    """
    found = parse_object(text)
    assert parse_object(text) == found
    if isinstance(found, Unparsed):
        assert found.reason.startswith(("step.syntax.", "step.size."))
    else:
        assert found.size_bytes == len(text.encode())
        assert 1 <= found.depth <= PARSE_DEPTH


@given(st.one_of(st.text(), json_like))
def test_nothing_is_invented(text: str) -> None:
    """B-26 "Not allowed: inventing missing fields": what is read stands in the text, as JSON,
    letter for letter.
    """
    found = parse_object(text)
    if isinstance(found, Parsed):
        start = text.index("{")
        value, _ = json.JSONDecoder().raw_decode(text, start)
        assert exactly(value) == exactly(found.value)


@given(bounded, prose, fences, prose, st.booleans(), st.sampled_from([None, 2, "\t"]))
def test_an_object_comes_back_from_fences_and_prose(
    value: Any, before: str, fence: str, after: str, escaped: bool, indent: Any
) -> None:
    """B-26 "strip fences/prose around one JSON object": whatever stands around the one object, the
    object is what was written.
    """
    written = json.dumps(value, ensure_ascii=escaped, indent=indent)
    found = parse_object(before + "\n" + fence.replace("{}", written) + "\n" + after)
    assert isinstance(found, Parsed)
    assert exactly(found.value) == exactly(value)


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


@given(bounded, prose, prose)
def test_depth_is_that_of_the_object(value: Any, before: str, after: str) -> None:
    """Nesting is counted as JSON nests: brackets inside texts, and in the words around the object,
    do not count.
    """
    found = parse_object(f"{before} {json.dumps({'v': value, 't': '[[{{'})} {after} [[[[")
    assert isinstance(found, Parsed)
    assert found.depth == 1 + depth_of(value)


@given(bounded, bounded, prose)
def test_two_objects_are_no_proposal(first: Any, second: Any, between: str) -> None:
    """Of several objects none is chosen."""
    found = parse_object(f"{json.dumps(first)}\n{between}\n{json.dumps(second)}")
    assert isinstance(found, Unparsed)
    assert found.reason is ProposalReason.SEVERAL


@given(bounded, prose, st.sampled_from(["[{}]", "[1, {}]", "[{}, 1]", "[ {} , {} ]"]))
def test_an_object_is_not_taken_out_of_a_list(value: Any, before: str, within: str) -> None:
    """An object that is part of a list is not the answer's one object."""
    found = parse_object(f"{before}\n{within.replace('{}', json.dumps(value))}")
    assert isinstance(found, Unparsed)
    assert found.reason in {ProposalReason.NOT_OBJECT, ProposalReason.SEVERAL}


@pytest.mark.parametrize("beside", ["[1]", "[[1, 2], []]", '["a"]', "[]"])
def test_a_list_beside_the_object_is_prose(beside: str) -> None:
    """B-26 "a list beside it that it is no part of counts as prose": before it or after it; a
    second object is not, nor one within such a list.
    """
    for text in (f'{beside} {{"a": 1}}', f'{{"a": 1}} {beside}', f'{{"a": 1}}\n{beside}\n'):
        assert parse_object(text) == Parsed(value={"a": 1}, size_bytes=len(text))
    for text in (f'{beside} {{"a": 1}} {{}}', f'{{"a": 1}} [{{}}] {beside}'):
        assert parse_object(text) == Unparsed(reason=ProposalReason.SEVERAL, size_bytes=len(text))


@given(bounded.filter(bool), st.data())
def test_a_cut_object_is_never_completed(value: Any, data: st.DataObject) -> None:
    """An object that breaks off anywhere is malformed."""
    written = json.dumps(value)
    found = parse_object(written[: data.draw(st.integers(1, len(written) - 1))])
    assert isinstance(found, Unparsed)
    assert found.reason is ProposalReason.BROKEN


@pytest.mark.parametrize("opener", ["[", '{"a":', "[{", '{"a":['])
@pytest.mark.parametrize(
    "before",
    ["", '{"deep":', '" {"deep":', 'the 5" one: {"deep":', '```json\n{"deep":', 'say \\" {"deep":'],
)
@pytest.mark.parametrize("after", ["", '"', '"}', "]" * 50_000])
def test_bottomless_nesting_is_refused(before: str, opener: str, after: str) -> None:
    """However deep an answer nests, and whatever quotes stand around it, it is too deep and never a
    crash.
    """
    found = parse_object(before + opener * size(40_000, 10_000) + after)
    assert isinstance(found, Unparsed)
    assert found.reason is ProposalReason.TOO_DEEP


@pytest.mark.parametrize(
    "text",
    [
        '"' + '\\"' * 450_000,
        '{"a' + '\\"' * 450_000 + "\\",
        '{"a":"b" "' * 90_000,
        "{" + '"' * 900_000,
        "[" * 900_000,
        "\\" * 900_000,
        "9" * 900_000,
        '{"a":' + "9" * 900_000 + "}",
        '{"a":' + "9" * 450_000 + "." + "9" * 450_000 + "}",
    ],
    ids=[
        "quotes",
        "open string",
        "pairs",
        "bare quotes",
        "brackets",
        "backslashes",
        "digits",
        "integer",
        "fraction",
    ],
)
def test_large_answers_are_read_in_linear_time(text: str) -> None:
    """Answers just below the bound that invite backtracking are judged; quadratic time would not
    end within the test's own limit.
    """
    assert isinstance(parse_object(text), Unparsed)


def test_an_answer_over_the_bound_is_not_even_parsed() -> None:
    """Above the parser's bound the size is the reason, whatever the text says."""
    for text in ("x" * (PARSE_BYTES + 1), '{"a": "' + "é" * (PARSE_BYTES // 2) + '"}'):
        found = parse_object(text)
        assert isinstance(found, Unparsed)
        assert found.reason is ProposalReason.TOO_LARGE


@pytest.mark.parametrize(
    "opening",
    [
        "NaN is none. ",
        "Infinity pools: ",
        "-Infinity, then ",
        "99999999999999999999999 of them. ",
        "1e999 ",
    ],
)
def test_prose_that_begins_with_a_number_is_prose(opening: str) -> None:
    """Words that only look like numbers out of range do not spoil the object that follows."""
    assert parse_object(opening + '{"a": 1}') == Parsed(value={"a": 1}, size_bytes=len(opening) + 8)


@given(st.text('"\\{}[]a\n', max_size=30), st.integers(0, 3))
def test_nesting_is_total(text: str, start: int) -> None:
    """Nesting is a number for any text and place."""
    assert 0 <= nesting(text, start) <= max(1, len(text))


@pytest.mark.parametrize(
    ("text", "deep"),
    [
        ('"x"', 1),
        ("{}", 1),
        ('{"a": 1}', 1),
        ("[1, 2]", 1),
        ('{"a": {}}', 2),
        ('{"a": "{["}', 1),
        ("[[], [[]]] [[[[", 3),
    ],
)
def test_how_deep_a_value_nests(text: str, deep: int) -> None:
    """The value itself is one; brackets in texts, and what follows, do not count."""
    assert nesting(text) == deep


@given(st.one_of(st.text(), json_like))
def test_words_are_read_as_they_stand(text: str) -> None:
    """Of an answer in words nothing is taken away but the thought before it, and JSON in it is
    words as well.
    """
    found = read_text(text, "content")
    if isinstance(found, Unparsed):
        assert found.reason in (ProposalReason.EMPTY, ProposalReason.ENCODING)
        return
    said = found.value["content"]
    assert list(found.value) == ["content"]
    assert said.strip() != ""
    assert text.endswith(said)
    if not text.strip().startswith("<"):
        assert said == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"content": "Hello."}', '{"content": "Hello."}'),
        ("<think>They want <b>.</think>\nHello.", "Hello."),
        (
            "\n<THINKING>a</think></thinking> Hello <think>there</think>.\n",
            "Hello <think>there</think>.\n",
        ),
        ("<thinker>Rodin</thinker>", "<thinker>Rodin</thinker>"),
        ("\n\n Hello.\n", "\n\n Hello.\n"),
    ],
)
def test_a_thought_before_the_words_is_none_of_them(text: str, said: str) -> None:
    """What a model thinks aloud is no answer; what stands in the midst of one is."""
    assert read_text(text, "content") == Parsed(
        value={"content": said}, size_bytes=len(text.encode())
    )


@pytest.mark.parametrize("text", ["", " \n", "<think>only this</think>", "<think>cut off"])
def test_an_answer_without_words_is_empty(text: str) -> None:
    """It is told apart from words that are too many."""
    assert read_text(text, "content") == Unparsed(
        reason=ProposalReason.EMPTY, size_bytes=len(text.encode())
    )


@pytest.mark.parametrize(
    ("raw", "whole"),
    [
        ('{"action": "accept"}', True),
        (' ```json\n{"action": "accept"}\n``` ', True),
        ('```\n{"action": "accept"}```', True),
        ('I reject this answer. {"action": "accept"}', False),
        ('{"action": "accept"} is an example only.', False),
        (
            '```json\n{"action": "accept"}\n```\nThis is an example only; my verdict is reject.',
            False,
        ),
        ('No {"action": "accept"} {x}', False),
        ("", False),
    ],
)
def test_what_decides_by_itself_is_all_of_its_answer(raw: str, whole: bool) -> None:
    """B-07 "never default accept": of a verdict nothing is taken out of prose, whatever that says;
    a fence around it is none.
    """
    assert isinstance(parse_whole(raw), Parsed) is whole
