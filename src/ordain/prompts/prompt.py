"""A prompt, and the way to it. The template engine is loaded with the first one: a start does
without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from msgspec import Struct


class Prompt(Struct, frozen=True):
    """A rendered prompt: the stable part first, so that providers can cache it."""

    system: str
    user: str


SystemParts = dict[str, tuple[list[Any], str]]
"""System parts rendered before, by template: the inputs that each looked at, and its text."""


def render(source: str, inputs: Mapping[str, Any], before: SystemParts | None = None) -> Prompt:
    """Render one prompt; see ``renderer.rendered``.

    Raises:
        ConfigurationError: the template asks for what its input does not have.
    """
    return _renderer()(source, inputs, before)


@cache
def _renderer() -> Callable[[str, Mapping[str, Any], SystemParts | None], Prompt]:
    from ordain.prompts.renderer import rendered  # lazy: see above

    return rendered
