"""`/models` and `/models/cost`, over HTTP and from the command beside a server and without one."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.process import Server
from tests.e2e.proposals import add, ask, case, finish

SCRIPT = {
    "cases": [case("counted", {"$error": "overloaded", "message": "later"}, add(), finish("Two."))]
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("costs")).play(SCRIPT) as server:
        server.plan(ask("counted"))
        yield server


def cost(server: Server, **asked: Any) -> dict[str, Any]:
    response = server.http.get("/models/cost", params=asked)
    assert response.status_code == 200, response.text
    return response.json()


def test_the_profiles_that_a_server_runs_with_are_shown(server: Server) -> None:
    """The server says which profiles stand behind its lanes, and nothing of keys."""
    (shown,) = server.http.get("/models").json()["models"]
    assert (shown["name"], shown["provider"], shown["lanes"]) == (
        "default",
        "scripted",
        ["local", "worker", "brain"],
    )
    assert not any("key" in name for name in shown)


@pytest.mark.parametrize(
    ("by", "key"),
    [
        ("lane", "worker"),
        ("model", "default"),
        ("flow", "planner"),
        ("agent", "test"),
        ("session", ""),
    ],
)
def test_costs_are_grouped(server: Server, by: str, key: str) -> None:
    """Attempts, the failed one included, stand in one group of each kind, which is the whole."""
    found = cost(server, by=by)
    assert (found["by"], found["complete"], found["workspace"]) == (by, True, "default")
    (group,) = found["groups"]
    assert group["key"] == key
    assert (group["attempts"], group["failed"], group["failures"]) == (3, 1, {"overloaded": 1})
    assert {**group, "key": ""} == found["total"]


def test_another_workspace_sees_none_of_it(server: Server) -> None:
    """What a workspace spent is shown in no other."""
    other = server.http.get("/models/cost", headers={"Ordain-Workspace": "other"}).json()
    assert (other["workspace"], other["total"]["attempts"], other["groups"]) == ("other", 0, [])


@pytest.mark.parametrize("asked", [{"days": 0}, {"days": 3661}, {"days": "x"}, {"by": "mood"}])
def test_what_cannot_be_asked_is_refused(server: Server, asked: dict[str, Any]) -> None:
    """A span or a grouping that there is not is a typed refusal."""
    response = server.http.get("/models/cost", params=asked)
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


def test_the_command_says_the_same_with_and_without_a_server(server: Server) -> None:
    """Beside a running server and over the folder as it lies the command prints the same sums; an
    empty folder is an error.
    """
    told = [server.cli("models", "cost", "--by", "lane", "--json")]
    lines = server.cli("models", "cost").stdout.decode()
    assert "failed: 1 overloaded" in lines
    server.stop()
    told.append(server.cli("models", "cost", "--by", "lane", "--json"))
    groups = [json.loads(done.stdout)["groups"] for done in told]
    assert groups[0] == groups[1]
    assert groups[0][0]["attempts"] == 3
    assert (
        server.cli("models", "cost", "--data-dir", str(server.home / "empty"), "--json").returncode
        == 2
    )
    server.start()
