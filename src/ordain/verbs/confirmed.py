"""Which declarations an operator has confirmed: a small file of the data folder,
``confirmed-verbs.json``, written whole or not at all.

A verb's effect, roles and trust are what its file says, so somebody looks at it once: what is
confirmed is a digest over all that the verb is made of (``declaration_digest``), and what changes
is unconfirmed again. The file is read only where nobody else can have written it: without it, or
where it cannot be used, nothing is confirmed.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ordain.contracts.verbs import VERB_ID
from ordain.errors import ConfigurationError
from ordain.owned_files import not_owned

FILE = "confirmed-verbs.json"
FILE_BYTES = 4 * 1024 * 1024
CODE = "invalid_confirmations"
_WHOLE_ID = VERB_ID.removesuffix("$") + r"\Z"
"""A ``$`` stands before a last line end too."""


class Confirmation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A declaration, by its digest, that somebody confirmed, and when (RFC 3339)."""

    digest: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    by: Annotated[str, Meta(max_length=200)]
    at: Annotated[str, Meta(max_length=40)]


class _Kept(Struct, frozen=True, forbid_unknown_fields=True):
    version: Annotated[int, Meta(ge=1, le=1)]
    verbs: dict[Annotated[str, Meta(pattern=_WHOLE_ID, max_length=128)], Confirmation]


_DECODER = msgspec.json.Decoder(_Kept)


def declaration_digest(declared: Mapping[str, Any], code: Mapping[str, str]) -> str:
    """Of a declaration as it is written, and of the templates or code that belong to it, by name;
    neither comments nor the order of keys count.
    """
    return hashlib.sha256(msgspec.json.encode([declared, code], order="deterministic")).hexdigest()


def read_confirmed(file: Path) -> Mapping[str, Confirmation]:
    """What is confirmed, by verb; nothing where there is no such file.

    Raises:
        ConfigurationError: somebody else may have written it, or it is none of ours.
    """
    try:
        encoded = _bytes(file)
        return {} if encoded is None else _DECODER.decode(encoded).verbs
    except OSError as error:
        raise _refused(file, f"cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        # msgspec's errors and a text that is no UTF-8 are ValueErrors
        raise _refused(file, f"no file of confirmations ({type(error).__name__})") from error


def write_confirmed(file: Path, confirmed: Mapping[str, Confirmation]) -> None:
    """Put a whole new file in the place of the one before; its owner's alone."""
    body = msgspec.json.format(msgspec.json.encode(_Kept(1, dict(confirmed)), order="sorted"))
    descriptor, name = tempfile.mkstemp(prefix=".ordain-", dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(body + b"\n")
            opened.flush()
            os.fsync(opened.fileno())
        Path(name).replace(file)
    except BaseException:  # a full disk, an interrupt: nothing of ours is left behind
        Path(name).unlink(missing_ok=True)
        raise


def _bytes(file: Path) -> bytes | None:
    """Of a plain file within its bound; no link is followed, and nothing is waited for."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as opened:
        if not S_ISREG(os.fstat(descriptor).st_mode):
            raise _refused(file, "not a regular file")
        if fault := not_owned(file):
            raise _refused(file, f"not read: {fault}")
        found = opened.read(FILE_BYTES + 1)
    if len(found) > FILE_BYTES:
        raise _refused(file, f"larger than {FILE_BYTES} bytes")
    return found


def _refused(file: Path, what: str) -> ConfigurationError:
    message = f"{file}: {what}; until it is mended no verb of your own counts as confirmed"
    return ConfigurationError(message, code=CODE, details={"file": str(file), "line": None})
