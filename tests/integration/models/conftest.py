"""Fake model servers, each a process of its own."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ordain.models.openai import OpenAIModel
from ordain.models.providers import build_models
from ordain.ports.model import ModelPort
from tests.e2e.process import fixed_port
from tests.integration.models.aimock_server import Aimock, running
from tests.integration.models.wire import API_KEY, PROTOCOLS, Protocol, profile


@pytest.fixture(scope="session")
def wire_url() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("wire_server.py"))],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.terminate()


@pytest.fixture
async def wire(wire_url: str) -> AsyncIterator[OpenAIModel]:
    model = OpenAIModel(wire_url, API_KEY)
    yield model
    await model.close()


@pytest.fixture(scope="session")
def llmock_url() -> Iterator[str]:
    port = fixed_port()
    command = [
        str(Path(sys.executable).with_name("llmock")),
        "serve",
        "--port",
        str(port),
        "--log-level",
        "error",
    ]
    environment = {**os.environ, "NO_COLOR": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"{url}/_llmock/scenario", timeout=5).close()
                break
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                assert process.poll() is None, "llmock ended"
                assert time.monotonic() < deadline, "llmock does not answer"
                time.sleep(0.1)
        yield url
        process.kill()  # it would wait for answers that it holds back


@pytest.fixture
def script_llmock(llmock_url: str) -> Callable[..., None]:
    """Queue behaviours on the fake server, after forgetting what was queued."""

    def control(path: str, body: dict[str, Any]) -> None:
        message = urllib.request.Request(
            f"{llmock_url}/_llmock/{path}", data=json.dumps(body).encode(), method="POST"
        )
        urllib.request.urlopen(message, timeout=10).close()

    def queue(*behaviors: dict[str, Any]) -> None:
        control("reset", {})
        if behaviors:
            control("scenario", {"behaviors": list(behaviors)})

    return queue


@pytest.fixture
async def llmock_model(llmock_url: str) -> AsyncIterator[OpenAIModel]:
    model = OpenAIModel(llmock_url + "/v1/", API_KEY)
    yield model
    await model.close()


@pytest.fixture(params=PROTOCOLS, ids=[protocol.name for protocol in PROTOCOLS])
def protocol(request: pytest.FixtureRequest) -> Protocol:
    """Every wire that is spoken."""
    return request.param


@pytest.fixture
async def spoken(protocol: Protocol, llmock_url: str) -> AsyncIterator[ModelPort]:
    """The adapter of one wire, before llmock."""
    models = build_models({"m": profile(protocol, llmock_url)}, {"m": API_KEY})
    yield models["m"]
    await models["m"].close()


@pytest.fixture(scope="session")
def aimock_server() -> Iterator[Aimock]:
    with running() as aimock:
        yield aimock


@pytest.fixture
def aimock(aimock_server: Aimock) -> Iterator[Aimock]:
    """aimock, at peace before and after."""
    aimock_server.chaos()
    aimock_server.forget()
    yield aimock_server
    aimock_server.chaos()
