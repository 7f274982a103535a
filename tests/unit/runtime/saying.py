"""A model that says what it was given, and what it is asked."""

from __future__ import annotations

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest

SECRET = 'sk-"planted"/9f2c'


class Saying:
    """Implements ``ModelPort``: says what it was given, in pieces where somebody listens."""

    def __init__(self, pieces: list[str]) -> None:
        self.pieces = pieces

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        if heard is not None:
            for piece in self.pieces:
                heard(piece)
        if request.purpose == "fail":
            return ModelError(code=ModelErrorCode.REJECTED, message="".join(self.pieces))
        return ModelReply(
            text="".join(self.pieces),
            model=SECRET,
            notice=f"key {SECRET}",
            input_tokens=1,
            output_tokens=1,
        )

    async def close(self) -> None:
        return


def asked(purpose: str = "chat") -> ModelRequest:
    """A request for this purpose."""
    return ModelRequest(
        profile=ModelProfile(provider="openai", model="m"),
        purpose=purpose,
        system="",
        user="",
        schema_name="s",
        schema={},
        max_tokens=1,
        timeout_s=1,
        inputs={},
        index=0,
    )
