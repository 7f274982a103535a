"""Names between commas: what an unset variable leaves is no name, and switches nothing off."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordain.cli import main
from ordain.cli.comma_lists import names_of
from ordain.cli.exit_codes import USAGE
from ordain.cli.options import Judging
from ordain.errors import ConfigurationError


def test_each_name_is_taken() -> None:
    """With commas between them, or several times; none is none."""
    assert names_of(("a, b", "c"), "--x") == ("a", "b", "c")
    assert names_of((), "--x") == ()


@pytest.mark.parametrize("given", ["", ",", " ", "a,", ",a", "a,,b"])
def test_an_empty_name_is_refused(given: str) -> None:
    """Also beside others: what it was to say would be left out in silence."""
    with pytest.raises(ConfigurationError, match="--x has an empty name") as refused:
        names_of(("b", given), "--x")
    assert refused.value.code == "usage"


@pytest.mark.parametrize(
    "line",
    [
        ("replay", "--policy", "p.toml", "--fail-on", ""),
        ("replay", "--policy", "p.toml", "--fail-on", ","),
        ("replay", "--policy", "p.toml", "--fail-on", "new-allow,"),
        ("replay", "--policy", "p.toml", "--since", ""),
        ("replay", "--policy", "p.toml", "--until", "", "--fail-on", "course"),
        ("token", "create", "x", "--scope", ""),
        ("token", "create", "x", "--scope", "chat,"),
        ("token", "create", "x", "--scope", "chat", "--workspace", ","),
    ],
)
def test_an_empty_value_of_an_option_is_a_usage_error(
    tmp_path: Path, line: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, and nothing is judged or made."""
    (tmp_path / "p.toml").write_text("version = 1\n", encoding="utf-8")
    words = [str(tmp_path / one) if one == "p.toml" else one for one in line]
    assert main([*words, "--data-dir", str(tmp_path / "home")]) == USAGE
    assert "[usage]" in capsys.readouterr().err


@pytest.mark.parametrize("given", [{"since": ""}, {"until": ""}, {"fail_on": ("",)}])
def test_what_is_given_empty_is_given(given: dict[str, str]) -> None:
    """So that it is judged, and refused."""
    assert Judging(**given).asked  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (("token", "create", "x", "--scope", "chta"), "did you mean chat?"),
        (("token", "create", "x", "--scope", "al"), "did you mean all?"),
        (
            ("models", "cost", "--by", "lan"),
            "--by is one of day, lane, model, flow, session, agent; did you mean lane?",
        ),
        (("replay", "--policy", "p.toml", "--fail-on", "new-alow"), "did you mean new-allow?"),
    ],
)
def test_a_word_that_is_none_is_told_what_was_meant(
    tmp_path: Path, line: tuple[str, ...], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a verb's name is; nothing of a request's parameters is shown."""
    (tmp_path / "p.toml").write_text("version = 1\n", encoding="utf-8")
    words = [str(tmp_path / one) if one == "p.toml" else one for one in line]
    assert main([*words, "--data-dir", str(tmp_path / "home")]) == USAGE
    told = capsys.readouterr().err
    assert (meant in told, "/query" in told) == (True, False)
