"""What a prompt template does with the arguments of its verb."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jinja2 import nodes

from ordain.contracts.nearest import nearest
from ordain.errors import ConfigurationError
from ordain.prompts.renderer import template_tree

ERROR, WARNING = "error", "warning"
_OUTSIDE = frozenset({"input", "previous", "history", "message", "summary"})


def close_to(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, as a hint; else all that there are."""
    known = list(known)
    found = nearest(name, known)
    return f"did you mean {found}?" if found else "known: " + ", ".join(known)


def argument_uses(text: str, arguments: Mapping[str, Any]) -> Iterator[tuple[str, int, str, str]]:
    """Arguments that a template asks for in vain, and those that it puts in raw."""
    try:
        tree = template_tree(text)
    except ConfigurationError:
        return
    for line, name in _asked(tree):
        if name not in arguments:
            yield ERROR, line, f"input_schema has no argument {name}", close_to(name, arguments)
    foreign = _foreign_names(tree)
    for output in tree.find_all(nodes.Output):
        for shown in output.nodes:
            if not isinstance(shown, nodes.TemplateData) and _raw(shown, foreign):
                message = (
                    "what comes from outside is put in raw: it can pass for a part of the prompt"
                )
                yield WARNING, shown.lineno, message, "put it through json: {{ input.NAME | json }}"


def _asked(tree: nodes.Template) -> Iterator[tuple[int, str]]:
    """The arguments that a template asks for, ``input.NAME`` and ``input["NAME"]``, each with its
    line.
    """
    for use in tree.find_all((nodes.Getattr, nodes.Getitem)):
        if not isinstance(use.node, nodes.Name) or use.node.name != "input":
            continue
        if isinstance(use, nodes.Getattr):
            yield use.lineno, use.attr
        elif isinstance(use.arg, nodes.Const) and isinstance(use.arg.value, str):
            yield use.lineno, use.arg.value


def _foreign_names(tree: nodes.Template) -> frozenset[str]:
    """The names of what comes from outside: the template's own, and those that a loop or an
    assignment gives to it, however often.
    """
    given = [
        (_names(target), _names(source))
        for target, source in _assigned(tree)
        if not _quoted(source)
    ]
    foreign, before = _OUTSIDE, frozenset[str]()
    while foreign != before:
        before = foreign
        foreign = foreign.union(*(targets for targets, sources in given if sources & foreign))
    return foreign


def _assigned(tree: nodes.Template) -> Iterator[tuple[nodes.Node, nodes.Node]]:
    for loop in tree.find_all(nodes.For):
        yield loop.target, loop.iter
    for assignment in tree.find_all(nodes.Assign):
        yield assignment.target, assignment.node


def _raw(node: nodes.Node, foreign: frozenset[str]) -> bool:
    return bool(_names(node) & foreign) and not _quoted(node)


def _names(node: nodes.Node) -> frozenset[str]:
    return frozenset(
        name.name for name in (node, *node.find_all(nodes.Name)) if isinstance(name, nodes.Name)
    )


def _quoted(node: nodes.Node) -> bool:
    filters = {
        one.name for one in (node, *node.find_all(nodes.Filter)) if isinstance(one, nodes.Filter)
    }
    return bool(filters & {"json", "length"})
