"""Approvals and grants over HTTP: what waits for a yes, who may give it, and what comes of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.approving import announce, ask_to_send, clear, decide, furnish, open_approvals, sent
from tests.e2e.process import Server
from tests.e2e.proposals import act, finish
from tests.e2e.talking import listening, say, says, transcript

SCRIPT = {
    "cases": [
        says(
            "tell Ada",
            planner=[act("note.send", to="ada@example.org", text="tea"), finish("It went out.")],
        )
    ]
}
NOT_THERE = "5f" * 16


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(furnish(tmp_path_factory.mktemp("approvals"))).play(SCRIPT) as server:
        yield server


@pytest.fixture
def server(house: Server) -> Iterator[Server]:
    """The one server of these tests, with nothing open, granted or sent."""
    clear(house)
    yield house
    clear(house)


def refused(response: httpx2.Response) -> tuple[int, str]:
    assert response.headers["content-type"] == "application/problem+json"
    return response.status_code, response.json()["code"]


def answer_at(server: Server, place: str) -> dict[str, Any]:
    """What became of a message."""
    found: dict[str, Any] = server.http.get(place, params={"wait": 60}).json()
    return found


def bearer(server: Server, name: str, *scopes: str) -> dict[str, str]:
    """The header of a token with these scopes."""
    given = server.cli(
        "token", "create", name, *(part for scope in scopes for part in ("--scope", scope))
    )
    return {"Authorization": f"Bearer {given.stdout.decode().split()[-1]}"}


# --- looking and deciding -------------------------------------------------------------------------


def test_a_workflow_waits_and_is_approved(server: Server) -> None:
    """The message's answer, the thread, the transcript and the list say what waits; after the yes
    exactly the steps that were shown have run.

    RTE-09 "Code enforces state transitions and workflow lifecycle incl. approvals."
    """
    place = announce(server, "web:1", "tea \u202e")
    (item,) = open_approvals(server)
    asked = answer_at(server, place)
    assert (asked["reply"], asked["approval"]["approvalId"], asked["approval"]["digest"]) == (
        None,
        item["approval_id"],
        item["digest"],
    )
    thread = server.http.get("/sessions/web:1").json()["threads"][0]
    entry = transcript(server, "web:1")[-1]
    proposed = {
        "approvalId": item["approval_id"],
        "workflowId": item["run_id"],
        "proposedAtMessageId": entry["message_id"],
    }
    assert (thread["status"], thread["awaitingApproval"]) == ("workflow_proposed", proposed)
    assert (entry["event"], entry["approval"], entry["subject"], entry["tier"]) == (
        "approval",
        item["approval_id"],
        "workflow",
        "write",
    )
    shown = server.http.get(f"/approvals/{item['approval_id']}").json()
    assert item.items() <= shown.items()
    assert [
        (call["verb"], call["args"]["text" if call["verb"] == "note.send" else "body"])
        for call in shown["calls"]
    ] == [
        ("mail.draft", "tea \u202e"),
        ("note.send", "tea \u202e"),
    ]
    assert "note.send sends something to others" in shown["words"]
    assert not {"\u202e", "\x1b"} & set(shown["words"] + entry["text"])
    assert (shown["origin_traced"], shown["words"].endswith("from anything that it read.")) == (
        False,
        True,
    )
    done = decide(server, item, why="it is right").json()
    assert (done["state"], done["decided_by"]) == ("approved", "http:loopback")
    reply = answer_at(server, place)["reply"]
    assert reply["ok"], reply
    assert (
        "note.send: approved by http:loopback; where its arguments come from is not traced"
        in reply["header"]
    )
    assert sent(server.home) == ["ada@example.org: tea \u202e"]
    assert server.http.get("/sessions/web:1").json()["threads"][0]["awaitingApproval"] is None


def test_the_stream_tells_of_it(server: Server) -> None:
    """Event ``approval`` comes when it opens, and the reply once it is decided."""
    with listening(server, "web:2") as listener:
        announce(server, "web:2")
        event = listener.until("approval")[-1]
        (item,) = open_approvals(server)
        assert (event["approval"], event["digest"]) == (item["approval_id"], item["digest"])
        assert decide(server, item, "deny", why="not today").status_code == 200
        assert listener.until("reply")[-1]["ok"] is False
    assert sent(server.home) == []


def test_who_comes_again_and_waits_is_told_where_to_look(server: Server) -> None:
    """A request that came before as one that may wait for people, and comes again without asking
    for that, is answered with its address while nobody has decided, and with what came of it
    afterwards: no caller hangs for as long as an approval is open.
    """
    body = {
        "verb_id": "note.send",
        "payload": {"to": "ada@example.org", "text": "tea"},
        "request_id": "once",
    }
    first = server.http.post("/verbs/execute", json=body, headers={"Prefer": "respond-async"})
    (item,) = open_approvals(server)
    again = server.http.post("/verbs/execute", json=body, timeout=10)
    assert (again.status_code, again.json()) == (202, first.json())
    assert "preference-applied" not in again.headers
    assert decide(server, item).status_code == 200
    server.until(item["run_id"], "completed")
    after = server.http.post("/verbs/execute", json=body)
    assert (after.status_code, after.json()["ok"]) == (200, True)
    assert sent(server.home) == ["ada@example.org: tea"]


def test_a_call_in_an_agents_work_waits_and_goes_on(server: Server) -> None:
    """The agent proposes it, code asks, and after the yes the agent's work goes on to its end."""
    asked = say(
        server,
        "tell Ada about the tea",
        "web:3",
        hints={"mode": "agent", "allowedVerbs": ["note.send"]},
    )
    assert asked["approval"], asked
    assert (asked["reply"], asked["approval"]["subject"]) == (None, "call")
    (item,) = open_approvals(server)
    assert item["what"] == "note.send"
    decide(server, item)
    answer = answer_at(server, f"/sessions/web:3/messages/{asked['sessionSeq']}")
    assert (answer["reply"]["ok"], sent(server.home)) == (True, ["ada@example.org: tea"])


def test_what_was_not_looked_at_is_not_approved(server: Server) -> None:
    """Another digest, an approval that is decided, none at all: each by its code, and nothing is
    sent twice.

    B-27 "Approval binds to a hash of the exact expanded steps; single-use;"
    """
    run = ask_to_send(server)
    (item,) = open_approvals(server)
    assert refused(decide(server, {**item, "digest": "00" * 16})) == (409, "approval_stale")
    assert refused(decide(server, {**item, "approval_id": NOT_THERE})) == (
        404,
        "approval_not_found",
    )
    assert refused(server.http.get(f"/approvals/{NOT_THERE}")) == (404, "approval_not_found")
    assert refused(
        server.http.get(f"/approvals/{item['approval_id']}", headers={"Ordain-Workspace": "other"})
    ) == (
        404,
        "approval_not_found",
    )
    assert decide(server, item).status_code == 200
    assert refused(decide(server, item)) == (409, "already_decided")
    assert refused(decide(server, item, "deny")) == (409, "already_decided")
    assert server.until(run, "completed")["response"]["ok"]
    assert sent(server.home) == ["ada@example.org: tea"]


def test_an_answer_is_no_approval(server: Server) -> None:
    """The run's wait is refused to ``/runs/{id}/answer``, and stays open."""
    run = ask_to_send(server)
    open_approvals(server)
    effect = server.until(run, "waiting")["waiting_at"]
    assert refused(
        server.http.post(f"/runs/{run}/answer", json={"effect": effect, "value": "yes"})
    ) == (409, "approval_required")
    assert len(open_approvals(server)) == 1


def test_other_arguments_are_proposed_instead(server: Server) -> None:
    """The approval is superseded, the run asks anew for exactly those, and the yes is to these
    alone.
    """
    run = ask_to_send(server)
    (item,) = open_approvals(server)
    place = f"/approvals/{item['approval_id']}/resubmit"
    same = {"to": "ada@example.org", "text": "tea"}
    assert refused(server.http.post(place, json={"args": same})) == (422, "same_args")
    assert refused(server.http.post(place, json={"args": {"to": "ben@example.org"}})) == (
        422,
        "invalid_args",
    )
    assert (
        server.http.post(place, json={"args": {**same, "to": "ben@example.org"}}).json()["state"]
        == "superseded"
    )
    (again,) = open_approvals(server)
    assert again["approval_id"] != item["approval_id"]
    assert refused(decide(server, item)) == (409, "already_decided")
    assert refused(decide(server, {**again, "digest": item["digest"]})) == (409, "approval_stale")
    assert decide(server, again).status_code == 200
    server.until(run, "completed")
    assert sent(server.home) == ["ben@example.org: tea"]


def test_the_list_has_pages_and_filters(tmp_path: Path) -> None:
    """The latest first, by state, by session, page by page; an unknown state is refused."""
    with Server(furnish(tmp_path)) as server:
        _look_through(server)


def _look_through(server: Server) -> None:
    runs = [ask_to_send(server, f"tea {number}") for number in range(3)]
    announce(server, "web:7")
    found = open_approvals(server, 4)
    assert [item["session_id"] for item in found] == ["web:7", None, None, None]
    assert [item["run_id"] for item in found[1:]] == runs[::-1]
    pages, before = list[str](), None
    while True:
        page = server.http.get(
            "/approvals", params={"limit": 3, **({} if before is None else {"before": before})}
        ).json()
        pages += [item["approval_id"] for item in page["approvals"]]
        if (before := page["next"]) is None:
            break
    assert pages == [item["approval_id"] for item in found]
    decide(server, found[1], "deny")

    def states(**asked: Any) -> list[str]:
        return [
            item["state"]
            for item in server.http.get("/approvals", params=asked).json()["approvals"]
        ]

    assert states() == ["open"] * 3
    assert states(state="denied") == ["denied"]
    assert states(state="denied,open") == states(all=True) == ["open", "denied", "open", "open"]
    assert states(session="web:7") == ["open"]
    assert states(session="web:none") == []
    assert refused(server.http.get("/approvals", params={"state": "odd"})) == (422, "unknown_state")


# --- who ------------------------------------------------------------------------------------------


def test_without_being_asked_to_wait_a_run_does_not(server: Server) -> None:
    """A caller that waits for the outcome gets ``approval_not_available`` and nobody is asked; one
    that does not wait has somebody asked.
    """
    reply = server.execute(
        {"verb_id": "note.send", "payload": {"to": "ada@example.org", "text": "tea"}}
    )
    assert (reply["ok"], reply["error"]["code"]) == (False, "approval_not_available")
    assert server.http.get("/approvals").json()["approvals"] == []
    ask_to_send(server)
    assert len(open_approvals(server)) == 1


def test_a_token_needs_the_scope(server: Server) -> None:
    """No other scope lists, shows, decides or grants; the one that does needs no other."""
    others = bearer(
        server,
        "others",
        "chat",
        "runs:read",
        "runs:operate",
        "verbs",
        "plan",
        "memory",
        "models",
        "admin",
        "metrics",
    )
    approver = bearer(server, "approver", "approvals")
    run = ask_to_send(server, **others)
    (item,) = open_approvals(server)
    assert refused(decide(server, item, headers=others)) == (403, "forbidden")
    for path in ("/approvals", f"/approvals/{item['approval_id']}", "/grants"):
        assert refused(server.http.get(path, headers=others)) == (403, "forbidden")
    assert refused(server.http.get("/runs", headers=approver)) == (403, "forbidden")
    done = decide(server, item, headers=approver).json()
    assert (done["requester"], done["decided_by"]) == ("token:others", "token:approver")
    server.until(run, "completed")


def test_approvers_claim_what_they_look_at(server: Server) -> None:
    """One at a time, by name, and no more than a sign: another one decides it all the same."""
    ada, ben = (bearer(server, name, "approvals") for name in ("ada", "ben"))
    others = bearer(server, "no-approver", "chat", "runs:read", "runs:operate", "verbs", "admin")
    ask_to_send(server)
    (item,) = open_approvals(server)
    assert (item["claimed_by"], item["claimed_at"]) == (None, None)

    def says(word: str, headers: dict[str, str], **body: Any) -> httpx2.Response:
        return server.http.post(
            f"/approvals/{item['approval_id']}/{word}", json=body, headers=headers
        )

    assert refused(says("claim", others)) == refused(says("release", others)) == (403, "forbidden")
    assert refused(says("claim", {})) == (403, "approver_unknown")
    assert refused(says("claim", {**ada, "Ordain-Workspace": "other"})) == (403, "forbidden")
    assert refused(says("claim", {"Ordain-Workspace": "other"})) == (404, "approval_not_found")
    assert refused(says("claim", ada, take_over="yes")) == (422, "invalid_request")
    first = says("claim", ada).json()
    assert (first["state"], first["claimed_by"]) == ("open", "token:ada")
    assert says("claim", ada).json() == first
    other = says("claim", ben)
    assert (refused(other), other.json()["claimed_by"]) == ((409, "already_claimed"), "token:ada")
    assert "token:ada" in other.json()["detail"]
    assert refused(says("release", ben)) == (409, "not_claimed")
    assert says("claim", ben, take_over=True).json()["claimed_by"] == "token:ben"
    assert open_approvals(server)[0]["claimed_by"] == "token:ben"
    assert says("release", ben).json()["claimed_by"] is None
    assert says("claim", ben).json()["claimed_by"] == "token:ben"
    done = decide(server, item, headers=ada).json()
    assert (done["state"], done["decided_by"], done["claimed_by"]) == (
        "approved",
        "token:ada",
        None,
    )
    assert refused(says("claim", ben)) == refused(says("release", ben)) == (409, "already_decided")


def test_policy_says_who(tmp_path: Path) -> None:
    """A role, and another than who asked: whoever has no name is unknown, and a no may always come
    from whoever asked.

    B-27 "external write/destructive/undeclared egress/delegating → proposal."
    """
    rule = (
        '[approvals.roles]\noffice = ["token:boss", "token:clerk", "local:0"]\n'
        '[[approvals.rules]]\ntier = "write"\nrole = "office"\nnot_requester = true\n'
    )
    with Server(furnish(tmp_path)).policy(rule) as server:
        boss, clerk, guest = (
            bearer(server, name, "approvals", "verbs") for name in ("boss", "clerk", "guest")
        )
        ask_to_send(server, **clerk)
        (item,) = open_approvals(server)
        shown = server.http.get(f"/approvals/{item['approval_id']}").json()
        assert shown["who_may"] == {
            "scope": "approvals",
            "roles": ["office"],
            "not_requester": True,
        }
        assert refused(decide(server, item)) == (403, "approver_unknown")
        assert refused(decide(server, item, headers=guest)) == (403, "not_an_approver")
        assert refused(decide(server, item, headers=clerk)) == (403, "own_request")
        assert decide(server, item, headers=boss).status_code == 200
        ask_to_send(server, "more tea", **clerk)
        (item,) = open_approvals(server)
        assert decide(server, item, "deny", headers=clerk).status_code == 200


def test_whoever_reads_the_data_folder_is_known_by_name(tmp_path: Path) -> None:
    """A command beside the server decides as the user whose folder it is; as a second pair of eyes
    that counts only for what somebody else asked.
    """
    rule = '[[approvals.rules]]\ntier = "write"\nnot_requester = true\n'
    with Server(furnish(tmp_path)).policy(rule) as server:
        ask_to_send(server)
        (item,) = open_approvals(server)
        own = server.cli("approvals", "approve", item["approval_id"], "--digest", item["digest"])
        assert (own.returncode, b"[own_request]" in own.stderr) == (1, True)
        ask_to_send(server, "more", **bearer(server, "clerk", "verbs"))
        item = open_approvals(server, 2)[0]
        done = server.cli(
            "approvals", "approve", item["approval_id"], "--digest", item["digest"], "--json"
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["decided_by"].startswith("local:")


# --- grants ---------------------------------------------------------------------------------------


def test_a_grant_lets_calls_through_until_it_is_spent(server: Server) -> None:
    """Given by itself in the shape of C5: so many calls of such verbs, by that principal's runs
    alone; also where nobody waits.
    """
    office, other = bearer(server, "office", "verbs"), bearer(server, "other", "verbs")
    scope = {"capabilities": ["note.*"], "targets": ["ada@example.org"]}
    given = server.http.post(
        "/grants", json={"principal": "token:office", "scope": scope, "ttlSeconds": 600, "uses": 2}
    ).json()
    assert given.keys() >= {
        "grantId",
        "principal",
        "scope",
        "riskLevel",
        "ttlSeconds",
        "expiresAt",
        "reason",
        "audit",
    }
    assert given["scope"] == {**scope, "constraints": {}}
    assert (given["usesLeft"], given["stands"], given["audit"]["by"]) == (2, True, "http:loopback")
    body = {"verb_id": "note.send", "payload": {"to": "ada@example.org", "text": "tea"}}

    def allowed(headers: dict[str, str], **payload: str) -> bool:
        said = server.http.post(
            "/verbs/execute",
            json={**body, "payload": {**body["payload"], **payload}},
            headers=headers,
        ).json()
        return bool(said["ok"])

    assert not allowed(other)
    assert not allowed(office, to="ben@example.org")
    assert [allowed(office) for _ in range(3)] == [True, True, False]
    assert server.http.get("/grants").json() == {"grants": [], "next": None}
    spent = server.http.get("/grants", params={"all": True}).json()["grants"][0]
    assert (spent["grantId"], spent["usesLeft"], spent["stands"]) == (given["grantId"], 0, False)
    assert sent(server.home) == ["ada@example.org: tea"] * 2


def test_a_grant_comes_with_a_yes_and_is_taken_back(server: Server) -> None:
    """For more calls of the same verbs by the same principal; once it is revoked somebody is asked
    again.
    """
    ask_to_send(server)
    (item,) = open_approvals(server)
    done = decide(server, item, grant={"ttlSeconds": 600}).json()
    run = ask_to_send(server, "more")
    assert server.until(run, "completed")["response"]["ok"]
    (given,) = server.http.get("/grants").json()["grants"]
    assert (given["scope"]["capabilities"], given["scope"]["targets"]) == (
        ["note.send"],
        ["ada@example.org"],
    )
    audit = server.http.post(
        f"/grants/{done['grant_id']}/revoke", json={"why": "tea is over"}
    ).json()["audit"]
    assert (audit["revokedBy"], audit["revokedWhy"]) == ("http:loopback", "tea is over")
    assert refused(server.http.post(f"/grants/{NOT_THERE}/revoke", json={})) == (
        404,
        "grant_not_found",
    )
    ask_to_send(server, "still more")
    assert len(open_approvals(server)) == 1


def test_grants_that_cannot_be_given(server: Server) -> None:
    """Too long, for nothing, with a no: refused by their shape or by name."""
    scope = {"capabilities": ["note.send"]}
    for wrong in (
        {"ttlSeconds": 1},
        {"scope": {"capabilities": []}},
        {"uses": 0},
        {"riskLevel": "destructive"},
        {"principal": ""},
    ):
        body = {"principal": "token:a", "scope": scope, "ttlSeconds": 600, **wrong}
        assert refused(server.http.post("/grants", json=body)) == (422, "invalid_request")
    for named, refusal in (
        ({"principal": "*"}, (422, "invalid_grant")),
        (
            {"scope": {**scope, "constraints": {"note.sned": {"maxCalls": 1}}}},
            (422, "invalid_grant"),
        ),
        ({"scope": {"capabilities": ["note.sned"]}}, (404, "unknown_verb")),
        ({"scope": {"capabilities": ["note.*", "extract_facts"]}}, (422, "not_grantable")),
        ({"riskLevel": "read"}, (422, "not_grantable")),
    ):
        body = {"principal": "token:a", "scope": scope, "ttlSeconds": 600, **named}
        assert refused(server.http.post("/grants", json=body)) == refusal
    ask_to_send(server)
    (item,) = open_approvals(server)
    assert refused(decide(server, item, "deny", grant={"ttlSeconds": 600})) == (
        422,
        "invalid_request",
    )


# --- the process dies -----------------------------------------------------------------------------


def test_a_yes_outlives_the_process(server: Server) -> None:
    """It is durable when it is acknowledged: killed between the yes and the act, the next server
    acts, once; an open approval stays open meanwhile.
    """
    run, (item,) = ask_to_send(server), open_approvals(server)
    server.kill()
    server.start()
    assert open_approvals(server) == [item]
    (server.home / "hold").touch()
    assert decide(server, item).status_code == 200
    server.kill()
    (server.home / "hold").unlink()
    assert sent(server.home) == []
    server.start()
    assert server.until(run, "completed")["response"]["ok"]
    assert sent(server.home) == ["ada@example.org: tea"]
    assert refused(decide(server, item)) == (409, "already_decided")
