"""There is one way to a model: what asks, what makes attempts and what knows models' names is found
in the source itself.
"""

from __future__ import annotations

import ast
from functools import cache

from tests.parsed import HOUSE, SOURCES

PROBING = {"models/doctor.py", "models/trial.py"}
"""A person asks them to try an endpoint; no run is there."""
WRAPPING = {"models/local.py", "runtime/seal.py"}
"""Adapters around another adapter: they make the attempt that was asked of them."""


@cache
def callers() -> dict[str, set[str]]:
    """By name, the modules that call something of it."""
    found: dict[str, set[str]] = {}
    for module in SOURCES:
        for node in module.nodes:
            if isinstance(node, ast.Call):
                found.setdefault(
                    getattr(node.func, "attr", getattr(node.func, "id", "")), set()
                ).add(module.path.relative_to(HOUSE).as_posix())
    return found


def calling(wanted: str) -> set[str]:
    """The modules that call something of this name."""
    return callers().get(wanted, set())


def test_every_flow_asks_through_the_one_gateway() -> None:
    """Only flow ``ask`` makes model calls and only the gateway attempts them: planner, router,
    supervisor and, once it is there, a council alike.

    LLM-08: "Council and planner reach models only through gateway channels"
    """
    assert calling("ModelCall") == {"flows/ask.py"}
    attempting = {module for module in calling("attempt") if not module.startswith("runtime/live")}
    assert attempting - PROBING - WRAPPING == {"runtime/gateway.py"}
    assert calling("call_model") == {"runtime/live.py"}


def test_flows_know_no_model() -> None:
    """No flow, rule or prompt names a provider or a model: which one answers is configuration.

    LLM-08: "model choice is gateway config"
    """
    providers = {"openai", "anthropic", "gemini", "scripted", "offline"}
    for module in SOURCES:
        if module.room in ("flows", "rules", "prompts"):
            words = {
                node.value
                for node in module.nodes
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
            assert not words & providers, module.name


def test_a_flow_is_run_in_one_place() -> None:
    """Live, replayed, compared, rehearsed or scripted: one function makes what a flow is given, and
    holds it to its port.
    """
    assert calling("context") == {"runtime/flow_end.py"}
    assert calling("flow_end") == {"runtime/drive.py", "runtime/flow_outcome.py"}
