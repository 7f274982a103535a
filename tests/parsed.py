"""The house's own sources as syntax trees, read once by a process for all tests that hold the house
to something.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

ROOT = Path(__file__).resolve().parents[1]
HOUSE = ROOT / "src" / "ordain"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A parsed source file."""

    path: Path

    @cached_property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def room(self) -> str:
        """The folder of src/ordain that the module stands in."""
        return self.path.relative_to(HOUSE).parts[0]

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[tuple[str, Function, bool]]:
        return list(functions_below(self.tree))

    @cached_property
    def comments(self) -> dict[int, str]:
        """Comments by line; directives to tools are no comments."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return {
            token.start[0]: token.string
            for token in tokens
            if token.type == tokenize.COMMENT
            and not re.match(r"# *(noqa|type:|pyright:|pragma)[^-–]*$", token.string)
        }

    def comment_beside(self, node: ast.stmt | ast.excepthandler) -> str:
        """The comments on the line before the node, on its first line, and on what follows of it
        before anything is done.
        """
        ends = (
            node.body[0].lineno - 1
            if isinstance(node, ast.ExceptHandler)
            else node.end_lineno or node.lineno
        )
        return " ".join(
            self.comments.get(line, "") for line in range(node.lineno - 1, ends + 1)
        ).strip()

    def at(self, node: ast.AST, what: str) -> str:
        return f"{self.name}:{getattr(node, 'lineno', 1)}: {what}"


def statements_in(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements right below a node; an expression has none in it."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        below: object = getattr(node, field, ())
        for part in cast("list[ast.AST]", below) if isinstance(below, list) else ():
            if isinstance(part, ast.stmt):
                yield part
            else:
                yield from statements_in(part)


def statements_below(node: ast.AST) -> Iterator[ast.stmt]:
    """Every statement below a node, at any depth."""
    for statement in statements_in(node):
        yield statement
        yield from statements_below(statement)


def functions_below(tree: ast.AST, qualifier: str = "") -> Iterator[tuple[str, Function, bool]]:
    """Every function below a node: its qualified name, itself, and whether it takes self or cls."""
    for node in statements_in(tree):
        if isinstance(node, Function):
            static = any(
                isinstance(mark, ast.Name) and mark.id == "staticmethod"
                for mark in node.decorator_list
            )
            yield f"{qualifier}{node.name}", node, isinstance(tree, ast.ClassDef) and not static
            yield from functions_below(node, f"{qualifier}{node.name}.")
        elif isinstance(node, ast.ClassDef):
            yield from functions_below(node, f"{qualifier}{node.name}.")
        else:
            yield from functions_below(node, qualifier)


SOURCES = [Module(path) for path in sorted(HOUSE.rglob("*.py"))]
TESTS = [Module(path) for path in sorted((ROOT / "tests").rglob("*.py"))]
