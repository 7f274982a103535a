"""What a prompt plan's answer may refer to: the passages it was given by their numbers, and its
input's own words.

A schema cannot say it, because it depends on the call: a citation of a passage that was not given,
or a quotation that stands nowhere, is a proposal that code refuses like any other. Where no model
is configured, code quotes and cites nothing; a model that calls its own answer quoted is held to
it, word for word. Part of rule ``output``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from ordain.contracts.grounds import Ground

QUOTED = "quoted"
"""The ``method`` of an output that nothing analysed: its texts are the input's own."""
_STRAIGHT = str.maketrans("‘’“”\u00a0", "''\"\" ")  # noqa: RUF001 - a model sets quotation marks as it likes


def find_ungrounded(
    grounds: Sequence[Ground],
    output: Mapping[str, Any],
    given: Mapping[str, Any],
    *,
    by_code: bool = False,
) -> str:
    """The place of the first reference that leads nowhere, as ``path: what``; "" where there is
    none. Never a value.

    ``by_code``: the answer is recorded as that of the code that quotes. It cites nothing and needs
    no reference; what an answer says of itself excuses it from none.
    """
    for ground in grounds:
        for place, value in _at(output, ground.output.split("/")):
            if value is None:
                if not ground.optional and not (by_code and says_quoted(output)):
                    return f"{place}: required"
            elif ground.by == "number" and not _counts(value, given, ground.input):
                return f"{place}: no such {ground.input}"
            elif ground.by == "quote" and not _stands(value, given, ground.input):
                return f"{place}: not in {ground.input}"
    return ""


def says_quoted(output: Mapping[str, Any]) -> bool:
    """Whether an answer says of itself that its texts are the input's own."""
    return output.get("method") == QUOTED


def find_unquoted(output: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """The place of the first text of an answer that says it quotes, and that stands nowhere in the
    input; "" where there is none.
    """
    if not says_quoted(output):
        return ""
    among = [_evened(text) for _, text in _texts(given)]
    for place, text in _texts({name: value for name, value in output.items() if name != "method"}):
        if (said := _evened(text)) and not any(said in one for one in among):
            return f"{place}: not in the input, and method is {QUOTED}"
    return ""


def _texts(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a value, with its place. Values are as deep as a proposal may be."""
    match value:
        case str():
            yield place, value
        case list():
            for number, item in enumerate(cast("list[Any]", value)):
                yield from _texts(item, f"{place}/{number}")
        case Mapping():
            for name, item in cast("Mapping[str, Any]", value).items():
                yield from _texts(item, f"{place}/{name}")
        case _:
            return


def _counts(value: object, given: Mapping[str, Any], path: str) -> bool:
    among = next((found for _, found in _at(given, path.split("/"))), ())
    return (
        isinstance(value, int)
        and isinstance(among, Sequence)
        and 1 <= value <= len(cast("Sequence[Any]", among))
    )


def _stands(value: object, given: Mapping[str, Any], path: str) -> bool:
    """Whether the words stand in the input; blanks, case and the form of quotation marks do not
    count.
    """
    said = _evened(value)
    return bool(said) and any(said in _evened(text) for _, text in _at(given, path.split("/")))


def _evened(value: object) -> str:
    return " ".join(value.translate(_STRAIGHT).casefold().split()) if isinstance(value, str) else ""


def _at(value: object, path: Sequence[str], place: str = "") -> Iterator[tuple[str, object]]:
    """Every value at a path, with its place; ``*`` is each item of a list. What is not there is no
    value; a null list is one null.
    """
    if not path:
        yield place, value
    elif path[0] == "*":
        if value is None:
            yield place, None
        for number, item in enumerate(cast("list[Any]", value) if isinstance(value, list) else ()):
            yield from _at(item, path[1:], f"{place}/{number}")
    elif isinstance(value, Mapping) and path[0] in value:
        yield from _at(cast("Mapping[str, Any]", value)[path[0]], path[1:], f"{place}/{path[0]}")
