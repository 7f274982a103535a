"""What each adapter sends, seen by a server that gives it back: the schema's three ways, keys,
caching, and one request per attempt.
"""

import json
from typing import Any

import pytest
from msgspec import structs

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.planner import ToolRef
from ordain.flows.steps.prompt import planner_step_schema
from ordain.models.providers import build_models
from ordain.ports.model import ModelError, ModelReply, SentImage
from tests.integration.models.wire import (
    API_KEY,
    SCHEMA,
    SYSTEM,
    Protocol,
    http_json,
    playing,
    profile,
)
from tests.integration.models.wire_server import whole

STEP = planner_step_schema((ToolRef(tool_id="math.evaluate", input_schema={"type": "object"}),))
"""One of two objects, with an open one within."""


async def seen(
    protocol: Protocol,
    url: str,
    *,
    key: str = API_KEY,
    schema: dict[str, Any] = SCHEMA,
    images: tuple[SentImage, ...] = (),
    **more: Any,
) -> dict[str, Any]:
    """One attempt as the server saw it, its body parsed."""
    own = profile(protocol, url, base_url=url, **more)
    model = build_models({"m": own}, {"m": key})["m"]
    try:
        answer = await model.attempt(
            structs.replace(playing({"echo": True}), profile=own, schema=schema, images=images)
        )
    finally:
        await model.close()
    assert isinstance(answer, ModelReply), answer
    found = json.loads(answer.text)
    return {**found, "body": json.loads(found["body"])}


def system_of(body: dict[str, Any]) -> str:
    if "messages" in body and "system" not in body:
        return body["messages"][0]["content"]
    if "instructions" in body:
        return body["instructions"]
    return (
        body["system"][0]["text"]
        if "system" in body
        else body["systemInstruction"]["parts"][0]["text"]
    )


def natively(protocol: Protocol, body: dict[str, Any]) -> dict[str, Any] | None:
    match protocol.name:
        case "chat":
            return body.get("response_format", {}).get("json_schema", {}).get("schema")
        case "responses":
            return body.get("text", {}).get("format", {}).get("schema")
        case "anthropic":
            return body.get("output_config", {}).get("format", {}).get("schema")
        case _:
            return body["generationConfig"].get("responseJsonSchema")


def by_tool(protocol: Protocol, body: dict[str, Any]) -> dict[str, Any] | None:
    if "tools" not in body:
        return None
    (tool,) = body["tools"]
    match protocol.name:
        case "chat":
            return tool["function"]["parameters"]
        case "responses":
            return tool["parameters"]
        case "anthropic":
            return tool["input_schema"]
        case _:
            (declared,) = tool["functionDeclarations"]
            return next(value for key, value in declared.items() if key.startswith("parameters"))


async def test_images_stand_behind_the_text_on_every_wire(
    protocol: Protocol, wire_url: str
) -> None:
    """With their media type and their bytes, each as the wire has it; without any the text stands
    alone, as ever.
    """
    body = (
        await seen(
            protocol, wire_url, images=(SentImage(media_type="image/png", data="iVBORw0KGgo="),)
        )
    )["body"]
    match protocol.name:
        case "chat":
            text, image = body["messages"][-1]["content"]
            assert image == {
                "type": "image_url",
                "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="},
            }
        case "responses":
            text, image = body["input"][-1]["content"]
            assert image == {
                "type": "input_image",
                "image_url": "data:image/png;base64,iVBORw0KGgo=",
            }
        case "anthropic":
            text, image = body["messages"][-1]["content"]
            assert (image["type"], image["source"]["media_type"], image["source"]["data"]) == (
                "image",
                "image/png",
                "iVBORw0KGgo=",
            )
        case _:
            text, image = body["contents"][-1]["parts"]
            assert set(image["inlineData"].values()) == {"image/png", "iVBORw0KGgo="}
    assert json.loads(text["text"]) == [{"echo": True}]


@pytest.mark.parametrize("way", ["native", "tool", "text"])
async def test_a_schema_travels_as_declared(protocol: Protocol, wire_url: str, way: str) -> None:
    """A schema travels natively, as the input of the one tool, or in words, as the profile says,
    and in no second way.
    """
    body = (await seen(protocol, wire_url, structured=way))["body"]
    found = {"native": natively(protocol, body), "tool": by_tool(protocol, body)}
    found["text"] = (
        SCHEMA
        if json.dumps(SCHEMA, separators=(",", ":"), sort_keys=True) in system_of(body)
        else None
    )
    assert [name for name, schema in found.items() if schema is not None] == [way]
    held = found[way]
    assert held is not None
    assert (held["properties"], held["additionalProperties"]) == (SCHEMA["properties"], False)
    assert system_of(body).startswith(SYSTEM)
    assert ("tool_choice" in body or "toolConfig" in body) == (way == "tool")


async def test_a_schema_that_is_no_object_travels_within_one(
    protocol: Protocol, wire_url: str
) -> None:
    """A planner's step is one of two objects, which no tool's input may be: it comes back out of
    the object it was put into.
    """
    body = (await seen(protocol, wire_url, structured="tool", schema=STEP))["body"]
    held = by_tool(protocol, body)
    assert held is not None
    assert (held["type"], held["required"]) == ("object", ["answer"])
    assert len(held["properties"]["answer"]["oneOf"]) == 2


async def test_what_a_native_format_would_lose_goes_by_tool(
    wire_url: str, protocol: Protocol
) -> None:
    """Anthropic's native format closes open objects, so a schema that has one is the input of a
    tool there; elsewhere it stays native.
    """
    body = (await seen(protocol, wire_url, structured="native", schema=STEP))["body"]
    assert (natively(protocol, body) is None) == (protocol.name == "anthropic")
    assert (by_tool(protocol, body) is not None) == (protocol.name == "anthropic")


async def test_a_key_has_one_place(protocol: Protocol, wire_url: str) -> None:
    """The key stands in its header and nowhere else; without a key that header is not sent, and
    never another key that lies around.
    """
    header, value = (
        ("x-goog-api-key", API_KEY)
        if protocol.name == "gemini"
        else ("authorization", f"Bearer {API_KEY}")
    )
    found = await seen(protocol, wire_url)
    assert found["headers"].pop(header) == value
    assert API_KEY not in json.dumps(found)
    bare = await seen(protocol, wire_url, key="")
    assert {"authorization", "x-api-key", "x-goog-api-key"}.isdisjoint(bare["headers"])


async def test_keys_of_the_environment_are_not_taken(
    protocol: Protocol, wire_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the providers' own libraries would read from the environment is not sent: a profile says
    where its key is.
    """
    for name in (
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
    ):
        monkeypatch.setenv(name, "sk-that-lies-around")
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for key in (API_KEY, ""):
        assert "sk-that-lies-around" not in json.dumps(await seen(protocol, wire_url, key=key))


async def test_a_proxy_is_not_asked_for_this_machine(
    protocol: Protocol, wire_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint on the loopback is reached although a proxy is set, which could not reach it."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert await seen(protocol, wire_url)


async def test_lengths_and_temperature(protocol: Protocol, wire_url: str) -> None:
    """The smaller of the request's and the profile's length, and the temperature only where the
    profile has one.
    """
    body = json.dumps((await seen(protocol, wire_url, max_tokens=200, temperature=0.25))["body"])
    assert "200" in body
    assert '"temperature": 0.25' in body
    assert "temperature" not in json.dumps((await seen(protocol, wire_url))["body"])


async def test_the_stable_part_is_marked_for_the_cache(protocol: Protocol, wire_url: str) -> None:
    """Where a provider wants marks the system text has one, unless the profile forbids it;
    elsewhere there are none.
    """
    for cache, marks in ((True, 1 if protocol.name == "anthropic" else 0), (False, 0)):
        body = (await seen(protocol, wire_url, cache=cache))["body"]
        assert json.dumps(body).count("cache_control") == marks
    assert "cache_control" not in json.dumps(body.get("messages", []))


async def test_connections_are_kept(protocol: Protocol, wire_url: str) -> None:
    """Calls one after the other share a connection."""
    own = profile(protocol, wire_url, base_url=wire_url, structured="text")
    model = build_models({"m": own}, {"m": API_KEY})["m"]
    asked = structs.replace(playing({"echo": True}), profile=own)
    answers = [await model.attempt(asked) for _ in range(3)]
    await model.close()
    assert (
        len(
            {
                json.loads(answer.text)["peer"]
                for answer in answers
                if isinstance(answer, ModelReply)
            }
        )
        == 1
    )


async def test_one_attempt_is_one_request(wire_url: str) -> None:
    """An answer that Gemini's library would have continued by itself, with a second request, is an
    error after the first.
    """
    gemini = Protocol("gemini", "gemini", "", "", "gemini-2.5-pro")
    own = profile(gemini, wire_url, base_url=wire_url, structured="text")
    half = whole("/models/x", '{"a": ')
    half["candidates"][0] |= {"finishReason": "CONTINUATION", "continuationToken": "Y29udGludWU="}
    model = build_models({"m": own}, {"m": API_KEY})["m"]
    asked = structs.replace(playing(http_json(half)), profile=own)
    answer = await model.attempt(asked)
    await model.close()
    assert isinstance(answer, ModelError)
    assert answer.code in {ModelErrorCode.MALFORMED, ModelErrorCode.TRUNCATED}
    assert answer.message in {
        "the answer would need a second request",
        "the answer was cut at its length limit",
    }


@pytest.mark.parametrize(
    ("provider", "base", "url"),
    [
        ("anthropic", "https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        (
            "anthropic",
            " http://127.0.0.1:9/anthropic/v1/ ",
            "http://127.0.0.1:9/anthropic/v1/messages",
        ),
        ("anthropic", "http://127.0.0.1:9/v1/messages", "http://127.0.0.1:9/v1/messages"),
        (
            "gemini",
            "https://generativelanguage.googleapis.com",
            "https://generativelanguage.googleapis.com/v1beta",
        ),
        ("gemini", "http://127.0.0.1:9/gemini/", "http://127.0.0.1:9/gemini/v1beta"),
        ("gemini", "http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"),
    ],
)
async def test_base_urls(provider: str, base: str, url: str) -> None:
    """An address with and without its version means the same; Gemini's version is v1beta where none
    is said.
    """
    own = {"provider": provider, "model": "m", "base_url": base}
    model = build_models({"m": profile(Protocol("x", provider, "", "", "m"), "", **own)}, {})["m"]
    assert getattr(model, "url", None) == url
    await model.close()
