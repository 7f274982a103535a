"""OpenAI Agents SDK: its runner without a session and without tracing. It keeps nothing: a killed
turn is lost.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from agents import (
    Agent,
    Model,
    ModelResponse,
    OpenAIChatCompletionsModel,
    RunConfig,
    Runner,
    Usage,
    function_tool,
    set_tracing_disabled,
)
from agents.testing.model import assistant_message, function_call
from openai import AsyncOpenAI

from bench import work
from bench.ready import Ready


class _Scripted(Model):
    """The SDK's own way to a model of one's own."""

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002 - its name
        *args: Any,
        **kwargs: Any,
    ) -> ModelResponse:
        index = (
            0
            if isinstance(input, str)
            else sum(item.get("type") == "function_call_output" for item in input)
        )
        output: list[Any] = [
            assistant_message(work.ANSWER if index >= work.CALLS else work.THOUGHTS[index])
        ]
        if index < work.CALLS:
            output.append(
                function_call(
                    work.TOOL_NAME, {"record": work.ASKED[index]}, call_id=f"call_{index}"
                )
            )
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


@function_tool(name_override=work.TOOL_NAME, description_override=work.TOOL_DESCRIPTION)
async def look_up(record: str) -> str:
    """Look up one record of the warehouse by its id."""
    return work.looked_up(record)


@asynccontextmanager
async def opened(_home: Path, url: str | None) -> AsyncIterator[Ready]:
    """One agent; nothing is stored, so its folder stays empty."""
    set_tracing_disabled(True)
    limits = httpx2.Limits(max_connections=100, max_keepalive_connections=100)
    client = (
        None
        if url is None
        else AsyncOpenAI(
            base_url=url, api_key="bench", http_client=httpx2.AsyncClient(limits=limits, timeout=60)
        )
    )
    model: Model = _Scripted() if client is None else OpenAIChatCompletionsModel(work.MODEL, client)
    agent = Agent(name="bench", instructions=work.INSTRUCTIONS, model=model, tools=[look_up])
    config = RunConfig(tracing_disabled=True)

    async def turn() -> str:
        ended = await Runner.run(agent, work.QUESTION, run_config=config, max_turns=work.MAX_STEPS)
        return ended.final_output

    yield Ready(turn=turn)
    if client is not None:
        await client.close()
