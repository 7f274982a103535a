"""LangGraph: its prebuilt agent with the SQLite saver at durability "sync", so that each superstep
is stored before the next begins.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.prebuilt import create_react_agent
from openai import AsyncOpenAI

from bench import work
from bench.ready import Ready


class _Chat(BaseChatModel):
    """A chat model without more around it than LangChain's own; ``client`` None plays the
    script.
    """

    client: Any = None
    tools: list[dict[str, Any]] = []

    @property
    def _llm_type(self) -> str:
        return "bench"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.model_copy(update={"tools": [convert_to_openai_tool(each) for each in tools]})

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = await self._asked(messages) if self.client else _scripted(messages)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _asked(self, messages: list[BaseMessage]) -> AIMessage:
        sent = convert_to_openai_messages(messages)
        completion = await self.client.chat.completions.create(
            model=work.MODEL, messages=sent, tools=self.tools
        )
        said = completion.choices[0].message
        calls = [
            {"name": call.function.name, "args": json.loads(call.function.arguments), "id": call.id}
            for call in said.tool_calls or ()
        ]
        return AIMessage(content=said.content or "", tool_calls=calls)


def _scripted(messages: list[BaseMessage]) -> AIMessage:
    index = sum(message.type == "tool" for message in messages)
    if index >= work.CALLS:
        return AIMessage(content=work.ANSWER)
    return AIMessage(
        content=work.THOUGHTS[index],
        tool_calls=[
            {"name": work.TOOL_NAME, "args": {"record": work.ASKED[index]}, "id": f"call_{index}"}
        ],
    )


@tool(work.TOOL_NAME)
async def look_up(record: str) -> str:
    """Look up one record of the warehouse by its id."""
    return work.looked_up(record)


@asynccontextmanager
async def opened(home: Path, url: str | None) -> AsyncIterator[Ready]:
    """One graph, one saver; each turn is a thread of its own."""
    limits = httpx2.Limits(max_connections=100, max_keepalive_connections=100)
    client = (
        None
        if url is None
        else AsyncOpenAI(
            base_url=url, api_key="bench", http_client=httpx2.AsyncClient(limits=limits, timeout=60)
        )
    )
    async with AsyncSqliteSaver.from_conn_string(str(home / "langgraph.db")) as saver:
        await saver.setup()
        await saver.conn.execute("PRAGMA synchronous=FULL")
        with warnings.catch_warnings():
            # its successor lives in another distribution and is the same loop
            warnings.simplefilter("ignore")
            graph = create_react_agent(
                _Chat(client=client), [look_up], prompt=work.INSTRUCTIONS, checkpointer=saver
            )
        threads = count()

        async def turn() -> str:
            ended = await graph.ainvoke(
                {"messages": [{"role": "user", "content": work.QUESTION}]},
                {"configurable": {"thread_id": f"turn-{next(threads)}"}},
                durability="sync",
            )
            return ended["messages"][-1].content

        yield Ready(turn=turn)
    if client is not None:
        await client.close()
