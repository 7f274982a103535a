"""`[assistant]` in ordain.toml, and a verb of one's own in the place of `chat_general`: over real
commands and a model's endpoint.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ordain.cli import main
from tests.e2e.model_endpoint import ModelEndpoint

ENDPOINT = """
[models.m]
provider = "openai"
model = "m"
base_url = "{url}"
"""
ADA = """
[assistant]
name = "Ada"
language = "German"
instructions = "Be brief."
"""


@pytest.fixture
def endpoint() -> Iterator[ModelEndpoint]:
    with ModelEndpoint() as found:
        yield found


class Home:
    """A data folder, and commands over it."""

    def __init__(
        self, folder: Path, endpoint: ModelEndpoint, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder, self.endpoint, self._capsys = folder, endpoint, capsys
        self.out = self.err = ""

    def settings(self, text: str) -> None:
        (self.folder / "ordain.toml").write_text(
            text + ENDPOINT.format(url=self.endpoint.url), encoding="utf-8"
        )

    def run(self, *words: str) -> int:
        code = main([*words, "--data-dir", str(self.folder)])
        self.out, self.err = self._capsys.readouterr()
        return code

    def refused(self, *words: str) -> dict[str, Any]:
        assert self.run(*words, "--json") == 2
        return json.loads(self.err)["error"]

    def replays_equal(self) -> bool:
        return self.run("replay", "--all") == 0


@pytest.fixture
def home(tmp_path: Path, endpoint: ModelEndpoint, capsys: pytest.CaptureFixture[str]) -> Home:
    return Home(tmp_path, endpoint, capsys)


def test_a_conversation_is_told_who_the_assistant_is(home: Home, endpoint: ModelEndpoint) -> None:
    """Name, language and instructions stand behind the prompt's own rules; a run keeps what it
    began with, and replays equal after a change.
    """
    home.settings("")
    endpoint.will_answer("Hello.", "Hallo.")
    assert home.run("chat", "Hello") == 0, home.err
    home.settings(ADA)
    assert home.run("chat", "Hello") == 0, home.err
    before, after = (asked["messages"][0]["content"] for asked in endpoint.asked)
    assert after.startswith(before)
    assert after.removeprefix(before).splitlines()[-3:] == [
        "Your name is Ada.",
        (
            "Answer in German, whatever language you are written to in, unless you are asked for "
            "another."
        ),
        "Be brief.",
    ]
    home.settings("")
    assert home.replays_equal(), home.out


def test_an_agent_in_a_conversation_is_told_too(home: Home, endpoint: ModelEndpoint) -> None:
    """In agent mode the prompt of each step says it; a plan outside of conversations is told
    nothing of it.
    """
    home.settings(ADA)
    step = {
        "thought": "t",
        "finish": True,
        "action": None,
        "final_answer": {"content": "Fertig.", "structured": {}},
    }
    endpoint.will_answer(step, step)
    home.run("chat", "--mode", "agent", "Hello")
    request = home.folder / "request.json"
    request.write_text(
        json.dumps(
            {
                "goal": {"type": "analysis", "description": "Say done."},
                "toolset": [{"tool_id": "math.evaluate"}],
            }
        )
    )
    home.run("plan", str(request))
    talked, planned = (endpoint.prompt(number) for number in range(2))
    assert "Your name is Ada." in talked
    assert "Your name is Ada." not in planned
    assert home.replays_equal(), home.out


def test_a_verb_of_ones_own_answers(home: Home, endpoint: ModelEndpoint) -> None:
    """`verbs new --for chat` makes one without a finding; named in the settings it answers wherever
    no verb is named, and sees what was said before.
    """
    home.settings("")
    assert home.run("verbs", "new", "my.chat", "--for", "chat") == 0, home.err
    assert home.run("verbs", "lint", "my.chat", "--strict") == 0, home.out
    home.settings(ADA + 'verb = "my.chat"\n')
    endpoint.will_answer("Hello Bob.", "Bob.", "A plain answer.")
    assert home.run("chat", "--session", "s", "I am Bob") == 0, home.err
    assert home.run("chat", "--session", "s", "--verbose", "Who am I?") == 0, home.err
    assert "my.chat" in home.out
    assert '{"content":"I am Bob","role":"user"}' in endpoint.prompt(1)
    assert "Your name is Ada." in endpoint.prompt(1)
    assert home.run("chat", "--verbose", "--verb", "chat_general", "Hello") == 0, home.err
    assert "my.chat" not in home.out
    assert home.replays_equal(), home.out
    assert home.run("doctor", "--probes") == 0, home.out


@pytest.mark.parametrize(
    ("verb", "code", "says"),
    [
        ("chat_genral", "unknown_verb", "did you mean chat_general?"),
        ("finance.snapshot", "no_chat_verb", "NAME --for chat makes one"),
        ("agent_runtime", "no_chat_verb", "cannot answer a message"),
    ],
)
def test_a_verb_that_cannot_answer_stops_the_start(
    home: Home, verb: str, code: str, says: str
) -> None:
    """What is not there, takes more than a text, or is another mode's entry: refused before
    anything is sent, with what to do.
    """
    home.settings(f'[assistant]\nverb = "{verb}"\n')
    refused = home.refused("chat", "Hello")
    assert refused["code"] == code
    assert says in refused["message"]


@pytest.mark.parametrize("more", [("--kind", "http"), ("--kind", "python"), ("--effect", "send")])
def test_a_chat_verb_is_a_prompt_that_reads(home: Home, more: tuple[str, ...]) -> None:
    """Another kind or effect beside `--for chat` is refused, and nothing is written."""
    assert home.refused("verbs", "new", "my.chat", "--for", "chat", *more)["code"] == "not_for_chat"
    assert not (home.folder / "verbs").exists()
