"""Where Ordain itself listens: no verb sends a request there."""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress

Host = ipaddress.IPv4Address | ipaddress.IPv6Address


class OwnAddresses:
    """The addresses of the servers of one Ordain; whoever listens adds its own."""

    def __init__(self) -> None:
        """None yet."""
        self._bound = set[tuple[Host, int]]()

    def add(self, host: str, port: int) -> None:
        """Ordain listens at this address, or at every one of this machine (0.0.0.0, ::), from now
        on.
        """
        self._bound.add((_plain(host), port))

    def remove(self, host: str, port: int) -> None:
        """It does no longer."""
        self._bound.discard((_plain(host), port))

    def reached(self, address: str, port: int) -> bool:
        """Whether a connection to the address and port ends at one of them, however the address is
        spelt.
        """
        asked = _plain(address)
        return any(bound == port and _reaches(asked, host) for host, bound in self._bound)


def _plain(address: str) -> Host:
    """Without its zone; an IPv4 address in one of IPv6 is that."""
    host = ipaddress.ip_address(address.partition("%")[0])
    mapped = host.ipv4_mapped if isinstance(host, ipaddress.IPv6Address) else None
    return mapped or host


def _reaches(asked: Host, bound: Host) -> bool:
    if asked.is_unspecified:  # a connection to "any address" goes to this machine's loopback
        return bound.is_unspecified or bound.is_loopback
    return asked == bound or (bound.is_unspecified and _is_here(asked))


def _is_here(host: Host) -> bool:
    """Whether it is an address of this machine: one that a socket can have."""
    if host.is_loopback:
        return True
    family = socket.AF_INET if host.version == 4 else socket.AF_INET6
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as tried:
        tried.bind((str(host), 0))
        return True
    return False
