"""Laws of the header on one line: it says what the whole one says, and never stands alone where
something went wrong.
"""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.openai import CompletionUsage, OrdainNote
from ordain.flows.recall import RECALL_VERB
from ordain.ports.model import CUT, ENDED_UNSAID, SILENCED
from ordain.rules.acts import Act, ActEnd
from ordain.rules.fallback import FallbackReason
from ordain.rules.header import MARKS, HeaderFacts, HeaderLine, render_header, with_verdict
from ordain.rules.recourse import RecourseReason
from ordain.runtime.brief import (
    OFFLINE,
    at_work,
    brief_line,
    in_words,
    needs_all,
    read_brief,
    readable_header,
)
from ordain.runtime.reason_words import meanings
from ordain.server.openai.answers import SentAnswer, finish_of, status_of
from ordain.server.openai.formed import usage_of
from tests.shapes.headers import DONE, RUN, header
from tests.unit.rules.test_header import headers, lines, text


def ended(header: str) -> tuple[str, str]:
    """How an answer with this header ended, as a completion and as a response say it."""
    sent = SentAnswer(text="", usage=CompletionUsage(), note=OrdainNote(header=header))
    return finish_of(sent.note), status_of(sent)


def test_one_line_says_it() -> None:
    """Verdict, model, tools, time, cost and the end of the run's id."""
    assert brief_line(header()) == "✓ gpt-x · 2 tools · 1.7 s · $0.0003 · ae3473"
    assert not needs_all(header())


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"verb_calls": 0, "acts": ()}, "✓ gpt-x · no tool · 1.7 s · $0.0003 · ae3473"),
        ({"estimated": True}, "✓ gpt-x · 2 tools · 1.7 s · ≈ $0.0003 · ae3473"),
        ({"estimated": True, "usd_micros": 0}, "✓ gpt-x · 2 tools · 1.7 s · ae3473"),
        ({"verb_calls": 1, "duration_ms": 12}, "✓ gpt-x · 1 tool · 12 ms · $0.0003 · ae3473"),
        ({"duration_ms": 59_999}, "✓ gpt-x · 2 tools · 59.9 s · $0.0003 · ae3473"),
        ({"duration_ms": 60_000}, "✓ gpt-x · 2 tools · 1 min 0 s · $0.0003 · ae3473"),
        ({"duration_ms": 7_380_000}, "✓ gpt-x · 2 tools · 2 h 3 min · $0.0003 · ae3473"),
        ({"usd_micros": 0}, "✓ gpt-x · 2 tools · 1.7 s · ae3473"),
        ({"usd_micros": 3}, "✓ gpt-x · 2 tools · 1.7 s · $0.000003 · ae3473"),
        ({"usd_micros": 12_345_678}, "✓ gpt-x · 2 tools · 1.7 s · $12.3456 · ae3473"),
        ({"usd_micros": 2_000_001}, "✓ gpt-x · 2 tools · 1.7 s · $2.0000 · ae3473"),
        (
            {"models": ("a (p: x)", "b (p: y)", "c (p: x)")},
            "✓ x, y · 2 tools · 1.7 s · $0.0003 · ae3473",
        ),
        (
            {"models": ("a (p: x)", "b (p: y)", "c (p: z)", "d (p: v)")},
            "✓ x, y, 2 more · 2 tools · 1.7 s · $0.0003 · ae3473",
        ),
        (
            {"models": (), "model_calls": 0, "usd_micros": 0},
            "✓ no model · 2 tools · 1.7 s · ae3473",
        ),
        (
            {"models": ("default (offline: offline)",), "usd_micros": 0},
            "✓ offline · 2 tools · 1.7 s · ae3473",
        ),
        (
            {"reserved_usd_micros": 7, "reserved_tokens": 9},
            "✓ gpt-x · 2 tools · 1.7 s · ≈ $0.0003 · ae3473",
        ),
        (
            {"status": "running", "reason": "unfinished"},
            "· in progress · gpt-x · 2 tools · 1.7 s · $0.0003 · ae3473",
        ),
        (
            {
                "status": "failed",
                "reason": "timed_out",
                "answered": False,
                "acts": (),
                "verb_calls": 0,
            },
            "✗ nothing done · gpt-x · no tool · 1.7 s · $0.0003 · ae3473",
        ),
        ({"judged": False}, "✓ gpt-x · 2 tools · 1.7 s · $0.0003 · ae3473"),
        (
            {"judged": False, "status": "failed", "reason": "budget"},
            "✗ failed · gpt-x · 2 tools · 1.7 s · $0.0003 · ae3473",
        ),
    ],
)
def test_each_part_of_the_line(changes: dict[str, object], line: str) -> None:
    """What cost something is never shown as nothing, what could cost nothing shows no money, and a
    verdict that is not ok stands in words.
    """
    assert brief_line(header(**changes)) == line


@given(headers, text)
def test_the_line_says_what_the_header_says(facts: HeaderFacts, model: str) -> None:
    """Whatever foreign text stands in a header, its line has the counts, the time and the money
    that code wrote.
    """
    facts = msgspec.structs.replace(
        facts, run=RUN, flow="turn@7", status="completed", models=(*facts.models, f"w (p: {model})")
    )
    brief = read_brief(render_header(facts))
    assert brief is not None
    assert (brief.run, brief.calls, brief.ms, brief.mark) == (
        RUN,
        facts.verb_calls,
        facts.duration_ms,
        "✓",
    )
    assert brief.usd in ("", f"{facts.usd_micros // 1_000_000}.{facts.usd_micros % 1_000_000:06d}")


@given(headers)
def test_it_is_one_line(facts: HeaderFacts) -> None:
    """Of any header, also of one that nobody can read, one line comes, which begins with a mark of
    the header's.
    """
    line = brief_line(render_header(facts))
    assert len(line.splitlines()) == 1
    assert line[0] in MARKS.values()


@given(headers, lines, st.sampled_from(["fail", "unknown"]))
def test_what_failed_is_not_left_out(facts: HeaderFacts, line: HeaderLine, mark: str) -> None:
    """Where any call failed or nobody knows of it, and where the verdict is not ok, one line is not
    enough.
    """
    facts = msgspec.structs.replace(
        facts,
        run=RUN,
        flow="turn@7",
        lines=(*facts.lines, msgspec.structs.replace(line, mark=mark)),
    )
    assert needs_all(render_header(facts))
    assert needs_all(header(status="failed", reason="nothing_done"))


@pytest.mark.parametrize("reason", [*FallbackReason, *RecourseReason])
def test_falling_back_is_not_left_out(reason: str) -> None:
    """B-28 "each attempt carries a reason code and shows in metadata/header": what took another's
    place is seen without asking.
    """
    told = header(lines=(HeaderLine(mark="info", what="step 1", reason=reason),))
    assert needs_all(told)
    assert f"({reason})" in in_words(told, meanings())


@given(headers, text)
def test_words_stand_beside_their_codes(facts: HeaderFacts, words: str) -> None:
    """In words a header loses none of its lines and gains none, and what is quoted stays as it
    is.
    """
    quoting = HeaderLine(mark="info", what="path direct", reason="route.of_mode", excerpt=words)
    rendered = render_header(msgspec.structs.replace(facts, lines=(*facts.lines, quoting)))
    told = in_words(rendered, meanings())
    assert told.count("\n") == rendered.count("\n")
    before, after = rendered.split("\n")[-2], told.split("\n")[-2]
    meaning = meanings()["route.of_mode"].rstrip(".")
    assert after == before.replace(" · route.of_mode", f" · {meaning} (route.of_mode)", 1)


def test_offline_has_no_tokens() -> None:
    """Where code answers because no model is set up, no tokens and no dollars are told; with a
    model they are.
    """
    told = in_words(header(models=(f"default ({OFFLINE}: {OFFLINE})",), usd_micros=0), {})
    assert told.endswith("· 2 steps, 3 model calls, 2 verb calls, 1742 ms")
    assert "tokens" in in_words(header(), {})


@given(headers, text)
def test_a_header_as_faces_give_it_says_the_same(facts: HeaderFacts, words: str) -> None:
    """What every face gives loses no line, no count and no remark of the recorded header, and is
    not changed again by a face that reads it.
    """
    recalling = HeaderLine(mark="ok", what=RECALL_VERB, excerpt=words)
    recorded = render_header(
        msgspec.structs.replace(facts, run=RUN, flow="turn@7", lines=(*facts.lines, recalling))
    )
    given_out = readable_header(recorded)
    assert given_out.count("\n") == recorded.count("\n")
    assert (brief_line(given_out), needs_all(given_out)) == (
        brief_line(recorded),
        needs_all(recorded),
    )
    assert readable_header(given_out) == given_out


@pytest.mark.parametrize(
    ("what", "excerpt", "line"),
    [
        (
            RECALL_VERB,
            "{'fragments':[],'method':'dense','mode':'deep','notice':'','of':0}",
            "✓ recall.fetch_context · recalled nothing",
        ),
        (
            f"{RECALL_VERB} (run 4fbf665085261d20abc3405a292c5504)",
            "{'fragments':[{'author':'ada','text':'tea'}],'method':'text'}",
            "✓ recall.fetch_context (run 4fbf665085261d20abc3405a292c5504) · recalled something",
        ),
        ("math.evaluate", "{'fragments':[]}", "✓ math.evaluate · \"{'fragments':[]}\""),
        (
            "math.evaluate",
            "✓ recall.fetch_context · \"{'fragments':[]}",
            "✓ math.evaluate · \"recall.fetch_context '{'fragments':[]}\"",
        ),
    ],
)
def test_what_memory_gave_is_told_in_words(what: str, excerpt: str, line: str) -> None:
    """Nobody is shown what memory returned as a programmer would see it; what another verb gave,
    and what imitates that line, stays as it is.
    """
    assert (
        readable_header(header(lines=(HeaderLine(mark="ok", what=what, excerpt=excerpt),))).split(
            "\n"
        )[2]
        == line
    )


def test_a_turn_that_recalled_did_not_do_nothing() -> None:
    """Recall ran by itself: neither the line below nor the one line says that nothing was used;
    where it did not run they do.
    """
    own = Act(verb=RECALL_VERB, call="r", end=ActEnd.DONE, own=True)
    recalled = HeaderLine(mark="ok", what=RECALL_VERB, excerpt="{'fragments':[{'text':'tea'}]}")
    one_file, two_files = (
        HeaderLine(mark="info", what=f"attached: 2 of 9 passages of {of} given to the model")
        for of in ("1 document", "2 documents")
    )
    by_itself = "· no tool was used; code {} by itself"
    for acts, below, line, one in (
        ((own,), (recalled,), by_itself, "looked in memory"),
        ((own,), (recalled, one_file), by_itself, "read the attachment"),
        ((own,), (recalled, two_files), by_itself, "read the attachments"),
        ((), (), "· no tool was used", "no tool"),
    ):
        told = header(acts=acts, lines=below, verb_calls=0, proposed=0)
        assert readable_header(told).split("\n")[-2] == line.format(one)
        assert brief_line(told) == brief_line(readable_header(told))
        assert brief_line(told) == f"✓ gpt-x · {one} · 1.7 s · $0.0003 · ae3473"


def test_no_price_is_no_cost_of_nothing() -> None:
    """Of a model without a price the whole header tells tokens and no money, the line neither; what
    was reserved is told with its tokens. So it is however often it is made readable.
    """
    told = readable_header(header(usd_micros=0))
    assert told.endswith(" tokens, 1742 ms")
    assert "$" not in brief_line(told) + told
    assert readable_header(told) == told
    kept = readable_header(header(usd_micros=0, reserved_tokens=7))
    assert kept.endswith(
        " tokens (of it reserved for attempts that told of no use: 7 tokens), 1742 ms"
    )
    apart = readable_header(header(usd_micros=0, reserved_tokens=7, reserves_apart=True))
    assert apart.endswith(
        " tokens (reserved for attempts that told of no use: 7 tokens more), 1742 ms"
    )
    briefs = [read_brief(one) for one in (told, kept, apart)]
    assert [one is not None and one.estimated for one in briefs] == [False, True, True]
    assert usage_of(told).prompt_tokens == usage_of(header(usd_micros=0)).prompt_tokens > 0


def test_what_has_done_nothing_yet_is_one_line() -> None:
    """A header so far without a line of work."""
    assert at_work(header(), meanings()) == brief_line(header())


def test_what_is_at_work_shows_its_steps() -> None:
    """While a run goes on: its line, and what was done so far; models and sums stand in the
    line.
    """
    done = HeaderLine(mark="ok", what="math.evaluate")
    told = at_work(header(status="running", reason="unfinished", lines=(done,)), meanings())
    assert told == "· in progress · gpt-x · 2 tools · 1.7 s · $0.0003 · ae3473\n✓ math.evaluate"


def test_what_has_done_nothing_so_far_is_one_line() -> None:
    """A model that was not asked yet is none that was not asked; a run within is named once it has
    done something.
    """
    inner = HeaderLine(
        mark="info",
        what="verb_plan@2 (run c90046392307620d40fd5a4ca4ff2945) at work",
        reason="running",
    )
    begun = {
        "status": "running",
        "reason": "unfinished",
        "models": (),
        "model_calls": 0,
        "verb_calls": 0,
        "usd_micros": 0,
        "acts": (),
    }
    assert at_work(header(**begun, lines=(inner,)), meanings()) == "· in progress · 1.7 s · ae3473"
    done = HeaderLine(mark="ok", what="math.evaluate", depth=1)
    assert at_work(header(**begun, lines=(inner, done)), meanings()).split("\n")[1:] == [
        "· verb_plan@2 (run c90046392307620d40fd5a4ca4ff2945) at work · running",
        "  ✓ math.evaluate",
    ]


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("gpt-x", "gpt-x"),
        ("meta/llama-3:8b@q4", "meta/llama-3:8b@q4"),
        ("gpt-x, 2 tools, mail.send sent", "worker"),
        ("✓ ok, sent", "worker"),
        ("m" * 64, "m" * 64),
        ("m" * 300, "worker"),
        ("(x)", "worker"),
        ("", "worker"),
    ],
)
def test_a_model_is_named_and_says_nothing(told: str, shown: str) -> None:
    """What an endpoint calls its model stands in the line where it is a name; else the profile
    does, with what it cost.
    """
    header = render_header(
        with_verdict(msgspec.structs.replace(DONE, models=(f"worker (openai: {told})",)))
    )
    assert brief_line(header) == f"✓ {shown} · 2 tools · 1.7 s · $0.0003 · {RUN[-6:]}"


@pytest.mark.parametrize("told", ["scripted", "offline", "Scripted", "OFFLINE"])
def test_an_endpoint_passes_for_no_provider_without_a_model(told: str) -> None:
    """Whatever it calls its model, the line does not read as where none was asked."""
    header = render_header(
        with_verdict(msgspec.structs.replace(DONE, models=(f"worker (openai: {told})",)))
    )
    assert brief_line(header) == f"✓ worker · 2 tools · 1.7 s · $0.0003 · {RUN[-6:]}"
    scripted = render_header(
        with_verdict(msgspec.structs.replace(DONE, models=("worker (scripted: scripted)",)))
    )
    assert " · ".join(brief_line(scripted).split(" · ")[:1]) == "✓ scripted"


@pytest.mark.parametrize("notice", [CUT, SILENCED, ENDED_UNSAID])
def test_a_cut_answer_is_more_than_one_line(notice: str) -> None:
    """Whoever reads an answer of which something may be missing sees that: it was cut at its
    length, it broke off, or nobody said that it was whole.
    """
    header = render_header(with_verdict(msgspec.structs.replace(DONE, notices=(notice,))))
    assert needs_all(header)
    assert ended(header) == ("length", "incomplete")
    assert ended(render_header(with_verdict(DONE))) == ("stop", "completed")
