"""`ordain models`: setting profiles up, looking at them, trying them, taking them away; over a
folder of its own.
"""

import fcntl
import json
import os
import shutil
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordain.cli import main
from ordain.cli.profile_files import (
    SettingsFiles,
    drop_profile,
    put_lanes,
    put_profile,
    shipped_policy,
)
from ordain.settings import load_settings
from tests.e2e.model_endpoint import ModelEndpoint
from tests.integration.cli.terminal import Terminal
from tests.lanes import examples

KEY = "sk-ABCdef0123456789abcdefghij"
OWN = """# my own words
node = "here"   # kept

[verbs]
threads = 3  # kept too

[models.first]   # the first one
provider = "openai"
model = "m"
base_url = "http://127.0.0.1:9"
"""
WORD = {"word": "kestrel-4417"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "ordain.toml").write_text(OWN, encoding="utf-8")
    return tmp_path


@pytest.fixture
def endpoint() -> Iterator[ModelEndpoint]:
    with ModelEndpoint() as found:
        yield found


class Told:
    """What commands over one folder printed."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self._capsys = home, capsys
        self.out = self.err = ""

    def run(self, *words: str) -> int:
        code = main([*words, "--data-dir", str(self.home)])
        self.out, self.err = self._capsys.readouterr()
        return code

    def json(self, *words: str) -> Any:
        self.run(*words, "--json")
        return json.loads(self.out)

    def refused(self, *words: str) -> str:
        """The code of the error; the folder must be as it was."""
        before = files(self.home)
        assert self.run(*words, "--json") == 2 or json.loads(self.err)["error"]["code"] in {
            "profile_exists",
            "in_use",
            "settings_busy",
        }
        assert files(self.home) == before
        return json.loads(self.err)["error"]["code"]


@pytest.fixture
def told(home: Path, capsys: pytest.CaptureFixture[str]) -> Told:
    return Told(home, capsys)


def files(home: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes() for path in sorted(home.iterdir()) if path.suffix == ".toml"
    }


def test_a_profile_is_added_beside_what_stands_there(told: Told) -> None:
    """A profile is written below what people wrote, which stays to the letter; a list price comes
    with its day, the key by reference.
    """
    assert (
        told.run(
            "models",
            "add",
            "claude",
            "--provider",
            "anthropic",
            "--model",
            "claude-sonnet-4-5",
            "--no-test",
        )
        == 0
    )
    text = (told.home / "ordain.toml").read_text()
    assert text.startswith(OWN)
    written = tomllib.loads(text)["models"]["claude"]
    assert written["provider"] == "anthropic"
    assert written["usd_micros_per_1k_output"] > written["usd_micros_per_1k_input"] > 0
    assert written["priced_on"] > "2025"
    (tier,) = load_settings({}, told.home).profiles["claude"].tiers
    assert tier.above_tokens > 100_000
    assert tier.usd_micros_per_1k_output > written["usd_micros_per_1k_output"]
    assert f"more than {tier.above_tokens} tokens" in told.out
    assert "missing (set ANTHROPIC_API_KEY)" in told.out
    assert (
        told.refused("models", "add", "claude", "--provider", "openai", "--model", "m", "--no-test")
        == "profile_exists"
    )
    again = (
        "models",
        "add",
        "claude",
        "--provider",
        "openai",
        "--model",
        "own",
        "--base-url",
        "http://127.0.0.1:9",
        "--no-test",
    )
    assert told.run(*again, "--replace") == 0
    assert (
        tomllib.loads((told.home / "ordain.toml").read_text())["models"]["claude"]["model"] == "own"
    )


def test_a_lane_is_made_from_the_shipped_policy(told: Told) -> None:
    """Without a policy file the shipped one is copied, with every lane named; a second model goes
    before the first behind its lane.
    """
    add = ("models", "add", "--provider", "openai", "--base-url", "http://127.0.0.1:9", "--no-test")
    assert told.run(*add, "second", "--model", "m2", "--lane", "brain") == 0
    policy = (told.home / "policy.toml").read_text()
    assert [line for line in shipped_policy().splitlines() if line not in policy.splitlines()] == []
    lanes = {"local": ["first"], "worker": ["first"], "brain": ["second", "first"]}
    assert tomllib.loads(policy)["lanes"]["profiles"] == lanes
    assert told.run(*add, "third", "--model", "m3", "--lane", "brain", "--lane", "worker") == 0
    lanes |= {"worker": ["third", "first"], "brain": ["third", "second", "first"]}
    assert tomllib.loads((told.home / "policy.toml").read_text())["lanes"]["profiles"] == lanes
    assert stat.S_IMODE((told.home / "policy.toml").stat().st_mode) == 0o600


def test_a_real_model_takes_the_place_of_the_offline_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a folder without models, the first one behind a lane stands behind every lane, and no lane
    is left without a model.
    """
    told = Told(tmp_path / "new", capsys)
    assert (
        told.run(
            "models",
            "add",
            "one",
            "--provider",
            "openai",
            "--model",
            "m",
            "--lane",
            "worker",
            "--no-test",
        )
        == 0
    )
    lanes = load_settings({}, told.home).policy.lanes.profiles
    assert {str(lane): names for lane, names in lanes.items()} == {
        "local": ["one"],
        "worker": ["one"],
        "brain": ["one"],
    }


def test_what_the_environment_adds_is_written_nowhere(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A default profile that exists only while a variable is set never gets into a policy, which
    would not load without it.
    """
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert (
        told.run(
            "models",
            "add",
            "mine",
            "--provider",
            "openai",
            "--model",
            "m",
            "--lane",
            "brain",
            "--no-test",
        )
        == 0
    )
    assert (
        "default"
        not in tomllib.loads((told.home / "policy.toml").read_text())["lanes"]["profiles"]["worker"]
    )
    monkeypatch.delenv("OPENAI_API_KEY")
    assert load_settings({}, told.home).profiles.keys() == {"first", "mine"}
    assert KEY.encode() not in b"".join(files(told.home).values())


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("x",), "missing_option"),
        (("x", "--provider", "openai"), "missing_option"),
        (("x", "--provider", "telepathy", "--model", "m"), "unknown_provider"),
        (("not a name", "--provider", "openai", "--model", "m"), "bad_name"),
        (("x", "--provider", "openai", "--model", "m", "--key-env", KEY), "key_not_stored"),
        (
            (
                "x",
                "--provider",
                "openai",
                "--model",
                "m",
                "--key-env",
                "AIzaSyD3adB33fabcdefghijklm",
            ),
            "key_not_stored",
        ),
        (
            ("x", "--provider", "openai", "--model", "m", "--key-file", "no/such/file"),
            "key_missing",
        ),
        (
            (
                "x",
                "--provider",
                "openai",
                "--model",
                "m",
                "--base-url",
                f"http://me:{KEY}@127.0.0.1",
            ),
            "configuration",
        ),
        (
            ("x", "--provider", "openai", "--model", "m", "--base-url", "file:///etc/passwd"),
            "configuration",
        ),
        (("x", "--provider", "openai", "--model", "m", "--structured", "prayer"), "configuration"),
        (("x", "--provider", "openai", "--model", "m" * 201), "configuration"),
        (("x", "--provider", "openai", "--model", "m", "--lane", "fast"), "unknown_lane"),
        (("x", "--provider", "openai", "--model", "m", "--price-input", "1"), "missing_option"),
        (
            (
                "x",
                "--provider",
                "openai",
                "--model",
                "m",
                "--price-input",
                "much",
                "--price-output",
                "1",
            ),
            "bad_price",
        ),
        (
            (
                "x",
                "--provider",
                "openai",
                "--model",
                "m",
                "--price-input",
                "-1",
                "--price-output",
                "1",
            ),
            "bad_price",
        ),
        (
            (
                "x",
                "--provider",
                "openai",
                "--model",
                "m",
                "--price-input",
                "1e99",
                "--price-output",
                "NaN",
            ),
            "bad_price",
        ),
        (("x", "--provider", "local", "--model", "m"), "no_local_model"),
    ],
)
def test_what_is_wrong_changes_nothing(told: Told, words: tuple[str, ...], code: str) -> None:
    """Every wrong set-up is a typed error, leaves the files as they were, and repeats no key."""
    assert told.refused("models", "add", *words, "--no-test") == code
    assert KEY not in told.out + told.err


def test_settings_that_do_not_load_are_put_back(told: Told) -> None:
    """Where the files could not be loaded after the change, all of them are as before, also one
    that was new.
    """
    (told.home / "policy.toml").write_text(
        "version = 1\n[lanes.profiles]\nbrain = ['first', 'gone']\n", encoding="utf-8"
    )
    assert (
        told.refused(
            "models",
            "add",
            "x",
            "--provider",
            "openai",
            "--model",
            "m",
            "--lane",
            "brain",
            "--no-test",
        )
        == "unknown_profile"
    )
    assert "gone" in told.err


def test_a_key_file_that_others_can_read_is_warned_of(told: Told) -> None:
    """A key in a file is found and used; where others can read the file the command says so, and
    the key is shown nowhere.
    """
    key = told.home / "the.key"
    key.write_text(KEY + "\n", encoding="utf-8")
    key.chmod(0o644)
    add = (
        "models",
        "add",
        "filed",
        "--provider",
        "anthropic",
        "--model",
        "nobody-knows-it",
        "--key-file",
        "the.key",
        "--no-test",
    )
    assert told.run(*add) == 0
    assert f"chmod 600 {key}" in told.err
    assert "key: found (file the.key)" in told.out
    assert "no price: costs count as $0" in told.out
    listed = told.json("models", "list")["models"]
    assert KEY not in told.out
    assert {
        one["name"]: (one["key_found"], one["defined"], one["counts_as_free"]) for one in listed
    } == {
        "first": (False, "ordain.toml", True),
        "filed": (True, "ordain.toml", True),
    }


def test_a_file_is_found_from_where_the_command_is_given(
    told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is there only from the working directory is named whole, so that the profile
    holds wherever it is used.
    """
    away = tmp_path / "away"
    away.mkdir()
    (away / "my.key").write_text(KEY, encoding="utf-8")
    monkeypatch.chdir(away)
    add = (
        "models",
        "add",
        "filed",
        "--provider",
        "openai",
        "--model",
        "m",
        "--key-file",
        "my.key",
        "--no-test",
    )
    assert told.run(*add) == 0
    assert load_settings({}, told.home).secrets["filed"] == KEY
    assert load_settings({}, told.home).profiles["filed"].key_file == str(away / "my.key")


def test_one_call_and_a_verdict(
    told: Told, endpoint: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile that works is told from one that keeps to no schema, with which one can talk all the
    same, from one that cannot be reached and one without its key.
    """
    monkeypatch.setenv("MY_KEY", KEY)
    add = (
        "models",
        "add",
        "--provider",
        "openai",
        "--base-url",
        endpoint.url,
        "--key-env",
        "MY_KEY",
        "--model",
        "m",
    )
    endpoint.answers = [WORD]
    assert told.run(*add, "good", "--price-input", "0.25", "--price-output", "2") == 0
    assert "✓ good (openai: fake-1): answers, and keeps to a schema" in told.out
    assert endpoint.keys == [f"Bearer {KEY}"]
    endpoint.answers = [{"word": "heron"}]
    assert told.run(*add, "loose") == 0
    assert "✓ loose (openai: fake-1): talks, and keeps to no schema" in told.out
    assert "ordain doctor" in told.out
    # what was set up stays: the endpoint may be mended
    assert "loose" in load_settings({}, told.home).profiles
    assert (
        told.run("models", "add", "keyless", "--provider", "openai", "--model", "gpt-4o-mini") == 1
    )
    assert "no_key" in told.out
    assert "OPENAI_API_KEY" in told.out
    again = (
        f"ordain models add --data-dir {told.home} keyless --provider openai --model gpt-4o-mini "
        "--key-env VARIABLE --replace"
    )
    assert again in told.out.splitlines()[-1]
    endpoint.answers = [WORD]
    verdicts = {
        one["profile"]: one
        for one in told.json("models", "test", "good", "first", "keyless")["verdicts"]
    }
    assert [verdicts[name]["code"] for name in ("good", "first", "keyless")] == [
        "",
        "connection",
        "no_key",
    ]
    assert verdicts["good"]["usd_micros"] == -(-(100 * 250 + 7 * 2000) // 1000)
    assert all(verdict["advice"] for verdict in verdicts.values() if not verdict["ok"])
    assert KEY not in told.out + told.err
    assert told.refused("models", "test", "nobody") == "unknown_profile"


def test_the_offline_rules_say_that_they_are_no_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without any model, list and test say what answers instead."""
    told = Told(tmp_path, capsys)
    (listed,) = told.json("models", "list")["models"]
    assert (listed["provider"], listed["counts_as_free"], listed["key"], listed["lanes"]) == (
        "offline",
        False,
        "none needed",
        ["local", "worker", "brain"],
    )
    assert told.run("models", "test") == 0
    assert f"no language model; set one up: ordain init --data-dir {told.home}" in told.out
    assert told.run("doctor") == 0
    assert f"no language model; set one up: ordain init --data-dir {told.home}" in told.out


def test_a_profile_is_removed_when_no_lane_names_it(told: Told) -> None:
    """Removing is refused while a lane names the profile, and takes away what was added and nothing
    else.
    """
    before = files(told.home)
    assert (
        told.run("models", "add", "second", "--provider", "openai", "--model", "m", "--no-test")
        == 0
    )
    assert told.run("models", "remove", "second") == 0
    assert tomllib.loads(files(told.home)["ordain.toml"].decode()) == tomllib.loads(
        before["ordain.toml"].decode()
    )
    assert files(told.home)["ordain.toml"].startswith(OWN.encode())
    assert (
        told.run(
            "models",
            "add",
            "third",
            "--provider",
            "openai",
            "--model",
            "m",
            "--lane",
            "local",
            "--no-test",
        )
        == 0
    )
    assert told.refused("models", "remove", "third") == "in_use"
    assert told.refused("models", "remove", "nobody") == "unknown_profile"


def test_two_at_once_do_not_overwrite_each_other(told: Told) -> None:
    """While one process changes the settings another is refused, and loses nothing."""
    with (told.home / ".settings.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert (
            told.refused("models", "add", "x", "--provider", "openai", "--model", "m", "--no-test")
            == "settings_busy"
        )


def test_a_linked_file_stays_a_link(told: Told) -> None:
    """Settings that are kept elsewhere and linked are changed where they are, with the mode that
    they have.
    """
    kept = told.home / "kept"
    kept.mkdir()
    shutil.move(told.home / "ordain.toml", kept / "settings.toml")
    (kept / "settings.toml").chmod(0o640)
    (told.home / "ordain.toml").symlink_to(kept / "settings.toml")
    assert told.run("models", "add", "x", "--provider", "openai", "--model", "m", "--no-test") == 0
    assert (told.home / "ordain.toml").is_symlink()
    assert "x" in tomllib.loads((kept / "settings.toml").read_text())["models"]
    assert stat.S_IMODE((kept / "settings.toml").stat().st_mode) == 0o640


def test_on_a_terminal_what_is_missing_is_asked_for(home: Path, endpoint: ModelEndpoint) -> None:
    """Without options on a terminal each is asked for with its usual answer; a key typed in place
    of a name is refused unrepeated, and the name is asked for again.
    """
    command = ("models", "add", "typed", "--data-dir", str(home))
    environment = {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"}
    endpoint.answers = [WORD]
    terminal = Terminal(command, environment, columns=240)
    try:
        answers = [
            ("provider", ""),
            ("model:", "m"),
            ("base URL", endpoint.url),
            ("environment variable", KEY),
            ("was not stored\nenvironment variable", "none"),
            ("lanes", "brain"),
        ]
        for question, answer in answers:
            terminal.until(question)
            terminal.type(answer)
        assert terminal.end() == 0, terminal.screen.text
        # as it was typed, and not once more
        assert terminal.screen.text.count(KEY) == 1
    finally:
        terminal.close()
    profile = load_settings({}, home).profiles["typed"]
    assert (profile.provider, profile.model, profile.base_url, profile.key_env) == (
        "openai",
        "m",
        endpoint.url,
        None,
    )


@given(
    name=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,20}", fullmatch=True),
    values=st.dictionaries(
        st.sampled_from(["model", "base_url", "gguf"]), st.text(max_size=40), min_size=1
    ),
    lane=st.lists(st.text(min_size=1, max_size=10), max_size=3),
)
@settings(max_examples=examples(40))
def test_whatever_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, values: dict[str, str], lane: list[str]
) -> None:
    """Any text in a profile is read back as it was given, what stood before stays to the letter,
    and taking it away restores the file.
    """
    file = tmp_path_factory.mktemp("files") / "ordain.toml"
    file.write_text(OWN, encoding="utf-8")
    changed = SettingsFiles(file.parent)
    changed.change(file, lambda document: put_profile(document, f"n-{name}", values, "said"))
    text = file.read_text(encoding="utf-8")
    assert text.startswith(OWN)
    assert tomllib.loads(text)["models"][f"n-{name}"] == values
    changed.change(file, lambda document: put_lanes(document, {"brain": lane}))
    assert tomllib.loads(file.read_text(encoding="utf-8"))["lanes"]["profiles"]["brain"] == lane
    changed.change(file, lambda document: drop_profile(document, f"n-{name}"))
    assert f"n-{name}" not in tomllib.loads(file.read_text(encoding="utf-8"))["models"]
    changed.restore()
    assert file.read_text(encoding="utf-8") == OWN
