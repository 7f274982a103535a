"""Known secrets stay where they are: whatever a model or a verb gives back is struck of them before anything records, shows or sends it.

Adapters keep keys out of their own words. This stands behind them all, for what they cannot know: an endpoint that echoes a key in a good answer,
a library that puts one into an error, a verb that returns what it was called with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import msgspec

from ordain.contracts.access import may_hold_token, open_token, tokens_in
from ordain.contracts.spellings import SHORTEST, spellings
from ordain.ports.model import Heard, ModelError, ModelPort, ModelReply, ModelRequest
from ordain.ports.verb import AnyLeafResult, LeafCall, LeafFailed, LeafReturned, VerbPort
from ordain.runtime.model_answers import held_reply

STRUCK = "[secret]"
_NOWHERE = "(?!)"
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})')
"""An escape of JSON; a surrogate counts with its other half only."""


class Seal:
    """Strikes known secrets out of texts and values in the spellings of ``contracts.spellings``, and whatever has the form of one of Ordain's tokens."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """More may be added while it is in use."""
        self._words: tuple[str, ...] = ()
        self._first = re.compile(_NOWHERE)
        self.add(*secrets)

    def __repr__(self) -> str:
        return f"Seal({len(self._words)})"

    def add(self, *secrets: str) -> None:
        """Know these too; those of fewer than eight characters are passed over: striking them out would strike out words."""
        words = set(self._words)
        for secret in secrets:
            if len(secret) >= SHORTEST:
                words |= spellings(secret)
        self._words = tuple(sorted(words, key=lambda word: (-len(word), word)))
        self._first = re.compile(f"[{re.escape(''.join({word[0] for word in words}))}]" if words else _NOWHERE)

    def text(self, text: str) -> str:
        """The text without them, and without anything that has the form of one of Ordain's own tokens; of a token its public id stays."""
        found = self._found(text)
        return _without(text, [(begin, stop) for _, begin, stop in found]) if found else text

    def json(self, text: str) -> str:
        r"""The same for a text that is read as JSON, or may be: what stands in its escapes (``\u0073k-...``, ``\/``) is struck too."""
        if "\\" not in text:
            return self.text(text)
        if found := self._found(text):
            text = _without(text, _with_escapes(text, [(begin, stop) for _, begin, stop in found]))
        plain = _ESCAPE.sub(_unescaped, text)
        if not (found := self._found(plain)):
            return text
        places = _places(text)
        return _without(text, [(places[begin], places[stop]) for _, begin, stop in found])

    def clean(self, text: str) -> bool:
        """Whether surely nothing of a secret or a token stands in it, nor begins in it. Cheap: each piece of a streamed answer is asked."""
        return self._first.search(text) is None and not may_hold_token(text)

    def settled(self, text: str) -> int:
        """How many characters of a text's beginning are of no secret and no token that reaches beyond them, whatever the text goes on with."""
        cut = min(self._open_from(text), len(text) - open_token(text))
        if found := self._found(text):
            for begin, _, stop in sorted(found, reverse=True):
                if begin < cut < stop:
                    cut = begin
        return cut

    def _found(self, text: str) -> list[tuple[int, int, int]]:
        """Where secrets and tokens stand: where each begins, from where it is struck, where it ends."""
        found = tokens_in(text)
        for word in self._words:
            at = text.find(word)
            while at >= 0:
                found.append((at, at, at + len(word)))
                at = text.find(word, at + 1)
        return found

    def _open_from(self, text: str) -> int:
        """From where on a text may be the beginning of a secret that it does not hold whole; its length where nothing may be."""
        if self._words:
            for first in self._first.finditer(text, max(0, len(text) - len(self._words[0]) + 1)):
                at = first.start()
                if any(len(word) > len(text) - at and word.startswith(text[at:]) for word in self._words):
                    return at
        return len(text)

    def value(self, value: Any) -> Any:
        """A JSON value without them, keys included; the same value where there are none."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.value(key): self.value(one) for key, one in cast("dict[Any, Any]", value).items()}
        if isinstance(value, list):
            return [self.value(one) for one in cast("list[Any]", value)]
        return value


def _without(text: str, found: Iterable[tuple[int, int]]) -> str:
    """The text with each of these stretches struck out; those that share characters are one."""
    parts: list[str] = []
    end = 0
    for begin, stop in sorted(found):
        if begin >= end:
            parts += text[end:begin], STRUCK
        end = max(end, stop)
    return "".join((*parts, text[end:])) if parts else text


def _with_escapes(text: str, found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same stretches with the whole of each escape that they cut: what is left has to be JSON still."""
    escapes = [escape.span() for escape in _ESCAPE.finditer(text)]
    whole: list[tuple[int, int]] = []
    for begin, stop in found:
        cut = [span for span in escapes if span[0] < begin < span[1] or span[0] < stop < span[1]]
        whole.append((min(begin, *(span[0] for span in cut)), max(stop, *(span[1] for span in cut))) if cut else (begin, stop))
    return whole


def _unescaped(escape: re.Match[str]) -> str:
    return msgspec.json.decode(f'"{escape[0]}"')


def _places(text: str) -> list[int]:
    """Where each character of the text without its escapes stands in the text with them, and its end."""
    places: list[int] = []
    end = 0
    for escape in _ESCAPE.finditer(text):
        places += range(end, escape.start())
        places += [escape.start()] * len(_unescaped(escape))
        end = escape.end()
    return [*places, *range(end, len(text) + 1)]


class SealedModel:
    """Implements ``ModelPort`` over another one; what is heard while it writes is held back as long as it may be the beginning of a secret."""

    def __init__(self, model: ModelPort, seal: Seal) -> None:
        """Seal what ``model`` gives back."""
        self._model, self._seal = model, seal

    async def attempt(self, request: ModelRequest, heard: Heard | None = None) -> ModelReply | ModelError:
        """See ``ModelPort.attempt``."""
        hearing = None if heard is None else _Hearing(self._seal, heard)
        given = held_reply(await self._model.attempt(request, hearing))
        if hearing is not None:
            hearing.end()
        if isinstance(given, ModelError):
            return msgspec.structs.replace(given, message=self._seal.text(given.message))
        notice = None if given.notice is None else self._seal.text(given.notice)
        return msgspec.structs.replace(given, text=self._seal.json(given.text), model=self._seal.text(given.model), notice=notice)

    async def close(self) -> None:
        """See ``ModelPort.close``."""
        await self._model.close()


class _Hearing:
    """Hands on what is heard, sealed: the end of it is kept for as long as a secret may begin there, or go on."""

    def __init__(self, seal: Seal, heard: Callable[[str], None]) -> None:
        self._seal, self._heard, self._kept = seal, heard, ""

    def __call__(self, piece: str) -> None:
        text = self._kept + piece
        if text and self._seal.clean(text):
            self._kept = ""
            self._heard(text)
        else:
            self._hand_on(text, self._seal.settled(text))

    def end(self) -> None:
        self._hand_on(self._kept, len(self._kept))

    def _hand_on(self, text: str, settled: int) -> None:
        self._kept = text[settled:]
        if settled:
            self._heard(self._seal.text(text[:settled]))


class SealedVerbs:
    """Implements ``VerbPort`` over another one."""

    def __init__(self, verbs: VerbPort, seal: Seal) -> None:
        """Seal what ``verbs`` give back."""
        self._verbs, self._seal = verbs, seal

    async def run(self, call: LeafCall) -> AnyLeafResult:
        """See ``VerbPort.run``."""
        given = await self._verbs.run(call)
        if isinstance(given, LeafReturned):
            return msgspec.structs.replace(given, output=self._seal.value(given.output))
        if isinstance(given, LeafFailed):
            return msgspec.structs.replace(given, message=self._seal.text(given.message))
        return given

    def implements(self, verb_id: str) -> bool:
        """See ``VerbPort.implements``."""
        return self._verbs.implements(verb_id)

    async def close(self) -> None:
        """See ``VerbPort.close``."""
        await self._verbs.close()


def sealed_models(models: Mapping[str, ModelPort], seal: Seal) -> Mapping[str, ModelPort]:
    """Each adapter sealed once, whatever number of profiles it serves."""
    made: dict[int, SealedModel] = {}
    return {name: made.setdefault(id(model), SealedModel(model, seal)) for name, model in models.items()}
