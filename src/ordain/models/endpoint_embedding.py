"""Embedder over ``/v1/embeddings`` of an OpenAI-compatible endpoint: Ollama, llama.cpp, LM Studio,
vLLM, OpenAI. Needs numpy (extra ``recall``) to compare.
"""

from __future__ import annotations

import asyncio
import threading
import time
from array import array
from collections.abc import Sequence
from importlib.util import find_spec
from math import isfinite, sqrt
from sys import byteorder
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from ordain.contracts.hosted import one_spelling
from ordain.errors import ConfigurationError, Transient
from ordain.models.exchange import checked_key, checked_url

UNAVAILABLE = "embedder_unavailable"
ANSWER_BYTES = 64 * 1024 * 1024
DIMENSION_MAX = 16_384
REST_S = 10.0
"""So long an endpoint that failed is not asked again: whoever asks a question does not wait for
it.
"""
TEXT_CHARS = 8_000
"""Characters of a text that are sent; passages are far shorter."""


class _Row(Struct, frozen=True, gc=False):
    index: int
    embedding: list[float]


class _Answer(Struct, frozen=True):
    data: list[_Row]


_ANSWER = msgspec.json.Decoder(_Answer)


class EndpointEmbedder:
    """Implements ``Embedder``; nothing is sent before something is to be embedded. Safe to share
    between threads.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str = "",
        *,
        timeout_s: float = 10.0,
        batch: int = 64,
    ) -> None:
        """``base_url`` is what a model profile has: ``http://host`` or ``http://host/v1``;
        ``batch`` texts go in one request.

        Raises:
            ConfigurationError: the address is none, the key cannot stand in a header, or numpy is
                missing (``extra_missing``).
        """
        if find_spec("numpy") is None:
            raise ConfigurationError(
                "recall by meaning needs an extra: pip install 'ordain[recall]'",
                code="extra_missing",
            )
        checked_url(base_url.strip())
        self._url = (
            f"{one_spelling(base_url.strip().rstrip('/').removesuffix('/embeddings'))}/embeddings"
        )
        self._model, self._batch, self._timeout_s = model, batch, timeout_s
        key = checked_key(api_key)
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        self._lock = threading.Lock()
        self._dimension = 0
        self._rests_until = 0.0
        self._why = ""

    @property
    def place(self) -> str:
        """Where it asks, as host and port."""
        return urlsplit(self._url).netloc

    @property
    def name(self) -> str:
        """Model, place and dimension: an endpoint that serves another model under the same name is
        another embedder where that can be told.

        Raises:
            Transient: nothing was embedded yet, and the endpoint does not answer.
        """
        return f"{self._model}@{self.place}/{self.dimension}"

    @property
    def dimension(self) -> int:
        """As the endpoint's first answer has it; raises as ``name``."""
        if not self._dimension:
            self._asked(["dimension"])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        """See ``Embedder.embed``.

        Raises:
            Transient: the endpoint does not answer, or with something else
                (``embedder_unavailable``).
        """
        found: list[bytes] = []
        for first in range(0, len(texts), self._batch):
            found += self._asked(
                [text[:TEXT_CHARS] or " " for text in texts[first : first + self._batch]]
            )
        return found

    def _asked(self, texts: Sequence[str]) -> list[bytes]:
        if not self._lock.acquire(timeout=self._timeout_s):
            raise self._unavailable("it is being asked already")
        try:
            if time.monotonic() < self._rests_until:
                raise Transient(self._why, code=UNAVAILABLE)
            return self._vectors(self._answer(texts), len(texts))
        except Transient as error:
            self._rests_until, self._why = time.monotonic() + REST_S, error.message
            raise
        finally:
            self._lock.release()

    def _answer(self, texts: Sequence[str]) -> Sequence[_Row]:
        try:
            content = asyncio.run(asyncio.wait_for(self._fetched(texts), self._timeout_s))
        except TimeoutError:
            raise self._unavailable(f"no answer within {self._timeout_s:.3g} s") from None
        try:
            return _ANSWER.decode(content).data
        except msgspec.ValidationError:
            raise self._unavailable("its answer holds no embeddings") from None
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise self._unavailable("its answer is no JSON") from None

    async def _fetched(self, texts: Sequence[str]) -> bytes:
        """On a loop of its own: the time of a client that blocks is that of one reading, and one
        that trickles would hold its thread for ever.
        """
        import httpx2  # lazy: an offline start pays for no HTTP client

        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        headers = {"accept-encoding": "identity", **self._headers}
        try:
            async with (
                httpx2.AsyncClient(timeout=None, headers=headers, follow_redirects=False) as client,
                client.stream("POST", self._url, json=body) as response,
            ):
                if not response.is_success:
                    raise self._unavailable(f"it answers with status {response.status_code}")
                content = bytearray()
                async for chunk in response.aiter_raw():  # nothing is unpacked
                    content += chunk
                    if len(content) > ANSWER_BYTES:
                        raise self._unavailable("its answer is too large")
                return bytes(content)
        except httpx2.HTTPError as error:
            raise self._unavailable(f"it does not answer ({type(error).__name__})") from None

    def _vectors(self, answer: Sequence[_Row], count: int) -> list[bytes]:
        rows = sorted(answer, key=lambda row: row.index)
        if [row.index for row in rows] != list(range(count)):
            raise self._unavailable("its answer has not one vector for each text")
        found = [row.embedding for row in rows]
        dimension = self._dimension or len(found[0])
        if not 0 < dimension <= DIMENSION_MAX or any(
            len(one) != dimension or not all(map(isfinite, one)) for one in found
        ):
            raise self._unavailable("its vectors are not all of one length, or not of numbers")
        self._dimension = dimension
        return [_unit(one) for one in found]

    def _unavailable(self, why: str) -> Transient:
        return Transient(
            f"the embedder's endpoint {self.place} is of no use now: {why}", code=UNAVAILABLE
        )


def _unit(numbers: Sequence[float]) -> bytes:
    """The vector at length 1, as float32 with the least byte first; of zeros it stays."""
    length = sqrt(sum(number * number for number in numbers))
    packed = array("f", (number / length for number in numbers) if length else numbers)
    if byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
