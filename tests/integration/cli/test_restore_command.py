"""``ordain restore`` of files that somebody else had in hand: what they planted is not taken over,
and what is refused costs nothing.
"""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ordain.contracts.access import parse_token
from ordain.engines.clock import SystemClock
from ordain.runtime.tokens import fresh_token
from tests.e2e.process import Server, run_cli
from tests.e2e.proposals import add, ask, case, finish

SCRIPT = {"cases": [case("simple", add("6 * 7"), finish("It is 42."))]}


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a folder in which a run was made and a token given."""
    home = tmp_path_factory.mktemp("first") / "home"
    assert run_cli("token", "create", "ci", "--scope", "plan", home=home).returncode == 0
    with Server(home).play(SCRIPT) as server:
        server.plan(ask("simple", request_id="kept"))
    assert run_cli("backup", str(home.parent / "copy.db"), home=home).returncode == 0
    return home.parent / "copy.db"


@pytest.fixture
def copy(backup: Path, tmp_path: Path) -> Path:
    """That backup, in a hostile hand."""
    shutil.copyfile(backup, tmp_path / "copy.db")
    return tmp_path / "copy.db"


def plant(file: Path, *statements: str) -> None:
    """Change a file."""
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)
        db.execute("PRAGMA journal_mode=DELETE")


def minting() -> tuple[str, str]:
    """A trigger that gives a token for everything as soon as an engine takes the folder, and the
    token's text.
    """
    text, parsed = fresh_token(SystemClock())
    assert parse_token(text) is not None
    rows = (
        "INSERT INTO tokens SELECT 99, 'planted', 'admin runs:read runs:operate plan', 'default', "
        "NULL, 1, NULL, NULL, NULL"
        " WHERE NOT EXISTS (SELECT 1 FROM tokens WHERE no = 99);"
        f"INSERT OR IGNORE INTO token_secrets VALUES ('{parsed.id}', 99, "
        f"x'{parsed.digest.hex()}', 1, NULL);"
    )
    return f"CREATE TRIGGER planted AFTER UPDATE ON engine BEGIN {rows} END", text


def listed(home: Path) -> list[dict[str, Any]]:
    """Every token of a folder."""
    found: list[dict[str, Any]] = json.loads(run_cli("token", "list", "--json", home=home).stdout)[
        "tokens"
    ]
    return found


@pytest.mark.parametrize("more", [(), ("--keep-tokens",)])
def test_a_planted_trigger_mints_no_token(
    copy: Path, tmp_path: Path, more: tuple[str, ...]
) -> None:
    """It is left out and named; the run is there, and no token but the ones that were given."""
    trigger, token = minting()
    plant(copy, trigger)
    done = run_cli("restore", str(copy), *more, "--json", home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["runs"], said["replayed"], said["left_out"]) == (1, 1, ["trigger 'planted'"])
    with Server(tmp_path / "home").play(SCRIPT) as server:
        refused = server.http.get("/runs", headers={"Authorization": f"Bearer {token}"})
        assert refused.status_code == 401
    assert [one["name"] for one in listed(tmp_path / "home")] == ["ci"]


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("DELETE FROM ledger WHERE no > 1", "nothing on the ledger"),
        ("DELETE FROM ledger", "nothing on the ledger"),
        (
            (
                "INSERT INTO mailbox(run, kind, addr, key, body, at) VALUES (1, 'answer', 0, "
                "'answer:0', x'7b7d', 1)"
            ),
            "nobody sent it",
        ),
        ("UPDATE runs SET resumes = 3", "deaths"),
    ],
)
def test_what_does_not_hold_to_its_ledger_is_told(
    copy: Path, tmp_path: Path, statement: str, named: str
) -> None:
    """The rows are restored, what is wrong with them is told beside, and the command does not
    succeed; nor does a backup of such a folder.
    """
    plant(copy, statement)
    done = run_cli("restore", str(copy), home=tmp_path / "home")
    assert done.returncode == 1, done.stderr
    assert "NOT AS IT WAS WRITTEN" in done.stdout.decode()
    assert named in done.stdout.decode()
    again = run_cli("backup", str(tmp_path / "again.db"), "--json", home=tmp_path / "home")
    assert again.returncode == 1
    assert json.loads(again.stdout)["ledger"]["verdict"] == "journal_corrupt"
    assert (tmp_path / "again.db").exists()


def test_a_restore_says_what_it_did(copy: Path, tmp_path: Path) -> None:
    """Tokens are revoked and named; with ``--keep-tokens`` they are good, which is said too."""
    done = run_cli("restore", str(copy), home=tmp_path / "home")
    assert done.returncode == 0
    assert "tokens revoked: ci; make new ones" in done.stdout.decode()
    assert "copied into tables made here" in done.stdout.decode()
    assert "NOT AS" not in done.stdout.decode()
    assert [(one["name"], one["state"]) for one in listed(tmp_path / "home")] == [("ci", "revoked")]
    kept = run_cli("restore", str(copy), "--keep-tokens", home=tmp_path / "other")
    assert "tokens kept: 1" in kept.stdout.decode()
    assert [(one["name"], one["state"]) for one in listed(tmp_path / "other")] == [("ci", "live")]


@pytest.mark.parametrize(
    ("statement", "code", "named"),
    [
        ("CREATE TABLE mine(x)", "foreign_schema", "'mine'"),
        ("PRAGMA application_id = 7", "foreign_database", "application id"),
        ("PRAGMA user_version = 99", "newer_schema", "schema version 99"),
        ("UPDATE tokens SET scopes = x'00'", "foreign_value", "scopes"),
    ],
)
def test_a_refused_file_costs_nothing(
    copy: Path, tmp_path: Path, statement: str, code: str, named: str
) -> None:
    """The refusal names the cause, and what stands in the target folder stands there still, with
    nothing beside it.
    """
    plant(copy, statement)
    home = tmp_path / "home"
    home.mkdir()
    (home / "ordain.toml").write_text("", encoding="utf-8")
    done = run_cli("restore", str(copy), home=home)
    assert done.returncode == 2
    assert f"[{code}]" in done.stderr.decode()
    assert named in done.stderr.decode()
    assert [one.name for one in home.iterdir()] == ["ordain.toml"]


def damaged(content: bytes, how: str) -> bytes:
    """A backup's bytes with one of them changed, in the text of its schema or anywhere, or without
    its end.
    """
    at = content.index(b"CREATE TABLE runs") + 20
    return (
        content[: len(content) // 3]
        if how == "cut"
        else content[:at] + bytes([content[at] ^ 0x80]) + content[at + 1 :]
    )


@pytest.mark.parametrize("how", ["flipped", "cut"])
@pytest.mark.parametrize("command", ["restore {0}", "replay --all --backup {0}"])
def test_a_damaged_file_is_named(copy: Path, tmp_path: Path, how: str, command: str) -> None:
    """Also where the damage lies in what says which tables it has."""
    copy.write_bytes(damaged(copy.read_bytes(), how))
    done = run_cli(*command.format(copy).split(), home=tmp_path / "home")
    assert done.returncode in {1, 2}
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"ordain: {copy} is not re")
    assert line.endswith(("[foreign_value]", "[journal_corrupt]", "[no_backup]"))


@pytest.mark.parametrize(
    "command", ["serve", "runs list", "replay --all", "store compact", "backup {copy}"]
)
def test_a_folder_that_brings_a_trigger_is_refused(
    copy: Path, tmp_path: Path, command: str
) -> None:
    """A whole data folder from outside is opened by no command while a trigger stands in it, and
    the way out is named.
    """
    home = tmp_path / "home"
    home.mkdir()
    trigger, _ = minting()
    plant(copy, trigger)
    copy.rename(home / "ordain.db")
    done = run_cli(*command.format(copy=tmp_path / "again").split(), home=home)
    assert done.returncode != 0
    assert "[foreign_schema]" in done.stderr.decode()
    assert "ordain restore" in done.stderr.decode()


def test_a_conversation_that_is_not_as_it_was_written_is_told(tmp_path: Path) -> None:
    """An entry that has gone from a copy: it is restored, said to be altered, by its session, and
    is exit code 1; so is a backup of that folder.
    """
    home, file = tmp_path / "first", tmp_path / "copy.db"
    assert run_cli("chat", "hello", "--session", "s", home=home).returncode == 0
    kept = run_cli("backup", str(file), "--json", home=home)
    said = json.loads(kept.stdout)
    assert (kept.returncode, said["sessions"], said["retold"], said["altered"]) == (0, 1, 1, [])
    plant(file, "DELETE FROM transcript WHERE no = (SELECT max(no) FROM transcript)")
    restored = run_cli("restore", str(file), home=tmp_path / "home")
    assert (
        restored.returncode,
        b"NOT AS IT WAS WRITTEN: session s of workspace default" in restored.stdout,
    ) == (1, True)
    again = run_cli("backup", str(tmp_path / "again.db"), "--json", home=tmp_path / "home")
    assert (again.returncode, [one["session"] for one in json.loads(again.stdout)["altered"]]) == (
        1,
        ["s"],
    )


@pytest.mark.parametrize("command", ["restore", "backup"])
def test_a_copy_that_finds_no_room_is_told_so(backup: Path, tmp_path: Path, command: str) -> None:
    """Where no file may grow that far it is the copy that has no room: nothing is wrong with what
    is copied.
    """
    home, file = tmp_path / "home", tmp_path / "again.db"
    if command == "backup":
        assert run_cli("restore", str(backup), home=home).returncode == 0
    given = file if command == "backup" else backup
    limited = (
        f"ulimit -f 100 && exec {sys.executable} -m ordain {command} {given} --data-dir {home}"
    )
    done = subprocess.run(("sh", "-c", limited), capture_output=True, check=False, timeout=60)
    assert (done.returncode, b"[no_room]" in done.stderr) == (3, True), done.stderr
    assert not file.exists()


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("home/ordain.db-journal", "house_name"),
        ("home/policy.toml", "house_name"),
        ("home/ordain.db", "file_exists"),
        ("kept/b.db", "file_exists"),
        (f"kept/{'b' * 300}", "cannot_write"),
    ],
)
def test_a_backup_that_could_not_be_restored_is_not_made(
    backup: Path, tmp_path: Path, name: str, code: str
) -> None:
    """A name that the next command takes for its own, a log beside that would be played in, a name
    that is too long: refused in one line that names the file, and nothing is written.
    """
    assert run_cli("restore", str(backup), home=tmp_path / "home").returncode == 0
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "b.db-wal").touch()
    before = sorted(tmp_path.rglob("*"))
    done = run_cli("backup", str(tmp_path / name), home=tmp_path / "home")
    (line,) = done.stderr.decode().splitlines()
    assert (done.returncode, line.endswith(f"[{code}]"), str(tmp_path / name) in line) == (
        2,
        True,
        True,
    )
    assert sorted(tmp_path.rglob("*")) == before
