"""The renderer: Jinja in its immutable sandbox, undefined names refused, nothing global but four
filters.

A template consists of what ``prompts.language`` lets it, which has no calls, and so no methods,
macros or recursion; no arithmetic or concatenation, which double a text with every line. What is
left is charged to the part that is rendered: its loops turn ``LOOP_TURNS`` times in all, what its
filters, loops and comparisons touch is at most ``WORK``, and neither the part nor any value that it
makes grows above ``RENDERED_CHARS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from functools import lru_cache
from operator import is_
from typing import Any, cast

import msgspec
from jinja2 import (
    StrictUndefined,
    Template,
    TemplateError,
    TemplateSyntaxError,
    nodes,
    pass_context,
)
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ordain.errors import ConfigurationError
from ordain.prompts import language
from ordain.prompts.prompt import Prompt, SystemParts

SEPARATOR = "=====\n"
"""A template's system part ends at this line; what follows is the user part."""


RENDERED_CHARS = 4_000_000
"""Far above every reservation, far below what would hurt this process."""
LOOP_TURNS = 200_000
"""Of all loops of one part: a prompt's turn some hundred times, and three in each other over a long
input would turn for ever and show nothing.
"""
WORK = 32_000_000
"""Characters that a part's filters write and its comparisons look at, with ``ITEM_WORK`` for each
value among them: tenths of a second.
"""
ITEM_WORK = 24
MESSAGE_CHARS = 300


class _Part(Context):
    """One part while it is rendered: what it has done so far."""

    turns = 0
    work = 0

    def charge(self, work: int) -> None:
        """Raises ``TemplateError`` where it is too much in all."""
        self.work += work
        if self.work > WORK:
            raise TemplateError(f"a part of the prompt takes more than {WORK} steps of work")


def _measured(value: Any, bound: int) -> int:
    """How much a value is, each of its places counted as often as it stands there; as soon as that
    is beyond the bound no more is counted.
    """
    size, left = 0, [value]
    while left and size <= bound:
        one = left.pop()
        size += ITEM_WORK
        if isinstance(one, str):
            size += len(one)
        elif isinstance(one, Mapping):
            left.extend(cast("Mapping[Any, Any]", one).keys())
            left.extend(cast("Mapping[Any, Any]", one).values())
        elif isinstance(one, list | tuple):
            left.extend(cast("list[Any]", one))
    return size


_WHOLES = frozenset({list, tuple})
"""What loops of most prompts go through."""


def _turned(part: _Part, values: Any, work: int) -> Any:
    """What a loop goes through: of a whole that has a length all its turns are charged before the
    first.
    """
    if type(values) not in _WHOLES and not isinstance(values, list | tuple | str | Mapping):
        return _turned_singly(part, values, work)
    _turn(part, len(cast("Sized", values)), work)
    return cast("Any", values)


def _turned_singly(part: _Part, values: Iterable[Any], work: int) -> Iterator[Any]:
    for value in values:
        _turn(part, 1, work)
        yield value


def _turn(part: _Part, turns: int, work: int) -> None:
    part.turns += turns
    if part.turns > LOOP_TURNS:
        raise TemplateError(f"the loops of a part of the prompt turn more than {LOOP_TURNS} times")
    part.charge(turns * work)


def _compared(part: _Part, value: Any) -> Any:
    part.charge(_measured(value, WORK))
    return value


def _made(part: _Part, value: Any) -> Any:
    """Of values that stand in themselves often, one that no prompt could show is not made."""
    size = _measured(value, RENDERED_CHARS)
    _bound(size)
    part.charge(size)
    return value


def _bound(size: int) -> None:
    if size > RENDERED_CHARS:
        raise TemplateError(f"a part of the prompt exceeds {RENDERED_CHARS} characters")


_SORTED = msgspec.json.Encoder(order="sorted")


def _json(part: _Part, value: Any) -> str:
    text = _SORTED.encode(value).decode()
    size = len(text)
    if size > RENDERED_CHARS:
        _bound(size)
    part.work += size
    if part.work > WORK:
        part.charge(0)
    return text


def _join(part: _Part, values: Iterable[Any], separator: Any = "") -> str:
    if not isinstance(separator, str):
        raise TemplateError("what join puts between its values is a text")
    if isinstance(values, Sized):
        part.charge(len(values) * ITEM_WORK)
    parts = [str(value) for value in values]
    size = sum(map(len, parts)) + len(parts) * len(separator)
    _bound(size)
    part.charge(size)
    return separator.join(parts)


def _cut(part: _Part, value: Any, bound: int) -> str:
    text = value if isinstance(value, str) else _json(part, value)
    if len(text) <= bound:
        return text
    shown = text[:bound] + "…"
    part.charge(len(shown))
    return shown


class _Environment(ImmutableSandboxedEnvironment):
    """A name after a dot is a key of the input, also where Python has a method of that name; a
    method is never a value.
    """

    context_class = _Part

    def getattr(self, obj: Any, attribute: str) -> Any:
        if type(obj) is dict or isinstance(obj, Mapping):
            return self.getitem(cast("Mapping[str, Any]", obj), attribute)
        value: Any = super().getattr(obj, attribute)
        return self.undefined(obj=obj, name=attribute) if callable(value) else value

    def getitem(self, obj: Any, argument: Any) -> Any:
        if not isinstance(argument, str | int) and isinstance(argument, list | tuple | Mapping):
            # no key of JSON has one; to hash it, or to tell of it, takes as long as it is large
            return self.undefined(obj=obj, name=type(cast("object", argument)).__name__)
        try:
            return obj[argument]
        except (AttributeError, TypeError, LookupError):
            return self.undefined(obj=obj, name=cast("Any", argument))


_CHARGED: Mapping[str, Callable[..., Any]] = {
    "json": _json,
    "cut": _cut,
    "join": _join,
    language.TURNED: _turned,
    language.COMPARED: _compared,
    language.MADE: _made,
}


def _environment() -> _Environment:
    environment = _Environment(
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        optimized=False,  # it looks at the rest of a chain of filters again from each of them
    )
    environment.globals.clear()
    environment.filters.clear()
    environment.filters.update(
        {name: pass_context(function) for name, function in _CHARGED.items()}, length=len
    )
    for name in set(environment.tests) - {"none", "defined", "string", "mapping"}:
        del environment.tests[name]
    return environment


_ENVIRONMENT = _environment()


class _Compiled(msgspec.Struct, frozen=True):
    """A template's two parts; ``names`` are what its system part may look at, ``objection`` why no
    new catalog takes it, with its line.
    """

    system: Template | None
    user: Template
    names: tuple[str, ...]
    objection: tuple[int, str] | None


@lru_cache(maxsize=1024)
def _compiled(source: str) -> _Compiled:
    """The system and the user part; the source is split, never the rendered text, so that no value
    can move the border.
    """
    system, separator, user = source.partition(SEPARATOR)
    border = system.count("\n") + 1
    parts = ((system, 0), (user, border)) if separator else ((system, 0),)
    trees = [language.parsed(_ENVIRONMENT, text, line) for text, line in parts]
    objections = [
        found
        for tree, (_, line) in zip(trees, parts, strict=True)
        if (found := language.objection(tree, line)) is not None
    ]
    names = language.names_of(trees[0]) if separator else ()
    templates = [_template(tree, line) for tree, (_, line) in zip(trees, parts, strict=True)]
    return _Compiled(
        system=templates[0] if separator else None,
        user=templates[-1],
        names=names,
        objection=(objections[0].lineno, objections[0].message or "") if objections else None,
    )


def _template(tree: nodes.Template, line: int) -> Template:
    try:
        return _ENVIRONMENT.from_string(language.charged(tree))
    except TemplateSyntaxError as error:
        raise TemplateSyntaxError(error.message or "", line + error.lineno) from None
    except (RecursionError, SyntaxError, MemoryError, ValueError):
        # what Python's own compiler has to say of what nests deep
        raise TemplateSyntaxError("it nests too deep", line + 1) from None


def check_template(source: str) -> None:
    """Whether a new catalog takes this template. Compiles only.

    Raises:
        ConfigurationError: ``invalid_template``: it does not compile, or uses what prompts do not
            have; ``line`` in the details says where.
    """
    try:
        objection = _compiled(source).objection
    except TemplateSyntaxError as error:
        objection = error.lineno, error.message or ""
    if objection is not None:
        raise _invalid(*objection)


def template_tree(source: str) -> nodes.Template:
    """The tree of a whole template, to be looked at.

    Raises:
        ConfigurationError: ``invalid_template``: it has none; ``line`` in the details says where.
    """
    try:
        return language.tree_of(_ENVIRONMENT, source)
    except TemplateSyntaxError as error:
        raise _invalid(error.lineno, error.message or "") from None


def _invalid(line: int, what: str) -> ConfigurationError:
    return ConfigurationError(
        f"prompt template: {what}", code="invalid_template", details={"line": line}
    )


_ABSENT = object()


def rendered(source: str, inputs: Mapping[str, Any], before: SystemParts | None = None) -> Prompt:
    """Render one prompt. ``before`` keeps system parts from call to call: one whose inputs are the
    very same objects has the same text.

    Raises:
        ConfigurationError: the template asks for what its input does not have.
    """
    try:
        compiled = _compiled(source)
        return Prompt(
            system=_system(compiled, source, inputs, {} if before is None else before),
            user=_rendered(compiled.user, inputs),
        )
    except TemplateSyntaxError as error:
        raise _invalid(error.lineno, f"line {error.lineno}: {error.message}") from error
    except (
        TemplateError,
        TypeError,
        ValueError,
        ArithmeticError,
        LookupError,
        AttributeError,
        RecursionError,
    ) as error:
        raise ConfigurationError(
            f"prompt template: {str(error)[:MESSAGE_CHARS]}", code="invalid_template"
        ) from error


def _system(
    compiled: _Compiled, source: str, inputs: Mapping[str, Any], before: SystemParts
) -> str:
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
    pieces: list[str] = []
    size, most = 0, RENDERED_CHARS
    # as `new_context` makes it; nothing here is global
    part = _Part(_ENVIRONMENT, dict(inputs), template.name, template.blocks)
    for piece in template.root_render_func(part):  # `generate` would turn each piece over once more
        size += len(piece)
        if size > most:
            raise TemplateError(f"the prompt exceeds {RENDERED_CHARS} characters")
        pieces.append(piece)
    text = "".join(pieces).strip()
    if not text.isascii():
        _check_characters(text)
    return text


def _check_characters(text: str) -> None:
    """Raises ``UnicodeEncodeError`` where half a character stands in it."""
    try:
        text.encode("utf-16-le")  # in a third of the time that it takes to write it as it is sent
    except UnicodeEncodeError:
        text.encode()  # and this is what is told of it
