"""What a run says in its session: each entry under an id of its own, and what it does to its
thread.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.effects.effect import Say, UserQuestion, Wait, WaitFor
from ordain.errors import RunPlace
from ordain.journal.records import SETTLED, STOPPED, Status
from ordain.ports.sessions import OUR_IDS, EntryKind, ThreadStatus, message_id
from ordain.ports.store import StoredRun
from ordain.rules.header import HeaderFacts, HeaderLine, render_header
from ordain.runtime.entries import (
    ERROR_CHARS,
    OTHERWISE,
    STOPPED_TEXT,
    answered,
    at_rest,
    question,
    reply,
    said,
    spoken,
    stop_entry,
    stopped_text,
    unreadable_entry,
)
from tests.unit.runtime.test_streams import RUN

CHILD = msgspec.structs.replace(RUN, id="r2", parent="r1", root="r1")
ENDS = sorted(SETTLED | STOPPED)


def facts(*lines: HeaderLine, status: Status = Status.FAILED) -> HeaderFacts:
    counts = dict.fromkeys(
        (
            "steps",
            "model_calls",
            "verb_calls",
            "tokens_in",
            "tokens_out",
            "usd_micros",
            "duration_ms",
        ),
        0,
    )
    return HeaderFacts(
        run="r1",
        flow="turn@1",
        status=status,
        reason="why",
        models=(),
        notices=(),
        lines=lines,
        estimated=False,
        **counts,
    )


def body(entry: Any) -> dict[str, Any]:
    return msgspec.json.decode(entry.body)


@pytest.mark.parametrize("status", ENDS)
def test_only_a_completed_turn_is_answered_as_ok(status: Status) -> None:
    """``ok`` is the run's status, whatever its words say; and the thread is done, failed or blocked
    by the same.
    """
    told = facts(status=status)
    entry = reply(RUN, told, "All went well.", status=status, at=5)
    assert body(entry) == {
        "text": "All went well.",
        "header": render_header(told),
        "ok": status is Status.COMPLETED,
    }
    change = at_rest(RUN, facts(status=status), status, 5)
    done, failed = {Status.COMPLETED, Status.CANCELLED}, {Status.FAILED, Status.TIMED_OUT}
    wanted = (
        ThreadStatus.DONE
        if status in done
        else ThreadStatus.FAILED
        if status in failed
        else ThreadStatus.BLOCKED
    )
    assert (change.status, change.in_place, change.last_error is None) == (
        wanted,
        True,
        status in done,
    )


@given(st.text())
def test_a_text_is_as_large_as_it_is_in_a_prompt(text: str) -> None:
    """Its size is that of its JSON, which is what a history is cut by."""
    assert spoken(text) == len(msgspec.json.encode(text))
    assert said(RUN, 1, Say(text=text), 0).size == spoken(text)


def test_the_last_failure_is_what_is_kept_of_it() -> None:
    """The last line that failed or that nobody knows of: what it was, and what was said of it, cut;
    for a turn without one its reason.
    """
    lines = (
        HeaderLine(mark="fail", what="first"),
        HeaderLine(mark="unknown", what="mail.send", excerpt="x" * 999),
        HeaderLine(mark="ok", what="z"),
    )
    error = at_rest(RUN, facts(*lines), Status.FAILED, 7_000).last_error
    assert error is not None
    assert (error["capabilityId"], error["output"], error["code"], error["timestampMs"]) == (
        "mail.send",
        "x" * ERROR_CHARS,
        "why",
        7,
    )
    nothing = at_rest(RUN, facts(), Status.FAILED, 0).last_error
    assert nothing is not None
    assert (nothing["capabilityId"], nothing["output"], nothing["code"]) == ("", "", "why")


@pytest.mark.parametrize(
    ("reason", "said_of_it", "kept"),
    [
        ("workflow.mistyped_argument", "draft_email /to: Type", "draft_email"),
        ("workflow.step_arguments", "draft_email mail.draft: /subject: Pattern", "draft_email"),
        ("workflow.tool_unavailable", "send_email mail.send", "send_email"),
        ("workflow.safety", "announce", "announce"),
        ("workflow.unknown_template", "whatever somebody wrote", "whatever somebody wrote"),
        ("workflow.malformed_suggestion", "", ""),
    ],
)
def test_a_workflow_that_was_refused_is_kept_by_its_name(
    reason: str, said_of_it: str, kept: str
) -> None:
    """What a thread keeps of it names the template, and nothing of why: the header's line has both
    in one text, and who looks a capability up by its name finds it.
    """
    line = HeaderLine(mark="fail", what="workflow refused", reason=reason, excerpt=said_of_it)
    error = at_rest(RUN, facts(line), Status.FAILED, 0).last_error
    assert error is not None
    assert (error["capabilityId"], error["extensionId"]) == (kept, kept or None)


@pytest.mark.parametrize("status", sorted(STOPPED))
def test_a_run_that_stops_again_says_so_again(status: Status) -> None:
    """Each time under another id, below the header, in words of code; a child's stop is told for
    its turn.
    """
    first, change = stop_entry(CHILD, facts(status=status), status, 5)
    again, _ = stop_entry(CHILD, facts(status=status), status, 6)
    assert first.message_id != again.message_id
    assert (first.run, first.message_id.startswith(f"{OUR_IDS}r2:")) == ("r1", True)
    assert body(first) == {
        "text": stopped_text(status),
        "header": render_header(facts(status=status)),
        "ok": False,
    }
    assert change.status is ThreadStatus.BLOCKED
    assert stopped_text(status) == STOPPED_TEXT.get(status, OTHERWISE) != ""


def test_a_run_that_cannot_be_read_is_told_as_that() -> None:
    """Nothing of it but that; its thread is blocked, if the run held its place."""
    entry, change = unreadable_entry(
        "r2", RunPlace(workspace="w", root="r1", session="s1", thread=3), Status.DIVERGED, 5
    )
    assert body(entry)["header"] == "✗ ordain run r1 · diverged · its records cannot be read"
    assert (entry.session, entry.thread, entry.run, body(entry)["ok"]) == ("s1", 3, "r1", False)
    assert (change.id, change.session, change.status, change.in_place) == (
        3,
        "s1",
        ThreadStatus.BLOCKED,
        True,
    )


def test_a_question_and_its_answer_are_of_one_effect() -> None:
    """The entry and the thread's open question have one id; what closes it names run and effect and
    nothing else.
    """
    asks = UserQuestion(key="colour", expects="choice", options=("red", "blue"))
    entry, change = question(
        CHILD, 4, Wait(what=WaitFor.ANSWER, about="Which one?", deadline=9, question=asks), 5
    )
    assert change.asked is not None
    assert entry.message_id == change.asked.message_id == message_id("r2", 4)
    assert (change.asked.run, change.asked.root, change.asked.addr, change.asked.until) == (
        "r2",
        "r1",
        4,
        9,
    )
    assert body(entry)["options"] == [{"key": "A", "label": "red"}, {"key": "B", "label": "blue"}]
    assert (entry.kind, change.status) == (EntryKind.QUESTION, ThreadStatus.WAITING_FOR_USER)
    over = answered(CHILD, 4, 6)
    assert (over.answered, over.asked, over.status) == (("r2", 4), None, ThreadStatus.IN_PROGRESS)


@pytest.mark.parametrize(("through", "kind"), [(0, EntryKind.SAID), (7, EntryKind.SUMMARY)])
def test_a_summary_is_no_word_to_the_user(through: int, kind: EntryKind) -> None:
    """It says how far it covers."""
    entry = said(RUN, 2, Say(text="so far", summary_through=through), 5)
    assert (entry.kind, entry.through, body(entry), entry.message_id) == (
        kind,
        through,
        {"text": "so far"},
        message_id("r1", 2),
    )


def test_a_wait_without_a_question_asks_nobody() -> None:
    """Whoever calls this with one is wrong."""
    run: StoredRun = RUN
    with pytest.raises(AssertionError):
        question(run, 1, Wait(what=WaitFor.TIMER, about="x", deadline=1), 0)
