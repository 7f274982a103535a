"""``ordain wording`` and ``ordain replay --wording``, as an operator uses them; in this process."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ordain.app import Extras, Ordain
from ordain.cli import main
from ordain.contracts.profiles import ModelProfile
from ordain.models.scripted import ScriptedModel, make_script
from ordain.settings import load_settings
from ordain.store.folder import FILE
from ordain.wording.engines import NEWEST
from ordain.wording.languages import shipped_table
from tests.shapes.stored_journal import journal_of

Said = Callable[..., tuple[int, Any]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs a command over a folder of its own: its exit code, and what it printed as JSON (a
    refusal: as text).
    """

    def run(*arguments: str, as_json: bool = True) -> tuple[int, Any]:
        code = main([*arguments, "--data-dir", str(tmp_path), *(["--json"] if as_json else [])])
        said = capsys.readouterr()
        return code, json.loads(said.out) if as_json and said.out else said.out + said.err

    return run


def own(folder: Path, text: str) -> Path:
    """A folder with one file of phrases."""
    folder.mkdir(exist_ok=True)
    (folder / "own.toml").write_text(text, encoding="utf-8")
    return folder


def test_list_names_languages_and_table(run: Said, tmp_path: Path) -> None:
    """Every shipped language with its phrases, one's own with their file, and what they come to."""
    code, before = run("wording", "list")
    assert (code, before["engine"], before["digest"]) == (0, NEWEST, shipped_table().digest)
    assert {"English", "German", "Japanese"} <= {one["language"] for one in before["languages"]}
    assert sum(one["phrases"] for one in before["languages"]) > 11_000
    own(tmp_path / "wording", "language = 'Swabian'\n[phrases]\nstop = 'hald gosch'\n")
    _, after = run("wording", "list")
    assert after["languages"][-1] == {
        "language": "Swabian",
        "phrases": 1,
        "words": 0,
        "file": str(tmp_path / "wording" / "own.toml"),
    }
    assert after["digest"] != before["digest"]
    assert "Swabian" in run("wording", "list", as_json=False)[1]


def test_explain_tells_pieces_and_cues(run: Said, tmp_path: Path) -> None:
    """What each piece is taken for, and the features that follow; with one's own words."""
    own(tmp_path / "wording", "[phrases]\nstop = 'hald gosch'\n")
    code, told = run("wording", "explain", "Hald gosch, bitte!")
    assert (code, told["cues"]) == (
        0,
        {"words": 3, "stop": 2, "steer": 1, "whole": True, "partly": "maybe"},
    )
    assert told["parts"][0] == {"text": "hald gosch", "sign": "stop"}
    assert "stop=2" in run("wording", "explain", "stop", as_json=False)[1]
    assert "(line end)" in run("wording", "explain", "stop\nit", as_json=False)[1]


def test_lint_names_what_contradicts_and_what_is_unusable(run: Said, tmp_path: Path) -> None:
    """Errors and warnings with file and line; exit code 1 where there is an error, with --strict
    where there is anything.
    """
    assert run("wording", "lint") == (0, {"files": 0, "errors": 0, "warnings": 0, "findings": []})
    folder = own(tmp_path / "mine", "[phrases]\nstop = 'weiter'\n")
    code, found = run("wording", "lint", str(folder))
    assert (code, found["errors"], [one["found"] for one in found["findings"]]) == (
        0,
        0,
        ["contradicts"],
    )
    assert run("wording", "lint", str(folder), "--strict")[0] == 1
    own(folder, "[phrases]\nstop = 'knofi'\nthanks = 'knofi | merci'\n")
    (folder / "broken.toml").write_text("[phrases]\nstop = 5\n", encoding="utf-8")
    code, said = run("wording", "lint", str(folder), as_json=False)
    assert code == 1
    assert f"{folder}/broken.toml:2: error: stop: a text with phrases" in said
    assert f"{folder}/own.toml:3: error: thanks: 'knofi'" in said
    assert f"{folder}/own.toml:3: warning: thanks: 'merci'" in said
    assert "1 files, 3 errors, 1 warnings" in said
    assert run("wording", "lint", str(tmp_path / "nowhere"))[0] == 2
    assert run("wording", "explain", "x", as_json=False)[0] == 0
    own(tmp_path / "wording", "[phrases]\nstop = 5\n")
    code, said = run("wording", "explain", "x", as_json=False)
    assert (code, "own.toml:2" in said) == (2, True)


async def test_replay_compares_with_another_wording(run: Said, tmp_path: Path) -> None:
    """Which decisions about messages would be others, by session and number; what was erased is not
    judged, and a difference is no failure.
    """
    profile = ModelProfile(provider="scripted", model="scripted", script="in memory")
    settings = load_settings({}, tmp_path).model_copy(update={"profiles": {"default": profile}})
    model = ScriptedModel(make_script(verbs={"chat_general": [{"content": "Hello."}] * 9}))
    async with Ordain(settings, extras=Extras(models={"default": model})) as ordain:
        await ordain.chat("thanks!", session="one")
        await ordain.chat("knofi", session="one")
        gone = await ordain.chat("knofi", session="two")
        await ordain.runtime.operators.erase(str(gone.run_id), by="test", why="asked")
    folder = own(tmp_path / "mine", "[phrases]\nthanks = 'knofi'\nstop = 'thanks'\n")
    code, found = await asyncio.to_thread(run, "replay", "--all", "--wording", str(folder))
    one, two = found["sessions"]
    assert (
        code,
        one["session"],
        one["judged"],
        one["unjudged"],
        two["judged"],
        two["unjudged"],
    ) == (0, "one", 2, 0, 0, 1)
    assert [
        (flip["address"], flip["recorded"].split()[0], flip["now"].split()[0])
        for flip in one["flips"]
    ] == [
        ("1/attach", "attach.filler", "attach.nothing_to_stop"),
        ("2/attach", "attach.new_request", "attach.filler"),
    ]
    _, said = await asyncio.to_thread(
        run, "replay", "--all", "--wording", str(folder), as_json=False
    )
    assert (
        "2 of 2 decisions would be others, each in the state that was; 1 not judged: erased" in said
    )
    assert (await asyncio.to_thread(run, "replay", str(gone.run_id), "--wording", str(folder)))[
        0
    ] == 0
    with closing(journal_of(sqlite3.connect(tmp_path / FILE, isolation_level=None))) as database:
        (damaged,) = database.execute("SELECT id FROM runs ORDER BY no LIMIT 1").fetchone()
        database.execute(
            "UPDATE journal SET kind = 'none' WHERE seq = 1 AND run = (SELECT no FROM runs WHERE "
            "id = ?)",
            (damaged,),
        )
    code, found = await asyncio.to_thread(run, "replay", "--all", "--wording", str(folder))
    assert (code, [(one["run"], one["verdict"]) for one in found["runs"]]) == (
        1,
        [(damaged, "journal_corrupt")],
    )
    assert [one["judged"] for one in found["sessions"]] == [2, 0]
    assert (
        await asyncio.to_thread(run, "replay", "--all", "--wording", str(tmp_path / "nowhere"))
    )[0] == 2
    assert (
        await asyncio.to_thread(
            run, "replay", "--all", "--wording", str(folder), "--policy", str(folder / "own.toml")
        )
    )[0] == 2
    (folder / "own.toml").write_text("[phrases]\nstop = 5\n", encoding="utf-8")
    assert (await asyncio.to_thread(run, "replay", "--all", "--wording", str(folder)))[0] == 2
