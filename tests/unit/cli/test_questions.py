"""Questions on a terminal: an answer that is none is asked for again, and whoever has gone is told
what is so.
"""

from collections.abc import Callable, Sequence

import pytest

from ordain.cli import model_setup
from ordain.cli.first_questions import TALK, asked_choice, asked_model, kept, sure
from ordain.cli.options import Setup
from ordain.cli.questions import ask, refusal_of
from ordain.errors import ConfigurationError

Typed = Callable[[Sequence[str]], list[str]]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Has these answers typed, after which whoever is asked has gone; gives the prompts."""

    def type_in(answers: Sequence[str]) -> list[str]:
        left, prompts = list(answers), list[str]()

        def answered(prompt: str) -> str:
            prompts.append(prompt)
            if not left:
                raise EOFError
            return left.pop(0)

        monkeypatch.setattr("builtins.input", answered)
        return prompts

    return type_in


def test_whoever_has_gone_is_told_what_is_so(
    typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is done nothing was changed; of the question that comes after it, it is a no,
    and no error. Either way the next line begins anew.
    """
    typed([])
    with pytest.raises(ConfigurationError, match=r"^nothing was changed$"):
        ask("model", "")
    with pytest.raises(ConfigurationError, match=r"^nothing was changed$"):
        sure(model_setup.Path("ordain.toml"), ["other"])
    capsys.readouterr()
    assert not kept(TALK)
    assert capsys.readouterr().out == "\n"


def test_an_answer_is_asked_for_until_nothing_is_wrong(
    typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each time it is said what is wrong; Enter takes the usual answer, which is judged too."""
    prompts = typed(["9", "x", "2"])
    names = {"a": "first", "b": "second"}
    assert asked_choice(names, "a") == "b"
    assert capsys.readouterr().out.count("that is none of 1 to 2") == 2
    assert prompts == ["number or name [a]: "] * 3


def test_a_model_that_the_endpoint_has_not_is_asked_for_again(
    typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only that: what another name would not mend ends the questions."""

    def check(name: str) -> None:
        if name != "qwen3":
            raise ConfigurationError(
                f"it has no {name}", code="locked" if name == "y" else "unknown_model"
            )

    typed(["qwen", "qwen3"])
    assert asked_model((), check) == "qwen3"
    assert "it has no qwen\n" in capsys.readouterr().out
    typed(["y", "qwen3"])
    with pytest.raises(ConfigurationError) as refused:
        asked_model((), check)
    assert refused.value.code == "locked"


def test_each_answer_about_a_profile_is_judged_where_it_is_given(
    typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    """A provider, model, address, variable or lane that is none is asked for again at once, and not
    refused once all was asked.
    """
    key = "sk-ABCdef0123456789abcdefghij"
    prompts = typed(
        ["opnai", "openai", "", key, "m", "ftp://x", "http://h", "no name", "KEY", "brian", "brain"]
    )
    asked = model_setup._asked(Setup())
    assert (asked.provider, asked.model, asked.base_url, asked.key_env, asked.lane) == (
        "openai",
        "m",
        "http://h",
        "KEY",
        ("brain",),
    )
    assert len(prompts) == 11
    told = capsys.readouterr().out
    assert "did you mean openai?" in told
    assert "did you mean brain?" in told
    assert key not in told


def test_a_check_that_raises_is_what_is_wrong() -> None:
    """Its message, and nothing where it passes; by a code, only what is refused by that."""

    def check(said: str) -> None:
        if said:
            raise ConfigurationError("no", code=said)

    assert [refusal_of(check)("other"), refusal_of(check)("")] == ["no", ""]
    assert refusal_of(check, "wanted")("wanted") == "no"
    with pytest.raises(ConfigurationError):
        refusal_of(check, "wanted")("other")
