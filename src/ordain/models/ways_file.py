"""What was learnt of models' endpoints, in a small file of the data folder: written whole or not at
all, read as what anybody may have written.

A file and no table: it is knowledge about the world, like a cache, which no backup needs, and which
a command reads beside a running server.
"""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from ordain.ports.ways import LearntWays

LOG = logging.getLogger("ordain.models")
FILE = "model-ways.json"
FILE_BYTES = 1024 * 1024
PROFILES_KEPT = 1000


class _Kept(Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    profiles: dict[str, LearntWays]


_DECODER = msgspec.json.Decoder(_Kept)


class WaysFile:
    """Implements ``WaysStore`` with one file; ``home`` need not be there yet."""

    def __init__(self, home: Path) -> None:
        """Nothing is read or made."""
        self._file = home / FILE

    def read(self) -> Mapping[str, LearntWays]:
        """See ``WaysStore.read``."""
        try:
            kept = _DECODER.decode(_bytes(self._file))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            # msgspec's errors and a text that is no UTF-8 are ValueErrors
            LOG.warning(
                "%s is not read (%s): what was learnt is learnt again", FILE, type(error).__name__
            )
            return {}
        return kept.profiles if kept.version == 1 and len(kept.profiles) <= PROFILES_KEPT else {}

    def write(self, learnt: Mapping[str, LearntWays]) -> None:
        """See ``WaysStore.write``."""
        body = msgspec.json.format(msgspec.json.encode(_Kept(1, dict(learnt)), order="sorted"))
        # its owner's alone
        descriptor, name = tempfile.mkstemp(prefix=".ordain-", dir=self._file.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(body + b"\n")
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._file)
        except BaseException:  # a full disk, an interrupt: nothing of ours is left behind
            Path(name).unlink(missing_ok=True)
            raise


def _bytes(path: Path) -> bytes:
    """Of a plain file within its bound; no link is followed, and nothing is waited for.

    Raises:
        OSError, ValueError: it is none, or not there.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("no plain file")
        found = file.read(FILE_BYTES + 1)
    if len(found) > FILE_BYTES:
        raise ValueError("too large")
    return found
