"""The laws of kinds and rules, read from the syntax trees: who may know a kind of run, and what a flow may take from the rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from ordain.flows.shipped import shipped_kinds

HOUSE = Path(__file__).resolve().parents[2] / "src" / "ordain"
FLOWS = HOUSE / "flows"
FOLDERS = {folder.name for folder in FLOWS.iterdir() if (folder / "kind.py").exists()}
NAMES = {kind.name for kind in shipped_kinds().all}
KNOWING = {"app.py"}
"""Who may know kinds by name beside ``flows/``: the composition root."""
RUN_FLOW = {"flow", "flow_name", "kind_name"}
"""Attributes that hold a run's flow."""
FUNCTIONS = {"parse_object", "withhold_thought", "plain", "rulebook"}
"""What of the rules that is no value a flow may take: it judges nothing. It reads an answer, blanks what may not be kept before that is
recorded, cleans a text, and (``flows.kind`` alone) puts the rules of kinds into one book."""


def trees(root: Path) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(root.rglob("*.py")):
        yield path.relative_to(HOUSE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                yield node.module, alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, ""


def test_nobody_outside_flows_imports_a_kinds_folder() -> None:
    """Only ``flows/`` and the composition root import from the folder of a kind of run."""
    found = [
        f"{module}: {imported}.{name}"
        for module, tree in trees(HOUSE)
        if not module.startswith("flows/") and module not in KNOWING
        for imported, name in imports(tree)
        if imported.startswith("ordain.flows.") and (imported.split(".")[2] in FOLDERS or (imported == "ordain.flows" and name in FOLDERS))
    ]
    assert found == []


def test_the_list_of_shipped_kinds_is_taken_where_all_is_put_together() -> None:
    """Nobody takes the shipped kinds but the app, and the archive that opens a data folder without one; everybody else is handed them."""
    taking = {module for module, tree in trees(HOUSE) if any(imported == "ordain.flows.shipped" for imported, _ in imports(tree))}
    assert taking == {"app.py", "cli/archive.py"}


def test_no_kind_imports_another_kinds_flow() -> None:
    """A kind takes from another one's folder its prompt or its request at most, never its flow: what kinds share stands beside the folders."""
    found = [
        f"{module}: {imported}"
        for module, tree in trees(FLOWS)
        if module.split("/")[1] in FOLDERS
        for imported, _ in imports(tree)
        if imported.startswith("ordain.flows.")
        and imported.split(".")[2] in FOLDERS - {module.split("/")[1]}
        and imported.rpartition(".")[2] in {"flow", "kind", "v1", "v2"}
    ]
    assert found == []


def is_flow(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in RUN_FLOW


def literals(node: ast.expr) -> set[str]:
    return {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def test_nobody_compares_a_runs_flow_with_a_literal() -> None:
    """What a kind is like stands in its value: no module asks whether a run is of a kind that it names."""
    found: list[str] = []
    for module, tree in trees(HOUSE):
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                if any(is_flow(side) for side in sides) and any(literals(side) & NAMES for side in sides):
                    found.append(f"{module}:{node.lineno}")
            elif (isinstance(node, ast.Match) and is_flow(node.subject)) or (
                isinstance(node, ast.Subscript) and is_flow(node.slice) and not module.startswith("flows/")
            ):
                found.append(f"{module}:{node.lineno}")
    assert found == []


def test_flows_take_rule_values_and_types_alone() -> None:
    """From the rules a flow takes rules, constants and types: it branches on their outcomes and calls no predicate of theirs."""
    found = [
        f"{module}: {imported}.{name}"
        for module, tree in trees(FLOWS)
        if not module.rpartition("/")[2].startswith("v")  # frozen versions are as they were
        for imported, name in imports(tree)
        if imported.startswith("ordain.rules.") and name.islower() and name not in FUNCTIONS
    ]
    assert found == []
