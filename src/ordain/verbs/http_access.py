"""What verbs that send HTTP requests are given from outside. What sends them (``verbs.http_verb``,
``verbs.outbound``) is imported where there is such a verb.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ordain.verbs.own_addresses import OwnAddresses

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""How a host name and port become addresses; raises ``OSError`` where there are none."""


async def resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a name, as the system resolves it."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret's value ("": not there now) and the hosts that it may be sent to; none: any that a
    verb declares.
    """

    value: str = field(repr=False)
    hosts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAccess:
    """What HTTP verbs are given from outside: secrets by name, how a name becomes addresses, and
    where Ordain itself listens.

    ``private_hosts`` are the names of ``web.fetch`` that may have private addresses.
    """

    secrets: Mapping[str, Secret] = field(default_factory=dict[str, Secret], repr=False)
    resolver: Resolve = resolve
    private_hosts: Sequence[str] = ()
    own: OwnAddresses = field(default_factory=OwnAddresses)
