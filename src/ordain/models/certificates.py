"""The certificates that an endpoint's own is held to: loaded once for all profiles that speak
through httpx2, and what is told where there are none.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from functools import lru_cache

from ordain.errors import ConfigurationError


def trusted(trust_env: bool) -> ssl.SSLContext:
    """The environment's certificates where it counts and names some (``SSL_CERT_FILE``,
    ``SSL_CERT_DIR``), otherwise the system's.

    Raises:
        ConfigurationError: what it names cannot be read, or holds none.
    """
    return _trusted(trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(maxsize=4)
def _trusted(trust_env: bool, *_told: str | None) -> ssl.SSLContext:
    """Loading them takes 20 ms, and what was loaded holds no state of a connection."""
    import httpx2  # lazy: who speaks without it asks only for ``loaded``

    return loaded(lambda: httpx2.create_ssl_context(trust_env=trust_env))


def loaded(load: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
    """The certificates that a library finds by the environment.

    Raises:
        ConfigurationError: what it names cannot be read, or holds none.
    """
    try:
        return load()
    except OSError as error:  # OpenSSL's own are such, too
        told = {name: os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")}
        named = [f"{name}={value}" for name, value in told.items() if value]
        where, why = " and ".join(named) or "this system", error.strerror or str(error)
        raise ConfigurationError(f"{where} has no certificates to use: {why}") from error
