"""Who the assistant is in conversations: data of the operator's, in the catalog that runs pin.
Words for prompts, and which verb answers; it permits nothing.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from ordain.contracts.planner import Strict
from ordain.contracts.verbs import VerbId

NAME_CHARS, LANGUAGE_CHARS, INSTRUCTIONS_CHARS = 80, 80, 8000


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("one line of text, without controls")
    return text.strip()


class Assistant(Strict):
    """What every conversation is told of the assistant, and the verb that answers where none is
    named.
    """

    name: Annotated[str, AfterValidator(_one_line)] = Field(
        default="",
        max_length=NAME_CHARS,
        description="What the assistant is called in conversations.",
    )
    instructions: str = Field(
        default="",
        max_length=INSTRUCTIONS_CHARS,
        description=(
            "What it is asked to heed in every conversation. Words for models: they permit nothing."
        ),
    )
    language: Annotated[str, AfterValidator(_one_line)] = Field(
        default="",
        max_length=LANGUAGE_CHARS,
        description="The language it answers in, as people name it; unset: that of the message.",
    )
    verb: VerbId | None = Field(
        default=None,
        description=(
            "The verb that answers in mode brain, in place of `chat_general`: one that takes "
            "a text."
        ),
    )

    @model_validator(mode="after")
    def _text(self) -> Self:
        if any(not (sign.isprintable() or sign in "\n\t") for sign in self.instructions):
            raise ValueError("instructions: text, without controls")
        return self

    @property
    def advice(self) -> str:
        """What stands in a prompt; "" where nothing is said."""
        said = (
            f"Your name is {self.name}." if self.name else "",
            (
                f"Answer in {self.language}, whatever language you are written to in, unless "
                "you are "
                "asked for another."
            )
            if self.language
            else "",
            self.instructions.strip(),
        )
        return "\n".join(filter(None, said))
