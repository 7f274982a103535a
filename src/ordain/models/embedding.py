"""Embedder over static vectors: the mean of a text's word vectors, from the weights and the
tokenizer that the ``wordllama`` wheel carries.

Its files are read directly: its own loader looks for the tokenizer in another folder, and then in
the network. Needs the extra ``recall``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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


class StaticEmbedder:
    """Implements ``Embedder``; about 0.1 ms for a question. Safe to share between threads."""

    def __init__(self) -> None:
        """Load the files: about 0.2 s and 60 MB.

        Raises:
            ConfigurationError: the extra is not installed (``extra_missing``), or its files are not
                what they should be.
        """
        try:
            import numpy as np  # lazy: the extra recall
            import safetensors  # lazy: see above
            from tokenizers import Tokenizer  # lazy: see above

            found = find_spec(PACKAGE)
            if found is None or found.origin is None:
                raise ConfigurationError(MISSING, code="extra_missing")
            folder = Path(found.origin).parent
            self.name = f"{PACKAGE}-{version(PACKAGE)}"
            opened: Any = safetensors.safe_open
            with opened(folder / WEIGHTS, framework="numpy") as weights:
                (name,) = weights.keys()
                self._vectors: Any = weights.get_tensor(name)
            self._tokenizer: Any = Tokenizer.from_file(str(folder / TOKENIZER))
        except (ImportError, PackageNotFoundError) as error:
            raise ConfigurationError(MISSING, code="extra_missing") from error
        except Exception as error:
            # the files are another project's: whatever is wrong with them, there is no embedder
            raise ConfigurationError(
                f"the embedder's files cannot be read ({type(error).__name__})",
                code="embedder_unreadable",
            ) from error
        self._np: Any = np
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    @property
    def dimension(self) -> int:
        """See ``Embedder.dimension``."""
        return int(self._vectors.shape[1])

    def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        """See ``Embedder.embed``."""
        np = self._np
        encoded = self._tokenizer.encode_batch(
            [text[:TEXT_CHARS] for text in texts], add_special_tokens=False
        )
        return [self._mean(np.asarray(one.ids, dtype=np.int64)) for one in encoded]

    def _mean(self, ids: Any) -> bytes:
        np = self._np
        if not len(ids):
            return bytes(4 * self.dimension)
        mean = self._vectors[np.clip(ids, 0, len(self._vectors) - 1)].mean(axis=0, dtype=np.float32)
        length = float(np.linalg.norm(mean))
        return (mean / length if length else mean).astype("<f4").tobytes()


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
    """The embedder of this installation; None where the extra is not installed, or is broken, which
    the log says.
    """
    try:
        return _static()
    except ConfigurationError as error:
        if error.code != "extra_missing":
            LOG.warning("no embedder: %s", error.message)
        return None


@cache
def _static() -> StaticEmbedder:
    """Its files never change while a process runs: whoever opens one more ``Ordain`` in it loads
    them no more.
    """
    return StaticEmbedder()
