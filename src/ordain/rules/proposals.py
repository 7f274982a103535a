"""Reading a model's raw answer: one JSON object, fences and prose around it stripped, nothing
invented (B-26).

Parsing is pure and total; it finds what is there and judges only syntax. Everything else is a
rule's business.
"""

from __future__ import annotations

import json
import math
import re
from itertools import accumulate
from typing import Any

from msgspec import Struct

from ordain.contracts.json_only import INTEGER_BOUND
from ordain.rules.reasons import Reason


class ProposalReason(Reason):
    """Why an answer is no JSON object that anything can be read from (B-25, B-26)."""

    EMPTY = "step.syntax.empty", "The answer is empty."
    PROSE = "step.syntax.prose", "The answer holds no JSON object."
    BROKEN = "step.syntax.broken", "The answer's JSON is malformed or cut off."
    SEVERAL = "step.syntax.several", "The answer holds more than one JSON value."
    NOT_OBJECT = "step.syntax.not_object", "The answer is JSON but not an object."
    DUPLICATE_KEY = "step.syntax.duplicate_key", "An object names a key twice."
    NOT_FINITE = "step.syntax.not_finite", "A number is NaN, infinite or out of range."
    ENCODING = "step.syntax.encoding", "The text is not well-formed Unicode."
    TOO_LARGE = "step.size.bytes", "The directive is longer than policy allows."
    TOO_DEEP = "step.size.depth", "The directive nests deeper than policy allows."


PARSE_BYTES = 1_000_000
"""Above this nothing is parsed: the answer is too large whatever it says."""
PARSE_DEPTH = 200
"""Above this nothing is parsed: the answer is too deep whatever it says."""
_TOKENS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|([{}\[\]])', re.DOTALL)
"""A string, ended or not, or a bracket, which alone is a group. Possessive, and an open string runs
to the end: the time is linear for every text.
"""


THOUGHT_TAGS = ("<think>", "<thinking>", "<thought>")
"""With one of these begins what a model that thinks aloud puts before its words; it ends with the
same one, closed.
"""
BLANKS_BEFORE = 64
"""So many blanks may stand before it."""
_THOUGHT = re.compile(
    rf"\s{{0,{BLANKS_BEFORE}}}<({'|'.join(tag[1:-1] for tag in THOUGHT_TAGS)})>.*?(?:</\1>\s*|\Z)",
    re.DOTALL | re.IGNORECASE,
)


def without_thought(text: str) -> str:
    """A text without the thought that it begins with, which may have been cut off."""
    found = _THOUGHT.match(text)
    return text[found.end() :] if found else text


_DEEPER = {"{": 1, "[": 1, "}": -1, "]": -1}


_NESTING = frozenset({dict, list})
"""What JSON that nests is read as, and no class below them."""


class Parsed(Struct, frozen=True, kw_only=True):
    """One JSON object with its size in UTF-8 bytes."""

    value: dict[str, Any]
    size_bytes: int

    @property
    def depth(self) -> int:
        """How deep it nests, the object itself being 1."""
        depth = 0
        level: list[dict[str, Any] | list[Any]] = [self.value]
        while level:
            depth += 1
            below: list[Any] = []
            for outer in level:
                for one in outer.values() if isinstance(outer, dict) else outer:
                    if type(one) in _NESTING:
                        below.append(one)  # noqa: PERF401 - no comprehension: for each answer
            level = below
        return depth


class Unparsed(Struct, frozen=True, kw_only=True):
    """Why no object was found."""

    reason: Reason
    size_bytes: int


class _Refused(ValueError):
    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Refused(ProposalReason.DUPLICATE_KEY)
    return found


def _constant(_: str) -> float:
    raise _Refused(ProposalReason.NOT_FINITE)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _Refused(ProposalReason.NOT_FINITE)
    return value


def _integer(text: str) -> int:
    if len(text) > 20 or not -INTEGER_BOUND <= (value := int(text)) < INTEGER_BOUND:
        raise _Refused(ProposalReason.NOT_FINITE)
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float, parse_int=_integer
)
_PLAIN_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)
"""Tells JSON from prose and judges no number: prose may begin with one, or with the word
Infinity.
"""


def nesting(text: str, start: int = 0) -> int:
    """Deepest nesting of the JSON value that begins at ``start``; what stands before or after it
    does not count.
    """
    if text.count("{", start) + text.count("[", start) <= 1:
        return 1
    # all at once: this is done for every answer and output
    brackets = filter(None, _TOKENS.findall(text, start))
    depths = list(accumulate(map(_DEEPER.__getitem__, brackets)))
    if not depths or depths[0] < 0:
        return 0
    return max(depths[: depths.index(0)] if 0 in depths else depths)


def _may_nest_deeper(text: str) -> bool:
    """Whether it has brackets enough to be too deep; few answers have."""
    return text.count("{") + text.count("[") > PARSE_DEPTH


def parse_object(raw: str) -> Parsed | Unparsed:
    """Find the one JSON object in an answer.

    A second object makes it several. A list beside it is prose, as a footnote's ``[1]`` is:
    recorded answers were judged so, and are when they are replayed.
    """
    try:
        size = len(raw.encode())
    except UnicodeEncodeError:
        return Unparsed(reason=ProposalReason.ENCODING, size_bytes=len(raw))
    text = raw.strip().removeprefix("\ufeff").strip()
    if not text:
        return Unparsed(reason=ProposalReason.EMPTY, size_bytes=size)
    if size > PARSE_BYTES:
        return Unparsed(reason=ProposalReason.TOO_LARGE, size_bytes=size)
    start = text.find("{")
    if _may_nest_deeper(text) and nesting(text, max(start, 0)) > PARSE_DEPTH:
        return Unparsed(reason=ProposalReason.TOO_DEEP, size_bytes=size)
    try:
        value = _one_object(text, start)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except _Refused as refused:
        return Unparsed(reason=refused.reason, size_bytes=size)
    except UnicodeEncodeError:
        return Unparsed(reason=ProposalReason.ENCODING, size_bytes=size)
    return Parsed(value=value, size_bytes=size)


_FENCED = re.compile(r"```[a-zA-Z]{0,10}[ \t]*\r?\n?(.*)```", re.DOTALL)


def parse_whole(raw: str) -> Parsed | Unparsed:
    """An answer that is one JSON object and nothing else, a code fence around it apart: of what
    decides by itself nothing is taken out of prose.
    """
    parsed = parse_object(raw)
    if isinstance(parsed, Unparsed):
        return parsed
    text = raw.strip().removeprefix("\ufeff").strip()
    fenced = _FENCED.fullmatch(text)
    inner = fenced[1].strip() if fenced else text
    if inner.startswith("{") and inner.endswith("}"):
        return parsed
    return Unparsed(reason=ProposalReason.PROSE, size_bytes=parsed.size_bytes)


def read_text(raw: str, field: str) -> Parsed | Unparsed:
    """Words for a person, without the thought before them, as the one field of an output: what
    stands in them is theirs, JSON as well.
    """
    try:
        size = len(raw.encode())
    except UnicodeEncodeError:
        return Unparsed(reason=ProposalReason.ENCODING, size_bytes=len(raw))
    text = without_thought(raw)
    if not text.strip():
        return Unparsed(reason=ProposalReason.EMPTY, size_bytes=size)
    return Parsed(value={field: text}, size_bytes=size)


def _one_object(text: str, start: int) -> dict[str, Any]:
    if start != 0 and _is_other_json(text):
        raise _Refused(ProposalReason.NOT_OBJECT)
    if start < 0:
        raise _Refused(ProposalReason.PROSE)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError:
        raise _Refused(ProposalReason.BROKEN) from None
    after = text[end:].lstrip()
    if "{" in after:
        raise _Refused(ProposalReason.SEVERAL)
    if after.startswith("]") or text[:start].rstrip().endswith("["):
        # part of a list: taking it out would be a choice that is not ours
        raise _Refused(ProposalReason.NOT_OBJECT)
    if after.startswith("}"):
        raise _Refused(ProposalReason.BROKEN)
    return value


def _is_other_json(text: str) -> bool:
    inner = text.strip("`").removeprefix("json").strip() if text.startswith("```") else text
    if inner.startswith("[") and _may_nest_deeper(inner) and nesting(inner) > PARSE_DEPTH:
        raise _Refused(ProposalReason.TOO_DEEP)
    try:
        value, end = _PLAIN_DECODER.raw_decode(inner)
    except json.JSONDecodeError:
        return False
    return not isinstance(value, dict) and not inner[end:].strip()
