"""The user's part of a request with its images, as pydantic-ai has it. Needs one of the extras of
the adapters over it.
"""

from __future__ import annotations

from base64 import b64decode

from pydantic_ai.messages import BinaryContent, UserPromptPart

from ordain.ports.model import ModelRequest


def user_part(request: ModelRequest) -> UserPromptPart:
    """The text, and the images behind it."""
    if not request.images:
        return UserPromptPart(request.user)
    images = [
        BinaryContent(data=b64decode(image.data), media_type=image.media_type)
        for image in request.images
    ]
    return UserPromptPart([request.user, *images])
