"""A real small model behind the local provider: a naturally misbehaving proposer. Protocol, schema,
bounds; never content.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
import pytest_asyncio

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile, Structured
from ordain.contracts.schema import Schema
from ordain.models.local import SHIPPED_MODEL, LocalModel, build_local
from ordain.models.openai import OpenAIModel
from ordain.models.trial import try_once
from ordain.ports.model import ModelError, ModelReply, ModelRequest
from tests.integration.models.smollm2 import PATIENCE_S, installed

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROFILE = ModelProfile(
    provider="local",
    model="smollm2",
    timeout_ms=int(PATIENCE_S * 1000),
    max_tokens=8000,
    temperature=0,
)
LETTERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "letters": {"type": "array", "minItems": 3, "maxItems": 3, "items": {"enum": ["a", "b"]}},
        "ok": {"type": "boolean"},
    },
    "required": ["letters", "ok"],
    "additionalProperties": False,
}
STEP: dict[str, Any] = {
    "oneOf": [
        {
            "type": "object",
            "properties": {
                "finish": {"const": True},
                "answer": {"type": "string", "maxLength": 20},
            },
            "required": ["finish", "answer"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"finish": {"const": False}, "tool": {"enum": ["add", "search"]}},
            "required": ["finish", "tool"],
            "additionalProperties": False,
        },
    ]
}
ESSAY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 2000},
        "numbers": {"type": "array", "minItems": 2000, "items": {"type": "integer"}},
    },
    "required": ["text", "numbers"],
    "additionalProperties": False,
}
"""An answer of thousands of tokens: minutes of work."""
SOON_S = 40.0
"""Far more than a short answer takes, far less than the essay."""
NOTE = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 60}},
    "required": ["text"],
    "additionalProperties": False,
}


def request(
    schema: dict[str, Any] = LETTERS, profile: ModelProfile = PROFILE, **changes: Any
) -> ModelRequest:
    asked = {
        "purpose": "planner",
        "system": "Answer in JSON.",
        "user": "Say something short.",
        "schema_name": "x",
    }
    limits = {"max_tokens": 80, "timeout_s": PATIENCE_S, "inputs": {}, "index": 0}
    return ModelRequest(**{**asked, **limits, "profile": profile, "schema": schema, **changes})


@pytest.fixture(scope="module")
def home() -> Path:
    return installed()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def model(home: Path) -> AsyncIterator[LocalModel]:
    model = build_local(PROFILE, home)
    yield model
    await model.close()
    assert model.pid is None


async def answered(model: LocalModel, asked: ModelRequest) -> ModelReply:
    reply = await model.attempt(asked)
    assert isinstance(reply, ModelReply), reply
    return reply


@pytest.mark.parametrize("way", [Structured.NATIVE, Structured.TOOL])
@pytest.mark.parametrize("schema", [LETTERS, STEP], ids=["letters", "step"])
async def test_answers_are_held_to_their_schema(
    model: LocalModel, schema: dict[str, Any], way: Structured
) -> None:
    """Whatever it says is of the schema, also where the profile asks for tools, which are held
    natively here; tokens are counted.
    """
    reply = await answered(model, request(schema, PROFILE.model_copy(update={"structured": way})))
    assert Schema(schema).accepts(msgspec.json.decode(reply.text)), reply.text
    assert reply.model == SHIPPED_MODEL
    assert reply.input_tokens
    assert reply.output_tokens
    assert reply.output_tokens <= 80


async def test_a_stream_is_put_together(model: LocalModel) -> None:
    """What is heard piece by piece is the text of the whole answer."""
    heard: list[str] = []
    reply = await model.attempt(request(NOTE, narrative="text"), heard.append)
    assert isinstance(reply, ModelReply), reply
    assert "".join(heard) == msgspec.json.decode(reply.text)["text"]


async def test_no_connection_is_kept_behind_a_stream(home: Path) -> None:
    """llama.cpp ends its connection behind a streamed answer although it says otherwise: whatever
    is asked over it would be lost. Behind a whole answer it is kept.
    """
    model = build_local(PROFILE, home)
    try:
        kept: list[int] = []
        for heard in (None, _nothing, None):
            reply = await model.attempt(request(NOTE, narrative="text"), heard)
            assert isinstance(reply, ModelReply), reply
            served = await model._served()
            assert isinstance(served, OpenAIModel)
            kept.append(len(served._exchange._idle))
        assert kept == [1, 0, 1]
    finally:
        await model.close()


def _nothing(_: str) -> None:
    """Listens, and keeps nothing."""


async def test_bounds_that_no_grammar_bears_are_left_to_the_rules(model: LocalModel) -> None:
    """A schema with larger bounds than llama.cpp takes is enforced without them; what is too long
    is refused by the rules as ever.
    """
    wide = {
        "text": {"type": "string", "maxLength": 60_000},
        "list": {"type": "array", "maxItems": 5000, "items": {"enum": [1]}},
    }
    schema = {
        "type": "object",
        "properties": wide,
        "required": ["text", "list"],
        "additionalProperties": False,
    }
    reply = await model.attempt(request(schema, max_tokens=200))
    assert isinstance(reply, ModelReply) or reply.code is ModelErrorCode.TRUNCATED, reply


async def test_rambling_is_cut_and_no_answer(model: LocalModel) -> None:
    """An answer that runs into its length limit is an error, however much of it there is."""
    cut = await model.attempt(request(ESSAY, max_tokens=16))
    assert isinstance(cut, ModelError)
    assert cut.code is ModelErrorCode.TRUNCATED


async def test_a_prompt_beyond_the_window_is_refused(model: LocalModel) -> None:
    """A prompt that does not fit is an error that says so, and nothing is cut in silence."""
    refused = await model.attempt(request(user="one " * 9000))
    assert isinstance(refused, ModelError)
    assert refused.code is ModelErrorCode.CONTEXT_TOO_LONG


async def test_a_cancelled_attempt_frees_its_place(model: LocalModel) -> None:
    """Giving up in the middle of an answer of minutes, or of a long prompt, ends the work on it:
    the next attempt is answered.
    """
    began = asyncio.Event()
    attempt = asyncio.ensure_future(
        model.attempt(request(ESSAY, max_tokens=8000, narrative="text"), lambda _: began.set())
    )
    await began.wait()
    attempt.cancel()
    await asyncio.wait({attempt})
    assert attempt.cancelled()
    late = await model.attempt(request(user="one " * 7000, timeout_s=0.5))
    assert isinstance(late, ModelError)
    assert late.code is ModelErrorCode.TIMED_OUT
    await answered(model, request(timeout_s=SOON_S))
    assert await idle(model)


async def idle(model: LocalModel) -> bool:
    """Whether the server works on nothing; it is asked until it has noticed that nobody waits."""
    served = await model._served()
    assert isinstance(served, OpenAIModel)
    address = served.url.removesuffix("/v1/chat/completions")
    async with httpx2.AsyncClient(
        headers={"authorization": f"Bearer {served._key}"}, timeout=PATIENCE_S, trust_env=False
    ) as http:
        for _ in range(200):
            if not any(
                slot["is_processing"] for slot in (await http.get(f"{address}/slots")).json()
            ):
                return True
            await asyncio.sleep(0.05)
    return False


async def test_several_at_once_are_all_answered(model: LocalModel) -> None:
    """Attempts side by side wait their turn."""
    replies = await asyncio.gather(*(answered(model, request()) for _ in range(3)))
    assert all(Schema(LETTERS).accepts(msgspec.json.decode(reply.text)) for reply in replies)


async def test_nobody_else_is_answered(model: LocalModel) -> None:
    """The server listens on loopback only, and refuses whoever does not bring the key, which no
    argument or variable shows.
    """
    served = await model._served()
    assert isinstance(served, OpenAIModel)
    assert served.url.startswith("http://127.0.0.1:")
    body = {"messages": [{"role": "user", "content": "Hello."}], "max_tokens": 1}
    async with httpx2.AsyncClient(timeout=PATIENCE_S, trust_env=False) as http:
        for headers in ({}, {"authorization": "Bearer wrong"}):
            assert (await http.post(served.url, json=body, headers=headers)).status_code == 401
    seen = [Path(f"/proc/{model.pid}/{name}") for name in ("cmdline", "environ")]
    assert not any(served._key.encode() in file.read_bytes() for file in seen if file.exists())


async def test_a_trial_finds_it_fit(model: LocalModel) -> None:
    """The one cheap call of `ordain models test` finds that it answers and keeps to a schema."""
    verdict = await try_once("smol", PROFILE, model)
    assert verdict.ok, verdict
    assert verdict.advice == ""


async def test_a_server_that_dies_is_started_again(home: Path) -> None:
    """After its process was killed the adapter starts another one, and says that the attempt in
    between failed.
    """
    model = build_local(PROFILE, home)
    try:
        await answered(model, request())
        first = model.pid
        assert first is not None
        os.kill(first, 9)
        reply = await model.attempt(request())
        while isinstance(reply, ModelError) and model.pid == first:
            assert reply.code is ModelErrorCode.CONNECTION
            reply = await model.attempt(request())
        assert isinstance(reply, ModelReply | ModelError)
        await answered(model, request())
        assert model.pid != first
    finally:
        await model.close()


async def test_a_server_that_dies_while_it_answers_is_told_by_what(home: Path) -> None:
    """Whoever runs it learns that the process ended, and by which signal, and not of a connection
    alone.
    """
    model = build_local(PROFILE, home)
    try:
        await answered(model, request())
        answering = asyncio.ensure_future(model.attempt(request(ESSAY, max_tokens=2000)))
        await asyncio.sleep(0.5)
        assert model.pid is not None
        os.kill(model.pid, 9)
        reply = await answering
        assert isinstance(reply, ModelError)
        assert reply.code is ModelErrorCode.CONNECTION
        assert "SIGKILL" in reply.message
    finally:
        await model.close()


async def test_no_server_outlives_its_parent(home: Path) -> None:
    """When the process that asked is killed, the model's server ends by itself."""
    code = (
        "import asyncio, os, sys\nfrom pathlib import Path\n"
        "from tests.integration.models.test_smollm2 import PROFILE, build_local, request\n"
        "async def main():\n"
        "    model = build_local(PROFILE, Path(sys.argv[1]))\n"
        "    await model.attempt(request())\n"
        "    print(model.pid, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    root = Path(__file__).parents[3]
    asked = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", code, str(home)],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert asked.returncode == -9, asked.stderr
    pid = int(asked.stdout)
    for _ in range(400):
        if not runs(pid):
            return
        await asyncio.sleep(0.05)
    pytest.fail(f"process {pid} still runs")


def runs(pid: int) -> bool:
    """Whether the process runs; one that has ended and that nobody has asked about does not."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            != "Z"
        )
    except FileNotFoundError:
        return False
