"""Rule ``access``: may this caller make this request.

Every request meets it, before anything is read of it but its address and headers. A token opens
what its scopes name, in its own workspaces, until it expires or is revoked. Without a token only a
caller on this machine is let in, and only where none is asked for: there the data folder's owner
speaks. A token that is sent counts, also where none is asked for: whoever sends a wrong one is
refused, never taken for the owner.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

from ordain.contracts.access import TokenScope
from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason


class AccessReason(Reason):
    """Why a caller is admitted or is not."""

    PUBLIC = "access.public", "The address is open to everybody."
    LOCAL = "access.local", "A caller on this machine, where no token is asked for."
    OWNER = "access.owner", "The caller holds the key that the server left in its data folder."
    TOKEN = "access.token", "A live token that has the scope and the workspace."
    MISSING = "access.missing", "A token is asked for and none was sent."
    MALFORMED = "access.malformed", "What was sent is no token: mistyped, cut or of another kind."
    UNKNOWN = "access.unknown", "No token like this was ever given, or its secret is another."
    REVOKED = "access.revoked", "The token was revoked, or replaced by a rotation."
    EXPIRED = "access.expired", "The token's time is over."
    SCOPE = "access.scope", "The token has none of the scopes that the address asks for."
    WORKSPACE = "access.workspace", "The token does not belong to the workspace."


class Presented(StrEnum):
    """What a request brings to be known by."""

    NOTHING = "nothing"
    MALFORMED = "malformed"
    UNKNOWN = "unknown"
    TOKEN = "token"  # noqa: S105 - a word, no password
    OWNER = "owner"


class Refusal(StrEnum):
    """Whether knowing the caller would help."""

    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"


class Admitted(Struct, frozen=True, tag="admitted"):
    """The request may go on, as ``presented`` says: the token's, the owner's, or of nobody in
    particular.
    """

    presented: Presented


class NotAdmitted(Struct, frozen=True, tag="not_admitted"):
    """The request is refused."""

    refusal: Refusal


class AccessFacts(Struct, frozen=True, kw_only=True):
    """The token's facts, and what the request asks for. Times in microseconds since 1970 UTC.

    ``asked`` are scopes any of which will do; with none, any token will. ``workspace`` is "" where
    the address is in none. ``demanded``: a token is asked of whoever this is: of everybody, or of a
    process of another user of this machine and of whoever comes through a proxy. ``public``: the
    address is open. The token's facts count only where ``presented`` is ``token``.
    """

    presented: Presented
    demanded: bool
    public: bool = False
    asked: tuple[TokenScope, ...] = ()
    workspace: str = ""
    at: int = 0
    scopes: tuple[TokenScope, ...] = ()
    workspaces: tuple[str, ...] = ()
    expires_at: int | None = None
    revoked_at: int | None = None


def may_speak_for_users(presented: Presented, scopes: tuple[TokenScope, ...]) -> bool:
    """Whether what this caller says of a user counts as said by that user: the owner's word does,
    and a token's that may send users' messages.
    """
    return presented is not Presented.TOKEN or TokenScope.CHAT in scopes


_UNAUTHENTICATED = NotAdmitted(Refusal.UNAUTHENTICATED)
_FORBIDDEN = NotAdmitted(Refusal.FORBIDDEN)


def decide_access(
    facts: AccessFacts, inputs: None, policy: Policy
) -> Decision[Admitted | NotAdmitted]:
    """Who is refused before what for: a wrong token says nothing of what a right one would open."""
    if facts.public:
        return Decision(outcome=Admitted(Presented.NOTHING), reason=AccessReason.PUBLIC)
    match facts.presented:
        case Presented.OWNER:
            return Decision(outcome=Admitted(Presented.OWNER), reason=AccessReason.OWNER)
        case Presented.MALFORMED:
            return Decision(outcome=_UNAUTHENTICATED, reason=AccessReason.MALFORMED)
        case Presented.UNKNOWN:
            return Decision(outcome=_UNAUTHENTICATED, reason=AccessReason.UNKNOWN)
        case Presented.NOTHING if facts.demanded:
            return Decision(outcome=_UNAUTHENTICATED, reason=AccessReason.MISSING)
        case Presented.NOTHING:
            return Decision(outcome=Admitted(Presented.NOTHING), reason=AccessReason.LOCAL)
        case Presented.TOKEN:
            return _of_token(facts)


def _of_token(facts: AccessFacts) -> Decision[Admitted | NotAdmitted]:
    if facts.revoked_at is not None and facts.revoked_at <= facts.at:
        return Decision(outcome=_UNAUTHENTICATED, reason=AccessReason.REVOKED)
    if facts.expires_at is not None and facts.expires_at <= facts.at:
        return Decision(outcome=_UNAUTHENTICATED, reason=AccessReason.EXPIRED)
    if not facts.scopes or (facts.asked and not set(facts.asked) & set(facts.scopes)):
        return Decision(outcome=_FORBIDDEN, reason=AccessReason.SCOPE)
    if facts.workspace and facts.workspace not in facts.workspaces:
        return Decision(outcome=_FORBIDDEN, reason=AccessReason.WORKSPACE)
    return Decision(outcome=Admitted(Presented.TOKEN), reason=AccessReason.TOKEN)


ACCESS: Rule[AccessFacts, None, Any] = Rule(
    name="access", outcome=Admitted | NotAdmitted, apply=decide_access, reasons=(AccessReason,)
)
