"""The live-call lock: no test reaches a network beyond loopback.

An audit hook sees every connection made through the socket module, whichever library makes it, also
in forked children; unlike a patched method it cannot be stepped around or undone. uvloop and
separate processes are beyond it: tests run on asyncio's own loop, and servers under test are given
loopback addresses.
"""

import ipaddress
import socket
import sys
from typing import Any

import pytest


def _is_local(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in {None, "", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(str(name).partition("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse_live_calls(event: str, args: tuple[Any, ...]) -> None:
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        connection, address = args
        if address is None or connection.family == getattr(socket, "AF_UNIX", None):
            return
        host = address[0] if isinstance(address, tuple) else address
    elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host = args[0]
    else:
        return
    if not _is_local(host):
        pytest.fail(f"live-call lock: {event} to {host!r}; tests reach loopback only")


sys.addaudithook(_refuse_live_calls)
