"""Python files of the verbs folder: what one that never ends leaves behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ordain.errors import ConfigurationError
from ordain.verbs import python_files
from ordain.verbs.python_files import PythonFiles


def test_a_file_that_never_ends_takes_no_output_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is given up by name; what it printed is not on stdout, and what is printed afterwards
    is.
    """
    monkeypatch.setattr(python_files, "LOAD_S", 0.3)
    tmp_path.chmod(0o700)
    (tmp_path / "spin.py").write_text(
        "import threading\nprint('noise', flush=True)\nthreading.Event().wait()\n", encoding="utf-8"
    )
    (tmp_path / "spin.py").chmod(0o600)
    with pytest.raises(ConfigurationError, match=r"spin\.py: did not end within"):
        PythonFiles(tmp_path).load("spin.py")
    sys.stdout.write("mine\n")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("mine\n", "noise\n")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("import nowhere_to_be_found", "ModuleNotFoundError: no module named nowhere_to_be_found"),
        ("from ordain import Verbb", "raised ImportError: ordain has no Verbb"),
        ("raise ImportError('the key is hunter2')", "raised ImportError"),
        ("raise ImportError('cannot import name hunter2')", "raised ImportError"),
    ],
)
def test_what_a_file_asks_for_in_vain_is_named(tmp_path: Path, line: str, says: str) -> None:
    """A module or a name of one; whatever else an error says may be a secret."""
    tmp_path.chmod(0o700)
    (tmp_path / "asks.py").write_text(f"{line}\n", encoding="utf-8")
    (tmp_path / "asks.py").chmod(0o600)
    with pytest.raises(ConfigurationError) as refused:
        PythonFiles(tmp_path).load("asks.py")
    assert refused.value.message.endswith(f"asks.py:1: {says}" if "raised" in says else says)
