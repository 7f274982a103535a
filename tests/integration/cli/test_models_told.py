"""`ordain models add` says what comes of a profile: whether it sees, and whether anything asks it."""

import tomllib
from pathlib import Path

import pytest

from ordain.cli import main
from tests.integration.cli.test_models_command import Told

MODEL = ("--provider", "openai", "--model", "m", "--base-url", "http://127.0.0.1:9", "--no-test")


def test_a_model_that_sees_is_set_up_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --vision the profile says that it sees, in the file and in what is told; without it the
    file says nothing of it.
    """
    for name, options in (("eyes", ("--vision",)), ("blind", ())):
        assert main(["models", "add", name, *MODEL, *options, "--data-dir", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    profiles = tomllib.loads((tmp_path / "ordain.toml").read_text(encoding="utf-8"))["models"]
    assert profiles["eyes"]["vision"] is True
    assert "vision" not in profiles["blind"]
    assert told.count("pictures: shown to it") == 1


def test_a_profile_behind_no_lane_is_told_as_one_that_nothing_asks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside another profile a new one stands behind no lane: that is said with what puts it there,
    and what is said does it.
    """
    told = Told(tmp_path, capsys)
    assert told.run("init", "--use", "offline") == 0
    told.run("models", "add", "new", *MODEL)
    assert "nothing is asked of it" in told.out
    assert "--lane brain --replace" in told.out
    told.run("models", "add", "new", *MODEL, "--lane", "brain", "--replace")
    assert "brain: new" in told.out
