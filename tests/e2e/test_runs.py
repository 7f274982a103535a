"""Runs over HTTP: request ids, asking without waiting, vanished clients, events, operators,
probes.
"""

import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from ordain.rules.header import without_words
from tests.e2e.process import Server
from tests.e2e.proposals import add, ask, case, finish, slow

WHY = {"why": "a test asked for it"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    cases = [
        case("simple", add(), finish("Fine.")),
        case("half a second", add(), slow(finish("Late but fine."), 500)),
        case("hanging", add(), slow(finish("never"), 60_000)),
    ]
    with Server(tmp_path_factory.mktemp("runs")).play({"cases": cases}) as server:
        yield server


def begin(server: Server, request: dict[str, Any]) -> str:
    """Have a request accepted without waiting; the run."""
    response = server.http.post(
        "/plan/react", json=request, headers={"Prefer": "wait=1, respond-async"}
    )
    assert response.status_code == 202
    assert response.json() == {
        "run_id": response.json()["run_id"],
        "location": response.headers["location"],
    }
    assert response.headers["preference-applied"] == "respond-async"
    return response.json()["run_id"]


def newest(server: Server) -> list[str]:
    """The run that was accepted last, if there is one."""
    return [run["run_id"] for run in server.http.get("/runs", params={"limit": 1}).json()["runs"]]


def operate(server: Server, run: str, action: str, body: dict[str, Any]) -> httpx2.Response:
    return server.http.post(f"/runs/{run}/{action}", json=body)


def events(text: str) -> list[tuple[str, str, Any]]:
    """(id, event, data) of every server-sent event."""
    found = []
    for block in text.strip().split("\n\n"):
        fields = dict(
            line.split(": ", 1) for line in block.splitlines() if not line.startswith(":")
        )
        if fields:
            found.append((fields.get("id", ""), fields["event"], json.loads(fields["data"])))
    return found


# --- one request, one run -------------------------------------------------------------------------


def test_the_same_request_is_the_same_run(server: Server) -> None:
    """The same request id and body give the same run and the same response, byte for byte; the work
    is done once.
    """
    request = ask("simple", request_id="same")
    first, second = (server.http.post("/plan/react", json=request) for _ in range(2))
    reordered = dict(reversed(request.items()))
    assert (
        first.content == second.content == server.http.post("/plan/react", json=reordered).content
    )
    assert (
        sum(record["name"] == "verb_call" for record in server.journal(first.json()["run_id"])) == 2
    )


def test_another_body_under_the_same_id_is_refused(server: Server) -> None:
    """The same request id with another body is 409 and changes nothing."""
    server.plan(ask("simple", request_id="taken"))
    refused = server.http.post("/plan/react", json=ask("half a second", request_id="taken"))
    assert (refused.status_code, refused.json()["code"]) == (409, "request_id_reused")
    assert server.plan(ask("simple", request_id="taken"))["final_answer"]["content"] == "Fine."


def test_a_repeated_request_waits_for_the_run(server: Server) -> None:
    """A second request for a run that still works gets its answer when there is one."""
    request = ask("half a second", request_id="joined")
    run = begin(server, request)
    body = server.plan(request)
    assert (body["run_id"], body["final_answer"]["content"]) == (run, "Late but fine.")


def test_concurrent_duplicates_become_one_run(server: Server) -> None:
    """Many equal requests at once become one run."""
    request = ask("half a second", request_id="at once")
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(server.plan(request)["run_id"]))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), len(set(found))) == (6, 1)


def test_asking_without_waiting(server: Server) -> None:
    """Prefer: respond-async answers 202 with the run's address; there the response appears, equal
    to the waited-for one.
    """
    request = ask("half a second", request_id="async")
    run = begin(server, request)
    found = server.http.get(f"/runs/{run}", params={"wait": 30}).json()
    assert (found["at_rest"], found["status"]) == (True, "completed")
    assert found["response"] == server.plan(request)
    assert found["header"] == found["response"]["header"]


def test_a_vanished_client_does_not_stop_the_run(server: Server) -> None:
    """The client closes its connection after sending; the run completes all the same."""
    body = json.dumps(ask("half a second", request_id="vanished")).encode()
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        head = (
            "POST /plan/react HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        before = newest(server)
        connection.sendall(head.encode() + body)
        while newest(server) == before:
            time.sleep(0.02)
    assert (
        server.plan(ask("half a second", request_id="vanished"))["final_answer"]["content"]
        == "Late but fine."
    )


# --- looking --------------------------------------------------------------------------------------


def test_lists_filter_and_page(server: Server) -> None:
    """Runs are listed newest first, by status, in pages, and with children only on demand."""
    made = [server.plan(ask("simple"))["run_id"] for _ in range(3)]
    page = server.http.get("/runs", params={"limit": 2}).json()
    assert [run["run_id"] for run in page["runs"]] == [made[2], made[1]]
    following = server.http.get("/runs", params={"limit": 1, "before": page["next"]}).json()
    assert [run["run_id"] for run in following["runs"]] == [made[0]]
    statuses = {
        run["status"]
        for run in server.http.get(
            "/runs", params=[("status", "waiting"), ("status", "completed")]
        ).json()["runs"]
    }
    assert statuses == {"completed"}
    assert all(run["parent"] is None for run in server.http.get("/runs").json()["runs"])
    assert server.http.get("/runs", params={"status": "faulted,quarantined"}).json() == {
        "runs": [],
        "next": None,
    }


def test_the_journal_shows_every_record(server: Server) -> None:
    """The journal is numbered without gaps, dated without steps back, and holds decisions with
    their reasons.
    """
    journal = server.journal(server.plan(ask("simple"))["run_id"])
    assert [record["seq"] for record in journal] == list(range(len(journal)))
    assert [record["at"] for record in journal] == sorted(record["at"] for record in journal)
    assert (journal[0]["kind"], journal[-1]["kind"]) == ("started", "ended")
    assert all(record["body"]["reason"] for record in journal if record["kind"] == "decision")


def test_events_follow_a_run_to_its_end(server: Server) -> None:
    """The stream has every record once, in order, its id the seq; it says how the run rests, and
    closes.
    """
    run = begin(server, ask("half a second"))
    response = server.http.get(f"/runs/{run}/events")
    assert response.headers["content-type"].startswith("text/event-stream")
    *seen, rest = events(response.text)
    assert [(int(number), kind) for number, kind, _ in seen] == [
        (record["seq"], record["kind"]) for record in server.journal(run)
    ]
    assert [data for _, _, data in seen] == server.journal(run)
    assert rest == ("", "rest", {"status": "completed", "reason": "ok"})


@pytest.mark.parametrize("how", ["header", "query"])
def test_events_resume_where_they_broke_off(server: Server, how: str) -> None:
    """A client that comes back with the last id misses nothing and sees nothing twice; where
    nothing is left it gets 204.
    """
    run = begin(server, ask("half a second"))
    with server.http.stream("GET", f"/runs/{run}/events") as stream:
        first = next(line for line in stream.iter_lines() if line.startswith("id: ")).removeprefix(
            "id: "
        )
    options: dict[str, Any] = (
        {"headers": {"Last-Event-ID": first}} if how == "header" else {"params": {"after": first}}
    )
    later = events(server.http.get(f"/runs/{run}/events", **options).text)
    assert [int(number) for number, kind, _ in later if kind != "rest"] == list(
        range(int(first) + 1, len(server.journal(run)))
    )
    done = server.http.get(f"/runs/{run}/events", params={"after": len(server.journal(run)) - 1})
    assert (done.status_code, done.content) == (204, b"")


# --- who may ask ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "192.168.1.10",
        "0.0.0.0",
        "[::]",
        "a@localhost",
        "",
    ],
)
def test_foreign_hosts_are_refused(server: Server, host: str) -> None:
    """A Host that is no loopback name is refused, for reading too: DNS rebinding gets nothing."""
    response = server.http.get("/runs", headers={"Host": host})
    assert (response.status_code, response.json()["code"]) == (421, "foreign_host")


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8090", "127.0.0.1", "127.8.9.1:1", "[::1]", "[::1]:8090"]
)
def test_loopback_hosts_are_answered(server: Server, host: str) -> None:
    """Every name of this machine's own is answered."""
    assert server.http.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:1", "https://127.0.0.1", "file://"]
)
def test_foreign_origins_change_nothing(server: Server, origin: str) -> None:
    """An unsafe request of another or no origin is refused before its body is read; a page of this
    server's own may ask.
    """
    for path in ("/plan/react", "/verbs/execute", "/runs/0/cancel"):
        refused = server.http.post(path, json=ask("simple"), headers={"Origin": origin})
        assert (refused.status_code, refused.json()["code"]) == (403, "foreign_origin")
    own = f"http://127.0.0.1:{server.port}"
    assert (
        server.http.post("/plan/react", json=ask("simple"), headers={"Origin": own}).status_code
        == 200
    )
    assert (
        server.http.get("/runs", headers={"Origin": origin}).headers.get(
            "access-control-allow-origin"
        )
        is None
    )


def test_a_browsers_own_word_counts(server: Server) -> None:
    """A browser that says cross-site is believed even without an Origin."""
    refused = server.http.post(
        "/plan/react", json=ask("simple"), headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert refused.json()["code"] == "foreign_origin"


@pytest.mark.parametrize(
    ("asks", "status"),
    [
        (
            {
                "Sec-Fetch-Site": "cross-site",
                "Sec-Fetch-Mode": "no-cors",
                "Sec-Fetch-Dest": "image",
            },
            403,
        ),
        (
            {
                "Sec-Fetch-Site": "same-site",
                "Sec-Fetch-Mode": "no-cors",
                "Sec-Fetch-Dest": "script",
            },
            403,
        ),
        (
            {
                "Sec-Fetch-Site": "cross-site",
                "Sec-Fetch-Mode": "navigate",
                "Sec-Fetch-Dest": "iframe",
            },
            403,
        ),
        (
            {
                "Sec-Fetch-Site": "cross-site",
                "Sec-Fetch-Mode": "cors",
                "Origin": "http://evil.example",
            },
            403,
        ),
        ({"Origin": "null"}, 403),
        (
            {
                "Sec-Fetch-Site": "cross-site",
                "Sec-Fetch-Mode": "navigate",
                "Sec-Fetch-Dest": "document",
            },
            200,
        ),
        (
            {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
            200,
        ),
        (
            {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
            200,
        ),
    ],
)
def test_a_page_of_another_site_gets_nothing(
    server: Server, asks: dict[str, str], status: int
) -> None:
    """Nor as its picture, its script or its frame: how long an answer takes, or whether one comes,
    tells something too. Whoever follows a link may come.
    """
    for method, path in (("GET", "/runs"), ("HEAD", "/health"), ("GET", "/sessions/s/events")):
        if status == 403 or not path.endswith("events"):
            assert server.http.request(method, path, headers=asks).status_code == status, (
                method,
                path,
            )


@pytest.mark.parametrize("path", ["/health", "/nowhere", "/openapi.json", "/runs/0"])
def test_an_answer_is_what_its_type_says_and_nothing_of_another_page(
    server: Server, path: str
) -> None:
    """Of every answer, refusals too."""
    for headers in ({}, {"Host": "evil.example"}):
        answer = server.http.get(path, headers=headers)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


# --- operating ------------------------------------------------------------------------------------


def test_cancelling_interrupts_and_is_journalled(server: Server) -> None:
    """A cancelled run ends cancelled within its model call; who and why stand in journal and
    header; a waiting caller gets the outcome.
    """
    run = begin(server, ask("hanging"))
    server.until_recorded(run, "observation", "verb_call")
    done = operate(server, run, "cancel", WHY)
    assert (done.status_code, done.json()["outcome"]) == (202, "sent")
    found = server.until(run, "cancelled")
    delivered = next(
        record["body"] for record in server.journal(run) if record["kind"] == "delivered"
    )
    assert (delivered["by"], delivered["why"]) == ("http:loopback", WHY["why"])
    assert WHY["why"] in found["header"]
    assert (found["response"]["status"], found["response"]["error"]["code"]) == (
        "error",
        "cancelled",
    )


def test_a_settled_run_cannot_be_cancelled(server: Server) -> None:
    """Settled is settled: cancelling, answering and resuming it are refused."""
    run = server.plan(ask("simple"))["run_id"]
    for action, body, code in (
        ("cancel", WHY, "settled"),
        ("answer", {"effect": 1, "value": "x"}, "settled"),
        ("resume", WHY, "not_stopped"),
        ("resolve", {**WHY, "effect": 1, "happened": True}, "not_unknown"),
    ):
        refused = operate(server, run, action, body)
        assert (refused.status_code, refused.json()["code"]) == (409, code)


def test_erasing_destroys_content_and_keeps_shape(server: Server) -> None:
    """An erased run's words are gone from every page; its header, shape and the erasure itself
    stay, and so do its neighbours.
    """
    words = "unrepeatable words"
    context = {"external_facts": {"text": words}}
    kept = server.plan(ask("simple", context=context))
    body = server.plan(ask("simple", context=context, request_id="to erase"))
    run = body["run_id"]
    done = operate(server, run, "erase", WHY)
    assert (done.status_code, done.json()["outcome"], done.json()["records"] > 5) == (
        200,
        "erased",
        True,
    )
    assert words not in server.http.get(f"/runs/{run}/journal").text
    assert words in server.http.get(f"/runs/{kept['run_id']}/journal").text
    found = server.http.get(f"/runs/{run}").json()
    assert (found["erased"], found["header"], found["status"]) == (
        True,
        without_words(body["header"]),
        "completed",
    )
    assert found["response"]["error"]["code"] == "erased"
    note = server.journal(run)[-1]
    assert (note["kind"], note["body"]["action"], note["body"]["why"]) == (
        "note",
        "erase",
        WHY["why"],
    )


def test_an_unsettled_run_is_not_erased(server: Server) -> None:
    """A run that still works is cancelled first."""
    run = begin(server, ask("hanging"))
    refused = operate(server, run, "erase", WHY)
    assert (refused.status_code, refused.json()["code"]) == (409, "not_at_rest")
    operate(server, run, "cancel", WHY)
    server.until(run, "cancelled")


@pytest.mark.parametrize("action", ["cancel", "resume", "resolve", "erase", "answer"])
def test_operators_say_why_about_a_run_that_exists(server: Server, action: str) -> None:
    """An operator's request needs its reason, and a run."""
    run = server.plan(ask("simple"))["run_id"]
    assert operate(server, run, action, {}).status_code == 422
    body = {
        "answer": {"effect": 1, "value": 1},
        "resolve": {**WHY, "effect": 1, "happened": False},
    }.get(action, WHY)
    missing = operate(server, "0" * 32, action, body)
    assert (missing.status_code, missing.json()["code"]) == (404, "run_not_found")


# --- probes ---------------------------------------------------------------------------------------


def test_health_readiness_and_metrics(server: Server) -> None:
    """Health and readiness answer; metrics count runs by status, records, decisions, effects and
    commits.
    """
    before = metrics(server)
    server.plan(ask("simple"))
    after = metrics(server)
    assert server.http.get("/health").json()["status"] == "ok"
    assert server.http.get("/ready").json() == {
        "status": "ready",
        "checks": {"accepting": True, "lease": True, "storage": True},
    }
    for name in ('ordain_runs{status="completed"}', "ordain_runs_ended_total"):
        assert after[name] == before[name] + 1
    for name in (
        "ordain_records_total",
        "ordain_decisions_total",
        "ordain_effects_total",
        "ordain_commits_total",
    ):
        assert after[name] > before[name]


def metrics(server: Server) -> dict[str, float]:
    response = server.http.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = [line for line in response.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_openapi_describes_what_is_served(server: Server) -> None:
    """Every reference in the OpenAPI document resolves, and its planning example is accepted as it
    stands.
    """
    document = server.http.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    text = json.dumps(document)
    assert {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]} <= set(schemas)
    example = document["paths"]["/plan/react"]["post"]["requestBody"]["content"][
        "application/json"
    ]["example"]
    assert server.http.post("/plan/react", json=example).status_code == 200
    for name in server.http.get("/schemas").json()["schemas"]:
        assert server.http.get(f"/schemas/{name}").json()["$schema"].endswith("2020-12/schema")


def test_one_line_per_run_end(server: Server) -> None:
    """The log has exactly one line for a run's end, with its id, status and reason."""
    run = server.plan(ask("simple"))["run_id"]
    lines = [line for line in server.log().splitlines() if run in line]
    assert len(lines) == 1
    assert f"run={run} flow=planner@5 status=completed reason=ok" in lines[0]
