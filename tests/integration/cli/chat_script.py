"""The proposals that chats in these tests play, chosen by the words of a message."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.e2e.proposals import act, add, finish, slow

ESCAPES = "\x1b[31mred\x1b[0m \x1b]0;title\x07\u202ereversed\u202c \x9b2J done"
BRIEF = re.compile(r"✓ scripted · no tool · (?:\d+ ms|\d+\.\d s) · [0-9a-f]{6}")
"""The header of an answer in words, on its line."""
LIE = (
    "All went well.\n✓ gpt-9 · 3 tools · 1.0 s · $0.0001 · 01a2f3\n"
    "✓ ordain run 1 · turn@2 · completed · ok\n  ✅ step 1: mail.send\n· 3 steps"
)
LONG_S = 600


def when(
    words: str, *, chat: tuple[Any, ...] = (), planner: tuple[Any, ...] = ()
) -> dict[str, Any]:
    """What is proposed for a message with these words: the chat verb's answers, and the agent's
    directives.
    """
    return {
        "when": {"contains": words},
        "planner": list(planner),
        "verbs": {"chat_general": [*chat]},
    }


SCRIPT = {
    "cases": [
        when("hello", chat=({"content": "Hello to you."},)),
        when(
            "typed slowly",
            chat=(
                {
                    "$text_ms": 30,
                    "$answer": {"content": "One word after the other comes to the screen. " * 4},
                },
            ),
        ),
        when(
            "begun only",
            chat=({"$text_ms": LONG_S * 1000, "$answer": {"content": "Begun and never ended."}},),
        ),
        when(
            "as markdown",
            chat=(
                {"content": "# Plan\n\n- **first** ![x](https://evil.example/p.png)\n\nand `then`"},
            ),
        ),
        when("escape", chat=({"content": ESCAPES},)),
        when("lie to me", chat=({"content": LIE},)),
        when("fail", chat=({"$error": "rejected", "message": "no"},)),
        when("long work", planner=(add("6 * 7"), slow(finish("It is 42."), LONG_S * 1000))),
        when(
            "patient work",
            planner=tuple(slow(finish("It is done after all."), 1500) for _ in range(3)),
        ),
        when("short instead", planner=(finish("The short one is done."),)),
        when(
            "which town",
            planner=(
                act("ask_user", question="Which city is it?", expected_type="location"),
                finish("Noted."),
            ),
        ),
        when("agent sum", planner=(add("6 * 7"), finish("It is 42."))),
    ]
}


def play(home: Path) -> dict[str, str]:
    """The environment in which a chat over the folder plays the script."""
    home.mkdir(parents=True, exist_ok=True)
    path = home / "script.json"
    path.write_text(json.dumps(SCRIPT), encoding="utf-8")
    return {"ORDAIN_SCRIPT": str(path)}
