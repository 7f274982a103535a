"""A message as a session keeps it: what of it stands in columns, what in its entry's body, and how
both become one value again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.access import Principal, TokenScope, in_conversation, principal_of
from ordain.contracts.catalog import Catalog
from ordain.contracts.conversation import Context, Message, Recall, WorkflowHint
from ordain.flows.commission import MessageFacts, MessageIds, RecallAsked, WorkflowAsked
from ordain.ports.sessions import Entry
from ordain.ports.shared import LatestEntry
from ordain.runtime.attachments import documents_of, images_of, only_named
from ordain.wording.cues import Cues
from ordain.wording.wording import wording_of

TRACE_VERB = "trace_verb"
THREAD_DIGITS = 9
LABEL_CHARS = 64
"""Most of a label that log and journal keep."""


class Received(Struct, frozen=True, kw_only=True):
    """A message as its session receives it: what the sender says (``facts``, ``ids``; runs are
    given that alone) and what the server knows.

    ``found`` is what its wording says under ``catalog``, read before the write transaction. The
    decision about it is made under that same catalog, though another one may have become current by
    then.
    """

    facts: MessageFacts
    ids: MessageIds
    principal: str
    scopes: tuple[TokenScope, ...] | None = None
    timestamp_ms: int = 0
    thread_ref: str = ""
    thread: int = 0
    found: Cues
    catalog: Catalog

    def formed(self, form: str) -> Received:
        """The same, to be answered in this form (``MessageFacts.form``)."""
        return (
            msgspec.structs.replace(self, facts=msgspec.structs.replace(self.facts, form=form))
            if form
            else self
        )


class MessageBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message's entry in the transcript: everything of it that no column holds."""

    text: str
    user: str
    attachments: list[dict[str, Any]] = []
    metadata: dict[str, Any] = {}
    context: dict[str, Any] = {}
    form: str = ""


def body_of(
    message: Message, files: Sequence[dict[str, Any]] | None = None, form: str = ""
) -> MessageBody:
    """A canonical message as its entry's body; ``files`` is what is said there of what came with
    it; None: it is only named. ``form`` as ``MessageFacts`` has it.
    """
    said = message.message
    metadata = said.model_dump(mode="json", include={"metadata"}) if said.metadata else {}
    return MessageBody(
        text=said.text,
        user=message.user_id,
        attachments=_files(message) if files is None else list(files),
        metadata=metadata.get("metadata", {}),
        context=message.context.model_dump(mode="json", exclude_defaults=True),
        form=form,
    )


def received(entry: Entry, principal: Principal | str, catalog: Catalog) -> Received:
    """A stored message, all of it as the transcript has it; an erased one says nothing."""
    body = body_of_entry(entry.body)
    context = Context.model_validate(body.context, strict=False)
    facts = message_facts(body.text, body.user, entry.channel, context, body.attachments)
    return Received(
        facts=msgspec.structs.replace(
            facts, source=_source(entry), trace_verb=trace_verb_of(body.metadata), form=body.form
        ),
        ids=MessageIds(
            message_id=entry.message_id, reply_to=context.reply_to or "", edits=context.edits or ""
        ),
        principal=principal_of(principal).name,
        scopes=in_conversation(principal_of(principal).scopes),
        timestamp_ms=entry.timestamp_ms,
        thread_ref=context.thread_ref or "",
        thread=_thread_numbered(context),
        found=wording_of(catalog).cues(body.text),
        catalog=catalog,
    )


def facts_of_entry(spoken: LatestEntry) -> MessageFacts:
    """What an earlier message says and asks for, as the transcript has it; an erased one says
    nothing.
    """
    body = body_of_entry(spoken.body)
    context = Context.model_validate(body.context, strict=False)
    facts = message_facts(body.text, body.user, spoken.channel, context, body.attachments)
    return msgspec.structs.replace(facts, form=body.form) if body.form else facts


def thread_ref_of(spoken: LatestEntry) -> str:
    """The word for a thread that an earlier message came under; "" where there is none, or it is
    erased.
    """
    return str(body_of_entry(spoken.body).context.get("thread_ref") or "")


def body_of_entry(body: bytes | None) -> MessageBody:
    """A stored body again; an erased one says nothing."""
    return (
        MessageBody(text="", user="")
        if body is None
        else msgspec.json.decode(body, type=MessageBody)
    )


def _thread_numbered(context: Context) -> int:
    """The thread that a message names by its number; 0: none."""
    named = context.thread_ref or ""
    return (
        int(named) if named.isascii() and named.isdecimal() and len(named) <= THREAD_DIGITS else 0
    )


class _Came(Struct):
    """A stored decision, as far as it says by which way its message came."""

    source: str = ""


_CAME = msgspec.json.Decoder(_Came)


def _source(entry: Entry) -> str:
    """The way by which a stored message came: its first decision alone says it, since it is no part
    of what makes two messages the same.
    """
    return "" if entry.decision is None else _CAME.decode(entry.decision).source


def message_of(
    message: Message,
    message_id: str,
    principal: Principal | str,
    catalog: Catalog,
    source: str = "",
    files: Sequence[dict[str, Any]] | None = None,
) -> Received:
    """A canonical message as it is received, under the id that it has or was given, by the way that
    ``source`` names, with what its entry says of its files.
    """
    said, context = message.message, message.context
    facts = message_facts(
        said.text,
        message.user_id,
        str(message.channel),
        context,
        _files(message) if files is None else files,
    )
    return Received(
        facts=msgspec.structs.replace(
            facts, source=source[:LABEL_CHARS], trace_verb=trace_verb_of(said.metadata)
        ),
        ids=MessageIds(
            message_id=message_id, reply_to=context.reply_to or "", edits=context.edits or ""
        ),
        principal=principal_of(principal).name,
        scopes=in_conversation(principal_of(principal).scopes),
        timestamp_ms=message.timestamp_ms or 0,
        thread_ref=context.thread_ref or "",
        thread=_thread_numbered(context),
        found=wording_of(catalog).cues(said.text),
        catalog=catalog,
    )


def _files(message: Message) -> list[dict[str, Any]]:
    """What is said of a message's files where nobody has taken them in: their names alone."""
    return [only_named(one) for one in message.message.attachments]


def trace_verb_of(metadata: Mapping[str, Any]) -> str:
    """The telemetry label that a message brings, as far as it is one."""
    label = metadata.get(TRACE_VERB)
    return label[:LABEL_CHARS] if isinstance(label, str) else ""


def message_facts(
    text: str, user: str, channel: str, context: Context, files: Sequence[dict[str, Any]] = ()
) -> MessageFacts:
    """What a message says and asks for, from the wire's words for it: the one place where these
    become the house's.
    """
    hints = context.routing_hints
    return MessageFacts(
        text=text,
        user=user,
        channel=channel,
        mode=hints.mode,
        verb=hints.verb or "",
        allowed_verbs=tuple(hints.allowed_verbs),
        packs=tuple(hints.packs),
        supervised=hints.supervised,
        max_steps=hints.max_steps or 0,
        budget_class="" if hints.budget_class is None else str(hints.budget_class),
        workflow=_suggested(hints.workflow),
        delegates=tuple(hints.delegates),
        attachments=len(files),
        documents=documents_of(files),
        images=images_of(files),
        locale=context.locale or "",
        recall=_asked(context.recall),
        forgoes=context.recall is not None and not context.recall.enabled,
    )


def _suggested(hint: WorkflowHint | None) -> str | WorkflowAsked:
    """The workflow that the sender suggests: its name alone where there are no arguments."""
    if hint is None or not hint.args:
        return "" if hint is None else hint.template
    return WorkflowAsked(template=hint.template, args=dict(hint.args))


def _asked(recall: Recall | None) -> RecallAsked | None:
    """What is to be recalled; None where nobody asked for it."""
    if recall is None or not recall.enabled:
        return None
    return RecallAsked(
        required=recall.required,
        mode=recall.mode,
        profile=recall.profile or "",
        days=recall.time_window_days,
        max_items=recall.max_items,
    )


def is_bare(found: Cues) -> bool:
    """Whether it may be an answer to whatever was said last."""
    return found.yes or found.no or found.hold or found.protest or found.go_on or found.stop > 0
