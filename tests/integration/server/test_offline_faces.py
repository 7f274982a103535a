"""What every face says of a run that no model answered: neither tokens nor money, whatever its
record holds.
"""

from __future__ import annotations

from pathlib import Path

from ordain.contracts.profiles import ModelProfile
from ordain.journal.folds import ending
from ordain.models.offline import OfflineModel
from tests.integration.server.openai_house import house, said, turns

PLAN = {
    "goal": {"type": "analysis", "description": "What is 2 + 2?"},
    "toolset": [{"tool_id": "math.evaluate"}],
}


async def test_no_face_tells_of_tokens_where_no_model_was_asked(tmp_path: Path) -> None:
    """A plan's answer, a run and the runs below it, a message's answer, its session's events and
    the OpenAI-compatible one; the record keeps what was counted.
    """
    async with house(
        tmp_path, model=OfflineModel(), profile=ModelProfile(provider="offline", model="offline")
    ) as (ordain, http):
        planned = (await http.post("/plan/react", json=PLAN)).json()
        told = await said(http, turns("hello"))
        run = told["ordain"]["run_id"]
        seen = (await http.get(f"/runs/{run}")).json()
        below = (await http.get(f"/runs/{run}/tree")).json()
        events = (await http.get(f"/sessions/{told['ordain']['session_id']}/messages")).text
        headers = [planned["header"], told["ordain"]["header"], seen["header"], events]
        assert all("model calls" in one for one in headers)
        assert not [one for one in headers if "tokens" in one or "$" in one]
        assert {one["tokens"] for one in below["runs"]} == {0}
        end = ending((await ordain.runtime.view(run)).stored.records)
        assert end is not None
        assert "tokens (estimated), $0.000000" in end.header
