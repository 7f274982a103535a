"""One YAML text into one JSON value, with the line of every place in it. The text may be hostile.

Only the parser's events are used: no tag, alias or constructor of the YAML library ever runs, so
there is nothing to switch off. Refused are anchors and aliases (a small text must not become a
large value), tags, duplicate and non-string keys, merge keys, several documents, deep nesting and
non-finite numbers. Plain scalars follow YAML 1.2: ``no`` and ``on`` are strings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from types import MappingProxyType
from typing import Any, cast

import yaml
from yaml import events as parsed

from ordain.contracts.faults import FieldPath
from ordain.errors import ConfigurationError
from ordain.verbs.yaml_value import YamlDocument

DEPTH_MAX = 32
"""Deepest nesting of lists and mappings."""


NUMBER_CHARACTERS_MAX = 60
"""Longest number; a longer one is refused, not rounded."""

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
_NUMBER = re.compile(r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?\Z")
_WORDS: MappingProxyType[str, bool | None] = MappingProxyType(
    {"": None, "~": None, "null": None, "Null": None, "NULL": None}
    | dict.fromkeys(("true", "True", "TRUE"), True)
    | dict.fromkeys(("false", "False", "FALSE"), False)
)
# The C parser is twenty times faster; both give the same events.
_parse: Callable[[str], Iterator[Any]] = partial(
    cast(Any, yaml).parse, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
)


def parse_document(text: str, source: str) -> YamlDocument:
    """Parse one document; ``source`` names the file in errors.

    Raises:
        ConfigurationError: not YAML, or more than plain data; the message is ``source:line: what is
            wrong``.
    """
    try:
        return _Builder(source).document(_parse(text))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _refused(source, line, f"not YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:  # a character YAML does not know
        raise _refused(source, 1, "not YAML: a character that is not allowed") from error


def _refused(source: str, line: int, what: str) -> ConfigurationError:
    return ConfigurationError(
        f"{source}:{line}: {what}", code="invalid_yaml", details={"file": source, "line": line}
    )


class _Builder:
    """Builds the value from parser events; recursion is bounded by ``DEPTH_MAX``."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._lines: dict[FieldPath, int] = {}

    def document(self, events: Iterator[Any]) -> YamlDocument:
        value: Any = None
        count = 0
        for event in events:
            if isinstance(event, parsed.DocumentStartEvent):
                count += 1
                if count > 1:
                    raise self._error(event, "more than one document")
            elif not isinstance(
                event, (parsed.StreamStartEvent, parsed.StreamEndEvent, parsed.DocumentEndEvent)
            ):
                value = self._node(event, events, ())
        return YamlDocument(value, MappingProxyType(self._lines))

    def _node(self, event: Any, events: Iterator[Any], path: FieldPath) -> Any:
        self._is_plain_data(event)
        if len(path) > DEPTH_MAX:
            raise self._error(event, f"nested deeper than {DEPTH_MAX}")
        self._lines[path] = event.start_mark.line + 1
        if isinstance(event, parsed.MappingStartEvent):
            return self._mapping(events, path)
        if isinstance(event, parsed.SequenceStartEvent):
            return [
                self._node(item, events, (*path, index))
                for index, item in enumerate(_until(events, parsed.SequenceEndEvent))
            ]
        return self._scalar(event)

    def _mapping(self, events: Iterator[Any], path: FieldPath) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for event in _until(events, parsed.MappingEndEvent):
            self._is_plain_data(event)
            key = self._scalar(event) if isinstance(event, parsed.ScalarEvent) else None
            if not isinstance(key, str):
                raise self._error(event, "a key is not a string")
            if key == "<<":
                raise self._error(event, "merge keys are refused")
            if key in mapping:
                raise self._error(event, f"duplicate key {key[:60]!r}")
            mapping[key] = self._node(next(events), events, (*path, key))
            self._lines[*path, key] = event.start_mark.line + 1
        return mapping

    def _is_plain_data(self, event: Any) -> None:
        if isinstance(event, parsed.AliasEvent) or event.anchor is not None:
            raise self._error(event, "anchors and aliases are refused")
        if event.tag is not None:
            raise self._error(event, f"tag {event.tag[:40]} is refused")

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if not event.implicit[0]:  # in quotes, or a block
            return text
        if text in _WORDS:
            return _WORDS[text]
        if not _NUMBER.match(text):
            return text
        if len(text) <= NUMBER_CHARACTERS_MAX and math.isfinite(number := float(text)):
            return int(text) if _INTEGER.match(text) else number
        raise self._error(event, "number out of range")

    def _error(self, event: Any, what: str) -> ConfigurationError:
        return _refused(self._source, event.start_mark.line + 1, what)


def _until(events: Iterator[Any], end: type) -> Iterator[Any]:
    for event in events:
        if isinstance(event, end):
            return
        yield event
