"""The ways to make the same call: bare, through the provider's own library, through Ordain's
adapter, and as a whole run of Ordain.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from anthropic import AsyncAnthropic
from google.genai.client import Client
from google.genai.types import GenerateContentConfig, HttpOptions

from bench.providers.server import ANSWER, MODEL, TEXT
from ordain.app import Ordain, with_profile
from ordain.contracts.profiles import ModelProfile
from ordain.models.providers import build_models
from ordain.ports.model import ModelReply, ModelRequest
from ordain.settings import load_settings

Call = Callable[[], Awaitable[str]]
SYSTEM = "You answer what you are asked, in one JSON object and nothing else. " * 4
USER = (
    "Which weekday comes after Tuesday? Say it in one sentence, and add nothing that was not "
    "asked for. "
) * 3
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"content": {"type": "string"}},
    "required": ["content"],
    "additionalProperties": False,
}
PATHS = {"chat": "/v1", "responses": "/v1", "anthropic": "/anthropic", "gemini": "/gemini"}
PROVIDERS = tuple(PATHS)
MAX_TOKENS = 400
AT_ONCE = 16


def profile(name: str, url: str) -> ModelProfile:
    """The profile of a wire."""
    provider = name if name in ("anthropic", "gemini") else "openai"
    given = {
        "provider": provider,
        "model": MODEL,
        "base_url": url + PATHS[name],
        "api": "responses" if name == "responses" else "chat",
    }
    return ModelProfile.model_validate({**given, "max_tokens": MAX_TOKENS})


def raw_body(name: str) -> tuple[str, dict[str, Any]]:
    """Path and body of the bare call."""
    match name:
        case "chat":
            messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}]
            form = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
            }
            return "/v1/chat/completions", {
                "model": MODEL,
                "messages": messages,
                "max_tokens": MAX_TOKENS,
                "response_format": form,
            }
        case "responses":
            form = {
                "format": {
                    "type": "json_schema",
                    "name": "answer",
                    "strict": True,
                    "schema": SCHEMA,
                }
            }
            return "/v1/responses", {
                "model": MODEL,
                "instructions": SYSTEM,
                "input": USER,
                "max_output_tokens": MAX_TOKENS,
                "text": form,
            }
        case "anthropic":
            messages = [{"role": "user", "content": USER}]
            form = {"format": {"type": "json_schema", "schema": SCHEMA}}
            return "/anthropic/v1/messages", {
                "model": MODEL,
                "system": SYSTEM,
                "messages": messages,
                "max_tokens": MAX_TOKENS,
                "output_config": form,
            }
        case _:
            given = {
                "maxOutputTokens": MAX_TOKENS,
                "responseMimeType": "application/json",
                "responseJsonSchema": SCHEMA,
            }
            parts = {
                "contents": [{"role": "user", "parts": [{"text": USER}]}],
                "systemInstruction": {"parts": [{"text": SYSTEM}]},
            }
            return f"/gemini/v1beta/models/{MODEL}:generateContent", {
                **parts,
                "generationConfig": given,
            }


def text_of(name: str, value: dict[str, Any]) -> str:
    """The text of an answer."""
    match name:
        case "chat":
            return value["choices"][0]["message"]["content"]
        case "responses":
            return value["output"][0]["content"][0]["text"]
        case "anthropic":
            return value["content"][0]["text"]
        case _:
            return value["candidates"][0]["content"]["parts"][0]["text"]


def bare(name: str, url: str, client: httpx2.AsyncClient) -> Call:
    """One POST with httpx2, its answer parsed."""
    path, body = raw_body(name)

    async def call() -> str:
        found = await client.post(url + path, json=body, headers={"authorization": "Bearer bench"})
        return text_of(name, found.json())

    return call


def library(name: str, url: str, stack: AsyncExitStack) -> Call | None:
    """The provider's own library; None where the bare call is what people use, or none is
    installed.
    """
    if name == "anthropic":
        client = AsyncAnthropic(api_key="bench", base_url=f"{url}/anthropic", max_retries=0)
        stack.push_async_callback(client.close)

        async def message() -> str:
            _, body = raw_body(name)
            found = await client.beta.messages.create(**body)
            return found.content[0].text  # type: ignore[union-attr] - the server sends a text

        return message
    if name == "gemini":
        genai = Client(
            vertexai=False,
            api_key="bench",
            http_options=HttpOptions(base_url=f"{url}/gemini", api_version="v1beta"),
        )
        stack.push_async_callback(genai.aio.aclose)

        async def content() -> str:
            config = GenerateContentConfig(
                system_instruction=SYSTEM,
                max_output_tokens=MAX_TOKENS,
                response_mime_type="application/json",
                response_json_schema=SCHEMA,
            )
            found = await genai.aio.models.generate_content(
                model=MODEL, contents=USER, config=config
            )
            return found.text or ""

        return content
    return None


def adapter(name: str, url: str, stack: AsyncExitStack, *, streams: bool) -> Call:
    """One attempt of Ordain's adapter."""
    own = profile(name, url)
    model = build_models({"m": own}, {"m": "bench"})["m"]
    stack.push_async_callback(model.close)
    asked = ModelRequest(
        profile=own,
        purpose="verb",
        system=SYSTEM,
        user=USER,
        schema_name="answer",
        schema=SCHEMA,
        max_tokens=MAX_TOKENS,
        timeout_s=60,
        inputs={},
        index=0,
        narrative="content" if streams else "",
    )

    async def call() -> str:
        found = await model.attempt(asked, (lambda _: None) if streams else None)
        if not isinstance(found, ModelReply):
            raise TypeError(found)
        return found.text

    return call


async def run(name: str, url: str, home: Path, stack: AsyncExitStack) -> Call:
    """A whole run of one call: accepted, decided, journalled with its fsyncs, answered."""
    settings = with_profile(load_settings(environment={}, home=home), profile(name, url))
    house = await stack.enter_async_context(
        Ordain(settings.model_copy(update={"secrets": {"default": "bench"}}))
    )

    async def call() -> str:
        found = (await house.execute("chat_general", {"text": USER})).wire
        if found["output"] != ANSWER:
            raise AssertionError(found)
        return TEXT

    return call


@asynccontextmanager
async def opened(name: str, url: str, home: Path) -> AsyncIterator[dict[str, Call]]:
    """Every way of one wire, warm."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(httpx2.AsyncClient(timeout=60))
        ways: dict[str, Call | None] = {
            "bare": bare(name, url, client),
            "library": library(name, url, stack),
            "adapter": adapter(name, url, stack, streams=False),
            "adapter, streamed": adapter(name, url, stack, streams=True),
            "whole run": await run(name, url, home, stack),
        }
        ways |= {
            f"{way}, {AT_ONCE} at once": ways[way]
            for way in ("bare", "library", "adapter", "whole run")
        }
        found = {way: call for way, call in ways.items() if call is not None}
        for way, call in found.items():
            if json.loads(await call()) != ANSWER:
                raise AssertionError(way)
        yield found
