"""Access: what a bearer token is, what it may be given, and how much it may ask. Validation only;
rule ``access`` decides.

A token reads ``ordain_<id>_<secret><checksum>``: a public id of twelve characters, 256 random bits,
and six characters by which a mistyped or cut token is told from a wrong one before anything is
looked up. What is stored is its SHA-256 digest: so much chance needs no slow hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from hashlib import sha256
from typing import Annotated
from zlib import crc32

from msgspec import Struct
from pydantic import StringConstraints

from ordain.contracts.conversation import WORKSPACE_ID
from ordain.contracts.nearest import did_you_mean
from ordain.errors import InvalidRequest

TOKEN_NAME = r"^[a-z0-9][a-z0-9._-]{0,47}$"  # noqa: S105 - a pattern
TOKEN_WORKSPACES = 16
"""Most workspaces of one token."""
RATE_MAX = 1_000_000
RATE = r"^[1-9][0-9]{0,6}/(s|min|h)$"
RateText = Annotated[str, StringConstraints(pattern=RATE)]
LIFETIME_DAYS_MAX = 3650

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ID_CHARS, _SECRET_CHARS, _SUM_CHARS = 12, 43, 6
_TOKEN = re.compile(
    rf"ordain_([0-9a-z]{{{_ID_CHARS}}})_([0-9A-Za-z]{{{_SECRET_CHARS}}})([0-9A-Za-z]{{"
    rf"{_SUM_CHARS}}})"
)
_TOKENS = re.compile(f"(?={_TOKEN.pattern})")
_TOKEN_CHARS = len("ordain__") + _ID_CHARS + _SECRET_CHARS + _SUM_CHARS
TOKEN_SHOWN = len("ordain__") + _ID_CHARS
"""So many characters of a token are no secret: they say which one it is."""
_SIGN = "ordain_"
_SHORT = tuple(_SIGN[:end] for end in range(len(_SIGN) - 1, 0, -1))
_BEGINNINGS = "|".join(_SHORT)
_OPEN = re.compile(
    rf"(?:ordain_(?:[0-9a-z]{{0,{_ID_CHARS}}}|[0-9a-z]{{{_ID_CHARS}}}_[0-9A-Za-z]{{0,"
    rf"{_SECRET_CHARS + _SUM_CHARS - 1}}})|{_BEGINNINGS})\Z"
)
_RATE = re.compile(RATE)
_NAME, _WORKSPACE = re.compile(TOKEN_NAME), re.compile(WORKSPACE_ID)
_LIFETIME = re.compile(r"([1-9][0-9]{0,5})(m|h|d)")
_SECONDS = {"s": 1, "min": 60, "h": 3600}
_LIFETIME_SECONDS = {"m": 60, "h": 3600, "d": 86_400}


class TokenScope(StrEnum):
    """What a token may be used for; none implies another, but that conversations read what is
    remembered (``in_conversation``).
    """

    CHAT = "chat"
    RUNS_READ = "runs:read"
    RUNS_OPERATE = "runs:operate"
    VERBS = "verbs"
    PLAN = "plan"
    MEMORY = "memory"
    MEMORY_READ = "memory:read"
    APPROVALS = "approvals"
    MODELS = "models"
    ADMIN = "admin"
    METRICS = "metrics"


class Principal(Struct, frozen=True):
    """Who asks, as journals name them, and the scopes of the token that they ask with: None of the
    owner, who has each.

    ``name`` is ``token:NAME`` of a token.
    """

    name: str
    scopes: tuple[TokenScope, ...] | None = None


def in_conversation(scopes: tuple[TokenScope, ...] | None) -> tuple[TokenScope, ...] | None:
    """What a conversation may use of a token: who may chat has what is remembered read for the
    answer, as everybody has, and files that come along.
    """
    if scopes is None or TokenScope.CHAT not in scopes or TokenScope.MEMORY_READ in scopes:
        return scopes
    return (*scopes, TokenScope.MEMORY_READ)


def lacking(
    needed: Iterable[TokenScope], held: Iterable[TokenScope] | None, *, reads: bool
) -> tuple[TokenScope, ...]:
    """The scopes that are needed and not held, None holding each; what only reads is content with
    ``memory:read`` where ``memory`` is needed.
    """
    if held is None:
        return ()
    has = set(held)
    if reads and TokenScope.MEMORY_READ in has:
        has.add(TokenScope.MEMORY)
    return tuple(sorted(set(needed) - has))


def principal_of(given: Principal | str) -> Principal:
    """Whoever is only named has every scope: a command, an embedder."""
    return given if isinstance(given, Principal) else Principal(given)


TOKEN_PRINCIPAL = "token:"  # noqa: S105 - how a principal's name begins, no password
LOCAL_PRINCIPAL, OWNER = "local:", "local:owner"
LOOPBACK, COMMAND, EMBEDDER = "http:loopback", "local:cli", "local:python"
NAMELESS = frozenset({"", OWNER, LOOPBACK, COMMAND, EMBEDDER})
"""Principals of whom nobody knows more than that they are on this machine: a request without a
token, a command or a program that says nothing of its user.
"""


def local_principal(uid: int) -> str:
    """A user of this machine, as journals and policy name them."""
    return f"{LOCAL_PRINCIPAL}{uid}"


class Rate(Struct, frozen=True, kw_only=True):
    """So many requests in so many seconds, all of which may come at once."""

    requests: int
    seconds: int

    def __str__(self) -> str:
        """As it is written: ``120/min``."""
        unit = next(unit for unit, seconds in _SECONDS.items() if seconds == self.seconds)
        return f"{self.requests}/{unit}"


DEFAULT_RATE = Rate(requests=600, seconds=60)
DEFAULT_FAILED_RATE = Rate(requests=10, seconds=60)


class ParsedToken(Struct, frozen=True, kw_only=True):
    """A token whose checksum fits: its public id, and the digest by which it is known."""

    id: str
    digest: bytes

    def __repr__(self) -> str:
        """Without the digest."""
        return f"ParsedToken({self.id})"


def parse_rate(text: str) -> Rate:
    """``120/min``; the units are s, min and h.

    Raises:
        InvalidRequest: ``invalid_rate``.
    """
    if (
        not _RATE.fullmatch(text.removesuffix("\n"))
        or text.endswith("\n")
        or int(text.partition("/")[0]) > RATE_MAX
    ):
        raise InvalidRequest(
            f"a rate is written 10/s, 120/min or 5000/h, at most {RATE_MAX}", code="invalid_rate"
        )
    requests, _, unit = text.partition("/")
    return Rate(requests=int(requests), seconds=_SECONDS[unit])


def parse_lifetime_s(text: str) -> int:
    """``30d``, ``12h`` or ``45m`` in seconds.

    Raises:
        InvalidRequest: ``invalid_lifetime``.
    """
    found = _LIFETIME.fullmatch(text)
    seconds = int(found[1]) * _LIFETIME_SECONDS[found[2]] if found else 0
    if not 0 < seconds <= LIFETIME_DAYS_MAX * 86_400:
        raise InvalidRequest(
            f"a time is written 45m, 12h or 30d, at most {LIFETIME_DAYS_MAX}d",
            code="invalid_lifetime",
        )
    return seconds


def checked_name(name: str) -> str:
    """A token's name: it stands in journals as ``token:NAME``.

    Raises:
        InvalidRequest: ``invalid_name``.
    """
    if not _NAME.fullmatch(name) or name.endswith("\n"):
        raise InvalidRequest(
            "a token's name is 1 to 48 of a-z, 0-9, dot, dash and underscore, the first a letter "
            "or digit",
            code="invalid_name",
        )
    return name


def checked_workspaces(names: tuple[str, ...]) -> tuple[str, ...]:
    """The workspaces of a token, each once, in order.

    Raises:
        InvalidRequest: ``invalid_workspace``: one that is none, or too many, or none at all.
    """
    found = tuple(dict.fromkeys(names))
    if not 1 <= len(found) <= TOKEN_WORKSPACES or not all(
        _WORKSPACE.fullmatch(name) and not name.endswith("\n") for name in found
    ):
        raise InvalidRequest(
            f"a token has 1 to {TOKEN_WORKSPACES} workspaces, each of a-z, 0-9, dot, dash and "
            "underscore",
            code="invalid_workspace",
        )
    return found


def checked_scopes(names: tuple[str, ...]) -> tuple[TokenScope, ...]:
    """The scopes of a token, each once, in their own order; ``all`` is every one.

    Raises:
        InvalidRequest: ``invalid_scope``: one that is none, or none at all.
    """
    known = {str(scope) for scope in TokenScope}
    unknown = [name for name in names if name not in known | {"all"}]
    if not names or unknown:
        meant = did_you_mean(unknown[0], (*TokenScope, "all")) if unknown else ""
        raise InvalidRequest(
            f"the scopes are {', '.join(TokenScope)}, or all{meant}", code="invalid_scope"
        )
    return tuple(scope for scope in TokenScope if scope in names or "all" in names)


def mint_token(chance: bytes) -> str:
    """A new token out of at least 40 bytes of chance.

    Raises:
        ValueError: less chance than that.
    """
    if len(chance) < 40:
        raise ValueError("a token is made of 40 bytes of chance")
    number = int.from_bytes(chance[:8])
    name = "".join(_ALPHABET[digit].lower() for digit in _digits(number, 36, _ID_CHARS))
    body = f"ordain_{name}_{_base62(int.from_bytes(chance[8:40]), _SECRET_CHARS)}"
    return body + _checksum(body)


def parse_token(text: str) -> ParsedToken | None:
    """A well-formed token; None for whatever is none, mistyped or cut."""
    found = _TOKEN.fullmatch(text)
    if found is None or _checksum(text[:-_SUM_CHARS]) != found[3]:
        return None
    return ParsedToken(id=found[1], digest=sha256(text.encode()).digest())


def holds_token(text: str) -> bool:
    """Whether something that has a token's form stands anywhere in a text."""
    return _TOKEN.search(text) is not None


def resembles_token(text: str) -> bool:
    """Whether somebody may have meant one of our tokens, whole or not: a cut or mistyped one is
    told, and taken for nothing else.
    """
    return _SIGN.rstrip("_") in text.lower()


def tokens_in(text: str) -> list[tuple[int, int, int]]:
    """Where whatever has a token's form stands in a text: where it begins, where its secret begins,
    where it ends. Two may share characters.
    """
    return (
        [(found.start(), found.start(2), found.end(3)) for found in _TOKENS.finditer(text)]
        if _SIGN in text
        else []
    )


def may_hold_token(text: str) -> bool:
    """Whether something that has a token's form may stand in a text, or begin at its end."""
    return _SIGN in text or text.endswith(_SHORT)


def open_token(text: str) -> int:
    """How many characters at the end of a text may be the beginning of a token."""
    found = _OPEN.search(text, max(0, len(text) - _TOKEN_CHARS))
    return 0 if found is None else len(text) - found.start()


def _checksum(body: str) -> str:
    return _base62(crc32(body.encode()), _SUM_CHARS)


def _base62(number: int, length: int) -> str:
    return "".join(_ALPHABET[digit] for digit in _digits(number, 62, length))


def _digits(number: int, base: int, length: int) -> list[int]:
    found: list[int] = []
    for _ in range(length):
        number, digit = divmod(number, base)
        found.append(digit)
    return found[::-1]
