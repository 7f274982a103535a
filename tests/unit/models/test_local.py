"""What of the local provider needs no model: its files, its sharing, its errors."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile
from ordain.errors import ConfigurationError
from ordain.models import local
from ordain.models.local import SHIPPED_MODEL, LocalModel, _environment, shipped_gguf
from ordain.models.providers import build_models
from ordain.ports.model import Charge, ModelError, ModelRequest

PATIENCE_S = 60
PROFILE = ModelProfile(provider="local", model="mine", timeout_ms=30_000)
WITHOUT_EXTRA = """
import sys
from importlib.machinery import PathFinder
class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "xllamacpp" else super().find_spec(name, path, target)
sys.meta_path[:] = [Without if finder is PathFinder else finder for finder in sys.meta_path]
from ordain.contracts.profiles import ModelProfile
from ordain.errors import ConfigurationError
from ordain.models.providers import build_models
try:
    build_models({"mine": ModelProfile(provider="local", model="m")}, {})
except ConfigurationError as error:
    print(error.code, error.message)
"""


def model_file(folder: Path, name: str = "own.gguf", content: bytes = b"GGUF and no more") -> Path:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    return file


def test_without_an_installed_model_the_error_says_how_to_get_one(tmp_path: Path) -> None:
    """A profile without a file looks where `ordain local install` puts one, and says so where there
    is none.
    """
    with pytest.raises(
        ConfigurationError, match=r"^models\.mine: .*run: ordain local install$"
    ) as caught:
        build_models({"mine": PROFILE}, {}, tmp_path)
    assert caught.value.code == "no_local_model"
    assert str(tmp_path / "local" / f"{SHIPPED_MODEL}.gguf") in caught.value.message
    model_file(tmp_path / "local", f"{SHIPPED_MODEL}.gguf")
    assert isinstance(build_models({"mine": PROFILE}, {}, tmp_path)["mine"], LocalModel)


@pytest.mark.parametrize("content", [b"", b"GG", b"<html>", b"\0" * 100])
def test_what_is_no_gguf_is_refused_before_it_is_loaded(tmp_path: Path, content: bytes) -> None:
    """A file that does not begin like a model is a configuration error that names it."""
    model_file(tmp_path, content=content)
    with pytest.raises(ConfigurationError, match=r"own\.gguf is no GGUF file"):
        build_models({"mine": PROFILE.model_copy(update={"gguf": "own.gguf"})}, {}, tmp_path)


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    """What cannot be read is named, without a traceback."""
    with pytest.raises(ConfigurationError, match="cannot read"):
        build_models({"mine": PROFILE.model_copy(update={"gguf": "."})}, {}, tmp_path)


def test_profiles_of_one_file_share_a_server(tmp_path: Path) -> None:
    """One model is loaded once for all profiles that run it alike; other threads or another window
    are another server.
    """
    own = PROFILE.model_copy(update={"gguf": str(model_file(tmp_path))})
    profiles = {
        "a": own,
        "b": own.model_copy(update={"model": "b", "max_tokens": 7}),
        "c": own.model_copy(update={"threads": 2}),
    }
    models = build_models(profiles, {"a": "a key that no local model needs"}, tmp_path)
    assert models["a"] is models["b"]
    assert models["a"] is not models["c"]


def test_a_missing_extra_says_what_to_install() -> None:
    """Without llama.cpp the error names the extra."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRA],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == (
        "extra_missing models.mine: provider local needs llama.cpp; run: pip install "
        "'ordain[local]'"
    )


def test_the_installed_models_window_is_never_exceeded(tmp_path: Path) -> None:
    """The shipped model is run with its own window where a profile asks for more; another file with
    what its profile says.
    """
    model_file(tmp_path / "local", f"{SHIPPED_MODEL}.gguf")
    wide = PROFILE.model_copy(update={"context_tokens": 100_000})
    models = build_models(
        {"shipped": wide, "own": wide.model_copy(update={"gguf": str(shipped_gguf(tmp_path))})},
        {},
        tmp_path,
    )
    assert [
        model._context_tokens for model in models.values() if isinstance(model, LocalModel)
    ] == [8192, 100_000]


def request(**changes: object) -> ModelRequest:
    fields = {
        "profile": PROFILE,
        "purpose": "planner",
        "system": "",
        "user": "Hello.",
        "schema_name": "x",
        "schema": {"type": "object"},
    }
    limits = {"max_tokens": 8, "timeout_s": 30.0, "inputs": {}, "index": 0}
    return ModelRequest(**{**fields, **limits, **changes})  # type: ignore[arg-type]


async def test_a_file_that_llama_cannot_load_is_an_error_of_that_attempt(tmp_path: Path) -> None:
    """What only looks like a model is found when it is loaded: a typed error, no crash, and no
    process left.
    """
    pytest.importorskip("xllamacpp")
    model = LocalModel(model_file(tmp_path))
    failed = await model.attempt(request())
    why = "own.gguf: llama.cpp cannot load it"
    assert failed == ModelError(
        code=ModelErrorCode.NOT_FOUND, message=why, known=Charge.NOTHING_SENT
    )
    assert model.pid is None
    await model.close()
    await model.close()
    closed = await model.attempt(request())
    assert isinstance(closed, ModelError)
    assert closed.code is ModelErrorCode.CONNECTION


def in_place_of_the_server(folder: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Another program is started in its place; it is told what the server is told."""
    program = folder / "server"
    program.write_text(
        "\n".join((f"#!{sys.executable}", "import sys", "sys.stdin.readline()", *lines))
    )
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))


@pytest.mark.parametrize("first", ['print(\'{"url": "http://127.0.0.1:9"}\')', ""])
async def test_a_server_that_prints_more_than_its_answer_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """What else comes through the pipe, before its answer or after it, fills no buffer and keeps
    nobody from ending it.
    """
    in_place_of_the_server(
        tmp_path, monkeypatch, first, "print('x' * 10_000_000, flush=True)", "sys.stdin.read()"
    )
    monkeypatch.setattr(local, "END_S", 1.0)
    model = LocalModel(model_file(tmp_path))
    async with asyncio.timeout(PATIENCE_S):
        await model.attempt(request())
        await model.close()
    assert model.pid is None


async def test_a_start_that_fails_does_not_fail_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system has no thread or process left, that attempt has an error; the next one
    starts the server anew.
    """

    async def none_left(*_: object, **__: object) -> object:
        raise RuntimeError("can't start new thread")

    model = LocalModel(model_file(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "create_subprocess_exec", none_left)
        failed = await model.attempt(request())
    in_place_of_the_server(tmp_path, monkeypatch, 'print(\'{"error": "it was started"}\')')
    again = await model.attempt(request())
    await model.close()
    assert [error.message for error in (failed, again) if isinstance(error, ModelError)] == [
        "own.gguf: llama.cpp cannot be started: can't start new thread",
        "own.gguf: it was started",
    ]


def test_the_servers_process_is_told_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of our environment the model's process gets what it needs to start, and no key."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "MY_TOKEN", "ORDAIN_HOME", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://me:sk-secret@127.0.0.1")
    assert "sk-secret" not in " ".join(_environment().values())
    assert "PATH" in _environment()


async def test_no_time_left_starts_nothing(tmp_path: Path) -> None:
    """An attempt without time is timed out, and no process is started for it to end."""
    model = LocalModel(model_file(tmp_path))
    failed = await model.attempt(request(timeout_s=0.0))
    assert isinstance(failed, ModelError)
    assert failed.code is ModelErrorCode.TIMED_OUT
    await model.close()
    assert model.pid is None
