"""Laws of what is on the way in a session, whatever order events come in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.cli.columns import width
from ordain.cli.conversation_lines import SPINNER, Looks, event_lines, live_lines, one_line, words
from ordain.cli.output import people_read
from ordain.cli.talk import Talk
from ordain.contracts.conversation import MessageAnswer, Reply
from ordain.contracts.events import (
    MessageEvent,
    OptionView,
    ProgressEvent,
    QuestionEvent,
    ReplyEvent,
    ResetEvent,
    SessionEvent,
    TextEvent,
)
from ordain.rules.header import MARKS
from tests.unit.rules.test_plain_reply import LIES

runs = st.sampled_from(["r1", "r2", "r3"])
foreign = st.one_of(st.sampled_from(LIES), st.text(max_size=30))
TITLE = "· ordain run r · turn@2 · running · unfinished"
HEADER = f"{TITLE}\n✓ step 1: math.evaluate · step.call"

SHOWN = people_read(HEADER, whole=True)


def message(
    run: str,
    message_id: str = "m",
    attached: str = "new_request",
    text: str = "do it",
    anchor: str = "",
) -> MessageEvent:
    return MessageEvent(
        seq=1,
        at_ms=0,
        message_id=message_id,
        run=run,
        channel="other",
        text=text,
        attached=attached,
        reason="",
        anchor=anchor,
    )


def reply(run: str, narrative: str = "Done.") -> ReplyEvent:
    return ReplyEvent(
        seq=2, at_ms=0, message_id="r", run=run, header=HEADER, narrative=narrative, ok=True
    )


def question(run: str, text: str = "Which?") -> QuestionEvent:
    options = (OptionView(key="A", label="this"), OptionView(key="B", label="that"))
    return QuestionEvent(
        seq=2,
        at_ms=0,
        message_id="q",
        run=run,
        text=text,
        key="k",
        expected_type="choice",
        options=options,
    )


def answer(message_id: str, run: str | None) -> MessageAnswer:
    return MessageAnswer(
        session_id="s",
        message_id=message_id,
        session_seq=1,
        attached="filler",
        reason="",
        thread_id=None,
        run_id=run,
    )


events = st.one_of(
    st.builds(message, runs, text=foreign),
    st.builds(reply, runs, foreign),
    st.builds(question, runs, foreign),
    st.builds(ProgressEvent, run=runs, header=st.just(HEADER)),
    st.builds(
        TextEvent, run=runs, attempt=st.integers(1, 3), offset=st.integers(0, 9), text=foreign
    ),
    st.builds(ResetEvent, run=runs, attempt=st.integers(1, 3)),
)


def passes(line: str) -> bool:
    """Whether a line that code did not write could be taken for a header's; what stands in
    quotation marks or brackets cannot.
    """
    return (
        line not in HEADER
        and line not in SHOWN
        and line.lstrip("AB re" + SPINNER)[:1] not in (">", "“", "(", "")
        and line.lstrip()[:1] in MARKS.values()
    )


@given(st.lists(events, max_size=20), st.integers(20, 100), st.integers(6, 40))
def test_the_live_part_is_sound(told: list[SessionEvent], columns: int, rows: int) -> None:
    """Whatever comes, provisional text stands only below a header, fits its rows, and no line of it
    looks like a header's.
    """
    talk = Talk()
    for event in told:
        turn = talk.take(event)
        live = live_lines(talk.turns, [0] * len(talk.turns), 0, Looks(columns=columns), rows)
        assert len(live) <= rows + len(talk.turns)
        assert not [line.text for line in live if passes(line.text)]
        assert sum(line.text == TITLE for line in live) <= 1
        for several in (False, True):
            said = event_lines(event, turn, Looks(columns=columns), mine=False, several=several)
            assert not [line.text for line in said if passes(line.text)]


@given(st.lists(events, max_size=20), runs)
def test_a_reply_closes_its_turn(told: list[SessionEvent], run: str) -> None:
    """After a run's reply nothing of it is on the way, and the turn that it closes is given
    back.
    """
    talk = Talk()
    for event in told:
        talk.take(event)
    known = next((turn for turn in talk.turns if turn.run == run), None)
    assert talk.take(reply(run)) == known
    assert run not in [turn.run for turn in talk.turns]


def test_text_is_put_where_it_belongs() -> None:
    """Pieces are put at their offsets, a new attempt begins anew, and text waits for its header."""
    talk = Talk()
    talk.take(message("r1"))
    talk.take(TextEvent(run="r1", attempt=1, offset=0, text="abc"))
    assert talk.turns[0].shows == ""
    talk.take(ProgressEvent(run="r1", header=HEADER))
    talk.take(TextEvent(run="r1", attempt=1, offset=2, text="CD"))
    assert talk.turns[0].shows == "abCD"
    talk.take(ResetEvent(run="r1", attempt=2))
    talk.take(TextEvent(run="r1", attempt=2, offset=0, text="x"))
    assert talk.turns[0].shows == "x"
    talk.take(TextEvent(run="r1", attempt=3, offset=0, text="y"))
    assert talk.turns[0].shows == "y"


def test_progress_may_come_before_the_message() -> None:
    """What a run has done may be told before the message that began it: the turn still knows its
    message, and its reply can name it.
    """
    talk = Talk()
    talk.take(ProgressEvent(run="r1", header=HEADER))
    talk.take(message("r1", "m1", text="long work"))
    talk.take(message("r2", "m2"))
    closed = talk.take(reply("r1"))
    assert closed is not None
    assert (closed.message_id, closed.text, closed.header) == ("m1", "long work", HEADER)


def test_what_runs_and_what_waits() -> None:
    """A question makes a turn wait, its answer lets it run; a bare stop means what runs, else what
    waits.
    """
    talk = Talk()
    talk.take(message("r1", "m1"))
    talk.take(message("r2", "m2"))
    talk.take(question("r2"))
    assert (talk.running, talk.target) == (talk.turns[0], talk.turns[0])
    talk.take(reply("r1"))
    assert talk.running is None
    assert talk.target is not None
    assert talk.target.message_id == "m2"
    talk.take(message("r2", "m3", "answer_to_pending"))
    assert talk.running is not None
    assert talk.running.message_id == "m2"


def test_a_message_that_another_run_serves() -> None:
    """Where a triage run ends without an answer of its own, nothing stays on the way under it."""
    talk = Talk()
    talk.take(message("t1", "m1", "triage"))
    talk.take(message("t2", "m2", "triage"))
    talk.answered(answer("m1", None))
    talk.answered(answer("m2", "r2"))
    assert talk.turns == ()


def test_an_answer_that_is_faster_than_its_event() -> None:
    """The reply's event still finds its turn, and with it the words that it answers; who follows no
    events keeps nothing on the way.
    """
    talk = Talk()
    talk.take(message("r1", "m1", text="long work"))
    known = answer("m1", "r1").model_copy(
        update={"reply": Reply(header=HEADER, narrative="Done.", ok=True)}
    )
    talk.answered(known, followed=True)
    closed = talk.take(reply("r1"))
    assert closed is not None
    assert closed.text == "long work"
    talk.take(message("r1", "m1", text="long work"))
    talk.answered(known)
    assert talk.turns == ()


def test_foreign_words_on_one_line() -> None:
    """What is quoted inside a line cannot leave it, nor its quotation marks."""
    assert one_line("a\n✓ b”\x1b[2Jc") == "“a ✓ b’c”"
    assert width(one_line("日" * 100)) <= 62


@given(foreign, st.integers(20, 40))
def test_words_fit(text: str, columns: int) -> None:
    """Foreign text is broken to fit, and each line that comes of it stands behind its mark."""
    for line in words(text * 5, columns):
        assert width(line.text) <= columns
        assert line.text.startswith(">")
