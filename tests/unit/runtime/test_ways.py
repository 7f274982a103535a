"""How a profile's answers are held to their schema: what is stepped down to, what is learnt of an
endpoint, and when it is forgotten.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile, Structured
from ordain.ports.model import ModelError, ModelReply, ModelRequest
from ordain.ports.ways import Learnt, LearntWays
from ordain.runtime.ways import Ways, endpoint_digest

NATIVE, TOOL, TEXT = Structured
PROFILE = ModelProfile(provider="openai", model="small", base_url="http://near.test/v1")
REFUSED = ModelError(code=ModelErrorCode.REJECTED, message="status 400")
MISCALLED = ModelError(code=ModelErrorCode.MALFORMED, message="another tool", miscalled=True)
UNCALLED = ModelError(code=ModelErrorCode.MALFORMED, message="not called", ignored=True)
NOW = 1_800_000_000_000_000


class Shelf:
    """A ``WaysStore`` in memory."""

    def __init__(self, full: bool = False) -> None:
        self.kept: dict[str, LearntWays] = {}
        self.written = 0
        self.full = full

    def read(self) -> Mapping[str, LearntWays]:
        return dict(self.kept)

    def write(self, learnt: Mapping[str, LearntWays]) -> None:
        if self.full:
            raise OSError(28, "No space left on device")
        self.kept, self.written = dict(learnt), self.written + 1


def reply(held: Structured | None, text: str = '{"a": 1}') -> ModelReply:
    return ModelReply(text=text, model="small", input_tokens=1, output_tokens=1, held=held)


def error(said: ModelError, held: Structured | None) -> ModelError:
    return ModelError(
        code=said.code,
        message=said.message,
        held=held,
        ignored=said.ignored,
        miscalled=said.miscalled,
    )


def meet(ways: Ways, said: ModelReply | ModelError, profile: ModelProfile = PROFILE) -> bool:
    """Whether the next attempt steps down."""
    return ways.heard("m", profile, said, NOW)[1]


def test_what_is_refused_is_asked_for_in_the_next_way() -> None:
    """A schema, a tool, words: each refusal leads to the next way, and the one that is taken shows
    what was refused.
    """
    ways = Ways(shelf := Shelf())
    assert ways.way("m", PROFILE) is NATIVE
    assert meet(ways, error(REFUSED, NATIVE))
    assert ways.way("m", PROFILE) is TOOL
    assert meet(ways, error(REFUSED, TOOL))
    assert ways.way("m", PROFILE) is TEXT
    assert shelf.kept == {}
    assert not meet(ways, reply(TEXT))
    assert ways.learnt("m", PROFILE) == {NATIVE: Learnt.REFUSED, TOOL: Learnt.REFUSED}
    assert shelf.kept["m"] == LearntWays(
        endpoint=endpoint_digest(PROFILE),
        at=NOW,
        ways={NATIVE: Learnt.REFUSED, TOOL: Learnt.REFUSED},
    )


def test_what_is_refused_in_every_way_says_nothing_of_them() -> None:
    """A request that words alone do not save was refused for another reason: nothing is learnt, and
    it begins again at the top.
    """
    ways = Ways(shelf := Shelf())
    assert [meet(ways, error(REFUSED, way)) for way in (NATIVE, TOOL, TEXT)] == [True, True, False]
    assert (ways.way("m", PROFILE), shelf.written) == (NATIVE, 0)


@pytest.mark.parametrize(
    "said",
    [reply(NATIVE, "The sea is {blue}."), error(UNCALLED, NATIVE)],
    ids=["words", "no tool called"],
)
def test_what_is_passed_over_is_learnt_at_once(said: ModelReply | ModelError) -> None:
    """Words where a schema was to be kept are no answer but a failed attempt, which is repeated in
    the next way.
    """
    ways = Ways(shelf := Shelf())
    counted, lower = ways.heard("m", PROFILE, said, NOW)
    assert isinstance(counted, ModelError)
    assert (counted.code, lower, ways.way("m", PROFILE)) == (ModelErrorCode.MALFORMED, True, TOOL)
    assert shelf.kept["m"].ways == {NATIVE: Learnt.IGNORED}


def test_a_tool_that_is_called_wrongly_twice_is_passed_over() -> None:
    """Once may be a slip of the model, which is asked again in the same way; a right call between
    says that it was one.
    """
    ways = Ways(shelf := Shelf())
    meet(ways, error(REFUSED, NATIVE))
    assert [
        meet(ways, said) for said in (error(MISCALLED, TOOL), reply(TOOL), error(MISCALLED, TOOL))
    ] == [False, False, False]
    assert ways.way("m", PROFILE) is TOOL
    assert meet(ways, error(MISCALLED, TOOL))
    assert ways.way("m", PROFILE) is TEXT
    assert shelf.kept["m"].ways == {NATIVE: Learnt.REFUSED, TOOL: Learnt.IGNORED}


def test_an_endpoint_that_ignores_one_way_is_believed_of_the_next() -> None:
    """Its first wrong call of a tool is no slip."""
    ways = Ways()
    assert [meet(ways, said) for said in (error(UNCALLED, NATIVE), error(MISCALLED, TOOL))] == [
        True,
        True,
    ]
    assert ways.learnt("m", PROFILE) == {NATIVE: Learnt.IGNORED, TOOL: Learnt.IGNORED}


def test_a_refusal_before_what_is_passed_over_is_learnt_with_it() -> None:
    """The tool was taken, though not called: so it was the native schema that was refused."""
    ways = Ways()
    meet(ways, error(REFUSED, NATIVE))
    assert meet(ways, error(UNCALLED, TOOL))
    assert (ways.learnt("m", PROFILE), ways.way("m", PROFILE)) == (
        {NATIVE: Learnt.REFUSED, TOOL: Learnt.IGNORED},
        TEXT,
    )


def test_what_an_adapter_held_lower_by_itself_leads_below_that() -> None:
    """A schema that the native format does not bear went by tool, which was not called: words are
    left, and not the native format again.
    """
    ways = Ways()
    assert meet(ways, error(UNCALLED, TOOL))
    assert ways.way("m", PROFILE) is TEXT


@pytest.mark.parametrize(
    "text",
    ['{"a": 1}', '```json\n{"a": 1}\n```', '{"a": ', "[1, 2]", '{"a": 1} {"a": 2}', '  {"a": "x'],
)
def test_an_answer_that_begins_as_one_is_for_the_rules(text: str) -> None:
    """Broken, fenced or of another shape: what an answer means a flow's rule judges, and nothing is
    learnt from it.
    """
    ways = Ways()
    said = reply(NATIVE, text)
    assert ways.heard("m", PROFILE, said, NOW) == (said, False)
    assert ways.way("m", PROFILE) is NATIVE


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
REQUEST = ModelRequest(
    profile=PROFILE,
    purpose="planner",
    system="",
    user="",
    schema_name="s",
    schema=SCHEMA,
    max_tokens=9,
    timeout_s=1,
    inputs={"tools": [{"tool_id": "math.evaluate"}]},
    index=0,
)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('<think>e.g. {"expression": "2+2"}</think>I will.', False),
        ('Sure! I will with {"expression": "2+2"}.', False),
        ('{"b": 1}', False),
        ("[]", False),
        ('{"tool": "math.evaluate", "arguments": {"expression": "2+2"}}', True),
        ('<think>{"tool": "math.evaluate", "arguments": {}}</think>No.', False),
    ],
)
def test_what_no_schema_let_through_is_passed_over(text: str, calls: bool) -> None:
    """Whatever JSON it holds: it is a failed attempt with its use, counts as a call where it means
    one, and the next way is asked for.
    """
    ways = Ways()
    counted, lower = ways.heard("m", PROFILE, reply(NATIVE, text), NOW, REQUEST)
    assert isinstance(counted, ModelError)
    assert (counted.code, counted.held, counted.ignored, counted.calls, lower) == (
        ModelErrorCode.MALFORMED,
        NATIVE,
        True,
        calls,
        True,
    )
    assert (counted.input_tokens, counted.output_tokens) == (1, 1)
    assert (ways.learnt("m", PROFILE), ways.way("m", PROFILE)) == ({NATIVE: Learnt.IGNORED}, TOOL)


@pytest.mark.parametrize("held", [TOOL, TEXT])
def test_only_a_native_schema_is_enforced(held: Structured) -> None:
    """What stands in a tool's input, or in words, a model may have got wrong: that is for the
    rules.
    """
    ways, said = Ways(), reply(held, '{"b": 1}')
    assert ways.heard("m", PROFILE, said, NOW, REQUEST) == (said, False)


def test_words_where_only_words_are_left_are_for_the_rules() -> None:
    """There is no lower way: the answer is handed over as it is."""
    ways, said = Ways(), reply(TEXT, "prose")
    assert ways.heard("m", PROFILE, said, NOW) == (said, False)


@pytest.mark.parametrize("code", sorted(set(ModelErrorCode) - {ModelErrorCode.REJECTED}))
def test_no_other_failure_steps_down(code: ModelErrorCode) -> None:
    """What passes, or is the key's or the model's, says nothing of the way."""
    ways = Ways()
    assert not meet(ways, ModelError(code=code, message="", held=NATIVE))
    assert ways.way("m", PROFILE) is NATIVE


def test_a_way_that_is_taken_is_not_suspect_any_more() -> None:
    """Another call's request was taken natively meanwhile: the refusal was that one request's."""
    ways = Ways()
    meet(ways, error(REFUSED, NATIVE))
    meet(ways, reply(NATIVE))
    assert ways.way("m", PROFILE) is NATIVE
    meet(ways, reply(TEXT))
    assert ways.learnt("m", PROFILE) == {}


def test_what_holds_nothing_teaches_nothing() -> None:
    """Plain text, scripts and rules of code are held to no schema."""
    ways = Ways()
    assert not meet(ways, reply(None, "prose"))
    assert not meet(ways, error(REFUSED, None))
    assert ways.way("m", PROFILE) is NATIVE


def test_it_is_known_after_a_restart_and_learnt_once() -> None:
    """The next process begins where the last one stood, and writes nothing that is known."""
    ways = Ways(shelf := Shelf())
    meet(ways, error(REFUSED, NATIVE))
    meet(ways, reply(TOOL))
    after = Ways(shelf)
    assert (after.way("m", PROFILE), shelf.written) == (TOOL, 1)
    meet(after, reply(TOOL))
    meet(after, error(UNCALLED, TOOL))
    assert (after.way("m", PROFILE), shelf.written) == (TEXT, 2)
    assert shelf.kept["m"].ways == {NATIVE: Learnt.REFUSED, TOOL: Learnt.IGNORED}


@pytest.mark.parametrize(
    "changed",
    [
        {"model": "large"},
        {"base_url": "http://far.test/v1"},
        {"api": "responses"},
        {"structured": "tool"},
    ],
)
def test_another_endpoint_is_learnt_anew(changed: dict[str, str]) -> None:
    """What was learnt of one model at one address under one declaration holds for nothing else."""
    ways = Ways()
    meet(ways, error(UNCALLED, TOOL))
    other = ModelProfile.model_validate({**PROFILE.model_dump(mode="json"), **changed})
    assert ways.way("m", other) is other.ways[0]
    assert ways.learnt("m", other) == {}


def test_each_profile_begins_as_it_declares() -> None:
    """Nothing above what is declared is tried; a model in a file has its grammar for a tool."""
    assert ModelProfile(provider="openai", model="m", structured=TOOL).ways == (TOOL, TEXT)
    assert ModelProfile(provider="openai", model="m", native_schema=False).ways == (TEXT,)
    assert ModelProfile(provider="local", model="m").ways == (NATIVE, TEXT)
    assert ModelProfile(provider="local", model="m", structured=TOOL).ways == (NATIVE, TEXT)


def test_storage_that_takes_nothing_is_told_of_and_no_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What was learnt holds until the process ends."""
    ways = Ways(Shelf(full=True))
    with caplog.at_level(logging.WARNING, "ordain.models"):
        assert meet(ways, error(UNCALLED, NATIVE))
    assert ways.way("m", PROFILE) is TOOL
    assert "is not kept: No space left" in caplog.text


SAID = st.sampled_from(
    [
        lambda way: error(REFUSED, way),
        lambda way: error(UNCALLED, way),
        lambda way: error(MISCALLED, way),
        reply,
        lambda way: reply(way, "prose"),
    ]
)


@given(st.lists(st.tuples(st.sampled_from(Structured), SAID), max_size=12))
def test_whatever_comes_there_is_a_way(met: list[tuple[Structured, object]]) -> None:
    """In any order, late ones among them: the way is one of the profile's, words alone are never
    given up, and a step down leads lower.
    """
    ways = Ways()
    for held, make in met:
        said = make(held)  # type: ignore[operator]
        lower = meet(ways, said)
        assert ways.way("m", PROFILE) in PROFILE.ways
        assert TEXT not in ways.learnt("m", PROFILE)
        if lower:
            assert ways.way("m", PROFILE) is not held


def test_that_an_endpoint_answers_is_known_from_then_on() -> None:
    """To the next process and to every profile there, written once; another address is another
    endpoint, and what lies behind no network is not written down.
    """
    shelf, elsewhere = Shelf(), PROFILE.model_copy(update={"base_url": "http://far.test/v1"})
    ways = Ways(shelf)
    assert not ways.has_answered("m", PROFILE)
    for _ in range(3):
        ways.answered("m", PROFILE, NOW)
    assert shelf.written == 1
    assert Ways(shelf).has_answered("m", PROFILE)
    large = PROFILE.model_copy(update={"model": "large"})
    assert Ways(shelf).has_answered("another", large)
    assert not Ways(shelf).has_answered("m", elsewhere)
    script = ModelProfile(provider="scripted", model="small", script="a.json")
    ways.answered("s", script, NOW)
    assert shelf.written == 1


def test_what_cannot_be_kept_is_known_all_the_same() -> None:
    """For as long as the process lives; its disk is not asked with every answer."""
    ways = Ways(Shelf(full=True))
    ways.answered("m", PROFILE, NOW)
    assert ways.has_answered("m", PROFILE)


def test_what_two_processes_learn_is_kept_of_both() -> None:
    """Each of another endpoint, on one folder."""
    shelf, elsewhere = Shelf(), PROFILE.model_copy(update={"base_url": "http://far.test/v1"})
    one, two = Ways(shelf), Ways(shelf)
    one.answered("m", PROFILE, NOW)
    two.answered("n", elsewhere, NOW)
    later = Ways(shelf)
    assert later.has_answered("m", PROFILE)
    assert later.has_answered("n", elsewhere)


def test_whose_ways_are_known_has_answered() -> None:
    """As builds before have written it down."""
    shelf = Shelf()
    shelf.kept["m"] = LearntWays(
        endpoint=endpoint_digest(PROFILE), at=NOW, ways={NATIVE: Learnt.REFUSED}
    )
    assert Ways(shelf).has_answered("m", PROFILE)
