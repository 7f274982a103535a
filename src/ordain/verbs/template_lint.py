"""What a prompt template does with the arguments of its verb."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jinja2 import Environment, TemplateSyntaxError, nodes

ERROR, WARNING = "error", "warning"


def close_to(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, as a hint; else all that there are."""
    known = list(known)
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {found[0]}?" if found else "known: " + ", ".join(known)


def argument_uses(text: str, arguments: Mapping[str, Any]) -> Iterator[tuple[str, int, str, str]]:
    """Arguments that a template asks for in vain, and those that it puts in raw."""
    try:
        tree = Environment(autoescape=False).parse(text)  # noqa: S701 - parsed here, never rendered
    except (TemplateSyntaxError, RecursionError):
        return
    for use in tree.find_all(nodes.Getattr):
        if isinstance(use.node, nodes.Name) and use.node.name == "input" and use.attr not in arguments:
            yield ERROR, use.lineno, f"input_schema has no argument {use.attr}", close_to(use.attr, arguments)
    for output in tree.find_all(nodes.Output):
        for shown in output.nodes:
            if not isinstance(shown, nodes.TemplateData) and _foreign(shown) and not _quoted(shown):
                message = "what comes from outside is put in raw: it can pass for a part of the prompt"
                yield WARNING, shown.lineno, message, "put it through json: {{ input.NAME | json }}"


def _quoted(node: nodes.Node) -> bool:
    filters = {one.name for one in (node, *node.find_all(nodes.Filter)) if isinstance(one, nodes.Filter)}
    return bool(filters & {"json", "length"})


def _foreign(node: nodes.Node) -> bool:
    names = {name.name for name in (node, *node.find_all(nodes.Name)) if isinstance(name, nodes.Name)}
    return bool(names & {"input", "previous", "history", "message", "summary"})
