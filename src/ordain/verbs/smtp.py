"""One mail to one SMTP server, over aiosmtplib: either it has taken the mail, or it certainly has
not, or nobody knows.

What is known hangs on one moment. Before the text of the mail goes out nothing can have happened,
whatever the server does. After it only the server's reply tells: 250 is yes, 4xx and 5xx are no,
and where none comes the mail may be on its way. So the text is written here and not by the library,
which has the same exceptions for both sides of that moment; and there is no time-out but this
module's, which knows its side.

What a server says stays here: of a reply its number gets out.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from enum import Enum

import aiosmtplib

from ordain.runtime.time_limit import TimeLimit
from ordain.verbs.functions import VerbError
from ordain.verbs.mail_server import MailServer

CONNECT_S = 5.0
"""Longest wait for one address to take a connection, in seconds."""

ADDRESSES_MAX = 3
"""Most addresses of one name that are tried."""

GOODBYE_S = 2.0
"""How long a server that was told goodbye may keep the connection, in seconds. Nobody waits for
it.
"""

_DOTS = re.compile(rb"(?m)^\.")
_TAKEN, _GO_ON = 250, 354


class _Phase(Enum):
    """What is under way, as the code and the words for its refusal."""

    GREETING = "server_refused", "the mail server takes no mail from here"
    TLS = "tls_refused", "the mail server refused to encrypt the connection"
    LOGIN = "login_refused", "the mail server refused the login"
    SENDER = "sender_refused", "the mail server refused the sender"
    RECIPIENTS = "recipients_refused", "the mail server refused a recipient"
    TEXT = "mail_refused", "the mail server refused the mail"


async def deliver(
    server: MailServer,
    recipients: Sequence[str],
    message: bytes,
    seconds: float,
    still_allowed: Callable[[], Awaitable[None]],
) -> None:
    """Hand a mail over, to every recipient or to none; once this returns, the server has taken it.
    ``still_allowed`` is asked before its text goes out, and raises where that may not be.

    Raises:
        VerbError: ``happened`` False: it certainly has not; None: it may have.
    """
    async with _connected(server, seconds) as connection:
        await connection.address(recipients, len(message))
        await connection.hand_over(message, still_allowed)


async def greet(server: MailServer, seconds: float) -> None:
    """Connect, encrypt and log in as for a mail, and leave without one.

    Raises:
        VerbError: why no mail could go out now.
    """
    async with _connected(server, seconds):
        pass


@asynccontextmanager
async def _connected(server: MailServer, seconds: float) -> AsyncGenerator[_Connection]:
    """A connection that takes mail. Whatever the library raises while it lives is a ``VerbError``
    here.
    """
    connection = _Connection(server)
    try:
        async with TimeLimit(seconds):
            await connection.open()
            yield connection
    except VerbError:
        connection.leave()
        raise
    except aiosmtplib.SMTPResponseException as error:
        connection.leave()
        raise connection.refused(error.code) from error
    except ssl.SSLError as error:
        raise connection.untrusted(error) from error
    except Exception as error:
        # the library's, the system's: whatever it is, the connection knows if the text was going
        # out
        if isinstance(error.__cause__, ssl.SSLError):  # the library's own error says less
            raise connection.untrusted(error.__cause__) from error
        slow = isinstance(error, TimeoutError)
        raise connection.broken(*_SLOW if slow else _LOST) from error
    else:
        connection.leave()
    finally:
        connection.drop()


_SLOW = "too_slow", "the mail server took too long"
_LOST = "broken_answer", "the connection to the mail server broke off"


class _Connection:
    """One connection, and what is known of the mail: ``handed`` is whether its text is going out,
    or has.
    """

    def __init__(self, server: MailServer) -> None:
        self._server = server
        self._phase = _Phase.GREETING
        self._handed = False
        self._smtp = aiosmtplib.SMTP()
        self._transport: asyncio.BaseTransport | None = None

    # --- what it comes to -------------------------------------------------------------------------

    def broken(self, code: str, message: str) -> VerbError:
        """Nobody answered, or nothing that is an answer."""
        if self._handed:
            return VerbError(
                code,
                f"{message} after the mail had gone out: it may have been taken",
                happened=None,
            )
        return VerbError(code, f"{message}; no mail has gone out", retryable=True, happened=False)

    def refused(self, reply: int, words: str = "") -> VerbError:
        """The server said no: for now (4xx), or for good (5xx)."""
        code, known = self._phase.value
        if not 400 <= reply < 600:
            return self.broken("broken_answer", "what the mail server answered is no SMTP")
        deferred = reply < 500
        return VerbError(
            "mail_deferred" if deferred else code,
            f"{words or known} ({reply})",
            retryable=deferred,
            happened=False,
        )

    def untrusted(self, error: ssl.SSLError) -> VerbError:
        """There is no encrypted connection to the server that was meant."""
        if self._handed:
            return self.broken(*_LOST)
        why = (
            error.verify_message
            if isinstance(error, ssl.SSLCertVerificationError)
            else error.reason
        )
        return _failed(
            "tls_failed",
            f"no trusted encrypted connection to the mail server ({why or type(error).__name__})",
        )

    # --- the conversation -------------------------------------------------------------------------

    async def open(self) -> None:
        """Up to where mail is taken."""
        server, security = self._server, self._server.security
        context = None if security == "none" else _context(server)
        connected = await _socket(server)
        self._smtp = smtp = aiosmtplib.SMTP(
            hostname=server.host,
            sock=connected,
            use_tls=security == "tls",
            start_tls=False,
            tls_context=context,
            local_hostname=_address_literal(connected),
            timeout=None,
        )
        await smtp.connect()
        self._transport = smtp.transport
        await smtp.ehlo()
        if security == "starttls":
            await self._encrypt(smtp)
        if server.user:
            await self._log_in(smtp)

    async def _encrypt(self, smtp: aiosmtplib.SMTP) -> None:
        """What was said before is forgotten, and what came with the server's yes: anybody on the
        way may have said it.
        """
        self._phase = _Phase.TLS
        if not smtp.supports_extension("starttls"):
            raise _failed(
                "tls_not_offered",
                (
                    "the mail server does not offer STARTTLS, or somebody on the way took the "
                    "offer out"
                ),
            )
        await smtp.starttls()
        self._transport = smtp.transport
        await smtp.ehlo()

    async def _log_in(self, smtp: aiosmtplib.SMTP) -> None:
        """Once, in the plainest way that is offered: a second try with the same password only locks
        accounts.
        """
        self._phase = _Phase.LOGIN
        user, password = self._server.user, self._server.password
        if not password:
            raise _failed("secret_missing", "the password of the mail server has no value here")
        ways = {"plain": smtp.auth_plain, "login": smtp.auth_login, "cram-md5": smtp.auth_crammd5}
        way = next((ways[name] for name in ways if name in smtp.server_auth_methods), None)
        if way is None:
            raise _failed("login_not_offered", f"the mail server offers none of {', '.join(ways)}")
        await way(user, password)

    async def address(self, recipients: Sequence[str], size: int) -> None:
        """Say from whom and to whom. Where one recipient is refused nobody gets the mail."""
        smtp, self._phase = self._smtp, _Phase.SENDER
        sized = smtp.supports_extension("size")
        most = smtp.esmtp_extensions.get("size", "")
        if most.isascii() and most.isdecimal() and len(most) < 16 and 0 < int(most) < size:
            raise _failed(
                "too_large", f"the mail has {size} bytes, the mail server takes {int(most)}"
            )
        await smtp.mail(self._server.sender, options=[f"SIZE={size}"] if sized else [])
        self._phase = _Phase.RECIPIENTS
        refused: list[int] = []
        for recipient in recipients:
            try:
                await smtp.rcpt(recipient)
            except aiosmtplib.SMTPRecipientRefused as error:
                refused.append(error.code)
        if refused:
            words = (
                f"the mail server refused {len(refused)} of {len(recipients)} recipients, and so "
                "nobody gets the mail"
            )
            raise self.refused(max(refused), words)

    async def hand_over(self, message: bytes, still_allowed: Callable[[], Awaitable[None]]) -> None:
        """The text, and the one reply that says whether it was taken."""
        smtp, self._phase = self._smtp, _Phase.TEXT
        reply = await smtp.execute_command(b"DATA")
        if reply.code != _GO_ON:
            raise self.refused(reply.code)
        try:
            await still_allowed()  # the server may have taken its time until here
        except VerbError:
            self.drop()  # a goodbye would be the text that it waits for
            raise
        protocol = smtp.protocol
        if protocol is None or not protocol.is_connected:
            raise aiosmtplib.SMTPServerDisconnected("gone before the text")
        self._handed = True
        protocol.write(_DOTS.sub(b"..", message) + b".\r\n")
        taken = await protocol.read_response()
        if taken.code != _TAKEN:
            raise self.refused(taken.code)

    def leave(self) -> None:
        """Say goodbye where somebody listens, and wait for nothing."""
        protocol, transport = self._smtp.protocol, self._transport
        if protocol is None or transport is None or not protocol.is_connected:
            return
        protocol.write(b"QUIT\r\n")
        transport.close()
        asyncio.get_running_loop().call_later(GOODBYE_S, _abort, transport)
        self._transport = None

    def drop(self) -> None:
        """The connection goes at once, unless it was left."""
        if self._transport is not None:
            _abort(self._transport)
            self._transport = None


def _abort(transport: asyncio.BaseTransport) -> None:
    if isinstance(transport, asyncio.Transport):
        transport.abort()


def _failed(code: str, message: str, *, retryable: bool = False) -> VerbError:
    return VerbError(code, message, retryable=retryable, happened=False)


def _context(server: MailServer) -> ssl.SSLContext:
    try:
        return server.tls()
    except OSError as error:  # a file of certificates is named that is not there
        raise _failed("tls_failed", "the certificates to trust cannot be read") from error


async def _socket(server: MailServer) -> socket.socket:
    """Connected to a checked address: a name that answers differently the second time is never
    asked a second time.
    """
    try:
        found = await server.resolver(server.host, server.port)
    except Exception as error:
        # as for HTTP (``outbound``): whatever it is, no mail has gone out
        raise _failed("not_resolved", "the mail server has no address", retryable=True) from error
    if any(server.own.reached(address, server.port) for address in found):
        raise _failed("own_address", "Ordain itself listens there, and is no verb's business")
    if server.security == "none" and not all(
        ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in found
    ):
        raise _failed("not_loopback", "mail goes out unencrypted to this machine only")
    for address in found[:ADDRESSES_MAX]:
        if (connected := await _tried(address, server.port)) is not None:
            return connected
    raise _failed("not_connected", "no connection to the mail server", retryable=True)


async def _tried(address: str, port: int) -> socket.socket | None:
    try:
        tried = socket.socket(
            socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM
        )
    except OSError:  # no descriptor is left
        return None
    try:
        tried.setblocking(False)
        async with TimeLimit(CONNECT_S):
            await asyncio.get_running_loop().sock_connect(tried, (address, port))
    except OSError:
        tried.close()
        return None
    except BaseException:  # given up, whoever does it: nobody else knows of the socket
        tried.close()
        raise
    return tried


def _address_literal(connected: socket.socket) -> str:
    """Who this is, as RFC 5321 has it for those without a name: the address that the server sees
    anyway.
    """
    address = str(connected.getsockname()[0]).partition("%")[0]
    return f"[IPv6:{address}]" if ":" in address else f"[{address}]"
