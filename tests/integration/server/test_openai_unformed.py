"""What a client that asked for JSON is told where the work failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordain.models.scripted import ScriptedModel, make_script
from tests.integration.server.openai_house import CHAT, house, turns

OUTSIDE = {
    "thought": "Send it.",
    "finish": False,
    "action": {"tool_id": "mail.send", "input": {}},
    "final_answer": None,
}


@pytest.mark.parametrize("form", [{"type": "json_object"}, {"type": "text"}])
async def test_work_that_failed_is_told_as_that(tmp_path: Path, form: dict[str, str]) -> None:
    """And not as an answer that is no JSON: nobody gave one. The header stands below what is said,
    as it does where no form was asked for.
    """
    model = ScriptedModel(make_script(planner=[OUTSIDE] * 4))
    async with house(tmp_path, model=model) as (_, http):
        body = {"model": "ordain-agent", "messages": turns("Write to Ada"), "response_format": form}
        told = await http.post(CHAT, json=body)
        if form["type"] == "text":
            assert told.json()["choices"][0]["message"]["content"].startswith("✗ no tool succeeded")
            return
        error = told.json()["error"]
        assert (told.status_code, error["code"]) == (422, "answer_unfit")
        assert error["message"].startswith("This was not done: the model could not plan")
        assert "✗ no tool succeeded" in error["message"]
        assert "no JSON" not in error["message"]
