"""Ordain: ``POST /plan/react``'s own run, called in process; every decision, intent and observation
journalled.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from bench import work
from bench.ready import Ready
from ordain import Ordain, verb
from ordain.contracts.profiles import ModelProfile
from ordain.settings import Settings, load_settings

REQUEST: dict[str, Any] = {
    "caller": "bench",
    "goal": {
        "type": "chat",
        "description": work.INSTRUCTIONS,
        "metadata": {"user_message": work.QUESTION},
    },
    "toolset": [{"tool_id": work.TOOL_NAME}],
    "limits": {"max_steps": work.MAX_STEPS, "timeout_seconds": 300},
    "preferences": {"style": "neutral", "return_trace": False},
}
PAYLOAD_BYTES = (
    len(json.dumps(REQUEST, ensure_ascii=False).encode())
    + sum(
        len(json.dumps(work.directive(index), ensure_ascii=False).encode())
        for index in range(work.MODEL_CALLS)
    )
    + sum(
        len(json.dumps({"result": text}, ensure_ascii=False).encode())
        for text in work.RECORDS.values()
    )
)
"""What was said in one turn: the request, the model's answers, the tool's results. What a journal
holds more is its own.
"""


@verb(effect="read", name=work.TOOL_NAME, description=work.TOOL_DESCRIPTION)
async def look_up(record: str) -> str:
    """Look up one record of the warehouse by its id.

    Args:
        record: The record's id.
    """
    return work.looked_up(record)


def settings(home: Path, url: str | None, *, running: int | None = None) -> Settings:
    """Settings on the script or the model server; ``running`` raises how many runs may be driven at
    once.
    """
    home.mkdir(parents=True, exist_ok=True)
    profile = ModelProfile(provider="openai", model=work.MODEL, base_url=url)
    if url is None:
        script = home / "script.json"
        script.write_bytes(
            msgspec.json.encode(
                {"planner": [work.directive(index) for index in range(work.MODEL_CALLS)]}
            )
        )
        profile = ModelProfile(provider="scripted", model=work.MODEL, script=str(script))
    made = load_settings(environment={}, home=home)
    policy = made.policy
    if running is not None:
        engine = policy.engine.model_copy(
            update={"max_running": running, "max_accepted": 2 * running}
        )
        policy = policy.model_copy(update={"engine": engine})
    return made.model_copy(update={"profiles": {"default": profile}, "policy": _on_default(policy)})


def _on_default(policy: Any) -> Any:
    lanes = policy.lanes.model_copy(
        update={"profiles": {lane: ["default"] for lane in policy.lanes.profiles}}
    )
    return policy.model_copy(update={"lanes": lanes})


@asynccontextmanager
async def opened(home: Path, url: str | None) -> AsyncIterator[Ready]:
    """One Ordain on its own data folder."""
    # the one line per run end would be the only terminal output of any system here
    logging.disable(logging.INFO)
    async with Ordain(settings(home, url), verbs=(look_up,)) as ordain:

        async def turn() -> str:
            reply = (await ordain.plan(REQUEST)).wire
            return reply["final_answer"]["content"]

        def counted() -> Mapping[str, float]:
            counters: Any = ordain.runtime.services.counters
            fields = {name: getattr(counters, name) for name in counters.__struct_fields__}
            return {
                **fields,
                "commits": ordain.store.writer.commits,
                "fsync_s": ordain.store.fsync_s,
            }

        yield Ready(turn=turn, counted=counted)
