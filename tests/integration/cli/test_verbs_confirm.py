"""``ordain verbs confirm``, and what list, lint, show and explain say of declarations; and the same
beside a real server.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ordain.cli import main
from ordain.verbs.confirmed import FILE, read_confirmed
from tests.e2e.process import Server

Said = Callable[..., tuple[int, Any]]
PUT = """\
name: item.put
description: Put an item.
effect: private
idempotent: true
http: {method: PUT, url: "https://crm.example.com/items", hosts: [crm.example.com]}
arguments: {text: {role: content}}
input_schema:
  type: object
  properties: {text: {type: string, maxLength: 20, description: The text.}}
  required: [text]
  additionalProperties: false
output_schema: {type: object, properties: {ok: {type: boolean}}}
example: {input: {text: a}}
"""


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs a command over a folder of its own: its exit code, and what it printed as JSON (a
    refusal: as text).
    """

    def run(*arguments: str, as_json: bool = True) -> tuple[int, Any]:
        code = main(
            ["verbs", *arguments, "--data-dir", str(tmp_path), *(["--json"] if as_json else [])]
        )
        said = capsys.readouterr()
        return code, json.loads(said.out) if as_json and said.out else said.out + said.err

    return run


def put(home: Path, text: str = PUT) -> None:
    (home / "verbs").mkdir(exist_ok=True)
    (home / "verbs" / "item.put.yaml").write_text(text, encoding="utf-8")


def test_a_declaration_is_confirmed_once(run: Said, tmp_path: Path) -> None:
    """What is new is unconfirmed; confirmed it stays so, until it changes; the others are not asked
    about again.
    """
    put(tmp_path)
    run("new", "tell.about")
    confirming = f"ordain verbs confirm --data-dir {tmp_path} item.put tell.about"
    assert f"unconfirmed: item.put, tell.about ({confirming})" in run("list", as_json=False)[1]
    code, done = run("confirm", "item.put")
    assert (code, list(done["confirmed"]), done["already"]) == (0, ["item.put"], [])
    # as approvals name whoever sits here
    assert read_confirmed(tmp_path / FILE)["item.put"].by == f"local:{os.geteuid()}"
    assert run("confirm", "item.put", "math.evaluate")[1] == {
        "confirmed": {},
        "already": ["item.put", "math.evaluate"],
    }
    assert list(run("confirm", "--all")[1]["confirmed"]) == ["tell.about"]
    assert "unconfirmed" not in run("list", as_json=False)[1]
    put(tmp_path, PUT.replace("role: content", "role: label"))
    assert "unconfirmed: item.put (" in run("list", as_json=False)[1]
    assert "active, unconfirmed" in run("show", "item.put", as_json=False)[1]
    assert not run("explain", "item.put")[1]["confirmed"]
    assert "confirmed: item.put, effect send" in run("confirm", "--all", as_json=False)[1]
    assert "nothing is unconfirmed" in run("confirm", "--all", as_json=False)[1]


def test_what_cannot_be_confirmed_is_refused(run: Said, tmp_path: Path) -> None:
    """Nothing named, a verb that is not there, a name with line ends, a file of confirmations that
    is not to be used: nothing is written.
    """
    put(tmp_path)
    assert run("confirm", as_json=False)[0] == 2
    assert run("confirm", "item.put", "--all", as_json=False)[0] == 2
    code, said = run("confirm", "no.such", as_json=False)
    assert (code != 0, "there is no verb no.such" in said) == (True, True)
    code, said = run("confirm", "item.put\nall is well", as_json=False)
    assert (code != 0, "\nall is well" in said) == (True, False)
    assert run("new", "tell\n", as_json=False)[0] == 2
    kept = tmp_path / "confirmed-verbs.json"
    assert not kept.exists()
    kept.write_text("[", encoding="utf-8")
    code, said = run("confirm", "item.put", as_json=False)
    assert (code, "no file of confirmations" in said, kept.read_text(encoding="utf-8")) == (
        2,
        True,
        "[",
    )


def test_what_is_stricter_than_written_is_told(run: Said, tmp_path: Path) -> None:
    """Lint refuses it at its line, list, show and explain tell of it; the file is in use all the
    same.
    """
    put(tmp_path)
    code, found = run("lint", "item.put")
    assert (code, found["errors"]) == (1, 1)
    (error,) = [one for one in found["findings"] if one["severity"] == "error"]
    assert error["line"] == 3
    assert error["message"].startswith(
        "stricter than written: PUT is at least send beyond a private host: effect send, not "
        "private"
    )
    put(tmp_path, PUT.replace("effect: private", "effect: admin"))
    assert run("lint", "item.put")[0] == 0
    put(tmp_path)
    listed = run("list")[1]
    (verb,) = [one for one in listed["verbs"] if one["verb_id"] == "item.put"]
    assert (
        verb["effect"],
        verb["declared_effect"],
        verb["trust_class"],
        verb["risk"]["side_effects"],
    ) == (
        "send",
        "private",
        "skill",
        "external",
    )
    assert [(one["code"], one["file"], one["warning"]) for one in listed["problems"]] == [
        ("effect_raised", "item.put.yaml", True)
    ]
    assert "stricter than written: " in run("list", as_json=False)[1]
    assert "PUT is at least send" in run("show", "item.put", as_json=False)[1]
    told = run("explain", "item.put")[1]
    assert (told["effect"], told["trust_class"], told["decisions"][0]["reason"]) == (
        "send",
        "skill",
        "authorize.approval_not_available",
    )
    said = run("explain", "item.put", as_json=False)[1]
    assert "comes from: skill; its declaration is not confirmed" in said


def test_a_get_that_sends_arguments_out_is_taken_up_as_one_that_does(
    run: Said, tmp_path: Path
) -> None:
    """A file that calls it a read is in use at `egress`, and lint refuses it at its line: it keeps
    no other verb from being taken up.
    """
    put(
        tmp_path,
        PUT.replace("method: PUT", "method: GET")
        .replace("effect: private", "effect: read")
        .replace("/items", "/items/{text}"),
    )
    _, listed = run("list")
    verb = next(one for one in listed["verbs"] if one["verb_id"] == "item.put")
    assert (verb["effect"], verb["declared_effect"]) == ("egress", "read")
    assert [(one["code"], one["warning"]) for one in listed["problems"]] == [
        ("effect_raised", True)
    ]
    (error,) = [one for one in run("lint", "item.put")[1]["findings"] if one["severity"] == "error"]
    assert error["message"].startswith(
        "stricter than written: GET is at least egress beyond a private host: effect egress, "
        "not read"
    )


def test_lint_tells_what_no_file_says(run: Said, tmp_path: Path) -> None:
    """Where a verb comes from and how it was raised are no keys of a file; that memory is not
    sensitive is not believed.
    """
    put(
        tmp_path,
        PUT.replace("idempotent: true", "trust_class: native").replace(
            "output_schema:", "recall_profile: x\noutput: {ok: {sensitive: false}}\noutput_schema:"
        ),
    )
    messages = [one["message"] for one in run("lint", "item.put")[1]["findings"]]
    assert any(
        message.startswith("trust_class: what Ordain itself finds") for message in messages
    ), messages
    put(
        tmp_path,
        PUT.replace(
            "output_schema:", "recall_profile: x\noutput: {ok: {sensitive: false}}\noutput_schema:"
        ),
    )
    messages = [one["message"] for one in run("lint", "item.put")[1]["findings"]]
    assert any(message.startswith("output ok is sensitive") for message in messages), messages


def test_a_server_takes_up_what_is_confirmed(tmp_path: Path) -> None:
    """Beside a real server: `/health` counts, `GET /verbs` says which, and a confirmation is taken
    up with the next reload.
    """
    server = Server(tmp_path / "home")
    (server.home / "ordain.toml").write_text("[verbs]\nwatch_ms = 0\n", encoding="utf-8")
    put(server.home)
    with server:
        health = server.http.get("/health").json()
        assert (health["verb_problems"], health["verb_warnings"], health["verbs_unconfirmed"]) == (
            0,
            1,
            1,
        )
        verb = server.http.get("/verbs/item.put").json()
        assert (verb["confirmed"], verb["effect"], "at least send" in verb["effect_raised"]) == (
            False,
            "send",
            True,
        )
        assert main(["verbs", "confirm", "item.put", "--data-dir", str(server.home)]) == 0
        assert json.loads(server.cli("verbs", "reload", "--json").stdout)["changed"]
        assert server.http.get("/health").json()["verbs_unconfirmed"] == 0
        assert server.http.get("/verbs/item.put").json()["confirmed"]
