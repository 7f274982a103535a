"""How much of what code decides the tests hold: small changes to it, one at a time, and whether any
test notices.

``python -m scripts.mutants [--most 200] [--seed 1] [--jobs 2] [MODULE ...]`` takes a sample of the
changes that can be made to the modules that judge, tell and recover, and runs for each the tests
next to the module, then wider rings of them, until one fails. It prints the changes that none
noticed, and the score, which docs/mutants.md keeps. Some survivors mean the same as the original; a
reader judges that.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JUDGED = (
    *sorted(
        f"rules/{path.name}"
        for path in (ROOT / "src/ordain/rules").glob("*.py")
        if path.name != "__init__.py"
    ),
    *(
        "journal/acts.py",
        "runtime/headers.py",
        "flows/act.py",
        "flows/ask.py",
        "runtime/recovery.py",
        "runtime/calls.py",
    ),
)
RINGS = (
    ["tests/unit/rules", "tests/unit/journal", "tests/unit/flows"],
    ["tests/unit/runtime", "tests/replay/test_golden.py"],
)
PYTEST = (
    "-q",
    "-x",
    "-n0",
    "-p",
    "no:randomly",
    "-p",
    "no:cacheprovider",
    "--no-header",
    "--tb=no",
)
TIMEOUT_S = 300
_PAIRS = {
    "Eq": "NotEq",
    "Lt": "LtE",
    "Gt": "GtE",
    "In": "NotIn",
    "Is": "IsNot",
    "And": "Or",
    "Add": "Sub",
}
SWAPPED = {
    getattr(ast, one): getattr(ast, other)
    for pair in _PAIRS.items()
    for one, other in (pair, pair[::-1])
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: from ``begin`` to ``end``, (line, column in bytes) from 1 and 0 on, stands
    ``text`` instead.
    """

    module: str
    begin: tuple[int, int]
    end: tuple[int, int]
    was: str
    text: str

    def __str__(self) -> str:
        return (
            f"{self.module}:{self.begin[0]}: `{' '.join(self.was.split())[:70]}` → "
            f"`{self.text[:70]}`"
        )

    def apply(self, source: str) -> str:
        """The module with the change."""
        lines = source.encode().splitlines(keepends=True)
        (first, start), (last, stop) = self.begin, self.end
        lines[first - 1 : last] = [
            lines[first - 1][:start] + self.text.encode() + lines[last - 1][stop:]
        ]
        return b"".join(lines).decode()


def mutants(module: str) -> Iterator[Mutant]:
    """Every change that can be made to a module."""
    source = (ROOT / "src/ordain" / module).read_text(encoding="utf-8")
    tree = ast.parse(source)
    aside = {
        id(inner) for node in ast.walk(tree) for outer in _typing(node) for inner in ast.walk(outer)
    }
    for node in ast.walk(tree):
        if id(node) not in aside and (changed := _changed(node)) is not None:
            assert isinstance(node, ast.expr | ast.stmt)
            begin, end = (
                (node.lineno, node.col_offset),
                (node.end_lineno or 0, node.end_col_offset or 0),
            )
            yield Mutant(module, begin, end, ast.get_source_segment(source, node) or "", changed)


def _typing(node: ast.AST) -> Iterator[ast.AST]:
    """What of a node is types, how a class is made, a pattern or an f-string's inside: no place for
    a change.
    """
    if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
        yield node.annotation
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from (*node.decorator_list, *([node.returns] if node.returns is not None else []))
    if isinstance(node, ast.ClassDef):
        yield from (*node.decorator_list, *node.keywords)
    if isinstance(node, ast.pattern | ast.JoinedStr):
        yield node


def _changed(node: ast.AST) -> str | None:
    """The node's text with one thing changed; None where nothing is to be."""
    twin = deepcopy(node)
    match twin:
        case ast.Compare(ops=[operator]) if type(operator) in SWAPPED:
            twin.ops = [SWAPPED[type(operator)]()]  # type: ignore[list-item]
        case ast.BoolOp(op=operator) | ast.BinOp(op=operator) if type(operator) in SWAPPED:
            twin.op = SWAPPED[type(operator)]()  # type: ignore[assignment]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"bool({ast.unparse(operand)})"
        case ast.IfExp(body=body, orelse=orelse):
            twin.body, twin.orelse = orelse, body
        case ast.Constant(value=bool(value)):
            return str(not value)
        case ast.Constant(value=int(value)):
            return str(value + 1)
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign():
            return "pass"
        case ast.Return(value=ast.expr()) if not isinstance(twin.value, ast.Constant):
            return "return None"
        case _:
            return None
    return f"({ast.unparse(twin)})"


def noticed(mutant: Mutant, own: Path) -> bool:
    """Whether a test fails with the change; ``own`` is a copy of the sources that nobody else
    uses.
    """
    path = own / "ordain" / mutant.module
    source = path.read_text(encoding="utf-8")
    path.write_text(mutant.apply(source), encoding="utf-8")
    beside = f"tests/unit/{Path(mutant.module).parent}/test_{Path(mutant.module).name}"
    environment = {**os.environ, "PYTHONPATH": str(own), "PYTHONDONTWRITEBYTECODE": "1", "CI": "1"}
    try:
        for ring in ([beside] if (ROOT / beside).exists() else [], *RINGS):
            run = [sys.executable, "-m", "pytest", *PYTEST, *ring]
            if (
                ring
                and subprocess.run(
                    run,
                    cwd=ROOT,
                    env=environment,
                    capture_output=True,
                    timeout=TIMEOUT_S,
                    check=False,
                ).returncode
            ):
                return True
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_text(source, encoding="utf-8")
    return False


def main() -> None:
    """Sample, run, tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "modules",
        nargs="*",
        default=list(JUDGED),
        metavar="MODULE",
        help="below src/ordain; all that judge unless named",
    )
    parser.add_argument("--most", type=int, default=200, help="how many changes are tried")
    parser.add_argument("--seed", type=int, default=1, help="which are sampled")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once")
    options = parser.parse_args()
    every = [mutant for module in options.modules for mutant in mutants(module)]
    sample = random.Random(options.seed).sample(every, min(options.most, len(every)))  # noqa: S311 - no secret
    left, survivors = list(sample), list[Mutant]()
    with tempfile.TemporaryDirectory() as base, ThreadPoolExecutor(options.jobs) as pool:

        def work(number: int) -> None:
            own = shutil.copytree(ROOT / "src", Path(base, str(number)))
            while left:
                mutant = left.pop()
                found = noticed(mutant, own)
                survivors.extend([] if found else [mutant])
                print(f"{'noticed ' if found else 'survived'} {mutant}", flush=True)

        list(pool.map(work, range(options.jobs)))
    caught = len(sample) - len(survivors)
    print("", *(f"- {mutant}" for mutant in sorted(survivors, key=str)), sep="\n")
    print(
        f"{caught} of {len(sample)} changes noticed ({caught / len(sample):.0%}), of {len(every)} "
        f"that can be made; seed {options.seed}"
    )


if __name__ == "__main__":
    main()
