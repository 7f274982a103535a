"""Messages over HTTP: the canonical one, the hub's payload and the cortex request, from the wire to
the answer and back.
"""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from ordain.server.bodies import FILES_BYTES
from tests.e2e.process import Server
from tests.e2e.talking import SCRIPT, at_once, begin, message, place_of, say, transcript

POLICY = """
[session]
max_active = 1
[supervisor]
tools = ["ask_user", "math.evaluate"]
[verbs.default]
deny = ["summarize_facts"]
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("messages")
    with Server(home).play(SCRIPT).policy(POLICY) as server:
        yield server


def refused(response: httpx2.Response) -> tuple[int, str]:
    assert response.headers["content-type"] == "application/problem+json", response.text
    return response.status_code, response.json()["code"]


def chat(server: Server, text: str, **more: Any) -> dict[str, Any]:
    """The hub's payload over HTTP; what the hub shows."""
    response = server.http.post("/api/chat", json={"text_input": text, **more})
    assert response.status_code == 200, response.text
    return response.json()


def cortex(server: Server, prompt: str, **more: Any) -> dict[str, Any]:
    response = server.http.post("/v1/cortex/chat", json={"prompt": prompt, **more})
    assert response.status_code == 200, response.text
    assert response.json()["final_text"] == response.json()["cortex_result"]["final_text"]
    return response.json()["cortex_result"]


# --- the canonical message ------------------------------------------------------------------------


def test_a_message_is_answered_under_its_header(server: Server) -> None:
    """The reply is header, narrative and ok; its header is the run's, byte for byte, wherever it is
    read.

    B-12 "S1 contract exposes camelCase aliases"
    B-34 "Header (C5) always precedes narrative"
    """
    answer = say(server, "something quick", "header:1")
    assert set(answer["reply"]) == {"header", "narrative", "ok", "verdict"}
    assert (answer["reply"]["narrative"], answer["reply"]["ok"], answer["attached"]) == (
        "Quick indeed.",
        True,
        "new_request",
    )
    run = server.http.get(f"/runs/{answer['runId']}").json()
    assert run["header"].encode() == answer["reply"]["header"].encode()
    assert (run["session_id"], run["thread_id"], run["workspace"]) == (
        "header:1",
        answer["threadId"],
        "default",
    )
    said, replied = transcript(server, "header:1")
    assert (said["text"], said["seq"], replied["header"]) == (
        "something quick",
        answer["sessionSeq"],
        answer["reply"]["header"],
    )


def test_all_five_parts_are_read(server: Server) -> None:
    """Every part of the canonical message, in its own spelling and in ours, is taken.

    ING-01 "`sessionId`, `userId`, `channel`, `message`, `context`"
    """
    full = {
        "sessionId": "telegram:chat:7",
        "userId": "ada",
        "channel": "telegram",
        "messageId": "t-1",
        "timestampMs": 1_700_000_000_000,
        "message": {
            "text": "quick",
            "attachments": [{"name": "a.png", "mediaType": "image/png", "sizeBytes": 3}],
            "metadata": {"k": [1]},
        },
        "context": {
            "replyTo": "t-0",
            "threadRef": "telegram:reply:9",
            "locale": "de-AT",
            "routingHints": {"mode": "brain"},
        },
    }
    assert server.http.post("/messages", json=full).json()["reply"]["ok"]
    snake = {
        "session_id": "telegram:chat:7",
        "user_id": "ada",
        "channel": "telegram",
        "message": {"text": "quick"},
    }
    assert server.http.post("/messages", json=snake).json()["sessionSeq"] == 3


@pytest.mark.parametrize("channel", ["web", "telegram", "slack", "discord", "other"])
def test_every_channel_speaks(server: Server, channel: str) -> None:
    """A message of each channel is taken, another channel is none.

    ING-02 "`channel` ∈ `web|telegram|slack|discord|other`"
    """
    assert say(server, "quick", f"{channel}:1", channel=channel)["reply"]["ok"]
    unknown = server.http.post("/messages", json=message("quick", "x", channel=f"{channel}s"))
    assert refused(unknown) == (422, "invalid_request")


def test_asking_without_waiting(server: Server) -> None:
    """Prefer: respond-async answers 202 once the message is durable; at its address the answer
    appears.
    """
    where = begin(server, "linger", "web/async", messageId="one")
    assert where == "/sessions/web%2Fasync/messages/1"
    early = server.http.get(where).json()
    assert (early["messageId"], early["attached"], early["reply"]) == ("one", "new_request", None)
    late = server.http.get(where, params={"wait": 30}).json()
    assert late == {**early, "reply": late["reply"]}
    assert late["reply"]["narrative"] == "At last."


def test_the_same_message_is_taken_once(server: Server) -> None:
    """The same id and content, many times at once and again later, is one message with one run;
    another content is refused.
    """
    answers = at_once(*[lambda: say(server, "dawdle", "web:twice", messageId="same")] * 8)
    assert len({answer["runId"] for answer in answers}) == 1
    assert sorted(answer["duplicate"] for answer in answers) == [False] + [True] * 7
    again = say(server, "dawdle", "web:twice", messageId="same")
    assert (again["duplicate"], again["reply"]) == (True, answers[0]["reply"])
    assert [entry["event"] for entry in transcript(server, "web:twice")] == ["message", "reply"]
    other = server.http.post("/messages", json=message("quick", "web:twice", messageId="same"))
    assert refused(other) == (409, "message_id_reused")
    ours = server.http.post("/messages", json=message("quick", "web:twice", messageId="ordain:1"))
    assert refused(ours) == (422, "message_id_reserved")


def test_a_busy_session_is_told_when_to_come_back(server: Server) -> None:
    """More turns at once than policy permits is 429 with Retry-After, and leaves nothing behind."""
    where = begin(server, "dawdle first", "web:busy")
    full = server.http.post(
        "/messages", json=message("compute something unrelated, please", "web:busy")
    )
    assert refused(full) == (429, "session_busy")
    assert int(full.headers["retry-after"]) > 0
    assert (
        refused(
            server.http.post(
                "/api/chat", json={"text_input": "compute more of it", "session_id": "web:busy"}
            )
        )[0]
        == 429
    )
    assert server.http.get(where, params={"wait": 30}).json()["reply"]["ok"]
    assert [entry["event"] for entry in transcript(server, "web:busy")] == ["message", "reply"]


def test_a_question_is_asked_and_answered(server: Server) -> None:
    """A turn that needs something answers with a question; what is said next resumes it, and its
    reply follows.
    """
    asked = say(server, "the weather, please", "web:asks", hints={"mode": "agent"})
    assert asked["reply"] is None
    assert (asked["question"]["expectedType"], asked["question"]["key"]) == ("location", "city")
    (thread,) = server.http.get(place_of("web:asks")).json()["threads"]
    pending = {
        "key": "city",
        "expectedType": "location",
        "askedAtMessageId": asked["question"]["messageId"],
    }
    assert (thread["status"], thread["pendingQuestion"], thread["inFlight"]["runId"]) == (
        "waiting_for_user",
        pending,
        asked["runId"],
    )
    told = say(server, "Lisbon", "web:asks")
    assert (told["attached"], told["runId"], told["reply"]["narrative"]) == (
        "answer_to_pending",
        asked["runId"],
        "Noted.",
    )
    (thread,) = server.http.get(place_of("web:asks")).json()["threads"]
    assert (thread["slots"], thread["pendingQuestion"], thread["inFlight"], thread["status"]) == (
        {"city": "Lisbon"},
        None,
        None,
        "done",
    )


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "no session": ("/messages", {"sessionId": None}, "/sessionId"),
    "a session with a space": ("/messages", {"sessionId": "a b"}, "/sessionId"),
    "a session of a line": ("/messages", {"sessionId": "a\n"}, "/sessionId"),
    "no user": ("/messages", {"userId": ""}, "/userId"),
    "no text": ("/messages", {"message": {"text": " "}}, "/message"),
    "a long text": ("/messages", {"message": {"text": "x" * 32_001}}, "/message/text"),
    "text as number": ("/messages", {"message": {"text": 7}}, "/message/text"),
    "an unknown field": ("/messages", {"extra": 1}, "/extra"),
    "an unknown mode": (
        "/messages",
        {"context": {"routingHints": {"mode": "chat"}}},
        "/context/routingHints/mode",
    ),
    "no steps": (
        "/messages",
        {"context": {"routingHints": {"maxSteps": 0}}},
        "/context/routingHints/maxSteps",
    ),
    "a locale": ("/messages", {"context": {"locale": "../etc"}}, "/context/locale"),
    "a negative time": ("/messages", {"timestampMs": -1}, "/timestampMs"),
    "hub: nothing said": ("/api/chat", {"text_input": ""}, "/text_input"),
    "hub: blanks": ("/api/chat", {"text_input": "  "}, "/text_input"),
    "hub: a mode": ("/api/chat", {"mode": "Brain"}, "/mode"),
    "hub: verbs as text": ("/api/chat", {"verbs": "a"}, "/verbs"),
    "hub: a session": ("/api/chat", {"session_id": "-"}, "/session_id"),
    "cortex: nothing said": ("/v1/cortex/chat", {"prompt": ""}, "/prompt"),
    "cortex: an unknown field": ("/v1/cortex/chat", {"text_input": "hi"}, "/text_input"),
    "cortex: a mode": ("/v1/cortex/chat", {"mode": None}, "/mode"),
    "cortex: recall": ("/v1/cortex/chat", {"recall": {"mode": "wide"}}, "/recall/mode"),
    "cortex: a time": ("/v1/cortex/chat", {"options": {"timeout_ms": 0}}, "/options/timeout_ms"),
}
GOOD = {
    "/messages": message("quick", "bad:1"),
    "/api/chat": {"text_input": "quick", "session_id": "bad:1"},
    "/v1/cortex/chat": {"prompt": "quick"},
}


@pytest.mark.parametrize("name", list(WRONG))
def test_what_is_no_message_names_its_place(server: Server, name: str) -> None:
    """B-45 "is a 4xx problem+json": each misfit is named by its place, nothing is accepted, and no
    value is repeated.
    """
    path, changes, place = WRONG[name]
    before = server.http.get("/sessions", params={"limit": 500}).json()
    response = server.http.post(path, json={**GOOD[path], **changes})
    assert refused(response) == (422, "invalid_request")
    assert place in {error["place"] for error in response.json()["errors"]}
    assert server.http.get("/sessions", params={"limit": 500}).json() == before


@pytest.mark.parametrize("path", list(GOOD))
def test_strict_json_and_bounded_bodies_here_too(server: Server, path: str) -> None:
    """What is no strict JSON, too large or of another type is refused on every address of the
    conversation.
    """
    headers = {"Content-Type": "application/json"}
    assert refused(server.http.post(path, content=b'{"a":1,"a":2}', headers=headers)) == (
        400,
        "duplicate_key",
    )
    assert refused(server.http.post(path, content=b'{"a": NaN}', headers=headers)) == (
        400,
        "not_finite",
    )
    assert refused(server.http.post(path, content=b" " * (FILES_BYTES + 1), headers=headers)) == (
        413,
        "too_large",
    )
    assert refused(
        server.http.post(path, content=b"{}", headers={"Content-Type": "text/plain"})
    ) == (415, "unsupported_media_type")
    assert refused(server.http.get(path)) == (405, "method_not_allowed")
    foreign = server.http.post(
        path, json=GOOD[path], headers={"Origin": "http://elsewhere.example"}
    )
    assert refused(foreign) == (403, "foreign_origin")


# --- the hub --------------------------------------------------------------------------------------


def test_the_hubs_payload_is_answered(server: Server) -> None:
    """Text, mode and session are enough; what comes back has the header, then the text.

    HUB-03 "Client send payload has at least `text_input`, `mode`, `session_id`"
    HUB-08 "differ primarily by `mode`"
    """
    shown = chat(server, "quick", mode="brain", session_id="hub:1")
    assert (shown["session_id"], shown["text"], shown["attached"]) == (
        "hub:1",
        "Quick indeed.",
        "new_request",
    )
    assert shown["reply"]["header"] == server.http.get(f"/runs/{shown['run_id']}").json()["header"]
    assert shown["cortex_result"]["header"] == shown["reply"]["header"]
    agent = chat(server, "compute it", mode="agent", session_id="hub:1")
    assert (agent["text"], agent["cortex_result"]["verb"], agent["cortex_result"]["mode"]) == (
        "It is 4.",
        "agent_runtime",
        "agent",
    )


def test_a_hub_without_a_session_gets_one(server: Server) -> None:
    """Each payload without a session begins one of its own, and says which."""
    first, second = chat(server, "quick"), chat(server, "quick")
    assert first["session_id"] != second["session_id"]
    assert transcript(server, first["session_id"])[0]["seq"] == 1


@pytest.mark.parametrize(
    ("mode", "label", "verb", "code"),
    [
        (None, "chat_general", "chat_general", None),
        ("brain", "chat_general", "chat_general", None),
        ("agent", "task_execution", "agent_runtime", None),
        ("council", "council_deliberation", "council_runtime", "council_no_quorum"),
    ],
)
def test_a_mode_enters_by_its_own_verb(
    server: Server, mode: str | None, label: str, verb: str, code: str | None
) -> None:
    """No mode but brain ever meets `chat_general`, on no address; the label comes back and selected
    nothing.

    GW-03 "Agent/council plans must not be built with target verb `chat_general` by default"
    ING-09 "Execution `mode` ∈ `brain|agent|council`, default `brain` when absent (WS and HTTP)"
    ING-10 "If `mode∈{agent,council}` and verb absent: route to a mode-specific canonical entry
    verb, or require an explicit verb; never hard-pin `chat_general`"
    """
    given = {} if mode is None else {"mode": mode}
    results = [
        chat(server, "either way", **given)["cortex_result"],
        cortex(server, "either way", **given),
    ]
    results.append(cortex(server, "either way", metadata={"trace_verb": label}, **given))
    for result in results:
        assert (result["verb"], result["metadata"]["trace_verb"]) == (verb, label)
        assert (result["error"] and result["error"]["code"]) == code
        journal = (
            str(server.journal(result["run_id"]))
            + result["header"]
            + str(result["metadata"]["executed_verbs"])
        )
        assert ("chat_general" in journal.replace("'trace_verb': 'chat_general'", "")) == (
            verb == "chat_general"
        )
    if mode is not None:  # and no other mode is one
        assert refused(
            server.http.post("/api/chat", json={"text_input": "quick", "mode": f"{mode}s"})
        ) == (422, "invalid_request")


def test_a_label_selects_nothing(server: Server) -> None:
    """A caller's own trace verb comes back as it was, and the turn is the one that the mode asks
    for.

    HUB-05 "The trace verb is a telemetry label only; it never selects execution"
    """
    result = cortex(
        server, "quick", metadata={"trace_verb": "council_deliberation", "source": "hub_ws"}
    )
    assert (result["verb"], result["status"], result["metadata"]["trace_verb"]) == (
        "chat_general",
        "success",
        "council_deliberation",
    )
    agent = cortex(server, "compute", mode="agent", metadata={"trace_verb": "chat_general"})
    assert (agent["verb"], agent["final_text"]) == ("agent_runtime", "It is 4.")
    assert "chat_general" not in str(server.journal(agent["run_id"])).replace(
        "'trace_verb': 'chat_general'", ""
    )


def test_one_verb_overrides_and_several_restrict(server: Server) -> None:
    """Exactly one verb serves the turn itself; several are the only tools; two that disagree are
    refused.

    B-33 "Exactly one → override; several → allowed-tool restriction (`options.allowed_verbs`)"
    """
    one = chat(server, "2 + 3", verbs=["math.evaluate"])["cortex_result"]
    assert (one["verb"], one["metadata"]["executed_verbs"]) == ("math.evaluate", ["math.evaluate"])
    several = chat(
        server, "compute it", mode="agent", verbs=["extract_facts", "propose_next_steps"]
    )["cortex_result"]
    assert (several["verb"], several["metadata"]["executed_verbs"]) == ("agent_runtime", [])
    assert "step.tool.outside_toolset" in several["header"]
    assert (
        chat(server, "compute it", mode="agent", verbs=["math.evaluate", "extract_facts"])["text"]
        == "It is 4."
    )
    twice = server.http.post("/api/chat", json={"text_input": "quick", "verb": "a", "verbs": ["b"]})
    assert refused(twice) == (422, "conflicting_verbs")


@pytest.mark.parametrize(
    ("verb", "mode", "code"),
    [
        ("no.such.verb", "brain", "unknown_verb"),
        ("no.such.verb", "agent", "unknown_verb"),
        ("summarize_facts", "brain", "inactive_verb:summarize_facts"),
        ("council_runtime", "agent", "reserved_verb:council_runtime"),
    ],
)
def test_an_explicit_verb_is_had_or_refused(
    server: Server, verb: str, mode: str, code: str
) -> None:
    """A verb that was picked is never replaced by another: an unknown, inactive or reserved one is
    a typed error.
    """
    for result in (
        chat(server, "quick", mode=mode, verb=verb)["cortex_result"],
        cortex(server, "quick", mode=mode, verb=verb),
    ):
        assert (
            result["status"],
            result["error"]["code"],
            result["metadata"]["executed_verbs"],
        ) == ("fail", code, [])


def test_the_hub_is_told_which_verbs_there_are(server: Server) -> None:
    """Active verbs, and the inactive ones on demand."""
    active = {verb["verb_id"] for verb in server.http.get("/api/verbs").json()["verbs"]}
    every = {
        verb["verb_id"]: verb["active"]
        for verb in server.http.get("/api/verbs", params={"include_inactive": 1}).json()["verbs"]
    }
    assert active == {verb for verb, is_active in every.items() if is_active}
    assert every["summarize_facts"] is False
    assert refused(server.http.get("/api/verbs", params={"include_inactive": "yes"})) == (
        422,
        "invalid_request",
    )


# --- the cortex request ---------------------------------------------------------------------------


def test_a_cortex_request_stands_alone_without_a_session(server: Server) -> None:
    """Each request without a session is one of its own; with one it goes on, and memory was
    used.
    """
    alone = [cortex(server, "quick")["metadata"]["session_id"] for _ in range(2)]
    assert len(set(alone)) == 2
    first, second = (
        cortex(server, "quick", session_id="cortex:1", user_id="ada", trace_id="trace-9")
        for _ in range(2)
    )
    assert (first["memory_used"], second["memory_used"], second["correlation_id"]) == (
        False,
        True,
        "trace-9",
    )


def test_time_runs_out_for_the_caller_only(server: Server) -> None:
    """B-45 "`/v1/cortex/chat` keeps 504 on time-out": it names the run, which goes on, and where
    its answer will be.
    """
    late = server.http.post(
        "/v1/cortex/chat", json={"prompt": "dawdle", "options": {"timeout_ms": 100}}
    )
    assert refused(late) == (504, "timeout")
    run = server.until(late.json()["run_id"], "completed")
    found = server.http.get(late.json()["location"]).json()
    assert (found["runId"], found["reply"]["narrative"], found["reply"]["header"]) == (
        run["run_id"],
        "At last.",
        run["header"],
    )


def test_a_failed_step_is_partial_whatever_the_text_says(server: Server) -> None:
    """A confident text over a failed step is status partial and not ok, and the header shows the
    failure.

    B-34 "`ok=true` only if all required steps succeeded"
    RTE-12 "failures must not be summarised away"
    """
    result = cortex(server, "mishap", mode="agent")
    assert (result["ok"], result["status"], result["final_text"]) == (
        False,
        "partial",
        "All went well!",
    )
    assert [(step["step_name"], step["status"]) for step in result["steps"]] == [
        ("math.evaluate", "fail"),
        ("agent_chain", "skipped"),
    ]
    assert "✗ math.evaluate" in result["header"]


def test_prose_without_a_directive_fails(server: Server) -> None:
    """A planner that only talks ends the turn as failed with a typed error; nobody chats on in its
    place.
    """
    result = cortex(server, "prose", mode="agent")
    assert (result["ok"], result["status"]) == (False, "fail")
    assert result["error"]["code"]
    assert "I think it is all done now." not in result["final_text"]
    assert "chat_general" not in str(server.journal(result["run_id"]))


def test_a_question_and_a_filler_are_results_too(server: Server) -> None:
    """A question back is partial and names what is expected; a message from which nothing follows
    has no run.
    """
    asked = cortex(server, "the weather", mode="agent", session_id="cortex:asks")
    assert (asked["ok"], asked["status"], asked["final_text"]) == (
        False,
        "partial",
        "Which city is it?",
    )
    assert asked["metadata"]["question"]["expected_type"] == "location"
    filler = chat(server, "thanks!", session_id="cortex:filler")
    assert (filler["attached"], filler["run_id"], filler["reply"], filler["text"]) == (
        "filler",
        None,
        None,
        "",
    )
    assert (filler["cortex_result"]["ok"], filler["cortex_result"]["run_id"]) == (True, None)


def test_every_message_is_logged_with_what_it_asked_for(server: Server) -> None:
    """ORC-01 "logs correlation id, mode, verb": one line per accepted message."""
    chat(
        server,
        "2 + 2",
        mode="agent",
        verb="math.evaluate",
        session_id="hub:log",
        message_id="logged-1",
    )
    (line,) = [line for line in server.log().splitlines() if "correlation='logged-1' " in line]
    assert "mode=agent" in line
    assert "verb='math.evaluate'" in line
