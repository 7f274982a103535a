"""What people say in conversations with a scripted model, and reading what comes back."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import httpx2

from tests.e2e.process import PATIENCE_S, Server
from tests.e2e.proposals import act, finish, slow


def says(words: str, *answers: Any, **purposes: Any) -> dict[str, Any]:
    """A case for messages with these words: what ``chat_general`` answers, and what is proposed for
    other purposes.
    """
    return {"when": {"contains": words}, "verbs": {"chat_general": list(answers)}, **purposes}


def pieces(text: str, text_ms: int = 20) -> dict[str, Any]:
    """A chat answer that is written slowly."""
    return {"$text_ms": text_ms, "$answer": {"content": text}}


ASKING = [
    act("ask_user", question="Which city is it?", expected_type="location", key="city"),
    finish("Noted."),
]
SCRIPT = {
    "cases": [
        says("quick", {"content": "Quick indeed."}),
        says("dawdle", slow({"content": "At last."}, 1500)),
        says("linger", slow({"content": "At last."}, 5000)),
        says("for ever", slow({"content": "never"}, 60_000)),
        says(
            "story",
            pieces(
                "Once upon a time there was a journal that nobody could talk out of anything. " * 3
            ),
        ),
        says("compute", planner=[act("math.evaluate", expression="2 + 2"), finish("It is 4.")]),
        says(
            "mishap", planner=[act("math.evaluate", expression="1 / 0"), finish("All went well!")]
        ),
        says("weather", planner=ASKING),
        says(
            "either",
            {"content": "Chatted."},
            planner=[act("math.evaluate", expression="2 + 2"), finish("Planned.")],
        ),
        says("prose", planner=["I think it is all done now."] * 4),
    ]
}

HANGING = {"cases": [says("dawdle", slow({"content": "never"}, 60_000)), *SCRIPT["cases"]]}
"""The same for a server that is to die while it dawdles."""


def message(text: str, session: str, **more: Any) -> dict[str, Any]:
    """A canonical message; ``hints`` are its routing hints."""
    hints = more.pop("hints", {})
    return {
        "sessionId": session,
        "userId": "ada",
        "message": {"text": text},
        "context": {"routingHints": hints},
        **more,
    }


def say(server: Server, text: str, session: str, **more: Any) -> dict[str, Any]:
    """Say something that must be accepted; the answer."""
    response = server.http.post("/messages", json=message(text, session, **more))
    assert response.status_code == 200, response.text
    return response.json()


def begin(server: Server, text: str, session: str, **more: Any) -> str:
    """Have a message accepted without waiting; where its answer will be."""
    response = server.http.post(
        "/messages", json=message(text, session, **more), headers={"Prefer": "respond-async"}
    )
    assert response.status_code == 202, response.text
    return response.headers["location"]


def place_of(session: str) -> str:
    """A session's address."""
    return f"/sessions/{quote(session, safe='')}"


def transcript(server: Server, session: str) -> list[dict[str, Any]]:
    """Every entry."""
    return server.http.get(
        f"{place_of(session)}/messages", params={"after": 0, "limit": 500}
    ).json()["entries"]


class Listener:
    """A client of a session's event stream, on a connection of its own."""

    def __init__(self, response: httpx2.Response) -> None:
        self._lines = response.iter_lines()
        self.last_id = ""

    def events(self) -> Iterator[dict[str, Any]]:
        """Events as they come."""
        name = data = ""
        for line in self._lines:
            field, _, value = line.partition(": ")
            if field == "id":
                self.last_id = value
            elif field == "event":
                name = value
            elif field == "data":
                data = value
            elif not line and data:
                event = json.loads(data)
                assert event["event"] == name
                assert str(event.get("seq", "")) in ("", self.last_id)
                yield event
                name = data = ""

    def until(self, kind: str) -> list[dict[str, Any]]:
        """Events up to and with the next one of a kind."""
        found: list[dict[str, Any]] = []
        for event in self.events():
            found.append(event)
            if event["event"] == kind:
                return found
        raise AssertionError(
            f"the stream ended without {kind}: {[event['event'] for event in found]}"
        )


@contextmanager
def listening(server: Server, session: str, **headers: str) -> Iterator[Listener]:
    """Listen to a session."""
    params = {"after": headers.pop("after")} if "after" in headers else {}
    with (
        httpx2.Client(
            base_url=server.http.base_url, timeout=PATIENCE_S, trust_env=False, verify=False
        ) as client,
        client.stream(
            "GET", f"{place_of(session)}/events", params=params, headers=headers
        ) as response,
    ):
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        yield Listener(response)


def at_once(*works: Any) -> list[Any]:
    """What callables return that run at the same time, in their order."""
    found: dict[int, Any] = {}

    def run(number: int, work: Any) -> None:
        found[number] = work()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[number] for number in range(len(works))]
