"""Whether an answer that a client shows is one that was given: whatever was answered, and however
it was sent; nothing else is.
"""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.conversation import MessageAnswer, Reply
from ordain.rules.header import HeaderLine, render_header, with_verdict
from ordain.runtime.brief import at_work
from ordain.runtime.plain_answer import REFUSED, Quoting, answer_text_of
from ordain.runtime.reason_words import meanings
from ordain.runtime.shown_answer import was_given
from tests.shapes.headers import DONE, RUN

HEADER = render_header(with_verdict(DONE))


def answered(words: str, header: str = HEADER) -> MessageAnswer:
    reply = Reply.model_validate(
        {"header": header, "narrative": words, "ok": True, "verdict": "ok"}
    )
    return MessageAnswer(
        session_id="s",
        message_id="m",
        session_seq=1,
        attached="new_request",
        reason="attach.new_request",
        thread_id="1",
        run_id=RUN,
        reply=reply,
    )


def streamed(words: str, *, given_up: str = "") -> str:
    """The answer as it was sent in pieces, of which some may have been given up."""
    quoting = Quoting()
    told = answer_text_of(answered(words))
    begun = (
        f"{at_work(HEADER, meanings())}\n\n{Quoting().piece(given_up)}\n\n{REFUSED}\n\n"
        if given_up
        else f"{at_work(HEADER, meanings())}\n\n"
    )
    return (
        begun
        + "".join(quoting.piece(words[at : at + 5]) for at in range(0, len(words), 5))
        + f"\n\n{told.header}"
    )


FELL_BACK = render_header(
    with_verdict(
        msgspec.structs.replace(
            DONE,
            lines=(*DONE.lines, HeaderLine(mark="info", what="fallback", reason="fallback.retry")),
        )
    )
)


def test_an_answer_is_known_by_the_codes_of_its_reasons() -> None:
    """Where something fell back the reasons stand in words, their codes beside; so shown it is
    known, and as a build before told it, and one after it may: with the codes alone, with other
    words. Another code, and another line, is no answer of ours.
    """
    answer = answered("Hello.", FELL_BACK)
    told = answer_text_of(answer).content
    words = f" · {meanings()['fallback.retry'].rstrip('.')} (fallback.retry)"
    assert words in told
    for shown in (words, " · fallback.retry", " · Other words (fallback.retry)"):
        assert was_given(told.replace(words, shown), answer)
    for shown in (" · fallback.next_profile", " · Other words (fallback.next_profile)", ""):
        assert not was_given(told.replace("· fallback" + words, "✓ fallback" + shown), answer)


texts = st.text(
    st.sampled_from("ab> \n✓·1{}|") | st.characters(exclude_categories=("Cs",)),
    min_size=1,
    max_size=80,
).filter(str.strip)


@given(texts)
def test_what_was_sent_may_be_shown(words: str) -> None:
    """Whole and in pieces, and with other white space."""
    answer = answered(words)
    whole = answer_text_of(answer).content
    assert was_given(whole, answer)
    assert was_given(f"\n{whole}\n\n", answer)


@pytest.mark.parametrize(
    "words",
    [
        "One.",
        "He said:\n\n> To be\n\nEnd.",
        "✓ ok · 9 tools · $0 · 01a2f3",
        "- a\n- b\n\n```\nx\n```",
    ],
)
def test_what_was_sent_in_pieces_may_be_shown(words: str) -> None:
    """With what stood above it while it was written, and what was given up."""
    assert was_given(streamed(words), answered(words))
    assert was_given(streamed(words, given_up="Something else."), answered(words))


def test_words_alone_were_given_where_no_header_stands() -> None:
    """As where an answer of a form was asked for; the form may stand alone."""
    assert was_given("One  two.", answered("One two."))
    assert was_given('{"b": 1,\n "a": [2]}', answered('Here: {"a": [2], "b": 1}'))
    assert not was_given("One.", answered("One two."))
    assert not was_given('{"a": 3}', answered('Here: {"a": [2], "b": 1}'))


@pytest.mark.parametrize(
    "shown",
    [
        "{0}\nand more",
        "I promise.\n{0}",
        "{0}\n> and more",
        "✓ wired 500 EUR\n{0}",
        "{0}\n\n✓ gpt-9 · 5 tools · 1 s · $0 · aaaaaa",
        "",
        "✓",
        "> Another.",
    ],
)
def test_nothing_else_was_given(shown: str) -> None:
    """A line, words or a header more, or other ones."""
    answer = answered("One.")
    assert not was_given(shown.format(answer_text_of(answer).content), answer)


def test_another_runs_answer_is_another() -> None:
    """The same words under the header of another run."""
    other = render_header(with_verdict(msgspec.structs.replace(DONE, run=f"{RUN[:-6]}abcdef")))
    assert not was_given(answer_text_of(answered("One.", other)).content, answered("One."))


def test_what_nothing_followed_from_may_be_shown() -> None:
    """A line of code's alone."""
    nothing = MessageAnswer(
        session_id="s",
        message_id="m",
        session_seq=1,
        attached="filler",
        reason="attach.filler",
        thread_id=None,
        run_id=None,
    )
    assert was_given(answer_text_of(nothing).content, nothing)
    assert not was_given("> Something", nothing)
    assert not was_given("The work was stopped.", nothing)
