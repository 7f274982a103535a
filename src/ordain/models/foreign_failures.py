"""What a failure of pydantic-ai, or of the HTTP client below it, means: by its class alone. Its
words quote prompts, keys and sentences of the provider, and are never looked at.
"""

from __future__ import annotations

import httpx2
from pydantic_ai import exceptions as foreign

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.named_delay import bounded_ms
from ordain.models.foreign_bodies import REFUSES
from ordain.models.refusals import (
    error_within,
    malformed,
    meaning,
    named,
    read_refusal,
    retry_after_ms,
)
from ordain.models.replies import counted, counts_within
from ordain.ports.model import Charge, ModelError

_CODES: tuple[tuple[type[Exception], ModelErrorCode], ...] = (
    (foreign.ModelQuotaExceededError, ModelErrorCode.QUOTA_EXCEEDED),
    (foreign.ModelRateLimitError, ModelErrorCode.RATE_LIMITED),
    (foreign.ModelUnavailableError, ModelErrorCode.OVERLOADED),
    (foreign.ModelServerError, ModelErrorCode.SERVER_ERROR),
    (foreign.ModelTimeoutError, ModelErrorCode.TIMED_OUT),
    (foreign.ModelRequestTimeout, ModelErrorCode.TIMED_OUT),
    (foreign.ModelConnectionError, ModelErrorCode.CONNECTION),
    (foreign.ModelContextWindowExceededError, ModelErrorCode.CONTEXT_TOO_LONG),
    (foreign.ModelAuthenticationError, ModelErrorCode.AUTHENTICATION),
    (foreign.ModelNotFoundError, ModelErrorCode.NOT_FOUND),
    (foreign.ModelRequestRejectedError, ModelErrorCode.REJECTED),
    (foreign.ContentFilterError, ModelErrorCode.FILTERED),
    (foreign.UnexpectedModelBehavior, ModelErrorCode.MALFORMED),
    (httpx2.TimeoutException, ModelErrorCode.TIMED_OUT),
    (httpx2.TransportError, ModelErrorCode.CONNECTION),
)
"""Classes of pydantic-ai and of the HTTP client, the more special ones first."""
_QUALIFIED = frozenset({ModelErrorCode.REJECTED, ModelErrorCode.RATE_LIMITED})
"""What a status alone says, and a body can say more precisely."""


def failure_of(error: Exception, status: int, headers: dict[bytes, bytes], sent: str) -> ModelError:
    """A foreign exception as a code, after an answer of ``status`` (0: there was none). No word of
    ``sent`` comes back.
    """
    if isinstance(error, foreign.ModelHTTPError):
        return _refused(error, headers, sent)
    if status >= REFUSES:  # whatever the library met in the body
        return read_refusal(status, headers, b"")
    code = next((code for kind, code in _CODES if isinstance(error, kind)), None)
    if code is ModelErrorCode.CONNECTION:
        return _disconnected(error)
    if code is not None:
        return ModelError(code=code, message=f"{code.replace('_', ' ')} ({type(error).__name__})")
    if isinstance(error, foreign.ModelAPIError):
        if error.in_stream:
            return ModelError(
                code=ModelErrorCode.SERVER_ERROR, message="an error within the stream"
            )
        return malformed("not JSON")
    if 200 <= status < 300:  # the answer was there, and what reads it fell over it
        return malformed(f"the answer cannot be read ({type(error).__name__})")
    return ModelError(code=ModelErrorCode.ADAPTER_BUG, message=f"unexpected {type(error).__name__}")


def _refused(error: foreign.ModelHTTPError, headers: dict[bytes, bytes], sent: str) -> ModelError:
    status, body = error.status_code, error_within(error.body)
    code = meaning(status, body)
    if code in _QUALIFIED or error.in_stream:
        # there the library knows more of its provider's own words
        theirs = next(
            (code for kind, code in _CODES if isinstance(error, kind)), ModelErrorCode.REJECTED
        )
        code = code if theirs is ModelErrorCode.REJECTED else theirs
    what = "an error within the stream" if error.in_stream else f"status {status}"
    delay = None if error.in_stream else retry_after_ms(headers)
    if delay is None and error.retry_after is not None:  # some say it in the body
        delay = bounded_ms(error.retry_after * 1000)
    return counted(
        ModelError(code=code, message=named(what, body, sent), retry_after_ms=delay),
        counts_within(error.body),
        spoke=False,
    )


def _disconnected(error: BaseException) -> ModelError:
    """A peer that went away and one that does not speak HTTP end in the same class; only the HTTP
    library's words tell them apart.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, httpx2.TransportError):
        cause = cause.__cause__
    if isinstance(cause, httpx2.ConnectError):
        return ModelError(
            code=ModelErrorCode.CONNECTION, message="cannot connect", known=Charge.NOTHING_SENT
        )
    if isinstance(cause, httpx2.ProxyError):
        return ModelError(
            code=ModelErrorCode.CONNECTION,
            message="the proxy refused the connection",
            known=Charge.NOTHING_SENT,
        )
    if isinstance(cause, httpx2.RemoteProtocolError):
        words = str(cause).lower()
        if "disconnect" in words or "peer closed" in words or "closed connection" in words:
            return ModelError(
                code=ModelErrorCode.CONNECTION,
                message="the server closed the connection before its answer was complete",
            )
        return malformed("the answer is not HTTP")
    return ModelError(
        code=ModelErrorCode.CONNECTION,
        message=f"the connection failed ({type(cause or error).__name__})",
    )
