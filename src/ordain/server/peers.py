"""Who is at the other end of a connection: where a request comes from, and of which user of this machine.

Loopback proves that a caller is on this machine, and not whose process it is. Linux says that in ``/proc/net/tcp`` and ``tcp6``: the user of each socket.
The caller's socket is the one whose own address is the connection's far one. A socket that its process has closed has no inode any more
and is shown as root's, so it proves nothing. Where the system has no such tables, nobody can be told apart.
"""

from __future__ import annotations

import ipaddress
import os
import struct
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from starlette.types import Scope

PEER: Final = "ordain.peer"
"""Where a request's ``state`` has the connection's ``Peer``."""
TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LOOKS: Final = 3
"""A table is read in pieces while sockets come and go: one that is there may be missed, hardly three times."""
FORWARDED: Final = b"x-forwarded-for"
Address = tuple[str, int]


class Peer:
    """The other end of one connection; whose it is is looked up once, when it is first asked for."""

    def __init__(self, client: Address | None, server: tuple[str, int | None] | None, tables: Sequence[Path] = TABLES) -> None:
        """``client`` and ``server`` are the connection's addresses with their ports, None where it has none."""
        self._ends, self._tables = (client, server), tables
        self._foreign: bool | None = None

    def of_another_user(self) -> bool:
        """Whether the process there is not this server's user's, or nobody can tell whose it is although the system could."""
        if self._foreign is None:
            self._foreign = self._look()
        return self._foreign

    def _look(self) -> bool:
        client, server = self._ends
        if client is None or server is None or server[1] is None or not any(table.exists() for table in self._tables):
            return False
        found = next((uid for _ in range(LOOKS) if (uid := user_of(client, (server[0], server[1]), self._tables)) is not None), None)
        return found != os.geteuid()


def user_of(client: Address, server: Address, tables: Sequence[Path] = TABLES) -> int | None:
    """The user whose process holds the connection's far end; None where no process does, or it is not on this machine.

    Raises:
        ValueError: an address is none.
    """
    near, far = _forms(client), _forms(server)
    for table in tables:
        try:
            text = table.read_bytes()
        except OSError:
            continue
        for local in near:
            at = text.find(b": " + local + b" ")
            while at >= 0:
                fields = text[at + 2 : text.find(b"\n", at)].split()
                if len(fields) > 8 and fields[1] in far and fields[8] != b"0":
                    return int(fields[6])
                at = text.find(b": " + local + b" ", at + 1)
    return None


def _forms(address: Address) -> tuple[bytes, ...]:
    """An address as the tables write it: words of the machine's byte order in hexadecimal; an IPv4 address also as one of IPv6."""
    host, port = ipaddress.ip_address(address[0].partition("%")[0]), b":%04X" % address[1]
    v4 = host if isinstance(host, ipaddress.IPv4Address) else host.ipv4_mapped
    if v4 is None:
        return (_words(host.packed) + port,)
    return _words(v4.packed) + port, _words(b"\0" * 10 + b"\xff\xff" + v4.packed) + port


def _words(packed: bytes) -> bytes:
    count = len(packed) // 4
    return b"".join(b"%08X" % word for word in struct.unpack(f"={count}I", packed))


def of_another_user(scope: Scope) -> bool:
    """Whether a request comes from a process of another user; one that came through no connection of its own does not."""
    peer = scope.get("state", {}).get(PEER)
    return isinstance(peer, Peer) and peer.of_another_user()


def address_of(scope: Scope, proxies: Sequence[str]) -> str:
    """Where a request comes from: the connection's far end or, where that is a trusted proxy, the last address that no trusted proxy has."""
    client = scope.get("client")
    address = str(client[0]) if client else ""
    if not proxies or not _trusted(address, tuple(proxies)):
        return address
    given = b",".join(value for name, value in scope["headers"] if name == FORWARDED).decode("latin-1")
    for one in reversed(given.split(",")):
        told = one.strip()
        if not _is_address(told):
            return address
        address = told
        if not _trusted(address, tuple(proxies)):
            return address
    return address


def _trusted(address: str, proxies: tuple[str, ...]) -> bool:
    if not _is_address(address):
        return False
    found = ipaddress.ip_address(address)
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return any((mapped or found) in network for network in _networks(proxies))


@lru_cache(maxsize=8)
def _networks(proxies: tuple[str, ...]) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(ipaddress.ip_network(proxy) for proxy in proxies)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
