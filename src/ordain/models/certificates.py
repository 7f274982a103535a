"""The certificates that an endpoint's own is held to, for what speaks through httpx2; loaded once
for all profiles.
"""

from __future__ import annotations

import os
import ssl
from functools import lru_cache

import httpx2


def trusted(trust_env: bool) -> ssl.SSLContext:
    """The environment's certificates where it counts and names some (``SSL_CERT_FILE``,
    ``SSL_CERT_DIR``), otherwise the system's.
    """
    return _trusted(trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(maxsize=4)
def _trusted(trust_env: bool, *_told: str | None) -> ssl.SSLContext:
    """Loading them takes 20 ms, and what was loaded holds no state of a connection."""
    return httpx2.create_ssl_context(trust_env=trust_env)
