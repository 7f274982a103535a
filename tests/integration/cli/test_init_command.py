"""`ordain init`: from an empty folder to a conversation, on a terminal and without one."""

import json
import os
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ordain.cli import first_choice, main
from ordain.cli.first_run import _written
from ordain.cli.model_setup import Setup
from ordain.cli.options import FirstRun
from ordain.errors import ConfigurationError
from ordain.models import discovery
from ordain.models.discovery import Endpoint
from ordain.settings import load_settings
from tests.e2e.model_endpoint import ModelEndpoint
from tests.integration.cli.terminal import Terminal

WORD = {"word": "kestrel-4417"}
KEY = "sk-ABCdef0123456789abcdefghij"
VARIABLES = ("OPENAI_BASE_URL", "PLANNER_MODEL", *(key for _, key in first_choice.HOSTED.values()))


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    """An Ollama of this machine, where its own variable says; nothing else is set."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with ModelEndpoint() as found:
        found.models = [{"id": "nomic-embed-text"}, {"id": "qwen3:8b"}, {"id": "llama3.2"}]
        monkeypatch.setenv("OLLAMA_HOST", found.url.removesuffix("/v1"))
        # a server of whoever runs the tests is not found: it has a port where nobody listens
        nobody = {use: (title, 1) for use, (title, _) in discovery.USUAL.items()}
        monkeypatch.setattr(discovery, "USUAL", nobody)
        monkeypatch.setattr(discovery, "PROBE_S", 30.0)  # a busy machine is no silent server
        yield found


class Told:
    """What commands over one folder printed."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self._capsys = home, capsys
        self.out = self.err = ""

    def run(self, *words: str) -> int:
        code = main(["init", *words, "--data-dir", str(self.home)])
        self.out, self.err = self._capsys.readouterr()
        return code

    def json(self, *words: str) -> Any:
        assert self.run(*words, "--json") == 0, self.err
        return json.loads(self.out)

    def refused(self, *words: str) -> str:
        """The code of the error; no file may have come or gone."""
        before = {path: path.read_bytes() for path in self.home.rglob("*.toml")}
        assert self.run(*words, "--json") in (1, 2)
        assert {path: path.read_bytes() for path in self.home.rglob("*.toml")} == before
        return json.loads(self.err)["error"]["code"]


@pytest.fixture
def told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Told:
    return Told(tmp_path / "home", capsys)


def first_profiles(home: Path) -> dict[str, list[str]]:
    return {
        str(lane): names for lane, names in load_settings({}, home).policy.lanes.profiles.items()
    }


def test_what_runs_on_this_machine_is_taken(told: Told, ollama: ModelEndpoint) -> None:
    """`--yes`: the first model that talks of the first server found, behind every lane, without a
    policy of its own; asked once.
    """
    ollama.answers = [WORD]
    said = told.json("--yes")
    assert (said["use"], said["found"]["ollama"]) == (
        "ollama",
        ["nomic-embed-text", "qwen3:8b", "llama3.2"],
    )
    assert said["verdict"]["ok"] is True
    written = tomllib.loads((told.home / "ordain.toml").read_text())["models"]
    assert written == {
        "ollama": {
            "provider": "openai",
            "model": "qwen3:8b",
            "base_url": ollama.url,
            "timeout_ms": 120_000,
        }
    }
    assert first_profiles(told.home) == {lane: ["ollama"] for lane in ("local", "worker", "brain")}
    assert not (told.home / "policy.toml").exists()


def test_it_ends_in_a_conversation(
    told: Told, ollama: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--chat` goes on into `ordain chat`, here with what is piped in."""
    ollama.answers = [WORD, "Hello from the model."]
    reading, writing = os.pipe()
    os.write(writing, b"Hello\n")
    os.close(writing)
    with os.fdopen(reading) as piped:
        monkeypatch.setattr("sys.stdin", piped)
        assert told.run("--use", "ollama", "--model", "llama3.2", "--chat") == 0, told.err
    assert "> Hello from the model." in told.out
    assert ollama.asked[-1]["model"] == "llama3.2"


def test_nothing_is_chosen_unasked(told: Told, ollama: ModelEndpoint) -> None:
    """Without a terminal, `--use` or `--yes` it says what there is, and changes nothing."""
    assert told.refused() == "missing_option"
    assert "--yes, which here means --use ollama" in json.loads(told.err)["error"]["message"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--use", "olama"), "unknown_use", "did you mean ollama?"),
        (("--use", "ollama", "--model", "quen3:8b"), "unknown_model", "did you mean qwen3:8b?"),
        (("--use", "openai"), "model_missing", "--model"),
        (("--use", "openai", "--model", KEY), "key_not_stored", "looks like a key"),
        (("--use", "endpoint"), "missing_option", "--base-url"),
        (
            ("--use", "anthropic", "--model", "claude-sonnet-4-5", "--key-env", KEY),
            "key_not_stored",
            "never a key",
        ),
        (("--use", "endpoint", "--base-url", "http://127.0.0.1:1/v1"), "no_endpoint", "--model"),
    ],
)
def test_what_is_missing_or_wrong_is_said(
    told: Told, ollama: ModelEndpoint, words: tuple[str, ...], code: str, says: str
) -> None:
    """Each with a code and what to do; nothing was written, and no key repeated."""
    assert told.refused(*words) == code
    assert says in told.err
    assert KEY not in told.err
    assert not (told.home / "ordain.toml").exists()


def test_a_server_without_a_model_says_how_to_get_one(ollama: ModelEndpoint) -> None:
    """Ollama runs, and nobody has pulled a model."""
    found = Endpoint(
        use="ollama", title="Ollama", base_url=ollama.url, models=(), context_tokens={}
    )
    with pytest.raises(ConfigurationError, match="ollama pull MODEL"):
        first_choice.told(FirstRun(use="ollama"), [found])


def test_what_is_set_up_stays(told: Told, ollama: ModelEndpoint) -> None:
    """A second `init` refuses; `--replace` puts its choice in place of the one before, and leaves a
    profile of one's own where it stands.
    """
    assert told.run("--yes", "--no-test") == 0
    own = (
        "models",
        "add",
        "mine",
        "--provider",
        "openai",
        "--model",
        "m",
        "--base-url",
        ollama.url,
        "--no-test",
    )
    assert main([*own, "--data-dir", str(told.home)]) == 0
    assert told.refused("--use", "offline") == "already_set_up"
    assert told.run("--use", "offline", "--replace") == 0, told.err
    assert first_profiles(told.home) == {lane: ["offline"] for lane in ("local", "worker", "brain")}
    assert set(tomllib.loads((told.home / "ordain.toml").read_text())["models"]) == {
        "mine",
        "offline",
    }


def test_a_profile_whose_key_is_gone_can_be_taken_away(told: Told, ollama: ModelEndpoint) -> None:
    """What stops every other command does not stop the one that mends it."""
    told.home.mkdir()
    (told.home / "ordain.toml").write_text(
        '[models.one]\nprovider = "openai"\nmodel = "m"\nkey_file = "keys/one"\n', encoding="utf-8"
    )
    assert main(["chat", "Hello", "--data-dir", str(told.home)]) == 2
    assert main(["models", "remove", "one", "--data-dir", str(told.home)]) == 0
    assert told.run("--use", "ollama", "--no-test") == 0, told.err


KEYLESS = '[models.one]\nprovider = "openai"\nmodel = "m"\nkey_file = "keys/one"\n'
EMBEDDER = (
    '[embedder]\nmodel = "words"\nbase_url = "http://127.0.0.1:9/v1"\nkey_file = "keys/words"\n'
)
HALF: dict[str, tuple[dict[str, str], set[str]]] = {
    "a key file is missing, a lane names its profile": (
        {
            "ordain.toml": KEYLESS,
            "policy.toml": (
                'version = 1\n[lanes.profiles]\nlocal = ["one"]\nworker = ["one"]\n'
                'brain = ["one"]\n'
            ),
        },
        set(),
    ),
    "a key file is empty": ({"ordain.toml": KEYLESS, "keys/one": " \n"}, set()),
    "the embedder's key file is missing": ({"ordain.toml": EMBEDDER}, set()),
    "the embedder's key file is missing, and so is a profile's": (
        {"ordain.toml": KEYLESS + EMBEDDER},
        set(),
    ),
    "no toml": ({"ordain.toml": "[models"}, {"ordain.toml.old-1"}),
    "an unknown key": ({"ordain.toml": "[nope]\n"}, {"ordain.toml.old-1"}),
    "an empty policy": ({"policy.toml": ""}, {"policy.toml.old-1"}),
    "a broken policy": ({"policy.toml": "version = 1\n[lanes"}, {"policy.toml.old-1"}),
    "a named policy that is not there": ({"ordain.toml": 'policy = "mine.toml"\n'}, set()),
    "a named policy that is broken": (
        {"ordain.toml": 'policy = "mine.toml"\n', "mine.toml": "x"},
        {"mine.toml.old-1"},
    ),
    "a lane names no profile": (
        {"policy.toml": 'version = 1\n[lanes.profiles]\nlocal = ["gone"]\n'},
        set(),
    ),
    "both are broken, and were before": (
        {"ordain.toml": "x", "ordain.toml.old-1": "w", "policy.toml": "y"},
        {"ordain.toml.old-1", "ordain.toml.old-2", "policy.toml.old-1"},
    ),
}


@pytest.mark.parametrize("what", HALF)
def test_every_half_set_up_folder_is_got_out_of(
    told: Told, ollama: ModelEndpoint, what: str
) -> None:
    """`--replace` sets aside what cannot be used, throws nothing away, says so, and ends in a
    folder that loads with what was chosen.
    """
    files, aside = HALF[what]
    for name, text in files.items():
        (told.home / name).parent.mkdir(parents=True, exist_ok=True)
        (told.home / name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError):
        load_settings({}, told.home)
    assert told.run("--use", "ollama", "--no-test", "--replace") == 0, told.err
    assert set(map(tuple, first_profiles(told.home).values())) == {("ollama",)}
    assert {path.name for path in told.home.glob("*.old-*")} == aside
    assert "a lane" in what or "ordain: " in told.err
    if "ordain.toml" in files and "ordain.toml.old-1" in aside:
        kept = max(aside & {"ordain.toml.old-1", "ordain.toml.old-2"})
        assert (told.home / kept).read_text() == files["ordain.toml"]


def test_an_embedder_without_its_key_is_told_and_taken_out(
    told: Told, ollama: ModelEndpoint
) -> None:
    """Every other command says what to do about it, and `--replace` says that it is gone."""
    told.home.mkdir()
    (told.home / "ordain.toml").write_text(EMBEDDER, encoding="utf-8")
    with pytest.raises(
        ConfigurationError, match=r"embedder: cannot read .*keys/words.*ordain init --replace"
    ) as refused:
        load_settings({}, told.home)
    assert refused.value.code == "key_missing"
    assert told.run("--use", "ollama", "--no-test", "--replace") == 0, told.err
    assert "taken out: [embedder]" in told.err
    assert load_settings({}, told.home).embedder is None


def test_a_failed_replacement_puts_all_back(
    told: Told, ollama: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was set aside has its old name again where the settings could not be loaded in the
    end.
    """
    told.home.mkdir()
    (told.home / "ordain.toml").write_text("[models", encoding="utf-8")
    (told.home / "policy.toml").write_text("", encoding="utf-8")
    monkeypatch.setenv("LLM_ROUTE_BRAIN", "nobody")
    assert told.refused("--use", "ollama", "--no-test", "--replace") == "unknown_profile"
    assert not list(told.home.glob("*.old-*"))


def test_a_failed_replacement_leaves_the_key_that_was_there(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newly typed key takes an older one's place only where all of it is set up; a first one
    leaves no file.
    """
    monkeypatch.setenv("LLM_ROUTE_BRAIN", "nobody")
    chosen = first_choice.FirstChoice(
        use="endpoint",
        setup=Setup(provider="openai", model="m", base_url="http://127.0.0.1:9/v1"),
        key=KEY,
    )
    file = told.home / "keys" / "endpoint"
    for before in (None, b"the-older-key\n"):
        if before is not None:
            file.write_bytes(before)
        with pytest.raises(ConfigurationError, match="nobody"):
            _written(told.home, chosen, replace=True, quiet=True)
        assert (file.read_bytes() if file.exists() else None) == before


def test_what_half_a_folder_lacks_is_said_with_what_works(
    told: Told, ollama: ModelEndpoint, tmp_path: Path
) -> None:
    """A missing or empty key file and a policy without its version name what to do, and a key file
    that is not there is told before all.
    """
    told.home.mkdir()
    assert (
        told.refused("--use", "openai", "--model", "m", "--key-file", "/nonexist") == "key_missing"
    )
    assert "remove" not in told.err
    assert not (told.home / "ordain.toml").exists()
    (told.home / "policy.toml").write_text("", encoding="utf-8")
    with pytest.raises(
        ConfigurationError, match=r"version: begin it with `version = 1`, or remove the file"
    ):
        load_settings({}, told.home)
    (told.home / "policy.toml").unlink()
    (told.home / "ordain.toml").write_text(KEYLESS, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"cannot read .*keys/one.*ordain init --replace"):
        load_settings({}, told.home)
    (told.home / "keys").mkdir()
    (told.home / "keys" / "one").write_text("\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"is empty.*ordain init --replace") as caught:
        load_settings({}, told.home)
    assert caught.value.code == "key_missing"


def test_a_folder_that_can_be_none_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file in its place, on the way to it, or in the way of what is written: the path and what to
    do, of every command alike.
    """
    (tmp_path / "file").write_text("")
    (tmp_path / "home" / ".settings.lock").mkdir(parents=True)
    for home, command in (
        ("file", "init"),
        ("file", "chat"),
        ("file", "models"),
        ("file/below", "init"),
        ("home", "init"),
    ):
        words = {
            "init": ("init", "--use", "offline"),
            "chat": ("chat", "Hello"),
            "models": ("models", "list"),
        }[command]
        assert main([*words, "--data-dir", str(tmp_path / home)]) != 0
        said = capsys.readouterr().err
        assert str(tmp_path / home) in said
        assert "name another" in said
        assert said.count("\n") == 1


def test_no_model_is_not_set_up(told: Told, ollama: ModelEndpoint) -> None:
    """Whoever chose none so far chooses again without `--replace`, and nothing of that choice
    stays.
    """
    assert told.run("--use", "offline") == 0, told.err
    assert told.run("--use", "ollama", "--no-test") == 0, told.err
    assert set(tomllib.loads((told.home / "ordain.toml").read_text())["models"]) == {"ollama"}
    assert not (told.home / "policy.toml").exists()


def test_the_key_is_only_referred_to(
    told: Told, ollama: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A provider's key by variable or file; a key that stands in the environment for another
    endpoint goes to nobody else.
    """
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    ollama.answers = [WORD]
    assert told.run("--use", "ollama") == 0, told.err
    assert ollama.keys == [""]
    assert told.run("--use", "openai", "--model", "gpt-5-mini", "--no-test", "--replace") == 0, (
        told.err
    )
    text = (told.home / "ordain.toml").read_text()
    profile = tomllib.loads(text)["models"]["openai"]
    assert (profile["key_env"], profile["usd_micros_per_1k_input"] > 0) == ("OPENAI_API_KEY", True)
    assert KEY not in text


def test_a_model_that_does_not_answer_is_told(told: Told, ollama: ModelEndpoint) -> None:
    """What was chosen is written, exit code 1, and what to do stands below the verdict."""
    assert told.run("--use", "endpoint", "--base-url", "http://127.0.0.1:1/v1", "--model", "m") == 1
    assert "✗ endpoint (openai: m): connection" in told.out
    assert "→ is it running?" in told.out
    assert f"or choose anew: ordain init --data-dir {told.home} --replace" in told.out
    assert (told.home / "ordain.toml").exists()


@pytest.mark.parametrize("refuses", ["", "response_format"])
def test_a_model_that_talks_is_enough(
    told: Told, ollama: ModelEndpoint, monkeypatch: pytest.MonkeyPatch, refuses: str
) -> None:
    """One that ignores schemas, or refuses them, is said to, and its conversation begins all the
    same.
    """
    ollama.refuses, ollama.answers = refuses, ["Good day.", "Hello from the model."]
    reading, writing = os.pipe()
    os.write(writing, b"Hello\n")
    os.close(writing)
    with os.fdopen(reading) as piped:
        monkeypatch.setattr("sys.stdin", piped)
        assert told.run("--use", "ollama", "--chat") == 0, told.out
    assert "✓ ollama (openai: fake-1): talks, and keeps to no schema" in told.out
    assert "agents and plans will often fail" in told.out
    assert "> Hello from the model." in told.out


def test_a_refusal_without_a_key_says_that_none_was_sent(
    told: Told, ollama: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that lists its models and answers nobody without a key; with one that it does not
    know nothing of the kind is said.
    """
    ollama.locked = True
    assert told.run("--use", "ollama") == 1
    assert "authentication: no key was sent: status 401" in told.out
    monkeypatch.setenv("OWN_KEY", "wrong-key")
    assert told.run("--use", "ollama", "--key-env", "OWN_KEY", "--replace") == 1
    assert "authentication: status 401" in told.out


def test_what_is_chosen_wins_over_the_environment(
    told: Told, ollama: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`OPENAI_BASE_URL` makes a profile of its own; what init was told is behind the lanes all the
    same, by a policy that names it.
    """
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert told.run("--use", "ollama", "--no-test") == 0, told.err
    lanes = load_settings(
        {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, told.home
    ).policy.lanes.profiles
    assert set(map(tuple, lanes.values())) == {("ollama",)}


def test_on_a_terminal_it_asks(tmp_path: Path, ollama: ModelEndpoint) -> None:
    """What is found stands first; Enter takes what is usual; it ends in a conversation."""
    ollama.answers = [WORD, "Good morning."]
    terminal = Terminal(
        ("init", "--data-dir", str(tmp_path / "home")),
        {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"},
        columns=200,
    )
    try:
        for question, answer in (
            ("number or name [ollama]", ""),
            ("model [qwen3:8b]", ""),
            ("talk to it now?", ""),
        ):
            terminal.until(question)
            terminal.type(answer)
        terminal.until("/help")
        terminal.type("Hello")
        terminal.until("Good morning.")
        terminal.type("/quit")
        assert terminal.end() == 0, terminal.screen.text
        assert "1  ollama: Ollama on this machine" in terminal.screen.text
    finally:
        terminal.close()


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_an_address_means_the_same_however_it_is_written(
    told: Told, ollama: ModelEndpoint, end: str
) -> None:
    """With and without /v1 and slashes, as chat takes it too; the first model is found by it."""
    said = told.json(
        "--use", "endpoint", "--base-url", ollama.url.removesuffix("/v1") + end, "--no-test"
    )
    assert (said["profile"]["model"], said["profile"]["base_url"]) == ("qwen3:8b", ollama.url)


def test_a_server_that_wants_a_key_is_said_to_run(
    told: Told, ollama: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--yes` does not take it; `--use` says how to give the key, whether it was taken, and works
    with the right one, by variable or file.
    """
    ollama.wanted_key = KEY
    assert told.json("--yes", "--no-test")["want_key"] == ["ollama"]
    for words in ((), ("--model", "qwen3:8b")):
        assert told.refused("--use", "ollama", *words) == "key_missing"
        assert "runs and wants a key: --key-env" in told.err
    monkeypatch.setenv("OWN_KEY", "wrong-key")
    assert told.refused("--use", "ollama", "--key-env", "OWN_KEY") == "key_refused"
    monkeypatch.setenv("OWN_KEY", KEY)
    assert (
        told.json("--use", "ollama", "--key-env", "OWN_KEY", "--no-test")["profile"]["model"]
        == "qwen3:8b"
    )
    (told.home / "own").write_text(KEY)
    (told.home / "own").chmod(0o600)
    assert (
        told.json("--use", "ollama", "--key-file", "own", "--no-test", "--replace")["profile"][
            "model"
        ]
        == "qwen3:8b"
    )


def test_the_environments_endpoint_needs_no_model_named(
    told: Told, ollama: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OPENAI_BASE_URL alone: the first model that talks of what it lists."""
    monkeypatch.setenv("OPENAI_BASE_URL", ollama.url)
    monkeypatch.delenv("OLLAMA_HOST")
    assert told.json("--yes", "--no-test")["profile"]["model"] == "qwen3:8b"
    assert (
        told.json("--use", "endpoint", "--no-test", "--replace")["profile"]["model"] == "qwen3:8b"
    )


@pytest.mark.parametrize("option", ["--key-env", "--key-file"])
@pytest.mark.parametrize(
    "key",
    [
        KEY,
        "sk-proj-Ab3dEf5hIj7lMn9pQr1t",
        "sk-ant-api03-Ab3dEf5hIj7lMn9",
        "gsk_Ab3dEf5hIj7lMn9pQr1tUv",
    ],
)
def test_a_key_in_the_place_of_a_name_is_told_nowhere(
    told: Told, ollama: ModelEndpoint, option: str, key: str
) -> None:
    """Before anything is asked, whether or not the endpoint wants one."""
    for wanted in (KEY, ""):
        ollama.wanted_key = wanted
        for words in ((), ("--model", "qwen3:8b")):
            assert (
                told.refused("--use", "endpoint", "--base-url", ollama.url, option, key, *words)
                == "key_not_stored"
            )
            assert key not in told.out + told.err


def test_a_variable_that_is_not_set_is_no_key_that_was_refused(
    told: Told, ollama: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was sent, so nothing was judged."""
    ollama.wanted_key = KEY
    monkeypatch.delenv("OWN_KEY", raising=False)
    assert told.refused("--use", "ollama", "--key-env", "OWN_KEY") == "key_missing"
    assert "there is none in OWN_KEY" in told.err


def test_what_is_no_model_server_is_not_called_stopped(told: Told, ollama: ModelEndpoint) -> None:
    """Something answers there, and with no list: the address is to be checked; a named model is
    taken all the same.
    """
    ollama.models = []
    assert told.refused("--use", "ollama") == "no_endpoint"
    assert "lists no models" in told.err
    assert "start it" not in told.err
    assert told.run("--use", "ollama", "--model", "m", "--no-test") == 0, told.err


def test_what_wants_a_key_is_in_the_menu(tmp_path: Path, ollama: ModelEndpoint) -> None:
    """Its key is asked for, and its models with it; an address that is none is asked for again,
    before a key is.
    """
    ollama.wanted_key = KEY
    ollama.answers = [WORD]
    terminal = Terminal(
        ("init", "--data-dir", str(tmp_path / "home")),
        {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"},
        columns=200,
    )
    try:
        for question, answer in (
            ("number or name", "ollama"),
            ("key of ollama", KEY),
            ("model [qwen3:8b]", ""),
            ("talk to", "no"),
        ):
            terminal.until(question)
            terminal.type(answer)
        assert terminal.end() == 0, terminal.screen.text
        assert "wants a key" in terminal.screen.text
    finally:
        terminal.close()
    assert (tmp_path / "home" / "keys" / "ollama").read_text() == f"{KEY}\n"


def test_a_name_that_is_mistyped_is_told_what_was_meant(
    tmp_path: Path, ollama: ModelEndpoint
) -> None:
    """On a terminal as with --use; it is asked for again."""
    terminal = Terminal(
        ("init", "--data-dir", str(tmp_path / "home")),
        {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"},
        columns=200,
    )
    try:
        for question, answer in (
            ("number or name", "ollamma"),
            ("did you mean ollama?", "ollama"),
            ("model [", ""),
        ):
            terminal.until(question)
            terminal.type(answer)
    finally:
        terminal.close()


def test_an_address_is_judged_before_its_key_is_asked_for(
    tmp_path: Path, ollama: ModelEndpoint
) -> None:
    """What is no address is asked for again; nothing is asked of a key before."""
    terminal = Terminal(
        ("init", "--data-dir", str(tmp_path / "home")),
        {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"},
        columns=200,
    )
    try:
        for question, answer in (
            ("number or name", "endpoint"),
            ("base URL", "ftp://x"),
            ("must be http", ollama.url),
        ):
            terminal.until(question)
            if question.startswith("must"):
                assert "key of" not in terminal.screen.text
            terminal.type(answer)
        terminal.until("key of endpoint")
    finally:
        terminal.close()


def test_a_typed_key_stands_in_a_file_alone(tmp_path: Path, ollama: ModelEndpoint) -> None:
    """It is not shown; the file is its owner's only, and the profile refers to it; the endpoint is
    sent it.
    """
    home = tmp_path / "home"
    ollama.answers = [WORD]
    terminal = Terminal(
        ("init", "--data-dir", str(home)),
        {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"},
        columns=200,
    )
    try:
        asked = [
            ("number or name", "endpoint"),
            ("base URL", ollama.url),
            ("key of endpoint", KEY),
            ("model [", "llama3.2"),
            ("talk to", "no"),
        ]
        for question, answer in asked:
            terminal.until(question)
            terminal.type(answer)
        assert terminal.end() == 0, terminal.screen.text
        assert KEY not in terminal.screen.text
    finally:
        terminal.close()
    file = home / "keys" / "endpoint"
    assert file.read_text() == f"{KEY}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert KEY not in (home / "ordain.toml").read_text()
    assert ollama.keys == [f"Bearer {KEY}"]


def test_what_is_not_said_is_asked_for_again(tmp_path: Path, ollama: ModelEndpoint) -> None:
    """Enter where there is nothing usual, a key that is none and one that is refused end nothing:
    each is asked for again, and it ends in what works.
    """
    home = tmp_path / "home"
    ollama.models, ollama.locked, ollama.answers = [], True, [WORD]
    terminal = Terminal(
        ("init", "--data-dir", str(home)),
        {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"},
        columns=200,
    )
    try:
        asked = [
            ("number or name", "endpoint"),
            ("base URL, like", ""),
            # the prompt, not what stands before it: what is typed earlier is lost to it
            ("a base URL is needed\nbase URL, like", ollama.url),
            ("key of endpoint", "no key"),
            (
                "that is no key: one word of printable ASCII characters\nkey of endpoint",
                f"{KEY}-refused",
            ),
            ("\nmodel:", ""),  # a line of its own: what is chosen from speaks of models, too
            ("a model is needed, as the endpoint calls it\nmodel:", KEY),
            ("that looks like a key, and was not stored; a model is asked for\nmodel:", "llama3.2"),
            ("another key of endpoint", KEY),
            ("talk to it now?", "Hello"),
            ("that is neither yes nor no\ntalk to it now?", "no"),
        ]
        for question, answer in asked:
            terminal.until(question)
            ollama.locked = ollama.locked and not question.startswith("another")
            terminal.type(answer)
        assert terminal.end() == 0, terminal.screen.text
        assert "authentication" in terminal.screen.text
    finally:
        terminal.close()
    assert (home / "keys" / "endpoint").read_text() == f"{KEY}\n"
    assert list(tomllib.loads((home / "ordain.toml").read_text())["models"]) == ["endpoint"]
    assert (ollama.keys[0], ollama.keys[-1]) == (f"Bearer {KEY}-refused", f"Bearer {KEY}")
