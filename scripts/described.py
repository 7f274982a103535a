"""What the code says of itself, for the reference: docstrings, fields, signatures and codes, read
from values and syntax trees.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType, UnionType
from typing import Any, Protocol, cast, get_args, get_type_hints

import msgspec

from ordain import errors, ports, rules
from ordain.flows.kind import Kind, PromptKind
from ordain.flows.kinds import Kinds
from ordain.rules.decision import Rule
from ordain.rules.reasons import Reason
from ordain.rules.shared import SHARED

HOUSE = Path(inspect.getfile(errors)).parent
_ANY = re.compile("")
_GIVES_A_CODE = re.compile(r"\b(?:code=|other=|problem\(|_Refused\(|misfit\()")


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """One field of a value: its type as written, and its default as written, None where it is
    required.
    """

    name: str
    type: str
    default: str | None


def modules_of(package: ModuleType) -> list[ModuleType]:
    """The modules of a package, by name."""
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [
        importlib.import_module(module.name)
        for module in sorted(found, key=lambda module: module.name)
    ]


def summary(of: object) -> str:
    """The docstring's first paragraph on one line."""
    return whole(of).partition("\n\n")[0]


def whole(of: object) -> str:
    """The whole docstring, each paragraph on one line."""
    text = (inspect.getdoc(of) or "").replace("``", "`")
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def members(union: object) -> list[type[Any]]:
    """The structs of a union, or the one struct; nothing for Any."""
    parts = get_args(union) if isinstance(union, UnionType) else (union,)
    return [part for part in parts if isinstance(part, type) and issubclass(part, msgspec.Struct)]


def tag(of: type[Any]) -> str:
    """How a tagged struct is named in JSON."""
    return str(of.__struct_config__.tag)


def fields(of: type[Any]) -> list[Field]:
    """The fields of a struct or dataclass; those that every value of its kind has (``seq`` of a
    result) come first, as declared.
    """
    hints: dict[str, str] = {}
    for base in reversed(of.__mro__):
        hints.update(
            {name: str(kind) for name, kind in vars(base).get("__annotations__", {}).items()}
        )
    defaults: dict[str, str | None] = {}
    if issubclass(of, msgspec.Struct):
        for struct_field in msgspec.structs.fields(of):
            defaults[struct_field.name] = _default(
                struct_field.default, struct_field.default_factory, msgspec.NODEFAULT
            )
    else:
        for data_field in dataclasses.fields(of):
            defaults[data_field.name] = _default(
                data_field.default, data_field.default_factory, dataclasses.MISSING
            )
    return [Field(name, hints[name], default) for name, default in defaults.items()]


def _default(value: object, factory: object, nothing: object) -> str | None:
    if value is not nothing:
        return written(value)
    return None if factory is nothing else written(factory()) if callable(factory) else None


def written(value: object) -> str:
    """A default as JSON, where it has a JSON form; a function by its name."""
    if isinstance(value, FunctionType):
        return value.__name__
    try:
        return msgspec.json.encode(value, order="deterministic").decode()
    except (TypeError, msgspec.MsgspecError):
        return repr(value)


# --- rules ----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DescribedRule:
    """A rule and what its page says of it."""

    rule: Rule[Any, Any, Any]
    module: str
    meaning: str
    about: str
    facts: type[Any]
    inputs: type[Any] | None
    outcomes: list[type[Any]]
    reasons: list[Reason]
    parts: list[type[Any]]
    shared: bool


def all_rules() -> list[DescribedRule]:
    """Every rule that a module of ``ordain.rules`` defines, by name."""
    found: dict[str, DescribedRule] = {}
    for module in modules_of(rules):
        for value in vars(module).values():
            rule = cast("Rule[Any, Any, Any]", value) if isinstance(value, Rule) else None
            if rule is not None and rule.apply.__module__ == module.__name__:
                found[rule.name] = _describe(rule, module)
    return [found[name] for name in sorted(found)]


def _describe(rule: Rule[Any, Any, Any], module: ModuleType) -> DescribedRule:
    hints = get_type_hints(rule.apply)
    inputs = next(
        (one for one in (get_args(hints["inputs"]) or (hints["inputs"],)) if one is not type(None)),
        None,
    )  # some are absent in old runs
    return DescribedRule(
        rule=rule,
        module=module.__name__,
        meaning=summary(rule.apply),
        about=whole(module) if whole(module).startswith(f"Rule `{rule.name}`") else "",
        facts=hints["facts"],
        inputs=inputs,
        outcomes=members(rule.outcome),
        reasons=[reason for reasons in rule.reasons for reason in reasons],
        parts=_parts([hints["facts"], *members(rule.outcome)]),
        shared=any(one.rule is rule for one in SHARED.values()),
    )


def _parts(holders: Sequence[type[Any]]) -> list[type[Any]]:
    """The structs and enumerations that the fields of structs are of, in order, each once; those
    inside them after the one that holds them.
    """
    found: dict[type[Any], None] = {}
    for holder in holders:
        for hint in get_type_hints(holder).values():
            for part in (hint, *get_args(hint)):
                if not isinstance(part, type) or get_args(part) or part in found or part in holders:
                    continue
                if issubclass(part, StrEnum):
                    found[part] = None
                elif issubclass(part, msgspec.Struct):
                    found |= dict.fromkeys([part, *_parts([part])])
    return list(found)


# --- kinds ----------------------------------------------------------------------------------------


def all_kinds(kinds: Kinds) -> list[list[Kind[Any, Any]]]:
    """The versions of each kind, the newest first; kinds by name."""
    return [
        sorted((kind for kind in kinds.all if kind.name == name), key=lambda kind: -kind.version)
        for name in sorted(kinds.newest)
    ]


def lane_of(prompt: PromptKind[Any]) -> str:
    """The keys of policy that give a purpose its lane, as the prompt's own function reads them."""
    (function,) = ast.parse(inspect.getsource(prompt.lane)).body
    returned = [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node.value is not None
    ]
    return " or ".join(
        code(key.removeprefix("policy."))
        for value in returned
        for key in ast.unparse(value).split(" or ")
    )


# --- ports ----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DescribedPort:
    """A port: its protocol, its methods as written, and the values that it is spoken to in."""

    module: str
    protocol: type[Any]
    methods: list[tuple[str, str]]
    values: list[type[Any]]


def all_ports() -> list[DescribedPort]:
    """Every protocol of ``ordain.ports``, in the order of modules."""
    found: list[DescribedPort] = []
    for module in modules_of(ports):
        own = [
            value
            for value in vars(module).values()
            if isinstance(value, type) and value.__module__ == module.__name__
        ]
        values = [value for value in own if issubclass(value, msgspec.Struct)]
        found += [
            DescribedPort(
                module=module.__name__,
                protocol=protocol,
                methods=_methods(module, protocol),
                values=values,
            )
            for protocol in own
            if Protocol in protocol.__bases__
        ]
    return found


def _methods(module: ModuleType, protocol: type[Any]) -> list[tuple[str, str]]:
    """(signature, docstring) of each method."""
    (body,) = [
        node.body
        for node in _tree(Path(inspect.getfile(module))).body
        if isinstance(node, ast.ClassDef) and node.name == protocol.__name__
    ]
    found: list[tuple[str, str]] = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            prefix = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            found.append(
                (
                    f"{prefix} {node.name}({ast.unparse(node.args)}){returns}",
                    whole(getattr(protocol, node.name)),
                )
            )
    return found


# --- errors and settings --------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Code:
    """A code that the source gives an error: the status it goes with, its class or shape, and
    where.
    """

    code: str
    status: int | None
    kind: str
    module: str


def all_errors(
    root: type[errors.OrdainError] = errors.OrdainError,
) -> list[tuple[int, type[errors.OrdainError]]]:
    """Every error class with its depth in the tree, a class before its subclasses."""
    own = [one for one in root.__subclasses__() if one.__module__ == errors.__name__]
    return [(0, root), *((depth + 1, one) for child in own for depth, one in all_errors(child))]


def all_codes() -> list[Code]:
    """Every code written beside an error or a refusal anywhere in the house."""
    classes = {one.__name__: one for _, one in all_errors()}
    found: set[Code] = set()
    for module, call in _calls(_GIVES_A_CODE):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        given = {
            keyword.arg: keyword.value.value
            for keyword in call.keywords
            if isinstance(keyword.value, ast.Constant)
        }
        if name in classes and isinstance(given.get("code"), str):
            status = given.get("status", classes[name].status)
            found.add(
                Code(str(given["code"]), status if isinstance(status, int) else None, name, module)
            )
        if name == "Wire" and isinstance(given.get("other"), str):
            # the runtime's door refuses with it
            found.add(
                Code(str(given["other"]), errors.Conflict.status, errors.Conflict.__name__, module)
            )
        if module.startswith("server/") and name in {"problem", "_Refused"}:
            texts = [one.value for one in call.args if isinstance(one, ast.Constant)]
            if name == "problem" and len(texts) >= 2:
                found.add(Code(str(texts[1]), int(str(texts[0])), "refusal", module))
            elif name == "_Refused" and texts:
                found.add(Code(str(texts[0]), 400, "InvalidRequest", module))
        if name == "misfit" and isinstance(call.args[1], ast.Constant):
            found.add(
                Code(
                    str(call.args[1].value),
                    int(str(given.get("status", errors.InvalidRequest.status))),
                    "InvalidRequest",
                    module,
                )
            )
    return sorted(found, key=lambda one: (one.code, one.status or 0, one.kind, one.module))


def planner_codes() -> list[str]:
    """The codes that flow ``planner`` itself gives a run's outcome, in any of its versions."""
    return sorted(
        {
            str(call.args[0].value)
            for module, call in _calls()
            if module.startswith("flows/planner/")
            and isinstance(call.func, ast.Name)
            and call.func.id == "_error"
            and isinstance(call.args[0], ast.Constant)
        }
    )


TURNS = {
    "flows/turn/": ("_failed", 1),
    "flows/supervisor/": ("_failed", 1),
    "rules/supervise.py": ("_failed", 0),
    "flows/triage/": ("_nothing", 0),
    "flows/question/": ("", 0),
    "flows/status/": ("", 0),
}
"""Where a message's run gets its error code, in any version of its flow: the function that gives
it, and which of its arguments the code is.
"""


def turn_codes() -> list[str]:
    """The codes that a session's flows give the outcome of a message; those that rule `entry` finds
    with a verb's name are not listed.
    """
    found: set[str] = set()
    for tree, giver, place in _turns():
        constants = {
            node.targets[0].id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        named: list[ast.expr] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = node.func.id if isinstance(node.func, ast.Name) else ""
                named += [node.args[place]] if called == giver and giver else []
                named += [keyword.value for keyword in node.keywords if keyword.arg == "error"]
            elif isinstance(node, ast.Dict):
                named += [
                    value
                    for key, value in zip(node.keys, node.values, strict=True)
                    if isinstance(key, ast.Constant) and key.value == "code"
                ]
        for value in named:
            known = constants.get(value.id, value) if isinstance(value, ast.Name) else value
            found |= (
                {known.value}
                if isinstance(known, ast.Constant) and isinstance(known.value, str)
                else set()
            )
    return sorted(found)


def _turns() -> Iterator[tuple[ast.Module, str, int]]:
    """The modules of ``TURNS``, each with its giver and the place of the code."""
    for where, (giver, place) in TURNS.items():
        paths = sorted((HOUSE / where).rglob("*.py")) if where.endswith("/") else [HOUSE / where]
        yield from ((_tree(path), giver, place) for path in paths)


def environment_names() -> set[str]:
    """The environment variables that the house reads by name, in any room."""
    found: set[str] = set()
    for _, call in _calls():
        named = call.args
        if isinstance(call.func, ast.Name) and call.func.id == "env_value":
            named = call.args[1:]
        elif not (
            isinstance(call.func, ast.Attribute)
            and call.func.attr == "get"
            and ast.unparse(call.func.value) in {"env", "os.environ"}
        ):
            continue
        if isinstance(named[0], ast.Constant):
            found.add(str(named[0].value))
    return found


def _calls(naming: re.Pattern[str] = _ANY) -> Iterator[tuple[str, ast.Call]]:
    """Every call of the modules whose text names this: to parse the others takes seconds."""
    for path in sorted(HOUSE.rglob("*.py")):
        if naming.search(path.read_text(encoding="utf-8")) is None:
            continue
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.Call):
                yield path.relative_to(HOUSE).as_posix(), node


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


# --- Markdown -------------------------------------------------------------------------------------


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table; empty where there are no rows."""
    body = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}", *body, ""] if body else []


def code(text: str) -> str:
    """Inline code; nothing for nothing."""
    return f"`{text}`" if text else ""


def field_table(of: type[Any], *, hide: Iterable[str] = ()) -> list[str]:
    """The fields of a value as a table."""
    hidden = set(hide)
    rows = [
        (code(one.name), code(one.type), code(one.default or ""))
        for one in fields(of)
        if one.name not in hidden
    ]
    return table(("field", "type", "default"), rows)


NOTICE = "<!-- Generated by scripts/reference.py; edit the code instead. -->"


def page(title: str, *parts: str) -> list[str]:
    """The head of a page."""
    return [f"# {title}", "", NOTICE, "", *(line for part in parts for line in (part, ""))]


def text_of(lines: Sequence[str]) -> str:
    """The lines as a file."""
    return "\n".join(lines).rstrip("\n") + "\n"
