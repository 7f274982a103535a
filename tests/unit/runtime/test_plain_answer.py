"""An answer as one text, whole and as it comes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ordain.contracts.conversation import ApprovalOpen, MessageAnswer, Option, Question, Reply
from ordain.rules.plain_reply import quoted_lines
from ordain.runtime.plain_answer import Quoting, answer_text_of, as_it_stands, in_markdown

BARE = MessageAnswer(
    session_id="s",
    message_id="m",
    session_seq=1,
    attached="filler",
    reason="attach.filler",
    thread_id=None,
    run_id=None,
)
LETTERS = st.text(alphabet="ab✓ \n", max_size=30)


@given(st.lists(LETTERS.filter(bool), min_size=1, max_size=6))
def test_words_that_come_in_pieces_read_as_those_that_come_whole(pieces: list[str]) -> None:
    """Wherever a text is cut, each of its lines is behind the mark, and no other sign of it is lost
    but blanks at a line's end.
    """
    quoting = Quoting()
    sent = "".join(quoting.piece(piece) for piece in pieces)
    whole = quoted_lines("".join(pieces))
    assert [line.rstrip() for line in sent.split("\n")] == [
        line.rstrip() for line in whole.split("\n")
    ]
    assert quoting.words == "".join(pieces)


def test_what_is_waited_for_is_said_with_how_to_give_it() -> None:
    """A question comes with its options, an approval with the command that gives it; what nothing
    follows from says so.
    """
    question = Question(
        key="k",
        expected_type="a choice",
        text="Which?",
        options=[Option(key="A", label="one")],
        message_id="q",
        expires_at_ms=1,
    )
    asked = answer_text_of(BARE.model_copy(update={"question": question}))
    assert asked.content.split("\n")[2:] == ["> Which?", "> A: one"]
    approval = ApprovalOpen(
        approval_id="ap1",
        digest="d",
        subject="call",
        tier="send",
        text="✓ It sends a mail.",
        message_id="q",
        expires_at_ms=1,
    )
    waits = answer_text_of(BARE.model_copy(update={"approval": approval})).content
    assert "ordain approvals approve ap1" in waits.split("\n")[0]
    assert waits.endswith("> ```\n> ✓ It sends a mail.\n> ```")
    assert (
        answer_text_of(BARE).content
        == "· Taken as no request: nothing follows from it. (attach.filler)"
    )


def test_a_header_is_on_one_line_where_that_says_it() -> None:
    """All of a header stands there where its first line would leave out what failed."""
    title = "ordain run 01a219e5ad0a8979f85de74b8781a2b7 · turn@7 · completed · ok"
    totals = "· 0 steps, 1 model calls, 0 verb calls, 3+4 tokens, $0.000300, 10 ms"
    good = Reply(
        header=f'✓ ok · {title}\n· models: "m (openai: gpt-x)"\n{totals}',
        narrative="Yes.",
        ok=True,
        verdict="ok",
    )
    assert (
        answer_text_of(BARE.model_copy(update={"reply": good})).content
        == "✓ gpt-x · no tool · 10 ms · $0.0003 · 81a2b7\n\n> Yes."
    )
    bad = good.model_copy(update={"header": f"✗ partial · {title}\n✗ x · failed\n{totals}"})
    assert answer_text_of(BARE.model_copy(update={"reply": bad})).header == bad.header


@pytest.mark.parametrize(
    ("opens", "closes"),
    [
        ("![", "](http://e.example/all-done.png)"),
        ("[", "](http://e.example)"),
        ("~~", "~~"),
        ("~~~~", "~~~~"),
        ("<!--", "-->"),
        ("<details>", "</details>"),
        ("<span hidden>", "</span>"),
        ("<style>", "</style>"),
    ],
)
def test_no_line_of_a_header_hides_another_as_markdown(opens: str, closes: str) -> None:
    """What one line quotes and a later one closes: all that stands between them is shown, as
    CommonMark with HTML and strike-out shows it.
    """
    failed = "math.evaluate failed"
    header = in_markdown(f'a · "{opens}"\nb {failed}\nc · "{closes}"')
    shown = MarkdownIt("commonmark", {"html": True}).enable("strikethrough").render(header)
    assert failed in shown
    assert "<img" not in shown
    assert "<s>" not in shown
    assert "<a " not in shown
    assert re.sub(r"</?p>", "", shown).count("<") == 0
    assert in_markdown(header) == header


def test_no_sign_of_other_dialects_opens_anything() -> None:
    """One tilde strikes out on GitHub, and formulae have their own signs; a price stays one."""
    shown = in_markdown("~x~ $$a$$ \\(b\\) \\[c\\] $0.0003")
    assert not any(sign in shown for sign in ("~", "$$", "\\(", "\\["))
    assert shown.endswith("$0.0003")


@pytest.mark.parametrize("text", ["![a", "```", "a `````` b", "~~x~~ <b>", "plain"])
def test_what_an_approver_is_asked_stands_there_exactly(text: str) -> None:
    """As Markdown too: a block of code that no value ends."""
    shown = MarkdownIt("commonmark").parse(as_it_stands(f"to: {text}\n{text}\nend"))
    assert [(token.type, token.content) for token in shown] == [
        ("fence", f"to: {text}\n{text}\nend\n")
    ]
