"""Who may say yes to what: the features of a principal that rule ``approve`` sees, and its refusals
as errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordain.contracts.access import LOCAL_PRINCIPAL, NAMELESS, Principal, TokenScope
from ordain.contracts.approvals import WHY_CHARS, ApprovalRule, ApprovalsPolicy
from ordain.errors import Conflict, InvalidRequest, NotFound, OrdainError, Refused
from ordain.rules.approve import ApprovalState, ApproveFacts, ApproveReason

_FORBIDDEN = {ApproveReason.NOT_AN_APPROVER, ApproveReason.OWN_REQUEST, ApproveReason.UNKNOWN}
_REASONS = {reason.value: reason for reason in ApproveReason}


def may_approve(who: Principal) -> bool:
    """Whether a principal approves anything at all: the owner, and a token with the scope."""
    return who.scopes is None or TokenScope.APPROVALS in who.scopes


def roles_of(rows: Sequence[ApprovalRule]) -> tuple[str, ...]:
    """The roles that rows of policy want, all of them."""
    return tuple(sorted({row.role for row in rows if row.role is not None}))


def approver_facts(
    who: Principal,
    rows: Sequence[ApprovalRule],
    policy: ApprovalsPolicy,
    asked_by: tuple[str, ...],
    *,
    apart: bool = False,
) -> dict[str, Any]:
    """What rule ``approve`` is told of a principal; ``policy`` says who has which role,
    ``asked_by`` are those who asked for what ``rows`` are about; ``apart``: what asks wants another
    one.

    Whoever proposed a call in another one's place asked for that, as did who asked for the run.

    Who comes over loopback without a token is somebody of this machine, and nobody knows who: to
    ask so, and to approve as a user of this machine, is no second pair of eyes.
    """
    roles, held = roles_of(rows), policy.held_by(who.name)
    return {
        "scoped": may_approve(who),
        "named": who.name not in NAMELESS,
        "roles": roles,
        "lacks": tuple(role for role in roles if role not in held),
        "own": any(
            who.name == one or (one in NAMELESS and who.name.startswith(LOCAL_PRINCIPAL))
            for one in asked_by
        ),
        "apart": apart or any(row.not_requester for row in rows),
    }


def giving(
    who: Principal,
    rows: Sequence[ApprovalRule],
    policy: ApprovalsPolicy,
    requester: str,
    *,
    apart: bool = False,
) -> ApproveFacts:
    """The facts of rule ``approve`` on a grant: a yes to what is not asked yet, so that it matters
    alone who gives it, for whom and of what ``rows`` are about.

    ``apart``: the profile that holds wants another one than who asks.
    """
    return ApproveFacts(
        state=ApprovalState.OPEN,
        to=ApprovalState.APPROVED,
        at=0,
        expires_at=1,
        same=True,
        **approver_facts(who, rows, policy, (requester,), apart=apart),
    )


def refusal(reason: str, what: str = "") -> OrdainError:
    """A refusal of rule ``approve`` as the error that a face shows; ``what`` names what was asked
    about.
    """
    known = _REASONS[reason]
    code, said = reason.rpartition(".")[2], f"{what}: {known.meaning}" if what else known.meaning
    if known is ApproveReason.NOT_FOUND:
        return NotFound(said, code=code)
    return Refused(said, code=code) if known in _FORBIDDEN else Conflict(said, code=code)


def check_why(why: str) -> None:
    """A reason is short.

    Raises:
        InvalidRequest: ``why_too_long``.
    """
    if len(why) > WHY_CHARS:
        raise InvalidRequest(f"a reason has at most {WHY_CHARS} characters", code="why_too_long")
