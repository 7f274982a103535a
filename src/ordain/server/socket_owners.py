"""Whose a connection's far end is: the kernel is asked for that one socket, or, where it does not
answer, its tables are read.

Linux answers for one socket by netlink (``sock_diag(7)``) in microseconds, however many there are.
Where a service may not ask (``RestrictAddressFamilies=``) or a kernel has no such thing,
``/proc/net/tcp`` and ``tcp6`` name the user of each socket. To read them takes the kernel
milliseconds, since it walks all of its buckets: so that is done in a thread, by one reading at a
time, for all who wait.

A socket that its process has closed has no inode any more and is shown as root's: it proves
nothing.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LOOKS: Final = 3
"""A table is read in pieces while sockets come and go: one that is there may be missed, hardly
three times.
"""
Address = tuple[str, int]
_Place = tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]

_SOCK_DIAG, _BY_FAMILY, _REQUEST, _ERROR = 4, 20, 1, 2
_ASKED = struct.Struct("=IHHII BBBxI HH16s16sI8s")
_HEAD, _TOLD = struct.Struct("=IHHII"), struct.Struct("=BBBB HH16s16sI8s IIIII")
_ANY_STATE, _ANY_COOKIE = 0xFFFFFFFF, b"\xff" * 8
_NOT_ANSWERED = {
    errno.EAFNOSUPPORT,
    errno.EPROTONOSUPPORT,
    errno.ESOCKTNOSUPPORT,
    errno.EINVAL,
    errno.EOPNOTSUPP,
    errno.EPERM,
    errno.EACCES,
}
"""What says that this kernel, or what confines this process, answers no such question."""


class Ends(NamedTuple):
    """A connection as the socket in question has it: its own address, and that of the other end."""

    own: Address
    other: Address

    @property
    def turned(self) -> Ends:
        """As the socket at the other end has it."""
        return Ends(self.other, self.own)


class KernelSilent(Exception):
    """The kernel is not to be asked for one socket."""


class SocketOwners:
    """Belongs to one event loop."""

    def __init__(
        self, tables: Sequence[Path] = TABLES, *, kernel: bool = hasattr(socket, "AF_NETLINK")
    ) -> None:
        """``kernel``: whether it is asked for one socket, before tables are read."""
        self._tables, self._kernel, self._answers = tables, kernel, False
        self._reading = asyncio.Lock()
        self._coming: asyncio.Task[Mapping[Ends, int]] | None = None
        self._asked: set[Ends] = set()

    async def user_of(self, ends: Ends) -> int | None:
        """The user whose process holds the socket; None where no process does, or it is not on this
        machine.

        Raises:
            KernelSilent: this system does not say whose sockets are.
            OSError: it cannot be found out now.
            ValueError: an address is none.
        """
        try:
            return self._told(ends)
        except KernelSilent:
            if not any(table.exists() for table in self._tables):
                raise
        self._asked.add(ends)
        if self._coming is None:
            self._coming = asyncio.create_task(self._read())
        return (await asyncio.shield(self._coming)).get(ends)

    def _told(self, ends: Ends) -> int | None:
        """By the kernel. That there is no such socket is how one without the means says so, too:
        our own end, which is there, tells these apart.
        """
        if not self._kernel:
            raise KernelSilent
        user = user_told(ends)
        self._answers = self._answers or user is not None or user_told(ends.turned) is not None
        if not self._answers:
            raise KernelSilent
        return user

    async def _read(self) -> Mapping[Ends, int]:
        """Read for all who have asked by the time that this begins; who asks later may have
        connected later, and waits for the next.
        """
        async with self._reading:
            asked, self._asked, self._coming = self._asked, set(), None
            return await asyncio.to_thread(users_in, self._tables, asked)


def user_told(ends: Ends) -> int | None:
    """The user whose process holds a socket, as the kernel says; None where there is none, or no
    process holds it any more.

    Raises:
        KernelSilent: it answers no such question.
        OSError: there is no descriptor or memory for it.
        ValueError: an address is none.
    """
    own, other = (_plain(address[0]) for address in ends)
    ports = ends.own[1], ends.other[1]
    family = socket.AF_INET6 if own.version == 6 or other.version == 6 else socket.AF_INET
    asked = _ASKED.pack(
        *(_ASKED.size, _BY_FAMILY, _REQUEST, 1, 0),
        *(family, socket.IPPROTO_TCP, 0, _ANY_STATE),
        *(*map(socket.htons, ports), own.packed, other.packed, 0, _ANY_COOKIE),
    )
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as line:
            line.send(asked)
            told = line.recv(4096, socket.MSG_DONTWAIT)  # it is there when the question is sent
    except OSError as error:
        if error.errno in _NOT_ANSWERED:
            raise KernelSilent from error
        raise
    return _user_in(told, (own, ends.own[1]), (other, ends.other[1]))


def _user_in(told: bytes, own: _Place, other: _Place) -> int | None:
    """From the kernel's answer. It may be of a listening socket with the same address, which is
    another one.
    """
    kind = _HEAD.unpack_from(told)[1]
    if kind == _ERROR:
        failed = -struct.unpack_from("=i", told, _HEAD.size)[0]
        if failed == errno.ENOENT:
            return None
        if failed in _NOT_ANSWERED:
            raise KernelSilent
        raise OSError(failed, "the kernel does not say whose a socket is")
    family, _, _, _, here, there, source, target, _, _, _, _, _, user, inode = _TOLD.unpack_from(
        told, _HEAD.size
    )
    length = 16 if family == socket.AF_INET6 else 4
    found = (
        (_plain(packed[:length]), socket.ntohs(port))
        for packed, port in ((source, here), (target, there))
    )
    return user if inode and tuple(found) == (own, other) else None


def _plain(address: str | bytes) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """One address, however it is written: an IPv4 address as such, also where a socket of IPv6 has
    it.
    """
    found = ipaddress.ip_address(address.partition("%")[0] if isinstance(address, str) else address)
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


def users_in(tables: Sequence[Path], asked: Iterable[Ends]) -> Mapping[Ends, int]:
    """The users of those sockets that tables show, and that a process holds.

    Raises:
        OSError: a table that is there cannot be read now.
        ValueError: an address is none.
    """
    found: dict[Ends, int] = {}
    missing = list(asked)
    for _ in range(LOOKS):
        for table in tables:
            text = _text_of(table) if missing else b""
            found |= {ends: user for ends in missing if (user := _user_of(ends, text)) is not None}
            missing = [ends for ends in missing if ends not in found]
    return found


def _text_of(table: Path) -> bytes:
    try:
        return table.read_bytes()
    except (FileNotFoundError, PermissionError):
        return b""


def _user_of(ends: Ends, text: bytes) -> int | None:
    far = _forms(ends.other)
    for own in _forms(ends.own):
        at = text.find(b": " + own + b" ")
        while at >= 0:
            fields = text[at + 2 : text.find(b"\n", at)].split()
            if len(fields) > 8 and fields[1] in far and fields[8] != b"0":
                return int(fields[6])
            at = text.find(b": " + own + b" ", at + 1)
    return None


def _forms(address: Address) -> tuple[bytes, ...]:
    """An address as the tables write it: words of the machine's byte order in hexadecimal; an IPv4
    address also as one of IPv6.
    """
    host, port = _plain(address[0]), b":%04X" % address[1]
    if isinstance(host, ipaddress.IPv6Address):
        return (_words(host.packed) + port,)
    return _words(host.packed) + port, _words(b"\0" * 10 + b"\xff\xff" + host.packed) + port


def _words(packed: bytes) -> bytes:
    count = len(packed) // 4
    return b"".join(b"%08X" % word for word in struct.unpack(f"={count}I", packed))
