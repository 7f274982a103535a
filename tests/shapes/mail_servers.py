"""Mail servers on loopback: one that takes mail as servers do (aiosmtpd), and one that says
whatever a test has it say.
"""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from ordain.contracts.mail import MailSecurity
from ordain.verbs.mail_server import MailServer

USER, PASSWORD = "postmaster", "correct-horse-battery"
SENDER = "ordain@example.org"
DIE, HANG = b"<die>", b"<hang>"
"""What a scripted server does instead of a reply: the connection ends, or nothing comes."""


@dataclass(frozen=True)
class Certificate:
    """A certificate of 127.0.0.1 and localhost that signs itself, and its key."""

    certificate: Path
    key: Path

    @property
    def serving(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context

    def trusted(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))


def certificate_in(folder: Path) -> Certificate:
    made = Certificate(folder / "mail.pem", folder / "mail.key")
    asked = [
        "-keyout",
        str(made.key),
        "-out",
        str(made.certificate),
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *asked, *names],
        check=True,
        capture_output=True,
    )
    return made


def declared(
    port: int, security: MailSecurity = "none", certificate: Certificate | None = None, **more: Any
) -> MailServer:
    """The server at this port, as settings would declare it."""
    trusting = {} if certificate is None else {"tls": certificate.trusted}
    return MailServer(
        host="127.0.0.1", port=port, security=security, sender=SENDER, **{**trusting, **more}
    )


@dataclass
class Inbox:
    """What a server that behaves has taken."""

    port: int = 0
    envelopes: list[Envelope] = field(default_factory=list)
    logins: list[tuple[str, str]] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
        self.envelopes.append(envelope)
        self.encrypted.append(server.transport.get_extra_info("sslcontext") is not None)
        return "250 taken"

    @property
    def mails(self) -> list[EmailMessage]:
        return [
            message_from_bytes(bytes(one.content or b""), policy=policy.default)
            for one in self.envelopes
        ]  # type: ignore[misc, arg-type]


@asynccontextmanager
async def taking(
    certificate: Certificate | None = None, security: MailSecurity = "none", *, login: bool = False
) -> AsyncIterator[Inbox]:
    """A real SMTP server; with ``login`` it takes mail of ``USER`` alone."""
    inbox = Inbox()

    def authenticator(
        server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
    ) -> AuthResult:
        assert isinstance(data, LoginPassword)
        inbox.logins.append((data.login.decode(), data.password.decode()))
        return AuthResult(success=inbox.logins[-1] == (USER, PASSWORD), handled=False)

    def made() -> SMTP:
        return SMTP(
            inbox,
            hostname="mail.test",
            tls_context=certificate.serving if certificate and security == "starttls" else None,
            require_starttls=security == "starttls",
            auth_required=login,
            auth_require_tls=False,
            authenticator=authenticator if login else None,
        )

    context = certificate.serving if certificate and security == "tls" else None
    listener = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0, ssl=context)
    inbox.port = listener.sockets[0].getsockname()[1]
    try:
        yield inbox
    finally:
        listener.close()


@dataclass
class Scripted:
    """A server that answers each command with given bytes; a list is used up one by one, its last
    goes on.
    """

    port: int = 0
    greeting: bytes = b"220 here\r\n"
    taken: bytes = b"250 taken\r\n"
    replies: dict[str, bytes | list[bytes]] = field(default_factory=dict)
    upgrade: ssl.SSLContext | None = None
    commands: list[str] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    connections: int = 0

    def reply_to(self, word: str) -> bytes:
        known = {
            "EHLO": b"250 mail.test\r\n",
            "DATA": b"354 go on\r\n",
            "QUIT": b"221 bye\r\n",
            "STARTTLS": b"220 go\r\n",
        }
        given = self.replies.get(word, known.get(word, b"250 fine\r\n"))
        if isinstance(given, bytes):
            return given
        return given.pop(0) if len(given) > 1 else given[0]

    @property
    def words(self) -> list[str]:
        """The commands without what followed them."""
        return [line.split(" ")[0] for line in self.commands]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            if await self._say(self.greeting, reader, writer):
                while line := await reader.readline():
                    if not await self._answer(line.decode().strip(), reader, writer):
                        break
        writer.transport.abort() if writer.get_extra_info("sslcontext") else writer.close()

    async def _answer(
        self, line: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        self.commands.append(line)
        word = line.partition(" ")[0]
        reply = self.reply_to(word)
        if not await self._say(reply, reader, writer):
            return False
        if word == "STARTTLS" and self.upgrade is not None and reply.startswith(b"220"):
            await writer.start_tls(self.upgrade)
        if word == "DATA" and reply.startswith(b"354"):
            self.texts.append(await reader.readuntil(b"\r\n.\r\n"))
            return await self._say(self.taken, reader, writer)
        return word != "QUIT"

    async def _say(
        self, reply: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        if reply == HANG:
            await reader.read()  # until the other side gives up
            return False
        if reply != DIE:
            writer.write(reply)
            await writer.drain()
        return reply != DIE


@asynccontextmanager
async def scripted(certificate: Certificate | None = None, **says: Any) -> AsyncIterator[Scripted]:
    """A server that says what it is told to; ``certificate``: encrypted from the beginning."""
    script = Scripted(**says)
    tasks = set[asyncio.Task[Any]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        await script.serve(reader, writer)

    listener = await asyncio.start_server(
        serve,
        "127.0.0.1",
        0,
        ssl=None if certificate is None else certificate.serving,
        limit=1 << 22,
    )
    script.port = listener.sockets[0].getsockname()[1]
    try:
        yield script
    finally:
        listener.close()
        if tasks:
            await asyncio.wait(tasks, timeout=10)


def arguments(to: Sequence[str] = ("ada@example.org",), **more: Any) -> dict[str, Any]:
    """A call of either verb."""
    return {"to": list(to), "subject": "Thursday", "body": "At ten.\n", **more}
