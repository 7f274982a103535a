"""One call to a model that fails: what is said to do about it is what a header says of it."""

from __future__ import annotations

import pytest

from ordain.contracts.profiles import ModelProfile
from ordain.contracts.remedies import NO_WORDS, REMEDIES
from ordain.models.refusals import malformed
from ordain.models.trial import try_once
from ordain.ports.model import Heard, ModelError, ModelRequest
from ordain.rules import enforcement
from ordain.rules.header import HeaderLine
from ordain.runtime.remedies import remedies
from tests.shapes.headers import header

PROFILE = ModelProfile(provider="openai", model="m", base_url="http://127.0.0.1:9")


class Fails:
    """A model whose every attempt ends so."""

    def __init__(self, error: ModelError) -> None:
        self._error = error

    async def attempt(self, request: ModelRequest, heard: Heard | None = None) -> ModelError:
        return self._error

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("told", [*sorted(enforcement.NO_WORDS), "not JSON"])
async def test_a_malformed_answer_has_the_remedy_that_a_header_has(told: str) -> None:
    """An answer without words is told as that wherever it is told; what is no answer of the wire
    is an address or a provider to check.
    """
    error = malformed(told)
    line = HeaderLine(mark="fail", what="model m", reason=str(error.code), excerpt=told)
    (below,) = remedies(
        header(lines=(line,), status="failed", reason="malformed", acts=(), answered=False)
    )
    advice = (await try_once("m", PROFILE, Fails(error))).advice
    assert below == f"m: {advice}"
    assert advice == (NO_WORDS if told in enforcement.NO_WORDS else REMEDIES[error.code])
