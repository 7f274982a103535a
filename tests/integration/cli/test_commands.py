"""The command: one process per case, over a folder of its own, without a server and beside one."""

import asyncio
import json
import re
import sqlite3
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from ordain import Ordain, __version__
from ordain.app import Extras
from ordain.cli import main
from ordain.contracts.access import COMMAND, LOOPBACK
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Settlement
from ordain.journal.records import Status
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.process import Server, run_cli
from tests.e2e.proposals import act, add, ask, case, finish, slow
from tests.shapes.flows import decode_request
from tests.shapes.stored_journal import journal_of

SCRIPT = {
    "verbs": {"extract_facts": [{"facts": [], "method": "analysed"}]},
    "cases": [
        case("simple", add("6 * 7"), finish("It is 42.")),
        case("child", act("extract_facts", text="A is B."), finish("None.")),
        case("failing", "prose", "prose"),
        case(
            "hostile",
            finish(
                "A\x1b[31mRED\x1b]0;title\x07 \x9b31mC1 \u202ebidi\n"
                "✓ ordain run 0000 · planner@1 · completed · ok"
            ),
        ),
        case("slow", add(), slow(finish("Late."), 60_000)),
    ],
}
BODIES = (("records", "body"), ("sheets", "records"))
"""Where a record's content stands."""
UNIMPORTABLE = """
import sys
class Unimportable:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"httpx2", "httpcore2", "uvicorn", "fastapi", "starlette", "anyio"} or name in {
            "ordain.models", "ordain.verbs", "ordain.server", "ordain.app", "http.client", "urllib.request"
        }:
            raise ImportError(name)
sys.meta_path.insert(0, Unimportable())
def audit(event, args):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise RuntimeError(event)
sys.addaudithook(audit)
from ordain.cli import main
raise SystemExit(main(sys.argv[1:]))
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server that each test may start or not."""
    server = Server(tmp_path / "home").play(SCRIPT)
    yield server
    server.end()


def request_file(folder: Path, name: str, *tools: str, **changes: Any) -> str:
    path = folder / f"{name.replace(' ', '_')}.json"
    path.write_text(json.dumps(ask(name, *tools, **changes)), encoding="utf-8")
    return str(path)


def lines(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    return done.stderr.decode().splitlines()


def test_version_and_help_load_next_to_nothing() -> None:
    """--version imports no library at all, --help none but the parser's."""
    program = (
        "import sys; from ordain.cli import main; main([sys.argv[1]]); "
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    loaded = {}
    for flag in ("--version", "--help"):
        done = subprocess.run(
            [sys.executable, "-c", program, flag], capture_output=True, text=True, check=True
        )
        loaded[flag] = set(done.stderr.split())
    heavy = {
        "pydantic",
        "msgspec",
        "httpx2",
        "fastapi",
        "uvicorn",
        "jinja2",
        "yaml",
        "asyncio",
        "ordain.app",
        "ordain.settings",
    }
    assert not loaded["--help"] & heavy
    assert not loaded["--version"] & (heavy | {"cyclopts", "rich"})


def test_version_and_help_answer(tmp_path: Path) -> None:
    """Both are exit code 0; help names every command."""
    version, overview = run_cli("--version", home=tmp_path), run_cli("--help", home=tmp_path)
    assert (version.returncode, version.stdout.decode().strip()) == (0, f"ordain {__version__}")
    assert overview.returncode == 0
    for command in ("serve", "plan", "runs", "replay", "verbs", "doctor", "backup", "restore"):
        assert command in overview.stdout.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-command",),
        ("runs", "show"),
        ("serve", "--port", "many"),
        ("replay",),
        ("replay", "x", "--all"),
        ("replay", "--all", "--jobs", "0"),
        ("plan", "no-such-file"),
        ("runs", "cancel", "x"),
    ],
)
def test_wrong_arguments_are_one_line(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """A wrong argument is exit code 2 and one line with a code, no traceback."""
    done = run_cli(*arguments, home=tmp_path)
    assert (done.returncode, len(lines(done)), done.stdout) == (2, 1, b"")
    assert lines(done)[0].startswith("ordain: ")
    assert lines(done)[0].endswith("]")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("chat --json --nope", "--nope"),
        ("plan --json", "FILE"),
        ("runs shwo --json", 'Did you mean "show"?'),
        ("--json nope", "nope"),
        ("--verson --json", "there is no option --verson; did you mean --version?"),
        ("runs --jsno --json", "there is no option --jsno; did you mean --json?"),
        ("--frobnicate --json", "there is no option --frobnicate. Try"),
        ("runs list --limit x --json", "--limit"),
    ],
)
def test_a_wrong_argument_is_json_where_json_is_asked_for(
    tmp_path: Path, line: str, said: str
) -> None:
    """One value on stderr as any other error's, with the same words and the same exit code."""
    done = run_cli(*line.split(), home=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    error = json.loads(done.stderr)["error"]
    assert (error["code"], said in error["message"]) == ("usage", True)
    plainly = run_cli(*(word for word in line.split() if word != "--json"), home=tmp_path)
    assert plainly.stderr.decode() == f"ordain: {error['message']} [usage]\n"


@pytest.mark.parametrize(
    "line", ["--json {} verbs list", "verbs {} --json list", "verbs list --json {}"]
)
def test_the_data_folder_stands_anywhere_on_the_line(tmp_path: Path, line: str) -> None:
    """Before the command, within its name, behind it: it is the same folder. Twice is an error."""
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "policy.toml").write_text("version =", encoding="utf-8")
    done = run_cli(*line.format(f"--data-dir {tmp_path / 'here'}").split(), home=tmp_path)
    assert done.returncode == 2
    assert "policy.toml" in json.loads(done.stderr)["error"]["message"]
    assert (
        run_cli("--data-dir", "a", "verbs", "list", "--data-dir", "b", home=tmp_path).returncode
        == 2
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("policy.toml", "version = 1\nsurprise = 2\n"),
        ("policy.toml", "version ="),
        ("ordain.toml", "[models.default]\nprovider = 'other'\n"),
    ],
)
def test_wrong_configuration_names_the_file(tmp_path: Path, name: str, content: str) -> None:
    """Unknown keys and broken TOML are exit code 2 with the file's name."""
    (tmp_path / name).write_text(content, encoding="utf-8")
    for command in (("serve", "--port", "0"), ("doctor",), ("verbs", "list")):
        done = run_cli(*command, home=tmp_path)
        assert (done.returncode, len(lines(done))) == (2, 1)
        assert name in lines(done)[0]


@pytest.mark.parametrize("served", [False, True])
def test_plan_gives_the_same_answer_here_and_there(
    server: Server, tmp_path: Path, served: bool
) -> None:
    """plan answers through the server that holds the folder, or in this process; header and answer
    are printed, failure is exit code 1.
    """
    if served:
        server.start()
    done = server.cli("plan", request_file(tmp_path, "simple"), "--json")
    assert done.returncode == 0, done.stderr
    response = json.loads(done.stdout)
    assert (response["status"], response["final_answer"]["content"]) == ("ok", "It is 42.")
    principal = json.loads(
        server.cli("runs", "show", response["run_id"], "--journal", "--json").stdout
    )["records"][0]["body"]["principal"]
    assert principal == ("http:loopback" if served else "local:cli")
    people = server.cli("plan", "-", stdin=json.dumps(ask("simple")).encode()).stdout.decode()
    assert re.match(r"✓ scripted · 1 tool · \d+ ms · [0-9a-f]{6}\n", people)
    whole = server.cli(
        "plan", "--verbose", "-", stdin=json.dumps(ask("simple")).encode()
    ).stdout.decode()
    assert whole.startswith("✓ ok · ordain run ")
    assert people.endswith("It is 42.\n")
    assert server.cli("plan", request_file(tmp_path, "failing")).returncode == 1


def test_no_answer_commands_the_terminal_or_passes_for_a_header(
    server: Server, tmp_path: Path
) -> None:
    """Security: what a model or a request says is shown without control, hidden or reordering
    characters, header look-alikes quoted.
    """
    planned = server.cli("plan", "--verbose", request_file(tmp_path, "hostile")).stdout.decode()
    run = planned.partition("ordain run ")[2].split()[0]
    shown = server.cli("runs", "show", run).stdout.decode()
    for said in (planned, shown):
        assert "\n> ✓ ordain run 0000" in said
        assert "ARED C1 [U+202E]bidi" in said
    refused = server.cli(
        "plan", "-", stdin=json.dumps({**ask("simple"), "\x1b[31mk\x9b": 1}).encode()
    )
    everything = [
        planned,
        shown,
        refused.stderr.decode(),
        *(
            server.cli(*command).stdout.decode()
            for command in (("runs", "show", run, "--journal"), ("runs", "show", run, "--json"))
        ),
    ]
    for said in everything:
        assert not {c for c in said if unicodedata.category(c) in {"Cc", "Cf"}} - {"\n"}, said


def test_a_user_id_is_one_cell(server: Server) -> None:
    """Security: a user id with line ends forges no row of a table."""
    server.start()
    body = {
        "sessionId": "s",
        "userId": "eve\nbank:1  web\n✓ ordain run 0",
        "message": {"text": "hello"},
    }
    assert server.http.post("/messages", json=body, headers={"Prefer": "respond-async"}).is_success
    assert len(server.cli("sessions", "list").stdout.decode().splitlines()) == 2


@pytest.mark.parametrize("served", [False, True])
def test_a_refused_request_is_exit_code_2(server: Server, tmp_path: Path, served: bool) -> None:
    """What the door refuses is one line with code and place."""
    if served:
        server.start()
    done = server.cli("plan", request_file(tmp_path, "simple", limits={"max_steps": 0}))
    assert (done.returncode, len(lines(done))) == (2, 1)
    assert "/limits/max_steps" in lines(done)[0]
    assert lines(done)[0].endswith("[invalid_request]")


def test_runs_are_listed_and_shown_without_driving_them(server: Server, tmp_path: Path) -> None:
    """Looking at a folder resumes nothing: a run that was cut off is shown as it lies."""
    server.start()
    run = server.http.post(
        "/plan/react", json=ask("slow"), headers={"Prefer": "respond-async"}
    ).json()["run_id"]
    server.until_recorded(run, "observation", "verb_call")
    server.kill()
    listed = json.loads(server.cli("runs", "list", "--json").stdout)["runs"]
    assert [(one["run_id"], one["status"]) for one in listed] == [(run, "running")]
    shown = json.loads(server.cli("runs", "show", run, "--json").stdout)
    assert (shown["status"], shown["response"], shown["resumes"]) == ("running", None, 0)
    assert run in server.cli("runs", "list").stdout.decode()
    assert (
        json.loads(server.cli("runs", "list", "--status", "completed", "--json").stdout)["runs"]
        == []
    )


@pytest.mark.parametrize("served", [False, True])
def test_lists_say_who_asked_and_the_first_words(
    server: Server, tmp_path: Path, served: bool
) -> None:
    """Of a plan its goal, of a call the call, of a turn the message; of what was erased nothing. A
    terminal is given no more than it has room for.
    """
    if served:
        server.start()
    asked = request_file(
        tmp_path,
        "simple",
        goal={"type": "analysis", "description": f"find \u202e out\n{'and on ' * 40}"},
    )
    for command in (
        ("plan", asked),
        ("call", "math.evaluate", "expression=6 * 7"),
        ("chat", "hello", "there"),
    ):
        server.cli(*command)
    listed = json.loads(server.cli("runs", "list", "--json").stdout)["runs"]
    assert [one["words"] for one in listed[:2]] == ["hello there", "math.evaluate expression=6 * 7"]
    assert listed[2]["words"].startswith("find [U+202E] out and on and on ")
    assert len(listed[2]["words"].replace("[U+202E]", "?")) == 120
    assert {one["principal"] for one in listed} == {LOOPBACK if served else COMMAND}
    shown = server.cli("runs", "list").stdout.decode().splitlines()
    assert shown[1].endswith("  hello there")
    assert "find [U+202E] out and on" in shown[3]
    assert (
        server.cli("runs", "erase", listed[1]["run_id"], "--why", "no longer needed").returncode
        == 0
    )
    again = json.loads(server.cli("runs", "list", "--json").stdout)["runs"]
    assert [
        (one["principal"], one["words"]) for one in again if one["run_id"] == listed[1]["run_id"]
    ] == [("", "")]


def test_a_damaged_beginning_hides_no_other_run(server: Server, tmp_path: Path) -> None:
    """A run whose first record cannot be read is listed all the same, without words."""
    for word in ("one", "two"):
        server.cli("chat", word)
    with closing(sqlite3.connect(server.home / "ordain.db")) as db, db:
        (first,) = db.execute("SELECT min(no) FROM runs WHERE parent IS NULL").fetchone()
        changed = sum(
            db.execute(f"UPDATE {table} SET {column} = x'00' WHERE run = ?", (first,)).rowcount
            for table, column in BODIES
        )
        assert changed
    assert [
        one["words"] for one in json.loads(server.cli("runs", "list", "--json").stdout)["runs"]
    ] == ["two", ""]


def test_operating_without_a_server_carries_it_out(server: Server) -> None:
    """Without a server a cancelled run is driven to its end by the command itself, who and why in
    its journal.
    """
    server.start()
    run = server.http.post(
        "/plan/react", json=ask("slow"), headers={"Prefer": "respond-async"}
    ).json()["run_id"]
    server.until_recorded(run, "observation", "verb_call")
    server.kill()
    done = server.cli("runs", "cancel", run, "--why", "no longer needed", "--json")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "cancelled"), done.stderr
    header = json.loads(server.cli("runs", "show", run, "--json").stdout)["header"]
    assert "cancel by local:cli" in header
    assert "no longer needed" in header
    again = server.cli("runs", "cancel", run, "--why", "again")
    assert (again.returncode, lines(again)[-1][-9:]) == (1, "[settled]")


def test_operating_through_a_server(server: Server) -> None:
    """Beside a server the same commands go through it."""
    server.start()
    run = server.http.post(
        "/plan/react", json=ask("slow"), headers={"Prefer": "respond-async"}
    ).json()["run_id"]
    assert server.cli("runs", "cancel", run, "--why", "x").stdout.decode() == f"sent: run {run}\n"
    server.until(run, "cancelled")
    assert server.cli("runs", "erase", run, "--why", "x", "--json").returncode == 0
    assert "erased" in server.cli("runs", "show", run).stdout.decode()
    assert server.cli("runs", "resume", run, "--why", "x").returncode == 1
    assert server.cli("runs", "answer", run, "1", "yes").returncode == 1
    assert server.cli("runs", "resolve", run, "1", "--happened", "--why", "x").returncode == 1
    assert server.cli("runs", "show", "0" * 32).returncode == 2


def test_a_journal_shows_what_a_verb_replied(server: Server, tmp_path: Path) -> None:
    """B-04 “kept only in persisted trace/debug”: ``runs show --journal`` has it below the records,
    the plan's own answer has not.
    """
    planned = server.cli(
        "plan", request_file(tmp_path, "child", "extract_facts"), "--json"
    ).stdout.decode()
    assert "raw_cortex" not in planned
    run = json.loads(planned)["run_id"]
    last = server.cli("runs", "show", run, "--journal").stdout.decode().splitlines()[-1]
    assert last.startswith("> raw_cortex  ")
    assert json.loads(last.split("  ", 2)[2])["verb_name"] == "extract_facts"
    assert list(
        json.loads(server.cli("runs", "show", run, "--journal", "--json").stdout)["raw_cortex"]
    ) == [last.split("  ")[1]]


def test_replay_needs_no_models_verbs_or_network(server: Server, tmp_path: Path) -> None:
    """replay proves equality, children included, in a process that can import no model, no verb and
    no HTTP.
    """
    run = json.loads(
        server.cli("plan", request_file(tmp_path, "child", "extract_facts"), "--json").stdout
    )["run_id"]
    for arguments in (("replay", run), ("replay", "--all")):
        command = [
            sys.executable,
            "-c",
            UNIMPORTABLE,
            *arguments,
            "--json",
            "--data-dir",
            str(server.home),
        ]
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert [
            (one["flow"], one["verdict"], one["settled"]) for one in json.loads(done.stdout)["runs"]
        ] == [
            ("planner@5", "equal", True),
            ("verb_plan@2", "equal", True),
        ]
    assert "2 of 2 runs replay equal" in server.cli("replay", run).stdout.decode()
    assert server.cli("replay", "0" * 32).returncode == 2


def test_another_policy_is_compared(server: Server, tmp_path: Path) -> None:
    """replay --policy lists the decisions that come out otherwise, both reasons and the
    frontier.
    """
    run = json.loads(server.cli("plan", request_file(tmp_path, "simple"), "--json").stdout)[
        "run_id"
    ]
    same, other = tmp_path / "same.toml", tmp_path / "other.toml"
    same.write_text("version = 1\n", encoding="utf-8")
    other.write_text("version = 1\n[limits]\nmax_steps = 1\n", encoding="utf-8")
    unchanged = server.cli("replay", run, "--policy", str(same))
    assert (unchanged.returncode, unchanged.stdout.decode().splitlines()[-1][:12]) == (
        0,
        "0 decisions ",
    )
    done = server.cli("replay", "--all", "--policy", str(other), "--json")
    (diff,) = json.loads(done.stdout)["runs"]
    assert [(flip["rule"], flip["exact"]) for flip in diff["flips"]] == [("limits", True)]
    assert "limits.clamped" in diff["flips"][0]["now"]
    assert server.cli("replay", run, "--policy", str(tmp_path / "none.toml")).returncode == 2


def test_verbs_are_listed_and_shown(server: Server) -> None:
    """verbs list and show say the same with and without a server."""
    alone = [
        json.loads(server.cli("verbs", *arguments, "--json").stdout)
        for arguments in (("list",), ("show", "math.evaluate"))
    ]
    assert {"extract_facts", "math.evaluate"} <= {verb["verb_id"] for verb in alone[0]["verbs"]}
    server.start()
    assert [
        json.loads(server.cli("verbs", *arguments, "--json").stdout)
        for arguments in (("list",), ("show", "math.evaluate"))
    ] == alone
    shown = server.cli("verbs", "list").stdout.decode().splitlines()
    groups = {line: at for at, line in enumerate(shown) if not line.startswith(" ")}
    assert list(groups) == [
        "Executive control",
        "Generative",
        "Memory access",
        "Meta cognition",
        "Perception",
        "Transform",
    ]
    assert any(line.startswith("  math.evaluate ") for line in shown[groups["Transform"] :])
    assert len(shown) == 1 + len(groups) + len(alone[0]["verbs"])
    assert "input schema" in server.cli("verbs", "show", "math.evaluate").stdout.decode()
    assert server.cli("verbs", "show", "no.verb").returncode == 2
    for odd in ("../health", "a b?c", "math.evaluate/x"):
        refused = server.cli("verbs", "show", odd, "--json")
        assert (
            refused.returncode,
            refused.stdout,
            json.loads(refused.stderr)["error"]["code"],
        ) == (2, b"", "unknown_verb")


@pytest.mark.parametrize(
    "output", [["one", {"two": 2}], "a text", 7, {"final_answer": "no object"}]
)
async def test_whatever_a_flow_returned_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], output: Any
) -> None:
    """`runs show` of an embedder's own flow: what is no object is shown as JSON, below the header
    and quoted.
    """

    async def run(context: FlowContext, given: Any) -> Any:
        return output

    done = Settlement(status=Status.COMPLETED, reason="ok")
    flow: Kind[Any, Any] = Kind(
        name="told", version=1, run=run, decode_input=decode_request, settle=lambda _: done
    )
    async with Ordain(home=tmp_path, extras=Extras(kinds=(flow,))) as ordain:
        accepted = await ordain.runtime.open(
            "told", Raw(json.dumps(ask("simple")).encode()), "local:test"
        )
        await ordain.runtime.wait(accepted.run)
    assert (
        await asyncio.to_thread(main, ["runs", "show", accepted.run, "--data-dir", str(tmp_path)])
        == 0
    )
    shown = capsys.readouterr().out
    assert isinstance(output, dict) or f"> {json.dumps(output, indent=2).splitlines()[0]}" in shown


def test_doctor_names_what_it_found(tmp_path: Path) -> None:
    """doctor calls the endpoint and names what it gave; without one it names the offline provider;
    an unreachable one is exit code 3.
    """
    offline = run_cli("doctor", "--json", home=tmp_path)
    assert (offline.returncode, json.loads(offline.stdout)["profiles"][0]["provider"]) == (
        0,
        "offline",
    )
    with ModelEndpoint() as endpoint:
        endpoint.will_answer({"word": "kestrel-4417"}, "no tool")
        reached = run_cli(
            "doctor", "--json", home=tmp_path, environment={"OPENAI_BASE_URL": endpoint.url}
        )
        url = endpoint.url
    found = json.loads(reached.stdout)["profiles"][0]
    assert (
        found["reachable"],
        found["native_schema"],
        found["tools"],
        found["usage"],
        found["answering_model"],
    ) == (
        True,
        True,
        False,
        True,
        "fake-1",
    )
    gone = run_cli("doctor", home=tmp_path, environment={"OPENAI_BASE_URL": url})
    assert (gone.returncode, b"not reached: connection" in gone.stdout) == (3, True)


def test_backup_and_restore(server: Server, tmp_path: Path) -> None:
    """A backup taken beside a running server is verified, private, and complete where it is
    restored; nothing is ever overwritten.
    """
    server.start()
    body = server.plan(ask("child", "extract_facts", request_id="kept"))
    copy, elsewhere = tmp_path / "copy.db", tmp_path / "elsewhere"
    done = server.cli("backup", str(copy), "--json")
    assert (
        done.returncode,
        json.loads(done.stdout)["runs"],
        json.loads(done.stdout)["replayed"],
    ) == (0, 2, 2), done.stderr
    assert copy.stat().st_mode & 0o077 == 0
    assert list(tmp_path.glob(".ordain-*")) == []
    assert server.cli("backup", str(copy)).returncode == 2
    assert server.cli("restore", str(copy)).returncode == 2
    assert run_cli("restore", str(copy), home=elsewhere).returncode == 0
    assert run_cli("restore", str(copy), home=elsewhere).returncode == 2
    with Server(elsewhere).play(SCRIPT) as other:
        assert other.plan(ask("child", "extract_facts", request_id="kept")) == body


def test_a_damaged_backup_is_refused(server: Server, tmp_path: Path) -> None:
    """A file that is no backup, or one with an altered record, restores nothing."""
    server.cli("plan", request_file(tmp_path, "simple"))
    copy, elsewhere = tmp_path / "copy.db", tmp_path / "elsewhere"
    assert server.cli("backup", str(copy)).returncode == 0
    with closing(journal_of(sqlite3.connect(copy, isolation_level=None))) as database:
        database.execute("UPDATE journal SET digest = zeroblob(16) WHERE kind = 'ended'")
    (tmp_path / "text.db").write_text("not a database", encoding="utf-8")
    (tmp_path / "empty.db").touch()
    for file in ("copy.db", "text.db", "empty.db", "none.db"):
        done = run_cli("restore", str(tmp_path / file), home=elsewhere)
        assert (done.returncode in {1, 2}, len(lines(done))) == (True, 1)
        assert not (elsewhere / "ordain.db").exists()


def test_a_stale_note_of_a_dead_server_is_ignored(server: Server, tmp_path: Path) -> None:
    """After kill -9 the note of the dead server does not send anything to whoever listens there
    now.
    """
    server.start()
    server.kill()
    assert (server.home / "server.json").exists()
    done = server.cli("plan", request_file(tmp_path, "simple"), "--json")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "ok")
