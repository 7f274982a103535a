"""Embedder over static vectors: the mean of a text's word vectors, from the weights and the
tokenizer that the ``wordllama`` wheel carries.

Its files are read directly: its own loader looks for the tokenizer in another folder, and then in
the network. Needs the extra ``recall``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from ordain.contracts.profiles import EmbedderProfile
from ordain.errors import ConfigurationError
from ordain.ports.library import Embedder

LOG = logging.getLogger("ordain.models")
PACKAGE = "wordllama"
WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
MISSING = "recall by meaning needs an extra: pip install 'ordain[recall]'"
TEXT_CHARS = 20_000
"""Characters of a text that are read; passages are far shorter."""


class _Model(NamedTuple):
    """What the files hold, and the package that counts with it."""

    np: Any
    vectors: Any
    tokenizer: Any


class StaticEmbedder:
    """Implements ``Embedder``; about 0.1 ms for a question. Safe to share between threads.

    Its files are read when the first text is embedded: about 0.2 s and 60 MB, which whoever only
    looks whether there is anything to embed does not spend. Where they are not what they should be,
    the log says so once, and no text gets a vector.
    """

    dimension = 256
    """See ``Embedder.dimension``."""

    def __init__(self) -> None:
        """Look for the files.

        Raises:
            ConfigurationError: the extra is not installed (``extra_missing``).
        """
        try:
            self.name = f"{PACKAGE}-{version(PACKAGE)}"
            found = [find_spec(name) for name in (PACKAGE, "numpy", "safetensors", "tokenizers")]
        except PackageNotFoundError as error:
            raise ConfigurationError(MISSING, code="extra_missing") from error
        if None in found or found[0] is None or found[0].origin is None:
            raise ConfigurationError(MISSING, code="extra_missing")
        self._folder = Path(found[0].origin).parent
        self._loading = threading.Lock()
        self._model: _Model | None = None
        self._broken = False

    def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        """See ``Embedder.embed``."""
        model = self._loaded()
        if model is None:
            return [bytes(4 * self.dimension)] * len(texts)
        encoded = model.tokenizer.encode_batch(
            [text[:TEXT_CHARS] for text in texts], add_special_tokens=False
        )
        return [self._mean(model, model.np.asarray(one.ids, dtype="int64")) for one in encoded]

    def _loaded(self) -> _Model | None:
        """None where the files cannot be read."""
        with self._loading:
            if self._model is None and not self._broken:
                try:
                    self._model = _read(self._folder)
                    if self._model.vectors.shape[1] != self.dimension:
                        raise ValueError("vectors of another length")
                except Exception as error:
                    # the files are another project's: whatever is wrong with them, there is no
                    # vector
                    self._model, self._broken = None, True
                    LOG.warning(
                        "no vectors: the embedder's files cannot be read (%s)", type(error).__name__
                    )
            return self._model

    def _mean(self, model: _Model, ids: Any) -> bytes:
        np = model.np
        if not len(ids):
            return bytes(4 * self.dimension)
        rows = np.clip(ids, 0, len(model.vectors) - 1)
        mean = model.vectors[rows].mean(axis=0, dtype=np.float32)
        length = float(np.linalg.norm(mean))
        return (mean / length if length else mean).astype("<f4").tobytes()


def _read(folder: Path) -> _Model:
    import numpy as np  # lazy: the extra recall
    import safetensors  # lazy: see above
    from tokenizers import Tokenizer  # lazy: see above

    opened: Any = safetensors.safe_open
    with opened(folder / WEIGHTS, framework="numpy") as weights:
        (name,) = weights.keys()
        vectors = weights.get_tensor(name)
    tokenizer: Any = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return _Model(np, vectors, tokenizer)


def embedder_of(endpoint: EmbedderProfile | None, key: str) -> Callable[[], Embedder | None]:
    """What makes the embedder: of the endpoint that is configured, else of this installation."""
    return installed_embedder if endpoint is None else lambda: _endpoint_embedder(endpoint, key)


def _endpoint_embedder(endpoint: EmbedderProfile, key: str) -> Embedder | None:
    from ordain.models.endpoint_embedding import (
        EndpointEmbedder,
    )  # lazy: only where one is configured

    try:
        return EndpointEmbedder(
            endpoint.base_url,
            endpoint.model,
            key,
            timeout_s=endpoint.timeout_ms / 1000,
            batch=endpoint.batch,
        )
    except ConfigurationError as error:
        LOG.warning("no embedder: %s", error.message)
        return None


def installed_embedder() -> Embedder | None:
    """The embedder of this installation; None where the extra is not installed."""
    try:
        return _static()
    except ConfigurationError:
        return None


@cache
def _static() -> StaticEmbedder:
    """Its files never change while a process runs: whoever opens one more ``Ordain`` in it loads
    them no more.
    """
    return StaticEmbedder()
