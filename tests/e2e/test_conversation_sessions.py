"""Sessions over HTTP: lists, threads, transcripts, ids with slashes, workspaces, erasure."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.e2e.process import Server
from tests.e2e.proposals import ask, case, finish
from tests.e2e.talking import SCRIPT, begin, listening, message, place_of, say, transcript

ODD_IDS = [
    "a/events",
    "a/messages/1",
    "web:a@b",
    "x//y",
    "a+b",
    "telegram:chat:-5/7",
    "a/erase",
    "Z" * 200,
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    script = {"cases": [*SCRIPT["cases"], case("simple", finish("Fine."))]}
    with Server(tmp_path_factory.mktemp("sessions")).play(script) as server:
        yield server


def refused(response: httpx2.Response) -> tuple[int, str]:
    assert response.headers["content-type"] == "application/problem+json", response.text
    return response.status_code, response.json()["code"]


def test_sessions_are_listed_by_use(server: Server) -> None:
    """The most recently used session stands first, in pages, each with how far it has come."""
    for session in ("list:1", "list:2", "list:1"):
        say(server, "quick", session)
    page = server.http.get("/sessions", params={"limit": 1}).json()
    following = server.http.get("/sessions", params={"limit": 1, "before": page["next"]}).json()
    assert [page["sessions"][0]["sessionId"], following["sessions"][0]["sessionId"]] == [
        "list:1",
        "list:2",
    ]
    assert (
        page["sessions"][0]["head"],
        page["sessions"][0]["openTurns"],
        page["sessions"][0]["userId"],
    ) == (4, 0, "ada")
    assert refused(server.http.get("/sessions", params={"limit": 0})) == (422, "invalid_request")


def test_threads_say_where_they_stand(server: Server) -> None:
    """A session shows its threads with intent, status, what is in flight and what went wrong, and
    which one is active.
    """
    say(server, "quick", "threads:1")
    begin(server, "for ever, please", "threads:1")
    shown = server.http.get(place_of("threads:1")).json()
    assert {thread["status"] for thread in shown["threads"]} == {"done", "in_progress"}
    first, second = shown["threads"]
    assert (first["intent"], first["inFlight"]["queued"], shown["activeThreadId"]) == (
        "for ever, please",
        [],
        first["threadId"],
    )
    assert (second["inFlight"], second["lastError"], second["summary"]) == (
        None,
        None,
        "“quick”: done",
    )
    server.http.post(f"/runs/{first['inFlight']['runId']}/cancel", json={"why": "over"})
    server.until(first["inFlight"]["runId"], "cancelled")
    failed = say(server, "prose", "threads:1", hints={"mode": "agent"})
    thread = next(
        one
        for one in server.http.get(place_of("threads:1")).json()["threads"]
        if one["threadId"] == failed["threadId"]
    )
    assert (thread["status"], thread["lastError"]["runId"], thread["lastError"]["threadId"]) == (
        "failed",
        failed["runId"],
        failed["threadId"],
    )


def test_transcripts_come_in_pages(server: Server) -> None:
    """Entries are numbered without gaps, come after a number in order, and the last ones where no
    number is given.
    """
    for _ in range(3):
        say(server, "quick", "pages:1")
    everything = transcript(server, "pages:1")
    assert [entry["seq"] for entry in everything] == [1, 2, 3, 4, 5, 6]
    assert [entry["event"] for entry in everything] == ["message", "reply"] * 3
    page = server.http.get(
        f"{place_of('pages:1')}/messages", params={"after": 1, "limit": 2}
    ).json()
    assert (page["entries"], page["next"]) == (everything[1:3], 3)
    last = server.http.get(f"{place_of('pages:1')}/messages", params={"limit": 2}).json()
    assert (last["entries"], last["next"]) == (everything[4:], None)
    beyond = server.http.get(f"{place_of('pages:1')}/messages", params={"after": 99}).json()
    assert beyond == {"entries": [], "next": None}


@pytest.mark.parametrize("session", ODD_IDS)
def test_any_id_has_its_addresses(server: Server, session: str) -> None:
    """An id with slashes, or one that looks like another address, is one percent-encoded segment
    and nothing else.
    """
    where = begin(server, "quick", session)
    assert server.http.get(where, params={"wait": 30}).json()["sessionId"] == session
    assert server.http.get(place_of(session)).json()["sessionId"] == session
    assert [entry["seq"] for entry in transcript(server, session)] == [1, 2]
    if "/" in session:
        with server.http.stream("GET", f"/sessions/{session}") as another:
            assert another.status_code == (
                200 if session == "a/events" else 405 if session == "a/erase" else 404
            )


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/sessions/nobody", 404, "session_not_found"),
        ("/sessions/nobody/messages", 404, "session_not_found"),
        ("/sessions/nobody/messages/1", 404, "session_not_found"),
        ("/sessions/%FF", 404, "session_not_found"),
        ("/sessions/", 404, "no_such_address"),
        ("/sessions/some/messages/0", 404, "message_not_found"),
        ("/sessions/some/messages/2", 404, "message_not_found"),
        ("/sessions/some/messages/99", 404, "message_not_found"),
        ("/sessions/some/messages/x", 422, "invalid_request"),
        ("/sessions/some/messages/1?wait=1e9", 422, "invalid_request"),
        ("/sessions/some/messages?after=-2", 422, "invalid_request"),
        ("/sessions/some/messages?limit=501", 422, "invalid_request"),
        ("/sessions/some/events?after=-1", 422, "invalid_request"),
        ("/sessions/some/events?after=x", 422, "invalid_request"),
        ("/sessions?before=x", 422, "invalid_request"),
        ("/sessions?before=5", 422, "invalid_request"),
        ("/sessions/some/erase", 405, "method_not_allowed"),
    ],
)
def test_what_is_not_there_is_a_problem(server: Server, path: str, status: int, code: str) -> None:
    """Unknown sessions, messages and parameters are refused by code; a reply is no message."""
    say(server, "quick", "some")
    assert refused(server.http.get(path)) == (status, code)


def test_who_listens_to_a_session_before_it_begins_hears_it_begin(server: Server) -> None:
    """A stream of a session in which nothing was said waits; what is said then is told from the
    first entry on.
    """
    with listening(server, "listen:first") as listener:
        assert refused(server.http.get(place_of("listen:first"))) == (404, "session_not_found")
        begin(server, "quick", "listen:first")
        assert [event["seq"] for event in listener.until("reply") if "seq" in event] == [1, 2]


# --- workspaces -----------------------------------------------------------------------------------


def test_another_workspace_sees_nothing(server: Server) -> None:
    """Sessions, messages and runs of one workspace are 404 in every other, and the same session id
    there is another session.
    """
    mine, theirs = {"Ordain-Workspace": "mine"}, {"Ordain-Workspace": "theirs"}
    answer = server.http.post(
        "/messages", json=message("quick", "shared", messageId="1"), headers=mine
    ).json()
    run = f"/runs/{answer['runId']}"
    for path in (
        run,
        f"{run}/journal",
        f"{run}/events",
        place_of("shared"),
        "/sessions/shared/messages/1",
    ):
        assert refused(server.http.get(path, headers=theirs))[0] == 404
        assert refused(server.http.get(path))[0] == 404
        assert server.http.get(path, headers=mine).status_code == 200
    for action in ("cancel", "resume", "erase"):
        assert refused(
            server.http.post(f"{run}/{action}", json={"why": "not mine"}, headers=theirs)
        ) == (404, "run_not_found")
    with listening(server, "shared", after="0", **theirs) as listener:
        other = server.http.post(
            "/messages", json=message("quick", "shared", messageId="1"), headers=theirs
        ).json()
        assert {event["run"] for event in listener.until("reply") if event["event"] == "reply"} == {
            other["runId"]
        }
    assert (other["duplicate"], other["sessionSeq"], other["runId"] != answer["runId"]) == (
        False,
        1,
        True,
    )
    assert [one["run_id"] for one in server.http.get("/runs", headers=mine).json()["runs"]] == [
        answer["runId"]
    ]
    assert [
        one["sessionId"] for one in server.http.get("/sessions", headers=theirs).json()["sessions"]
    ] == ["shared"]


def test_plans_and_verbs_are_in_a_workspace_too(server: Server) -> None:
    """The same request id in two workspaces is two runs, each seen in its own."""
    runs: list[str] = []
    for workspace in ("w1", "w2"):
        headers = {"Ordain-Workspace": workspace}
        runs.append(server.plan(ask("simple", request_id="both"), **headers)["run_id"])
        reply = server.http.post(
            "/verbs/execute",
            json={"verb_id": "math.evaluate", "payload": {"expression": "1"}},
            headers=headers,
        )
        assert refused(server.http.get(f"/runs/{reply.json()['run_id']}")) == (404, "run_not_found")
        assert len(server.http.get("/runs", headers=headers).json()["runs"]) == 2
    assert runs[0] != runs[1]


@pytest.mark.parametrize("workspace", ["", "Mine", "../x", "a" * 65, "a b"])
@pytest.mark.parametrize("path", ["/sessions", "/runs", "/sessions/some"])
def test_a_workspace_has_a_plain_name(server: Server, workspace: str, path: str) -> None:
    """A header that names no workspace is refused, not taken for the default one."""
    assert refused(server.http.get(path, headers={"Ordain-Workspace": workspace})) == (
        422,
        "invalid_request",
    )


# --- erasing --------------------------------------------------------------------------------------


def erased(server: Server, session: str, **why: Any) -> httpx2.Response:
    return server.http.post(
        f"{place_of(session)}/erase", json=why or {"why": "the person asked for it"}
    )


def test_a_session_is_erased(server: Server) -> None:
    """Erasing empties transcript and journals, keeps headers, and what is said later under its id
    begins another session.
    """
    secret = "quick, and secret"
    answer = say(server, secret, "erase/me")
    done = erased(server, "erase/me").json()
    assert (done["session_id"], done["outcome"], done["records"] > 0) == (
        "erase/me",
        "erased",
        True,
    )
    assert refused(server.http.get(place_of("erase/me"))) == (404, "session_not_found")
    named = server.http.get("/sessions").json()["sessions"][0]["sessionId"]  # the one last used
    assert named.startswith("erased:")
    assert [entry["event"] for entry in transcript(server, named)] == ["erased", "erased"]
    assert secret not in str(server.http.get(place_of(named)).json()) + str(
        server.journal(answer["runId"])
    )
    assert server.http.get(f"/runs/{answer['runId']}").json()["header"] == answer["reply"]["header"]
    assert server.http.get(f"{place_of(named)}/messages/1").json()["reply"] is None
    assert erased(server, named).json()["outcome"] == "already_erased"
    assert refused(erased(server, "erase/me")) == (404, "session_not_found")
    again = say(server, "quick", "erase/me")
    assert (again["reply"]["ok"], again["sessionSeq"]) == (True, 1)
    assert erased(server, "erase/me").json()["outcome"] == "erased"


def test_what_cannot_be_erased_says_why(server: Server) -> None:
    """A session with open turns, of another workspace, or without a reason given is refused; one
    without any turn is erased like others.
    """
    where = begin(server, "linger", "erase:open")
    assert refused(erased(server, "erase:open")) == (409, "not_at_rest")
    assert server.http.get(where, params={"wait": 30}).json()["reply"]["ok"]
    say(server, "thanks!", "erase:filler")
    assert erased(server, "erase:filler").json()["outcome"] == "erased"
    assert refused(erased(server, "nobody")) == (404, "session_not_found")
    assert refused(erased(server, "erase:open", why="")) == (422, "invalid_request")
    foreign = server.http.post(
        "/sessions/erase:open/erase", json={"why": "x"}, headers={"Ordain-Workspace": "other"}
    )
    assert refused(foreign) == (404, "session_not_found")
