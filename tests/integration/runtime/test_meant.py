"""An unknown verb of a plan or of a call is told with the verb that was probably meant."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from ordain import Ordain
from ordain.app import Extras
from ordain.server import Face, build_app

GOAL = {"type": "analysis", "description": "x"}


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("extract_fact", "; did you mean extract_facts?"),
        ("zebra", ""),
        ("EXTRACT_FACTS", "; did you mean extract_facts?"),
    ],
)
async def test_a_name_that_is_no_verb_says_which_was_meant(
    tmp_path: Path, typed: str, told: str
) -> None:
    """In Python and over HTTP alike; of a plan by the first tool that there is not, whatever stands
    beside it.
    """
    async with Ordain(home=tmp_path, extras=Extras(memory=True)) as ordain:
        request = {
            "caller": "test",
            "goal": GOAL,
            "toolset": [
                {"tool_id": "math.evaluate"},
                {"tool_id": typed},
                {"tool_id": "math.evalute"},
            ],
        }
        planned = (await ordain.plan(request)).error
        assert planned is not None
        assert (planned.code, planned.message) == ("unknown_verb", f"toolset: {typed}{told}")
        called = (await ordain.execute(typed, {})).error
        assert called is not None
        assert (called.code, called.message) == (
            "unknown_verb",
            f"No such verb in the catalog{told or '.'}",
        )
        transport = httpx2.ASGITransport(
            build_app(Face(runtime=ordain.runtime)), raise_app_exceptions=False
        )
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            answer = (
                await http.post("/verbs/execute", json={"verb_id": typed, "payload": {}})
            ).json()
            assert answer["error"]["message"] == called.message
