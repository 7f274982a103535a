"""``ordain config``, as an operator uses it, over a data folder of its own; and beside a server
that uses what it wrote.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ordain.cli import main
from ordain.contracts.pinned import CONFIG_BYTES, HELD_FOR_LATER, PROMPT_CHARS
from tests.shapes.talk import House

Said = Callable[..., tuple[int, Any]]
SESSION = "profile-pin:session:telegram:chat/1@x"


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs a command over a folder of its own: its exit code, and what it printed as JSON (a
    refusal: as text).
    """

    def run(*arguments: str, as_json: bool = True) -> tuple[int, Any]:
        code = main(
            [
                "config",
                *arguments,
                "--data-dir",
                str(tmp_path / "home"),
                *(["--json"] if as_json else []),
            ]
        )
        said = capsys.readouterr()
        return code, json.loads(
            said.out
        ) if as_json and said.out and not said.err else said.out + said.err

    return run


def test_set_changes_what_is_named(run: Said) -> None:
    """A part of a record is set by its name, camelCase or as options are written; all else stays,
    and each change is a version.

    PRF-02 "Profile contents, each its own field:"
    """
    assert run(
        "set",
        "profile",
        "writer",
        "--systemPrompt",
        "Be brief.",
        "--providers.writing",
        "sonnet",
        "--safety.mode=guarded",
    ) == (
        0,
        {
            "outcome": "applied",
            "version": 1,
            "changed": True,
            "resourceType": "profile",
            "resourceId": "writer",
        },
    )
    assert (
        run(
            "set",
            "profile",
            "writer",
            "--mcp-servers",
            "files, web",
            "--skills",
            "[]",
            "--heartbeat.enabled",
            "true",
        )[0]
        == 0
    )
    assert (
        run(
            "set",
            "profile",
            "writer",
            "--safety.expiresS",
            "60",
            "--safety.notRequester",
            "true",
            "--providers.writing=",
        )[0]
        == 0
    )
    code, found = run("get", "profile", "writer")
    config = found["config"]
    assert (code, found["version"], found["workspace"], found["by"]) == (
        0,
        3,
        "default",
        f"local:{os.geteuid()}",
    )
    assert set(config) == {
        *("providers", "systemPrompt", "skills", "mcpServers", "plugins", "heartbeat", "safety"),
        *("allowedHandoffTargets", "allowedHandoffModes", "defaultHandoffMode", "maxFanoutAgents"),
    }
    assert (
        config["systemPrompt"],
        config["providers"],
        config["skills"],
        config["mcpServers"],
    ) == ("Be brief.", {}, [], ["files", "web"])
    assert config["safety"] == {"mode": "guarded", "notRequester": True, "expiresS": 60}
    assert config["heartbeat"]["enabled"] is True


def test_history_tells_what_each_version_changed(run: Said) -> None:
    """Newest first, with who wrote it and what it says other than the one before; a removal stays
    in it.
    """
    run("set", "profile", "writer", "--skills", "a,b")
    run("set", "profile", "writer", "--skills", "a", "--maxFanoutAgents", "5")
    run("set", "profile", "writer", "--remove")
    code, found = run("history", "profile", "writer")
    assert code == 0
    assert [(one["version"], one["config"] is None) for one in found["versions"]] == [
        (3, True),
        (2, False),
        (1, False),
    ]
    assert found["next"] is None
    code, said = run("history", "profile", "writer", as_json=False)
    lines = [line.split("  ")[-1].strip() for line in said.splitlines()]
    assert lines == [
        "what changed",
        "removed",
        'maxFanoutAgents=5, skills=["a"]',
        'skills=["a", "b"]',
    ]
    code, page = run("history", "profile", "writer", "--limit", "1", "--before", "3")
    assert [one["version"] for one in page["versions"]] == [2]
    assert page["next"] == 2


def test_what_nothing_reads_yet_is_said(run: Said) -> None:
    """Parts of a profile that no flow of this build reads are stored and shown, and the command
    says which those are.
    """
    modes = (
        "--allowedHandoffModes",
        "direct,delegate",
        "--defaultHandoffMode",
        "delegate",
        "--maxFanoutAgents",
        "7",
    )
    assert run("set", "profile", "writer", "--allowedHandoffTargets", "critic", *modes)[0] == 0
    code, said = run("get", "profile", "writer", as_json=False)
    assert code == 0
    assert (
        said.splitlines()[-1]
        == f"stored and shown, nothing reads them yet: {', '.join(HELD_FOR_LATER)}"
    )
    shown = dict(line.split(None, 1) for line in said.splitlines()[2:-1])
    assert (shown["maxFanoutAgents"], shown["defaultHandoffMode"]) == ("7", '"delegate"')
    assert shown["allowedHandoffTargets"] == '["critic"]'


def test_expected_versions(run: Said) -> None:
    """Whoever expects another version than stands is rejected with what stands, and nothing is
    written; 0 expects none.
    """
    assert run("set", "profile", "writer", "--skills", "a", "--expected-version", "0")[0] == 0
    code, said = run("set", "profile", "writer", "--skills", "b", "--expected-version", "0")
    assert (code, "[version_conflict]" in said or "version_conflict" in said) == (1, True)
    assert '"outcome": "rejected"' in said
    assert (
        run("set", "profile", "writer", "--skills", "b", "--expected-version", "1")[1]["version"]
        == 2
    )
    code, said = run("set", "profile", "writer", "--skills", "b")
    assert (said["version"], said["changed"]) == (2, False)
    assert run("get", "profile", "writer")[1]["version"] == 2


def test_a_file_is_the_whole_record(run: Said, tmp_path: Path) -> None:
    """What the file does not name is as shipped again."""
    file = tmp_path / "writer.json"
    file.write_text(json.dumps({"systemPrompt": "Be long."}), encoding="utf-8")
    run("set", "profile", "writer", "--skills", "a")
    assert run("set", "profile", "writer", "--file", str(file))[0] == 0
    config = run("get", "profile", "writer")[1]["config"]
    assert (config["systemPrompt"], config["skills"]) == ("Be long.", ["*"])
    for text in ("[]", "{", '"x"', "[" * 100_000, '{"systemPrompt": "' + "x" * CONFIG_BYTES + '"}'):
        file.write_text(text, encoding="utf-8")
        assert run("set", "profile", "writer", "--file", str(file))[0] == 2
    assert run("get", "profile", "writer")[1]["version"] == 2


def test_pins_and_which_holds(run: Said) -> None:
    """A pin says where it holds; what holds for a session, and by which pin, is told, and a pin
    that leads nowhere is told when it is set.

    PRF-05 "Resolution order session override → workspace default → global default."
    """
    for name, more in (("x", ()), ("y", ()), ("z", ("--everywhere",))):
        assert run("set", "profile", name, "--systemPrompt", name, *more)[0] == 0
    pins = {SESSION: "x", "profile-pin:workspace:default": "y", "profile-pin:global": "z"}
    for pin, name in pins.items():
        assert run("set", "policy", pin, "--profile", name)[0] == 0
    for pin, name in pins.items():
        code, found = run("which", "telegram:chat/1@x")
        assert (code, found["outcome"]["profile"], found["reason"]) == (
            0,
            name,
            f"profile.{pin.split(':')[1]}",
        )
        assert run("set", "policy", pin, "--remove")[0] == 0
    assert run("which", "telegram:chat/1@x")[1]["reason"] == "profile.policy"
    code, said = run("set", "policy", SESSION, "--profile", "gone", as_json=False)
    assert code == 0
    assert "there is no profile gone in default" in said
    code, said = run("which", "telegram:chat/1@x", as_json=False)
    assert (code, said.startswith("gone (session): profile.not_found")) == (1, True)
    assert [one["resourceId"] for one in run("list", "policy")[1]["records"]] == [SESSION]
    assert [one["resourceId"] for one in run("list", "profile")[1]["records"]] == ["x", "y"]
    assert [one["resourceId"] for one in run("list", "profile", "--everywhere")[1]["records"]] == [
        "z"
    ]


def test_a_pin_for_every_workspace_may_lead_to_ones_own(run: Said) -> None:
    """A workspace's own profile of that name holds there; for all others it leads nowhere, which is
    said so.
    """
    assert run("set", "profile", "own", "--systemPrompt", "x")[0] == 0
    code, said = run("set", "policy", "profile-pin:global", "--profile", "own", as_json=False)
    assert (
        code,
        "pinned to it in a workspace that has none of its own fails with profile_not_found" in said,
    ) == (0, True)
    assert run("which", "s1")[1]["outcome"]["profile"] == "own"


def test_a_workspaces_pin_is_in_its_workspace(run: Said) -> None:
    """Whoever pins a workspace need not say it twice."""
    assert run("set", "policy", "profile-pin:workspace:team-a", "--profile", "x")[0] == 0
    assert run("list", "policy")[1]["records"] == []
    assert [
        one["workspace"] for one in run("list", "policy", "--workspace", "team-a")[1]["records"]
    ] == ["team-a"]
    assert run("get", "policy", "profile-pin:workspace:team-a")[0] == 0


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            ("--defaultHandoffMode", "delegate"),
            (
                "it is no config of a profile: defaultHandoffMode is one of allowedHandoffModes "
                "[invalid_config]"
            ),
        ),
        (
            ("--maxFanoutAgents", "1"),
            (
                "it is no config of a profile: maxFanoutAgents: should be greater than or "
                "equal to 2 "
                "[invalid_config]"
            ),
        ),
        (
            ("--safety.expiresS", "0"),
            (
                "it is no config of a profile: safety.expiresS: should be greater than or "
                "equal to 1 "
                "[invalid_config]"
            ),
        ),
    ],
)
def test_what_is_wrong_with_a_config_is_said_in_words(
    run: Said, settings: tuple[str, ...], told: str
) -> None:
    """The key as it is written, and what is wrong with it, without a library's own words before
    that.
    """
    assert run("set", "profile", "writer", *settings, as_json=False)[1].strip() == f"ordain: {told}"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("set", "profile", "writer", "--nope", "1"), 2, "unknown_key"),
        (("set", "profile", "writer", "--safety.nope", "1"), 2, "unknown_key"),
        (("set", "profile", "writer", "--skills.nope", "1"), 2, "unknown_key"),
        (("set", "profile", "writer", "--safety.mode", "soft"), 2, "invalid_config"),
        (("set", "profile", "writer", "--safety", "{}", "--safety.mode.x", "1"), 2, "unknown_key"),
        (("set", "profile", "writer", "--systemPrompt"), 2, "usage"),
        (("set", "profile", "writer", "systemPrompt", "x"), 2, "usage"),
        (("set", "profile", "writer"), 2, "usage"),
        (("set", "profile", "writer", "--remove", "--skills", "a"), 2, "usage"),
        (("set", "profile", "writer", "--maxFanoutAgents", "many"), 2, "invalid_config"),
        (("set", "profile", "writer", "--maxFanoutAgents", "1"), 2, "invalid_config"),
        (("set", "profile", "writer", "--defaultHandoffMode", "delegate"), 2, "invalid_config"),
        (
            ("set", "profile", "writer", "--systemPrompt", "x" * (PROMPT_CHARS + 1)),
            2,
            "invalid_config",
        ),
        (("set", "profile", "writer", "--systemPrompt", "\x1b[2J"), 2, "invalid_config"),
        (("set", "profile", "writer", "--skills", "a\nb"), 2, "invalid_config"),
        (("set", "profile", "writer", "--providers.wri\nting", "x"), 2, "invalid_config"),
        (("set", "profile", "writer", "--providers.writing", "x\n"), 2, "invalid_config"),
        (("set", "profile", "writer", "--heartbeat.activeFromHourUtc", "3"), 2, "invalid_config"),
        (("set", "profile", "wri\nter", "--skills", "a"), 2, "invalid_id"),
        (("set", "profile", "writer\n", "--skills", "a"), 2, "invalid_id"),
        (("set", "profile", "x" * 65, "--skills", "a"), 2, "invalid_id"),
        (("set", "profile", "", "--skills", "a"), 2, "invalid_id"),
        (("set", "policy", "profile-pin:session:", "--profile", "x"), 2, "invalid_id"),
        (("set", "policy", "profile-pin:session:a\nb", "--profile", "x"), 2, "invalid_id"),
        (("set", "policy", "profile-pin:workspace:Team A", "--profile", "x"), 2, "invalid_id"),
        (("set", "policy", "profile-pin:everybody", "--profile", "x"), 2, "invalid_id"),
        (("set", "policy", "profile-pin:global", "--skills", "x"), 2, "unknown_key"),
        (("set", "policy", "profile-pin:global", "--profile", "a b"), 2, "invalid_config"),
        (
            ("set", "policy", "profile-pin:session:s1", "--profile", "x", "--everywhere"),
            2,
            "invalid_id",
        ),
        (
            ("set", "profile", "writer", "--skills", "a", "--workspace", "Nope!"),
            2,
            "invalid_workspace",
        ),
        (("set", "automation", "writer", "--skills", "a"), 2, "unknown_resource"),
        (("set", "profile", "gone", "--remove"), 2, "config_not_found"),
        (("get", "automation", "writer"), 2, "unknown_resource"),
        (("get", "profile", "gone"), 2, "config_not_found"),
        (("history", "profile", "gone"), 2, "config_not_found"),
        (("history", "profile", "writer", "--limit", "0"), 2, "usage"),
    ],
)
def test_what_is_wrong_is_said(run: Said, arguments: tuple[str, ...], code: int, says: str) -> None:
    """A wrong argument is one line with a code of its own; nothing is written of it."""
    assert run("set", "profile", "kept", "--skills", "a")[0] == 0
    found, said = run(*arguments, as_json=False)
    assert (found, said.count("\n"), f"[{says}]" in said) == (code, 1, True), said
    assert [one["resourceId"] for one in run("list", "profile")[1]["records"]] == ["kept"]
    assert run("list", "policy")[1]["records"] == []


def test_reading_makes_no_folder(run: Said, tmp_path: Path) -> None:
    """Where there is no data, looking says so and leaves nothing."""
    assert run("get", "profile", "x")[0] == 2
    assert not (tmp_path / "home").exists()


async def test_a_running_server_uses_it_at_the_next_turn(run: Said, tmp_path: Path) -> None:
    """What the command writes beside a server that is at work holds for the next turn, and its
    removal too.
    """
    async with House(tmp_path / "home") as house:
        await asyncio.to_thread(run, "set", "profile", "writer", "--skills", "chat_general")
        await asyncio.to_thread(
            run, "set", "policy", "profile-pin:session:s1", "--profile", "writer"
        )
        await house.say("hello")
        await asyncio.to_thread(run, "set", "policy", "profile-pin:session:s1", "--remove")
        await house.say("hello again")
        rows = house.query(
            "SELECT json_extract(body, '$.reason') FROM journal WHERE kind = 'decision' AND name "
            "= 'profile'"
        )
        assert rows == [("profile.session",)]
