"""Bad input at the HTTP door: refused with a stable code as problem+json, before anything is
accepted (B-45).
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.process import Server
from tests.e2e.proposals import ask, case, finish

JSON = {"Content-Type": "application/json"}
GOOD = json.dumps(ask("simple")).encode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("bad")).play(
        {"cases": [case("simple", finish("Fine."))]}
    ) as server:
        yield server


def problem(response: Any) -> tuple[int, str]:
    body = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert {"type", "title", "status", "detail", "code"} <= set(body)
    assert body["status"] == response.status_code
    assert "Traceback" not in response.text
    return response.status_code, body["code"]


MALFORMED: dict[str, tuple[bytes, int, str]] = {
    "nothing": (b"", 400, "malformed_json"),
    "cut off": (GOOD[:-1], 400, "malformed_json"),
    "trailing": (GOOD + b"{}", 400, "malformed_json"),
    "prose": (b"please plan", 400, "malformed_json"),
    "byte order mark": (b"\xef\xbb\xbf" + GOOD, 400, "malformed_json"),
    "comment": (b"/* hi */" + GOOD, 400, "malformed_json"),
    "single quotes": (b"{'goal': 1}", 400, "malformed_json"),
    "invalid utf-8": (GOOD.replace(b"simple", b"simpl\xff"), 400, "invalid_utf8"),
    "overlong utf-8": (GOOD.replace(b"simple", b"\xc0\xaf"), 400, "invalid_utf8"),
    "utf-16": (GOOD.decode().encode("utf-16"), 400, "invalid_utf8"),
    "half a surrogate": (GOOD.replace(b"simple", b"\\ud800"), 400, "invalid_unicode"),
    "key twice": (b'{"goal": {}, "goal": {}}', 400, "duplicate_key"),
    "nan": (b'{"limits": {"timeout_seconds": NaN}}', 400, "not_finite"),
    "infinity": (b'{"limits": {"timeout_seconds": -Infinity}}', 400, "not_finite"),
    "nan in an open map": (
        GOOD[:-1] + b', "context": {"external_facts": {"x": NaN}}}',
        400,
        "not_finite",
    ),
    "a number too large": (
        GOOD[:-1] + b', "context": {"external_facts": {"x": 1e999}}}',
        400,
        "not_finite",
    ),
    "an integer too large": (
        GOOD[:-1] + b', "context": {"external_facts": {"x": ' + b"9" * 5000 + b"}}}",
        400,
        "not_finite",
    ),
    "lists too deep": (b"[" * 100_000, 400, "too_deep"),
    "objects too deep": (
        GOOD[:-1] + b', "context": {"external_facts": ' + b'{"a":' * 70 + b"1" + b"}" * 70 + b"}}",
        400,
        "too_deep",
    ),
    "too many values": (
        GOOD[:-1] + b', "context": {"external_facts": {"x": [' + b"[]," * 10_000 + b"[]]}}}",
        413,
        "too_many_values",
    ),
    "too many keys": (b"{" + b'"a":0,' * 10_000 + b'"a":0}', 413, "too_many_values"),
    "too many strings and nothing else": (b'"' * 50_000, 413, "too_many_values"),
    "too many bytes": (GOOD[:-1] + b" " * 262_144 + b"}", 413, "too_large"),
    "a list": (b"[1]", 422, "invalid_request"),
    "null": (b"null", 422, "invalid_request"),
}


@pytest.mark.parametrize("name", list(MALFORMED))
def test_what_is_no_strict_json_is_refused(server: Server, name: str) -> None:
    """B-45 "Errors on the wire: what is refused before acceptance (syntax, schema, authentication,
    limits) is a 4xx problem+json": each with its code.
    """
    body, status, code = MALFORMED[name]
    assert problem(server.http.post("/plan/react", content=body, headers=JSON)) == (status, code)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "goal missing": ({"goal": None}, "/goal"),
    "text as number": ({"goal": {"type": "chat", "description": 7}}, "/goal/description"),
    "number as text": ({"limits": {"max_steps": "4"}}, "/limits/max_steps"),
    "flag as text": ({"preferences": {"return_trace": "yes"}}, "/preferences/return_trace"),
    "fraction of a step": ({"limits": {"max_steps": 1.5}}, "/limits/max_steps"),
    "time without end": ({"limits": {"timeout_seconds": 1e9}}, "/limits/timeout_seconds"),
    "empty goal": ({"goal": {"type": "chat", "description": ""}}, "/goal/description"),
    "tool as text": ({"toolset": ["math.evaluate"]}, "/toolset/0"),
    "tool without id": ({"toolset": [{"description": "x"}]}, "/toolset/0/tool_id"),
    "unknown key": ({"plan_only": True}, "/plan_only"),
    "schema as list": (
        {"toolset": [{"tool_id": "a", "input_schema": []}]},
        "/toolset/0/input_schema",
    ),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_wrong_types_name_their_place(server: Server, name: str) -> None:
    """B-45 "is a 4xx problem+json": what does not fit the contract is named by its place, never by
    its value.
    """
    changes, place = WRONG[name]
    secret = "a-private-value"
    request = {**ask("simple"), **changes, "request_id": secret}
    response = server.http.post("/plan/react", json=request)
    assert problem(response) == (422, "invalid_request")
    assert place in {error["place"] for error in response.json()["errors"]}
    assert secret not in response.text


def test_values_are_never_echoed(server: Server) -> None:
    """A refusal repeats no value of the caller's, however wrong it is."""
    response = server.http.post(
        "/plan/react", json=ask("simple", caller="secret value!", limits={"max_steps": "secret"})
    )
    assert problem(response) == (422, "invalid_request")
    assert "secret" not in response.text


@pytest.mark.parametrize("chunked", [False, True])
def test_a_huge_body_is_refused(server: Server, chunked: bool) -> None:
    """B-45 "what is refused before acceptance (syntax, schema, authentication, limits)": 413, with
    or without a declared length.
    """
    body = b'{"goal": "' + b"x" * (3 * 1024 * 1024) + b'"}'
    content = iter([body[:1_000_000], body[1_000_000:]]) if chunked else body
    assert problem(server.http.post("/plan/react", content=content, headers=JSON)) == (
        413,
        "too_large",
    )


def test_a_long_text_within_a_small_enough_body_is_refused(server: Server) -> None:
    """A single text has its own bound."""
    response = server.http.post(
        "/plan/react", json=ask("simple", goal={"type": "chat", "description": "x" * 200_001})
    )
    assert problem(response) == (422, "invalid_request")


@pytest.mark.parametrize(
    "kind",
    [
        None,
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=latin-1",
        "application/jsonp",
    ],
)
def test_other_media_types_are_refused(server: Server, kind: str | None) -> None:
    """Only application/json in UTF-8 is read: a form of another site cannot send it."""
    headers = {} if kind is None else {"Content-Type": kind}
    assert problem(server.http.post("/plan/react", content=GOOD, headers=headers)) == (
        415,
        "unsupported_media_type",
    )
    assert (
        server.http.post(
            "/plan/react", content=GOOD, headers={"Content-Type": "application/json; charset=utf-8"}
        ).status_code
        == 200
    )


def test_a_compressed_body_is_refused(server: Server) -> None:
    """A compressed body is not unpacked."""
    response = server.http.post(
        "/plan/react", content=GOOD, headers=JSON | {"Content-Encoding": "gzip"}
    )
    assert problem(response) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ({"type": "no-such-type"}, "invalid_schema"),
        ({"$ref": "http://127.0.0.1:1/other.json"}, "invalid_schema"),
        ({"description": "x" * 20_000}, "schema_too_large"),
    ],
)
def test_schemas_of_a_request_are_checked(
    server: Server, schema: dict[str, Any], code: str
) -> None:
    """A tool's schema must be one, refer to nothing outside itself and be small."""
    request = ask("simple", toolset=[{"tool_id": "math.evaluate", "input_schema": schema}])
    assert problem(server.http.post("/plan/react", json=request)) == (422, code)


def test_outcomes_are_200_and_refusals_are_not(server: Server) -> None:
    """B-45 “an accepted request's outcome is 200 with the source's own body (`ok:false`,
    `status:"error"|"timeout"`)”: failures included.
    """
    failed = server.http.post("/plan/react", json=ask("no case for this"))
    assert (failed.status_code, failed.json()["status"]) == (200, "error")
    reply = server.http.post("/verbs/execute", json={"verb_id": "no.verb"})
    assert (reply.status_code, reply.json()["ok"]) == (200, False)
    assert problem(server.http.post("/verbs/execute", json={"verb": "no.verb"})) == (
        422,
        "invalid_request",
    )


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/", 404, "no_such_address"),
        ("GET", "/plan/react", 405, "method_not_allowed"),
        ("DELETE", "/runs", 405, "method_not_allowed"),
        ("GET", "/runs/", 404, "no_such_address"),
        ("GET", "/runs/0000", 404, "run_not_found"),
        ("GET", "/runs/0000/journal", 404, "run_not_found"),
        ("GET", "/runs/0000/events", 404, "run_not_found"),
        ("GET", "/runs?limit=0", 422, "invalid_request"),
        ("GET", "/runs?status=happy", 422, "unknown_status"),
        ("GET", "/schemas/nothing", 404, "no_such_schema"),
        ("GET", "/nowhere", 404, "no_such_address"),
    ],
)
def test_unknown_addresses_are_problems_too(
    server: Server, method: str, path: str, status: int, code: str
) -> None:
    """Every refusal has the same form: unknown addresses, methods, runs and parameters."""
    assert problem(server.http.request(method, path)) == (status, code)


def test_a_wrong_address_says_what_there_is(server: Server) -> None:
    """Whoever opens the server's root, or asks in another way than an address takes, is told where
    to look: an address that is there, and the ways that it takes.
    """
    detail = server.http.get("/").json()["detail"]
    (named,) = re.findall(r"GET (/\S+)", detail)
    assert "/plan/react" in server.http.get(named).json()["paths"]
    for path in ("/plan/react", "/v1/chat/completions"):
        refused = server.http.get(path)
        told = refused.json()
        said = told["detail"] if "detail" in told else told["error"]["message"]
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
        assert said == "this address takes POST alone"


def test_nothing_refused_was_accepted(server: Server) -> None:
    """A refusal leaves no run behind."""
    before = server.http.get("/runs").json()["runs"]
    for body, _, _ in MALFORMED.values():
        server.http.post("/plan/react", content=body, headers=JSON)
    assert server.http.get("/runs").json()["runs"] == before


def test_the_bounds_of_a_body_are_the_settings(tmp_path: Path) -> None:
    """What ``[server]`` allows is read, and what is beyond it is refused."""
    (tmp_path / "ordain.toml").write_text(
        "[server]\nbody_bytes = 400_000\nbody_values = 20_000\n", encoding="utf-8"
    )
    with Server(tmp_path).play({"cases": [case("simple", finish("Fine."))]}) as server:
        for size, values, status in (
            (300_000, 15_000, 200),
            (300_000, 20_000, 413),
            (400_000, 1, 413),
        ):
            body = ask(
                "simple",
                context={"external_facts": {"x": [0] * values, "pad": "x" * (size - 3 * values)}},
            )
            assert server.http.post("/plan/react", json=body).status_code == status
