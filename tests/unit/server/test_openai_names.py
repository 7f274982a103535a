"""Names of OpenAI's face that there are not: what was probably meant is said last, as a question."""

from __future__ import annotations

import pytest

from ordain.server.openai.asked import unknown_model
from ordain.server.openai.wire import unserved


@pytest.mark.parametrize(
    ("model", "meant"),
    [("ordain-agnet", "; did you mean ordain-agent?"), ("gpt-9", "those of GET /v1/models")],
)
def test_a_model_that_is_mistyped_is_told_what_was_meant(model: str, meant: str) -> None:
    """Where one is like it."""
    assert unknown_model(model).message.endswith(meant)


def test_an_address_that_is_mistyped_is_told_what_was_meant() -> None:
    """Behind what there is; of an address that has another in its place, that alone."""
    assert unserved("/v1/chat/completion").endswith("; did you mean /v1/chat/completions?")
    assert "?" not in unserved("/v1/completions")
