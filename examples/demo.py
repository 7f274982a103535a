"""Ordain at work, on this machine alone: `./demo`.

Starts `ordain serve`, sends it one planning request over HTTP, and shows everything that came of
it: first on the embedded default (`offline`: rules and quotation, no language model), then the same
request on `scripted` (proposals from a file). Then a short conversation: a question, work that
takes long, a nudge while it runs, and an order to do something else instead. Then several models
under the same law: a council, and work that an agent is handed once somebody said yes. At last a
workflow that waits for somebody's yes, and the command that gives it. Exits non-zero unless every
header it prints is the API's and the journal's, every run replays equal and the session verifies.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import textwrap
import time
from contextlib import ExitStack
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NoReturn

import httpx2

from ordain.cli import main as ordain

EXAMPLES = Path(__file__).resolve().parent
REQUEST = EXAMPLES / "extract_facts.json"
SCRIPT = EXAMPLES / "scripts" / "extract_facts.yaml"
TOGETHER = EXAMPLES / "scripts" / "together.yaml"
ANNOUNCE = EXAMPLES / "announce"
CONVERSATION = EXAMPLES / "scripts" / "conversation.yaml"
FORKS = get_context("forkserver")
IMPORTED = ("ordain.app", "ordain.cli.server", "ordain.cli.replay", "ordain.server.messages")
PATIENCE_S = 60
WIDTH = 100


def fail(message: str) -> NoReturn:
    """Say what went wrong, and end."""
    print(f"\ndemo: {message}", file=sys.stderr)
    sys.exit(1)


def heading(text: str) -> None:
    print(f"\n── {text} " + "─" * max(0, WIDTH - len(text) - 4))


def clean_environment(**more: str) -> dict[str, str]:
    """This environment without anything that configures Ordain or a proxy: the demo shows the
    embedded default.
    """
    foreign = ("ORDAIN_", "OPENAI_", "PLANNER_")
    return {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(foreign) and not k.lower().endswith("_proxy")
    } | more


def begun(arguments: list[str], environment: dict[str, str], said: Path) -> BaseProcess:
    """`ordain` with these arguments, as a process of its own. What it prints goes into files, `said`
    and beside it. It begins as a fork of one that has imported what such commands import, which is
    most of what each of them would do.
    """
    FORKS.set_forkserver_preload(["__main__", *IMPORTED])
    process = FORKS.Process(target=become, args=(arguments, environment, said))
    process.start()
    return process


def become(arguments: list[str], environment: dict[str, str], said: Path) -> None:
    """Be that command, in the process that was begun for it."""
    for descriptor, file in ((1, said), (2, said.with_suffix(".errors"))):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["ordain", *arguments]
    sys.exit(ordain())


class Server:
    """`ordain serve` on a free port, as a process of its own: it starts at once, so that the next
    part's comes up while this one is played, and is asked ``with`` it.
    """

    def __init__(self, home: Path, **configured: str) -> None:
        self.home = home
        self.environment = clean_environment(**configured)
        self._said = home / "serve.log"
        command = ["serve", "--port", "0", "--data-dir", str(home)]
        self._process = begun(command, self.environment, self._said)

    def __enter__(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.address(), timeout=PATIENCE_S, trust_env=False)

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End it, if that has not been done."""
        self._process.terminate()
        self._process.join(PATIENCE_S)

    def address(self) -> str:
        """Where it says that it listens."""
        deadline = time.monotonic() + PATIENCE_S
        note = self.home / "server.json"
        while not note.exists():
            if self._process.exitcode is not None or time.monotonic() > deadline:
                fail(f"the server did not start. It said:\n{errors_of(self._said)}")
            time.sleep(0.05)
        return json.loads(note.read_text(encoding="utf-8"))["url"]


def errors_of(said: Path) -> str:
    return said.with_suffix(".errors").read_text(encoding="utf-8")


def get(http: httpx2.Client, path: str) -> Any:
    response = http.get(path)
    if not response.is_success:
        fail(f"GET {path} answered {response.status_code}: {response.text}")
    return response.json()


def show(
    provider: str, response: dict[str, Any], run: dict[str, Any], journal: list[dict[str, Any]]
) -> None:
    """Everything the run left: header, answer, trace, decisions, size."""
    heading(f"{provider}: the execution header, written by code from the journal")
    print(response["header"])
    heading(f"{provider}: the answer")
    print(response["final_answer"]["content"])
    heading(f"{provider}: the trace")
    for step in response["trace"]:
        print(f"step {step['step_index']}  {shortened(step['thought'] or '(no thought)')}")
        if step["action"]:
            print(
                f"        calls {step['action']['tool_id']} "
                f"{shortened(json.dumps(step['action']['input'], ensure_ascii=False))}"
            )
        if step["observation"]:
            print(
                "        gets  "
                f"{shortened(step['observation']['llm_output'] or json.dumps(step['observation'], ensure_ascii=False))}"
            )
    heading(f"{provider}: every decision, made by rules, with its reason")
    for record in journal:
        if record["kind"] == "decision":
            print(f"{record['seq']:>4}  {record['name']:<10} {record['body']['reason']}")
    size = run["journal_bytes"]
    heading(f"{provider}: the journal")
    print(
        f"{run['records']} records, {size['records']} bytes, {size['payloads']} bytes of "
        f"payloads; run {run['run_id']}"
    )


def shortened(text: str) -> str:
    return textwrap.shorten(text, WIDTH - 16, placeholder=" …")


def play(provider: str, server: Server) -> None:
    """One server, one request, everything it shows, and what must be true of it."""
    with server as http, http:
        posted = http.post(
            "/plan/react",
            content=REQUEST.read_bytes(),
            headers={"Content-Type": "application/json"},
        )
        if posted.status_code != 200:
            fail(f"{provider}: the request was refused with {posted.status_code}: {posted.text}")
        response = posted.json()
        if response["status"] != "ok":
            fail(
                f"{provider}: the run ended as {response['status']}: {response['error']}\n"
                f"{response['header']}"
            )
        run = get(http, f"/runs/{response['run_id']}")
        journal = get(http, f"/runs/{response['run_id']}/journal")["records"]
        show(provider, response, run, journal)
    kept = next(record["body"]["header"] for record in journal if record["kind"] == "ended")
    # but for the sums: where no model was asked nobody is told tokens that none has used
    told = run["header"].rpartition("\n")[0]
    if response["header"] != run["header"] or told != kept.rpartition("\n")[0]:
        fail(f"{provider}: the header shown is not the one of the API and the journal")
    if provider not in response["header"]:
        fail(f"{provider}: the header does not name its provider")
    replay_equal(provider, server)


def converse(name: str, server: Server) -> None:
    """A conversation over HTTP: each message, and the reply that came of it."""
    heading("a conversation, POST /messages; first a question, in mode brain")
    with server as http, http:
        replied(http, say(http, "Hello, what are you?"))
        heading("then work for the agent; its second step takes ten minutes")
        working = say(http, "Work out 6 * 7, please", mode="agent", wait=False)
        until_done(http, "math.evaluate")
        print("(202 Accepted; its first step is durable, and it goes on)")
        heading("a nudge, answered at once from the journal while the work goes on")
        replied(http, say(http, "How is it going?"))
        heading("an order to do something else; its reply says what had already happened")
        replied(http, say(http, "No, work out 6 * 9 instead", mode="agent"))
        heading("and the reply of the work that was interrupted")
        replied(
            http,
            get(http, f"/sessions/demo/messages/{working['sessionSeq']}?wait={PATIENCE_S}"),
            ok=False,
        )
    replay_equal(name, server)


def work_together(name: str, server: Server) -> None:
    """Several models: four seats, a chair and an auditor in mode council; then an agent that nobody
    hands anything before somebody said yes.
    """
    heading(
        "mode council: four seats speak side by side, a chair proposes, an auditor judges; one "
        "table of code decides"
    )
    with server as http, http:
        replied(http, say(http, "Should the library open on Sundays?", mode="council"))
        heading(
            "a delegation: finance_agent is named, and as shipped nobody is handed anything "
            "without a yes"
        )
        sent = say(
            http, "What did the till take in the last three months?", delegates=["finance_agent"]
        )
        asked = sent["approval"]
        if asked is None:
            fail(f"the delegation did not wait: {sent}")
        print(asked["text"])
        heading(
            "the yes to exactly that; then its work, under a header that the words about it do "
            "not change"
        )
        answered(
            http,
            f"/approvals/{asked['approvalId']}/approve",
            {"digest": get(http, f"/approvals/{asked['approvalId']}")["digest"]},
        )
        done = get(http, f"/sessions/demo/messages/{sent['sessionSeq']}?wait={PATIENCE_S}")
        replied(http, done)
        heading(
            "what is below that turn, as `ordain runs show` has it: each run with its verdict and "
            "what it cost"
        )
        for one in get(http, f"/runs/{done['runId']}/tree")["runs"]:
            print(
                f"{'  ' * one['depth']}{one['verb'] or one['flow']} · {one['verdict']} · "
                f"{one['tokens']} tokens"
            )
    replay_equal(name, server)


def answered(http: httpx2.Client, path: str, body: dict[str, Any]) -> None:
    posted = http.post(path, json=body)
    if not posted.is_success:
        fail(f"POST {path} answered {posted.status_code}: {posted.text}")


def make_announcing(home: Path) -> None:
    """A verb of one's own, and the workflow that uses it."""
    for name, folder in (("board_post.py", "verbs"), ("announce.yaml", "workflows")):
        (home / folder).mkdir()
        shutil.copyfile(ANNOUNCE / name, home / folder / name)
    (home / "ordain.toml").write_text("[verbs]\npython = true\n", encoding="utf-8")


def wait_for_a_yes(server: Server) -> str:
    """A workflow whose last step others see: it waits, a message is no yes, and this is the command
    that is one.
    """
    home = server.home
    heading("a workflow: what others would see waits for somebody's yes")
    with server as http, http:
        asked = say(
            http,
            "Tell everybody",
            workflow={"template": "announce", "args": {"text": "Tea is at four."}},
        )["approval"]
        if asked is None:
            fail("the workflow did not wait")
        print(asked["text"])
        heading("a message is no yes; it is told how one is given")
        replied(http, say(http, "yes"))
        found = get(http, f"/approvals/{asked['approvalId']}")
    if found["state"] != "open" or (home / "board.txt").exists():
        fail("something happened before the yes")
    return (
        f".venv/bin/ordain approvals approve {found['approval_id']} --digest {found['digest']} "
        f"--data-dir {home}"
    )


def say(http: httpx2.Client, text: str, *, wait: bool = True, **hints: Any) -> dict[str, Any]:
    """Say something in session `demo`; the answer, or where the message stands if nobody waits for
    it.
    """
    print(f"you: {text}\n")
    message = {
        "sessionId": "demo",
        "userId": "you",
        "message": {"text": text},
        "context": {"routingHints": hints},
    }
    posted = http.post(
        "/messages", json=message, headers={} if wait else {"Prefer": "respond-async"}
    )
    if posted.status_code != (200 if wait else 202):
        fail(f"the message was refused with {posted.status_code}: {posted.text}")
    return posted.json()


def until_done(http: httpx2.Client, verb: str) -> None:
    """Read the session's live stream until the header of finished work names the verb."""
    with http.stream("GET", "/sessions/demo/events") as stream:
        for line in stream.iter_lines():
            if line.startswith("data: ") and f"✓ {verb}" in json.loads(line[6:]).get("header", ""):
                return


def replied(http: httpx2.Client, answer: dict[str, Any], *, ok: bool = True) -> None:
    """Show a reply; its header is the run's own, byte for byte."""
    reply = answer["reply"]
    if reply is None or reply["ok"] is not ok:
        fail(f"the message was answered otherwise: {answer}")
    if reply["header"] != get(http, f"/runs/{answer['runId']}")["header"]:
        fail("the header of the reply is not the run's")
    print(f"{reply['header']}\n\n{reply['narrative']}")


def replay_equal(provider: str, server: Server) -> None:
    """Run everything again from the journal; it must come out as recorded."""
    said = server.home / "replay.log"
    replay = begun(["replay", "--all", "--data-dir", str(server.home)], server.environment, said)
    replay.join(PATIENCE_S)
    heading(f"{provider}: replayed from the journal, without model or network")
    print(said.read_text(encoding="utf-8").rstrip())
    if replay.exitcode != 0:
        fail(f"{provider}: the runs do not replay equal\n{errors_of(said)}")


def main() -> None:
    request = json.loads(REQUEST.read_text(encoding="utf-8"))
    print(f"The request ({REQUEST.relative_to(EXAMPLES.parent)}), sent to POST /plan/react:")
    print(f"  goal  {request['goal']['description']}")
    print(f"  text  {request['context']['external_facts']['text']}")
    print(f"  tools {', '.join(tool['tool_id'] for tool in request['toolset'])}")
    kept = Path(tempfile.mkdtemp(prefix="ordain-demo-waits-"))
    make_announcing(kept)
    with tempfile.TemporaryDirectory(prefix="ordain-demo-") as folder, ExitStack() as servers:

        def started(home: Path, **configured: str) -> Server:
            home.mkdir(exist_ok=True)
            server = Server(home, **configured)
            servers.callback(server.stop)
            return server

        offline = started(Path(folder) / "offline")
        scripted = started(Path(folder) / "scripted", ORDAIN_SCRIPT=str(SCRIPT))
        play("offline", offline)
        conversation = started(Path(folder) / "conversation", ORDAIN_SCRIPT=str(CONVERSATION))
        play("scripted", scripted)
        together = started(Path(folder) / "together", ORDAIN_SCRIPT=str(TOGETHER))
        converse("conversation", conversation)
        waiting = started(kept, ORDAIN_SCRIPT=str(CONVERSATION))
        work_together("together", together)
        approve = wait_for_a_yes(waiting)
    heading(
        "Every header is the API's and the journal's, every run replays equal. What to try next"
    )
    print(
        textwrap.dedent("""\
        .venv/bin/ordain serve                                     serve on http://127.0.0.1:8090
        .venv/bin/ordain chat                                      talk to it; /help in there
        .venv/bin/ordain plan examples/extract_facts.json          the same request from the command line
        OPENAI_BASE_URL=http://127.0.0.1:11434/v1 PLANNER_MODEL=… .venv/bin/ordain plan examples/extract_facts.json
                                                                   … with a model of your own
        .venv/bin/ordain runs list                                 what ran; then: runs show RUN --journal
        .venv/bin/ordain replay --all --policy FILE                what another policy would have decided""")
    )
    heading(
        f"And the workflow above still waits, in {kept}. This is the yes to exactly what was "
        "shown; the line then stands in board.txt there"
    )
    print(approve)


if __name__ == "__main__":
    main()
