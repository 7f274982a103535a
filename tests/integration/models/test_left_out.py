"""What an endpoint refuses by name is left out of the next request, learnt once it was taken, and kept."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from ordain.contracts.policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile
from ordain.models.chat_completions import encode_request
from ordain.models.refusals import fault_of
from ordain.ports.model import Leave, ModelError, ModelReply, ModelRequest
from ordain.runtime.ways import Ways

PROFILE = ModelProfile(provider="openai", model="m", base_url="http://127.0.0.1:1/v1", temperature=0.5)
ALLOWED = {"model", "messages"}


def asked(left: frozenset[Leave]) -> dict[str, Any]:
    request = ModelRequest(
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
        left=left,
    )
    return json.loads(encode_request(request, stream=True))


def refusal(body: dict[str, Any], refuses: str) -> str:
    """What an endpoint says of the first thing in a request that it does not take; "" where it takes it."""
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
        ("(?!model|messages|user).*", set(Leave)),
    ],
)
def test_what_is_refused_is_left_out_step_by_step(refuses: str, left: set[Leave]) -> None:
    """Each refusal names what the next request does without; the one that is taken teaches it, whatever profile asks next."""
    ways = Ways()
    for _ in range(len(Leave) + 1):
        without = ways.left("p", PROFILE)
        said = refusal(asked(without), refuses)
        body = json.dumps({"error": {"message": said}}).encode()
        if not said:
            break
        error = ModelError(code=ModelErrorCode.REJECTED, message="", left=without, fault=fault_of(body, without))
        assert ways.heard("p", PROFILE, error, 1)[1] is True
    else:
        raise AssertionError("never taken")
    assert without == left
    ways.heard("p", PROFILE, ModelReply(text="Hi", model="m", input_tokens=1, output_tokens=1, left=without), 1)
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
