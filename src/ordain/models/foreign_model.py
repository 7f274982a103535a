"""What the adapters over pydantic-ai's direct API share: one attempt, one request, one reading of
what came.

The libraries below are good at their providers' wires and generous by design: they retry, follow
redirects, continue cut answers and take answers of any size. Here nothing of that happens unseen.
Every request and answer passes two hooks of the HTTP client: a second request within an attempt is
refused, and what is read is bounded (``models.foreign_bodies``).

This module needs one of the extras; the adapters turn its absence into advice.
"""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from contextvars import ContextVar
from typing import Any

import httpx2
import msgspec
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    ModelRequest as ForeignRequest,
)
from pydantic_ai.messages import SystemPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import Structured
from ordain.models.certificates import trusted
from ordain.models.event_stream import CUT_OFF, STREAM_BYTES
from ordain.models.exchange import (
    ANSWER_BYTES,
    KEPT_CONNECTIONS,
    KEPT_S,
    LOOPBACK,
    checked_key,
    checked_url,
    unusable_proxy,
)
from ordain.models.foreign_answers import ALTERNATING, Pieces, read_answer
from ordain.models.foreign_bodies import REFUSES, BoundedBody, WireAttempt
from ordain.models.foreign_failures import failure_of
from ordain.models.foreign_pictures import user_part
from ordain.models.narrative import early_text, place_of
from ordain.models.refusals import NO_TIME, NOT_UNICODE, malformed, read_refusal
from ordain.models.replies import is_text
from ordain.models.schemas import clean_name, schema_of, system_text, tool_of, wrapped
from ordain.ports.model import Charge, Heard, ModelError, ModelReply, ModelRequest
from ordain.runtime.time_limit import TimeLimit

MODELS_KEPT = 64
_LIBRARIES = r"(?:google\.genai|pydantic|pydantic_core|pydantic_ai|anthropic)(?:\.|$)"
_QUIET = ("ignore", None, Warning, re.compile(_LIBRARIES), 0)
"""As the interpreter keeps it."""
NO_KEY = "none"
"""What a library that insists on a key is given; it is never sent."""


_WIRE: ContextVar[WireAttempt] = ContextVar("ordain_models_foreign_wire")


def http_client(url: str, key_header: str, api_key: str) -> httpx2.AsyncClient:
    """The client that a provider's library speaks through; ``key_header`` is left out where there
    is no key.

    The usual variables (``HTTPS_PROXY``, ``NO_PROXY``, ``SSL_CERT_FILE``) are honoured, but for
    this machine's own loopback, which no proxy can reach. It has no time-outs: an attempt has one.

    Raises:
        ConfigurationError: ``url``, or a proxy that the environment names, is no address to use.
    """

    async def asked(request: httpx2.Request) -> None:
        wire = _WIRE.get()
        wire.requests += 1
        if wire.requests > 1:
            wire.fault = malformed("the answer would need a second request")
            raise httpx2.RequestError("one attempt is one request", request=request)
        request.headers["accept-encoding"] = "identity"
        if not api_key and key_header in request.headers:
            del request.headers[key_header]

    async def answered(response: httpx2.Response) -> None:
        wire = _WIRE.get()
        wire.status = response.status_code
        wire.headers = {name.lower(): value for name, value in response.headers.raw}
        if 300 <= response.status_code < 400:
            wire.fault = read_refusal(response.status_code, wire.headers, b"")
            raise httpx2.RequestError("redirected", request=response.request)
        encoding = response.headers.pop("content-encoding", "identity")
        if response.status_code < REFUSES and encoding != "identity":
            wire.fault = malformed("compressed although not asked to")
            raise httpx2.RequestError("compressed", request=response.request)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = BoundedBody(response.stream, wire)

    trust_env = checked_url(url).hostname not in LOOPBACK
    verify = trusted(trust_env)
    try:
        return httpx2.AsyncClient(
            timeout=None,
            verify=verify,
            trust_env=trust_env,
            follow_redirects=False,
            limits=httpx2.Limits(
                max_connections=None,
                max_keepalive_connections=KEPT_CONNECTIONS,
                keepalive_expiry=KEPT_S,
            ),
            event_hooks={"request": [asked], "response": [answered]},
        )
    except (ValueError, httpx2.InvalidURL, ImportError):
        # of a proxy that the environment names: nothing else is parsed or loaded here
        raise unusable_proxy() from None


def hush() -> None:
    """What these libraries warn of quotes answers, and with them whatever was said: it stands in no
    log. Asked before each attempt, since others set the filters, too; each change of them has
    everybody's warnings told once more.
    """
    if warnings.filters[:1] != [_QUIET]:
        warnings.filterwarnings("ignore", module=_LIBRARIES)


class ForeignModel(ABC):
    """One attempt at one model through pydantic-ai.

    Ordering: none; calls run side by side. Errors: every failure is a ``ModelError``; only
    cancellation passes through.

    ``data_only``: of an event in a stream its library knows the data alone.
    """

    data_only = False

    def __init__(self, url: str, api_key: str | None, key_header: str) -> None:
        """The key goes into ``key_header`` and nowhere else.

        Raises:
            ConfigurationError: the key cannot stand in a header.
        """
        self.url = url
        self._key = checked_key(api_key)
        self._http = http_client(url, key_header, self._key)
        self._models: dict[str, Model[Any]] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    @abstractmethod
    def _model(self, name: str) -> Model[Any]:
        """pydantic-ai's model of this name."""

    def _held(self, request: ModelRequest) -> Structured | None:
        """How this answer is held to its schema: as it is asked for, where the schema allows it."""
        return request.held_by

    def _settings(self, request: ModelRequest) -> ModelSettings:
        """What is set for this request. Retries and time-outs are none of the library's
        business.
        """
        settings = ModelSettings(max_tokens=min(request.max_tokens, request.profile.max_tokens))
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        return settings

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """Ask once, within what is left of the deadline and the profile's own time-out; as a stream
        where somebody listens.
        """
        timeout_s = min(request.timeout_s, request.profile.timeout_ms / 1000)
        if timeout_s <= 0:
            return NO_TIME
        if not (is_text(request.system) and is_text(request.user)):
            return NOT_UNICODE
        listener = heard if request.narrative else None
        wire = WireAttempt(
            STREAM_BYTES if listener else ANSWER_BYTES,
            streams=listener is not None,
            idle_s=request.profile.idle_ms / 1000 or None,
            data_only=self.data_only,
        )
        token = _WIRE.set(wire)
        hush()
        try:
            async with TimeLimit(timeout_s):
                answer = await self._ask(request, listener)
        except TimeoutError:
            answer = ModelError(
                code=ModelErrorCode.TIMED_OUT,
                message=f"no complete answer within {timeout_s:.3g} s",
            )
        except Exception as error:
            # the boundary to foreign code: what it lets through is mapped, never the run's end
            answer = wire.fault or self._failed(error, wire, request)
        finally:
            _WIRE.reset(token)
        return msgspec.structs.replace(wire.fault or answer, held=self._held(request))

    async def _ask(self, request: ModelRequest, listener: Heard | None) -> ModelReply | ModelError:
        held = self._held(request)
        tool = tool_of(request, held)
        prompt = [
            ForeignRequest(parts=[SystemPromptPart(system_text(request, held)), user_part(request)])
        ]
        parameters, settings = self._parameters(request, held), self._settings(request)
        model = self._kept_model(request.profile.model)
        if listener is None:
            response = await model_request(
                model, prompt, model_settings=settings, model_request_parameters=parameters
            )
            return read_answer(response, request, tool)
        narrative = early_text(place_of(request) if tool is None else tool.place(request.narrative))
        pieces = Pieces(tool)
        async with model_request_stream(
            model, prompt, model_settings=settings, model_request_parameters=parameters
        ) as stream:
            async for event in stream:
                piece = pieces.of(event)
                _WIRE.get().speaking |= bool(piece)
                shown = narrative.feed(piece)
                if shown:
                    listener(shown)
            reply = (
                malformed(ALTERNATING)
                if pieces.alternate
                else read_answer(stream.get(), request, tool, streamed=True)
            )
        if isinstance(reply, ModelReply) and (rest := narrative.rest()):
            listener(rest)
        return reply

    def _kept_model(self, name: str) -> Model[Any]:
        found = self._models.get(name)
        if found is None:
            if len(self._models) >= MODELS_KEPT:
                self._models.clear()
            found = self._models[name] = self._model(name)
        return found

    def _parameters(self, request: ModelRequest, held: Structured | None) -> ModelRequestParameters:
        name = clean_name(request.schema_name)
        match held:
            case Structured.NATIVE:
                output = OutputObjectDefinition(json_schema=schema_of(request), name=name)
                return ModelRequestParameters(
                    output_mode="native", output_object=output, allow_text_output=False
                )
            case Structured.TOOL:
                given = wrapped(schema_of(request))
                tool = ToolDefinition(
                    name=name,
                    description="Takes the answer.",
                    parameters_json_schema=given,
                    strict=False,
                    kind="output",
                )
                return ModelRequestParameters(
                    output_mode="tool", output_tools=[tool], allow_text_output=False
                )
            case Structured.TEXT | None:
                return ModelRequestParameters()

    def _failed(self, error: Exception, wire: WireAttempt, request: ModelRequest) -> ModelError:
        """What a foreign exception means."""
        if wire.streams and 200 <= wire.status < 300 and not wire.size:
            return CUT_OFF
        sent = f"{request.system}\n{request.user}\n{self._key}"
        found = failure_of(error, wire.status, wire.headers, sent)
        if not wire.requests:  # the library failed over the request itself
            found = msgspec.structs.replace(found, known=Charge.NOTHING_SENT)
        elif 200 <= wire.status < 300:  # it had been accepted, whatever came then
            found = msgspec.structs.replace(found, known=Charge.POSSIBLE)
        if self._key and self._key in found.message:
            return msgspec.structs.replace(found, message=f"status {wire.status}")
        return found

    async def close(self) -> None:
        """Close the connections; idempotent."""
        await self._http.aclose()
