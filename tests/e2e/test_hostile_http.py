"""Requests that nobody honest sends, over a real socket: each gets a typed answer, and the server
lives on.

Random ones (Hypothesis) around the published operations; what is no HTTP at all stands in
`integration/server/test_protocol.py`.
"""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordain.server.openai.wire import is_openai
from ordain.server.refusals import REFUSALS
from tests.e2e.openapi_truth import PROBLEM, Truth, code_of
from tests.e2e.process import PATIENCE_S, Server
from tests.integration.server.connecting import Answer, Answers
from tests.lanes import examples

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
SEGMENTS = (
    *(
        "%00",
        "%ff",
        "%2e%2e",
        "..",
        ".",
        "%2F",
        "%25",
        "%0d%0aX:1",
        "%C3%A9",
        "%ED%A0%80",
        "a" * 300,
        "web:ada",
        "-1",
        "0",
        "1",
    ),
    *(
        "9" * 30,
        "math.evaluate",
        "'or'1'='1",
        "%F0%9F%98%80",
        "problem",
        "execute",
        "{run}",
        "*",
        "~",
        "a%00b",
        "%u0041",
        "1.0",
        "\u0661",
    ),
)
TEXTS = (
    *(
        "",
        " ",
        "\x00",
        "\x1f",
        "\x7f",
        "\ud800",
        "é",
        "😀",
        "\u202e",
        "\ufeff",
        "x" * 1000,
        "../..",
        "<script>",
        "${jndi:x}",
        "%s%n",
    ),
    *(
        "'; DROP TABLE runs; --",
        "null",
        "NaN",
        "-0",
        "1e400",
        "\r\nX: 1",
        "o:1",
        "default",
        "DEFAULT",
        "respond-async",
    ),
)
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2**31,
        2**53,
        2**63 - 1,
        2**63,
        -(2**63) - 1,
        10**40,
        1.5,
        -0.0,
        1e308,
        float("nan"),
        float("inf"),
    ),
    *(
        [],
        {},
        [[]],
        {"": None},
        {"a": {"b": []}},
        {"__proto__": 1},
        ["x"] * 200,
        {"$ref": "#"},
        13.0,
        "2026-13-45T99:99:99Z",
    ),
)
HEADERS = (
    *(
        "Prefer",
        "Ordain-Workspace",
        "Last-Event-ID",
        "Content-Type",
        "Accept",
        "Accept-Encoding",
        "Origin",
        "Host",
        "Content-Encoding",
    ),
    *(
        "Expect",
        "Connection",
        "Upgrade",
        "Range",
        "If-None-Match",
        "Sec-Fetch-Site",
        "X-Forwarded-For",
        "Authorization",
        "Cookie",
    ),
)
HEADER_VALUES = (
    *(
        "",
        "respond-async",
        "default",
        "elsewhere",
        "-1",
        "0",
        "7",
        "9" * 40,
        "application/json",
        "text/plain",
        "*/*",
        "gzip",
        "null",
    ),
    *(
        "application/json; charset=utf-16",
        "http://evil.example",
        "localhost:1",
        "evil.example",
        "close",
        "100-continue",
        "websocket",
    ),
    *("x" * 5000, "a,b;c=d", "é", "\x01", "bytes=0-0", "Bearer x", 'W/"x"', "cross-site"),
)
DEEP = (b"[" * 5000 + b"]" * 5000, b'{"a":' * 5000 + b"1" + b"}" * 5000, b"[" * 100_000)


@dataclass(frozen=True)
class Hostile:
    """A request as it is sent, and as what it is meant."""

    method: str
    path: str
    data: bytes

    def __repr__(self) -> str:
        return f"printf %b {self.data[:6000]!r} | nc 127.0.0.1 PORT"


def texts() -> st.SearchStrategy[str]:
    return st.sampled_from(TEXTS) | st.text(max_size=20)


def mutated(example: Any) -> st.SearchStrategy[Any]:
    """An example with one of its places holding something else, or with one more or one less."""
    wild = st.sampled_from(VALUES) | texts()
    if isinstance(example, dict) and example:
        changed = st.sampled_from(sorted(example)).flatmap(
            lambda key: mutated(example[key]).map(lambda value: {**example, key: value})
        )
        removed = st.sampled_from(sorted(example)).map(
            lambda key: {name: value for name, value in example.items() if name != key}
        )
        added = st.tuples(texts(), wild).map(lambda pair: {**example, pair[0]: pair[1]})
        return changed | changed | removed | added | wild
    if isinstance(example, list) and example:
        return mutated(example[0]).map(lambda value: [value, *example[1:]]) | wild
    return wild


def bodies(example: Any) -> st.SearchStrategy[bytes]:
    """Bodies: nearly right, wrongly encoded, cut off, or nothing of the kind."""
    nearly = mutated(example).map(lambda value: json.dumps(value).encode())
    raw = mutated(example).map(
        lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    )
    wrong = st.sampled_from(("utf-16", "utf-8-sig", "utf-32", "cp037")).map(
        json.dumps(example).encode
    )
    cut = st.integers(0, len(json.dumps(example))).map(lambda at: json.dumps(example).encode()[:at])
    return nearly | nearly | raw | wrong | cut | st.binary(max_size=50) | st.sampled_from(DEEP)


def framed(body: bytes, how: str) -> tuple[bytes, bytes]:
    """(headers, bytes) of a body."""
    match how:
        case "chunked":
            parts = [body[at : at + 7] for at in range(0, min(len(body), 700), 7)] + (
                [body[700:]] if len(body) > 700 else []
            )
            return b"Transfer-Encoding: chunked\r\n", b"".join(
                b"%x\r\n%s\r\n" % (len(part), part) for part in parts
            ) + b"0\r\n\r\n"
        case "short":
            return b"Content-Length: %d\r\n" % (len(body) // 2), body
        case "twice":
            return b"Content-Length: %d\r\n" % len(body) * 2, body
        case _:
            return b"Content-Length: %d\r\n" % len(body), body


def header_lines(pairs: list[tuple[str, str]]) -> bytes:
    return b"".join(f"{name}: {value}\r\n".encode() for name, value in pairs)


@st.composite
def requests(draw: st.DrawFn, operations: list[tuple[str, str, dict[str, Any]]]) -> Hostile:
    """Something sent to, or near, a published operation."""
    method, path, operation = draw(st.sampled_from(operations))
    method = draw(st.sampled_from((method, method, method, *METHODS)))
    target = "/".join(
        draw(st.sampled_from(SEGMENTS)) if part.startswith("{") else part
        for part in path.split("/")
    )
    if draw(st.integers(0, 9)) == 0:
        target += "/" + draw(st.sampled_from(SEGMENTS))
    names = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
    query = "&".join(
        f"{draw(st.sampled_from((*names, 'x', '')))}={draw(st.sampled_from(SEGMENTS))}"
        for _ in range(draw(st.integers(0, 3)))
    )
    pairs = draw(
        st.lists(st.tuples(st.sampled_from(HEADERS), st.sampled_from(HEADER_VALUES)), max_size=4)
    )
    lines = [("Host", "localhost"), ("Prefer", "respond-async"), *pairs]
    data, framing = b"", b""
    if "requestBody" in operation and draw(st.integers(0, 9)):
        ((kind, content),) = operation["requestBody"]["content"].items()
        example = content["example"]
        lines.append(("Content-Type", kind))
        framing, data = framed(
            draw(bodies(example)),
            draw(st.sampled_from(("sized", "sized", "sized", "chunked", "short", "twice"))),
        )
    start = f"{method} {target}{'?' + query if query else ''} HTTP/1.1\r\n".encode(
        "utf-8", "surrogatepass"
    )
    return Hostile(
        method, target, start + header_lines(lines) + framing + b"Connection: close\r\n\r\n" + data
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("hostile")) as server:
        server.http.post(
            "/api/chat", json={"text_input": "Hello!", "session_id": "web:ada"}
        ).raise_for_status()
        yield server
        assert "Traceback" not in server.log()


@pytest.fixture(scope="module")
def truth(server: Server) -> Truth:
    return Truth(server.http)


def answer_to(port: int, request: Hostile) -> Answer:
    """The first response, or as much of a stream as its head."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as line:
        with suppress(ConnectionError):
            # refused before all of it was sent: the answer is there all the same
            line.sendall(request.data)
        answers = Answers(head=request.method == "HEAD")
        while (
            not answers.whole
            and answers.coming.headers.get("content-type", "") != "text/event-stream; charset=utf-8"
        ):
            data = line.recv(65_536)
            assert data, f"the connection ended without an answer: {request!r}"
            answers.feed(data)
        return answers.whole[0] if answers.whole else answers.coming


@settings(
    max_examples=examples(250),
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)
@given(data=st.data())
def test_every_request_gets_a_typed_answer(
    server: Server, truth: Truth, data: st.DataObject
) -> None:
    """Whatever is sent near an operation: no server error, every refusal a problem with its own
    status, every answer as declared.
    """
    operations = [
        (method.upper(), path, one)
        for path, methods in truth.document["paths"].items()
        for method, one in methods.items()
    ]
    request = data.draw(requests(operations))
    answer = answer_to(server.port, request)
    told = f"{answer.status} {answer.body[:1000]!r}\n{request!r}"
    assert answer.status < 500 or answer.status == 504, told
    kind = answer.headers.get("content-type", "")
    if answer.status >= 400 and request.method != "HEAD":
        problem = json.loads(answer.body)
        assert (kind == PROBLEM) == ("error" not in problem) == (not is_openai(request.path)), told
        assert (
            REFUSALS[code_of(problem)].status
            == problem.get("status", answer.status)
            == answer.status
        ), told
    operation = truth.operation(request.method, request.path)
    if operation is not None and kind.partition(";")[0] != "text/event-stream":
        truth.judge(operation, answer.status, kind, answer.body, repr(request))


def first_text(example: dict[str, Any], text: bytes) -> bytes:
    """The example with its first text replaced by these bytes; one that has none is one more."""
    whole = json.dumps(example).encode()
    value = next(_texts(example), None)
    if value is None:
        return b'{"a": ' + text + b"}"
    return whole.replace(json.dumps(value).encode(), text, 1)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


WRONG_TEXTS = {
    "half a surrogate pair": (b'"\\ud800"', "invalid_unicode"),
    "bytes that are no UTF-8": (b'"\xff"', "invalid_utf8"),
    "half a surrogate pair in UTF-8": (b'"\xed\xa0\x80"', "invalid_utf8"),
    "NaN": (b"NaN", "not_finite"),
    "a number too large": (b"1e999", "not_finite"),
    "an integer too large": (b"9" * 30, "not_finite"),
    "an integer of many digits": (b"9" * 10_000, "not_finite"),
    "a list too deep": (b"[" * 100 + b"]" * 100, "too_deep"),
    "an object too deep": (b'{"a":' * 100 + b"1" + b"}" * 100, "too_deep"),
    "a key twice": (b'{"a": 1, "a": 2}', "duplicate_key"),
    "a control character": (b'"\x00"', "malformed_json"),
    "an unknown escape": (b'"\\x41"', "malformed_json"),
    "single quotes": (b"'a'", "malformed_json"),
    "nothing": (b"", "malformed_json"),
}


@pytest.mark.parametrize("name", list(WRONG_TEXTS))
def test_every_body_is_held_to_the_same(server: Server, truth: Truth, name: str) -> None:
    """What is no strict JSON is refused with its code by each operation that takes a body, as
    declared, before anything else is looked at.
    """
    text, code = WRONG_TEXTS[name]
    for path, methods in truth.document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if content is None:
                continue
            address = path.replace("{run}", "f" * 32).replace("{session}", "none")
            response = truth.ask(
                method,
                address,
                content=first_text(content["example"], text),
                headers={"Content-Type": "application/json"},
            )
            assert (response.status_code, code_of(response.json())) == (400, code), (
                f"{method} {path}: {response.text}"
            )


def test_the_server_lives_on(server: Server) -> None:
    """After all of that it takes work, and nothing was refused with a bug."""
    assert server.http.get("/ready").status_code == 200
    assert server.execute({"verb_id": "math.evaluate", "payload": {"expression": "1 + 1"}})["ok"]
    assert "internal error" not in server.log()
