"""Workflows over HTTP: which there are, and one that a message names."""

from collections.abc import Iterator

import pytest

from tests.e2e.process import Server
from tests.e2e.talking import say
from tests.shapes.workflows import template, write_templates


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("workflows")
    write_templates(
        home,
        {
            "reckon": template(
                "reckon", [{"verb": "math.evaluate", "args": {"expression": {"$arg": "text"}}}]
            )
        },
    )
    with Server(home) as server:
        yield server


def test_the_templates_that_a_message_may_name(server: Server) -> None:
    """Every one with what is not here of it; one by its id, and a typed refusal of what there is
    not.
    """
    found = {one["id"]: one for one in server.http.get("/workflows").json()["workflows"]}
    assert (found["reckon"]["unavailable"], found["send_email"]["unavailable"]) == (
        [],
        ["mail.send"],
    )
    assert server.http.get("/workflows/reckon").json() == found["reckon"]
    missing = server.http.get("/workflows/no_such")
    assert (missing.status_code, missing.json()["code"]) == (404, "unknown_template")


def test_a_message_names_a_workflow(server: Server) -> None:
    """Its arguments go with it; an answer comes back as from any turn."""
    answer = say(
        server,
        "reckon it",
        "s1",
        hints={"workflow": {"template": "reckon", "args": {"text": "6 * 7"}}},
    )
    assert answer["reply"]["ok"]
    assert "42" in answer["reply"]["narrative"]
    answer = say(
        server,
        "reckon it",
        "s2",
        hints={"workflow": {"template": "reckon", "args": {"expression": "6 * 7"}}},
    )
    assert "(unknown_argument)" in answer["reply"]["narrative"]


def test_a_template_is_taken_up_while_the_server_runs(server: Server) -> None:
    """A changed file holds for messages from then on; a wrong one leaves everything as it is, and
    is told.
    """
    more = template("double", [{"verb": "math.evaluate", "args": {"expression": "2 * 21"}}])
    write_templates(server.home, {"double": more})
    assert server.http.post("/verbs/reload").json()["changed"]
    assert server.http.get("/workflows/double").status_code == 200
    (server.home / "workflows" / "double.yaml").write_text("id: double\n")
    assert not server.http.post("/verbs/reload").json()["changed"]
    problems = server.http.get("/verbs").json()["problems"]
    assert [problem["code"] for problem in problems] == ["invalid_workflow"]
    assert server.http.get("/workflows/double").status_code == 200
