"""Can a tool's required arguments be filled from a request's own words? Only where exactly one
value can be meant.

The argument's declaration says what to look for: a ``format``, a ``pattern``, an ``enum``, a
number, or one of a few names that say as much (``url``, ``path``, ``expression``, ``text``). Two
different candidates are none. What was filled is checked against the schema.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgspec

from ordain.contracts.schema import Schema
from ordain.errors import ConfigurationError

_TRAILING = ".,;:!?\"'”’»)]}>"
_URL = re.compile(r"https?://[^\s<>\"'“”«»]+", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,/:-])(?<!\d\s)-?\d+(?:\.\d+)?(?![\w/:-]|[.,]\d|\s\d)")
_THOUSANDS = re.compile(r"-?\d{1,3}\.\d{3}")
_NEGATED = re.compile(r"\b(?:minus|negative|moins|menos|meno)\s+$", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w/:.@~-])(?:~/|\.{0,2}/)?[\w.-]+(?:/[\w.-]+)*(?![\w/@-])")
_EXTENSION = re.compile(r".*[^.]\.[A-Za-z][A-Za-z0-9]{0,7}")
_EXPRESSION = re.compile(r"(?<![\w.])[-(]{0,10}\d[\d\s.()+*/%^-]{0,200}[\d)](?![\w.]*\w)")
_OPERATOR = re.compile(
    r"\d[\s)]*[+*^%][\s(-]*\d|\d[\s)]*\*\*[\s(-]*\d|[\d)]\s+[-/]\s+[\d(-]|\)\s*[-/]|[-/]\s*\("
)
_JOINED = frozenset("+-*/%^=.,_)")
"""Before or after an expression these make it a part of something larger."""
_FILES = frozenset(
    {
        "csv",
        "htm",
        "html",
        "ini",
        "json",
        "log",
        "md",
        "pdf",
        "rst",
        "tex",
        "toml",
        "tsv",
        "txt",
        "xml",
        "yaml",
        "yml",
    }
)
_FORMATS = {
    "email": re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "uuid": re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"),
    "date": re.compile(r"(?<![\w-])\d{4}-\d{2}-\d{2}(?![\w-])"),
    "date-time": re.compile(
        r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})"
    ),
    "ipv4": re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])"),
}
PATTERN_WORDS = 200
"""In a longer text rules do not look for the one word that a pattern means."""
_SEARCHED_CHARS = 50_000


def fill(schema: object, text: str, words: str) -> dict[str, Any] | None:
    """The tool's input, or None where its required arguments cannot all be filled, or it requires
    none.

    ``text`` is the text the request is about, ``words`` all the requester's own words, in which
    other candidates are looked for.
    """
    if not isinstance(schema, Mapping):
        return None
    shape = cast("Mapping[str, Any]", schema)
    try:
        compiled = Schema(shape)  # first, so that the rules below meet only what a schema can be
    except ConfigurationError:
        return None
    properties: Mapping[str, Any] = shape.get("properties") or {}
    required: Sequence[str] = shape.get("required") or ()
    filled: dict[str, Any] = {}
    for name in required:
        declared: Any = properties.get(name)
        values = (
            _candidates(name, cast("Mapping[str, Any]", declared), text, words[:_SEARCHED_CHARS])
            if isinstance(declared, Mapping)
            else []
        )
        if len(values) != 1:
            return None
        filled[name] = values[0]
    from_words = any("const" not in properties[name] for name in filled)
    return filled if from_words and compiled.accepts(filled) else None


def _candidates(name: str, declared: Mapping[str, Any], text: str, words: str) -> list[Any]:
    """The different values that could be meant."""
    if "const" in declared:
        return [declared["const"]]
    if "enum" in declared:
        return [
            value
            for value in declared["enum"]
            if isinstance(value, str) and _stands_in(value, words)
        ]
    match declared.get("type"):
        case "integer" | "number" as kind:
            return _numbers(words, whole=kind == "integer", fits=_fitting(declared))
        case "string":
            return _strings(name.lower(), declared, text, words)
        case _:
            return []


def _strings(name: str, declared: Mapping[str, Any], text: str, words: str) -> list[str]:
    fits = _fitting(declared)
    form: Any = declared.get("format")
    if form in {"uri", "url", "iri"} or (form is None and name in {"url", "uri", "link", "href"}):
        return _distinct(_URL.findall(words), fits)
    if form is not None:
        return _distinct(_FORMATS[form].findall(words), fits) if form in _FORMATS else []
    without_urls = _URL.sub(" ", words)
    if name in {"path", "file", "filename", "file_path", "filepath"}:
        return _distinct([found for found in _PATH.findall(without_urls) if _is_path(found)], fits)
    if name in {"expression", "expr", "formula"}:
        return _distinct(
            [
                found[0].strip()
                for found in _EXPRESSION.finditer(without_urls)
                if _stands_alone(found)
            ],
            fits,
        )
    if "pattern" in declared:
        found = words.split(maxsplit=PATTERN_WORDS)
        return _distinct(found, fits) if len(found) <= PATTERN_WORDS else []
    return [text] if name == "text" and text.strip() else []


def _fitting(declared: Mapping[str, Any]) -> Callable[[object], bool]:
    try:
        return Schema(declared).accepts
    except ConfigurationError:
        return lambda _: False


def _distinct(found: Sequence[str], fits: Callable[[object], bool]) -> list[str]:
    """Each different one that fits, without the punctuation of the sentence around it."""
    return list(dict.fromkeys(value for raw in found if fits(value := _bare(raw))))


def _bare(raw: str) -> str:
    """Without trailing punctuation; a closing bracket stays where the value opened one."""
    value = raw.lstrip("\"'“‘«<")  # noqa: RUF001 - opening quotes
    while (
        value
        and value[-1] in _TRAILING
        and not (value[-1] == ")" and value.count("(") >= value.count(")"))
    ):
        value = value[:-1]
    return value


def _numbers(words: str, *, whole: bool, fits: Callable[[object], bool]) -> list[float | int]:
    found: list[float | int] = []
    for match in _NUMBER.finditer(words):
        digits = match[0]
        if _THOUSANDS.fullmatch(digits) or _NEGATED.search(
            words[max(0, match.start() - 20) : match.start()]
        ):
            return []  # what is meant depends on where the writer comes from
        if whole and "." in digits:
            continue
        value: float | int = (
            msgspec.json.decode(digits)
            if re.fullmatch(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?", digits)
            else float("nan")
        )
        if value == value and fits(value) and value not in found:  # noqa: PLR0124 - NaN stands for digits that are no JSON number
            found.append(value)
    return found


def _is_path(found: str) -> bool:
    bare = _bare(found)
    return any(character.isalpha() for character in bare) and (
        bare.startswith(("/", "~/", "./", "../"))
        or ("/" in bare and bool(_EXTENSION.fullmatch(bare)))
        or bare.rpartition(".")[2].lower() in _FILES
    )


def _stands_alone(found: re.Match[str]) -> bool:
    """Arithmetic and nothing but: an operator between numbers, well-formed, and no part of
    something larger.
    """
    text, whole = found[0], found.string
    before, after = whole[: found.start()].rstrip(), whole[found.end() :]
    if not _OPERATOR.search(text) or (before and before[-1] in _JOINED):
        return False
    following = after.lstrip()
    if following and (following[0] in "+-*/%^=(" or (after[0] in ".," and after[1:2].isdigit())):
        return False
    try:
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    arithmetic = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
    return all(isinstance(node, arithmetic) for node in ast.walk(tree))


def _stands_in(value: str, words: str) -> bool:
    return (
        bool(value)
        and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", words, re.IGNORECASE) is not None
    )
