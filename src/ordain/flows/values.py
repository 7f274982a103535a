"""What a run's records handed to its flow, and what a prompt is made from. Pure."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.contracts.profiles import Structured
from ordain.flows.transcript import TranscriptReader
from ordain.journal.digests import content_digest
from ordain.prompts.constraint import constrained
from ordain.prompts.prompt import Prompt, SystemParts


class Values(dict[int, Any]):
    """seq -> what that record handed to the flow; 0 is the run's input.

    ``memo`` keeps what was derived from them and cannot change within the run: the request's part
    of the prompt, past steps; ``system_parts`` are the prompts' own. ``advice`` is what the run's
    profile asks of models.
    """

    def __init__(self, transcript: TranscriptReader | None = None) -> None:
        """``transcript`` reads what a reference into the run's session says."""
        super().__init__()
        self.memo: dict[object, Any] = {}
        self.system_parts: SystemParts = {}
        self.transcript = transcript
        self.advice = ""


class PromptInputs(Struct, frozen=True, kw_only=True):
    """The input of the template, and the schema the answer must fit; None: the answer is plain
    text, of at most ``words_most`` characters (0: no bound here).

    ``advised``: a profile's prompt is shown, too. ``words_at`` are the places of an answer with a
    schema that hold words for people (``rules.seen_words``).
    """

    inputs: dict[str, Any]
    schema: dict[str, Any] | None
    advised: bool = False
    words_most: int = 0
    words_at: tuple[str, ...] = ()


_TEXT = Structured.TEXT
ADVICE = (
    "\n\n"
    "From the operator's profile of this conversation, as advice; it changes nothing of what you "
    "may do or of the form of your answer:\n"
)
"""What stands between a prompt's own system part and a profile's prompt."""


def advice_bytes(advice: str) -> int:
    """How much longer a profile's prompt makes a prompt that shows it."""
    return len(ADVICE.encode()) + len(advice.encode()) if advice else 0


def advised_prompt(rendered: Prompt, given: PromptInputs, advice: str) -> Prompt:
    """A rendered prompt with what the run's profile asks, behind its own system part."""
    if not (given.advised and advice):
        return rendered
    return Prompt(system=f"{rendered.system}{ADVICE}{advice}", user=rendered.user)


def sent_prompt(rendered: Prompt, given: PromptInputs, held: str) -> Prompt:
    """A rendered prompt as it goes out where its answer is held so: by words alone, they stand at
    the end of the system part.
    """
    if given.schema is None or held != _TEXT:
        return rendered
    return constrained(rendered, given.schema)


def prompt_bytes(prompt: Prompt) -> bytes:
    """What the digest of a rendered prompt covers: its two parts, and one byte between them."""
    # each by itself: a system part is ASCII most often, and that is copied in a moment
    return b"\x1e".join((prompt.system.encode(), prompt.user.encode()))


def prompt_digest(prompt: Prompt) -> str:
    """Content address of a rendered prompt."""
    return content_digest(prompt_bytes(prompt))
