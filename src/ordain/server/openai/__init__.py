"""The OpenAI-compatible address: its shapes in, the one canonical message behind, its shapes out.
No logic: what a request means rules decide.

May import what other routers may; nothing else imports it but the application.
"""

from __future__ import annotations

from ordain.server.openai.wire import OpenAIErrors

__all__ = ["OpenAIErrors"]
