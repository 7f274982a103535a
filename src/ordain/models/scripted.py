"""The scripted provider: plays a file of proposals, for demos, tests and benchmarks. It says in
every reply that it is no model.

Which item answers depends on the request alone (``index``, ``purpose``, role, the verb), never on
memory, so that a resumed run gets what the killed one would have got. A file::

    planner:                          # the n-th model call of this purpose in a run gets the
                                      # n-th item
      - {thought: ..., finish: false, action: {tool_id: ..., input: {...}}, final_answer: null}
      - "text that is sent as it is"  # malformed on purpose
      - {$error: rate_limited, message: slow down, retry_after_ms: 500}
      - {$delay_ms: 200, $answer: {thought: ..., finish: true, ...}}
      - {$text_ms: 20, $answer: ...}  # where somebody listens, the text comes in pieces with
                                      # such a pause between them
    router: [...]                     # the same for this purpose, for supervisor, triage, workflow
    seat: {Analyst: [...], "*": [...]} # where several are asked: the n-th call as this one;
                                      # "*": as any other
    verbs:
      some_verb: [...]                # the same for the runs of a prompt-plan verb; of one that
                                      # answers in words, texts or {content: ...}
    cases:                            # optional: the first case whose words stand in the request
                                      # takes the whole file's place
      - {when: {contains: some words}, planner: [...], verbs: {...}}

A chat turn's case is chosen by its current message alone, any other request's by its goal, texts,
history and input: of agents by the request, of a council by the question. A supervisor is shown
steps and none of these: no case is its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.verbs import text_of
from ordain.errors import ConfigurationError
from ordain.models.narrative import early_text, place_of
from ordain.models.yaml_text import yaml_tree
from ordain.owned_files import regular_bytes
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.runtime.time_limit import TimeLimit

NOTICE = "scripted proposals, no language model"
SCRIPT_BYTES = 16 * 1024 * 1024
DELAY_MS_MAX = 600_000
OTHER_KEYS = frozenset({"verbs", "cases", "when"})
"""What a script holds beside a list per purpose; verbs have one each."""
ANY_ROLE = "*"
"""As whom a list is for that is for no one role."""
PIECE_CHARS = 12
_ASKED_ABOUT = ("goal", "user_message", "history", "facts", "input", "request", "known", "question")
_WAITS = ("$delay_ms", "$text_ms")


class _Item(Struct, frozen=True):
    """One prepared item: wait ``delay_ms``, then answer; ``text_ms`` between pieces of its text.

    ``words`` are what an object says where plain text is asked for; None: the answer as it is.
    """

    answer: str | ModelError
    delay_ms: int = 0
    text_ms: int = 0
    words: str | None = None

    def said(self, request: ModelRequest) -> str:
        """The answer as text; what only fails says nothing."""
        answer = "" if isinstance(self.answer, ModelError) else self.answer
        return answer if request.schema is not None or self.words is None else self.words


class _Part(Struct, frozen=True):
    """The items by purpose and role, and each verb's."""

    purposes: Mapping[str, Mapping[str, tuple[_Item, ...]]] = {}
    verbs: Mapping[str, tuple[_Item, ...]] = {}

    def items(self, request: ModelRequest) -> tuple[_Item, ...]:
        if request.verb:
            return self.verbs.get(request.verb, ())
        by_role = self.purposes.get(request.purpose, {})
        return by_role.get(request.role or ANY_ROLE, by_role.get(ANY_ROLE, ()))


class Script(Struct, frozen=True):
    """A checked script; make one with ``read_script`` or ``make_script``."""

    default: _Part
    cases: tuple[tuple[str, _Part], ...] = ()

    def items(self, request: ModelRequest) -> tuple[_Item, ...]:
        """The items that stand for this request, in order of its index."""
        if self.cases:
            told = ("message",) if request.inputs.get("message") is not None else _ASKED_ABOUT
            asked = (
                msgspec.json.encode([request.inputs.get(name) for name in told]).decode().casefold()
            )
            for words, part in self.cases:
                if words in asked:
                    return part.items(request)
        return self.default.items(request)


class ScriptedModel:
    """Plays a script. Errors: beyond a list's end ``script_exhausted``; otherwise what the script
    says.
    """

    def __init__(self, script: Script) -> None:
        """One value may serve any number of runs; it keeps no state."""
        self._script = script

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """The item at the request's index."""
        items = self._script.items(request)
        if not 0 <= request.index < len(items):
            what = " ".join(filter(None, (request.purpose, request.role, request.verb)))
            message = (
                f"the script has {len(items)} proposals for {what[:150]}; number "
                f"{request.index + 1} was asked for"
            )
            return ModelError(code=ModelErrorCode.SCRIPT_EXHAUSTED, message=message)
        item = items[request.index]
        try:
            if item.delay_ms or item.text_ms:
                async with TimeLimit(min(request.timeout_s, request.profile.timeout_ms / 1000)):
                    if item.delay_ms:
                        await asyncio.sleep(item.delay_ms / 1000)
                    await _spoken(item, request, heard)
            elif heard is not None:
                await _spoken(item, request, heard)
        except TimeoutError:
            return ModelError(
                code=ModelErrorCode.TIMED_OUT, message="the script waits longer than the time-out"
            )
        if isinstance(item.answer, ModelError):
            return item.answer
        return ModelReply(
            text=item.said(request),
            model=request.profile.model,
            input_tokens=None,
            output_tokens=None,
            notice=NOTICE,
        )

    async def close(self) -> None:
        """Nothing is held."""


async def _spoken(item: _Item, request: ModelRequest, heard: Heard | None) -> None:
    """Let whoever listens hear what of an item may be shown early."""
    if heard is not None and isinstance(item.answer, str):
        early = early_text(place_of(request))
        await _speak(early.feed(item.said(request)) + early.rest(), item.text_ms, heard)


async def _speak(text: str, text_ms: int, heard: Heard) -> None:
    for start in range(0, len(text), PIECE_CHARS):
        if start:
            await asyncio.sleep(text_ms / 1000)
        heard(text[start : start + PIECE_CHARS])
    if text:
        # who listens to the last piece gets a turn before the answer is there
        await asyncio.sleep(0)


def make_script(
    *,
    verbs: Mapping[str, Sequence[object]] | None = None,
    **purposes: Sequence[object] | Mapping[str, Sequence[object]],
) -> Script:
    """A script from values in memory: a list by purpose, or by purpose and role, and lists by verb;
    items as in a file.

    Raises:
        ConfigurationError: an item is none, or a list is for no known purpose.
    """
    lists = {
        name: dict(items) if isinstance(items, Mapping) else list(items)
        for name, items in purposes.items()
    }
    by_verb = {name: list(items) for name, items in (verbs or {}).items()}
    return _script({**lists, "verbs": by_verb}, "script")


def read_script(path: Path, purposes: Collection[str] | None = None) -> Script:
    """A script from a YAML or JSON file; where ``purposes`` are given it has lists for these alone.

    Raises:
        ConfigurationError: the file cannot be read or is no script; the message names the file and
            the place.
    """
    try:
        raw = regular_bytes(path, SCRIPT_BYTES + 1)
        if len(raw) > SCRIPT_BYTES:
            raise _wrong(str(path), f"larger than {SCRIPT_BYTES} bytes")
        tree: object = (
            msgspec.json.decode(raw) if path.suffix == ".json" else yaml_tree(raw.decode())
        )
    except OSError as error:
        raise _wrong(str(path), error.strerror or type(error).__name__) from error
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise _wrong(str(path), " ".join(str(error).split())) from error
    return _script(tree, str(path), purposes)


def _script(tree: object, place: str, purposes: Collection[str] | None = None) -> Script:
    top = _mapping(tree, place, None if purposes is None else {*purposes, "verbs", "cases"})
    cases = _list(top.get("cases"), f"{place}: cases")
    return Script(
        default=_part(top, f"{place}: "),
        cases=tuple(
            _case(case, f"{place}: cases[{number}]", purposes) for number, case in enumerate(cases)
        ),
    )


def _case(tree: object, place: str, purposes: Collection[str] | None) -> tuple[str, _Part]:
    case = _mapping(tree, place, None if purposes is None else {"when", *purposes, "verbs"})
    when = _mapping(case.get("when"), f"{place}.when", {"contains"})
    words = when.get("contains")
    if not isinstance(words, str) or not words.strip():
        raise _wrong(f"{place}.when.contains", "must be some words")
    return msgspec.json.encode(words).decode()[1:-1].casefold(), _part(case, f"{place}.")


def _part(tree: Mapping[str, Any], place: str) -> _Part:
    verbs = _mapping(tree.get("verbs") or {}, f"{place}verbs", None)
    return _Part(
        purposes={
            name: _by_role(tree.get(name), f"{place}{name}")
            for name in tree
            if name not in OTHER_KEYS
        },
        verbs={name: _items(items, f"{place}verbs.{name}") for name, items in verbs.items()},
    )


def _by_role(tree: object, place: str) -> Mapping[str, tuple[_Item, ...]]:
    if not isinstance(tree, Mapping):
        return {ANY_ROLE: _items(tree, place)}
    return {
        role: _items(items, f"{place}.{role}")
        for role, items in _mapping(cast("object", tree), place, None).items()
    }


def _items(tree: object, place: str) -> tuple[_Item, ...]:
    return tuple(
        _item(item, f"{place}[{number}]") for number, item in enumerate(_list(tree, place))
    )


def _item(tree: object, place: str) -> _Item:
    if isinstance(tree, str):
        return _Item(tree)
    item = _mapping(tree, place, None)
    if "$error" in item:
        return _Item(
            _failure(_mapping(item, place, {"$error", "message", "retry_after_ms"}), place)
        )
    if "$delay_ms" in item or "$text_ms" in item:
        _mapping(item, place, {*_WAITS, "$answer"})
        inner = _item(item.get("$answer"), f"{place}.$answer")
        delay_ms, text_ms = (
            _whole(item.get(name, 0), f"{place}.{name}", DELAY_MS_MAX) for name in _WAITS
        )
        return _Item(inner.answer, inner.delay_ms + delay_ms, inner.text_ms + text_ms, inner.words)
    if unknown := sorted(key for key in item if key.startswith("$")):
        raise _wrong(
            place,
            (
                f"unknown {', '.join(unknown)}; known are $error, and $delay_ms or $text_ms with "
                "$answer"
            ),
        )
    try:
        _no_foreign(item, place)
        return _Item(msgspec.json.encode(item).decode(), words=text_of(item))
    except (TypeError, UnicodeEncodeError, RecursionError) as error:
        raise _wrong(place, f"not JSON: {error}") from error


def _failure(item: Mapping[str, Any], place: str) -> ModelError:
    try:
        code = ModelErrorCode(item["$error"])
    except ValueError:
        raise _wrong(f"{place}.$error", f"unknown; one of {', '.join(ModelErrorCode)}") from None
    message = item.get("message", "scripted error")
    if not isinstance(message, str) or len(message) > 300:
        raise _wrong(f"{place}.message", "must be a text of at most 300 characters")
    wait = item.get("retry_after_ms")
    return ModelError(
        code=code,
        message=message,
        retry_after_ms=None
        if wait is None
        else _whole(wait, f"{place}.retry_after_ms", 86_400_000),
    )


def _no_foreign(value: object, place: str) -> None:
    """Refuse what YAML knows and JSON does not: dates, binaries, sets, infinities, keys that are no
    text.
    """
    match value:
        case dict():
            for key, inner in cast("dict[object, object]", value).items():
                if not isinstance(key, str):
                    raise _wrong(place, f"the key {key!r} is not a text; quote it")
                _no_foreign(inner, f"{place}.{key}")
        case list():
            for number, inner in enumerate(cast("list[object]", value)):
                _no_foreign(inner, f"{place}[{number}]")
        case float() if value != value or value in {float("inf"), float("-inf")}:  # noqa: PLR0124 - true for NaN only
            raise _wrong(place, "not a finite number")
        case None | bool() | int() | float() | str():
            return
        case _:
            raise _wrong(place, f"{type(value).__name__} is not JSON; quote it")


def _mapping(tree: object, place: str, known: set[str] | None) -> Mapping[str, Any]:
    if not isinstance(tree, Mapping) or not all(
        isinstance(key, str) for key in cast("Mapping[object, object]", tree)
    ):
        raise _wrong(place, "must be a mapping")
    found = cast("Mapping[str, Any]", tree)
    if known is not None and (unknown := sorted(set(found) - known)):
        raise _wrong(place, f"unknown {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    return found


def _list(tree: object, place: str) -> list[object]:
    if tree is None:
        return []
    if not isinstance(tree, list):
        raise _wrong(place, "must be a list")
    return cast("list[object]", tree)


def _whole(value: object, place: str, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise _wrong(place, f"must be a whole number from 0 to {most}")
    return value


def _wrong(place: str, what: str) -> ConfigurationError:
    return ConfigurationError(f"{place}: {what}", code="invalid_script")
