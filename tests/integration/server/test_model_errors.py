"""What people can do about a model that gave no answer, wherever they are told that it gave
none.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ordain import Ordain
from ordain.app import Extras
from ordain.contracts.events import ReplyEvent
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.remedies import REMEDIES
from ordain.models.scripted import ScriptedModel, make_script
from ordain.server import Face, build_app
from ordain.settings import load_settings

SAID = "Which day comes after Tuesday?"
WHAT = REMEDIES[ModelErrorCode.AUTHENTICATION]
TOLD = f"default: {WHAT}"
FAILS = [{"$error": "authentication", "message": "no such key: sk-4711"}]
MESSAGES = {"messages": [{"role": "user", "content": SAID}]}


@asynccontextmanager
async def house(home: Path) -> AsyncIterator[tuple[Ordain, httpx2.AsyncClient]]:
    """An Ordain whose only model takes no key, and its HTTP face."""
    settings = load_settings({}, home)
    profile = ModelProfile(provider="scripted", model="scripted", script="in memory")
    settings = settings.model_copy(update={"profiles": {"default": profile}})
    model = ScriptedModel(
        make_script(
            planner=FAILS * 4, verbs=dict.fromkeys(("chat_general", "brain.chat"), FAILS * 4)
        )
    )
    async with Ordain(settings, extras=Extras(models={"default": model}, memory=True)) as ordain:
        transport = httpx2.ASGITransport(
            build_app(Face(runtime=ordain.runtime)), raise_app_exceptions=False
        )
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            yield ordain, http


def reply(body: dict[str, Any]) -> Any:
    return body["reply"]["remedies"]


FACES: dict[str, tuple[str, dict[str, Any], Any]] = {
    "messages": (
        "/messages",
        {"sessionId": "s1", "userId": "ada", "message": {"text": SAID}},
        reply,
    ),
    "hub": ("/api/chat", {"text_input": SAID}, reply),
    "gateway": (
        "/v1/cortex/chat",
        {"prompt": SAID},
        lambda body: body["cortex_result"]["remedies"],
    ),
    "chat completions": (
        "/v1/chat/completions",
        {"model": "ordain", **MESSAGES},
        lambda body: body["ordain"]["remedies"],
    ),
    "responses": (
        "/v1/responses",
        {"model": "ordain", "input": SAID},
        lambda body: body["ordain"]["remedies"],
    ),
    "a verb": (
        "/verbs/execute",
        {"verb_id": "brain.chat", "payload": {"text": SAID}},
        lambda body: body["error"]["remedy"],
    ),
    "a plan": (
        "/plan/react",
        {
            "caller": "debug-shell",
            "goal": {"type": "analysis", "description": SAID},
            "toolset": [{"tool_id": "brain.chat"}],
        },
        lambda body: body["error"]["remedy"],
    ),
}


@pytest.mark.parametrize("face", FACES)
async def test_every_face_says_what_to_do(tmp_path: Path, face: str) -> None:
    """With the words of `ordain models test`, beside the header that says what failed."""
    path, body, told = FACES[face]
    async with house(tmp_path) as (_, http):
        answer = await http.post(path, json=body)
        assert answer.status_code == 200, answer.text
        assert told(answer.json()) in (WHAT, [TOLD])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
async def test_the_text_of_an_openai_answer_says_it(
    tmp_path: Path, path: str, stream: bool
) -> None:
    """Below the header, before the quoted words, streamed and whole."""
    said = MESSAGES if path.endswith("completions") else {"input": SAID}
    async with house(tmp_path) as (_, http):
        answer = await http.post(path, json={"model": "ordain", "stream": stream, **said})
        assert f"→ {TOLD}\n\n> " in answer.text.replace("\\n", "\n")


@pytest.mark.parametrize(
    "more",
    [{"model": "ordain-task"}, {"model": "ordain", "response_format": {"type": "json_object"}}],
)
async def test_a_refusal_for_want_of_an_answer_says_it(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    """Where no text can be given, the error's message does."""
    async with house(tmp_path) as (_, http):
        error = (await http.post("/v1/chat/completions", json={**MESSAGES, **more})).json()["error"]
        assert (error["code"], WHAT in error["message"]) == ("model_authentication", True)


async def test_streams_and_python_say_it(tmp_path: Path) -> None:
    """The event of the reply has it, as has the answer in Python; a call's error there too."""
    async with house(tmp_path) as (ordain, _):
        answer = await ordain.chat(SAID)
        assert answer.reply is not None
        assert answer.reply.remedies == [TOLD]
        async with aclosing(
            ordain.runtime.conversation.events("default", answer.session_id)
        ) as events:
            told = await anext(event async for event in events if isinstance(event, ReplyEvent))
        assert told.remedies == [TOLD]
        called = await ordain.execute("brain.chat", {"text": SAID})
        assert called.error is not None
        assert called.error.remedy == WHAT


async def test_nothing_is_said_where_nothing_failed(tmp_path: Path) -> None:
    """An answer that is one has no such field, nor has the error of a verb that is no model's."""
    settings = load_settings({}, tmp_path)
    async with Ordain(settings, extras=Extras(memory=True)) as ordain:
        answer = await ordain.chat("hello")
        assert answer.reply is not None
        assert "remedies" not in answer.reply.model_dump()
        called = await ordain.execute("math.evaluate", {"expression": "1/0"})
        assert called.wire["error"] is not None
        assert "remedy" not in called.wire["error"]
