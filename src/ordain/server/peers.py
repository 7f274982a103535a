"""Who is at the other end of a connection: where a request comes from, and of which user of this
machine.

Loopback proves that a caller is on this machine, and not whose process it is. The system says that
of the caller's socket, the one whose own address is the connection's far one (``socket_owners``).
Where it does not, nobody can be told apart.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from starlette.types import Scope

from ordain.errors import Transient
from ordain.server.problems import NOTHING_LEFT, USED_UP, out_of_resources
from ordain.server.socket_owners import Address, Ends, KernelSilent, SocketOwners

PEER: Final = "ordain.peer"
"""Where a request's ``state`` has the connection's ``Peer``."""
FORWARDED: Final = b"x-forwarded-for"
_PASSED_ON: Final = frozenset(
    {
        b"cdn-loop",  # RFC 8586: each CDN adds it
        b"client-cert",  # RFC 9440: of whoever ends TLS before it
        b"client-cert-chain",
        b"client-ip-address",
        b"disguised-host",
        b"forwarded",
        b"front-end-https",
        b"k-proxy-request",
        b"max-forwards",
        b"rlnclientipaddr",
        b"rndr-id",
        b"surrogate-capability",
        b"via",
        b"was-default-hostname",
        b"x-cdn",
        b"x-client-port",
        b"x-client-proto",
        b"x-client-scheme",
        b"x-client-verify",
        b"x-host",
        b"x-https",
        b"x-nginx-proxy",
        b"x-real-port",
        b"x-scheme",
        b"x-url-scheme",
        b"x-varnish",
    }
)
_PASSED_ON_BY: Final = (
    b"akamai-",
    b"ali-",
    b"cdn-",
    b"cf-",
    b"cloudfront-",
    b"ddg-connecting-",
    b"fastly-",
    b"fly-",
    b"forwarded-",
    b"gcore-",
    b"l5d-",
    b"ngrok-",
    b"proxy-",
    b"remote-",
    b"ssl-client-",
    b"tailscale-",
    b"teleport-",
    b"wl-proxy-",
    b"x-accel-",
    b"x-akamai-",
    b"x-amz-cf-",
    b"x-amzn-mtls-",
    b"x-amzn-oidc-",
    b"x-amzn-remapped-",
    b"x-amzn-tls-",
    b"x-anonymous-consumer",
    b"x-appengine-",
    b"x-appservice-",
    b"x-arr-",
    b"x-auth-request-",
    b"x-authentik-",
    b"x-azure-",
    b"x-bluecoat-",
    b"x-bunnycdn-",
    b"x-cdn-",
    b"x-cf-",
    b"x-citrix-",
    b"x-client-ssl-",
    b"x-consumer-",
    b"x-ddos-guard",
    b"x-edgeconnect-",
    b"x-envoy-",
    b"x-fd-",
    b"x-forward",
    b"x-goog-authenticated-",
    b"x-goog-iap-",
    b"x-haproxy-",
    b"x-hass-",
    b"x-heroku-",
    b"x-ingress-",
    b"x-inlets-",
    b"x-kong-",
    b"x-ms-client-principal",
    b"x-ms-proxy",
    b"x-ms-tunnel-",
    b"x-nf-",
    b"x-oci-lb-",
    b"x-original-",
    b"x-pomerium-",
    b"x-proxy-",
    b"x-qrator-",
    b"x-railway-",
    b"x-remote-",
    b"x-replit-",
    b"x-rewrite-",
    b"x-ssl",
    b"x-sucuri-",
    b"x-supervisor-",
    b"x-tunnel-",
    b"x-vercel-",
    b"x-vouch-",
    b"x-waws-",
    b"x-webauth-",
    b"x-zrok-",
)
_PASSED_ON_FOR: Final = (
    b"client-cert",
    b"client-dn",
    b"client-ip",
    b"clientip",
    b"coming-from",
    b"connecting-ip",
    b"edge-ip",
    b"forwarded-for",
    b"forwarded-host",
    b"forwarded-proto",
    b"from-ip",
    b"originating-ip",
    b"peer-ip",
    b"proxied-for",
    b"proxymesh-ip",
    b"real-ip",
    b"remote-addr",
    b"remote-ip",
    b"remote-user",
    b"source-ip",
    b"src-ip",
    b"true-ip",
    b"user-ip",
)
"""What proxies and tunnels add to a request that they pass on: whole names, beginnings, and ends of
those that say for whom. What a program adds to its own requests (as ids of a trace) is not here.
"""


class Peer:
    """The other end of one connection; whose it is is looked up once, when it is first asked
    for.
    """

    def __init__(
        self,
        client: Address | None,
        server: tuple[str, int | None] | None,
        is_closed: Callable[[], bool] = lambda: False,
    ) -> None:
        """``client`` and ``server`` are the connection's addresses with their ports, None where
        nobody can say; ``is_closed`` says whether it has ended.

        One that was reset before it was accepted has no far end any more, and what it had sent is
        read all the same.
        """
        self._ends = (
            Ends(client, (server[0], server[1]))
            if client and server and server[1] is not None
            else None
        )
        self._is_closed = is_closed
        self._foreign: bool | None = None

    async def of_another_user(self, owners: SocketOwners) -> bool:
        """Whether the process there is not this server's user's, or nobody can tell whose it is
        although the system could.

        Raises:
            Transient: 503 ``out_of_resources``: there is no descriptor or memory left to find it
                out.
        """
        if self._foreign is None:
            self._foreign = await self._look(owners)
        return self._foreign

    async def _look(self, owners: SocketOwners) -> bool:
        if self._ends is None or self._is_closed():
            return True
        try:
            return await owners.user_of(self._ends) != os.geteuid()
        except KernelSilent:
            return False
        except (OSError, MemoryError) as error:
            if not out_of_resources(error):
                return True
            raise Transient(NOTHING_LEFT, code=USED_UP) from error


async def of_another_user(scope: Scope, owners: SocketOwners) -> bool:
    """Whether a request comes from a process of another user; one that came through no connection
    of its own does not.

    Raises:
        Transient: as ``Peer.of_another_user``.
    """
    peer = scope.get("state", {}).get(PEER)
    return isinstance(peer, Peer) and await peer.of_another_user(owners)


def passed_on(scope: Scope) -> bool:
    """Whether a proxy or a tunnel says that it passes a request on: then it is another's, whoever
    is at the other end of the connection.

    Nothing is believed of what it says besides; whoever forges it is only taken for somebody else.
    """
    return any(
        name in _PASSED_ON or name.startswith(_PASSED_ON_BY) or name.endswith(_PASSED_ON_FOR)
        for name in (given.replace(b"_", b"-") for given, _ in scope["headers"])
    )


def address_of(scope: Scope, proxies: Sequence[str]) -> str:
    """Where a request comes from: the connection's far end or, where that is a trusted proxy, the
    last address that no trusted proxy has.
    """
    client = scope.get("client")
    address = str(client[0]) if client else ""
    if not proxies or not _trusted(address, tuple(proxies)):
        return address
    given = b",".join(value for name, value in scope["headers"] if name == FORWARDED).decode(
        "latin-1"
    )
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
def _networks(
    proxies: tuple[str, ...],
) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(ipaddress.ip_network(proxy) for proxy in proxies)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
