"""The user's part of a request with the images that go with it, as each wire has it. Pure."""

from __future__ import annotations

from typing import Any

from ordain.ports.model import ModelRequest, SentImage


def data_url(image: SentImage) -> str:
    """An image as a ``data:`` URL."""
    return f"data:{image.media_type};base64,{image.data}"


def chat_content(request: ModelRequest, text: str) -> str | list[dict[str, Any]]:
    """The content of a chat completion's message: the text alone where there is no image."""
    if not request.images:
        return text
    return [
        {"type": "text", "text": text},
        *({"type": "image_url", "image_url": {"url": data_url(image)}} for image in request.images),
    ]


def response_input(request: ModelRequest, text: str) -> str | list[dict[str, Any]]:
    """The input of a response, likewise."""
    if not request.images:
        return text
    parts = [
        {"type": "input_text", "text": text},
        *({"type": "input_image", "image_url": data_url(image)} for image in request.images),
    ]
    return [{"role": "user", "content": parts}]
