"""What a decision that comes out otherwise means to whoever answers for the policy: more is
allowed, less is, or a run is judged otherwise.
"""

from __future__ import annotations

from enum import StrEnum

from ordain.rules.authorize import Allow, Deny, NeedsApproval
from ordain.rules.entry import Entered, EntryRefused
from ordain.rules.scope import Scope, ScopeRefused
from ordain.rules.verdict import Judged

COMPARED = "compared"
"""The verdict of what was gone through; no other says anything of how it would come out."""
_FREEDOM: dict[type[object], int] = {
    Deny: 0,
    NeedsApproval: 1,
    Allow: 2,
    ScopeRefused: 0,
    Scope: 2,
    EntryRefused: 0,
    Entered: 2,
}
"""How much an outcome lets happen: of a call, of a run with the verbs that it asks for, of a turn
with its verb.
"""


class PolicyChange(StrEnum):
    """What the new decision changes. A yes that is needed where none was is less, one that is
    needed where nothing helped is more.
    """

    NEW_ALLOW = "new-allow"
    NEW_DENY = "new-deny"
    VERDICT = "verdict"
    FEWER_TOOLS = "fewer-tools"
    MORE_TOOLS = "more-tools"
    OTHER = "other"


def change_of(before: object, after: object) -> PolicyChange:
    """What a decision's outcome changes where another one takes its place. Both are about the same
    thing.
    """
    was, now = _FREEDOM.get(type(before)), _FREEDOM.get(type(after))
    if was is not None and now is not None and was != now:
        return PolicyChange.NEW_ALLOW if now > was else PolicyChange.NEW_DENY
    if (
        isinstance(before, Judged)
        and isinstance(after, Judged)
        and before.verdict is not after.verdict
    ):
        return PolicyChange.VERDICT
    had, has = _tools(before), _tools(after)
    if had is None or has is None or had == has:
        return PolicyChange.OTHER
    return PolicyChange.FEWER_TOOLS if has < had else PolicyChange.MORE_TOOLS


def refused_verb(*outcomes: object) -> str:
    """The verb that one of the outcomes says cannot be had; "" where none does."""
    return next(
        (outcome.verb for outcome in outcomes if isinstance(outcome, ScopeRefused | EntryRefused)),
        "",
    )


def _tools(outcome: object) -> frozenset[str] | None:
    match outcome:
        case Scope(verbs=verbs):
            return frozenset(verbs)
        case Entered(tools=tools):
            return frozenset(tools)
        case _:
            return None
