"""What an endpoint refuses by name is left out of the next request, learnt once it was taken, and
kept.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from msgspec import structs

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile, Structured
from ordain.models import responses
from ordain.models.chat_completions import encode_request
from ordain.models.refusals import DOUBTED, RESPONSE_LEAVES, doubted_of, fault_of
from ordain.ports.model import Leave, ModelError, ModelReply, ModelRequest
from ordain.runtime.ways import Ways

PROFILE = ModelProfile(
    provider="openai", model="m", base_url="http://127.0.0.1:1/v1", temperature=0.5
)
ALLOWED = {"model", "messages"}


REQUEST = ModelRequest(
    profile=PROFILE,
    purpose="verb",
    system="Be kind.",
    user="Hi",
    schema_name="s",
    schema=None,
    max_tokens=9,
    timeout_s=1,
    inputs={},
    index=0,
)


def asked(left: frozenset[Leave]) -> dict[str, Any]:
    return json.loads(encode_request(structs.replace(REQUEST, left=left), stream=True))


def refusal(body: dict[str, Any], refuses: str) -> str:
    """What an endpoint says of the first thing in a request that it does not take; "" where it
    takes it.
    """
    names = [*body, *(f"{message['role']} role" for message in body["messages"])]
    found = [name for name in names if re.fullmatch(refuses, name)]
    return f"unknown field {','.join(sorted(found))}" if found else ""


@pytest.mark.parametrize(
    ("refuses", "left"),
    [
        ("stream", {Leave.STREAM}),
        ("stream_options", {Leave.STREAM_COUNTS}),
        ("system role", {Leave.SYSTEM}),
        ("max_tokens", {Leave.LENGTH_RENAMED}),
        ("temperature", {Leave.TEMPERATURE}),
        ("(?!model|messages|user).*", set(Leave) - {Leave.STORE}),
    ],
)
def test_what_is_refused_is_left_out_step_by_step(refuses: str, left: set[Leave]) -> None:
    """Each refusal names what the next request does without; the one that is taken teaches it,
    whatever profile asks next.
    """
    ways = Ways()
    for _ in range(len(Leave) + 1):
        without = ways.left("p", PROFILE)
        said = refusal(asked(without), refuses)
        body = json.dumps({"error": {"message": said}}).encode()
        if not said:
            break
        error = ModelError(
            code=ModelErrorCode.REJECTED, message="", left=without, fault=fault_of(body, without)
        )
        assert ways.heard("p", PROFILE, error, 1)[1] is True
    else:
        raise AssertionError("never taken")
    assert without == left
    ways.heard(
        "p",
        PROFILE,
        ModelReply(text="Hi", model="m", input_tokens=1, output_tokens=1, left=without),
        1,
    )
    assert ways.left("p", PROFILE) == left
    assert ways.left("p", PROFILE.model_copy(update={"model": "other"})) == set()


def test_a_refusal_for_something_else_teaches_nothing() -> None:
    """Where nothing more can be left out, what was suspected is forgotten, and the error stands."""
    ways = Ways()
    first = ModelError(code=ModelErrorCode.REJECTED, message="", fault=Leave.SYSTEM)
    assert ways.heard("p", PROFILE, first, 1)[1] is True
    assert ways.left("p", PROFILE) == {Leave.SYSTEM}
    again = ModelError(code=ModelErrorCode.REJECTED, message="", left=frozenset({Leave.SYSTEM}))
    assert ways.heard("p", PROFILE, again, 1) == (again, False)
    assert ways.left("p", PROFILE) == set()
    assert fault_of(b'{"error": {"message": "bad things"}}', ()) is None
    assert fault_of(b"\xff", ()) is None


def refused(ways: Ways, held: Structured | None, doubted: frozenset[Leave] = frozenset()) -> bool:
    """An endpoint says that a request is wrong, and not where."""
    left = ways.left("p", PROFILE)
    return ways.heard(
        "p",
        PROFILE,
        ModelError(code=ModelErrorCode.REJECTED, message="", held=held, left=left, doubted=doubted),
        1,
    )[1]


def taken(ways: Ways, held: Structured | None) -> None:
    reply = ModelReply(
        text="{}",
        model="m",
        input_tokens=1,
        output_tokens=1,
        held=held,
        left=ways.left("p", PROFILE),
    )
    ways.heard("p", PROFILE, reply, 1)


def test_a_refusal_that_names_nothing_steps_down_way_by_way() -> None:
    """Schema, tool, words, and only then without what may be meant; where that was it, the ways
    above are not held to be refused.
    """
    ways = Ways()
    for way in (Structured.NATIVE, Structured.TOOL):
        assert ways.way("p", PROFILE) is way
        assert refused(ways, way, frozenset({Leave.TEMPERATURE}))
        assert ways.left("p", PROFILE) == set()
    assert refused(ways, Structured.TEXT, frozenset({Leave.TEMPERATURE}))
    assert (ways.way("p", PROFILE), ways.left("p", PROFILE)) == (
        Structured.TEXT,
        {Leave.TEMPERATURE},
    )
    taken(ways, Structured.TEXT)
    assert (ways.way("p", PROFILE), ways.left("p", PROFILE)) == (
        Structured.NATIVE,
        {Leave.TEMPERATURE},
    )
    assert ways.learnt("p", PROFILE) == {}


def test_a_refusal_of_everything_teaches_nothing() -> None:
    """At the end of all steps the error stands, and the next call begins anew."""
    ways = Ways()
    assert [
        refused(ways, way) for way in (Structured.NATIVE, Structured.TOOL, Structured.TEXT)
    ] == [True, True, False]
    assert (ways.way("p", PROFILE), ways.left("p", PROFILE)) == (Structured.NATIVE, set())
    assert [refused(ways, None, more) for more in (*DOUBTED, frozenset[Leave]())] == [
        True,
        True,
        True,
        False,
    ]
    assert ways.left("p", PROFILE) == set()


def test_what_is_named_as_well_is_no_lesson_of_a_way() -> None:
    """A way that was refused while something else was wrong with the request is tried again."""
    ways = Ways()
    assert refused(ways, Structured.NATIVE)
    named = ModelError(
        code=ModelErrorCode.REJECTED, message="", held=Structured.TOOL, fault=Leave.TEMPERATURE
    )
    assert ways.heard("p", PROFILE, named, 1)[1]
    taken(ways, Structured.TOOL)
    assert (ways.way("p", PROFILE), ways.left("p", PROFILE)) == (
        Structured.NATIVE,
        {Leave.TEMPERATURE},
    )


@pytest.mark.parametrize(
    ("body", "fault", "doubted"),
    [
        (b'{"error": {"message": "bad request"}}', None, DOUBTED[0]),
        (b"", None, DOUBTED[0]),
        (b"<html>", None, DOUBTED[0]),
        (b'{"error": {"message": "no", "param": "messages"}}', None, frozenset()),
        (b'{"detail": [{"loc": ["body", "messages"], "msg": "too many"}]}', None, frozenset()),
        (
            b'{"detail": [{"loc": ["body", "store"], "msg": "extra fields not permitted"}]}',
            Leave.STORE,
            DOUBTED[0],
        ),
        (b'{"error": {"message": "unsupported: instructions"}}', Leave.SYSTEM, DOUBTED[0]),
        (b'{"error": {"message": "max_output_tokens must be absent"}}', Leave.LENGTH, DOUBTED[0]),
    ],
)
def test_what_a_refusal_of_a_response_names(
    body: bytes, fault: Leave | None, doubted: frozenset[Leave]
) -> None:
    """The other wire has a table of its own; where nothing is named, what is missed least is left
    out first.
    """
    assert fault_of(body, (), RESPONSE_LEAVES) is fault
    if fault is None:
        assert doubted_of(400, body, frozenset(Leave), at_once=False) == doubted
        assert doubted_of(409, body, frozenset(Leave), at_once=False) == frozenset()
        assert Leave.LENGTH not in doubted_of(422, body, frozenset(Leave), at_once=True)


def test_a_response_does_without_what_it_is_told_to() -> None:
    """Each part is left out on its own, and the system text is still said."""
    request = structs.replace(REQUEST, left=frozenset(Leave))
    assert json.loads(responses.encode_request(request, stream=True)) == {
        "model": "m",
        "input": "Be kind.\n\nHi",
    }
    kept = json.loads(responses.encode_request(REQUEST, stream=True))
    assert kept == {
        "model": "m",
        "instructions": "Be kind.",
        "input": "Hi",
        "max_output_tokens": 9,
        "store": False,
        "temperature": 0.5,
        "stream": True,
    }
