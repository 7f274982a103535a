"""A refusal below ``/v1``: what a server is ready with from its start. Validation only."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class OpenAIAnswer(BaseModel):
    """A frozen shape of ours."""

    model_config = ConfigDict(frozen=True, defer_build=True)


class RefusalBody(OpenAIAnswer):
    """Why a request was refused, in OpenAI's words; ``code`` is Ordain's own, ``param`` the first
    place that does not fit.
    """

    message: str
    type: str
    param: str | None = None
    code: str


class OpenAIRefusal(OpenAIAnswer):
    """A refusal below ``/v1`` (but for the sources' own address): the shape that its clients
    know.
    """

    error: RefusalBody
