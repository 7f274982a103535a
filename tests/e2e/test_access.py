"""Access over real HTTP and WebSocket: a server that listens everywhere, one that demands tokens on
loopback, and the commands beside them.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from ordain.cli import main
from tests.e2e.process import PATIENCE_S, Server, run_cli
from tests.e2e.proposals import act, ask, case, finish

EVERYWHERE = ("--host", "0.0.0.0", "--port", "0")
SCRIPT = {"cases": [case("simple", finish("Fine."))]}


def command(*arguments: str, home: Path) -> tuple[int, str, str]:
    """A command over a data folder in this process: exit code, what it printed, what it said on
    stderr.
    """
    printed, said = io.StringIO(), io.StringIO()
    with redirect_stdout(printed), redirect_stderr(said):
        code = main([*arguments, "--data-dir", str(home)])
    return code, printed.getvalue(), said.getvalue()


def create(home: Path, name: str, *arguments: str) -> str:
    """A token."""
    code, printed, said = command("token", "create", name, *arguments, "--json", home=home)
    assert code == 0, said
    return json.loads(printed)["token"]


def listed(home: Path) -> list[dict[str, Any]]:
    """Every token, as it is listed."""
    return json.loads(command("token", "list", "--json", home=home)[1])["tokens"]


def bearer(token: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", **more}


def refused(response: httpx2.Response) -> tuple[int, str]:
    assert response.headers["content-type"] == "application/problem+json"
    return response.status_code, response.json()["code"]


@pytest.fixture(scope="module")
def tokens() -> dict[str, str]:
    return {}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, tokens: dict[str, str]) -> Iterator[Server]:
    """A server that listens on every address of this machine."""
    home = tmp_path_factory.mktemp("exposed")
    tokens["all"] = create(
        home,
        "all",
        "--scope",
        "all",
        "--workspace",
        "default",
        "--workspace",
        "team-a",
        "--rate",
        "100000/s",
    )
    tokens["plan"] = create(home, "planner", "--scope", "plan,runs:read", "--expires", "1h")
    tokens["chat"] = create(home, "chatter", "--scope", "chat", "--workspace", "team-b")
    (home / "ordain.toml").write_text('[server]\nfailed_rate = "1000/s"\n', encoding="utf-8")
    with Server(home, arguments=EVERYWHERE).play(SCRIPT) as server:
        yield server


def test_beyond_loopback_nothing_is_open_but_health(server: Server) -> None:
    """Every address but /health is 401 without a token, with WWW-Authenticate, also from this very
    machine; nothing of it is run.
    """
    assert server.http.get("/health").status_code == 200
    for method, path in (
        ("GET", "/runs"),
        ("POST", "/plan/react"),
        ("GET", "/metrics"),
        ("GET", "/ready"),
        ("GET", "/openapi.json"),
        ("GET", "/x"),
    ):
        response = server.http.request(
            method, path, json=ask("simple") if method == "POST" else None
        )
        assert refused(response) == (401, "unauthenticated")
        assert response.headers["www-authenticate"] == 'Bearer realm="ordain"'


@pytest.mark.parametrize(
    "credential",
    [
        "",
        "Bearer",
        "Basic b3JkYWluOng=",
        "Bearer nonsense",
        "Bearer ordain_0_0",
        "{token}",
        "Bearer {token}x",
        "Bearer {cut}",
    ],
)
def test_what_is_no_good_token_is_401(
    server: Server, tokens: dict[str, str], credential: str
) -> None:
    """B-45 "what is refused before acceptance (syntax, schema, authentication, limits) is a 4xx
    problem+json": nothing of the token in it.
    """
    given = credential.format(token=tokens["all"], cut=tokens["all"][:-1])
    response = server.http.get("/runs", headers={"Authorization": given})
    assert refused(response) == (401, "unauthenticated")
    assert tokens["all"][20:40] not in response.text


def test_a_well_formed_token_that_nobody_was_given_is_401(
    server: Server, tokens: dict[str, str], tmp_path: Path
) -> None:
    """Another house's token, and two credentials at once, are refused like any other."""
    assert refused(
        server.http.get("/runs", headers=bearer(create(tmp_path, "all", "--scope", "all")))
    ) == (401, "unauthenticated")
    both = [
        ("Authorization", f"Bearer {tokens['all']}"),
        ("Authorization", f"Bearer {tokens['plan']}"),
    ]
    assert refused(server.http.get("/runs", headers=both)) == (401, "unauthenticated")


def test_a_scope_opens_what_it_names(server: Server, tokens: dict[str, str]) -> None:
    """A planner's token plans and reads runs; anything else is 403. The journal names it as who
    asked.
    """
    token = tokens["plan"]
    done = server.http.post("/plan/react", json=ask("simple"), headers=bearer(token))
    assert done.status_code == 200, done.text
    journal = server.http.get(
        f"/runs/{done.json()['run_id']}/journal", headers=bearer(token)
    ).json()["records"]
    assert journal[0]["body"]["principal"] == "token:planner"
    for method, path in (
        ("POST", "/messages"),
        ("GET", "/metrics"),
        ("GET", "/tokens"),
        ("POST", f"/runs/{done.json()['run_id']}/cancel"),
    ):
        assert refused(server.http.request(method, path, json={}, headers=bearer(token))) == (
            403,
            "forbidden",
        )


def test_a_token_is_bound_to_its_workspaces(server: Server, tokens: dict[str, str]) -> None:
    """A workspace that it has not is 403; without the header a token of one workspace is in that
    one; what is elsewhere is 404.
    """
    said = {"text_input": "hello", "session_id": "s1"}
    mine = server.http.post("/api/chat", json=said, headers=bearer(tokens["chat"]))
    assert mine.status_code == 200, mine.text
    for other in ("default", "team-a", "TEAM-B"):
        named = bearer(tokens["chat"], **{"Ordain-Workspace": other})
        assert refused(server.http.post("/api/chat", json=said, headers=named)) == (
            403,
            "forbidden",
        )
    assert (
        server.http.get("/sessions/s1", headers=bearer(tokens["chat"])).json()["workspace"]
        == "team-b"
    )
    assert refused(server.http.get("/sessions/s1", headers=bearer(tokens["all"]))) == (
        404,
        "session_not_found",
    )
    assert refused(
        server.http.get(f"/runs/{mine.json()['run_id']}", headers=bearer(tokens["all"]))
    ) == (404, "run_not_found")
    empty = server.http.get("/runs", headers=bearer(tokens["all"], **{"Ordain-Workspace": ""}))
    assert refused(empty) == (422, "invalid_request")
    twice = [
        *bearer(tokens["all"]).items(),
        ("Ordain-Workspace", "team-a"),
        ("Ordain-Workspace", "default"),
    ]
    assert refused(server.http.get("/runs", headers=twice)) == (400, "repeated_header")


@pytest.mark.parametrize(
    "query", ["token={}", "access_token={}", "Token=x", "session=s&x={}", "{}=1", "a={}%20"]
)
def test_a_token_in_an_address_is_refused(
    server: Server, tokens: dict[str, str], query: str
) -> None:
    """Addresses end in logs: 400, whatever the parameter is called, with a good token in the header
    too.
    """
    response = server.http.get(
        f"/runs?{query.format(tokens['plan'])}", headers=bearer(tokens["all"])
    )
    assert refused(response) == (400, "token_in_query")
    assert tokens["plan"] not in response.text


def test_any_host_name_is_answered_and_no_origin_counts(
    server: Server, tokens: dict[str, str]
) -> None:
    """Where tokens are demanded no browser is let in by itself, so Host and Origin say nothing; and
    no other origin may read an answer.
    """
    response = server.http.get(
        "/runs",
        headers=bearer(tokens["all"], Host="ordain.example.org", Origin="https://evil.example"),
    )
    assert response.status_code == 200
    assert not [name for name in response.headers if name.startswith("access-control-")]
    assert refused(server.http.get("/runs", headers={"Host": "ordain.example.org"})) == (
        401,
        "unauthenticated",
    )


async def frames(server: Server, **options: Any) -> dict[str, Any]:
    """Say something over a socket; the answer to the frame."""
    async with connect(f"ws://127.0.0.1:{server.port}/ws", proxy=None, **options) as socket:
        await socket.send(json.dumps({"text_input": "hi"}))
        return json.loads(await asyncio.wait_for(socket.recv(), PATIENCE_S))


async def test_a_socket_takes_header_or_subprotocol(server: Server, tokens: dict[str, str]) -> None:
    """A token is taken from either; of two subprotocols the one without the token is answered,
    never the other; without a token it is 401.
    """
    assert (await frames(server, additional_headers=bearer(tokens["chat"])))["event"] == "accepted"
    offered: list[Any] = ["ordain", f"ordain.bearer.{tokens['chat']}"]
    assert (await frames(server, subprotocols=offered))["event"] == "accepted"
    async with connect(
        f"ws://127.0.0.1:{server.port}/ws", proxy=None, subprotocols=offered
    ) as socket:
        assert socket.subprotocol == "ordain"
    for options, status in (
        ({}, 401),
        ({"subprotocols": ["ordain.bearer.x"]}, 401),
        ({"additional_headers": bearer(tokens["plan"])}, 403),
    ):
        with pytest.raises(InvalidStatus) as answer:
            await frames(server, **options)
        assert answer.value.response.status_code == status
    with pytest.raises(InvalidStatus) as answer:
        await frames(server, subprotocols=offered[1:])
    response = answer.value.response
    assert (response.status_code, b"offer subprotocol ordain" in (response.body or b"")) == (
        422,
        True,
    )
    assert tokens["chat"] not in f"{response.headers}{response.body}"


@pytest.mark.parametrize("named", [[""], ["", "default"], ["", "team-b"], ["team-b", "default"]])
async def test_a_socket_is_where_its_token_was_checked(
    server: Server, tokens: dict[str, str], named: list[str]
) -> None:
    """An empty or repeated workspace header is refused before the handshake, whatever the query
    says: it leads into no other workspace.
    """
    headers = [
        ("Authorization", f"Bearer {tokens['chat']}"),
        *(("Ordain-Workspace", one) for one in named),
    ]
    for query in ("", "?workspace=default", "?workspace=team-b"):
        with pytest.raises(InvalidStatus) as answer:
            async with connect(
                f"ws://127.0.0.1:{server.port}/ws{query}", proxy=None, additional_headers=headers
            ):
                pass
        assert answer.value.response.status_code in (400, 422)


async def test_a_query_names_a_sockets_workspace(server: Server, tokens: dict[str, str]) -> None:
    """The one that the query names is checked like the header's, and is where the socket then
    is.
    """
    url = f"ws://127.0.0.1:{server.port}/ws?workspace="
    with pytest.raises(InvalidStatus) as answer:
        async with connect(f"{url}default", proxy=None, additional_headers=bearer(tokens["chat"])):
            pass
    assert answer.value.response.status_code == 403
    async with connect(
        f"{url}team-a", proxy=None, additional_headers=bearer(tokens["all"])
    ) as socket:
        await socket.send(json.dumps({"text_input": "hi", "session_id": "of-team-a"}))
        assert json.loads(await asyncio.wait_for(socket.recv(), PATIENCE_S))["event"] == "accepted"
    found = [
        await asyncio.to_thread(
            server.http.get,
            "/sessions/of-team-a",
            headers=bearer(tokens["all"], **{"Ordain-Workspace": one}),
        )
        for one in ("team-a", "default")
    ]
    assert [one.status_code for one in found] == [200, 404]


async def test_a_revoked_token_ends_its_open_streams(server: Server) -> None:
    """A socket and an event stream that a token opened end once it is revoked by another process,
    and nothing more is said on them.
    """
    token = await asyncio.to_thread(create, server.home, "passing", "--scope", "chat")
    headers = bearer(token)
    url = f"ws://127.0.0.1:{server.port}/ws?session=gone"
    async with (
        connect(url, proxy=None, additional_headers=headers) as socket,
        httpx2.AsyncClient(trust_env=False, timeout=PATIENCE_S) as http,
    ):
        await socket.send(json.dumps({"text_input": "hi"}))
        while json.loads(await asyncio.wait_for(socket.recv(), PATIENCE_S))["event"] != "reply":
            pass
        async with http.stream(
            "GET", f"{server.http.base_url}/sessions/gone/events", headers=headers
        ) as stream:
            assert stream.status_code == 200
            # another process
            revoke = await asyncio.to_thread(
                run_cli, "token", "revoke", "passing", home=server.home
            )
            assert revoke.returncode == 0
            await asyncio.sleep(1.1)  # how long a look at the token counts
            await socket.send(json.dumps({"text_input": "still there?"}))
            said: list[str] = []
            with suppress(ConnectionClosed):
                async for frame in socket:
                    said.append(json.loads(frame)["event"])  # noqa: PERF401 - what came before the end counts
            assert (said, socket.close_code) in (([], 1008), (["refused"], 1008))
        assert refused(await http.get(f"{server.http.base_url}/sessions", headers=headers)) == (
            401,
            "unauthenticated",
        )


def test_commands_of_the_owner_go_on(server: Server, tokens: dict[str, str]) -> None:
    """Whoever can read the data folder needs no token; ORDAIN_TOKEN, or its file, is used instead,
    with what it may; the key is the owner's alone.
    """
    assert server.cli("runs", "list", "--json").returncode == 0
    assert stat.S_IMODE((server.home / "server.json").stat().st_mode) == 0o600
    as_planner = {"ORDAIN_TOKEN": tokens["plan"]}
    assert run_cli("runs", "list", home=server.home, environment=as_planner).returncode == 0
    forbidden = run_cli("sessions", "list", home=server.home, environment=as_planner)
    assert (forbidden.returncode, b"[forbidden]" in forbidden.stderr) == (2, True)
    file = server.home / "token"
    file.write_text(f"{tokens['plan']}\n", encoding="utf-8")
    assert (
        run_cli(
            "runs", "list", home=server.home, environment={"ORDAIN_TOKEN_FILE": str(file)}
        ).returncode
        == 0
    )
    for environment in (
        {"ORDAIN_TOKEN": tokens["plan"][:-1]},
        {"ORDAIN_TOKEN_FILE": str(server.home / "none")},
    ):
        wrong = run_cli("runs", "list", home=server.home, environment=environment)
        assert (wrong.returncode, tokens["plan"][20:40].encode() in wrong.stderr) == (2, False)


def test_rotation_keeps_the_name_and_the_old_secret_for_as_long_as_asked(server: Server) -> None:
    """With a grace both secrets are good; without one the old is refused at once; list and audit
    show no secret.
    """
    first = create(server.home, "turning", "--scope", "runs:read")
    second = json.loads(
        command("token", "rotate", "turning", "--grace", "1h", "--json", home=server.home)[1]
    )["token"]
    assert [
        server.http.get("/runs", headers=bearer(one)).status_code for one in (first, second)
    ] == [200, 200]
    third = command("token", "rotate", "turning", home=server.home)[1].strip()
    assert [
        server.http.get("/runs", headers=bearer(one)).status_code for one in (second, third)
    ] == [401, 200]
    shown = (
        command("token", "list", "--json", home=server.home)[1]
        + command("token", "audit", home=server.home)[1]
    )
    assert "turning" in shown
    assert not any(one[20:60] in shown for one in (first, second, third))


AUDITED = ("default", "--workspace", "team-a", "--workspace", "team-b")
"""An admin sees its own workspaces alone."""


def test_use_and_refusal_stand_in_the_audit(server: Server, tokens: dict[str, str]) -> None:
    """Creation, use by scope, and refusals are lines that count, one a day; admin alone reads them
    over HTTP.
    """
    for _ in range(3):
        server.http.get("/metrics", headers=bearer(tokens["all"]))
        server.http.get("/metrics", headers=bearer(tokens["plan"]))
    admin = create(server.home, "auditor", "--scope", "admin", "--workspace", *AUDITED)
    lines = server.http.get("/tokens/audit?limit=500", headers=bearer(admin)).json()["audit"]
    used = [
        one
        for one in lines
        if (one["event"], one["token"], one["asked"]) == ("used", "all", "metrics")
    ]
    assert [one["count"] >= 3 for one in used] == [True]
    assert [
        one["reason"] for one in lines if (one["token"], one["asked"]) == ("planner", "metrics")
    ] == ["access.scope"]
    assert {one["token"] for one in lines if one["event"] == "created"} >= {
        "all",
        "planner",
        "chatter",
    }
    assert next(
        one
        for one in server.http.get("/tokens", headers=bearer(tokens["all"])).json()["tokens"]
        if one["name"] == "all"
    )["last_used_at"]
    assert refused(server.http.get("/tokens/audit", headers=bearer(tokens["plan"]))) == (
        403,
        "forbidden",
    )


def test_a_rate_is_kept_per_token(server: Server) -> None:
    """The requests of one period may come at once; the next is 429 with Retry-After, for that token
    alone.
    """
    few = create(server.home, "few", "--scope", "runs:read", "--rate", "3/h")
    other = create(server.home, "other", "--scope", "runs:read", "--rate", "3/h")
    answers = [server.http.get("/runs", headers=bearer(few)) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert refused(answers[-1]) == (429, "rate_limited")
    assert 0 < int(answers[-1].headers["retry-after"]) <= 1200
    assert server.http.get("/runs", headers=bearer(other)).status_code == 200


async def test_frames_count_like_requests(server: Server) -> None:
    """A socket is no way around a token's rate: its frames are refused like requests, and it stays
    open.
    """
    few = await asyncio.to_thread(create, server.home, "fewer", "--scope", "chat", "--rate", "3/h")
    async with connect(
        f"ws://127.0.0.1:{server.port}/ws", proxy=None, additional_headers=bearer(few)
    ) as socket:
        for name in ("m1", "m2", "m3"):
            await socket.send(json.dumps({"text_input": "hi", "message_id": name}))
        told: list[dict[str, Any]] = []
        while sum(one["event"] in ("accepted", "refused") for one in told) < 3:
            told.append(json.loads(await asyncio.wait_for(socket.recv(), PATIENCE_S)))
    answers = [one["event"] for one in told if one["event"] in ("accepted", "refused")]
    assert answers == ["accepted", "accepted", "refused"]
    last = next(one for one in told if one["event"] == "refused")
    assert (last["problem"]["code"], last["message_id"]) == ("rate_limited", "m3")


def test_a_token_expires(server: Server) -> None:
    """Once its time is over a token is 401 and shown as expired, without anybody doing anything."""
    token = create(server.home, "brief", "--scope", "runs:read", "--expires", "1m")
    with sqlite3.connect(server.home / "ordain.db") as db:
        db.execute(
            "UPDATE tokens SET expires_at = ? WHERE name = 'brief'", (time.time_ns() // 1000 - 1,)
        )
    assert refused(server.http.get("/runs", headers=bearer(token))) == (401, "unauthenticated")
    assert next(one["state"] for one in listed(server.home) if one["name"] == "brief") == "expired"


def test_guessing_is_slow_and_neighbours_go_on(tmp_path: Path) -> None:
    """An address that sends wrong tokens has to wait; a token that was given is taken from there,
    the first time too, and so is the owner's key.
    """
    good, fresh = (
        create(tmp_path, "good", "--scope", "runs:read"),
        create(tmp_path, "fresh", "--scope", "runs:read"),
    )
    (tmp_path / "ordain.toml").write_text(
        '[server]\nrequire_token = true\nfailed_rate = "3/h"\n', encoding="utf-8"
    )
    with Server(tmp_path) as server:
        assert server.http.get("/runs", headers=bearer(good)).status_code == 200
        answers = [
            server.http.get("/runs", headers=bearer(f"{good}{n}")).status_code for n in range(5)
        ]
        assert answers == [401, 401, 401, 429, 429]
        assert server.http.get("/runs", headers=bearer(good)).status_code == 200
        assert server.http.get("/runs", headers=bearer(fresh)).status_code == 200
        assert server.cli("runs", "list", "--json").returncode == 0
        assert refused(server.http.get("/runs", headers=bearer("nonsense"))) == (
            429,
            "rate_limited",
        )


def test_a_token_may_be_demanded_on_loopback(tmp_path: Path) -> None:
    """With `server.require_token` nobody is let in without; with allowed_hosts other names are 421;
    the owner still talks.
    """
    create(tmp_path, "one", "--scope", "plan")
    (tmp_path / "ordain.toml").write_text(
        '[server]\nrequire_token = true\nallowed_hosts = ["ordain.example.org"]\n', encoding="utf-8"
    )
    with Server(tmp_path) as server:
        assert refused(server.http.get("/runs")) == (401, "unauthenticated")
        assert refused(server.http.get("/runs", headers={"Host": "ordain.example.org"})) == (
            401,
            "unauthenticated",
        )
        assert refused(server.http.get("/runs", headers={"Host": "evil.example"})) == (
            421,
            "foreign_host",
        )
        assert server.cli("chat", "hello").returncode == 0
        run = json.loads(command("runs", "list", "--json", home=tmp_path)[1])["runs"][0]["run_id"]
        journal = json.loads(command("runs", "show", run, "--journal", "--json", home=tmp_path)[1])[
            "records"
        ]
        assert journal[0]["body"]["principal"] == "local:owner"
    # in a process of its own
    assert run_cli("chat", "hello", home=tmp_path, environment=server.environment).returncode == 0


def test_on_loopback_a_wrong_token_is_not_the_owner(tmp_path: Path) -> None:
    """Without a token this machine is served as ever; a token that is sent counts, also where none
    is asked for.
    """
    plan = create(tmp_path, "narrow", "--scope", "plan")
    with Server(tmp_path) as server:
        assert server.http.get("/runs").status_code == 200
        note = json.loads((tmp_path / "server.json").read_text())
        assert (note["demanded"], (tmp_path / "server.json").stat().st_mode & 0o777) == (
            False,
            0o600,
        )
        assert server.http.get("/runs", headers=bearer(note["key"])).status_code == 200
        assert refused(server.http.get("/runs", headers=bearer("nonsense"))) == (
            401,
            "unauthenticated",
        )
        assert refused(server.http.get("/runs", headers=bearer(plan))) == (403, "forbidden")


@pytest.mark.parametrize("how", ["flag", "environment", "file"])
def test_listening_everywhere_needs_a_live_token(tmp_path: Path, how: str) -> None:
    """However the host is named, a server beyond loopback does not start without a token that is
    good; a revoked one does not count.
    """
    arguments = ("--host", "0.0.0.0") if how == "flag" else ()
    environment = {"PLANNER_HOST": "0.0.0.0"} if how == "environment" else {}
    if how == "file":
        (tmp_path / "ordain.toml").write_text('[server]\nhost = "0.0.0.0"\n', encoding="utf-8")
    create(tmp_path, "gone", "--scope", "chat")
    assert command("token", "revoke", "gone", home=tmp_path)[0] == 0
    done = run_cli("serve", *arguments, "--port", "0", home=tmp_path, environment=environment)
    assert (done.returncode, done.stderr.count(b"\n"), b"[not_loopback]" in done.stderr) == (
        2,
        1,
        True,
    )


def test_names_are_given_once(tmp_path: Path) -> None:
    """A name that was given stays given, also once revoked; what does not fit is one line and exit
    code 2, and nothing is made.
    """
    create(tmp_path, "one", "--scope", "chat")
    assert command("token", "revoke", "one", home=tmp_path)[0] == 0
    for arguments, code, problem in (
        (("create", "one", "--scope", "chat"), 1, "[token_exists]"),
        (("revoke", "one"), 1, "[token_revoked]"),
        (("rotate", "one"), 1, "[token_revoked]"),
        (("rotate", "two"), 2, "[token_not_found]"),
        (("create", "two", "--scope", "root"), 2, "[invalid_scope]"),
        (("create", "two"), 2, "[usage]"),
        (("create", "two", "--scope", "chat", "--workspace", "*"), 2, "[invalid_workspace]"),
        (("create", "two", "--scope", "chat", "--rate", "0/s"), 2, "[invalid_rate]"),
        (("create", "two", "--scope", "chat", "--expires", "never"), 2, "[invalid_lifetime]"),
        (("create", "Two!", "--scope", "chat"), 2, "[invalid_name]"),
    ):
        got, _, said = command("token", *arguments, home=tmp_path)
        assert (got, problem in said, said.count("\n")) == (code, True, 1), (arguments, said)
    assert [one["name"] for one in listed(tmp_path)] == ["one"]
    assert command("token", "list", home=tmp_path / "nowhere")[0] == 2


def test_loopback_may_ask_for_a_token_everywhere(tmp_path: Path) -> None:
    """`[access] loopback = "token"`: nobody on this machine is let in without one, but for the
    owner's commands.
    """
    token = create(tmp_path, "one", "--scope", "runs:read")
    (tmp_path / "ordain.toml").write_text('[access]\nloopback = "token"\n', encoding="utf-8")
    with Server(tmp_path) as server:
        assert refused(server.http.get("/runs")) == (401, "unauthenticated")
        assert server.http.get("/runs", headers=bearer(token)).status_code == 200
        assert server.cli("runs", "list", "--json").returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs a process as another user")
def test_a_process_of_another_user_needs_a_token(tmp_path: Path) -> None:
    """Without any setting: this user's processes are served, another user's are 401 without a
    token, over HTTP and WebSocket, and /health is open.
    """
    token = create(tmp_path, "one", "--scope", "runs:read", "--scope", "chat")
    with Server(tmp_path) as server:
        assert server.http.get("/runs").status_code == 200
        asked = f"""
import encodings.idna, os, socket, sys
os.setgid(65533); os.setuid(65533)
def status(path, *headers):
    with socket.create_connection(("127.0.0.1", {server.http.base_url.port})) as made:
        made.sendall("\\r\\n".join([f"GET {{path}} HTTP/1.1", "Host: localhost", "Connection: close", *headers, "", ""]).encode())
        return made.recv(100).split()[1].decode()
upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
good = "Authorization: Bearer {token}"
print(status("/runs"), status("/runs", good), status("/health"), status("/ws", *upgrade), status("/ws", good, *upgrade))
"""
        told = subprocess.run(
            [sys.executable, "-c", asked],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
        )
        assert told.stdout.split() == ["401", "200", "200", "401", "101"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs a process as another user")
def test_a_connection_that_is_reset_is_nobodys(tmp_path: Path) -> None:
    """Another user's process sends a request and resets the connection before it is accepted: what
    it sent is read, and nothing of it is done.
    """
    with Server(tmp_path) as server:
        asked = f"""
import encodings.idna, json, os, socket, struct
os.setgid(65533); os.setuid(65533)
body = json.dumps({{"verb_id": "collapse.write_entry", "payload": {{"text": "{NOTE}"}}}})
head = ["POST /verbs/execute HTTP/1.1", "Host: localhost", "Content-Type: application/json", f"Content-Length: {{len(body)}}"]
for _ in range(40):
    made = socket.create_connection(("127.0.0.1", {server.http.base_url.port}))
    made.sendall("\\r\\n".join([*head, "", body]).encode())
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    made.close()
"""
        subprocess.run([sys.executable, "-c", asked], timeout=PATIENCE_S, check=True)
        done = server.http.post(
            "/verbs/execute",
            json={"verb_id": "collapse.write_entry", "payload": {"text": "of this user"}},
        )
        assert done.json()["ok"], "what was sent before it has been read by now"
        assert [run["principal"] for run in server.http.get("/runs").json()["runs"]] == [
            "http:loopback"
        ]
        assert NOTE not in server.http.get("/memory").text


def test_nobody_forges_where_a_request_comes_from(tmp_path: Path) -> None:
    """A header that says so is believed of the proxies that settings name alone: wrong tokens count
    for the address that sent them.
    """
    create(tmp_path, "one", "--scope", "runs:read")
    (tmp_path / "ordain.toml").write_text(
        '[server]\nrequire_token = true\nfailed_rate = "3/h"\n', encoding="utf-8"
    )

    def statuses(server: Server) -> list[int]:
        return [
            server.http.get(
                "/runs", headers=bearer("x", **{"X-Forwarded-For": f"203.0.113.{n}"})
            ).status_code
            for n in range(5)
        ]

    with Server(tmp_path) as server:
        assert statuses(server) == [401, 401, 401, 429, 429]
    (tmp_path / "ordain.toml").write_text(
        '[server]\nrequire_token = true\nfailed_rate = "3/h"\ntrusted_proxies = ["127.0.0.0/8"]\n',
        encoding="utf-8",
    )
    with Server(tmp_path) as server:
        assert statuses(server) == [401] * 5


NOTE = "The blue tap tops the boiler up."
RECALL = {"query": '"blue tap"', "time_window_days": 0}


def test_a_verb_reaches_no_further_than_the_token(tmp_path: Path) -> None:
    """A verb names the scopes that it needs: without `memory` nobody reads notes or writes entries
    through verbs, a plan or a message.
    """
    scopes = {
        "verbs": ("verbs",),
        "both": ("verbs", "memory"),
        "plan": ("plan",),
        "chat": ("chat",),
    }
    tokens = {
        name: create(tmp_path, name, *(word for scope in given for word in ("--scope", scope)))
        for name, given in scopes.items()
    }
    script = {"cases": [case("recalls", act("recall.fetch_context", **RECALL), finish("Read."))]}
    with Server(tmp_path).play(script) as server:
        assert server.http.post("/memory", json={"text": NOTE}).status_code in (200, 201)

        def execute(token: str, verb: str, payload: dict[str, Any]) -> dict[str, Any]:
            body = {"verb_id": verb, "payload": payload, "caller": "test"}
            return server.http.post(
                "/verbs/execute", json=body, headers=bearer(tokens[token])
            ).json()

        for verb, payload in (
            ("recall.fetch_context", RECALL),
            ("research.search", {"query": "x"}),
            ("collapse.write_entry", {"text": "x"}),
            ("sim.markov_next_theme", {}),
        ):
            denied = execute("verbs", verb, payload)
            assert (denied["ok"], NOTE in str(denied)) == (False, False), verb
            assert denied["error"]["code"] == "token_scope", denied
        assert execute("verbs", "math.evaluate", {"expression": "1+1"})["ok"]
        assert NOTE in str(execute("both", "recall.fetch_context", RECALL))
        told = server.http.post(
            "/plan/react",
            json=ask("recalls", "recall.fetch_context"),
            headers=bearer(tokens["plan"]),
        ).json()
        assert NOTE not in str(told)
        run = told["run_id"]
        assert "authorize.token_scope" in json.dumps(server.http.get(f"/runs/{run}/journal").json())
        chat = {"prompt": "blue tap?", "recall": {"enabled": True}}
        answer = server.http.post("/v1/cortex/chat", json=chat, headers=bearer(tokens["chat"]))
        assert (answer.status_code, NOTE in answer.text) == (200, False)


def test_a_request_id_is_its_principals(tmp_path: Path) -> None:
    """Two tokens use one id for what they will: each has its own run, and learns nothing of the
    other's.
    """
    one, two = (create(tmp_path, name, "--scope", "verbs") for name in ("one", "two"))
    with Server(tmp_path) as server:

        def run(token: str, expression: str) -> tuple[int, Any]:
            body = {
                "verb_id": "math.evaluate",
                "payload": {"expression": expression},
                "caller": "test",
                "request_id": "r1",
            }
            made = server.http.post(
                "/verbs/execute",
                json=body,
                headers={**bearer(token), "Prefer": "respond-async"} if token else {},
            )
            return made.status_code, made.json().get("run_id")

        first, second, owner = run(one, "1+1"), run(two, "1+1"), run("", "2+2")
        assert (first[0], second[0], owner[0]) == (202, 202, 200)
        assert first[1] != second[1]
        assert run(one, "1+1") == first
        assert run(two, "2+2")[0] == 409


def test_a_verb_does_not_reach_its_own_server(tmp_path: Path) -> None:
    """What this server listens on is refused to verbs, declared and by another spelling: through it
    a verb would speak as the owner.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    urls = [
        f"http://{host}:{port}/runs"
        for host in ("127.0.0.1", "localhost", "[::ffff:7f00:1]", "0.0.0.0")
    ]
    (tmp_path / "ordain.toml").write_text(
        f'[verbs]\nurls = {json.dumps(urls)}\nprivate_hosts = ["localhost"]\n', encoding="utf-8"
    )
    with Server(tmp_path, arguments=("--port", str(port))) as server:
        for url in urls:
            body = {"verb_id": "web.fetch", "payload": {"url": url}, "caller": "test"}
            assert (
                server.http.post("/verbs/execute", json=body).json()["error"]["code"]
                == "own_address"
            ), url


def test_a_workspaces_admin_sees_that_workspace(tmp_path: Path) -> None:
    """A token with `admin` lists tokens that belong to its workspaces alone, and their audit; the
    owner sees all of it.
    """
    admin = create(tmp_path, "boss-a", "--scope", "admin", "--workspace", "a")
    others = {"in-a": ("a",), "in-b": ("b",), "in-both": ("a", "b")}
    made = {
        name: create(
            tmp_path,
            name,
            "--scope",
            "plan",
            *(word for one in names for word in ("--workspace", one)),
        )
        for name, names in others.items()
    }
    with Server(tmp_path) as server:
        for token in (*made.values(), "guess"):
            server.http.get("/runs", headers=bearer(token, **{"Ordain-Workspace": "a"}))
        assert [
            one["name"]
            for one in server.http.get("/tokens", headers=bearer(admin)).json()["tokens"]
        ] == ["boss-a", "in-a"]
        audited = server.http.get("/tokens/audit", headers=bearer(admin)).json()["audit"]
        assert {one["token"] for one in audited} == {"boss-a", "in-a"}
        assert (
            server.http.get("/tokens/audit?name=in-b", headers=bearer(admin)).json()["audit"] == []
        )
        assert len(server.http.get("/tokens").json()["tokens"]) == 4
        assert {one["token"] for one in server.http.get("/tokens/audit").json()["audit"]} >= {
            None,
            "in-b",
            "in-both",
        }


def test_erasing_a_run_takes_its_request_id(tmp_path: Path) -> None:
    """What a caller named a request by is the caller's word: it is in no table any more once the
    run is erased.
    """
    with Server(tmp_path) as server:
        body = {
            "verb_id": "math.evaluate",
            "payload": {"expression": "1+1"},
            "caller": "test",
            "request_id": "about-ada-lovelace",
        }
        run = server.http.post("/verbs/execute", json=body).json()["run_id"]
        with sqlite3.connect(tmp_path / "ordain.db") as db:
            assert (
                "about-ada-lovelace" in db.execute("SELECT request_id FROM requests").fetchone()[0]
            )
        assert server.http.post(f"/runs/{run}/erase", json={"why": "asked"}).status_code == 200
        with sqlite3.connect(tmp_path / "ordain.db") as db:
            assert all("about-ada-lovelace" not in line for line in db.iterdump())
