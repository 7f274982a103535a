"""What scripted models propose and callers ask, in the shapes of the sources."""

import json
from pathlib import Path
from typing import Any

SEEDS = Path(__file__).parents[1] / "fixtures" / "seeds"
EXAMPLES = Path(__file__).parents[2] / "examples"


def seed(name: str) -> Any:
    """A fixture of the sources."""
    return json.loads((SEEDS / f"{name}.json").read_text(encoding="utf-8"))


def act(tool: str, thought: str | None = "I need a tool.", **given: Any) -> dict[str, Any]:
    """A directive that calls a tool."""
    return {
        "thought": thought,
        "finish": False,
        "action": {"tool_id": tool, "input": given},
        "final_answer": None,
    }


def add(expression: str = "1 + 1", thought: str | None = "I need a number.") -> dict[str, Any]:
    """A directive that calls the exact calculator."""
    return act("math.evaluate", thought, expression=expression)


def finish(
    content: str = "Done.", thought: str | None = "That is all.", **structured: Any
) -> dict[str, Any]:
    """A directive that finishes."""
    return {
        "thought": thought,
        "finish": True,
        "action": None,
        "final_answer": {"content": content, "structured": structured},
    }


def slow(answer: Any, ms: int) -> dict[str, Any]:
    """An answer that takes its time."""
    return {"$delay_ms": ms, "$answer": answer}


def case(name: str, *planner: Any) -> dict[str, Any]:
    """Proposals for the requests that ask for this case. What verbs answer stands beside the cases:
    their runs know only their input.
    """
    return {"when": {"contains": f"case {name}."}, "planner": list(planner)}


def ask(name: str, *tools: str, **changes: Any) -> dict[str, Any]:
    """A planning request for a case; without tools it offers the calculator."""
    offered = [{"tool_id": tool} for tool in tools or ("math.evaluate",)]
    return {
        "caller": "test",
        "goal": {"type": "analysis", "description": f"This is case {name}."},
        "toolset": offered,
        **changes,
    }


def prompt_plan(name: str, *, steps: tuple[str, ...] = ("llm_step",), **fields: Any) -> str:
    """A prompt-plan verb as YAML (JSON is YAML)."""
    plan = [
        {"name": step, "order": order, "services": ["LLMGatewayService"]}
        for order, step in enumerate(steps)
    ]
    return json.dumps(
        {
            "name": name,
            "description": f"Does what {name} does.",
            "effect": "read",
            "services": ["LLMGatewayService"],
            "plan": plan,
            "input_schema": {"type": "object"},
            **fields,
        }
    )
