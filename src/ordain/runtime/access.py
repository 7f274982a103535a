"""Who may make a request: facts gathered, rules asked, the answer carried out and noted.

Tokens are looked up in the storage at every request, so a revocation holds for the next one,
whoever made it. What is in memory may be lost: the buckets of the rates, which a restart fills, and
the last seconds of what was noted, which is written in batches and never beside a request.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Mapping
from hmac import compare_digest
from typing import assert_never

from msgspec import Struct

from ordain.contracts.access import (
    DEFAULT_FAILED_RATE,
    DEFAULT_RATE,
    OWNER,
    TOKEN_PRINCIPAL,
    ParsedToken,
    Rate,
    TokenScope,
    parse_token,
)
from ordain.contracts.moments import DAY_US
from ordain.contracts.policy import Policy
from ordain.errors import OrdainError, Refused, Transient, Unauthenticated
from ordain.ports.access import AuditEvent, KnownToken, Noted
from ordain.ports.store import Operation
from ordain.rules.access import (
    AccessFacts,
    AccessReason,
    Admitted,
    NotAdmitted,
    Presented,
    Refusal,
    decide_access,
    may_speak_for_users,
)
from ordain.rules.decision import Decision
from ordain.rules.rate import Granted, RateFacts, RateReason, decide_rate
from ordain.rules.reasons import Reason
from ordain.runtime.services import Services

FLUSH_S = 5.0
"""Longest time that a use or a refusal is noted in memory only."""
ADDRESSES_KEPT = 4096


class Exposure(Struct, frozen=True, kw_only=True):
    """How open a server is. ``demanded``: every request but to a public address needs a token.
    ``owner`` is the digest of the key in the data folder.

    ``hosts`` are the names it answers to besides loopback's where a token is demanded; none: any.
    ``failed_rate`` is how often one address may fail. ``origins`` are the web origins whose pages
    may ask besides this server's own. ``proxies`` are the addresses and networks whose word on
    where a request comes from counts.
    """

    demanded: bool = False
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    owner: bytes | None = None
    rate: Rate = DEFAULT_RATE
    failed_rate: Rate = DEFAULT_FAILED_RATE

    def __repr__(self) -> str:
        """Without the digest."""
        return f"Exposure(demanded={self.demanded}, hosts={self.hosts})"


ON_LOOPBACK = Exposure()
"""A server on this machine that asks nobody for a token."""


class AccessRequest(Struct, frozen=True, kw_only=True):
    """What a request asks for. ``credential`` is what it brings, None where it brings nothing;
    ``workspace`` is None where it names none.

    ``stranger``: it comes from a process of another user of this machine, or through a proxy; of
    such a token is asked everywhere.
    """

    credential: str | None
    scopes: tuple[TokenScope, ...]
    in_workspace: bool
    workspace: str | None
    default_workspace: str
    address: str
    public: bool = False
    stranger: bool = False

    def __repr__(self) -> str:
        """Without the credential."""
        return f"Asked({self.scopes}, {self.workspace})"

    @property
    def label(self) -> str:
        """How the audit names what is asked for."""
        return " or ".join(self.scopes) or "any"


class Caller(Struct, frozen=True, kw_only=True):
    """Who was let in: ``principal`` is "" for somebody on this machine; ``workspace`` is where the
    request is, "" where it said so itself.

    ``speaks``: what it says of a user counts as that user's own word. ``scopes``: of its token,
    None of whoever needs none.
    """

    principal: str = ""
    token: str = ""
    workspace: str = ""
    speaks: bool = True
    scopes: tuple[TokenScope, ...] | None = None


NOBODY = Caller()


class _Seen(Struct):
    """A line of the audit in the making."""

    address: str
    first_at: int
    last_at: int
    count: int


_Lines = dict[tuple[int, AuditEvent, str, str, str], _Seen]
"""By day, event, token, what was asked for, and reason."""


class _Level(Struct):
    level: int
    at: int


class _Buckets:
    """The buckets of one kind; beyond ``most`` the one that was used first goes, and is full when
    it comes back.
    """

    def __init__(self, most: int) -> None:
        self._levels: dict[str, _Level] = {}
        self._most = most

    def look(self, key: str, rate: Rate, now: int) -> tuple[int, int | None]:
        """The level after one more, and None; or the level, and the seconds to wait."""
        known = self._levels.get(key)
        facts = RateFacts(
            requests=rate.requests,
            seconds=rate.seconds,
            level=None if known is None else known.level,
            elapsed_us=0 if known is None else now - known.at,
        )
        outcome = decide_rate(facts, None, _POLICY).outcome
        return (
            (outcome.level, None)
            if isinstance(outcome, Granted)
            else (outcome.level, outcome.retry_after_s)
        )

    def take(self, key: str, rate: Rate, now: int) -> int | None:
        """Take one out; the seconds to wait where there is none."""
        level, wait = self.look(key, rate, now)
        self._levels.pop(key, None)
        self._levels[key] = _Level(level, now)
        if len(self._levels) > self._most:
            del self._levels[next(iter(self._levels))]
        return wait


_POLICY = Policy(version=1)
"""The rules of access look at no policy."""


class Access:
    """The one door of every request. Belongs to one event loop."""

    def __init__(self, services: Services) -> None:
        """Reads tokens through their port; notes through the one writer."""
        self._services = services
        self._by_token = _Buckets(ADDRESSES_KEPT)
        self._failed = _Buckets(ADDRESSES_KEPT)
        self._noted: _Lines = {}

    async def admit(self, asked: AccessRequest, exposure: Exposure) -> Caller:
        """Let a request in.

        Raises:
            Unauthenticated: it must say who asks, and does not, or wrongly.
            Refused: 403 ``forbidden``; 429 ``rate_limited`` with the seconds to wait.
        """
        now = self._services.clock.now()
        parsed = None if asked.credential is None else parse_token(asked.credential)
        known = await self._known(parsed)
        presented = self._presented(asked, parsed, known, exposure)
        guessed = presented in (Presented.MALFORMED, Presented.UNKNOWN) and not asked.public
        if guessed:
            self._check_guessing(asked, exposure, now)
        workspace = _workspace(asked, known if presented is Presented.TOKEN else None)
        decision = decide_access(
            _facts(asked, exposure, presented, known, workspace, now), None, _POLICY
        )
        name = known.token.name if known is not None and presented is Presented.TOKEN else ""
        match decision.outcome:
            case Admitted(Presented.TOKEN):
                self._spend(name, asked, known, exposure, now)
                self._note(AuditEvent.USED, name, asked, decision.reason, now)
                speaks = may_speak_for_users(presented, () if known is None else known.token.scopes)
                where = workspace if asked.workspace is None else ""
                scopes = None if known is None else known.token.scopes
                return Caller(
                    principal=TOKEN_PRINCIPAL + name,
                    token=name,
                    workspace=where,
                    speaks=speaks,
                    scopes=scopes,
                )
            case Admitted(Presented.OWNER):
                return Caller(principal=OWNER)
            case Admitted():
                return NOBODY
            case NotAdmitted():
                if decision.outcome.refusal is Refusal.FORBIDDEN:
                    self._spend(name, asked, known, exposure, now)
                elif guessed:
                    self._failed.take(_network(asked.address), exposure.failed_rate, now)
                self._note(AuditEvent.REFUSED, name, asked, decision.reason, now)
                raise _refusal(decision, asked, workspace)
            case _:
                assert_never(decision.outcome)

    async def still(self, asked: AccessRequest, exposure: Exposure) -> bool:
        """Whether what was let in would be now; nothing is spent or noted."""
        now = self._services.clock.now()
        parsed = None if asked.credential is None else parse_token(asked.credential)
        known = await self._known(parsed)
        presented = self._presented(asked, parsed, known, exposure)
        workspace = _workspace(asked, known if presented is Presented.TOKEN else None)
        outcome = decide_access(
            _facts(asked, exposure, presented, known, workspace, now), None, _POLICY
        ).outcome
        return isinstance(outcome, Admitted)

    def _check_guessing(self, asked: AccessRequest, exposure: Exposure, now: int) -> None:
        """An address that has guessed too often has to wait before its next wrong guess; a secret
        that somebody was given is none: neighbours go on.
        """
        _, wait = self._failed.look(_network(asked.address), exposure.failed_rate, now)
        if wait is not None:
            self._note(AuditEvent.REFUSED, "", asked, RateReason.SPENT, now)
            raise _limited("too many tokens from this address were wrong", wait)

    async def _known(self, parsed: ParsedToken | None) -> KnownToken | None:
        known = None if parsed is None else await self._services.tokens.find(parsed.id)
        return (
            known
            if parsed is not None
            and known is not None
            and compare_digest(known.digest, parsed.digest)
            else None
        )

    @staticmethod
    def _presented(
        asked: AccessRequest,
        parsed: ParsedToken | None,
        known: KnownToken | None,
        exposure: Exposure,
    ) -> Presented:
        if asked.credential is None:
            return Presented.NOTHING
        if parsed is None:
            return Presented.MALFORMED
        if exposure.owner is not None and compare_digest(exposure.owner, parsed.digest):
            return Presented.OWNER
        return Presented.UNKNOWN if known is None else Presented.TOKEN

    def _spend(
        self,
        name: str,
        asked: AccessRequest,
        known: KnownToken | None,
        exposure: Exposure,
        now: int,
    ) -> None:
        rate = (known.token.rate if known is not None else None) or exposure.rate
        wait = self._by_token.take(name, rate, now)
        if wait is not None:
            self._note(AuditEvent.REFUSED, name, asked, RateReason.SPENT, now)
            raise _limited(f"token {name} may ask {rate}", wait)

    # --- noting -----------------------------------------------------------------------------------

    def _note(
        self, event: AuditEvent, token: str, asked: AccessRequest, reason: Reason, now: int
    ) -> None:
        key = (now // DAY_US, event, token, asked.label, reason.value)
        seen = self._noted.get(key)
        if seen is None:
            self._noted[key] = _Seen(asked.address, now, now, 1)
        else:
            seen.address, seen.last_at, seen.count = asked.address, now, seen.count + 1

    async def flush(self) -> None:
        """Write what was noted, as one unit; what cannot be written, for whatever reason, is kept
        for the next time.
        """
        noted = self._noted
        if not noted:
            return
        lines = [
            Noted(
                day=day,
                event=event,
                token=token,
                asked=asked,
                reason=reason,
                address=seen.address,
                first_at=seen.first_at,
                last_at=seen.last_at,
                count=seen.count,
            )
            for (day, event, token, asked, reason), seen in noted.items()
        ]
        written = self._services.store.submit(Operation(name="note_access", args={"noted": lines}))
        self._noted = {}
        try:
            await asyncio.shield(written)
        except asyncio.CancelledError:
            # whoever gives up waiting does not undo the writing, which may still fail
            written.add_done_callback(
                lambda done: self._keep(noted) if done.cancelled() or done.exception() else None
            )
            raise
        except Transient:
            self._keep(noted)
        except Exception:
            # a defect, which somebody else tells of: what was noted is not to be lost with it
            self._keep(noted)
            raise

    def _keep(self, noted: _Lines) -> None:
        """Note again what was not written, before what was noted meanwhile."""
        for key, seen in noted.items():
            again = self._noted.get(key)
            if again is None:
                self._noted[key] = seen
            else:
                again.first_at, again.count = seen.first_at, again.count + seen.count

    async def keep_flushing(self) -> None:
        """For ever: write what was noted every few seconds."""
        while True:
            await asyncio.sleep(FLUSH_S)
            await self.flush()


def _workspace(asked: AccessRequest, known: KnownToken | None) -> str:
    """Where a request is: where it says, else where its token is at home if that is one place, else
    the default.
    """
    if asked.workspace is not None:
        return asked.workspace
    if known is not None and len(known.token.workspaces) == 1:
        return known.token.workspaces[0]
    return asked.default_workspace


def _facts(
    asked: AccessRequest,
    exposure: Exposure,
    presented: Presented,
    known: KnownToken | None,
    workspace: str,
    now: int,
) -> AccessFacts:
    token = known.token if known is not None and presented is Presented.TOKEN else None
    ends = (
        ()
        if known is None or token is None
        else tuple(end for end in (token.revoked_at, known.secret_ends_at) if end is not None)
    )
    return AccessFacts(
        presented=presented,
        demanded=exposure.demanded or asked.stranger,
        public=asked.public,
        asked=asked.scopes,
        workspace=workspace if asked.in_workspace or asked.workspace is not None else "",
        at=now,
        scopes=() if token is None else token.scopes,
        workspaces=() if token is None else token.workspaces,
        expires_at=None if token is None else token.expires_at,
        revoked_at=min(ends, default=None),
    )


_SAID: Mapping[Reason, str] = {
    AccessReason.MISSING: (
        "send Authorization: Bearer with a token; `ordain token create` on the server's machine "
        "makes one"
    ),
    AccessReason.REVOKED: "the token was revoked or replaced",
    AccessReason.EXPIRED: "the token has expired",
}


def _refusal(
    decision: Decision[Admitted | NotAdmitted], asked: AccessRequest, workspace: str
) -> OrdainError:
    if decision.reason is AccessReason.SCOPE:
        return Refused(f"the token has not the scope {asked.label}", code="forbidden")
    if decision.reason is AccessReason.WORKSPACE:
        return Refused(
            f"the token does not belong to workspace {workspace[:64]}; name one of its own",
            code="forbidden",
        )
    return Unauthenticated(_SAID.get(decision.reason, "the token is not good"))


def _limited(message: str, wait_s: int) -> Refused:
    return Refused(
        f"{message}; come back in {wait_s} s", code="rate_limited", status=429, retry_after_s=wait_s
    )


def _network(address: str) -> str:
    """Whose address counts as one: an IPv4 address, the /64 of an IPv6 address, whatever else as it
    is.
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(found) >> 64 << 64, 64)))
    return str(found)
