"""How open a server may be: beyond loopback only where somebody has a token, and then to nobody
without one.
"""

from __future__ import annotations

import asyncio

from ordain.contracts.access import parse_rate
from ordain.engines.clock import SystemClock
from ordain.errors import ConfigurationError
from ordain.ports.clock import Clock
from ordain.runtime.access import Exposure
from ordain.runtime.tokens import Tokens, fresh_token
from ordain.server.loopback import is_loopback_name
from ordain.settings import Settings
from ordain.store.access import SqliteTokens
from ordain.store.folder import FILE
from ordain.store.sqlite import SqliteStore


def is_exposed(settings: Settings) -> bool:
    """Whether the server listens beyond this machine."""
    return not is_loopback_name(settings.server.host)


def check_exposure(settings: Settings) -> None:
    """Refuse to listen beyond loopback where no token is good: nobody could use it, and nothing may
    be open to all.

    Raises:
        ConfigurationError: ``not_loopback``.
        StorageUnavailable: the data folder cannot be read.
    """
    if is_exposed(settings) and not _live_tokens(settings):
        message = (
            f"{settings.server.host} is not loopback: beyond this machine every request needs a "
            "token, and there is none; first make one with `ordain token create`"
        )
        raise ConfigurationError(message, code="not_loopback")


def _live_tokens(settings: Settings) -> int:
    if not (settings.home / FILE).is_file():
        return 0
    store = SqliteStore(settings.home)
    try:
        return asyncio.run(Tokens(SqliteTokens(store), store, SystemClock()).live())
    finally:
        store.close()


def exposure_of(settings: Settings, clock: Clock) -> tuple[Exposure, str]:
    """What the face is told, and the key for the note in the data folder: whoever can read that is
    the user whose it is.
    """
    server = settings.server
    demanded = server.require_token or settings.access.loopback == "token" or is_exposed(settings)
    key, parsed = fresh_token(clock)
    exposure = Exposure(
        demanded=demanded,
        hosts=tuple(server.allowed_hosts),
        origins=tuple(server.origins),
        proxies=tuple(server.trusted_proxies),
        owner=parsed.digest,
        rate=parse_rate(server.rate),
        failed_rate=parse_rate(server.failed_rate),
    )
    return exposure, key
