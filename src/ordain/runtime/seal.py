"""Known secrets stay where they are: whatever a model or a verb gives back is struck of them before
anything records, shows or sends it.

Adapters keep keys out of their own words. This stands behind them all, for what they cannot know:
an endpoint that echoes a key in a good answer, a library that puts one into an error, a verb that
returns what it was called with.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import msgspec

from ordain.contracts.access import may_hold_token, open_token, tokens_in
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.spellings import SHORTEST, folded, spellings
from ordain.contracts.text_codes import JSON
from ordain.contracts.visible import shown_behind, unfinished
from ordain.ports.model import Heard, ModelError, ModelPort, ModelReply, ModelRequest
from ordain.ports.verb import AnyLeafResult, LeafCall, LeafFailed, LeafReturned, VerbPort
from ordain.runtime.model_answers import held_reply, looked_at, within_bound
from ordain.runtime.sealed_readings import may_part, readings
from ordain.runtime.text_layers import (
    LAYERS,
    Layer,
    ends,
    is_coded,
    layers,
    with_escapes,
    without,
)

STRUCK = "[secret]"
_ESCAPED = {'"': '"', "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
SPLIT = "the answer spells a secret of this installation so that only its readers see it"
"""Such an answer fails: where to strike it cannot be said, and no honest model writes so."""
MESSAGE_CHARS = 300
"""Of what went wrong no more is told; adapters and verbs cut it there."""
_BROKEN_OFF = re.compile(rf"[!-~]{{{SHORTEST},}}\Z")
NUMBER_MAX = 10**300
_NUMBER = frozenset("0123456789.-+e")
_WRITTEN_OTHERWISE = re.compile(r'["\\\x00-\x1f\x7f]')
"""What JSON writes by another sign."""
BESIDE_BYTES = 16 * 1024
"""A value that is larger is struck in a thread: a megabyte of small texts takes seconds."""
_BESIDE = ThreadPoolExecutor(1, thread_name_prefix="ordain-seal")
"""Not the loop's own threads: names are resolved there, and whoever waits for one has a time."""
_JSON = msgspec.json.Encoder()


class Seal:
    """Strikes known secrets out of texts and values in the spellings of ``contracts.spellings``,
    and whatever has the form of one of Ordain's tokens.

    A text is looked at as it is, and as it reads without percent signs, the escapes of JSON and the
    entities of HTML, whichever of them a writer chose.
    """

    def __init__(self, secrets: Iterable[str] = (), *, shortest: int = SHORTEST) -> None:
        """More may be added while it is in use. Those of fewer than ``shortest`` characters are
        passed over: striking them out would strike out words.
        """
        self._shortest = shortest
        self._words: tuple[str, ...] = ()
        self._folded: tuple[str, ...] = ()
        self._longest = 0
        self._numeric = self._escapes = False
        self._begins = self._first = re.compile("")
        self.add(*secrets)

    def __repr__(self) -> str:
        return f"Seal({len(self._words)})"

    def add(self, *secrets: str) -> None:
        """Know these too."""
        known = [spellings(secret) for secret in secrets if len(secret) >= self._shortest]
        self._words = _longest_first({*self._words, *(word for one in known for word in one.exact)})
        self._folded = _longest_first(
            {*self._folded, *(word for one in known for word in one.folded)}
        )
        words = (*self._words, *self._folded)
        self._longest = max(map(len, words), default=0)
        self._numeric = any(_NUMBER.issuperset(word) for word in words)
        self._escapes = any(_WRITTEN_OTHERWISE.search(word) is not None for word in words)
        firsts = {word[0] for word in words} | {word[0].upper() for word in self._folded}
        begins = f"[{re.escape(''.join(sorted(firsts)))}]" if words else "(?!)"
        codes = "".join(code for code, read in _ESCAPED.items() if read in firsts)
        self._begins = re.compile(begins)
        coded = rf"\\(?:[u\\{codes}]|\Z)|%(?:[0-9a-fA-F]|\Z)|&(?:[#a-zA-Z]|\Z)"
        self._first = re.compile(f"{begins}|{coded}" if words else coded)

    def text(self, text: str) -> str:
        """The text without them, and without anything that has the form of one of Ordain's own
        tokens; of a token its public id stays.

        Of JSON there is still JSON left.
        """
        if not is_coded(text):
            return (
                without(text, [(begin, stop) for _, begin, stop in found], STRUCK)
                if (found := self._found_in(text))
                else text
            )
        found = [(begin, stop) for layer in layers(text) for _, begin, stop in self._found(layer)]
        return without(text, with_escapes(text, found), STRUCK) if found else text

    def cut(self, text: str, most: int) -> str:
        """The same for a message that was cut at so many characters: of one that long the word goes
        in which it breaks off, where that is as long as the beginning of a secret.

        Whatever word that is: by what is struck for being the beginning of a secret, whoever
        writes such texts would learn the secret sign by sign.
        """
        struck = self.text(text)  # first: what is cut off then is no part of a whole one
        if len(text) < most or (found := _BROKEN_OFF.search(struck)) is None:
            return struck
        # where the word is longer than any secret, one begins in its end
        at = max(found.start(), len(struck) - self._longest)
        return f"{struck[:at]}…" if at < len(struck) else struck

    def is_read_without(self, text: str) -> bool:
        """Whether no secret and no token stands in what readers make of a text that is struck of
        them.
        """
        if not is_coded(text) and not may_part(text):
            return True
        texts, inner = {layer.text: None for layer in layers(text)}, text
        for _ in range(LAYERS):  # a text in JSON with other codes in it, each as it stands there
            texts[inner := JSON.plain(inner, True)] = None
        return not any(self._found_in(read) for one in texts for read in readings(one))

    def clean(self, text: str) -> bool:
        """Whether surely nothing of a secret or a token stands in it, nor begins in it. Cheap: each
        piece of a streamed answer is asked.
        """
        # without secrets what is not coded holds nothing, which is told in a moment
        looked_for = self._longest or is_coded(text)
        return not may_hold_token(text) and not (looked_for and self._first.search(text))

    def settled(self, text: str) -> int:
        """How many characters of a text's beginning are of no secret and no token that reaches
        beyond them, whatever the text goes on with.
        """
        if is_coded(text):
            cut, found = self._settled_in_layers(text)
        else:
            cut, found = (
                min(self._open_from(text), len(text) - open_token(text)),
                self._found_in(text),
            )
        for begin, _, stop in sorted(found, reverse=True):
            if begin < cut < stop:
                cut = begin
        return cut

    def _settled_in_layers(self, text: str) -> tuple[int, list[tuple[int, int, int]]]:
        cut = len(text)
        found: list[tuple[int, int, int]] = []
        for layer in layers(text, whole=False):
            found += self._found(layer)
            for end in ends(layer.text):
                part = layer.text[:end]
                at = min(self._open_from(part), len(part) - open_token(part))
                if at < len(layer.text):
                    cut = min(cut, layer.place(at))
        return cut, found

    def _found(self, layer: Layer) -> list[tuple[int, int, int]]:
        """The same as ``_found_in``, in the text below all layers."""
        return [
            (layer.place(begin), layer.place(struck), layer.place(stop))
            for begin, struck, stop in self._found_in(layer.text)
        ]

    def _found_in(self, text: str) -> list[tuple[int, int, int]]:
        """Where secrets and tokens stand in a text: where each begins, from where it is struck,
        where it ends.
        """
        found = tokens_in(text)
        if not self._longest:  # there are no secrets
            return found
        for words, read in (
            (self._words, text),
            (self._folded, folded(text) if self._folded else ""),
        ):
            for word in words:
                at = read.find(word)
                while at >= 0:
                    found.append((at, at, at + len(word)))
                    at = read.find(word, at + 1)
        return found

    def _open_from(self, text: str) -> int:
        """From where on a text may be the beginning of a secret that it does not hold whole; its
        length where nothing may be.
        """
        if self._longest:
            for first in self._begins.finditer(text, max(0, len(text) - self._longest + 1)):
                end = text[first.start() :]
                small, size = folded(end), len(end)
                if any(
                    len(word) > size and word.startswith(read)
                    for words, read in ((self._words, end), (self._folded, small))
                    for word in words
                ):
                    return first.start()
        return len(text)

    def value(self, value: Any) -> Any:
        """A JSON value without them, keys and numbers included; the same value where there are
        none.
        """
        return value if self._holds_none(value) else self._struck(value)

    async def large_value(self, value: Any) -> Any:
        """The same, beside the loop where it takes long: of a large one with codes or secrets in it
        each part is looked at by itself.
        """
        if self._holds_none(value):
            return value
        size = len(_written(value) or b"")
        if size <= BESIDE_BYTES:
            return self._struck(value)
        return await asyncio.get_running_loop().run_in_executor(_BESIDE, self._struck, value)

    def _holds_none(self, value: Any) -> bool:
        """Whether surely nothing of them stands in it, as its JSON shows at once: most have none,
        and to look at each part takes ten times as long.
        """
        if self._numeric or (written := _written(value)) is None:
            return False
        text = written.decode()
        if "%" in text or "&" in text or "\\u" in text or "\\\\" in text:
            return False
        if self._escapes and "\\" in text:  # a secret that JSON writes otherwise than it is
            return False
        return not self._found_in(text)

    def _struck(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {
                self._struck(key): self._struck(one)
                for key, one in cast("dict[Any, Any]", value).items()
            }
        if isinstance(value, list | tuple):
            values = [self._struck(one) for one in cast("list[Any]", value)]
            return values if isinstance(value, list) else tuple(values)
        if self._numeric and isinstance(value, int | float) and not isinstance(value, bool):
            return self._number(value)
        return value

    def _number(self, value: float) -> Any:
        if abs(value) >= NUMBER_MAX:
            # beyond what JSON has; Python does not write the longest of them
            return value
        whole = str(int(value)) if isinstance(value, float) and value.is_integer() else ""
        for written in (str(value), whole):
            if (struck := self.text(written)) != written:
                return struck
        return value


def _written(value: Any) -> bytes | None:
    """The value as JSON; None of what has none."""
    try:
        return _JSON.encode(value)
    except (TypeError, ValueError, msgspec.MsgspecError, RecursionError):
        return None


def _longest_first(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


class SealedModel:
    """Implements ``ModelPort`` over another one; what is heard while it writes is held back as long
    as it may be the beginning of a secret.
    """

    def __init__(self, model: ModelPort, seal: Seal) -> None:
        """Seal what ``model`` gives back."""
        self._model, self._seal = model, seal

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort.attempt``. Of an answer no more is looked at than may be kept of it."""
        most = request.max_tokens
        hearing = None if heard is None else _Hearing(self._seal, heard, looked_at(most))
        given = within_bound(held_reply(await self._model.attempt(request, hearing)), most)
        if hearing is not None:
            hearing.end()
        if isinstance(given, ModelError):
            return msgspec.structs.replace(
                given, message=self._seal.cut(given.message, MESSAGE_CHARS)
            )
        text = self._seal.text(given.text)
        if not self._seal.is_read_without(text):
            return ModelError(
                code=ModelErrorCode.MALFORMED,
                message=SPLIT,
                held=given.held,
                input_tokens=given.input_tokens,
                output_tokens=given.output_tokens,
                cached_tokens=given.cached_tokens,
                written_tokens=given.written_tokens,
            )
        model = self._seal.text(given.model)
        notice = None if given.notice is None else self._seal.text(given.notice)
        if text is given.text and model is given.model and notice is given.notice:
            return given  # nothing was struck, as of most
        return msgspec.structs.replace(given, text=text, model=model, notice=notice)

    async def close(self) -> None:
        """See ``ModelPort.close``."""
        await self._model.close()


class _Hearing:
    """Hands on what is heard as it is shown, sealed: the end of it is kept for as long as a secret
    may begin there, or go on; ``most`` characters, beyond which nobody looks at an answer.

    Half of a line's end, or of a sequence, waits for what follows it.
    """

    def __init__(self, seal: Seal, heard: Callable[[str], None], most: int) -> None:
        self._seal, self._heard, self._kept = seal, heard, ""
        self._left, self._before, self._half = most, "", ""

    def __call__(self, piece: str) -> None:
        piece = piece[: self._left]
        self._left -= len(piece)
        if not piece.isprintable() or self._half:  # of most nothing waits
            came = self._half + piece
            self._half = unfinished(came)
            piece = came.removesuffix(self._half)
        self._shown(piece)

    def _shown(self, piece: str) -> None:
        text, self._before = shown_behind(piece, self._before)
        if self._kept:
            text, self._kept = self._kept + text, ""
        if text and self._seal.clean(text):
            self._heard(text)
        else:
            self._kept = text[(settled := self._seal.settled(text)) :]
            if settled:
                self._heard(self._seal.text(text[:settled]))

    def end(self) -> None:
        if self._half:
            self._shown(self._half)
        if self._kept:
            self._heard(self._seal.text(self._kept))


class SealedVerbs:
    """Implements ``VerbPort`` over another one."""

    def __init__(self, verbs: VerbPort, seal: Seal) -> None:
        """Seal what ``verbs`` give back."""
        self._verbs, self._seal = verbs, seal

    async def run(self, call: LeafCall) -> AnyLeafResult:
        """See ``VerbPort.run``."""
        given = await self._verbs.run(call)
        if isinstance(given, LeafReturned):
            output = await self._seal.large_value(given.output)
            return msgspec.structs.replace(given, output=output)
        if isinstance(given, LeafFailed):
            return msgspec.structs.replace(
                given, message=self._seal.cut(given.message, MESSAGE_CHARS)
            )
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
    return {
        name: made.setdefault(id(model), SealedModel(model, seal)) for name, model in models.items()
    }
