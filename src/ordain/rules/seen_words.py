"""What people see of the words that an answer's JSON holds for them: no thought that a model wrote
into them, and nothing where nothing of them is seen. Pure.

Answers are brought into this form before they are recorded, as ``thought_tags`` does with what
stands around an answer's words or its object: so whoever judges an answer finds "" where it says
nothing, and what was recorded before reads as it did. What is no such word of an answer stays as it
is, data that looks alike too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from ordain.contracts.visible import shows_nothing
from ordain.rules.proposals import Parsed, parse_object
from ordain.rules.thought_tags import CHANNELS, EITHER, spoken

EVERY = "*"
"""Stands in a place for each item of a list."""
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


def seen_words(text: str) -> str:
    """The words of a text without the thoughts in it; "" where none of them is seen."""
    if EITHER.search(text) is not None or CHANNELS.search(text) is not None:
        text = spoken(text)
    return "" if shows_nothing(text) else text


def with_seen_words(answer: str, places: Sequence[str]) -> str:
    """An answer that is to hold one JSON object, with what is seen of the texts at these places
    (keys from the top, joined by dots) in their stead.

    An answer in which all of them are seen whole stays as it is to the byte, and so does one that
    no object can be read from.
    """
    if not places or (answer.isascii() and _shows_all(answer)):
        return answer
    parsed = parse_object(answer)
    if not isinstance(parsed, Parsed) or not [
        place for place in places if _replaced(parsed.value, place.split("."))
    ]:
        return answer
    start = answer.index("{")
    _, end = _DECODER.raw_decode(answer, start)
    return answer[:start] + json.dumps(parsed.value, ensure_ascii=False) + answer[end:]


def _shows_all(answer: str) -> bool:
    """Whether an answer in ASCII surely holds no mark of a thought, and no sign by its number."""
    return "<" not in answer and "[THINK]" not in answer and "\\u" not in answer


def _replaced(value: Any, path: Sequence[str]) -> bool:
    """Put what is seen of the texts at a place in their stead; whether that is anything else."""
    key, *below = path
    if key == EVERY:
        return (
            bool([one for one in cast("list[Any]", value) if _replaced(one, below)])
            if isinstance(value, list)
            else False
        )
    if not isinstance(value, dict) or key not in value:
        return False
    members = cast("dict[str, Any]", value)
    if below:
        return _replaced(members[key], below)
    text = members[key]
    if not isinstance(text, str) or (seen := seen_words(text)) == text:
        return False
    members[key] = seen
    return True
