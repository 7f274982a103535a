"""What a directive means that was refused for its shape: the call of a tool, or none (RTE-12).

Models call tools in many dialects: as JSON in other envelopes, as functions of a program, in tags
and marks of their own. Whatever has the form of a call counts as one that was proposed; a tool that
is only spoken of is none. A wrong yes costs an ``ok``, a wrong no gives one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any, cast

NAMES = ("tool_id", "tool", "tool_name", "name", "function", "recipient_name", "action")
INPUTS = ("input", "arguments", "args", "parameters", "tool_input", "action_input", "kwargs")
CALLS = ("tool_calls", "tool_call", "function_call", "function_calls", "calls")
_DESCRIBES = frozenset({"description", "input_schema", "schema"})
_QUOTES = re.compile(r"&quot;|&#34;|\\+\"|[\u201c\u201d\u201e\u201f\uff02]")
_MARKS = re.compile(
    r"\[TOOL_CALLS\]|<[|\uff5c](?:python_tag|tool|DSML)|<(?:tool_calls?|function_calls?|invoke|"
    r"tool_use|function=)",
    re.IGNORECASE,
)
"""Marks and tags of dialects that stand nowhere but before a call."""
_SEPARATORS = re.compile(r"[._-]")
ANY_ID = r"[a-z][\w.-]{0,99}"
BETWEEN = 200
"""Characters between the name of a tool and its input, at most."""
_AROUND = " \t\r\n\ufeff`'\""
_CALLED = re.compile(
    rf"[\"']?\b(?:{'|'.join(NAMES)})[\"']?\s{{0,9}}[:=][^\S\n]{{0,9}}[\"'`]?(?P<key>{ANY_ID})"
    r"|^[^\w\n"
    r"]{0,9}(?:action\s{0,9}:|call\s{1,9}|print\()?\s{0,9}(?:functions\.|"
    rf"default_api\.)?(?P<line>{ANY_ID}?)(?:\.call)?\s{{0,3}}[(\[{{]"
    rf"|<(?:function=)?(?P<tag>{ANY_ID})>|[\"'](?P<object>{ANY_ID})[\"']\s{{0,9}}:\s{{0,9}}\{{",
    re.IGNORECASE | re.MULTILINE,
)
"""What may be the name of a tool where one is called; of a verb's name alone it is one."""
_IDS = re.compile(rf"(?:functions\.)?\b{ANY_ID}", re.IGNORECASE)
TEXT_MAX = 20_000
"""So much of a text is looked at: a call that comes later is refused like any other, and counted as
none.
"""


def means_call(said: Mapping[str, Any] | None, text: str, tools: Collection[str]) -> bool:
    """Whether a refused directive proposes a call: ``said`` is the object that was found in
    ``text``, None where there was none.
    """
    alone = said is not None and _begins(text) == "{"
    return (said is not None and _object_calls(said, tools)) or (
        not alone and _text_calls(text[:TEXT_MAX], tools)
    )


def called_verb(said: Mapping[str, Any] | None, text: str, verbs: Collection[str]) -> str:
    """The first of the registered verbs that a refused directive means to call; "" where it calls
    none of them.

    Its name may be written with other separators, case and blanks around it; a name that is
    otherwise no verb's calls nothing that there is.
    """
    known = {_spelled(verb): verb for verb in verbs}
    if not means_call(said, text, verbs):
        return ""
    named = () if said is None else _names(said)
    names = (_spelled(name) for name in chain(named, _named_in(text[:TEXT_MAX])))
    return next(
        (
            known[one]
            for name in names
            for one in (name, name.removesuffix("_call"))
            if one in known
        ),
        "",
    )


def _named_in(text: str) -> Iterator[str]:
    """What a text names as what it calls; behind a mark of a dialect whatever may be a name."""
    plain = _QUOTES.sub('"', text)
    yield from (found[found.lastgroup or 0] for found in _CALLED.finditer(plain))
    if (mark := _MARKS.search(plain)) is not None:
        yield from _IDS.findall(plain, mark.end())


def _spelled(name: str) -> str:
    return _SEPARATORS.sub("_", name.strip().removeprefix("functions.")).casefold()


def _names(said: Mapping[str, Any]) -> Iterator[str]:
    """What an object names as what it calls: its action's first, then that of every object in
    it.
    """
    action = said.get("action")
    if isinstance(action, str):
        yield action
    for value in (action, *_objects(said)):
        if isinstance(value, dict):
            one = cast("dict[str, Any]", value)
            yield from (name for key in NAMES if isinstance(name := one.get(key), str))
            yield from (key for key, inner in one.items() if isinstance(inner, dict))


def _object_calls(said: Mapping[str, Any], tools: Collection[str]) -> bool:
    action = said.get("action")
    if isinstance(action, dict) and any(
        cast("dict[str, Any]", action).get(key) for key in (*NAMES, *INPUTS)
    ):
        return True
    if isinstance(action, str) and (_is_tool(action, tools) or _text_calls(action, tools)):
        return True
    if any(said.get(key) for key in CALLS):
        return True
    if said.get("final_answer") or said.get("finish") is True:
        return False  # what an answer says beside itself is no call
    return any(_is_call(value, tools) for value in _objects(said))


def _is_call(value: Mapping[str, Any], tools: Collection[str]) -> bool:
    """An object that names a tool on offer and does not describe it; or names any, with an input.
    Or whose key is the tool.
    """
    named = next(
        (name for key in NAMES if isinstance(name := value.get(key), str) and name.strip()), ""
    )
    if named and any(key in value for key in INPUTS):
        return True
    if named and _is_tool(named, tools) and not _DESCRIBES.intersection(value):
        return True
    return any(isinstance(inner, dict) and _is_tool(key, tools) for key, inner in value.items())


def _is_tool(text: str, tools: Collection[str]) -> bool:
    said = _SEPARATORS.sub("_", text.strip().removeprefix("functions."))
    return any(said == _SEPARATORS.sub("_", tool) for tool in tools)


def _objects(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every object in a value, at any depth that ``parse_object`` lets through; a thought and an
    answer hold none.
    """
    waiting: list[Any] = [
        {key: part for key, part in value.items() if key not in ("thought", "final_answer")}
    ]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield (one := cast("dict[str, Any]", part))
            waiting.extend(one.values())
        elif isinstance(part, list):
            waiting.extend(cast("list[Any]", part))


def _begins(text: str) -> str:
    """With which sign a text begins, a fence or quotes around it apart."""
    return text.lstrip(_AROUND).removeprefix("json").lstrip()[:1]


def _text_calls(text: str, tools: Collection[str]) -> bool:
    plain = _QUOTES.sub('"', text)
    if _MARKS.search(plain):
        return True
    whole, within = _patterns(tuple(sorted(tools)))
    return bool((_begins(plain) in ("{", "[") and whole.search(plain)) or within.search(plain))


@lru_cache(maxsize=32)
def _patterns(tools: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What means a call where JSON was begun, and what does anywhere."""
    offered = (
        "|".join(r"[._-]".join(map(re.escape, _SEPARATORS.split(tool))) for tool in tools)
        or r"(?!)"
    )
    name, given = "|".join(NAMES), "|".join(INPUTS)
    key = rf"[\"']?(?:{name})[\"']?\s{{0,9}}[:=]\s{{0,9}}"
    whole = (
        rf"{key}[\"'](?:{offered})\b|[\"']action[\"']\s{{0,9}}:\s{{0,9}}\{{|[\"'](?:"
        rf"{offered})[\"']\s{{0,9}}:\s{{0,9}}\{{"
    )
    anywhere = (
        (
            rf"{key}[\"']?(?:{ANY_ID})[\"']?[\s,;]{{1,9}}(?:[^{{}}]{{0,"
            rf"{BETWEEN}}}?[\s\"'])?[\"']?(?:"
            rf"{given})[\"']?\s{{0,9}}[:=](?!\s{{0,9}}\{{\.\.\.)"
        ),
        (
            r"^[^\w\n"
            r"]{0,9}(?:action\s{0,9}:|call\s{1,9}|print\()?\s{0,9}(?:functions\.|"
            rf"default_api\.)?(?:{offered})(?:\.call)?\s{{0,3}}[(\[{{]"
        ),
        rf"^[^\w\n]{{0,9}}action\s{{0,9}}:\s{{0,9}}[\"'`]?(?:{offered})\b",
        rf"<(?:{offered})>",
        r"^[^\w\n]{0,9}action\s{0,9}:[^\n]{1,200}\n[^\w\n]{0,9}action.?input\s{0,9}:",
    )
    return re.compile(whole, re.IGNORECASE), re.compile(
        "|".join(f"(?:{one})" for one in anywhere), re.IGNORECASE | re.MULTILINE
    )
