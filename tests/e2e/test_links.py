"""What one answer leads to: random walks over runs and sessions of two workspaces, every answer as
the document declares it.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    multiple,
    rule,
    run_state_machine_as_test,
)

from ordain.contracts.conversation import session_path
from tests.e2e.openapi_truth import Truth
from tests.e2e.process import Server
from tests.e2e.proposals import act, ask, case, finish, slow
from tests.e2e.talking import ASKING, message, says
from tests.lanes import examples

WORKSPACES = ("default", "other")
SCRIPT = {
    "cases": [
        case("simple", act("math.evaluate", expression="2 + 2"), finish("Fine.")),
        case("hanging", act("math.evaluate", expression="2 + 2"), slow(finish("never"), 60_000)),
        says("quick", {"content": "Quick indeed."}),
        says("for ever", slow({"content": "never"}, 60_000)),
        says("weather", planner=ASKING),
    ]
}
WHY = {"why": "a walk"}
SETTLED = {"completed", "failed", "timed_out", "cancelled"}
LATER = {"Prefer": "respond-async"}
Place = tuple[str, str]
"""A workspace, and the id of a run or a session in it."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("links")).play(SCRIPT) as server:
        yield server
        assert "internal error" not in server.log()


class Walk(RuleBasedStateMachine):
    """Makes runs and sessions, and follows where their answers lead, from inside and from outside
    their workspace.
    """

    truth: Truth
    runs: Bundle[Place] = Bundle("runs")

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[Place] = []
        self.erased = False

    def ask(self, workspace: str, method: str, address: str, **options: Any) -> Any:
        """An answer that is as declared; (status, body)."""
        headers = {"Ordain-Workspace": workspace, **options.pop("headers", {})}
        response = self.truth.ask(method, address, headers=headers, **options)
        return response.status_code, response.json() if response.content else None

    def elsewhere(self, place: Place, address: str, body: Any = None) -> None:
        """From the other workspace nothing of it is there."""
        (other,) = set(WORKSPACES) - {place[0]}
        status, problem = self.ask(
            other,
            "GET" if body is None else "POST",
            address,
            **({} if body is None else {"json": body}),
        )
        assert (status, problem["code"]) in ((404, "run_not_found"), (404, "session_not_found"))

    # --- beginning --------------------------------------------------------------------------------

    @rule(
        target=runs,
        workspace=st.sampled_from(WORKSPACES),
        goal=st.sampled_from(["simple", "hanging"]),
    )
    def plan(self, workspace: str, goal: str) -> Place:
        status, body = self.ask(workspace, "POST", "/plan/react", json=ask(goal), headers=LATER)
        assert status == 202
        return workspace, body["run_id"]

    @rule(
        target=runs,
        workspace=st.sampled_from(WORKSPACES),
        expression=st.sampled_from(["1 + 1", "1 / 0", "x"]),
    )
    def execute(self, workspace: str, expression: str) -> Place:
        status, body = self.ask(
            workspace,
            "POST",
            "/verbs/execute",
            json={"verb_id": "math.evaluate", "payload": {"expression": expression}},
        )
        assert status == 200
        return workspace, body["run_id"]

    @rule(
        target=runs,
        workspace=st.sampled_from(WORKSPACES),
        name=st.sampled_from(["a", "b/c", "d:1"]),
        text=st.sampled_from(["quick", "for ever", "weather", "stop", "Paris", "thanks"]),
        mode=st.sampled_from(["brain", "agent"]),
    )
    def say(self, workspace: str, name: str, text: str, mode: str) -> Any:
        status, body = self.ask(
            workspace,
            "POST",
            "/messages",
            json=message(text, name, hints={"mode": mode}),
            headers=LATER,
        )
        if status == 429:
            assert body["code"] == "session_busy"
            return multiple()
        assert status == 202
        found = self.ask(workspace, "GET", session_path(name, "messages", str(body["sessionSeq"])))
        assert found[0] == 200
        assert found[1]["messageId"] == body["messageId"]
        self.begun.append((workspace, name))
        return multiple(*([(workspace, body["runId"])] if body["runId"] else []))

    # --- following --------------------------------------------------------------------------------

    @rule(run=runs, wait=st.sampled_from([0, 0.2]))
    def show(self, run: Place, wait: float) -> None:
        status, body = self.ask(run[0], "GET", f"/runs/{run[1]}", params={"wait": wait})
        assert (status, body["run_id"], body["workspace"]) == (200, run[1], run[0])
        assert (body["status"] in SETTLED) <= body["at_rest"]
        self.elsewhere(run, f"/runs/{run[1]}")

    @rule(run=runs)
    def journal(self, run: Place) -> None:
        _, body = self.ask(run[0], "GET", f"/runs/{run[1]}/journal")
        assert [record["seq"] for record in body["records"]] == list(range(len(body["records"])))
        self.elsewhere(run, f"/runs/{run[1]}/journal")
        self.elsewhere(run, f"/runs/{run[1]}/events")

    @rule(run=runs)
    def cancel(self, run: Place) -> None:
        self.elsewhere(run, f"/runs/{run[1]}/cancel", WHY)
        before = self.ask(run[0], "GET", f"/runs/{run[1]}")[1]["status"]
        status, body = self.ask(run[0], "POST", f"/runs/{run[1]}/cancel", json=WHY)
        assert (
            (status, body.get("code")) == (409, "settled")
            if before in SETTLED
            else status in (202, 409)
        )
        rested = self.ask(run[0], "GET", f"/runs/{run[1]}", params={"wait": 30})[1]
        assert rested["status"] in SETTLED

    @rule(
        run=runs, order=st.sampled_from(["resume", "resolve", "answer"]), effect=st.integers(0, 3)
    )
    def operate(self, run: Place, order: str, effect: int) -> None:
        body = {
            "resume": WHY,
            "resolve": {**WHY, "effect": effect, "happened": True},
            "answer": {"effect": effect, "value": "Paris"},
        }[order]
        self.elsewhere(run, f"/runs/{run[1]}/{order}", body)
        status, said = self.ask(run[0], "POST", f"/runs/{run[1]}/{order}", json=body)
        assert status == 409 or (order == "answer" and status == 202), said

    @rule(run=consumes(runs))
    def erase(self, run: Place) -> None:
        self.elsewhere(run, f"/runs/{run[1]}/erase", WHY)
        status, _ = self.ask(run[0], "POST", f"/runs/{run[1]}/erase", json=WHY)
        assert status in (200, 409)
        self.erased |= status == 200
        found = self.ask(run[0], "GET", f"/runs/{run[1]}")[1]
        assert found["erased"] or status == 409
        self.ask(run[0], "GET", f"/runs/{run[1]}/journal")

    @rule(data=st.data())
    def converse(self, data: st.DataObject) -> None:
        if not self.begun:
            return
        workspace, name = data.draw(st.sampled_from(self.begun))
        there, session = self.ask(workspace, "GET", session_path(name))
        if there == 404:  # with the run that was erased
            assert self.erased
            return
        _, page = self.ask(
            workspace, "GET", session_path(name, "messages"), params={"after": 0, "limit": 500}
        )
        assert [entry["seq"] for entry in page["entries"]] == list(
            range(1, len(page["entries"]) + 1)
        )
        assert session["head"] <= len(page["entries"])
        for thread in session["threads"]:
            if thread["inFlight"]:
                assert self.ask(workspace, "GET", f"/runs/{thread['inFlight']['runId']}")[0] == 200
        status, said = (
            self.ask(workspace, "POST", session_path(name, "erase"), json=WHY)
            if data.draw(st.booleans())
            else (200, None)
        )
        assert status in (200, 409), said
        self.erased |= said is not None and status == 200

    @rule(workspace=st.sampled_from(WORKSPACES), limit=st.integers(1, 3))
    def pages(self, workspace: str, limit: int) -> None:
        seen: list[str] = []
        before: dict[str, str] = {}
        for _ in range(3):
            _, page = self.ask(workspace, "GET", "/runs", params={"limit": limit, **before})
            seen += [run["run_id"] for run in page["runs"]]
            if page["next"] is None:
                break
            before = {"before": page["next"]}
        assert len(seen) == len(set(seen))

    def teardown(self) -> None:
        """Nothing of this walk stands in the way of the next one."""
        for workspace in WORKSPACES:
            _, page = self.ask(
                workspace,
                "GET",
                "/runs",
                params={"status": "running,waiting,ready,queued", "limit": 500},
            )
            for run in page["runs"]:
                self.ask(workspace, "POST", f"/runs/{run['run_id']}/cancel", json=WHY)


def walk_through(walk: Walk) -> None:
    """A walk that comes to every answer that matters; those by chance need not."""
    hanging = walk.plan("default", "hanging")
    walk.cancel(hanging)
    walk.cancel(hanging)
    walk.erase(hanging)
    workspace, said = walk.say("default", "a", "quick", "brain").values[0]
    walk.show((workspace, said), 30)
    assert walk.ask(workspace, "POST", session_path("a", "erase"), json=WHY)[0] == 200


def test_every_link_leads_where_it_says(server: Server) -> None:
    """Whatever order things are asked in: runs and sessions stay where they belong, and every
    answer is as declared.
    """
    Walk.truth = Truth(server.http)
    walk_through(Walk())
    suppressed = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    run_state_machine_as_test(
        Walk,
        settings=settings(
            max_examples=examples(12), stateful_step_count=15, suppress_health_check=suppressed
        ),
    )
    wanted = {
        ("show_run", "200"),
        ("cancel_run", "202"),
        ("cancel_run", "409"),
        ("erase_run", "200"),
        ("show_run", "404"),
        ("erase_session", "200"),
    }
    assert wanted <= Walk.truth.seen
