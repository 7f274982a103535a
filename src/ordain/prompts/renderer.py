"""The renderer: Jinja in its immutable sandbox, undefined names refused, nothing global but two filters.

Templates are catalog data and count as hostile: no attribute escape, no ``range`` or other generator of work, no
multiplication or exponentiation, so that a render's size is bounded by template times input.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NoReturn

import msgspec
from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ordain.errors import ConfigurationError

SEPARATOR = "=====\n"
"""A template's system part ends at this line; what follows is the user part."""


class _Environment(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"*", "**", "%"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> NoReturn:
        raise TemplateError(f"operator {operator} is not available in prompts")


def _json(value: Any) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


def _cut(value: Any, bound: int) -> str:
    text = value if isinstance(value, str) else _json(value)
    return text if len(text) <= bound else text[:bound] + "…"


def _environment() -> _Environment:
    environment = _Environment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.globals.clear()
    filters: dict[str, Any] = {"json": _json, "cut": _cut, "length": len, "join": environment.filters["join"]}
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


@lru_cache(maxsize=1024)
def _compiled(source: str) -> Template:
    try:
        return _ENVIRONMENT.from_string(source)
    except TemplateError as error:
        raise ConfigurationError(f"prompt template: {error}", code="invalid_template") from error


def check_template(source: str) -> None:
    """Compile only.

    Raises:
        ConfigurationError: the template does not compile, or uses a filter that prompts do not have.
    """
    _compiled(source)


def render(source: str, inputs: Mapping[str, Any]) -> Prompt:
    """Render one prompt.

    Raises:
        ConfigurationError: the template asks for what its input does not have.
    """
    try:
        text = _compiled(source).render(inputs)
    except (TemplateError, TypeError, ValueError) as error:
        raise ConfigurationError(f"prompt template: {error}", code="invalid_template") from error
    system, separator, user = text.partition(SEPARATOR)
    return Prompt(system=system.strip() if separator else "", user=(user if separator else system).strip())
