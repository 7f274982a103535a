"""Laws of text as faces give it on: nothing in it commands, hides or reorders; what is exact keeps
its value.
"""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.events import OptionView
from ordain.contracts.visible import (
    BEHIND,
    CONTROLS,
    HIDDEN,
    MARKS,
    PREPENDED,
    escaped_json,
    unfinished,
    visible,
    visible_json,
    visible_name,
    visible_piece,
    visible_value,
)
from ordain.rules.plain_reply import cleaned
from tests.unit.rules.test_header import HOSTILE
from tests.unit.rules.test_plain_reply import LIES

WRITTEN = [
    "\u0f67\u0f90\u0fb5\u0fa8\u0fb3\u0fba\u0fbc\u0fbb\u0f82",  # a Tibetan stack
    # Hebrew with points and accents
    "\u05d1\u05bc\u05b0\u05e8\u05b5\u05d0\u05e9\u05c1\u05b4\u0596\u05d9\u05ea",
    # joiners of Devanagari and Persian
    "\u0915\u094d\u200d\u0937 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    (
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 "
        "\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2713"
    ),
]
"""What people write with marks, joiners and rows of signs."""
parts = st.sampled_from([*LIES, *HOSTILE]) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=12
)
texts = st.lists(parts, max_size=4).map("\n".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
SEEN_OF_HIDDEN = {"\u200c", "\u200d"} | PREPENDED


def hidden(text: str) -> set[str]:
    """What of a text commands, hides or reorders."""
    unseen = {
        one
        for one in text
        if CONTROLS.match(one) or unicodedata.category(one) in ("Cf", "Zl", "Zp") or one == "\x85"
    }
    return unseen - SEEN_OF_HIDDEN | set(HIDDEN.findall(text))


def strings(value: Any) -> list[str]:
    """Every text and key in a value."""
    match value:
        case str():
            return [value]
        case dict():
            return [*value, *(one for inner in value.values() for one in strings(inner))]
        case list():
            return [one for inner in value for one in strings(inner)]
        case _:
            return []


@given(texts)
def test_data_shows_what_it_holds(text: str) -> None:
    """Text that is given on as data keeps every sign that is seen, and what is not seen stands as
    its number: zero width, tags, separators, directions.
    """
    told = visible(text)
    assert not hidden(told)
    assert visible(told) == told
    if text.isprintable() and not hidden(text):
        assert told == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200bb", "a[U+200B]b"),
        ("a\x85b", "a[U+0085]b"),
        (
            "a\u034fb\u115f\u1160\u17b4\u2065\u3164\uffa0",
            "a[U+034F]b[U+115F][U+1160][U+17B4][U+2065][U+3164][U+FFA0]",
        ),
        ("\ufdd0\uffff\U0010fffe", "[U+FDD0][U+FFFF][U+10FFFE]"),
        ("a\U000e0101\U000e01efb", "a[U+E0101][U+E01EF]b"),
        ("a\ufe0fb", "a[U+FE0F]b"),
        (
            "\u2764\ufe0f 1\ufe0f\u20e3 \u845b\U000e0100 \u2764\ufe0f\ufe0e",
            "\u2764\ufe0f 1\ufe0f\u20e3 \u845b\U000e0100 \u2764\ufe0f[U+FE0E]",
        ),
        ("\u1820\u180b a\u180b", "\u1820\u180b a[U+180B]"),
        ("a\u2800b \u2800\u2813\u2800", "a[U+2800]b [U+2800]\u2813[U+2800]"),
        ("\u2813\u2800\u2813\u2800\u2800\u2813", "\u2813\u2800\u2813\u2800\u2800\u2813"),
        ("a\U0001d159\U00016fe4 \U00018b00\U00016fe4", "a[U+1D159][U+16FE4] \U00018b00\U00016fe4"),
        ("pass\u00adword", "pass[U+00AD]word"),
        (
            f"{ENGLAND} \U0001f3f4\U000e0067\U000e0041\U000e007f",
            f"{ENGLAND} \U0001f3f4[U+E0067][U+E0041][U+E007F]",
        ),
        ("\U0001f468\u200d\U0001f469 \U0001f44d\U0001f3fd \U0001f3f3\ufe0f\u200d\U0001f308",) * 2,
        ("\u0645\u06cc\u200c\u062e \u0915\u094d\u200d\u0937",) * 2,
        ("a\u2028b", "a[U+2028]b"),
        ("a\ufff9b", "a[U+FFF9]b"),
        ("a\U000e0041b", "a[U+E0041]b"),
        ("\u0627\u200c\u0628 \u0600", "\u0627\u200c\u0628 \u0600"),
        ("a\n\tb\u00a0c", "a\n\tb\u00a0c"),
        ("a\x00\x7f\x1b[2J\u202e", "a␀␡[U+202E]"),
    ],
)
def test_what_is_hidden_is_shown_by_its_number(text: str, shown: str) -> None:
    """Joiners, that writing needs, blanks, pictures and Braille stay; below a header in plain text
    it is the same, but for lines and blanks.
    """
    assert visible(text) == shown
    plain = shown.replace("[U+2028]", "\n").replace("[U+0085]", "\n").replace("\u00a0", " ")
    assert cleaned(text) == plain


@given(texts)
def test_plain_text_hides_nothing(text: str) -> None:
    """What stands below a header shows all that is not seen, as data does."""
    assert not hidden(cleaned(text))


@pytest.mark.parametrize(
    "text",
    [
        "Z" + "\u0301" * 25 + "a\u0301",
        "a\r\nb\r\r\nc\rd\r",
        "a\x1b[2Kb\x1b]0;title\x07c\x9b1;2mdd\x1b(Be\x1b]0;t\x1b\\f\x1b[3",
        "\u2764\ufe0f 1\ufe0f\u20e3 \u845b\U000e0100",
        "\u2813\u2800\u2813",
        "\u0645\u06cc\u200c\u062e",
    ],
)
def test_a_text_in_pieces_is_shown_as_the_whole(text: str) -> None:
    """A sign of how another one is drawn comes behind that, in whatever piece; what stands alone is
    shown by its number.
    """
    before, told, kept = "", "", ""
    for sign in text:
        kept = unfinished(came := kept + sign)
        piece = came.removesuffix(kept)
        told, before = told + visible_piece(piece, before), (before + piece)[-BEHIND:]
    assert told + visible_piece(kept, before) == visible(text)
    assert [visible_piece("\ufe0f", one) for one in ("", "a", "\n", "\u202e")] == ["[U+FE0F]"] * 4


@pytest.mark.parametrize("sign", ["\b", "\f", "\x00", "\x7f"])
@pytest.mark.parametrize(
    "made",
    [
        json.dumps,
        lambda value: json.dumps(value, ensure_ascii=False),
        lambda value: msgspec.json.encode(value).decode(),
    ],
)
def test_json_spells_no_control_past_it(made: Callable[[Any], str], sign: str) -> None:
    """A backspace that JSON spells by its letter is shown by its sign like one that it spells by
    its number, in texts and keys.
    """
    shown = json.loads(visible_json(made({f"a{sign}": [f"paid{sign}{sign}"]})))
    assert not any(map(hidden, strings(shown)))
    assert shown == visible_value({f"a{sign}": [f"paid{sign}{sign}"]})


@given(values)
def test_a_whole_value_is_shown_at_once(value: Any) -> None:
    """Every text and key of a value, however deep, is visible; in its JSON text the same, whichever
    way that spells it.
    """
    shown = visible_value(value)
    assert not any(map(hidden, strings(shown)))
    for ascii_alone in (True, False):
        encoded = visible_json(json.dumps(value, ensure_ascii=ascii_alone))
        assert not any(map(hidden, strings(json.loads(encoded))))
        assert json.loads(encoded) == shown


def looked_at_apart(value: Any) -> Any:
    """A value whose texts and keys are looked at one by one."""
    match value:
        case str():
            return visible(value)
        case dict():
            return {visible_name(key): looked_at_apart(one) for key, one in value.items()}
        case list():
            return [looked_at_apart(one) for one in value]
        case _:
            return value


EDGES = st.text(
    alphabet="a1\u2713\u00b7\u0301\u200d\u2800\u2801\ufe0f\u1820\u180b\r\n\x7f\u00e9", max_size=14
)
"""What is shown by what stands beside it."""


@given(
    values
    | st.recursive(
        EDGES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(EDGES, inner, max_size=3),
        max_leaves=6,
    )
)
def test_a_look_at_a_whole_value_finds_what_a_look_at_each_text_does(value: Any) -> None:
    """Whatever stands at the edges of texts that are neighbours in its JSON."""
    assert visible_value(value) == looked_at_apart(value)


@given(values)
def test_what_is_exact_is_escaped(value: Any) -> None:
    """JSON that has to stay exact is the same value, and none of its characters controls, hides or
    reorders.
    """
    encoded = escaped_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(encoded) == value
    assert not hidden(encoded)


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.sampled_from(["ok", "error", "status"]),
)
def test_no_key_of_somebodys_becomes_one_of_ours(more: str, ours: str) -> None:
    """Of a key nothing is left out, so that no hidden sign in it makes it one that code wrote."""
    for name in (more + ours, ours + more, f"{ours}\x1b[0m{more}"):
        assert name == ours or visible_name(name) != ours


def test_what_is_named_exact_stays() -> None:
    """A field that is named exact is given as it is, of a mapping and of a struct, and no other one
    is.
    """
    assert visible_value({"output": {"a": "\x00"}, "header": "\x00"}, frozenset({"output"})) == {
        "output": {"a": "\x00"},
        "header": "␀",
    }
    assert visible_value((OptionView(key="A\x7f", label="\u202e"),)) == (
        OptionView(key="A␡", label="[U+202E]"),
    )
    assert visible_value({"output": "\x00", "more": {"output": "\x00"}}, frozenset({"output"}))[
        "more"
    ] == {"output": "␀"}


def test_whatever_is_hidden_is_looked_for() -> None:
    """No code point that hides passes the quick look that most texts get."""
    every = "".join(
        f"a{chr(number)}" for number in range(0x110000) if not 0xD800 <= number < 0xE000
    )
    found = set("".join(HIDDEN.findall(every)))
    assert len(found) > 4000
    assert all(visible(f"a{one}") != f"a{one}" for one in found)


@pytest.mark.parametrize("mark", ["\u0301", "\u20dd", "\u0e49", "\u05b4", "\u0301\u200d"])
def test_no_letter_carries_a_flood_of_marks(mark: str) -> None:
    """Marks that would be drawn over the lines around them are shown by their number; what any
    script puts on a letter stands.
    """
    flood = f"Z{mark * 40} end"
    for shown in (
        visible(flood),
        cleaned(flood),
        json.loads(visible_json(json.dumps(flood, ensure_ascii=False))),
    ):
        assert shown.startswith("Z" + mark * (MARKS - 1))
        assert shown.count(mark[0]) == MARKS
        assert f"[U+{ord(mark[0]):04X}]" in shown
    assert json.loads(escaped_json(json.dumps(flood, ensure_ascii=False))) == flood
    assert escaped_json(json.dumps(flood, ensure_ascii=False)).count(mark[0]) == MARKS


@pytest.mark.parametrize("text", WRITTEN)
def test_what_scripts_and_pictures_need_stands(text: str) -> None:
    """Stacks, points, joiners and rows of signs are as they were written."""
    assert visible(text) == cleaned(text) == text


def test_a_return_that_ends_no_line_is_shown() -> None:
    """What stands behind it would be written over its line, also where a face adds that."""
    assert visible("\u2713 ok\r\nfine\rover\r") == "\u2713 ok\r\nfine␍over␍"
    assert visible("a\r\r\nb\r\rc") == "a␍\r\nb␍␍c"
    assert json.loads(visible_json(json.dumps({"a\rb": "b\rc\r\n"}))) == {"a␍b": "b␍c\r\n"}


@pytest.mark.parametrize("text", WRITTEN)
def test_what_scripts_need_stands_wherever_a_text_is_cut(text: str) -> None:
    """Pieces of any size come to the whole, by themselves and as a face sends them between
    others.
    """
    for size in (1, 2, 3, 5):
        told, before = "", ""
        for at in range(0, len(text), size):
            piece = text[at : at + size]
            told, before = told + visible_piece(piece, before), (before + piece)[-BEHIND:]
        assert told == text


@pytest.mark.parametrize("cut", [1, 2, 7])
def test_a_flood_in_pieces_is_one(cut: int) -> None:
    """A model that sends a mark or two at a time sends no more of them."""
    flood = "Z" + "\u0301\u200d" * 40
    told, before = "", ""
    for at in range(0, len(flood), cut):
        piece = flood[at : at + cut]
        told, before = told + visible_piece(piece, before), (before + piece)[-BEHIND:]
    assert told.count("\u0301") <= 2 * MARKS


@pytest.mark.parametrize(
    "sign", ["\u0301", "\u2800", "\u200d", "\U00016fe4", "\u202e", "\r", "\ufe0f"]
)
def test_a_huge_text_takes_time_by_its_length(sign: str) -> None:
    """Twice as much takes about twice as long, not four times."""

    def seconds(size: int) -> float:
        text = f"\u2801{sign * size}\u2801"
        spelled = json.dumps(text, ensure_ascii=False)
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            visible(text), visible_json(spelled), escaped_json(spelled), cleaned(text)
            best = min(best, time.process_time() - began)
        return best

    assert seconds(32_000) < 24 * max(seconds(4_000), 0.002)
