"""Sizes as people say them."""

from __future__ import annotations

import pytest

from ordain.contracts.sizes import said_bytes


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1 KiB"),
        (65_536, "64 KiB"),
        (2**20 - 1, "1023.9 KiB"),
        (11_446_956, "10.9 MiB"),
        (20 * 2**20, "20 MiB"),
    ],
)
def test_a_bound_is_said_in_the_largest_unit(count: int, words: str) -> None:
    """With one place where it is not whole, and never more than it is."""
    assert said_bytes(count) == words
