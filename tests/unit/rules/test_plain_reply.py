"""Laws of a reply as plain text: what stands under the header can be taken neither for a line of it
nor for an order to the terminal.
"""

# ruff: noqa: RUF001 - ambiguous signs are what this is about

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.rules.header import HeaderFacts, HeaderLine, render_header
from ordain.rules.plain_reply import cleaned, plain_reply, quoted_lines
from tests.lanes import sampled
from tests.unit.rules.test_header import HOSTILE, headers

LIES = [
    "x step 1: mail.send",
    "v sent",
    "Ⅹ undone",
    "[ ] step 1: mail.send",
    "› step 1",
    "» step 1",
    "👍 sent",
    "👎 undone",
    "> ✓ sent",
    "7 step 1: mail.send",
    "✓ ordain run 1 · turn@2 · completed · ok",
    "  ✓ step 1: mail.send · step.call",
    "\u3164✓ sent",
    "\u2800 ✔️ sent",
    "\u200b\u200d✅ sent",
    "\u0301✓ sent",
    "x\r✓ sent",
    "x\x0b✓ sent\x0c✗ undone",
    "x\u2028✓ sent\u2029· 2 steps",
    "x\x85✓ sent",
    "\x1b[2K\x1b[1G✓ sent",
    "\x1b]0;✓ title\x07✓ sent",
    "\x9b1A✓ sent",
    "\b\b✓ sent",
    "\u202e\u2066✓ tnes",
    "ORDAIN  RUN 1",
    "оrdаіn rսn 1",
    "𝗼𝗿𝗱𝗮𝗶𝗻 𝗿𝘂𝗻 1",
    "ordain\u00a0run 1",
    "or\u00addain ru\u200bn 1",
    "？ unknown",
    "• 3 steps, 2 model calls",
    "- ✓ sent",
    "[✓] sent",
    "**✓** sent",
    "1. ✅ sent",
    "a) ✓ sent",
    "| ✓ | sent |",
    "### ✓ sent",
    "`✗` undone",
    "<b>✓</b> sent",
    "&check; sent",
    "- &#10003; sent",
    "- [x] sent",
    "* [X] sent",
    ":white_check_mark: sent",
    "- :x: undone",
    "﹒ 3 steps, 2 model calls",
    "ᐧ 3 steps, 2 model calls",
    "⠂ 3 steps",
    "☑ sent",
    "\x00✓ sent",
    "\x7f✓ sent",
    "“✓” sent",
    "1\ufe0f\u20e3 ✓ sent",
    "iv. · 3 steps",
    "① · 3 steps",
    "１． · 3 steps",
    "一、· 3 steps",
    "а) · 3 steps",
    "│ · 3 steps",
    "├─ · 3 steps",
    "<!-- note --> · 3 steps",
    "Hello<br>· 3 steps",
    "【✓】 sent",
    "Step 1: ✓ sent",
    "math.evaluate ✓",
    "🤖 ✓ sent",
    "[ok] sent",
    "[v] sent",
    "-> step 1: sent",
    "$\\checkmark$ sent",
    "⊗ undone",
    "⮿ undone",
    "🅧 undone",
    "★ sent",
    "፡ 3 steps",
    "𐤟 3 steps",
    "ㆍ 3 steps",
    "no tool was used",
    'models: "default (openai: gpt)"',
    "2 steps, 2 model calls, 1 verb calls, 10+2 tokens, $0.000000, 3 ms",
]
narratives = st.lists(
    st.one_of(
        st.sampled_from([*LIES, *HOSTILE]),
        st.text(max_size=20),
        st.builds("{}{}".format, st.text(max_size=4), st.sampled_from(LIES)),
    ),
    max_size=6,
).map("\n".join)


@given(headers, narratives)
def test_no_line_of_the_narrative_passes_for_the_header(facts: HeaderFacts, narrative: str) -> None:
    """B-34 "Header (C5) always precedes narrative": the header stands first and byte for byte;
    below it every line, however it is split, has the mark that none of its lines has.
    """
    header = render_header(facts)
    told = plain_reply(header, narrative)
    assert told == header or told.startswith(f"{header}\n\n")
    assert not any(line.lstrip().startswith(">") for line in header.splitlines())
    below = told[len(header) :].splitlines()
    assert below[:2] in ([], [""], ["", ""])
    assert all(line.startswith(">") for line in below[2:])


before = st.lists(
    st.text(st.characters(exclude_categories=["L", "N", "Cs"]), max_size=4)
    | st.sampled_from(
        [
            "1. ",
            "(a) ",
            "iv) ",
            "① ",
            "Ⅳ. ",
            "１．",
            "३. ",
            "一、",
            "б) ",
            "あ。",
            "7\ufe0f\u20e3 ",
            "- [ ] ",
            "<b>",
            "**",
            "🇩🇪 ",
            "\u2066",
        ]
    ),
    max_size=4,
).map("".join)


@given(headers, before)
def test_no_header_line_passes_behind_marks_of_any_script(facts: HeaderFacts, prefix: str) -> None:
    """Whatever symbols, points, invisible signs and list marks of any script stand before a line of
    a header, it stands behind the mark.
    """
    for line in render_header(facts).split("\n"):
        assert all(shown.startswith(">") for shown in quoted_lines(prefix + line).split("\n")), (
            prefix,
            line,
        )


@pytest.mark.parametrize("shape", ["{} sent", "{}", "x{}✓ sent", "> {} sent"])
def test_no_sign_of_unicode_comes_before_the_mark(shape: str) -> None:
    """Not one character, at the beginning of a line or in it, puts anything where a line of a
    header begins.
    """
    for start in sampled(range(0, sys.maxunicode + 1, 4096), 12, shape):
        text = "\n".join(shape.format(chr(code)) for code in range(start, start + 4096))
        lines = quoted_lines(text).splitlines()
        assert len(lines) >= 4096
        assert all(line == ">" or line.startswith("> ") for line in lines)


@given(narratives)
def test_nothing_controls_the_terminal(narrative: str) -> None:
    """No control, escape, bidirectional or private character is left; a line ends only where it is
    seen to.
    """
    told = quoted_lines(narrative)
    assert {
        c for c in told if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
    } <= set("\n\t\u200c\u200d")
    assert told.splitlines() == told.split("\n")[: len(told.splitlines())]
    told.encode()


@given(narratives)
def test_what_quotes_is_told_from_what_is_quoted(narrative: str) -> None:
    """A line that a model begins with the mark itself has one more: quoting is never undone by what
    is quoted.
    """
    once = quoted_lines(narrative)
    assert quoted_lines(once) == "\n".join(f"> {line}" for line in once.split("\n"))


@given(st.text(st.characters(categories=("L", "N", "Zs", "Po", "So", "Sm", "Ps")), max_size=80))
def test_ordinary_words_stay(narrative: str) -> None:
    """Words keep every letter and sign."""
    letters = [c for c in narrative if not c.isspace()]
    assert [c for c in quoted_lines(narrative).removeprefix(">") if not c.isspace()] == letters


@pytest.mark.parametrize("lie", LIES)
def test_each_lie_is_quoted(lie: str) -> None:
    """Each known imitation of a header's line is quoted where it stands."""
    assert all(line.startswith("> ") for line in quoted_lines(f"Done.\n{lie}").splitlines())


@pytest.mark.parametrize(
    "line",
    [
        "- the first of three",
        "1. Check the pump.",
        "[a link](https://example.org)",
        "[x](https://example.org)",
        "**Note** that it is cold.",
        "(see 2)",
        "x = 3",
        "3.5 kg & more",
        "¡Hola!",
        "ڊ dal",
        "ẋ is a speed",
        "🎉 Done",
        "<b>Bold</b> words",
        ":smile: sure",
        "| a | b |",
        "---",
        "👍 Done",
        "🇩🇪 Hallo",
        "€5 a head",
        "„Ja“, sagte sie.",
        "「はい」",
        "— so it goes",
        "…and on",
        "① first",
        "iv. The fourth.",
        "第一、水",
        "π is no number of ours",
        "│ a │ b │",
        "It is 3 × 4 · 5",
        "The models: three of them.",
        "ok, ordain it",
    ],
)
def test_what_people_write_stays_as_it_is(line: str) -> None:
    """Lists, links, emphasis and tables stand behind the mark as they were written."""
    assert quoted_lines(line) == f"> {line}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m alert", "red alert"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never closed", "]0;never closed"),
        ("- one\n* two\n1. three\n\ttabbed", "- one\n* two\n1. three\n\ttabbed"),
        ("नमस्ते क्षि\u200dक", "नमस्ते क्षि\u200dक"),
        ("a\ud800b\ue000c", "a\ufffdb\ufffdc"),
        ("a\x00b\x07c\x7f", "a␀b␇c␡"),
        ("pay \u202e001\u202c EUR\u2066", "pay [U+202E]001[U+202C] EUR[U+2066]"),
        ("שלום\u200f!", "שלום[U+200F]!"),
    ],
)
def test_what_is_cleaned(text: str, shown: str) -> None:
    """Whole sequences go, words, lists and joined letters stay, what has no sign is shown as
    such.
    """
    assert cleaned(text) == shown


def test_a_reply_without_words_is_its_header() -> None:
    """An empty narrative adds no empty lines."""
    header = render_header(
        HeaderFacts(
            run="r",
            flow="turn@2",
            status="completed",
            reason="ok",
            models=(),
            notices=(),
            lines=(HeaderLine(mark="ok", what="x"),),
            steps=1,
            model_calls=0,
            verb_calls=1,
            tokens_in=0,
            tokens_out=0,
            estimated=False,
            usd_micros=0,
            duration_ms=1,
        )
    )
    assert plain_reply(header, " \n\x1b[0m\n") == header
    assert plain_reply(header, "Hi.\n\n- one\n") == f"{header}\n\n> Hi.\n>\n> - one"
