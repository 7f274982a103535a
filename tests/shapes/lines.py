"""The lines of a conversation's script: what a model answers by the message that it is asked about,
and what it is long about.

A test states its own script, line by line, of these and of ``ModelScript.on``: no word of a message
means anything by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ordain.ports.model import ModelRequest
from ordain.testing import ModelScript, call, finish, moves, output, suggests
from ordain.testing.models import Replying, ScriptLine, When
from ordain.testing.proposals import ScriptedAnswer

QUOTED = 60
"""How many characters of a message a question quotes."""


def words(request: ModelRequest) -> str:
    """The message that a request is about; of a verb that was called as a tool, its text."""
    said = request.inputs.get("message") or request.inputs.get("input", {}).get("text") or ""
    return str(said).casefold()


def about(text: str) -> When:
    """Of a script's line: it answers what is about a message with these words, in whatever case."""
    return lambda request: text.casefold() in words(request)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held(ScriptLine):
    """What it fits is held, wherever it stands in the script; once it is let go, the other lines
    answer.
    """

    says: ScriptedAnswer | Replying = lambda _: None


def holds(text: str) -> Held:
    """A planner's step or a verb's output that is about these words is held until the puppet lets
    go.
    """
    return Held(
        when=lambda request: request.purpose in ("planner", "verb") and about(text)(request)
    )


def asks(text: str, expects: str) -> ScriptLine:
    """The first step of a plan about these words asks the message's sender, for this kind of
    answer.
    """

    def question(request: ModelRequest) -> ScriptedAnswer:
        asked = f"About {words(request)[:QUOTED]}: which one?"
        return call("ask_user", question=asked, expected_type=expects, key="told")

    return ScriptLine(purpose="planner", says=question, index=0, when=about(text))


def script_of(*parts: ModelScript | ScriptLine) -> ModelScript:
    """One script of lines and other scripts; the first line that fits answers."""
    return ModelScript(
        tuple(
            line
            for part in parts
            for line in (part.lines if isinstance(part, ModelScript) else (part,))
        )
    )


def steps(*says: Any, when: When | None = None) -> ModelScript:
    """A planner's script: each answer is one step, the last one every step from then on."""
    script = ModelScript()
    for index, one in enumerate(says[:-1]):
        script = script.on("planner", one, index=index, when=when)
    return script.on("planner", says[-1], when=when)


def _finished(request: ModelRequest) -> ScriptedAnswer:
    return finish(f"done: {words(request)}")


def _carried_out(request: ModelRequest) -> ScriptedAnswer:
    return moves("finish" if request.inputs["pending"] == "final" else "execute_action")


def _summed_up(request: ModelRequest) -> ScriptedAnswer:
    return output(summary=f"so far: {words(request)}")


def _heard(request: ModelRequest) -> ScriptedAnswer:
    return output(content=f"I heard: {words(request)}")


ECHO = (
    ModelScript()
    .on("planner", _finished)
    .on("supervisor", _carried_out)
    .on("router", {"path": "direct"})
    .on("triage", suggests("new_request"))
    .on("verb", _summed_up, verb="summarize_conversation")
    .on("verb", _heard)
)
"""What is answered where a script says nothing: every plan is done at once, and whatever was said
was heard.
"""


def act(tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """A directive that calls a tool, for a test to alter."""
    return {
        "thought": f"use {tool}",
        "finish": False,
        "action": {"tool_id": tool, "input": dict(given)},
        "final_answer": None,
    }


def ends(content: str) -> dict[str, Any]:
    """A directive that finishes, for a test to alter."""
    return {
        "thought": "done",
        "finish": True,
        "action": None,
        "final_answer": {"content": content, "structured": {}},
    }
