"""What an answer that came through pydantic-ai says: its text, whether that is whole, its use."""

from __future__ import annotations

from dataclasses import replace

from pydantic_ai.messages import (
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)

from ordain.contracts.model_policy import ModelErrorCode
from ordain.models.chat_completions import as_text
from ordain.models.endings import End
from ordain.models.event_stream import CUT_OFF
from ordain.models.refusals import malformed
from ordain.models.replies import TRUNCATED, Counts, counted, ended, is_text, replied
from ordain.models.schemas import OutputTool
from ordain.ports.model import ModelError, ModelReply, ModelRequest
from ordain.rules.enforcement import NO_TEXT

ALTERNATING = "parts of the answer that take turns"


def read_answer(
    response: ModelResponse,
    request: ModelRequest,
    tool: OutputTool | None,
    *,
    streamed: bool = False,
) -> ModelReply | ModelError:
    """As ``read_response``; words that were cut at their length, or ended for a reason that is not
    known, are words. These providers always give one.
    """
    asked = request.profile.model
    unknown = response.finish_reason is None and bool(
        (response.provider_details or {}).get("finish_reason")
    )
    if request.schema is None and (unknown or response.finish_reason == "length"):
        whole = read_response(replace(response, finish_reason="stop"), asked, tool)
        if isinstance(whole, ModelReply):
            return ended(whole, End.UNKNOWN if unknown else End.CUT)
    return read_response(response, asked, tool, streamed=streamed)


def read_response(
    response: ModelResponse, asked: str, tool: OutputTool | None, *, streamed: bool = False
) -> ModelReply | ModelError:
    """Judge a whole answer; ``asked`` is the model's name where the answer gives none. With a
    ``tool`` its input is the answer.
    """
    match response.finish_reason:
        case "stop" | "tool_call":
            text = _said(response, tool)
        case "length":
            text = TRUNCATED
        case "content_filter":
            text = ModelError(
                code=ModelErrorCode.FILTERED,
                message="the model refused, or the provider's filter stopped it",
            )
        case None if (response.provider_details or {}).get("finish_reason"):
            text = malformed("unknown finish reason")
        case None if streamed:
            text = CUT_OFF
        case None:
            text = malformed("the finish reason is missing")
        case _:
            text = malformed("the provider could not finish the answer")
    usage = response.usage
    counts = Counts(
        given=usage.input_tokens,
        said=usage.output_tokens,
        cached=usage.cache_read_tokens,
        written=usage.cache_write_tokens,
    )
    if text is CUT_OFF:  # what it counted so far is not all
        return CUT_OFF
    if isinstance(text, ModelError):
        return counted(text, counts, spoke=bool(response.parts))
    if not is_text(text):
        return counted(malformed("the text is not valid Unicode"), counts, spoke=True)
    return replied(text, response.model_name, asked, counts)


def _said(response: ModelResponse, tool: OutputTool | None) -> str | ModelError:
    if tool is not None:
        return tool.answer(
            [
                (part.tool_name, as_text(part.args))
                for part in response.parts
                if isinstance(part, ToolCallPart)
            ]
        )
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    return text or malformed(NO_TEXT)


class Pieces:
    """What each event of a stream adds to the answer's text; with a ``tool`` a second part would be
    refused in the end.

    ``alternate``: a part went on after a later one had begun. The answer has its parts in their
    order, and who listened has heard them in another one.
    """

    def __init__(self, tool: OutputTool | None) -> None:
        """None came yet."""
        self._tool, self._last, self.alternate = tool, 0, False

    def of(self, event: ModelResponseStreamEvent) -> str:
        """The piece of one event; "" where it brings none."""
        piece = _piece_of(event, self._tool)
        if piece and isinstance(event, PartStartEvent | PartDeltaEvent):
            self.alternate = self.alternate or event.index < self._last
            self._last = event.index
        return "" if self.alternate else piece


def _piece_of(event: ModelResponseStreamEvent, tool: OutputTool | None) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=text)) if tool is None:
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if tool is None:
            return text
        case PartStartEvent(part=ToolCallPart(args=given)) if tool is not None:
            return as_text(given) or ""
        case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=given)) if tool is not None:
            return given if isinstance(given, str) else ""
        case _:
            return ""
