"""Who is at the other end: the user of a connection's process, and where a request behind proxies
comes from.
"""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ordain.errors import Transient
from ordain.server.peers import PEER, Peer, address_of, of_another_user, passed_on
from ordain.server.socket_owners import Ends, KernelSilent, SocketOwners, user_told, users_in

ANOTHER = 65_533
needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root runs a process as another user"
)
CONNECT = """
import encodings.idna, os, socket, sys
os.setgid({user}); os.setuid({user})
family = socket.AF_INET6 if ":" in {host!r} else socket.AF_INET
made = socket.create_connection(({host!r}, {port})) if {last!r} != "mapped" else socket.socket(socket.AF_INET6)
if {last!r} == "mapped":
    made.connect(("::ffff:127.0.0.1", {port}))
made.sendall(b"GET /runs HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
if {last!r} == "gone":
    made.close()
elif {last!r} == "half":
    made.shutdown(socket.SHUT_WR)
print("sent", flush=True)
sys.stdin.read()
"""


@contextmanager
def connected(host: str, user: int, last: str = "") -> Iterator[Peer]:
    """The peer of a connection that a process of ``user`` made, and what it did with it last."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with closing(socket.create_server((host, 0), family=family)) as listener:
        text = CONNECT.format(host=host, port=listener.getsockname()[1], user=user, last=last)
        with subprocess.Popen(
            [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stdout.readline() == b"sent\n"
            here, address = listener.accept()
            with closing(here):
                yield Peer(address[:2], here.getsockname()[:2])
            process.stdin.close()


WAYS = {"asked": SocketOwners(), "read": SocketOwners(kernel=False)}
"""The kernel is asked for one socket, or its tables are read."""
both_ways = pytest.mark.parametrize("way", list(WAYS))
NO_TABLES: tuple[Path, ...] = ()


def foreign(peer: Peer, owners: SocketOwners) -> bool:
    return asyncio.run(peer.of_another_user(owners))


@both_ways
@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "::1"])
def test_a_process_of_the_same_user_is_known(host: str, way: str) -> None:
    """Over IPv4 and IPv6, also when it has said all that it says."""
    with connected(host, os.geteuid()) as peer:
        assert not foreign(peer, WAYS[way])
    with connected(host, os.geteuid(), "half") as peer:
        assert not foreign(peer, WAYS[way])


@both_ways
def test_a_server_of_both_families_knows_its_callers_of_the_older_one(way: str) -> None:
    """It has their addresses as ones of IPv6."""
    with (
        closing(
            socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        ) as listener,
        closing(socket.create_connection(("127.0.0.1", listener.getsockname()[1]))),
        closing(listener.accept()[0]) as here,
    ):
        assert here.getpeername()[0] == "::ffff:127.0.0.1"
        assert not foreign(Peer(here.getpeername()[:2], here.getsockname()[:2]), WAYS[way])


@needs_root
@both_ways
@pytest.mark.parametrize(
    ("host", "last"),
    [("127.0.0.1", ""), ("::1", ""), ("127.0.0.1", "mapped"), ("127.0.0.1", "half")],
)
def test_a_process_of_another_user_is_told_apart(host: str, last: str, way: str) -> None:
    """Over IPv4, IPv6, and IPv4 through a socket of IPv6."""
    with connected(host, ANOTHER, last) as peer:
        assert foreign(peer, WAYS[way])


@both_ways
@pytest.mark.parametrize("user", [pytest.param(ANOTHER, marks=needs_root), os.geteuid()])
def test_a_closed_socket_proves_nothing(user: int, way: str) -> None:
    """The system shows a socket that its process has closed as root's: nobody is taken for root,
    nor for anybody else, by that.
    """
    with connected("127.0.0.1", user, "gone") as peer:
        assert foreign(peer, WAYS[way])


def test_a_system_that_says_nothing_tells_nobody_apart(tmp_path: Path) -> None:
    """Neither an answer nor /proc, and what came through no connection: loopback decides alone, as
    ever. A connection whose far end is gone proves nothing.
    """
    peer = (("127.0.0.1", 1), ("127.0.0.1", 2))
    silent, empty = (
        SocketOwners((tmp_path / "none",), kernel=False),
        SocketOwners((tmp_path / "tcp",), kernel=False),
    )
    (tmp_path / "tcp").write_text("")
    assert not foreign(Peer(*peer), silent)
    assert foreign(Peer(None, ("127.0.0.1", 2)), silent)
    assert foreign(Peer(None, None), silent)
    assert not asyncio.run(of_another_user({"state": {}}, empty))
    assert foreign(Peer(*peer), empty)
    assert asyncio.run(of_another_user({"state": {PEER: Peer(*peer)}}, empty))


def test_a_kernel_that_has_not_answered_yet_may_know_of_no_socket() -> None:
    """Its tables say it then: a kernel without the means for one socket answers as if there were
    none.
    """
    gone = Ends(("127.0.0.1", 1), ("127.0.0.1", 2))
    with pytest.raises(KernelSilent):
        asyncio.run(SocketOwners(NO_TABLES).user_of(gone))
    with connected("127.0.0.1", os.geteuid()) as peer:
        answered = SocketOwners(NO_TABLES)
        assert not foreign(peer, answered)
    assert asyncio.run(answered.user_of(gone)) is None


def test_only_the_connection_itself_counts(tmp_path: Path) -> None:
    """A socket with the same address that speaks to another port, or the server's own end, is
    another one.
    """
    table = tmp_path / "tcp"
    head = (
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
        "timeout inode\n"
    )
    line = (
        "   0: 0100007F:{:04X} 0100007F:{:04X} 01 00000000:00000000 00:00000000 00000000  {}      "
        "  0 4711 1\n"
    )
    table.write_text(head + line.format(7, 9, 3) + line.format(8, 7, 4) + line.format(7, 8, 5))
    there, nowhere = (Ends(("127.0.0.1", port), ("127.0.0.1", 8)) for port in (7, 6))
    assert users_in((table, tmp_path / "none"), [there, nowhere]) == {there: 5}


def test_a_listening_socket_of_the_same_address_is_another_one() -> None:
    """The kernel names it where no connection has these ends: whose it is says nothing of who
    asks.
    """
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        assert user_told(Ends(listener.getsockname(), ("127.0.0.1", 1))) is None


def test_who_asks_while_tables_are_read_waits_for_one_more_reading(tmp_path: Path) -> None:
    """However many ask: a reading that had begun before a connection was made may not show it, and
    one that begins later shows all.
    """
    os.mkfifo(tmp_path / "tcp")  # each reading of it waits for us to write
    owners = SocketOwners((tmp_path / "tcp",), kernel=False)
    line = (
        "0: 0100007F:{:04X} 0100007F:0001 01 00000000:00000000 00:00000000 00000000  9        0 "
        "4711 1\n"
    )

    async def asking() -> list[int | None]:
        first = asyncio.create_task(owners.user_of(Ends(("127.0.0.1", 0x100), ("127.0.0.1", 1))))
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            writer = await asyncio.to_thread((tmp_path / "tcp").open, "w")
            others = [
                group.create_task(owners.user_of(Ends(("127.0.0.1", 0x101 + n), ("127.0.0.1", 1))))
                for n in range(50)
            ]
            await asyncio.sleep(0)
            with writer:
                writer.write(line.format(0x100))
            assert await first == 9
            with await asyncio.to_thread((tmp_path / "tcp").open, "w") as writer:
                writer.writelines(line.format(0x101 + n) for n in range(50))
        return [other.result() for other in others]

    assert asyncio.run(asking()) == [9] * 50


@pytest.mark.parametrize("way", list(WAYS))
def test_a_want_of_descriptors_is_no_proof_of_a_stranger(way: str) -> None:
    """It is 503 out_of_resources, which comes again, and the next request of the connection is
    asked about anew.
    """
    with connected("127.0.0.1", os.geteuid()) as peer:
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)

        async def asked() -> bool:
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
            try:
                with pytest.raises(Transient) as refused:
                    await peer.of_another_user(WAYS[way])
                assert (refused.value.status, refused.value.code) == (503, "out_of_resources")
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            return await peer.of_another_user(WAYS[way])

        assert not asyncio.run(asked())


def test_of_a_connection_that_has_ended_nothing_is_asked(tmp_path: Path) -> None:
    """Whoever was there is gone: nobody is let in, and no table is read."""
    peer = Peer(("127.0.0.1", 1), ("127.0.0.1", 2), lambda: True)
    assert foreign(peer, SocketOwners((tmp_path,), kernel=False))


def scope(client: str, *forwarded: str) -> dict[str, Any]:
    return {
        "client": (client, 1),
        "headers": [(b"x-forwarded-for", one.encode()) for one in forwarded],
    }


PROXIES = ("10.0.0.0/8", "127.0.0.1", "2001:db8::/64")


@pytest.mark.parametrize(
    ("client", "forwarded", "proxies", "address"),
    [
        ("127.0.0.1", ("203.0.113.9",), (), "127.0.0.1"),
        ("192.0.2.1", ("203.0.113.9",), PROXIES, "192.0.2.1"),
        ("127.0.0.1", ("203.0.113.9",), PROXIES, "203.0.113.9"),
        ("127.0.0.1", ("198.51.100.7, 203.0.113.9, 10.1.1.1",), PROXIES, "203.0.113.9"),
        ("127.0.0.1", ("198.51.100.7", "203.0.113.9"), PROXIES, "203.0.113.9"),
        ("::ffff:127.0.0.1", ("2001:db8:1::9, 2001:db8::7",), PROXIES, "2001:db8:1::9"),
        ("127.0.0.1", ("203.0.113.9, nobody",), PROXIES, "127.0.0.1"),
        ("127.0.0.1", ("198.51.100.7, , 10.1.1.1",), PROXIES, "10.1.1.1"),
        ("127.0.0.1", (), PROXIES, "127.0.0.1"),
        ("127.0.0.1", ("10.1.1.1, 10.2.2.2",), PROXIES, "10.1.1.1"),
    ],
)
def test_only_trusted_proxies_say_where_a_request_comes_from(
    client: str, forwarded: tuple[str, ...], proxies: tuple[str, ...], address: str
) -> None:
    """X-Forwarded-For is read from its end, as far as trusted proxies wrote it: what anybody else
    put before is not.
    """
    assert address_of(scope(client, *forwarded), proxies) == address


@pytest.mark.parametrize(
    ("name", "is_passed_on"),
    [
        (b"x-forwarded-for", True),
        (b"x-forwarded-server", True),
        (b"forwarded", True),
        (b"via", True),
        (b"x-real-ip", True),
        (b"cf-connecting-ip", True),
        (b"tailscale-user-login", True),
        (b"x-forwarded", True),
        (b"x-original-forwarded-for", True),
        (b"true-client-ip", True),
        (b"x-cluster-client-ip", True),
        (b"wl-proxy-client-ip", True),
        (b"x-azure-clientip", True),
        (b"ali-cdn-real-ip", True),
        (b"x-proxyuser-ip", True),
        (b"x-remote-user", True),
        (b"cdn-loop", True),
        (b"cf-ray", True),
        (b"proxy-connection", True),
        (b"fly-client-ip", True),
        (b"l5d-client-id", True),
        (b"x-vercel-forwarded-for", True),
        (b"x-nf-client-connection-ip", True),
        (b"x-ngrok-forwarded-for", True),
        (b"cloudfront-viewer-address", True),
        (b"x-amzn-oidc-identity", True),
        (b"x-goog-iap-jwt-assertion", True),
        (b"x-ms-client-principal-name", True),
        (b"x-kong-proxy-latency", True),
        (b"x-consumer-username", True),
        (b"x-authentik-username", True),
        (b"x-pomerium-jwt-assertion", True),
        (b"x-webauth-user", True),
        (b"remote-groups", True),
        (b"client-cert", True),
        (b"x-ssl-client-cert", True),
        (b"ssl_client_cert", True),
        (b"x_forwarded_for", True),
        (b"x-forward-for", True),
        (b"forwarded-for", True),
        (b"x-remote-addr", True),
        (b"x-originating-ip", True),
        (b"front-end-https", True),
        (b"x-scheme", True),
        (b"x-host", True),
        (b"cdn-requestid", True),
        (b"x-railway-edge", True),
        (b"viable", False),
        (b"traceparent", False),
        (b"x-amzn-trace-id", False),
        (b"x-openwebui-user-id", False),
        (b"x-stainless-runtime", False),
        (b"x-request-id", False),
        (b"x-client-data", False),
        (b"x-librechat-user-id", False),
        (b"b3", False),
        (b"origin", False),
        (b"user-agent", False),
        (b"host", False),
    ],
)
def test_proxies_are_known_by_what_they_add(name: bytes, *, is_passed_on: bool) -> None:
    """Whole names, and the families of those that have many, by how they begin or end; an empty
    value counts too. What a program sends of its own (a trace's id, a user of its own) is none.
    """
    given = [(b"host", b"localhost"), (name, b"")]
    assert passed_on({"headers": given}) is is_passed_on


def test_a_request_without_a_connection_has_no_address() -> None:
    """Nobody is told where it comes from, and nothing is made up."""
    assert address_of({"client": None, "headers": []}, PROXIES) == ""
