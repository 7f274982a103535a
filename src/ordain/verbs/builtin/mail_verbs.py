"""``mail.draft`` and ``mail.send``: a mail kept in the user's own space, and one that goes out.

A draft goes nowhere: its addresses are words of an entry. What is sent goes through the one server
that settings declare, as the one sender that they declare; a call says to whom, and what. Both take
the same mail, so that what was drafted can be sent as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, JsonValue

from ordain.contracts.access import TokenScope
from ordain.contracts.mail import (
    Addresses,
    CopyAddresses,
    MailText,
    SubjectLine,
    checked_body,
    checked_subject,
    plain_address,
)
from ordain.contracts.verbs import ArgumentRole, Category, Example, Retry, Trust, VerbEffect
from ordain.errors import InvalidRequest
from ordain.ports.library import ItemKind, Library, NewItem, Section
from ordain.verbs.builtin.library_verbs import from_library
from ordain.verbs.builtin.names import MAIL_SEND
from ordain.verbs.functions import FunctionVerb, VerbContext, VerbError, verb
from ordain.verbs.mail_message import Letter, composed, message_id
from ordain.verbs.mail_server import MailServer

_ATTEMPTS = 3
"""Of one call; only what certainly did not happen is tried again."""
_UNUSED_TIMEOUT_MS = 30_000
_EXAMPLE: dict[str, JsonValue] = {
    "to": ["ada@example.org"],
    "subject": "Thursday",
    "body": "Dear Ada,\n\nThursday at ten suits me.\n",
}


@dataclass(frozen=True, slots=True)
class Drafted:
    """The draft that was kept; nothing was sent."""

    draft_id: str
    outcome: Annotated[str, Field(description="added, or same: this call had kept it before.")]


@dataclass(frozen=True, slots=True)
class Sent:
    """What the mail server has taken; whether it arrives is beyond that."""

    message_id: Annotated[
        str,
        Field(
            description=(
                "The mail's Message-ID; the same call has the same one, however often it is tried."
            )
        ),
    ]
    recipients: Annotated[
        int,
        Field(ge=1, description="How many addresses the server took it for, each counted once."),
    ]


def mail_draft(library: Callable[[], Library]) -> FunctionVerb[..., Any]:
    """The verb over a library, which is asked for when it runs."""

    @verb(
        name="mail.draft",
        label="Draft a mail",
        effect=VerbEffect.PRIVATE,
        category=Category.GENERATIVE,
        scopes=[TokenScope.MEMORY],
        tags=["mail"],
        arguments={
            "to": ArgumentRole.LABEL,
            "cc": ArgumentRole.LABEL,
            "subject": ArgumentRole.CONTENT,
            "body": ArgumentRole.CONTENT,
        },
        output={"draft_id": Trust.SYSTEM, "outcome": Trust.SYSTEM},
        timeout_ms=15_000,
        idempotent=True,
        example=Example(input=_EXAMPLE),
    )
    async def draft(
        to: Addresses,
        subject: SubjectLine,
        body: MailText,
        context: VerbContext,
        cc: CopyAddresses | None = None,
    ) -> Drafted:
        """Keep a mail as a draft in the user's own journal. Nothing is sent; returns its draft_id.

        Args:
            to: plain addresses, one each, without names.
            subject: one line.
            body: plain text.
            cc: who gets a copy, likewise.
            context: the call.
        """
        letter = _letter(to, cc or (), subject, body)
        copies = [f"Cc: {', '.join(letter.cc)}"] if letter.cc else []
        text = "\n".join(
            [
                f"To: {', '.join(letter.to)}",
                *copies,
                f"Subject: {letter.subject}",
                "",
                letter.body.strip(),
            ]
        )
        entry = NewItem(
            workspace=context.workspace,
            kind=ItemKind.ENTRY,
            sections=(Section(text=text, heading=_short(letter.subject)),),
            trust=Trust.FOREIGN,
            title=_short(letter.subject),
            tags=("mail", "draft"),
            source="mail.draft",
            run=context.run,
            key=context.key,
            size=len(text.encode()),
        )
        added = await from_library(library().add(entry))
        return Drafted(added.id, added.outcome)

    return draft


def mail_send(server: MailServer | None) -> FunctionVerb[..., Any]:
    """The verb for this server; without one it is declared all the same, so that whoever names it
    is told what is missing.
    """

    @verb(
        name=MAIL_SEND,
        label="Send a mail",
        effect=VerbEffect.SEND,
        category=Category.EXECUTIVE_CONTROL,
        tags=["mail"],
        arguments={
            "to": ArgumentRole.RECIPIENT,
            "cc": ArgumentRole.RECIPIENT,
            "subject": ArgumentRole.CONTENT,
            "body": ArgumentRole.CONTENT,
        },
        output={"message_id": Trust.SYSTEM, "recipients": Trust.SYSTEM},
        timeout_ms=_UNUSED_TIMEOUT_MS if server is None else server.timeout_ms,
        retry=Retry(max_attempts=_ATTEMPTS),
        example=Example(input=_EXAMPLE),
    )
    async def send(
        to: Addresses,
        subject: SubjectLine,
        body: MailText,
        context: VerbContext,
        cc: CopyAddresses | None = None,
    ) -> Sent:
        """Send a mail, to everybody named or to nobody. It cannot be called back.

        Args:
            to: plain addresses, one each, without names.
            subject: one line.
            body: plain text.
            cc: who gets a copy, likewise.
            context: the call.
        """
        if server is None:
            raise VerbError(
                "not_configured",
                "no mail server is configured: [mail] in ordain.toml",
                happened=False,
            )
        from ordain.verbs.smtp import deliver  # lazy: the SMTP client, where there is a server

        letter = _letter(to, cc or (), subject, body)
        identity = message_id(context.key, server.sender)
        message = composed(letter, sender=server.sender, identity=identity, at_us=context.at_us)
        # Time runs out in there, a little before it does for the executor: then it is known whether
        # anything is in doubt.
        seconds = context.left_s * 0.95
        await deliver(server, letter.recipients, message, seconds, context.still_allowed)
        return Sent(identity, len(letter.recipients))

    return send


def _letter(to: Sequence[str], cc: Sequence[str], subject: str, body: str) -> Letter:
    """The mail as it may be.

    Raises:
        VerbError: ``bad_address``, ``bad_subject`` or ``bad_text``; nothing has happened.
    """
    try:
        return Letter(
            to=_addresses("to", to),
            cc=_addresses("cc", cc),
            subject=checked_subject(subject),
            body=checked_body(body),
        )
    except InvalidRequest as error:
        raise VerbError(error.code, error.message, happened=False) from error


def _addresses(name: str, given: Sequence[str]) -> list[str]:
    found: list[str] = []
    for number, text in enumerate(given, 1):
        try:
            found.append(plain_address(text))
        except InvalidRequest as error:
            raise InvalidRequest(
                f"{name}, address {number}: {error.message}", code=error.code
            ) from error
    return found


def _short(subject: str) -> str:
    return subject[:200]
