"""A session's event stream: gapless, resumable, provisional in between, and cheap for whoever only
waits.
"""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.e2e.process import PATIENCE_S, Server
from tests.e2e.talking import HANGING, SCRIPT, at_once, begin, listening, place_of, say, transcript

STREAMS = 200


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("streams")).play(SCRIPT) as server:
        yield server


def test_a_stream_tells_a_turn_as_it_goes(server: Server) -> None:
    """The message, the header so far before the first text, the text as it is written, and the
    reply that replaces it all.
    """
    say(server, "quick", "stream:1")
    with listening(server, "stream:1", after="2") as listener:
        begin(server, "a story please", "stream:1")
        seen = listener.until("reply")
    kinds = [event["event"] for event in seen]
    assert (kinds[0], kinds[-1]) == ("message", "reply")
    assert kinds.index("progress") < kinds.index("text")
    assert [event["seq"] for event in seen if "seq" in event] == [3, 4]
    text = "".join(event["text"] for event in seen if event["event"] == "text")
    assert (text, kinds.count("text") > 1) == (seen[-1]["narrative"], True)
    assert seen[-1]["header"] == server.http.get(f"/runs/{seen[-1]['run']}").json()["header"]


def test_a_stream_resumes_without_gap_or_repetition(server: Server) -> None:
    """A client that leaves in the middle of a text and comes back with the last id misses no entry
    and sees none twice.
    """
    say(server, "quick", "stream:2")
    with listening(server, "stream:2") as listener:
        begin(server, "a story please", "stream:2")
        before = listener.until("text")
        last = listener.last_id
    assert last == "3"
    with listening(server, "stream:2", **{"Last-Event-ID": last}) as listener:
        after = listener.until("reply")
    durable = [event for event in (*before, *after) if "seq" in event]
    assert durable == transcript(server, "stream:2")
    with listening(server, "stream:2", after="1", **{"Last-Event-ID": "3"}) as listener:
        assert listener.until("reply") == durable[-1:]


def test_a_crash_in_the_middle_of_a_turn_is_survived(tmp_path: Path) -> None:
    """Killed while a model writes, the server answers the waiting message after its next start, to
    whoever listens then.
    """
    server = Server(tmp_path).play(HANGING)
    try:
        server.start()
        begin(server, "dawdle", "crash/1", messageId="m")
        with listening(server, "crash/1") as listener:
            (said,) = listener.until("message")
            server.until_recorded(said["run"], "intent", "children")
            server.kill()
        server.play(SCRIPT).start()
        with listening(server, "crash/1", **{"Last-Event-ID": "1"}) as listener:
            reply = listener.until("reply")[-1]
        assert (reply["seq"], reply["run"], reply["narrative"], reply["ok"]) == (
            2,
            said["run"],
            "At last.",
            True,
        )
        again = say(server, "dawdle", "crash/1", messageId="m")
        assert (again["duplicate"], again["reply"]["header"]) == (True, reply["header"])
        assert len(transcript(server, "crash/1")) == 2
    finally:
        server.end()


def test_a_stopping_server_ends_its_streams(tmp_path: Path) -> None:
    """SIGTERM ends every stream and releases whoever waits for an answer with where it will be;
    nothing hangs.
    """
    server = Server(tmp_path).play(SCRIPT).start()
    try:
        found: list[httpx2.Response] = []
        asked = threading.Event()
        watched = {
            "trace": lambda name, _: (
                asked.set() if name == "http11.receive_response_headers.started" else None
            )
        }
        where = begin(server, "for ever", "stop:1")
        run = server.http.get(where).json()["runId"]
        with listening(server, "stop:1") as listener:
            listener.until("message")
            waiting = threading.Thread(
                target=lambda: found.append(
                    server.http.get(where, params={"wait": 60}, extensions=watched)
                )
            )
            server.until_recorded(run, "intent", "children")
            waiting.start()
            assert asked.wait(PATIENCE_S)
            assert server.stop(waiting) == 0
            assert [event["event"] for event in listener.events() if "seq" in event] == []
        assert (found[0].status_code, found[0].json()["code"], found[0].json()["location"]) == (
            503,
            "stopping",
            where,
        )
    finally:
        server.end()


def test_an_erased_session_ends_its_streams(server: Server) -> None:
    """Whoever reads along is told and the stream ends; nothing of who has the id next comes over
    it, and to ask for more of the old one is refused.
    """
    for _ in range(2):
        say(server, "quick", "gone:1", userId="ada")
    with listening(server, "gone:1", after="4") as listener:
        erased = server.http.post(f"{place_of('gone:1')}/erase", json={"why": "asked to"})
        assert erased.status_code == 200, erased.text
        say(server, "quick", "gone:1", userId="bob")
        assert list(listener.events()) == [{"event": "session_erased", "session": "gone:1"}]
    again = server.http.get(f"{place_of('gone:1')}/events", headers={"Last-Event-ID": "4"})
    assert (again.status_code, again.json()["code"]) == (409, "beyond_head")


def test_two_clients_speak_at_once(server: Server) -> None:
    """What two people say at once in one session has one order, the same for both, and each gets
    the answer to their own.
    """
    say(server, "quick", "two:1")
    with (
        listening(server, "two:1", after="2") as one,
        listening(server, "two:1", after="2") as other,
    ):
        answers = at_once(
            *[
                lambda text=text: say(server, text, "two:1")
                for text in ("quick thing", "either thing")
            ]
        )
        assert [answer["reply"]["narrative"] for answer in answers] == ["Quick indeed.", "Chatted."]
        heard = [
            [
                event
                for _ in range(2)
                for event in listener.until("reply")
                if event["event"] in ("message", "reply")
            ]
            for listener in (one, other)
        ]
    assert heard[0] == heard[1] == transcript(server, "two:1")[2:]


async def _open(client: httpx2.AsyncClient, opened: asyncio.Barrier) -> str:
    async with client.stream(
        "GET", f"{place_of('many:1')}/events", params={"after": 2}
    ) as response:
        await opened.wait()
        async for line in response.aiter_lines():
            if line.startswith("data: ") and json.loads(line[6:])["event"] == "reply":
                return line
    return ""


async def test_many_idle_streams_all_hear_the_next_event(server: Server) -> None:
    """Two hundred open streams stay open, and each of them gets the next entry."""
    say(server, "quick", "many:1")
    opened = asyncio.Barrier(STREAMS + 1)
    limits = httpx2.Limits(max_connections=STREAMS)
    async with httpx2.AsyncClient(
        base_url=server.http.base_url,
        timeout=PATIENCE_S,
        trust_env=False,
        verify=False,
        limits=limits,
    ) as client:
        streams = [asyncio.ensure_future(_open(client, opened)) for _ in range(STREAMS)]
        await opened.wait()
        assert not any(stream.done() for stream in streams)
        await asyncio.to_thread(say, server, "quick", "many:1")
        heard = set(await asyncio.gather(*streams))
    assert len(heard) == 1
    assert json.loads(heard.pop()[6:])["seq"] == 4
