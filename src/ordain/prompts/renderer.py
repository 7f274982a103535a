"""The renderer: Jinja in its immutable sandbox, undefined names refused, nothing global but two filters.

Templates are catalog data and count as hostile. They consist of the few constructs of ``_ALLOWED`` and nothing else: no
calls, and so no methods, macros or recursion; no arithmetic or concatenation, which double a text with every line; loops nest
three deep at most and turn ``LOOP_TURNS`` times in all, and no part of a prompt grows above ``RENDERED_CHARS``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from operator import is_
from typing import Any, cast

import msgspec
from jinja2 import StrictUndefined, Template, TemplateError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ordain.errors import ConfigurationError

SEPARATOR = "=====\n"
"""A template's system part ends at this line; what follows is the user part."""


RENDERED_CHARS = 4_000_000
"""Far above every reservation, far below what would hurt this process."""
LOOPS = 3
LOOP_TURNS = 200_000
"""Of all loops of one part: a prompt's turn some hundred times, and three in each other over a long input would turn for ever and show nothing."""

_ALLOWED = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign),
    *(nodes.Name, nodes.Const, nodes.List, nodes.Tuple, nodes.Getattr, nodes.Getitem, nodes.Filter, nodes.Test),
    *(nodes.CondExpr, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Neg),
    *(nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends),  # there is no loader: they fail, and loaders of verbs say why
)


def _check(node: nodes.Node, loops: int = 0) -> None:
    if not isinstance(node, _ALLOWED) or (isinstance(node, nodes.For) and node.recursive):
        raise TemplateError(f"line {node.lineno}: {type(node).__name__.lower()} is not available in prompts")
    loops += isinstance(node, nodes.For)
    if loops > LOOPS:
        raise TemplateError(f"line {node.lineno}: loops nest deeper than {LOOPS}")
    for child in node.iter_child_nodes():
        _check(child, loops)


_COUNTED = "counted"
_TURNS: ContextVar[list[int]] = ContextVar("turns")


def _counted(values: Iterable[Any]) -> Iterator[Any]:
    turns = _TURNS.get()
    for value in values:
        turns[0] += 1
        if turns[0] > LOOP_TURNS:
            raise TemplateError(f"the loops of a part of the prompt turn more than {LOOP_TURNS} times")
        yield value


def _bounded(text: str) -> str:
    if len(text) > RENDERED_CHARS:
        raise TemplateError(f"a part of the prompt exceeds {RENDERED_CHARS} characters")
    return text


def _json(value: Any) -> str:
    return _bounded(msgspec.json.encode(value, order="sorted").decode())


def _join(values: Iterable[Any], separator: str = "") -> str:
    parts = [str(value) for value in values]
    if sum(map(len, parts)) + len(parts) * len(separator) > RENDERED_CHARS:
        raise TemplateError(f"a part of the prompt exceeds {RENDERED_CHARS} characters")
    return separator.join(parts)


def _cut(value: Any, bound: int) -> str:
    text = value if isinstance(value, str) else _json(value)
    return text if len(text) <= bound else text[:bound] + "…"


class _Environment(ImmutableSandboxedEnvironment):
    """A name after a dot is a key of the input, also where Python has a method of that name; a method is never a value."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, Mapping):
            return self.getitem(cast("Mapping[str, Any]", obj), attribute)
        value: Any = super().getattr(obj, attribute)
        return self.undefined(obj=obj, name=attribute) if callable(value) else value

    def getitem(self, obj: Any, argument: Any) -> Any:
        try:
            return obj[argument]
        except (AttributeError, TypeError, LookupError):
            return self.undefined(obj=obj, name=argument)


def _environment() -> _Environment:
    environment = _Environment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.globals.clear()
    filters: dict[str, Any] = {"json": _json, "cut": _cut, "length": len, "join": _join, _COUNTED: _counted}
    environment.filters.clear()
    environment.filters.update(filters)
    for name in set(environment.tests) - {"none", "defined", "string", "mapping"}:
        del environment.tests[name]
    return environment


_ENVIRONMENT = _environment()


class Prompt(msgspec.Struct, frozen=True):
    """A rendered prompt: the stable part first, so that providers can cache it."""

    system: str
    user: str


class _Compiled(msgspec.Struct, frozen=True):
    """A template's two parts; ``names`` are the inputs that its system part may look at."""

    system: Template | None
    user: Template
    names: tuple[str, ...] = ()


@lru_cache(maxsize=1024)
def _compiled(source: str) -> _Compiled:
    """The system and the user part; the source is split, never the rendered text, so that no value can move the border."""
    system, separator, user = source.partition(SEPARATOR)
    try:
        parsed = [_ENVIRONMENT.parse(part) for part in (system, user)]
        for part in parsed:
            _check(part)
            for loop in list(part.find_all(nodes.For)):
                loop.iter = nodes.Filter(loop.iter, _COUNTED, [], [], None, None, lineno=loop.lineno)
        if not separator:
            return _Compiled(system=None, user=_ENVIRONMENT.from_string(parsed[0]))
        names = tuple(sorted(meta.find_undeclared_variables(parsed[0])))
        return _Compiled(system=_ENVIRONMENT.from_string(parsed[0]), user=_ENVIRONMENT.from_string(parsed[1]), names=names)
    except (TemplateError, RecursionError) as error:
        raise ConfigurationError(f"prompt template: {error}", code="invalid_template") from error


def check_template(source: str) -> None:
    """Compile only.

    Raises:
        ConfigurationError: the template does not compile, or uses a filter that prompts do not have.
    """
    _compiled(source)


_ABSENT = object()
SystemParts = dict[str, tuple[list[Any], str]]
"""System parts rendered before, by template: the inputs that each looked at, and its text."""


def render(source: str, inputs: Mapping[str, Any], before: SystemParts | None = None) -> Prompt:
    """Render one prompt. ``before`` keeps system parts from call to call: one whose inputs are the very same objects has the same text.

    Raises:
        ConfigurationError: the template asks for what its input does not have.
    """
    try:
        compiled = _compiled(source)
        return Prompt(system=_system(compiled, source, inputs, {} if before is None else before), user=_rendered(compiled.user, inputs))
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, RecursionError) as error:
        raise ConfigurationError(f"prompt template: {error}", code="invalid_template") from error


def _system(compiled: _Compiled, source: str, inputs: Mapping[str, Any], before: SystemParts) -> str:
    if compiled.system is None:
        return ""
    looked_at = [inputs.get(name, _ABSENT) for name in compiled.names]
    known = before.get(source)
    if known is not None and all(map(is_, known[0], looked_at)):
        return known[1]
    text = _rendered(compiled.system, inputs)
    before[source] = looked_at, text
    return text


def _rendered(template: Template, inputs: Mapping[str, Any]) -> str:
    """Piece by piece, so that a loop is stopped before its output is whole."""
    _TURNS.set([0])
    pieces: list[str] = []
    size = 0
    for piece in template.root_render_func(
        template.new_context(dict(inputs), shared=True)
    ):  # `generate` would turn each piece over once more
        size += len(piece)
        if size > RENDERED_CHARS:
            raise TemplateError(f"the prompt exceeds {RENDERED_CHARS} characters")
        pieces.append(piece)
    return "".join(pieces).strip()
