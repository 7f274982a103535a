"""Secrets are planted wherever one can be, everything that gives them away is made to, and every
output there is is searched for them.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import secrets
import shutil
import sqlite3
import string
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import httpx2
import pytest
from websockets.asyncio.client import connect

from ordain.cli import main
from tests.e2e.proposals import ask
from tests.integration.secrets.echo_server import EchoMailServer, EchoServer

PATIENCE_S = 60.0
KEYS = ("env", "file", "named", "claude", "gemini", "verb")
MAIL = "mail"
"""A password that is sent to no endpoint of models, but to a mail server."""
HOUSE = Path(__file__).with_name("house.py")
WORDS = ("a good answer", "echo-refusal", "echo-overload", "echo-cut")
LEAKING = {
    "leak_raised": {},
    "leak_declared": {},
    "leak_returned": {},
    "leak_async": {"text": "x"},
    "leak.http": {},
}
TOML = """
[models.default]
provider = "openai"
model = "m"
base_url = "{url}"
[models.filed]
provider = "openai"
model = "m"
base_url = "{url}"
key_file = "second.key"
[models.named]
provider = "openai"
model = "m"
base_url = "{url}"
key_env = "PLANTED_KEY"
[mail]
host = "127.0.0.1"
port = {mail}
security = "none"
from = "ordain@example.org"
user = "postmaster"
password_env = "PLANTED_MAIL"
[models.claude]
provider = "anthropic"
model = "m"
base_url = "{url}"
key_env = "PLANTED_CLAUDE"
[models.gemini]
provider = "gemini"
model = "m"
base_url = "{url}"
key_env = "PLANTED_GEMINI"
[models.crashing]
provider = "offline"
model = "offline"
[verbs.secrets]
VERB_KEY = {{env = "PLANTED_VERB", hosts = ["127.0.0.1"]}}
[server]
require_token = true
log_level = "debug"
"""
HTTP_VERB = """
name: leak.http
description: An HTTP verb whose server sends its key back.
effect: read
http:
  url: {url}/echo
  hosts: [127.0.0.1]
  private: true
  headers:
    x-verb-key: {{secret: VERB_KEY}}
input_schema: {{type: object, properties: {{}}, additionalProperties: false}}
"""
POLICY = """version = 1
[fallback]
attempts_total = 6
attempts_per_profile = 1
[fallback.on_error]
overloaded = "next"
connection = "next"
malformed = "next"
truncated = "next"
adapter_bug = "next"
[lanes]
planner = "brain"
[lanes.profiles]
worker = ["default", "filed", "named"]
brain = ["claude", "gemini", "crashing"]
local = ["gemini", "claude", "named"]
"""


@dataclass
class Planted:
    """What was planted, by place, and every output by name."""

    home: Path
    secrets: dict[str, str] = field(default_factory=dict[str, str])
    outputs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    sent: set[str] = field(default_factory=set[str])
    """What stood in the headers that are for keys: no output, and the one place where keys
    belong.
    """

    def leaks(self) -> list[str]:
        """Which secret stands in which output: as it is, in an address, in base64 wherever it
        stands in it; half of one is one.
        """
        found: list[str] = []
        for place, secret in self.secrets.items():
            quarter = len(secret) // 4
            half = secret[quarter:-quarter]
            for spelling in {
                half,
                quote(secret, safe="")[quarter:-quarter],
                *in_base64(half.encode()),
            }:
                found += [
                    f"{place} in {name}"
                    for name, output in self.outputs.items()
                    if spelling.encode() in output
                ]
        return found

    def keep(self, name: str, output: str | bytes) -> None:
        self.outputs[name] = self.outputs.get(name, b"") + (
            output.encode() if isinstance(output, str) else output
        )


def in_base64(data: bytes) -> set[str]:
    """What base64 of any text that holds the data has in common, by where the data begins: six bits
    of the data and nothing else each.
    """
    bits = "".join(f"{byte:08b}" for byte in data)
    letters = string.ascii_uppercase + string.ascii_lowercase + string.digits
    found: set[str] = set()
    for skipped in (0, 2, 4):
        numbers = [int(bits[at : at + 6], 2) for at in range(skipped, len(bits) - 5, 6)]
        found |= {"".join((letters + ends)[number] for number in numbers) for ends in ("+/", "-_")}
    return found


def command(*arguments: str) -> str:
    """A command in this process; all it printed."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        main(arguments)
    return said.getvalue()


def exercise(http: httpx2.Client, planted: Planted) -> None:
    """Every way to a model and a verb that leaks, then every way to look at what came of it."""
    asked: list[tuple[str, str, Any]] = []
    for word in WORDS:
        asked.append(("POST", "/api/chat", {"text_input": f"please {word}", "session_id": "s1"}))
        asked.append(
            ("POST", "/verbs/execute", {"verb_id": "extract_facts", "payload": {"text": word}})
        )
        asked.append(("POST", "/plan/react", ask(word)))
    asked += [
        ("POST", "/verbs/execute", {"verb_id": verb, "payload": payload})
        for verb, payload in LEAKING.items()
    ]
    token = planted.secrets["token"]
    asked += [
        ("GET", f"/runs?token={token}", None),
        ("GET", f"/runs?x={token}", None),
        ("GET", f"/ws?token={token}", None),
    ]
    asked += [
        ("GET", path, None)
        for path in (
            "/runs?all=true&limit=500",
            "/sessions",
            "/sessions/s1",
            "/sessions/s1/messages?limit=500",
        )
    ]
    asked += [
        ("GET", path, None)
        for path in (
            "/verbs",
            "/api/verbs",
            "/metrics",
            "/ready",
            "/health",
            "/openapi.json",
            "/tokens",
            "/tokens/audit",
        )
    ]
    for number, (method, path, body) in enumerate(asked):
        response = http.request(method, path, json=body)
        planted.keep(
            f"http {number} {path.partition('?')[0]}",
            f"{response.headers}\n".encode() + response.content,
        )
    for number, run in enumerate(http.get("/runs?all=true&limit=500").json()["runs"]):
        for what in ("", "/journal", "/events")[: 3 if number < 6 else 2]:
            # events say what the journal says
            planted.keep(f"http run{what}", http.get(f"/runs/{run['run_id']}{what}").content)
    for wrong in (f"Basic {token}", f"Bearer {token}x", token, f"Bearer {planted.secrets['env']}"):
        response = http.get("/runs", headers={"Authorization": wrong})
        assert response.status_code == 401
        planted.keep("http 401", f"{response.headers}\n{response.text}")


async def converse(url: str, planted: Planted) -> None:
    """A streamed turn over a socket that brings its token as a subprotocol."""
    offered: list[Any] = ["ordain", f"ordain.bearer.{planted.secrets['token']}"]
    async with connect(
        f"{url.replace('http', 'ws')}/ws?session=s2", proxy=None, subprotocols=offered
    ) as socket:
        await socket.send(json.dumps({"text_input": "stream a good answer"}))
        while True:
            frame = await asyncio.wait_for(socket.recv(decode=False), PATIENCE_S)
            planted.keep("socket", frame)
            if json.loads(frame)["event"] == "reply":
                return


def look_as_owner(planted: Planted) -> None:
    """Every command that shows anything."""
    run = json.loads(command("runs", "list", "--all", "--json"))["runs"][0]["run_id"]
    for arguments in (
        *(
            ("runs", "list", "--all", "--json"),
            ("runs", "show", run, "--journal", "--json"),
            ("runs", "show", run),
        ),
        *(
            ("sessions", "list", "--json"),
            ("sessions", "show", "s1", "--json"),
            ("verbs", "list", "--json"),
        ),
        *(
            ("token", "list", "--json"),
            ("token", "audit", "--json"),
            ("replay", "--all", "--json"),
            ("runs", "show", "nothing"),
        ),
    ):
        planted.keep(f"command {' '.join(arguments)}", command(*arguments))
    planted.keep(
        "command doctor", command("doctor", "--json", "--data-dir", str(_of_one_provider(planted)))
    )
    planted.keep("command backup", command("backup", str(planted.home / "copy.db"), "--json"))


def _of_one_provider(planted: Planted) -> Path:
    """A data folder with the same keys for one provider only: the doctor asks every profile several
    times.
    """
    home = planted.home.parent / "doctor"
    home.mkdir()
    toml = (planted.home / "ordain.toml").read_text(encoding="utf-8")
    (home / "ordain.toml").write_text(toml.partition("[models.claude]")[0], encoding="utf-8")
    (home / "second.key").write_text(planted.secrets["file"], encoding="utf-8")
    return home


def keep_storage(planted: Planted) -> None:
    """The files of the data folder as they lie, beside a running server, and every value of every
    table.
    """
    for file in planted.home.iterdir():
        if file.name not in ("server.json", "second.key", "ordain.toml") and file.is_file():
            planted.keep(f"file {file.name}", file.read_bytes())
    copy = planted.home.parent / "dumped.db"
    shutil.copyfile(planted.home / "copy.db", copy)
    with closing(sqlite3.connect(copy)) as db:
        tables = [
            name
            for (name,) in db.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            ).fetchall()
        ]
        assert {"records", "payloads", "transcript", "catalogs", "tokens", "token_audit"} <= set(
            tables
        )
        for table in tables:
            planted.keep(f"table {table}", repr(db.execute(f"SELECT * FROM {table}").fetchall()))


@contextmanager
def house(home: Path, log: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """The house as a process; it ends here, whatever else does."""
    command = [sys.executable, str(HOUSE), str(home)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=dict(os.environ)
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    """A house full of secrets after everything in it was made to give them away."""
    home = tmp_path_factory.mktemp("planted")
    place = Planted(home)
    place.secrets = {name: f"sk-{name}-{secrets.token_hex(16)}" for name in (*KEYS, MAIL)}
    (home / "second.key").write_text(f"{place.secrets['file']}\n", encoding="utf-8")
    (home / "policy.toml").write_text(POLICY, encoding="utf-8")
    environment = {
        "OPENAI_API_KEY": place.secrets["env"],
        "PLANTED_KEY": place.secrets["named"],
        "ORDAIN_HOME": str(home),
        "PLANNER_PORT": "0",
    }
    environment |= {
        "PLANTED_VERB": place.secrets["verb"],
        "PLANTED_CLAUDE": place.secrets["claude"],
        "PLANTED_GEMINI": place.secrets["gemini"],
        "PLANTED_MAIL": place.secrets["mail"],
    }
    with EchoServer() as endpoint, EchoMailServer() as mail, pytest.MonkeyPatch.context() as patch:
        (home / "ordain.toml").write_text(
            TOML.format(url=endpoint.url, mail=mail.port), encoding="utf-8"
        )
        (home / "verbs").mkdir()
        (home / "verbs" / "leak.http.yaml").write_text(
            HTTP_VERB.format(url=endpoint.url), encoding="utf-8"
        )
        for name, value in environment.items():
            patch.setenv(name, value)
        place.secrets["token"] = json.loads(
            command("token", "create", "planted", "--scope", "all", "--json")
        )["token"]
        place.secrets["rotated"] = json.loads(
            command("token", "create", "turned", "--scope", "all", "--json")
        )["token"]
        place.secrets["rotated to"] = command("token", "rotate", "turned").split()[0]
        with (home.parent / "planted.log").open("wb") as log, house(home, log) as process:
            assert process.stdout is not None
            place.keep("repr of settings", process.stdout.readline())
            note = json.loads((home / "server.json").read_text(encoding="utf-8"))
            place.secrets["owner's key"] = note["key"]
            headers = {"Authorization": f"Bearer {place.secrets['token']}"}
            with httpx2.Client(
                base_url=note["url"], headers=headers, timeout=PATIENCE_S, trust_env=False
            ) as http:
                exercise(http, place)
            asyncio.run(converse(note["url"], place))
            look_as_owner(place)
            keep_storage(place)
            printed, _ = process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 0
        place.keep("stdout", printed)
        place.keep("log", (home.parent / "planted.log").read_bytes())
        place.keep("prompts", "\n".join(endpoint.asked))
        place.sent = set(" ".join([*endpoint.keys, *mail.logins]).split())
    return place


def test_everything_was_made_to_leak(planted: Planted) -> None:
    """The search has something to find: each key reached the endpoint, each verb raised, libraries
    spoke at level debug, and secrets were struck out.
    """
    assert {planted.secrets[name] for name in (*KEYS, MAIL)} <= planted.sent
    assert b"login_refused" in planted.outputs["command doctor"]
    log, prompts = planted.outputs["log"].decode(), planted.outputs["prompts"].decode()
    assert " DEBUG " in log
    assert "httpcore" in log
    assert "Traceback" in log
    assert "[secret]" in log
    assert all(word in prompts for word in WORDS)
    journal = planted.outputs["table sheets"] + planted.outputs["table payloads"]
    assert b"[secret]" in journal
    for verb in LEAKING:
        assert verb.encode() in journal


@pytest.mark.parametrize("before", ["", "u", "us", "user:"])
def test_the_search_sees_base64(before: str, tmp_path: Path) -> None:
    """A secret that an output has in base64 is found, alone and as the password of HTTP Basic."""
    place = Planted(tmp_path, {"key": "sk-0123456789abcdef"})
    place.keep("header", base64.b64encode(f"{before}{place.secrets['key']}".encode()))
    assert place.leaks() == ["key in header"]


def test_no_secret_is_in_any_output(planted: Planted) -> None:
    """Journal, database files, log at level debug, prompts, answers, refusals, metrics, commands,
    backup: none holds any of them, in any spelling.
    """
    assert len(planted.outputs) > 50
    assert planted.leaks() == []


WRONG_TOML = {
    "a key in the file": (
        '[models.default]\nprovider = "openai"\nmodel = "m"\napi_key = "{secret}"\n'
    ),
    "a key in an endpoint": (
        '[models.default]\nprovider = "openai"\nmodel = "m"\n'
        'base_url = "http://user:{secret}@127.0.0.1:1/v1"\n'
    ),
    "a key in a query": (
        '[models.default]\nprovider = "openai"\nmodel = "m"\n'
        'base_url = "http://127.0.0.1:1/v1?key={secret}"\n'
    ),
    "a user in a fetched URL": '[verbs]\nurls = ["https://user:{secret}@example.org/"]\n',
    "a key for a variable": (
        '[models.default]\nprovider = "openai"\nmodel = "m"\nkey_env = "sk-{secret}"\n'
    ),
    "a table that is none": '[models]\ndefault = "{secret}"\n',
}


@pytest.mark.parametrize("where", list(WRONG_TOML))
def test_a_secret_in_the_wrong_place_is_refused_without_it(where: str, tmp_path: Path) -> None:
    """Where a secret must not stand the start is refused in one line that names the place and not
    the secret.
    """
    secret = secrets.token_hex(16)
    (tmp_path / "ordain.toml").write_text(WRONG_TOML[where].format(secret=secret), encoding="utf-8")
    said = io.StringIO()
    with redirect_stderr(said):
        code = main(["doctor", "--data-dir", str(tmp_path)])
    assert code == 2
    assert said.getvalue().count("\n") == 1
    assert secret[8:24] not in said.getvalue()
