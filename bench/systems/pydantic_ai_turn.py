"""Pydantic AI: its agent without a durable engine behind it. It keeps nothing: a killed turn is
lost.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from bench import work
from bench.ready import Ready


async def _scripted(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    index = sum(
        isinstance(part, ToolReturnPart)
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
    )
    if index >= work.CALLS:
        return ModelResponse(parts=[TextPart(work.ANSWER)])
    call = ToolCallPart(work.TOOL_NAME, {"record": work.ASKED[index]}, tool_call_id=f"call_{index}")
    return ModelResponse(parts=[TextPart(work.THOUGHTS[index]), call])


async def look_up(record: str) -> str:
    """Look up one record of the warehouse by its id."""
    return work.looked_up(record)


@asynccontextmanager
async def opened(_home: Path, url: str | None) -> AsyncIterator[Ready]:
    """One agent; nothing is stored, so its folder stays empty."""
    limits = httpx2.Limits(max_connections=100, max_keepalive_connections=100)
    client = (
        None
        if url is None
        else AsyncOpenAI(
            base_url=url, api_key="bench", http_client=httpx2.AsyncClient(limits=limits, timeout=60)
        )
    )
    model: Model = FunctionModel(_scripted)
    if client is not None:
        model = OpenAIChatModel(work.MODEL, provider=OpenAIProvider(openai_client=client))
    agent = Agent(model, instructions=work.INSTRUCTIONS, tools=[look_up])

    async def turn() -> str:
        return (await agent.run(work.QUESTION)).output

    yield Ready(turn=turn)
    if client is not None:
        await client.close()
