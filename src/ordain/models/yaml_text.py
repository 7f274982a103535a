"""A person's own file in YAML: plain values, anchors and merge keys, and no key that a later one
overwrites without a word.
"""

from __future__ import annotations

from typing import Any

import yaml

_UNREADABLE = (ValueError, LookupError, AttributeError, TypeError, OverflowError)
"""What the library's constructors raise of values that do not fit their tags: ``!!int ""``,
``2026-99-99``, a number with more digits than can be read.
"""


def yaml_tree(text: str) -> object:
    """What a YAML text holds.

    Raises:
        ValueError: it is none, or more than can be read; with the line where that is known, and
            nothing else of the text but a key that stands twice.
    """
    try:
        return yaml.load(text, _UniqueKeys)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ValueError(f"{line}{error.problem or error.context}") from None
    except yaml.YAMLError:
        raise ValueError("a character that YAML does not allow") from None
    except RecursionError:
        raise ValueError("it nests too deep") from None
    except _UNREADABLE:
        raise ValueError(
            "a value in it cannot be read: a number, a time, or what is no value of its tag"
        ) from None


class _UniqueKeys(yaml.SafeLoader):
    """Looks at the keys as they are written: later, those of what is merged stand among them."""

    def compose_mapping_node(self, anchor: dict[Any, yaml.Node]) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        known = set[str]()
        for key, _ in node.value:
            if isinstance(key.value, str) and key.value != "<<" and key.value in known:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key.value!r} stands twice", key.start_mark
                )
            if isinstance(key.value, str):
                known.add(key.value)
        return node
