"""The house style as tests: what no linter knows, read from the syntax trees of src/ordain and
tests.
"""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parsed import (
    HOUSE,
    ROOT,
    SOURCES,
    TESTS,
    Function,
    Module,
    functions_below,
    statements_below,
)

PURE_ROOMS = {"contracts", "wording", "rules", "effects", "prompts", "journal", "flows"}

(
    MOST_MODULE_LINES,
    MOST_TEST_MODULE_LINES,
    MOST_FUNCTION_LINES,
    MOST_PARAMETERS,
    MOST_PORT_METHODS,
) = 400, 600, 60, 6, 7
VAGUE_NAMES = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "base",
    "misc",
    "manager",
    "managers",
}
ORIGINS = {
    "findings",
    "edges",
    "rows",
    "review",
    "audit",
    "bugs",
    "fixes",
    "issues",
    "regressions",
    "round",
}
IMPURE_CALLS = re.compile(
    r"(^|\.)(datetime\.(now|utcnow|today)|date\.today|uuid[14]|getrandbits)$|^(time|random|"
    r"secrets|os|asyncio|logging)\.|^(open|print|input)$"
)


PURE_SOURCES = [module for module in SOURCES if module.room in PURE_ROOMS]
FLOWS = [module for module in SOURCES if module.room == "flows"]
PORTS = [module for module in SOURCES if module.room == "ports"]


def _dotted(node: ast.expr) -> str:
    """The dotted name of an expression; "" where it has none."""
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return f"{_dotted(node.value)}.{node.attr}"
        case ast.Subscript():
            return _dotted(node.value)
        case _:
            return ""


def _caught(handler: ast.ExceptHandler) -> set[str]:
    """The names that a handler catches; "" for a bare one."""
    match handler.type:
        case None:
            return {""}
        case ast.Tuple(elts=elements):
            return {_dotted(element) for element in elements}
        case kind:
            return {_dotted(kind)}


def _none(violations: list[str]) -> None:
    assert not violations, "\n".join(["", *violations])


def test_every_package_opens_with_what_it_is() -> None:
    """A package's `__init__` has a docstring, then re-exports only."""
    violations: list[str] = []
    for folder in sorted({module.path.parent for module in SOURCES}):
        if not (folder / "__init__.py").exists():
            violations.append(f"{folder.relative_to(ROOT).as_posix()}: has no __init__.py")
            continue
        module = Module(folder / "__init__.py")
        if not ast.get_docstring(module.tree):
            violations.append(f"{module.name}: has no docstring")
        for node in module.tree.body[1:]:
            names = (
                {target.id for target in node.targets if isinstance(target, ast.Name)}
                if isinstance(node, ast.Assign)
                else set[str]()
            )
            lazy_door = (
                folder == HOUSE and isinstance(node, ast.FunctionDef) and node.name == "__getattr__"
            )
            allowed = {"__all__", "__version__", "_HOMES"} if folder == HOUSE else {"__all__"}
            if not (
                isinstance(node, ast.Import | ast.ImportFrom)
                or (names and names <= allowed)
                or lazy_door
            ):
                violations.append(
                    module.at(node, "a package's __init__ re-exports and does nothing else")
                )
    _none(violations)


def _layers() -> list[set[str]]:
    """The rooms from the top downwards, as the import contract has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "importlinter"
    ]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["id"] == "layers"]
    return [set(re.findall(r"[a-z_]+", row)) for row in layers]


def _imported_rooms(module: Module) -> set[str]:
    froms = [
        node.module.split(".")
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and node.module is not None
    ]
    return {parts[1] for parts in froms if parts[0] == "ordain" and len(parts) > 1}


def test_a_room_imports_what_its_package_says() -> None:
    """Where a room's docstring says what it imports, it imports nothing else, and what it says to
    stand on is a room below it.
    """
    layers, violations = _layers(), list[str]()
    saying = 0
    for folder in sorted(path.parent for path in HOUSE.glob("*/__init__.py")):
        said = re.search(
            r"\bImports ([^.;]*)",
            " ".join((ast.get_docstring(Module(folder / "__init__.py").tree) or "").split()),
        )
        if said is None:
            continue
        saying += 1
        named = set(re.findall(r"`([a-z]+)`", said[1])) - {"ordain"}
        level = next(number for number, row in enumerate(layers) if folder.name in row)
        below = {room for row in layers[level + 1 :] for room in row}
        violations += [
            f"{folder.name}: says that it imports {room}, which is not below it"
            for room in sorted(named - below)
        ]
        if "and below" in said[1]:
            highest = min(number for number, row in enumerate(layers) if row & named)
            named |= {room for row in layers[highest + 1 :] for room in row}
        imported = {
            room
            for module in SOURCES
            if module.room == folder.name
            for room in _imported_rooms(module)
        }
        violations += [
            f"{folder.name}: imports {room} and does not say so"
            for room in sorted(imported - named - {folder.name})
        ]
    assert saying >= 14
    _none(violations)


def test_modules_are_named_for_a_concept() -> None:
    """No module or folder hides behind a name that says nothing."""
    _none(
        [
            module.name
            for module in SOURCES
            if VAGUE_NAMES & set(Path(module.name).with_suffix("").parts)
        ]
    )


def test_test_modules_are_named_for_a_behaviour() -> None:
    """No test module is named for where its tests came from."""
    _none([module.name for module in TESTS if ORIGINS & set(Path(module.name).stem.split("_"))])


SHARED_CLASS_NAMES = {
    "Kind": (
        "a flow's is the word of the house; a column's names its schema in the output of "
        "`finance.snapshot`"
    ),
    "PriceTier": "the settings' and the published schema's, which must not move with each other",
    "Thread": "the stored one's and the published schema's, which shows it",
}
"""Public class names with two meanings, and why: a wire's schema is named by its class, and that
name is a promise to callers.
"""


def _type_names(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Public classes, and the types that a module names by an assignment; a letter alone is a type
    variable, which means nothing.
    """
    for node in statements_below(tree):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if (
                    name[0].isupper()
                    and not name.isupper()
                    and not name.endswith(("_co", "_contra"))
                ):
                    yield name, node
            case _:
                pass


def test_a_type_name_has_one_meaning() -> None:
    """No two public classes or named types of the house share a name, but for the wire shapes whose
    names are contracts.
    """
    homes: dict[str, list[tuple[str, bool]]] = {}
    for module in SOURCES:
        for name, node in _type_names(module.tree):
            homes.setdefault(name, []).append(
                (module.at(node, name), isinstance(node, ast.ClassDef))
            )
    shared = {name: places for name, places in homes.items() if len(places) > 1}
    _none(
        [
            place
            for name, places in shared.items()
            if name not in SHARED_CLASS_NAMES
            for place, _ in places
        ]
    )
    assert {name: [of_class for _, of_class in places] for name, places in shared.items()} == {
        key: [True, True] for key in SHARED_CLASS_NAMES
    }


def _aliases(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """What the types that a module names by an assignment come to, as written; letters that stand
    for a type, and bare names, come to nothing.
    """
    for name, node in _type_names(tree):
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if len(name) > 1 and isinstance(value, ast.Subscript | ast.BinOp):
            yield ast.unparse(value), node


def test_a_type_has_one_name() -> None:
    """What two modules name alike by an assignment stands in one of them, and the other takes it
    from there.
    """
    homes: dict[str, list[str]] = {}
    for module in SOURCES:
        for meaning, node in _aliases(module.tree):
            homes.setdefault(meaning, []).append(module.at(node, meaning))
    assert len(homes) > 40
    _none([place for places in homes.values() if len(places) > 1 for place in places])


@pytest.mark.parametrize(
    "text",
    [
        "Read = Callable[[int], str]",
        "Read: TypeAlias = int",
        "class Read:\n    pass",
        "def f():\n    class Read:\n        pass",
    ],
)
def test_a_type_is_named_however_it_is_written(text: str) -> None:
    """A class, an alias, and an alias that says that it is one."""
    assert [name for name, _ in _type_names(ast.parse(text))] == ["Read"]


def test_sizes_stay_within_their_gates() -> None:
    """Modules, functions and test modules stay within their lines, or stand in the shrinking list
    with their exact size.
    """
    sizes = {module.name: (len(module.text.splitlines()), MOST_MODULE_LINES) for module in SOURCES}
    sizes |= {
        module.name: (len(module.text.splitlines()), MOST_TEST_MODULE_LINES) for module in TESTS
    }
    for module in SOURCES:
        for name, function, _ in module.functions:
            sizes[f"{module.name}::{name}"] = (
                (function.end_lineno or function.lineno) - function.lineno + 1,
                MOST_FUNCTION_LINES,
            )
    oversized = {name: size for name, (size, gate) in sizes.items() if size > gate}
    assert oversized == tomllib.loads(
        (Path(__file__).parent / "oversized.toml").read_text(encoding="utf-8")
    )


def test_functions_take_few_parameters() -> None:
    """A function takes at most six parameters, self not counted; beyond that stands a frozen
    options class.
    """
    violations: list[str] = []
    for module in SOURCES:
        for name, function, bound in module.functions:
            taken = function.args
            count = len([*taken.posonlyargs, *taken.args, *taken.kwonlyargs]) - bound
            if count > MOST_PARAMETERS:
                violations.append(module.at(function, f"{name} takes {count} parameters"))
    _none(violations)


def test_ports_are_small() -> None:
    """A port is a Protocol of seven methods at most."""
    _none(
        [
            module.at(node, f"{node.name} has more than {MOST_PORT_METHODS} methods")
            for module in PORTS
            for node in module.nodes
            if isinstance(node, ast.ClassDef)
            and any(_dotted(parent).endswith("Protocol") for parent in node.bases)
            and sum(isinstance(member, Function) for member in node.body) > MOST_PORT_METHODS
        ]
    )


def test_type_checking_is_no_way_around_a_cycle() -> None:
    """TYPE_CHECKING appears nowhere: import cycles are broken, not hidden."""
    _none(
        [
            module.at(node, "TYPE_CHECKING")
            for module in SOURCES
            for node in module.nodes
            if (
                isinstance(node, ast.Name | ast.Attribute)
                and _dotted(node).endswith("TYPE_CHECKING")
            )
            or (
                isinstance(node, ast.ImportFrom)
                and any(alias.name == "TYPE_CHECKING" for alias in node.names)
            )
        ]
    )


def test_imports_stand_at_the_top() -> None:
    """An import inside a function says why (`# lazy: reason`); one in a pure room loads what is of
    that room, and so as pure.
    """
    _none(
        [
            module.at(inner, "import inside a function")
            for module in SOURCES
            for _, function, _ in module.functions
            for inner in statements_below(function)
            if isinstance(inner, ast.Import | ast.ImportFrom)
            and not (
                re.search(r"# lazy: \w", module.comment_beside(inner))
                and _is_loaded_late(module, inner)
            )
        ]
    )


def _is_loaded_late(module: Module, inner: ast.Import | ast.ImportFrom) -> bool:
    """Whether it may be: anything outside of the pure rooms, and in one of them what stands in it,
    which is held to the same.
    """
    return module.room not in PURE_ROOMS or (
        isinstance(inner, ast.ImportFrom)
        and (inner.module or "").startswith(f"ordain.{module.room}.")
    )


def test_broad_handlers_give_their_reason() -> None:
    """Catching everything is a named boundary with its reason beside it."""
    _none(
        [
            module.at(node, "catches everything without a comment beside it")
            for module in SOURCES
            for node in module.nodes
            if isinstance(node, ast.ExceptHandler)
            and _caught(node) & {"", "Exception", "BaseException"}
            and not module.comment_beside(node)
        ]
    )


def test_flows_hold_nothing_that_suspension_would_break() -> None:
    """Flows have no finally, async with, suppress, broad except or async generator: suspending
    throws through them.
    """
    violations: list[str] = []
    for module in FLOWS:
        for node in module.nodes:
            match node:
                case ast.Try(finalbody=[_, *_]) | ast.TryStar(finalbody=[_, *_]):
                    violations.append(module.at(node, "finally"))
                case ast.AsyncWith() | ast.AsyncFor():
                    violations.append(module.at(node, "async with or async for"))
                case ast.ExceptHandler() if _caught(node) & {"", "Exception", "BaseException"}:
                    violations.append(module.at(node, "broad except"))
                case ast.Call() if _dotted(node.func).endswith("suppress"):
                    violations.append(module.at(node, "suppress"))
                case ast.AsyncFunctionDef() if any(
                    isinstance(inner, ast.Yield) for inner in ast.walk(node)
                ):
                    violations.append(module.at(node, "async generator"))
                case _:
                    pass
    _none(violations)


def test_pure_rooms_make_no_ids_and_read_no_clocks() -> None:
    """Contracts, rules, prompts, journal and flows call nothing whose result depends on more than
    its arguments.
    """
    _none(
        [
            module.at(node, f"{_dotted(node.func)}()")
            for module in PURE_SOURCES
            for node in module.nodes
            if isinstance(node, ast.Call) and IMPURE_CALLS.search(_dotted(node.func))
        ]
    )


def test_one_module_authorizes() -> None:
    """`Authorized` is constructed in exactly one module, beside the decision that allows it."""
    makers = {
        module.name
        for module in SOURCES
        for node in module.nodes
        if isinstance(node, ast.Call) and _dotted(node.func).rpartition(".")[2] == "Authorized"
    }
    assert makers == {"src/ordain/flows/act.py"}


def test_every_test_says_the_behaviour() -> None:
    """A test's docstring is one paragraph that says the behaviour; only quotes of requirements may
    follow it.
    """
    violations: list[str] = []
    for module in TESTS:
        for name, function, _ in functions_below(ast.parse(module.text)):  # read here alone
            if not function.name.startswith("test_"):
                continue
            whole = (ast.get_docstring(function) or "").strip()
            if whole.endswith(".") and "\n\n" not in whole:
                continue
            said, *quotes = re.split(r"\n+(?=[A-Z]+-\d+[a-z]?:? [\"“])", whole)
            if not said.endswith(".") or "\n\n" in said:
                violations.append(
                    module.at(function, f"{name} has no one paragraph that says the behaviour")
                )
            violations += [
                module.at(function, f"{name}: {quote!r}")
                for quote in quotes
                if not re.search(r"[\"”][^\n\"”“]{0,80}\Z", quote)
            ]
    _none(violations)


TESTED_ELSEWHERE = {
    "access": "integration/runtime/test_access.py",
    "attachments": "integration/library/test_attachments.py",
    "conversation": "contract/test_sessions_erased.py",
    "gateway": "integration/runtime/test_gateway.py",
    "images": "integration/library/test_images.py",
    "library": "integration/library/test_recall.py",
    "reloader": "integration/runtime/test_reloader.py",
    "spending": "integration/runtime/test_spending.py",
    "transcript_replay": "integration/runtime/test_transcript_replay.py",
    "wording_diff": "replay/test_wording.py",
}
"""Modules of the runtime that do nothing without a store in a file, an adapter or a whole
conversation: where their behaviour is tested.
"""


def test_each_module_of_the_runtime_has_its_tests_beside_it() -> None:
    """A test module of its name; those that are tested elsewhere are named, and are not tested
    twice.
    """
    modules = {path.stem for path in (HOUSE / "runtime").glob("*.py")} - {"__init__"}
    beside = {
        path.stem.removeprefix("test_")
        for path in (ROOT / "tests" / "unit" / "runtime").glob("test_*.py")
    }
    violations = [
        f"src/ordain/runtime/{name}.py: has no tests/unit/runtime/test_{name}.py"
        for name in modules - beside - set(TESTED_ELSEWHERE)
    ]
    violations += [
        f"tests/unit/runtime/test_{name}.py: there is no such module" for name in beside - modules
    ]
    violations += [
        f"TESTED_ELSEWHERE: {name} is tested beside it, or is gone"
        for name in set(TESTED_ELSEWHERE) & beside | set(TESTED_ELSEWHERE) - modules
    ]
    for name, where in TESTED_ELSEWHERE.items():
        path = ROOT / "tests" / where
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        reached = {"gateway": "ordain.app"}.get(name, f"ordain.runtime.{name}")
        if reached not in text:
            violations.append(f"TESTED_ELSEWHERE: {where} does not reach {name}")
    _none(violations)


def test_nothing_committed_names_a_machine() -> None:
    """No file names a folder of somebody's machine, and no lock names a host."""
    machine = re.compile(r"(?<![\w.~])/(home|root|Users|opt|mnt|work)/\w")
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode:
        pytest.skip("not a git working tree")
    violations: list[str] = []
    for name in listing.stdout.splitlines():
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        forbidden = re.compile("://") if name.startswith("locks/") else machine
        if not forbidden.search(text):
            continue
        violations += [
            f"{name}:{number}: {line.strip()[:80]}"
            for number, line in enumerate(text.splitlines(), 1)
            if forbidden.search(line)
        ]
    _none(violations)
