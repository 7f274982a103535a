"""``raw_cortex``: what a prompt-plan verb replied, for who looks into a trace and for nobody
else.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from ordain import Ordain
from ordain.server import Face, build_app
from ordain.settings import load_settings
from tests.replay.golden import act, finish, request, scripted


def facts(*texts: str) -> dict[str, Any]:
    """An answer of verb ``extract_facts``."""
    return {
        "facts": [
            {"text": text, "subject": None, "predicate": None, "object": None} for text in texts
        ],
        "method": "analysed",
    }


FACTS = facts("Alice is 30.")
SUM = act("math.evaluate", {"expression": "2 + 2"})
EXTRACT = act("extract_facts", {"text": "Alice is 30."})


@asynccontextmanager
async def played(
    home: Path, planner: list[Any], verbs: dict[str, list[Any]]
) -> AsyncIterator[tuple[Ordain, httpx2.AsyncClient]]:
    """An Ordain that plays these proposals, and its HTTP face."""
    async with scripted(load_settings({}, home), planner, verbs) as ordain:
        transport = httpx2.ASGITransport(
            build_app(Face(runtime=ordain.runtime)), raise_app_exceptions=False
        )
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            yield ordain, http


async def test_a_trace_has_it_where_debug_is_asked_for(tmp_path: Path) -> None:
    """Neither the answer of the request nor the run without ``debug`` has it, and a leaf never.
    PLN-22 “Verb observation shape `{llm_output, spark_meta, raw_cortex, step_meta}` normalised from
    the cortex reply”
    B-04 “`raw_cortex` (the cortex reply of a prompt-plan verb) kept only in persisted trace/debug”
    B-04 “Superset: `{ok, output, error?, llm_output, spark_meta, step_meta, raw_cortex?}`; for LLM
    verbs `output` = structured result and `llm_output` = text.”
    """
    async with played(tmp_path, [EXTRACT, SUM, finish("done")], {"extract_facts": [FACTS]}) as (
        _,
        http,
    ):
        told = (
            await http.post("/plan/react", json=request("extract_facts", "math.evaluate"))
        ).json()
        assert "raw_cortex" not in json.dumps(told)
        place = f"/runs/{told['run_id']}"
        plain = (await http.get(place)).json()
        assert plain["response"] == told
        response = (await http.get(place, params={"debug": "true"})).json()["response"]
        seen, leaf, last = (step["observation"] for step in response["trace"])
        assert set(seen) == {"ok", "output", "llm_output", "spark_meta", "step_meta", "raw_cortex"}
        assert (seen["output"], seen["llm_output"]) == (FACTS, "1. Alice is 30.")
        assert "raw_cortex" not in leaf
        assert last is None
        reply = json.loads(seen.pop("raw_cortex"))
        assert response == told
        assert (reply["verb_name"], reply["steps_executed"], reply["context_echo"]) == (
            "extract_facts",
            2,
            {"text": "Alice is 30."},
        )
        composed, asked = reply["step_results"]
        assert (composed["step_name"], composed["order"], composed["services"]) == (
            "compose_extraction_prompt",
            0,
            [],
        )
        (service,) = asked["services"]
        assert json.loads(service["payload"]) == FACTS
        assert (service["service"], service["trace_id"], service["ok"]) == (
            "LLMGatewayService",
            seen["step_meta"]["run_id"],
            True,
        )
        assert service["elapsed_ms"] >= 0


async def test_a_journal_has_it_by_run(tmp_path: Path) -> None:
    """With ``debug`` beside the records: of the run itself where it carries out such a verb, and of
    those below it.
    """
    async with played(tmp_path, [EXTRACT, finish("done")], {"extract_facts": [FACTS]}) as (_, http):
        told = (await http.post("/plan/react", json=request("extract_facts"))).json()
        child = told["trace"][0]["observation"]["step_meta"]["run_id"]
        for run in (told["run_id"], child):
            assert (await http.get(f"/runs/{run}/journal")).json()["raw_cortex"] == {}
            found = (await http.get(f"/runs/{run}/journal", params={"debug": "true"})).json()
            assert set(found["raw_cortex"]) == {child}


async def test_a_long_reply_is_cut(tmp_path: Path) -> None:
    """B-04 “cut at 4 KiB with `…`”: what a model went on with is not in it."""
    long = facts("ä" * 2000, "ö" * 2000)
    async with played(tmp_path, [EXTRACT, finish("done")], {"extract_facts": [long]}) as (_, http):
        told = (await http.post("/plan/react", json=request("extract_facts"))).json()
        shown = (await http.get(f"/runs/{told['run_id']}", params={"debug": "true"})).json()[
            "response"
        ]
        seen = shown["trace"][0]["observation"]
        raw = seen["raw_cortex"]
        assert (seen["ok"], seen["output"]) == (True, long)
        assert raw.endswith("…")
        assert 4090 < len(raw.encode()) <= 4096


async def test_a_reply_that_did_not_fit_is_there_to_be_looked_at(tmp_path: Path) -> None:
    """Of a step that failed it has the answer that was refused, word for word, and the reason."""
    async with played(
        tmp_path, [EXTRACT, finish("done")], {"extract_facts": [{"facts": "none"}]}
    ) as (_, http):
        told = (await http.post("/plan/react", json=request("extract_facts"))).json()
        shown = (await http.get(f"/runs/{told['run_id']}", params={"debug": "true"})).json()[
            "response"
        ]
        observed = shown["trace"][0]["observation"]
        assert (observed["ok"], observed["error"]["code"]) == (False, "bad_output")
        (service,) = json.loads(observed["raw_cortex"])["step_results"][1]["services"]
        assert json.loads(service["payload"]) == {"facts": "none"}
        assert (service["ok"], service["error"]) == (False, "output.schema")


async def test_what_was_erased_is_not_there(tmp_path: Path) -> None:
    """It is made from journals, so that it goes with them."""
    async with played(tmp_path, [EXTRACT, finish("done")], {"extract_facts": [FACTS]}) as (_, http):
        told = (await http.post("/plan/react", json=request("extract_facts"))).json()
        await http.post(f"/runs/{told['run_id']}/erase", json={"why": "asked for"})
        found = (await http.get(f"/runs/{told['run_id']}/journal", params={"debug": "true"})).json()
        assert found["raw_cortex"] == {}
        assert (await http.get(f"/runs/{told['run_id']}", params={"debug": "true"})).json()[
            "response"
        ]["trace"] is None
