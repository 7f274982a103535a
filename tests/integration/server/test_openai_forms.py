"""What a client wants of an answer's form is said by nobody: it reaches the model and stands in no
word of the user's; what is no answer is told as none.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ordain.contracts.model_policy import ModelErrorCode
from ordain.ports.model import Heard, ModelError, ModelRequest
from ordain.rules.approve import ApprovalState
from ordain.server import Face, build_app
from ordain.server.openai.asked import AS_JSON
from ordain.testing import ModelScript, output
from tests.integration.conversation.test_workflows import Office, office
from tests.integration.server.openai_house import CHAT, RESPONSES, frames_of, house, text_of, turns
from tests.shapes.lines import asks, script_of
from tests.shapes.talk import WORKSPACE

SAID = {"Ordain-Session": "s1"}
JSON = {"type": "json_object"}
WAYS = [(path, stream) for path in (CHAT, RESPONSES) for stream in (False, True)]
FORMED = ModelScript().on("verb", output(content='{"day": "Wednesday"}'))
FAILS = [{"$error": "authentication", "message": "no such key"}] * 4


class Unkeyed:
    """A model that takes no key."""

    async def attempt(self, request: ModelRequest, heard: Heard | None = None) -> ModelError:
        return ModelError(code=ModelErrorCode.AUTHENTICATION, message="no such key")

    async def close(self) -> None:
        """Nothing is open."""


@asynccontextmanager
async def served(
    home: Path, script: ModelScript = FORMED
) -> AsyncIterator[tuple[Office, httpx2.AsyncClient]]:
    """An office with its HTTP face."""
    async with office(home, script=script) as desk:
        transport = httpx2.ASGITransport(
            build_app(Face(runtime=desk.ordain.runtime)), raise_app_exceptions=False
        )
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            yield desk, http


def body_of(
    path: str, text: str, *, stream: bool = False, formed: bool = True, **more: Any
) -> dict[str, Any]:
    """A request of either address."""
    said = {"messages": turns(text)} if path == CHAT else {"input": text}
    form = {"response_format": JSON} if path == CHAT else {"text": {"format": JSON}}
    return {
        "model": "ordain",
        "user": "ada",
        "stream": stream,
        **said,
        **(form if formed else {}),
        **more,
    }


async def told(http: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """An answer, whole; of a stream what it ends with, and of a completion's the pieces put
    together.
    """
    answer = await http.post(path, json=body, headers=SAID)
    assert answer.status_code == 200, answer.text
    if not body["stream"]:
        return answer.json()
    frames = frames_of(answer.text)
    if path == RESPONSES:
        return frames[-1]["response"]
    deltas = [choice["delta"] for frame in frames[:-1] for choice in frame["choices"]]
    joined = {
        name: "".join(delta.get(name) or "" for delta in deltas) for name in ("content", "refusal")
    }
    return {
        **frames[-2],
        "choices": [{"message": {**joined, "refusal": joined["refusal"] or None}}],
    }


def words_of(path: str, answer: dict[str, Any]) -> tuple[str, str | None]:
    """The text of an answer, and the refusal, where it is one."""
    if path == CHAT:
        return text_of(answer), answer["choices"][0]["message"]["refusal"]
    (part,) = answer["output"][0]["content"]
    return part.get("text") or part["refusal"], part.get("refusal")


async def test_the_form_of_an_answer_is_no_word_of_the_users(tmp_path: Path) -> None:
    """The model is told of it; transcript, lists and what is matched later hold the user's words
    alone, and the run replays with it.
    """
    async with served(tmp_path) as (desk, http):
        answer = await told(http, CHAT, body_of(CHAT, "Which day is it?"))
        assert words_of(CHAT, answer) == ('{"day": "Wednesday"}', None)
        assert AS_JSON in desk.puppet.requests[-1].user
        entries = (await http.get("/sessions/s1/messages")).json()["entries"]
        assert [entry["text"] for entry in entries if entry["event"] == "message"] == [
            "Which day is it?"
        ]
        runs = (await http.get("/runs")).json()["runs"]
        assert [run["words"] for run in runs if run["run_id"] == answer["ordain"]["run_id"]] == [
            "Which day is it?"
        ]
        assert (await http.get("/sessions")).json()["sessions"][0]["words"] == "Which day is it?"
        again = [*turns("Which day is it?", '{"day": "Wednesday"}'), *turns("And then?")]
        on = (
            await http.post(CHAT, json={"model": "ordain", "user": "ada", "messages": again})
        ).json()
        assert on["ordain"]["continuation"] == "continuation.found"


@pytest.mark.parametrize(("path", "stream"), WAYS)
async def test_how_things_stand_is_told_where_json_was_asked_for(
    tmp_path: Path, path: str, stream: bool
) -> None:
    """A question after what waits is no request of its own, stop stops it, and what code says of
    that is a refusal of the form, and no error.
    """
    async with served(tmp_path) as (desk, http):
        _, view = await desk.proposed("tell them", "announce", text="tea is ready")
        for formed in (False, True):
            answer = await told(
                http, path, body_of(path, "any luck?", stream=stream, formed=formed)
            )
            text, refusal = words_of(path, answer)
            assert "waiting for somebody who may approve" in text
            assert refusal == (text if formed else None)
            assert answer["ordain"]["approval_id"] == view.row.id
        assert [
            one.row.state
            for one in await desk.ordain.runtime.approvals.listed(WORKSPACE, states=())
        ] == [ApprovalState.OPEN]
        text, refusal = words_of(path, await told(http, path, body_of(path, "stop", stream=stream)))
        assert "stopped" in text
        assert refusal == text
        await desk.quiet()
        assert desk.query("SELECT flow, count(*) FROM runs WHERE flow = 'turn' GROUP BY flow") == [
            ("turn", 1)
        ]


@pytest.mark.parametrize(("path", "stream"), WAYS)
async def test_a_yes_that_is_not_taken_names_the_approval(
    tmp_path: Path, path: str, stream: bool
) -> None:
    """Its answer says in the header that the approval is still open, and beside it which one; what
    tells of none names none.
    """
    async with served(tmp_path, ModelScript().on("verb", output(content="It is by the sea."))) as (
        desk,
        http,
    ):
        _, view = await desk.proposed("tell them", "announce", text="tea is ready")
        beside = await told(
            http, path, body_of(path, "yes. What is a lighthouse?", stream=stream, formed=False)
        )
        assert beside["ordain"]["approval_id"] == view.row.id
        other = await told(
            http, path, body_of(path, "What is a lighthouse?", stream=stream, formed=False)
        )
        assert other["ordain"]["approval_id"] is None


async def test_an_answer_to_a_question_is_the_users_word_alone(tmp_path: Path) -> None:
    """A yes beside a form is the yes that the question takes, and the question itself is told as
    none of the form.
    """
    script = script_of(
        asks("whether", "yes_no"), ModelScript().on("verb", output(content='{"sent": true}'))
    )
    async with served(tmp_path, script) as (desk, http):
        asked = await told(
            http, CHAT, body_of(CHAT, "find out whether I shall send it", model="ordain-agent")
        )
        text, refusal = words_of(CHAT, asked)
        assert text.startswith("? a question, which the next message answers")
        assert refusal == text
        await http.post(CHAT, json=body_of(CHAT, "yes"), headers=SAID)
        entries = (await http.get("/sessions/s1/messages")).json()["entries"]
        assert [entry["attached"] for entry in entries if entry["event"] == "message"] == [
            "new_request",
            "answer_to_pending",
        ]
        assert desk.query("SELECT count(*) FROM runs WHERE flow = 'turn'") == [(1,)]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_response_whose_model_gave_no_answer_has_failed(
    tmp_path: Path, stream: bool
) -> None:
    """With the model's error and what people can do, whole and streamed; its text tells it, and a
    chat completion's as ever.
    """
    async with house(tmp_path, chat_general=FAILS) as (_, http):
        answer = await http.post(
            RESPONSES, json=body_of(RESPONSES, "Which day?", stream=stream, formed=False)
        )
        events = frames_of(answer.text) if stream else []
        response = events[-1]["response"] if stream else answer.json()
        assert not stream or events[-1]["type"] == "response.failed"
        assert (response["status"], response["error"]["code"]) == ("failed", "model_authentication")
        assert "check what key_env or key_file refers to" in response["error"]["message"]
        assert (response["output"][0]["status"], response["incomplete_details"]) == (
            "incomplete",
            None,
        )
        assert "\n> This was not done" in response["output"][0]["content"][0]["text"]
        chat = await http.post(CHAT, json=body_of(CHAT, "Which day?", formed=False))
        assert "\n> This was not done" in text_of(chat.json())


@pytest.mark.parametrize("model", ["ordain", "ordain-agent", "ordain-council", "ordain-task"])
async def test_where_a_form_was_asked_for_a_models_failure_is_no_mistake_of_the_callers(
    tmp_path: Path, model: str
) -> None:
    """A 502 of OpenAI's shape with the model's error, which no client repeats by itself; a stream
    ends with that error.
    """
    async with house(tmp_path, model=Unkeyed()) as (_, http):
        for path in (CHAT, RESPONSES):
            answer = await http.post(path, json=body_of(path, "Which day?", model=model))
            error = answer.json()["error"]
            assert (answer.status_code, error["type"], error["code"]) == (
                502,
                "server_error",
                "model_authentication",
            ), error
            assert "check what key_env or key_file refers to" in error["message"]
            assert answer.headers["x-should-retry"] == "false"
        streamed = frames_of(
            (await http.post(CHAT, json=body_of(CHAT, "Which day?", model=model, stream=True))).text
            or "data: {}"
        )
        assert model == "ordain-task" or streamed[-1]["error"]["code"] == "model_authentication"


SENT = {
    "text": {
        "format": {
            "type": "json_schema",
            "name": "day",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {"day": {"type": "string", "default": None}},
            },
        },
        "verbosity": "low",
    },
    "instructions": "Be brief.",
    "metadata": {"shop": "north"},
    "temperature": 0.25,
    "top_p": 0.5,
    "max_output_tokens": 900,
    "max_tool_calls": 3,
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "truncation": "auto",
    "reasoning": {"effort": "low"},
    "store": False,
    "user": "ada",
    "safety_identifier": "a1",
    "prompt_cache_key": "k1",
    "top_logprobs": 0,
    "background": False,
}


@pytest.mark.parametrize("stream", [False, True])
async def test_a_response_gives_back_what_its_request_asked_for(
    tmp_path: Path, stream: bool
) -> None:
    """Whole and in every event that holds a response: clients read the answer by ``text.format``;
    what counted for nothing is named beside it.
    """
    async with served(tmp_path) as (_, http):
        answer = await http.post(
            RESPONSES, json={"model": "ordain", "input": "Which day?", "stream": stream, **SENT}
        )
    assert answer.status_code == 200, answer.text
    found = (
        [one["response"] for one in frames_of(answer.text) if "response" in one]
        if stream
        else [answer.json()]
    )
    assert len(found) == (3 if stream else 1)
    for one in found:
        assert {name: one[name] for name in SENT} == SENT
    assert found[-1]["status"] == "completed"
    assert {"temperature", "top_p", "max_output_tokens"} <= set(found[-1]["ordain"]["ignored"])


async def test_a_response_has_openais_defaults_for_what_was_not_sent(tmp_path: Path) -> None:
    """And where what was sent is nothing of its kind, which is ignored by name: it is not given
    back as if it had counted.
    """
    async with house(
        tmp_path, chat_general=[{"content": "Wednesday."}, {"content": "Thursday."}]
    ) as (_, http):
        bare = (
            await http.post(
                RESPONSES, json={"model": "ordain", "input": "Which day?", "conversation": "c1"}
            )
        ).json()
        odd = (
            await http.post(
                RESPONSES,
                json={
                    "model": "ordain",
                    "input": "And then?",
                    "temperature": "hot",
                    "reasoning": 4,
                },
            )
        ).json()
    told = {
        "text": {"format": {"type": "text"}},
        "tools": [],
        "tool_choice": "none",
        "truncation": "disabled",
        "background": False,
    }
    assert {name: bare[name] for name in told} == told
    assert (bare["temperature"], bare["conversation"], bare["metadata"]) == (None, {"id": "c1"}, {})
    assert (odd["temperature"], odd["reasoning"], odd["text"]) == (None, None, told["text"])
    assert odd["ordain"]["ignored"] == ["reasoning", "temperature"]


async def test_a_response_that_failed_gives_its_request_back_too(tmp_path: Path) -> None:
    """The last event of a stream whose model gave no answer."""
    async with house(tmp_path, chat_general=FAILS) as (_, http):
        answer = await http.post(
            RESPONSES,
            json={"model": "ordain", "input": "Which day?", "stream": True, "temperature": 0.5},
        )
    last = frames_of(answer.text)[-1]
    assert (last["type"], last["response"]["temperature"]) == ("response.failed", 0.5)


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"logprobs": True}, "logprobs"),
        ({"include": ["reasoning.encrypted_content", "message.output_text.logprobs"]}, "include.1"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"background": True}, "background"),
        ({"conversation": {"id": "no such name"}}, "conversation.id"),
        ({"conversation": "no such name"}, "conversation"),
        ({"metadata": {"session_id": "a\nb"}}, "metadata.session_id"),
        (
            {"input": [{"role": "user", "content": [{"type": "refusal", "refusal": "No."}]}]},
            "input.0.content.0.type",
        ),
    ],
)
async def test_what_a_response_would_leave_undone_is_refused(
    tmp_path: Path, more: dict[str, Any], param: str
) -> None:
    """As of a chat completion, by the place that asks for it; no session begins, and no model is
    asked.
    """
    async with served(tmp_path) as (_, http):
        answer = await http.post(RESPONSES, json={"model": "ordain", "input": "Which day?", **more})
        error = answer.json()["error"]
        code = (
            "conversation_unfit"
            if "such name" in str(more) or "metadata" in more
            else "unsupported_parameter"
        )
        assert (answer.status_code, error["code"], error["param"]) == (422, code, param)
        assert (await http.get("/sessions")).json()["sessions"] == []


async def test_a_schemes_letters_are_large_or_small(tmp_path: Path) -> None:
    """A file whose address says ``DATA:`` and ``BASE64`` is a file with its bytes."""
    part = {
        "type": "input_file",
        "filename": "lease.md",
        "file_data": f"DATA:text/markdown;BASE64,{b64encode(b'No dogs.').decode()}",
    }
    async with served(tmp_path, ModelScript().on("verb", output(content="No."))) as (_, http):
        said = [
            {"role": "user", "content": [{"type": "input_text", "text": "May I keep a dog?"}, part]}
        ]
        answer = await http.post(RESPONSES, json={"model": "ordain", "input": said})
        assert answer.status_code == 200, answer.text
        assert [one["title"] for one in (await http.get("/docs")).json()["documents"]] == [
            "lease.md"
        ]
