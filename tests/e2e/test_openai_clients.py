"""The clients that the OpenAI-compatible address is for, as their makers ship them: OpenAI's
package, LangChain's and Pydantic AI's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import openai
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_openai import ChatOpenAI
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from pydantic import BaseModel, SecretStr
from pydantic_ai import Agent, ModelHTTPError, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.process import Server

WORDS = "It is Wednesday, as far as I know."
ASKED = "Which day comes after Tuesday?"
TOOL: ChatCompletionToolParam = {
    "type": "function",
    "function": {"name": "wipe", "parameters": {"type": "object", "properties": {}}},
}


class Day(BaseModel):
    """What a client wants an answer as."""

    name: str
    weekend: bool


class Place(NamedTuple):
    """A server whose model answers what the endpoint is told."""

    server: Server
    endpoint: ModelEndpoint
    http: openai.DefaultHttpxClient

    @property
    def url(self) -> str:
        """What a client is pointed at."""
        return f"http://127.0.0.1:{self.server.port}/v1"

    def client(self) -> openai.OpenAI:
        """OpenAI's client."""
        return openai.OpenAI(
            base_url=self.url, api_key="none", max_retries=0, http_client=self.http
        )

    def at_once(self) -> openai.AsyncOpenAI:
        """OpenAI's asynchronous client, to be closed."""
        return openai.AsyncOpenAI(base_url=self.url, api_key="none", max_retries=0)

    def langchain(self) -> ChatOpenAI:
        """LangChain's chat model."""
        return ChatOpenAI(
            base_url=self.url,
            api_key=SecretStr("none"),
            model="ordain",
            max_retries=0,
            http_client=self.http,
        )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One server for this module."""
    home = tmp_path_factory.mktemp("clients")
    with ExitStack() as stack:
        endpoint = stack.enter_context(ModelEndpoint())
        server = stack.enter_context(
            Server(home, environment={"OPENAI_BASE_URL": endpoint.url, "PLANNER_MODEL": "fake-1"})
        )
        yield Place(server, endpoint, stack.enter_context(openai.DefaultHttpxClient()))


def is_shown(text: str, words: str = WORDS) -> bool:
    """Whether the header's line and the quoted words stand in a text."""
    return "✓ fake-1 · no tool · " in text and f"> {words}" in text


def user(text: str) -> ChatCompletionMessageParam:
    return {"role": "user", "content": text}


def test_openai_lists_the_models_and_talks(place: Place) -> None:
    """Models by name; an answer with its header, its usage and what is Ordain's own beside."""
    place.endpoint.will_answer(WORDS)
    client = place.client()
    assert {"ordain", "ordain-agent", "ordain-council", "ordain-task"} <= {
        model.id for model in client.models.list()
    }
    answer = client.chat.completions.create(model="ordain", messages=[user(ASKED)])
    assert is_shown(answer.choices[0].message.content or "")
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.total_tokens == 107
    ordain: dict[str, Any] = (answer.model_extra or {})["ordain"]
    assert place.server.http.get(f"/runs/{ordain['run_id']}").json()["header"] == ordain["header"]


def test_openai_goes_on_by_what_it_shows(place: Place) -> None:
    """A client that sends all that was said is in the session where it was said."""
    place.endpoint.will_answer(WORDS, "Then it is Thursday.")
    client = place.client()
    messages = [user("Which day comes after the Tuesday of this conversation?")]
    first = client.chat.completions.create(model="ordain", messages=messages)
    answered: ChatCompletionMessageParam = {
        "role": "assistant",
        "content": first.choices[0].message.content,
    }
    messages += [answered, user("And which one after that?")]
    second = client.chat.completions.create(model="ordain", messages=messages)
    told = [(answer.model_extra or {})["ordain"] for answer in (first, second)]
    assert told[0]["session_id"] == told[1]["session_id"]
    assert place.endpoint.prompt(1).count(WORDS) == 1


def test_openai_streams(place: Place) -> None:
    """Pieces that make the whole text, in several; usage comes where it is asked for."""
    place.endpoint.will_answer(WORDS)
    stream = place.client().chat.completions.create(
        model="ordain",
        messages=[user(f"{ASKED} Say it slowly.")],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    pieces = [
        chunk.choices[0].delta.content
        for chunk in chunks
        if chunk.choices and chunk.choices[0].delta.content
    ]
    assert is_shown("".join(pieces))
    assert len(pieces) > 1
    assert [chunk.usage.total_tokens for chunk in chunks if chunk.usage] == [107]


def test_openai_responses(place: Place) -> None:
    """A response, one that goes on from it by id, and a streamed one."""
    place.endpoint.will_answer(WORDS, "Thursday.", WORDS)
    client = place.client()
    first = client.responses.create(model="ordain", input=f"{ASKED} I ask by a response.")
    assert is_shown(first.output_text)
    second = client.responses.create(
        model="ordain", input="And then?", previous_response_id=first.id
    )
    assert is_shown(second.output_text, "Thursday.")
    assert (first.model_extra or {})["ordain"]["session_id"] == (second.model_extra or {})[
        "ordain"
    ]["session_id"]
    with client.responses.stream(model="ordain", input=f"{ASKED} Piece by piece.") as stream:
        text = "".join(
            event.delta for event in stream if event.type == "response.output_text.delta"
        )
        assert is_shown(text)
        assert stream.get_final_response().output_text == text


def test_openai_parses_an_answer(place: Place) -> None:
    """With a model to parse into, the text is the answer alone; one that does not fit is an error
    of its name.
    """
    place.endpoint.will_answer({"name": "Wednesday", "weekend": False})
    client = place.client()
    answer = client.chat.completions.parse(
        model="ordain", messages=[user(f"{ASKED} As data.")], response_format=Day
    )
    assert answer.choices[0].message.parsed == Day(name="Wednesday", weekend=False)
    place.endpoint.will_answer(*["a day"] * 6)
    with pytest.raises(openai.APIStatusError) as refused:
        client.chat.completions.parse(
            model="ordain", messages=[user(f"{ASKED} As data, please.")], response_format=Day
        )
    assert refused.value.code == "answer_unfit"


def test_openai_tells_what_is_refused(place: Place) -> None:
    """Refusals come as the errors that its package has for them, with Ordain's code; no model was
    asked.
    """
    place.endpoint.will_answer()
    client = place.client()
    with pytest.raises(openai.NotFoundError) as unknown:
        client.chat.completions.create(model="gpt-x", messages=[user(ASKED)])
    assert unknown.value.code == "unknown_model"
    with pytest.raises(openai.UnprocessableEntityError) as tools:
        client.chat.completions.create(model="ordain", messages=[user(ASKED)], tools=[TOOL])
    assert tools.value.code == "unsupported_parameter"
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="ordain_0123456789_" + "a" * 43).chat.completions.create(
            model="ordain", messages=[user(ASKED)]
        )
    assert not place.endpoint.asked


async def test_openai_at_once(place: Place) -> None:
    """Its asynchronous client, several times at once: each gets its own answer."""
    place.endpoint.will_answer(*[WORDS] * 4)
    async with place.at_once() as client:
        answers = await asyncio.gather(
            *(
                client.chat.completions.create(
                    model="ordain", messages=[user(f"{ASKED} Number {at}.")]
                )
                for at in range(4)
            )
        )
    assert all(is_shown(answer.choices[0].message.content or "") for answer in answers)
    assert len({(answer.model_extra or {})["ordain"]["session_id"] for answer in answers}) == 4


def test_langchain_talks_and_streams(place: Place) -> None:
    """Invoked with a history, and streamed: words and verdict apart."""
    place.endpoint.will_answer(WORDS, "Thursday.", WORDS)
    model = place.langchain()
    first = model.invoke([HumanMessage(f"{ASKED} Asked with LangChain.")])
    assert is_shown(str(first.content))
    said = [
        HumanMessage(f"{ASKED} Asked with LangChain."),
        AIMessage(str(first.content)),
        HumanMessage("And then?"),
    ]
    assert is_shown(str(model.invoke(said).content), "Thursday.")
    pieces = [
        str(chunk.content)
        for chunk in model.stream(f"{ASKED} Streamed with LangChain.")
        if chunk.content
    ]
    assert is_shown("".join(pieces))
    assert len(pieces) > 1


def test_langchain_has_structured_output(place: Place) -> None:
    """By a schema; by a client's tools it is refused before a model is asked."""
    place.endpoint.will_answer({"name": "Wednesday", "weekend": False})
    model: Any = place.langchain()  # its own types leave this method partly unknown
    by_schema = model.with_structured_output(Day, method="json_schema")
    assert by_schema.invoke(f"{ASKED} For LangChain.") == Day(name="Wednesday", weekend=False)
    by_tools = model.with_structured_output(Day, method="function_calling")
    with pytest.raises(
        openai.UnprocessableEntityError, match="tools of a client are not called here"
    ):
        by_tools.invoke(f"{ASKED} By tools.")


def test_langchain_streams_structured_output_of_responses(place: Place) -> None:
    """It parses the last event of a stream by the format that the response gives back."""
    place.endpoint.will_answer({"name": "Wednesday", "weekend": False})
    model: Any = ChatOpenAI(
        base_url=place.url,
        api_key=SecretStr("none"),
        model="ordain",
        max_retries=0,
        http_client=place.http,
        use_responses_api=True,
    )
    assert list(model.with_structured_output(Day).stream(f"{ASKED} As a streamed response."))[
        -1
    ] == Day(name="Wednesday", weekend=False)


async def test_pydantic_ai_talks_and_streams(place: Place) -> None:
    """Runs with a history, by chat completions and by responses, whole and streamed."""
    place.endpoint.will_answer(WORDS, "Thursday.", WORDS, WORDS)
    async with place.at_once() as client:
        provider = OpenAIProvider(openai_client=client)
        agent = Agent(OpenAIChatModel("ordain", provider=provider))
        first = await agent.run(f"{ASKED} Asked with Pydantic AI.")
        second = await agent.run("And then?", message_history=first.all_messages())
        async with agent.run_stream(f"{ASKED} Streamed with Pydantic AI.") as stream:
            streamed = await stream.get_output()
        by_response = await Agent(OpenAIResponsesModel("ordain", provider=provider)).run(
            f"{ASKED} By a response."
        )
    assert is_shown(first.output)
    assert is_shown(second.output, "Thursday.")
    assert is_shown(streamed)
    assert is_shown(by_response.output)


async def test_pydantic_ai_has_native_output(place: Place) -> None:
    """An answer of a type, by its schema; tools of the client are refused."""
    place.endpoint.will_answer({"name": "Wednesday", "weekend": False})
    async with place.at_once() as client:
        model = OpenAIChatModel("ordain", provider=OpenAIProvider(openai_client=client))
        answer = await Agent(model, output_type=NativeOutput(Day)).run(f"{ASKED} For Pydantic AI.")
        with pytest.raises(ModelHTTPError, match="unsupported_parameter"):
            await Agent(model, output_type=Day).run(f"{ASKED} By a tool.")
    assert answer.output == Day(name="Wednesday", weekend=False)
