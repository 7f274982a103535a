"""A message as a session keeps it: what of it stands in columns, what in its entry's body, and how both become one value again."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.conversation import Context, Message
from ordain.flows.commission import MessageFacts
from ordain.ports.sessions import Entry
from ordain.wording.cues import Cues
from ordain.wording.wording import wording_of


class Received(MessageFacts, frozen=True, kw_only=True):
    """A message as the transcript keeps it. Its entry's body is this without what the entry says by itself.

    ``found`` is what its wording says under ``catalog``, read before the write transaction. The decision about it is made under that same
    catalog, though another one may have become current by then.
    """

    found: Cues
    catalog: Catalog


class MessageBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message's entry in the transcript: everything of it that no column holds."""

    text: str
    user: str
    attachments: list[dict[str, Any]] = []
    metadata: dict[str, Any] = {}
    context: dict[str, Any] = {}


def body_of(message: Message) -> MessageBody:
    """A canonical message as its entry's body."""
    said = message.message.model_dump(mode="json", exclude_defaults=True)
    return MessageBody(
        text=message.message.text,
        user=message.user_id,
        attachments=said.get("attachments", []),
        metadata=said.get("metadata", {}),
        context=message.context.model_dump(mode="json", exclude_defaults=True),
    )


def received(entry: Entry, principal: str, reply_to: str, edits: str, catalog: Catalog) -> Received:
    """A stored message; an erased one says nothing."""
    body = MessageBody(text="", user="") if entry.body is None else msgspec.json.decode(entry.body, type=MessageBody)
    context = Context.model_validate(body.context, strict=False)
    return Received(
        text=body.text,
        user=body.user,
        channel=entry.channel,
        message_id=entry.message_id,
        reply_to=reply_to,
        edits=edits,
        locale=context.locale or "",
        hints=context.routing_hints,
        recall=context.recall,
        attachments=len(body.attachments),
        principal=principal,
        timestamp_ms=entry.timestamp_ms,
        found=wording_of(catalog).cues(body.text),
        catalog=catalog,
    )


def message_of(message: Message, message_id: str, principal: str, catalog: Catalog) -> Received:
    """A canonical message as it is received, under the id that it has or was given."""
    context = message.context
    return Received(
        text=message.message.text,
        user=message.user_id,
        channel=str(message.channel),
        message_id=message_id,
        reply_to=context.reply_to or "",
        edits=context.edits or "",
        locale=context.locale or "",
        hints=context.routing_hints,
        recall=context.recall,
        attachments=len(message.message.attachments),
        principal=principal,
        timestamp_ms=message.timestamp_ms or 0,
        found=wording_of(catalog).cues(message.message.text),
        catalog=catalog,
    )
