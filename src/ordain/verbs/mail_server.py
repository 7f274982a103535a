"""The server through which mail goes out, as settings declare it. What speaks to it
(``verbs.smtp``) is imported where there is one.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field

from ordain.contracts.mail import MailSecurity
from ordain.verbs.http_access import Resolve, resolve
from ordain.verbs.own_addresses import OwnAddresses


def trusted() -> ssl.SSLContext:
    """A context of its own, for every connection: what HTTP negotiates (ALPN) has no place in it.
    SSL_CERT_FILE counts.
    """
    import httpx2  # lazy: it brings the certificates that every other connection trusts

    return httpx2.create_ssl_context()


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """Where mail goes out and as whom; an empty ``user`` logs in nowhere.

    ``timeout_ms`` bounds one attempt. ``resolver``, ``own`` and ``tls`` are what every verb has
    that goes out: how a name becomes addresses, where Ordain itself listens, which certificates are
    trusted.
    """

    host: str
    port: int
    security: MailSecurity
    sender: str
    user: str = ""
    password: str = field(default="", repr=False)
    timeout_ms: int = 30_000
    resolver: Resolve = resolve
    own: OwnAddresses = field(default_factory=OwnAddresses)
    tls: Callable[[], ssl.SSLContext] = trusted
