"""The rules of this build by name: what reads recorded decisions back finds here what they mean. A value that is passed in; a kind adds its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ordain.rules.access import ACCESS
from ordain.rules.answer import ANSWER
from ordain.rules.attach import ATTACH
from ordain.rules.authorize import AUTHORIZE
from ordain.rules.budget import CARVE, RESERVE, SETTLE
from ordain.rules.completeness import COMPLETENESS
from ordain.rules.decision import Rule
from ordain.rules.entry import ENTRY
from ordain.rules.fallback import FALLBACK
from ordain.rules.hedge import HEDGE
from ordain.rules.history import HISTORY
from ordain.rules.lane import LANE
from ordain.rules.limits import LIMITS
from ordain.rules.outcome import OUTCOME
from ordain.rules.output import OUTPUT
from ordain.rules.proceed import PROCEED
from ordain.rules.rate import RATE
from ordain.rules.recall import RECALL
from ordain.rules.retry import RETRY
from ordain.rules.route import ROUTE
from ordain.rules.scope import SCOPE
from ordain.rules.step import REASK, STEP
from ordain.rules.suggestion import SUGGESTION
from ordain.rules.supervise import SUPERVISE
from ordain.rules.unrecovered import UNRECOVERED

Rulebook = Mapping[str, Rule[Any, Any, Any]]

SHIPPED: tuple[Rule[Any, Any, Any], ...] = (
    *(STEP, REASK, PROCEED, LIMITS, SCOPE, LANE, FALLBACK, HEDGE, RESERVE, SETTLE, CARVE, AUTHORIZE, OUTPUT, RETRY),
    *(ATTACH, ANSWER, SUGGESTION, ENTRY, OUTCOME, ROUTE, COMPLETENESS, RECALL, SUPERVISE, UNRECOVERED, HISTORY, ACCESS, RATE),
)


def rulebook(more: Iterable[Rule[Any, Any, Any]] = ()) -> Rulebook:
    """Every rule of this build and ``more``, by name.

    Raises:
        ValueError: two rules have one name, or one code means two things.
    """
    book: dict[str, Rule[Any, Any, Any]] = {}
    meanings: dict[str, object] = {}
    for rule in (*SHIPPED, *more):
        if book.setdefault(rule.name, rule) is not rule:
            raise ValueError(f"there are two rules {rule.name}")
        for reason in (reason for reasons in rule.reasons for reason in reasons):
            if meanings.setdefault(reason.value, reason) is not reason:
                raise ValueError(f"reason {reason.value} of rule {rule.name} is another rule's")
    return book
