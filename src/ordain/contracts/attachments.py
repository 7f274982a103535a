"""Files that come with a message: how many, how large, and how much of them a prompt holds."""

from __future__ import annotations

from pydantic import Field

from ordain.contracts.planner import Strict

FILES_MAX = 20
"""Most files of one message, whatever policy says."""
FILE_BYTES = 8 * 2**20
"""Most bytes of all files of one message."""

IMAGE_BYTES = 4 * 2**20
"""Most bytes of all images of one message."""


class AttachmentsPolicy(Strict):
    """Files of a message. Text, Markdown, HTML and PDF are read and become documents of the
    session; images are shown to the model that answers.
    """

    max_files: int = Field(
        default=8,
        ge=0,
        le=FILES_MAX,
        description="Most files that a message brings; 0: none are taken.",
    )
    max_bytes: int = Field(
        default=FILE_BYTES, ge=0, le=FILE_BYTES, description="Most bytes of them all."
    )
    prompt_bytes: int = Field(
        default=12_000,
        ge=200,
        le=200_000,
        description="Most bytes of their text in the prompt that answers the message.",
    )
    max_images: int = Field(
        default=4,
        ge=0,
        le=16,
        description="Most of the files that are images; they are kept with the message.",
    )
    image_bytes: int = Field(
        default=IMAGE_BYTES, ge=0, le=IMAGE_BYTES, description="Most bytes of all its images."
    )
