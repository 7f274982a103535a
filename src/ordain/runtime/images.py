"""The images that a model call shows, as their message's entry has them: read where the call goes
live, and nowhere else.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.effects.effect import ModelCall
from ordain.flows.images import ImagesShown
from ordain.ports.model import SentImage
from ordain.ports.sessions import Sessions
from ordain.runtime.message_entry import MessageBody

ARG = "images"
"""The literal of a call that refers to images."""


class Images(Struct, frozen=True, kw_only=True):
    """Reads the images of one session's messages."""

    sessions: Sessions
    workspace: str
    session: str

    async def of(self, call: ModelCall) -> tuple[SentImage, ...] | None:
        """Those that a call shows; None where one is gone, as of a session that was erased."""
        if ARG not in call.args:
            return ()
        shown = msgspec.convert(call.args[ARG], ImagesShown)
        entries = await self.sessions.entries(
            self.workspace, self.session, after=shown.seq - 1, limit=1
        )
        body = entries[0].body if entries and entries[0].seq == shown.seq else None
        if body is None:
            return None
        files: dict[str, dict[str, Any]] = {
            one["digest"]: one
            for one in msgspec.json.decode(body, type=MessageBody).attachments
            if one.get("image")
        }
        if not files.keys() >= set(shown.digests):
            return None
        return tuple(
            SentImage(media_type=files[one]["media_type"], data=files[one]["image"])
            for one in shown.digests
        )
