"""An answer as one text, whole and as it comes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.conversation import ApprovalOpen, MessageAnswer, Option, Question, Reply
from ordain.rules.plain_reply import quoted_lines
from ordain.runtime.plain_answer import Quoting, answer_text_of

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
    assert waits.endswith("> ✓ It sends a mail.")
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
