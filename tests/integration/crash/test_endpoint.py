"""An endpoint that fails and heals, under load, while `ordain serve` is killed: every run that was
accepted ends as its rules say, none is doubled.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.process import PATIENCE_S, Server
from tests.e2e.proposals import ask
from tests.e2e.talking import message
from tests.integration.crash.skies import BAD, Skies, Sky
from tests.lanes import dice, is_full

AT_ONCE = 4
TURNS = 5 if is_full() else 1
"""Orders in which all kinds of bad weather come."""
KILLED = (
    ("at work",),
    ("at work", "as it clears"),
    ("in it",),
    ("in it", "as it clears"),
    ("as it clears",),
)
"""When the process is killed: one of these for each kind of weather. At work: a call is just being
made that must not be made again.
"""
POLICY = """
[fallback]
attempts_per_profile = 3
attempts_total = 3
max_lost = 20
unanswered_max_ms = 600000
backoff_ms = 50
[fallback.on_error]
rate_limited = "retry"
overloaded = "retry"
server_error = "retry"
connection = "retry"
timed_out = "retry"
malformed = "retry"
circuit_open = "retry"
lost = "retry"
[breaker]
failures = 4
open_s = 1
rest_max_s = 2
"""
ATTEMPTS = 3
WAITED_OUT = (Sky.REFUSED, Sky.BUSY)
"""What uses up no attempt, however long it lasts: nobody gives up for it while there is time."""
PROFILE = """
[models.default]
provider = "openai"
model = "fake"
base_url = "{url}"
timeout_ms = 600
[verbs]
python = true
"""
ENTRY = '''
import os
import time
from pathlib import Path

from ordain import VerbContext, verb
from ordain.contracts.verbs import ArgumentRole


@verb(effect="private", arguments={"text": ArgumentRole.CONTENT})
def entry_put(text: str, context: VerbContext) -> str:
    """Write an entry; twice writes two."""
    time.sleep(0.05)
    with (Path(__file__).parent.parent / "entries").open("a") as entries:
        entries.write(f"{context.key} {text}\\n")
    time.sleep(0.1)
    return f"entered {text}"
'''


class Crowd:
    """People who send requests and messages until they are accepted: what was not acknowledged they
    send again, under the same id.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.accepted: dict[str, str] = {}
        self._stop, self._threads = threading.Event(), list[threading.Thread]()

    def send(self, *names: str) -> None:
        """All of them at once, every other one as a message."""
        for number, name in enumerate(names):
            thread = threading.Thread(target=self._send, args=(name, number % 2 == 0), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _send(self, name: str, plan: bool) -> None:
        path, body = ("/plan/react", ask(name, "entry_put", request_id=name))
        if not plan:
            path, body = "/messages", message(f"This is case {name}.", f"s-{name}", messageId=name)
        while not self._stop.wait(0.02):
            try:
                answered = httpx2.post(
                    f"{self.server.http.base_url}{path}",
                    json=body,
                    headers={"Prefer": "respond-async"},
                    timeout=PATIENCE_S,
                    trust_env=False,
                    verify=False,
                )
            except httpx2.TransportError:
                continue
            assert answered.status_code in (200, 202, 503), answered.text
            if answered.status_code != 503:
                self.accepted[name] = answered.json()["run_id" if plan else "runId"]
                return

    def all_accepted(self) -> None:
        """Wait until everybody has an acknowledgement."""
        for thread in self._threads:
            thread.join(PATIENCE_S)
            assert not thread.is_alive(), "somebody is never accepted"

    def end(self) -> None:
        """Give up."""
        self._stop.set()


@pytest.fixture
def skies() -> Iterator[Skies]:
    with Skies() as skies:
        yield skies


@pytest.fixture
def server(tmp_path: Path, skies: Skies) -> Iterator[Server]:
    (tmp_path / "verbs").mkdir()
    (tmp_path / "verbs" / "entry_put.py").write_text(ENTRY, encoding="utf-8")
    (tmp_path / "ordain.toml").write_text(PROFILE.format(url=skies.url), encoding="utf-8")
    server = Server(tmp_path).policy(POLICY)
    yield server
    server.end()


def until(what: str, holds: Callable[[], Any], every_s: float = 0.1) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(every_s)


def statuses(server: Server) -> dict[str, str]:
    """Of every run, children included."""
    rows = server.http.get("/runs", params={"limit": 500, "all": "true"}).json()["runs"]
    return {row["run_id"]: row["status"] for row in rows}


class Books:
    """All that is on record of the runs, by run, children included."""

    def __init__(self, server: Server) -> None:
        self.status = statuses(server)
        self.journals = {run: server.journal(run) for run in self.status}

    def bodies(
        self, kind: str, name: str, runs: Iterable[str] | None = None
    ) -> list[dict[str, Any]]:
        """Of the records of a kind and name, in order."""
        chosen = self.journals if runs is None else runs
        return [
            one["body"]
            for run in chosen
            for one in self.journals[run]
            if (one["kind"], one["name"]) == (kind, name)
        ]

    def family(self, root: str) -> list[str]:
        """A run and all below it."""
        return [
            run for run, journal in self.journals.items() if root in (run, *self._above(journal))
        ]

    def _above(self, journal: list[dict[str, Any]]) -> Iterator[str]:
        while parent := journal[0]["body"].get("parent"):
            yield parent
            journal = self.journals[parent]

    def failed(self) -> int:
        """How many model calls failed that went out, those that were told to come back later among
        them, or for which no connection could be made.
        """
        results = [body["result"] for body in self.bodies("observation", "model_call")]
        return sum(
            one["result"] == "model_failed"
            and (not one.get("apart") or one["code"] in ("connection", "rate_limited"))
            for one in results
        )


def worse(server: Server, by: int) -> Callable[[], bool]:
    """Whether so many more model calls have failed since now."""
    begun = Books(server).failed()
    return lambda: Books(server).failed() >= begun + by


def entries(server: Server) -> str:
    """What the verb has written: a line for each call, with its key and its run's case."""
    file = server.home / "entries"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def at_rest(server: Server) -> bool:
    """Whether no run is at work or waits for anything."""
    return not set(statuses(server).values()) & {"ready", "running", "waiting", "queued"}


# --- what must hold -------------------------------------------------------------------------------


def broken(server: Server, skies: Skies, crowd: Crowd) -> list[str]:
    """Every law that does not hold, in words."""
    books = Books(server)
    roots = [run for run, journal in books.journals.items() if not journal[0]["body"].get("parent")]
    found = [
        f"run {run} is {status}"
        for run, status in books.status.items()
        if status not in ("completed", "failed", "timed_out")
    ]
    if sorted(roots) != sorted(crowd.accepted.values()):
        found.append(f"{len(crowd.accepted)} were accepted, and there are {len(roots)} roots")
    entered = Counter(line.split()[1] for line in entries(server).splitlines())
    asked = Counter(name for name, _ in skies.seen)
    for name, root in crowd.accepted.items():
        runs = books.family(root)
        found += [f"{name}: {what}" for what in unlike_rules(books, root, runs)]
        calls = len(books.bodies("intent", "model_call", runs))
        if asked[name] > calls:
            found.append(
                f"{name}: {asked[name]} requests reached the endpoint, {calls} were announced"
            )
        verbs = [
            body["result"]["result"] for body in books.bodies("observation", "verb_call", runs)
        ]
        if entered[name] > 1 or len(verbs) > 1 or (verbs == ["returned"]) > entered[name]:
            found.append(f"{name}: entered {entered[name]} times, on record {verbs}")
    replayed = server.cli("replay", "--all", "--json")
    found += [
        f"run {one['run_id']} replays {one['verdict']}"
        for one in json.loads(replayed.stdout)["runs"]
        if one["verdict"] != "equal"
    ]
    return found


def unlike_rules(books: Books, root: str, runs: list[str]) -> Iterator[str]:
    """A run completes where every model call of its was answered in the end, and fails where one
    had all the attempts that policy gives it.
    """
    for run in runs:
        results = [body["result"] for body in books.bodies("observation", "model_call", [run])]
        tries = 0
        for number, one in enumerate(results):
            answered, apart = one["result"] != "model_failed", bool(one.get("apart"))
            tries = 0 if answered else tries + (not apart)
            if tries > ATTEMPTS:
                yield f"{tries} attempts at one call"
            if (
                number == len(results) - 1
                and not answered
                and tries != ATTEMPTS
                and books.status[run] == "failed"
            ):
                yield f"given up after {tries} attempts: {one['code']}"
        last = results[-1]["result"] != "model_failed" if results else True
        if books.status[run] == "completed" and not last and run != root:
            yield f"{run} completed, and its last model call failed"
    given_up = [
        body["reason"]
        for body in books.bodies("decision", "fallback", runs)
        if body["outcome"].get("type") == "give_up"
    ]
    if bool(given_up) != (books.status[root] != "completed"):
        yield f"ended {books.status[root]}, given up: {given_up}"
    if set(given_up) - {"fallback.exhausted"}:
        yield f"given up for {given_up}"


# --- what happens ---------------------------------------------------------------------------------


@pytest.mark.timeout(300)
@pytest.mark.parametrize("turn", range(TURNS))
def test_whatever_the_endpoint_does_every_run_ends_as_its_rules_say(
    server: Server, skies: Skies, turn: int
) -> None:
    """Every kind of bad weather, killed before it, in it or as it clears up, with people who go on
    sending: nothing is lost or doubled, all replays.
    """
    chance = dice(f"weather {turn}")
    lasting, killed = (
        chance.choice([sky for sky in BAD if sky not in WAITED_OUT]),
        chance.sample(KILLED, len(KILLED)),
    )
    server.start()
    crowd = Crowd(server)
    try:
        for number, sky in enumerate(chance.sample(BAD, len(BAD))):
            crowd.send(*(f"c{number}before{each}" for each in range(AT_ONCE)))
            if "at work" in killed[number]:
                until(
                    "an entry is made",
                    lambda number=number: f" c{number}before" in entries(server),
                    every_s=0.01,
                )
                again(server)
            else:
                until(
                    "they work",
                    lambda number=number: any(
                        name.startswith(f"c{number}before") for name, _ in skies.seen
                    ),
                )
            hit = worse(server, AT_ONCE)
            skies.change(sky)
            crowd.send(*(f"c{number}in{each}" for each in range(AT_ONCE)))
            until(f"it is {sky}", hit)
            if sky is lasting:
                until("somebody gives up", lambda: "failed" in statuses(server).values())
            if "in it" in killed[number]:
                again(server)
            skies.change(Sky.FAIR)
            if "as it clears" in killed[number]:
                seen = len(skies.seen)
                until(
                    "somebody asks, or all have ended",
                    lambda seen=seen: len(skies.seen) > seen or at_rest(server),
                )
                again(server)
        crowd.send("cafter0", "cafter1")
        crowd.all_accepted()
        until("all is at rest", lambda: at_rest(server))
        assert broken(server, skies, crowd) == []
        ends = {name: statuses(server)[run] for name, run in crowd.accepted.items()}
        # else it is the weather of a world without a model
        assert Counter(ends.values())["completed"] >= len(ends) / 3, ends
        assert "failed" in ends.values()
        assert (ends["cafter0"], ends["cafter1"]) == ("completed", "completed")
    finally:
        crowd.end()


def again(server: Server) -> None:
    """SIGKILL, and a new process."""
    server.kill()
    server.start()
