"""Names as parts of an address."""

from urllib.parse import unquote

import httpx2
import pytest

from ordain.contracts.path_parts import path_part


@pytest.mark.parametrize(
    "name", [".", "..", "...", "../x", "a/b", "a?b", "a#b", "a b", "ä", "%2e", "math.evaluate"]
)
def test_a_name_stays_one_part(name: str) -> None:
    """Whatever a name holds, it is one part of the address that is asked for, and itself when that
    is read.
    """
    asked = httpx2.URL(f"http://localhost/verbs/{path_part(name)}/show").raw_path.decode()
    assert [unquote(part) for part in asked.split("/")] == ["", "verbs", name, "show"]
