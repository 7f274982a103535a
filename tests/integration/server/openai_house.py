"""An Ordain behind its OpenAI address, and what a client of it sends and is sent."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from ordain import Ordain
from ordain.app import Extras
from ordain.contracts.profiles import ModelProfile
from ordain.models.scripted import Script, ScriptedModel, make_script
from ordain.ports.model import Heard, ModelError, ModelPort, ModelReply, ModelRequest
from ordain.runtime.access import Exposure
from ordain.runtime.configuration import Applied, RecordChange
from ordain.server import Face, build_app
from ordain.settings import load_settings

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"


SCRIPTED = ModelProfile(provider="scripted", model="scripted", script="in memory")
VERBS = {
    "chat_general": [{"content": "It is Wednesday.\n✓ ok · 9 tools"}],
    "brain.chat": [{"content": "A title"}],
}


class Waits(ScriptedModel):
    """Plays a script, once its gate is open."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.asked, self.gate = asyncio.Event(), asyncio.Event()

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        self.asked.set()
        await self.gate.wait()
        return await super().attempt(request, heard)


@asynccontextmanager
async def house(
    home: Path,
    exposure: Exposure | None = None,
    selectable: Sequence[str] = (),
    model: ModelPort | None = None,
    profile: ModelProfile = SCRIPTED,
    **verbs: Any,
) -> AsyncIterator[tuple[Ordain, httpx2.AsyncClient]]:
    """An Ordain whose model says these words, and its HTTP face."""
    if selectable:
        (home / "policy.toml").write_text(
            f"version = 1\n[profile]\nselectable = {json.dumps(selectable)}\n"
        )
    async with ordain_of(
        home, model or ScriptedModel(make_script(verbs={**VERBS, **verbs})), profile
    ) as ordain:
        face = (
            Face(runtime=ordain.runtime)
            if exposure is None
            else Face(runtime=ordain.runtime, exposure=exposure)
        )
        transport = httpx2.ASGITransport(build_app(face), raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            yield ordain, http


def ordain_of(home: Path, model: ModelPort, profile: ModelProfile = SCRIPTED) -> Ordain:
    """One whose only model is this."""
    settings = load_settings({}, home).model_copy(update={"profiles": {"default": profile}})
    return Ordain(settings, extras=Extras(models={"default": model}))


def turns(*texts: str) -> list[dict[str, Any]]:
    """Messages, the user's and the assistant's by turns."""
    return [
        {"role": "assistant" if at % 2 else "user", "content": text}
        for at, text in enumerate(texts)
    ]


async def said(
    http: httpx2.AsyncClient,
    messages: list[dict[str, Any]],
    headers: dict[str, str] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """The answer to a chat completion."""
    answer = await http.post(
        CHAT, json={"model": "ordain", "messages": messages, **more}, headers=headers
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def text_of(answer: dict[str, Any]) -> str:
    return str(answer["choices"][0]["message"]["content"])


def frames_of(stream: str) -> list[Any]:
    """The data of a stream's frames, in order."""
    lines = [
        line.removeprefix("data: ") for line in stream.split("\n") if line.startswith("data: ")
    ]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


def streamed_text(events: str) -> list[str]:
    """The pieces of text of a streamed completion."""
    found = [
        json.loads(line.removeprefix("data: "))
        for line in events.split("\n")
        if line.startswith("data: {")
    ]
    return [
        piece
        for event in found
        for choice in event["choices"]
        if (piece := choice["delta"].get("content"))
    ]


async def profiled(ordain: Ordain, **profiles: dict[str, Any]) -> None:
    """These pinned profiles are there."""
    for name, config in profiles.items():
        made = await ordain.runtime.control.change(
            RecordChange(place="default", resource="profile", id=name, config=config),
            by="local:ada",
        )
        assert isinstance(made, Applied)


def file_part(name: str, content: bytes) -> dict[str, Any]:
    return {"type": "file", "file": {"filename": name, "file_data": b64encode(content).decode()}}


def file_parts(
    content: bytes, name: str = "lease.md", kind: str = "text/markdown"
) -> dict[str, list[dict[str, Any]]]:
    data = f"data:{kind};base64,{b64encode(content).decode()}"
    return {
        CHAT: [
            {"type": "text", "text": "May I keep a dog?"},
            {"type": "file", "file": {"filename": name, "file_data": data}},
        ],
        RESPONSES: [
            {"type": "input_text", "text": "May I keep a dog?"},
            {"type": "input_file", "filename": name, "file_data": data},
        ],
    }
