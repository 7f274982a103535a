"""Who is at the other end: the user of a connection's process, and where a request behind proxies comes from."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ordain.server.peers import PEER, Peer, address_of, of_another_user, user_of

ANOTHER = 65_533
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs a process as another user")
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
        with subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stdout.readline() == b"sent\n"
            here, address = listener.accept()
            with closing(here):
                yield Peer(address[:2], here.getsockname()[:2])
            process.stdin.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "::1"])
def test_a_process_of_the_same_user_is_known(host: str) -> None:
    """Over IPv4 and IPv6, also when it has said all that it says."""
    with connected(host, os.geteuid()) as peer:
        assert not peer.of_another_user()
    with connected(host, os.geteuid(), "half") as peer:
        assert not peer.of_another_user()


@needs_root
@pytest.mark.parametrize(("host", "last"), [("127.0.0.1", ""), ("::1", ""), ("127.0.0.1", "mapped"), ("127.0.0.1", "half")])
def test_a_process_of_another_user_is_told_apart(host: str, last: str) -> None:
    """Over IPv4, IPv6, and IPv4 through a socket of IPv6."""
    with connected(host, ANOTHER, last) as peer:
        assert peer.of_another_user()


@pytest.mark.parametrize("user", [pytest.param(ANOTHER, marks=needs_root), os.geteuid()])
def test_a_closed_socket_proves_nothing(user: int) -> None:
    """The system shows a socket that its process has closed as root's: nobody is taken for root, nor for anybody else, by that."""
    with connected("127.0.0.1", user, "gone") as peer:
        assert peer.of_another_user()


def test_without_tables_nobody_is_told_apart(tmp_path: Path) -> None:
    """A system without /proc, and what came through no connection: loopback decides alone, as ever."""
    assert not Peer(("127.0.0.1", 1), ("127.0.0.1", 2), (tmp_path / "tcp",)).of_another_user()
    assert not Peer(None, None).of_another_user()
    assert not of_another_user({"state": {}})
    (tmp_path / "tcp").write_text("")
    assert Peer(("127.0.0.1", 1), ("127.0.0.1", 2), (tmp_path / "tcp",)).of_another_user()
    assert of_another_user({"state": {PEER: Peer(("127.0.0.1", 1), ("127.0.0.1", 2), (tmp_path / "tcp",))}})


def test_only_the_connection_itself_counts(tmp_path: Path) -> None:
    """A socket with the same address that speaks to another port, or the server's own end, is another one."""
    table = tmp_path / "tcp"
    head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    line = "   0: 0100007F:{:04X} 0100007F:{:04X} 01 00000000:00000000 00:00000000 00000000  {}        0 4711 1\n"
    table.write_text(head + line.format(7, 9, 3) + line.format(8, 7, 4) + line.format(7, 8, 5))
    assert user_of(("127.0.0.1", 7), ("127.0.0.1", 8), (table,)) == 5
    assert user_of(("127.0.0.1", 6), ("127.0.0.1", 8), (table, tmp_path / "none")) is None


def scope(client: str, *forwarded: str) -> dict[str, Any]:
    return {"client": (client, 1), "headers": [(b"x-forwarded-for", one.encode()) for one in forwarded]}


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
    """X-Forwarded-For is read from its end, as far as trusted proxies wrote it: what anybody else put before is not."""
    assert address_of(scope(client, *forwarded), proxies) == address


def test_a_request_without_a_connection_has_no_address() -> None:
    """Nobody is told where it comes from, and nothing is made up."""
    assert address_of({"client": None, "headers": []}, PROXIES) == ""
