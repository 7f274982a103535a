"""OpenAI-compatible endpoints: OpenAI, vLLM, llama.cpp, Ollama, LM Studio, and the many that speak
chat completions or responses.
"""

from __future__ import annotations

from typing import Literal

import httpcore2
import msgspec

from ordain.contracts.hosted import OPENAI_URL, one_spelling
from ordain.contracts.model_policy import ModelErrorCode
from ordain.models import chat_completions, responses
from ordain.models.event_stream import CompletionStream, EventStream, looks_like_events
from ordain.models.exchange import (
    ANSWER_BYTES,
    Exchange,
    HttpAnswer,
    Listener,
    Stalled,
    TooFine,
    checked_key,
    checked_url,
)
from ordain.models.narrative import WHOLE, place_of
from ordain.models.refusals import (
    LEAVES,
    MESSAGE_CHARS,
    NO_TIME,
    NOT_UNICODE,
    RESPONSE_LEAVES,
    doubted_of,
    fault_of,
    malformed,
    read_refusal,
    refuses_way,
)
from ordain.models.schemas import output_tool
from ordain.ports.model import Charge, Heard, Leave, ModelError, ModelReply, ModelRequest
from ordain.rules.thought_tags import begins_within_thought
from ordain.runtime.time_limit import TimeLimit

DEFAULT_BASE_URL = OPENAI_URL
Api = Literal["chat", "responses"]
_PATHS: dict[Api, str] = {"chat": "/chat/completions", "responses": "/responses"}


def api_url(base_url: str, api: Api) -> str:
    """``http://host`` → ``http://host/v1/chat/completions`` or ``/v1/responses``; a base that has a
    path keeps it.

    Raises:
        ConfigurationError: not a plain http or https address.
    """
    checked_url(base_url.strip())
    return f"{one_spelling(base_url)}{_PATHS[api]}"


class OpenAIModel:
    """One attempt at one chat completion, or at one response, over HTTP.

    Ordering: none; calls run side by side, each on its own connection. Errors: every failure is a
    ``ModelError``; only cancellation passes through, and closes its connection.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_BASE_URL,
        api_key: str | None = None,
        api: Api = "chat",
        *,
        keeps_streams: bool = True,
    ) -> None:
        """The key goes into the Authorization header and nowhere else; ``keeps_streams`` as for
        ``Exchange``.

        Raises:
            ConfigurationError: the address is not one, or the key cannot stand in a header.
        """
        key = checked_key(api_key)
        self.url = api_url(base_url, api)
        host = checked_url(self.url).hostname or ""
        self._key = key
        self._api: Api = api
        self._modern_length = host.endswith((".openai.com", ".openai.azure.com"))
        headers = [(b"authorization", b"Bearer " + key.encode())] if key else []
        self._exchange = Exchange(self.url, headers, keeps_streams=keeps_streams)

    def __repr__(self) -> str:
        return f"OpenAIModel({self.url!r})"

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """Ask once, within what is left of the deadline and the profile's own time-out; as a stream
        where somebody listens.
        """
        stream = self._stream(request, heard) if heard is not None and request.narrative else None
        try:
            body = self._encoded(request, stream=stream is not None)
        except UnicodeEncodeError:
            return NOT_UNICODE
        answer = await self.post(
            body, min(request.timeout_s, request.profile.timeout_ms / 1000), stream
        )
        said = (
            answer if isinstance(answer, ModelError) else self._said(answer, request, stream, heard)
        )
        said = msgspec.structs.replace(said, held=request.held_by, left=request.left)
        if isinstance(said, ModelReply) and request.schema is None:
            return msgspec.structs.replace(said, words_first=not begins_within_thought(said.text))
        return said

    def _said(
        self,
        answer: HttpAnswer,
        request: ModelRequest,
        stream: EventStream | None,
        heard: Heard | None,
    ) -> ModelReply | ModelError:
        if not 200 <= answer.status < 300:
            refused = read_refusal(
                answer.status, answer.headers, answer.body or b"", self._sent(request)
            )
            if refused.code is ModelErrorCode.SERVER_ERROR and refuses_way(
                answer.status, answer.body or b"", request.held_by
            ):
                refused = msgspec.structs.replace(refused, code=ModelErrorCode.REJECTED)
            if refused.code is ModelErrorCode.REJECTED:
                refused = self._faulted(refused, answer, request, streamed=stream is not None)
            if refused.code is ModelErrorCode.AUTHENTICATION and not self._key:
                refused = msgspec.structs.replace(
                    refused, message=f"no key was sent: {refused.message}"[:MESSAGE_CHARS]
                )
            return self._clean(refused, f"status {answer.status}")
        if stream is not None and stream.began:
            return self._streamed(stream, request)
        if answer.body is None:
            return malformed(f"the answer is larger than {ANSWER_BYTES} bytes")
        typed = request.schema is not None and answer.headers.get(b"content-type")
        if not typed and looks_like_events(answer.body):
            # words count whatever their type says, JSON where nothing says another
            stream = self._stream(
                request, heard if heard is not None and request.narrative else _nobody
            )
            stream.take(answer.body)
            return self._streamed(stream, request)
        return self._read(answer.body, request)

    def _faulted(
        self, refused: ModelError, answer: HttpAnswer, request: ModelRequest, *, streamed: bool
    ) -> ModelError:
        """The refusal, with what of the request it names, or may mean."""
        body, leaves = answer.body or b"", RESPONSE_LEAVES if self._api == "responses" else LEAVES
        has = {leave for leave, _ in leaves} - {Leave.LENGTH_RENAMED}
        if not streamed:
            has -= {Leave.STREAM, Leave.STREAM_COUNTS}
        if request.temperature is None:
            has.discard(Leave.TEMPERATURE)
        fault = fault_of(body, request.left, leaves)
        doubted = (
            frozenset[Leave]()
            if fault is not None
            else doubted_of(
                answer.status,
                body,
                frozenset(has - request.left),
                at_once=request.held_by is not None,
            )
        )
        return msgspec.structs.replace(refused, fault=fault, doubted=doubted)

    def _streamed(self, stream: EventStream, request: ModelRequest) -> ModelReply | ModelError:
        said = stream.conclude(request.profile.model, self._sent(request))
        return (
            self._clean(said, "an error within the stream")
            if isinstance(said, ModelError)
            else said
        )

    def _encoded(self, request: ModelRequest, *, stream: bool) -> bytes:
        if self._api == "responses":
            return responses.encode_request(request, stream=stream)
        return chat_completions.encode_request(
            request, modern_length=self._modern_length, stream=stream
        )

    def _stream(self, request: ModelRequest, heard: Heard) -> EventStream:
        kind = responses.ResponseStream if self._api == "responses" else CompletionStream
        place = WHOLE if request.schema is None else place_of(request)
        return kind(
            place,
            heard,
            output_tool(request),
            request.profile.idle_ms,
            unsure=not request.words_first,
        )

    def _read(self, body: bytes, request: ModelRequest) -> ModelReply | ModelError:
        if self._api == "responses":
            plain = request.schema is None
            said = responses.read_response(
                body, request.profile.model, output_tool(request), self._sent(request), plain=plain
            )
            return (
                self._clean(said, "the response failed") if isinstance(said, ModelError) else said
            )
        return chat_completions.read_completion(
            body, request.profile.model, output_tool(request), plain=request.schema is None
        )

    def _sent(self, request: ModelRequest) -> str:
        return f"{request.system}\n{request.user}\n{self._key}"

    def _clean(self, error: ModelError, otherwise: str) -> ModelError:
        """The error without the key, should an identifier have it within a longer word."""
        return (
            msgspec.structs.replace(error, message=otherwise)
            if self._key and self._key in error.message
            else error
        )

    async def post(
        self, body: bytes, timeout_s: float, listener: Listener | None = None
    ) -> HttpAnswer | ModelError:
        """Send a body as it is; what went wrong on the way is a ``ModelError``."""
        if timeout_s <= 0:
            return NO_TIME
        try:
            async with TimeLimit(timeout_s):
                return await self._exchange.post(body, listener)
        except (TimeoutError, httpcore2.TimeoutException):
            return ModelError(
                code=ModelErrorCode.TIMED_OUT,
                message=f"no complete answer within {timeout_s:.3g} s",
            )
        except TooFine as error:
            return malformed(str(error))
        except Stalled as error:
            return _connection(str(error))
        except httpcore2.RemoteProtocolError as error:
            return _broken(error)
        except httpcore2.ConnectError as error:
            # the system's words about an address
            return _connection(f"cannot connect: {error}", Charge.NOTHING_SENT)
        except httpcore2.ProxyError:
            return _connection("the proxy refused the connection", Charge.NOTHING_SENT)
        except (httpcore2.NetworkError, OSError) as error:
            return _connection(f"the connection failed ({type(error).__name__})")
        except Exception as error:
            # the boundary to foreign code: what it lets through is a bug, never the run's end
            return ModelError(
                code=ModelErrorCode.ADAPTER_BUG, message=f"unexpected {type(error).__name__}"
            )

    async def close(self) -> None:
        """Close the connections; idempotent."""
        await self._exchange.close()


def _nobody(_: str) -> None:
    """Hears nothing."""


def _connection(message: str, known: Charge | None = None) -> ModelError:
    return ModelError(code=ModelErrorCode.CONNECTION, message=message[:MESSAGE_CHARS], known=known)


def _broken(error: httpcore2.RemoteProtocolError) -> ModelError:
    """A peer that went away and one that does not speak HTTP raise the same class; only h11's words
    tell them apart.
    """
    words = str(error).lower()
    if "disconnect" in words or "peer closed" in words or "closed connection" in words:
        return _connection("the server closed the connection before its answer was complete")
    return malformed("the answer is not HTTP")
