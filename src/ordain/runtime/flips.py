"""Decisions that come out otherwise than they are on record: under another policy, or another
wording.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from ordain.journal.records import ENCODER, DecisionBody
from ordain.rules.authorize import AUTHORIZE, AuthorizeFacts
from ordain.rules.decision import Decision, Rule
from ordain.runtime.policy_changes import PolicyChange, change_of, refused_verb
from ordain.runtime.replay import short


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A decision that comes out otherwise. ``exact`` says that it certainly would have; otherwise
    it is bounded.

    ``verb`` is the one that a call is about ("": the decision is about no call), ``change`` what
    the new one lets happen or not.
    """

    address: str
    rule: str
    recorded: str
    now: str
    exact: bool
    verb: str = ""
    change: PolicyChange = PolicyChange.OTHER


class _OfCall(Struct):
    """What of the facts of rule ``authorize`` says which call they are of."""

    call: str


def about_call(
    rule: Rule[Any, Any, Any], facts: Struct, recorded: DecisionBody | None = None
) -> tuple[str, str]:
    """The rule, and the verb of the call that it decides about; "" of none, and where the decision
    on record was about another call.
    """
    if not isinstance(facts, AuthorizeFacts):
        return rule.name, ""
    same = recorded is None or msgspec.json.decode(recorded.facts, type=_OfCall).call == facts.call
    return rule.name, facts.verb if same else ""


def as_recorded(recorded: DecisionBody, anew: Decision[Any]) -> bool:
    """Whether the one would be recorded as the other was. Where not they may still mean the same: a
    build before may have left out what this one says.
    """
    return recorded.reason == anew.reason and bytes(recorded.outcome) == ENCODER.encode(
        anew.outcome
    )


def note(
    flips: list[Flip],
    recorded: Decision[Any],
    anew: Decision[Any],
    about: tuple[str, str],
    *,
    exact: bool,
) -> None:
    """Keep a decision that came out otherwise; ``about`` is its rule, and the verb of a call."""
    if recorded.outcome != anew.outcome or recorded.reason != anew.reason:
        (before, after), (rule, verb) = (
            (short(decision.reason, decision.outcome) for decision in (recorded, anew)),
            about,
        )
        another_call = rule == AUTHORIZE.name and not verb
        change = PolicyChange.OTHER if another_call else change_of(recorded.outcome, anew.outcome)
        named = verb or refused_verb(recorded.outcome, anew.outcome)
        flips.append(
            Flip(
                address=recorded.address,
                rule=rule,
                recorded=before,
                now=after,
                exact=exact,
                verb=named,
                change=change,
            )
        )
