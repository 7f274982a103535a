"""The command `ordain`: reads arguments, composes through `app`, speaks to runs through the HTTP
face. Decides nothing about a run.

Heavy things (pydantic, httpx2, the server, SQLite) are imported only by the command that needs
them, so that the rest answers at once.
"""

from __future__ import annotations

from ordain.cli.entry import main

__all__ = ["main"]
