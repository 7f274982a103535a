"""The language of prompts: what a template may consist of, and where its work is charged.

Templates are catalog data and count as hostile, and they are compiled and rendered on the event
loop. So the parsed tree is judged before anything is made of it: the few constructs of
``_ALLOWED``, so many nodes, and no text that no prompt can hold. What loops, compares, or puts
values together is then told to the part that is rendered (``CHARGES``), which bounds it.

A catalog's new templates (``objection``) are held to less than what recorded ones may hold: no list
of anything but constants, and nothing that nests deeper than a reader follows. A journal's own
templates render as they did, within the same bounds of work.
"""

from __future__ import annotations

from typing import Any, cast

from jinja2 import Environment, TemplateSyntaxError, nodes

SOURCE_CHARS = 262_144
NODES = 4_000
"""Of one part: the shipped templates have up to a hundred."""
LOOPS = 3
DEPTH = 32
"""How deep blocks, and expressions with their filters, nest in a new template; the shipped ones
nest up to seven deep.
"""
NODE_WORK = 4
"""What a node of a loop's body is charged each time that the loop turns."""
TURNED, COMPARED, MADE = CHARGES = "#turned", "#compared", "#made"
"""The filters by which a part is told of its work. No template can write such a name."""

_REACHING_OUT = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
_ALLOWED = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign),
    *(
        nodes.Name,
        nodes.Const,
        nodes.List,
        nodes.Tuple,
        nodes.Getattr,
        nodes.Getitem,
        nodes.Filter,
        nodes.Test,
    ),
    *(nodes.CondExpr, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Neg),
)


def tree_of(environment: Environment, text: str, line: int = 0) -> nodes.Template:
    """The tree of a part of a template, which begins after so many lines.

    Raises:
        TemplateSyntaxError: it has none.
    """
    if len(text) > SOURCE_CHARS:
        raise TemplateSyntaxError(f"a template has at most {SOURCE_CHARS} characters", line + 1)
    if text.count("{{") + text.count("{%") > NODES:
        raise _too_many(line + 1)
    try:
        text.encode()
        return environment.parse(text)
    except TemplateSyntaxError as error:
        raise TemplateSyntaxError(f"not a template: {error.message}", line + error.lineno) from None
    except RecursionError:
        raise TemplateSyntaxError("it nests too deep", line + 1) from None
    except ValueError as error:  # a number of more digits than Python reads; half a character
        raise TemplateSyntaxError(str(error).partition(";")[0][:200], line + 1) from None


def parsed(environment: Environment, text: str, line: int = 0) -> nodes.Template:
    """The same, of nothing but what prompts have: it may be compiled.

    Raises:
        TemplateSyntaxError: it has none, or may not be one of prompts.
    """
    tree = tree_of(environment, text, line)
    _check(tree, line)
    return tree


def _too_many(line: int) -> TemplateSyntaxError:
    return TemplateSyntaxError(
        f"a part of a template has at most {NODES} names, constants and constructs", line
    )


def _check(tree: nodes.Template, line: int) -> None:
    """Without recursion, so that what nests too deep is told as what it is."""
    count = 0
    left: list[tuple[nodes.Node, int, int]] = [(tree, 0, line + 1)]
    while left:
        node, loops, at = left.pop()
        count += 1
        at = _line(node, line, at)
        if count > NODES:
            raise _too_many(at)
        if isinstance(node, _REACHING_OUT):
            raise TemplateSyntaxError("a template stands alone: no include, import or extends", at)
        if not isinstance(node, _ALLOWED) or (isinstance(node, nodes.For) and node.recursive):
            raise TemplateSyntaxError(
                f"{type(node).__name__.lower()} is not available in prompts", at
            )
        if (
            isinstance(node, nodes.Const)
            and isinstance(node.value, str)
            and not _encodes(node.value)
        ):
            raise TemplateSyntaxError("a text holds half a character: no prompt can", at)
        loops += isinstance(node, nodes.For)
        if loops > LOOPS:
            raise TemplateSyntaxError(f"loops nest deeper than {LOOPS}", at)
        left += ((child, loops, at) for child in node.iter_child_nodes())


def _line(node: nodes.Node, before: int, at: int) -> int:
    """Where it stands; some nodes do not know, and stand where what holds them does."""
    own = cast("int | None", node.lineno)
    return at if own is None else before + own


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def objection(tree: nodes.Template, line: int = 0) -> TemplateSyntaxError | None:
    """Why a new catalog does not take this tree, which was ``parsed``; None where it does."""
    left: list[tuple[nodes.Node, int, int]] = [(tree, 0, line + 1)]
    while left:
        node, depth, at = left.pop()
        at = _line(node, line, at)
        if depth > DEPTH:
            return TemplateSyntaxError(
                f"blocks, expressions and filters nest deeper than {DEPTH}", at
            )
        if _made(node):
            return TemplateSyntaxError("a list in a prompt is one of constants", at)
        left += ((child, depth + 1, at) for child in node.iter_child_nodes())
    return None


def _made(node: object) -> bool:
    """Whether this puts values together; the names that a loop or an assignment sets do not."""
    if isinstance(node, nodes.Tuple) and node.ctx != "load":
        return False
    return isinstance(node, nodes.List | nodes.Tuple) and not all(map(_constant, node.items))


def _constant(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Const) or (
        isinstance(node, nodes.List | nodes.Tuple) and all(map(_constant, node.items))
    )


def names_of(tree: nodes.Template) -> tuple[str, ...]:
    """Every name that it looks at, its own among them."""
    return tuple(
        sorted(
            {
                node.name
                for node in _all(tree)
                if isinstance(node, nodes.Name) and node.ctx == "load"
            }
        )
    )


def _all(tree: nodes.Node) -> list[nodes.Node]:
    """It and everything below it; without recursion."""
    found = [tree]
    for node in found:  # it grows on the way
        found += node.iter_child_nodes()
    return found


def charged(tree: nodes.Template) -> nodes.Template:
    """The same tree, which tells of its work."""
    every = _all(tree)
    work = [NODE_WORK * len(_all(node)) if isinstance(node, nodes.For) else 0 for node in every]
    for node in every:
        for name, value in list(node.iter_fields()):
            if isinstance(value, list):
                setattr(
                    node,
                    name,
                    [_told(one, MADE) if _made(one) else one for one in cast("list[Any]", value)],
                )
            elif _made(value):
                setattr(node, name, _told(value, MADE))
    for node, each in zip(every, work, strict=True):
        if isinstance(node, nodes.For):
            node.iter = _told(node.iter, TURNED, nodes.Const(each, lineno=node.lineno))
        elif isinstance(node, nodes.Compare | nodes.Operand) and not isinstance(
            node.expr, nodes.Const
        ):
            node.expr = _told(node.expr, COMPARED)
    return tree


def _told(node: Any, name: str, *args: nodes.Expr) -> Any:
    return nodes.Filter(node, name, list(args), [], None, None, lineno=node.lineno)
