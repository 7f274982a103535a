"""The HTTP face over a runtime in this process: what a process of its own cannot easily show."""

import threading
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from ordain import Ordain, verb
from ordain.contracts.verbs import ArgumentRole
from ordain.errors import InvalidRequest
from ordain.server import Face, build_app
from ordain.server.bodies import BodyBounds, check_json, pointer
from ordain.server.loopback import is_loopback_host
from tests.e2e.proposals import ask

TOO_LONG = threading.Event()


@verb(effect="private", timeout_ms=2000, arguments={"text": ArgumentRole.CONTENT})
def write_slowly(text: str) -> dict[str, str]:
    """Write a note, and take too long about it: until after its time, which is long enough to have
    begun on a busy machine.
    """
    TOO_LONG.wait(60)
    return {"text": text}


@pytest.fixture
async def face(tmp_path: Path) -> AsyncIterator[Face]:
    async with Ordain(home=tmp_path, verbs=[write_slowly]) as ordain:
        yield Face(runtime=ordain.runtime, body=BodyBounds(bytes=2000))


@pytest.fixture
async def http(face: Face) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(build_app(face), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


async def test_a_stopping_engine_refuses_intake_and_shows_runs(
    face: Face, http: httpx2.AsyncClient
) -> None:
    """While the engine drains, new work is 503 stopping, readiness fails, and what is there can be
    read.
    """
    run = (await http.post("/plan/react", json=ask("any"))).json()["run_id"]
    face.runtime.engine.accepting = False
    refused = await http.post("/plan/react", json=ask("any"))
    assert (refused.status_code, refused.json()["code"], "retry-after" in refused.headers) == (
        503,
        "stopping",
        True,
    )
    assert (await http.get("/ready")).json()["checks"] == {
        "accepting": False,
        "lease": True,
        "storage": True,
    }
    assert (await http.get(f"/runs/{run}")).status_code == 200


async def test_a_word_of_a_few_is_told_what_was_meant(http: httpx2.AsyncClient) -> None:
    """As a parameter of an address; one that is like none of them is told all."""
    for said, meant in (("lan", True), ("qqqqqqq", False)):
        refused = (await http.get("/models/cost", params={"by": said})).json()
        told = refused["errors"][0]["message"]
        assert (refused["code"], "'day', 'lane'" in told, "did you mean lane?" in told) == (
            "invalid_request",
            True,
            meant,
        )


async def test_an_unknown_outcome_is_resolved_by_a_person(http: httpx2.AsyncClient) -> None:
    """A side effect that outlasts its time is unknown, shown as such, and resolved by an operator
    with who and why; others are not.
    """
    reply = (
        await http.post(
            "/verbs/execute", json={"verb_id": "write_slowly", "payload": {"text": "x"}}
        )
    ).json()
    TOO_LONG.set()
    assert reply["error"]["code"] == "outcome_unknown"
    run = f"/runs/{reply['run_id']}"
    (effect,) = (await http.get(run)).json()["unknown_effects"]
    said = {"effect": effect, "happened": True, "why": "the note is there"}
    assert (await http.post(f"{run}/resolve", json={**said, "effect": effect + 1})).json()[
        "code"
    ] == "not_unknown"
    assert (await http.post(f"{run}/resolve", json=said)).json() == {
        "run_id": reply["run_id"],
        "outcome": "resolved",
    }
    note = (await http.get(f"{run}/journal")).json()["records"][-1]
    assert (note["body"]["by"], note["body"]["why"], note["body"]["details"]) == (
        "http:loopback",
        said["why"],
        {"addr": effect, "happened": True, "verb": "write_slowly", "corrects": False},
    )
    assert (await http.post(f"{run}/resolve", json=said)).status_code == 200
    other = {**said, "happened": False, "why": "it is not there after all"}
    refused = await http.post(f"{run}/resolve", json=other)
    assert (
        refused.status_code,
        refused.json()["code"],
        "somebody has said that it happened" in refused.json()["detail"],
    ) == (
        409,
        "already_resolved",
        True,
    )
    assert (await http.post(f"{run}/resolve", json={**other, "correct": True})).status_code == 200
    view = (await http.get(run)).json()
    told = [line for line in view["header"].splitlines() if "resolve by" in line]
    assert told == [
        f"· resolve by http:loopback: write_slowly (effect {effect}) happened",
        (
            f"· resolve by http:loopback: write_slowly (effect {effect}) did not happen, and "
            "what was "
            "said of it before is wrong"
        ),
    ]
    assert view["unknown_effects"] == []
    assert "✗ partial" in view["header"]


@pytest.mark.parametrize(
    "address", ["/runs?before=zz", "/grants?before=zz", f"/runs?before={'0' * 32}"]
)
async def test_a_page_after_nothing_is_refused(http: httpx2.AsyncClient, address: str) -> None:
    """An empty page would say that nothing is left; after the oldest run nothing is."""
    refused = await http.get(address)
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_page")
    run = (await http.post("/plan/react", json=ask("any"))).json()["run_id"]
    assert (await http.get(f"/runs?before={run}")).json() == {"runs": [], "next": None}


async def test_no_page_goes_on_after_a_run_of_another_workspace(http: httpx2.AsyncClient) -> None:
    """A run of another workspace is as if there were none: neither that it is there nor what is
    older than it shows, whether or not there is something older here.
    """

    async def worked(workspace: str) -> str:
        asked = {"Ordain-Workspace": workspace}
        return (await http.post("/plan/react", json=ask("x"), headers=asked)).json()["run_id"]

    mine, theirs, nothing = await worked("page-a"), await worked("page-b"), "0" * 32
    for workspace in ("page-a", "page-c"):
        told = []
        for run in (theirs, nothing):
            page = await http.get(f"/runs?before={run}", headers={"Ordain-Workspace": workspace})
            told.append((page.status_code, page.text.replace(run, "RUN")))
        assert told[0] == told[1]
        assert told[0][0] == 422
    later = await worked("page-a")
    page = await http.get(f"/runs?before={later}", headers={"Ordain-Workspace": "page-a"})
    assert [run["run_id"] for run in page.json()["runs"]] == [mine]


HUGE = "99999999999999999999"


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        (f"/sessions/s1/messages/{HUGE}", {}),
        (f"/sessions/s1/messages/{'9' * 5000}", {}),
        (f"/sessions/s1/messages?after={HUGE}", {}),
        (f"/sessions/s1/events?after={HUGE}", {}),
        ("/sessions/s1/events", {"Last-Event-ID": HUGE}),
        (f"/runs/{{run}}/events?after={HUGE}", {}),
        ("/runs/{run}/events", {"Last-Event-ID": HUGE}),
    ],
)
async def test_a_number_beyond_all_bounds_is_the_callers_mistake(
    http: httpx2.AsyncClient, address: str, headers: dict[str, str]
) -> None:
    """What no storage could hold is refused as a parameter that does not fit, wherever a caller may
    give a number.
    """
    run = (await http.post("/api/chat", json={"text_input": "hello", "session_id": "s1"})).json()[
        "run_id"
    ]
    refused = await http.get(address.format(run=run), headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")


@pytest.mark.parametrize(
    "address",
    [
        "/sessions/s1/messages/9007199254740991",
        "/sessions/s1/messages/0",
        "/sessions/s1/messages/-1",
    ],
)
async def test_a_message_that_there_is_not_is_not_found(
    http: httpx2.AsyncClient, address: str
) -> None:
    """A number of no message is 404 up to the bound."""
    await http.post("/api/chat", json={"text_input": "hello", "session_id": "s1"})
    missing = await http.get(address)
    assert (missing.status_code, missing.json()["code"]) == (404, "message_not_found")


async def test_whole_numbers_are_integers_however_they_are_spelled(
    http: httpx2.AsyncClient,
) -> None:
    """JSON Schema calls 13.0 an integer, and so does every body; 13.5 is none, and free content
    stays as it was written.
    """
    spelled = {
        **ask("any"),
        "limits": {"max_steps": 4.0, "max_tokens_answer": 100.0},
        "context": {"external_facts": {"n": 2.0}},
    }
    run = (await http.post("/plan/react", json=spelled)).json()["run_id"]
    started = (await http.get(f"/runs/{run}/journal")).json()["records"][0]["body"]
    assert started["input"]["limits"] == {"max_steps": 4, "max_tokens_answer": 100}
    assert repr(started["input"]["context"]["external_facts"]["n"]) == "2.0"
    refused = await http.post(
        "/plan/react", json={**spelled, "limits": {"max_steps": 4.5, "max_tokens_answer": 100.0}}
    )
    assert [one["place"] for one in refused.json()["errors"]] == ["/limits/max_steps"]


async def test_the_body_limit_is_the_faces_own(http: httpx2.AsyncClient) -> None:
    """A body above the configured bound is refused, one at the bound is read."""
    assert (await http.post("/plan/react", json=ask("x" * 3000))).json()["code"] == "too_large"
    assert (await http.post("/plan/react", json=ask("x" * 1000))).status_code == 200


async def test_a_bug_is_a_problem_without_details(face: Face, http: httpx2.AsyncClient) -> None:
    """Where our own code breaks the wire says internal and nothing more."""
    del face.runtime.search
    response = await http.get("/runs")
    assert (response.status_code, response.json()["code"], response.headers["content-type"]) == (
        500,
        "internal",
        "application/problem+json",
    )
    assert "search" not in response.text


async def test_a_bug_is_answered_like_anything_else(face: Face, http: httpx2.AsyncClient) -> None:
    """With the headers that stand on every answer, and below ``/v1`` in the shape that OpenAI's
    clients read; also a bug in front of the routes.
    """
    asked = {"model": "ordain", "messages": [{"role": "user", "content": "hi"}]}
    face.runtime.receive = None  # type: ignore[method-assign,assignment]
    for address, body in (("/v1/chat/completions", asked), ("/api/chat", {"text_input": "hi"})):
        response = await http.post(address, json=body)
        told = response.json()
        assert response.status_code == 500
        assert told.get("error", told)["code"] == "internal"
        assert ("error" in told) == address.startswith("/v1/")
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cross-origin-resource-policy"] == "same-origin"
    access, face.runtime.access = face.runtime.access, None  # type: ignore[assignment]
    behind = await http.get("/v1/models", headers={"Authorization": "Bearer x"})
    face.runtime.access = access
    assert (behind.status_code, behind.json()["error"]["code"]) == (500, "internal")
    assert behind.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("depth", [1, 63, 64])
def test_nesting_up_to_the_bound_passes(depth: int) -> None:
    """Nesting is counted outside strings, and 64 levels pass."""
    check_json((b"[" * depth) + b'"[[[[[[\\"[[["' + (b"]" * depth))
    check_json(b'"' + b"[" * 100 + b'"', 2)


def test_nesting_above_the_bound_is_refused() -> None:
    """The 65th level is refused before anything is parsed."""
    with pytest.raises(InvalidRequest) as refused:
        check_json(b"[" * 65 + b"]" * 65)
    assert (refused.value.code, refused.value.status) == ("too_deep", 400)


def test_places_are_json_pointers() -> None:
    """Keys are escaped, and long ones, which are the caller's own, are cut."""
    assert pointer(("a/b", 0, "c~d")) == "/a~1b/0/c~0d"
    assert len(pointer(("x" * 1000,))) == 65


@pytest.mark.parametrize(
    "host",
    [
        "localhost:99999999",
        "localhost:",
        "127.0.0.1:80:80",
        "[::1",
        "::1",
        "1",
        "0x7f.1",
        "127.1",
        "localhost.",
        " localhost",
    ],
)
def test_odd_hosts_are_foreign(host: str) -> None:
    """Only the plain forms of a loopback name are one."""
    assert not is_loopback_host(host)
