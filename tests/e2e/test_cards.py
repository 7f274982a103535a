"""Agents' cards over HTTP: which there are, and one that is written while the server runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.process import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("cards")) as server:
        yield server


def test_the_agents_that_work_may_be_handed_to(server: Server) -> None:
    """Every card with what it may use here; one by its name, and a typed refusal of what there is
    not.
    """
    found = {one["name"]: one for one in server.http.get("/cards").json()["cards"]}
    assert (found["finance_agent"]["domain"], found["finance_agent"]["uses"]) == (
        "finance",
        ["finance.snapshot"],
    )
    assert server.http.get("/cards/finance_agent").json() == found["finance_agent"]
    assert server.http.get(f"/verbs/{found['finance_agent']['verb_id']}").json()["kind"] == "flow"
    missing = server.http.get("/cards/no_such")
    assert (missing.status_code, missing.json()["code"]) == (404, "unknown_agent")


def test_a_card_is_taken_up_while_the_server_runs(server: Server) -> None:
    """A new file is there at once; a wrong one leaves everything as it is, and is told."""
    folder = server.home / "cards"
    folder.mkdir()
    (folder / "legal_agent.yaml").write_text("name: legal_agent\ndomain: legal\nallow: [math.*]\n")
    assert server.http.post("/verbs/reload").json()["changed"]
    assert server.http.get("/cards/legal_agent").json()["uses"] == ["math.evaluate"]
    (folder / "legal_agent.yaml").write_text("name: legal_agent\ndomain: finance\n")
    assert not server.http.post("/verbs/reload").json()["changed"]
    (problem,) = server.http.get("/verbs").json()["problems"]
    assert (problem["code"], problem["file"], problem["line"]) == (
        "invalid_card",
        "legal_agent.yaml",
        2,
    )
    assert server.http.get("/cards/legal_agent").json()["domain"] == "legal"
