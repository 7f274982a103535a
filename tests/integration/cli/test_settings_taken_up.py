"""A command that changes settings beside a running server: what the server made of it stands on the
command, and in the server's log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.process import Server
from tests.replay.golden import finish, request


@pytest.fixture
def endpoint() -> Iterator[ModelEndpoint]:
    with ModelEndpoint() as found:
        yield found


def test_a_running_server_takes_up_a_model(tmp_path: Path, endpoint: ModelEndpoint) -> None:
    """`init`, `models add` and `remove` say that it did, that it needs a restart, or that none
    runs; the next plan is the new model's.
    """
    home = tmp_path / "home"
    home.mkdir()
    added = (
        "models",
        "add",
        "two",
        "--provider",
        "openai",
        "--model",
        "m",
        "--base-url",
        endpoint.url,
        "--no-test",
        "--json",
    )
    server = Server(home, environment={"OLLAMA_HOST": endpoint.url.removesuffix("/v1")})
    endpoint.models = [{"id": "m"}]
    with server:
        begun = server.cli("init", "--use", "ollama", "--no-test", "--json")
        assert json.loads(begun.stdout)["server"] == "taken_up", begun.stderr
        endpoint.will_answer(finish("Done."))
        assert server.plan(request("math.evaluate", request_id=None))["status"] == "ok"
        with (home / "ordain.toml").open("a") as file:
            file.write('\n[server]\nrate = "5/s"\n')
        assert json.loads(server.cli(*added).stdout)["server"] == "restart"
        said = server.cli("models", "remove", "two")
        assert (
            b"the running server has taken it up, but for what needs a restart: [server]"
            in said.stdout
        )
        assert (
            "[server] of the settings: what has changed there holds when this is started again"
            in server.log()
        )
    assert json.loads(server.cli(*added).stdout)["server"] == "none"
