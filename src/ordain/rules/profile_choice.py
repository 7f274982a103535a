"""Rule ``profile_choice``: whether whoever begins a session may bind it to a pinned profile by
naming it (PRF-01).

Pins are the operator's. A caller chooses only among those that policy offers
(``profile.selectable``), only for a session that has not begun, and never against a pin that the
session has: what an operator pinned stays pinned, and a conversation is served to its end as it
began.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason


class ProfileChoiceReason(Reason):
    """Why a session is bound to the profile that its caller names, or not."""

    CHOSEN = (
        "profile_choice.chosen",
        "Policy offers the profile and the session begins: it is pinned to it.",
    )
    HOLDS = "profile_choice.holds", "The session is pinned to this profile already."
    NOT_OFFERED = (
        "profile_choice.not_offered",
        "There is no profile of this name that policy lets a caller choose.",
    )
    PINNED = "profile_choice.pinned", "The session is pinned to another profile."
    BEGUN = (
        "profile_choice.begun",
        "The session has begun without this profile: it is chosen with a new one.",
    )


class Binding(StrEnum):
    """What becomes of a choice."""

    PINS = "pins"
    STANDS = "stands"
    REFUSED = "refused"


class ProfileChoice(Struct, frozen=True, kw_only=True, tag="profile_choice"):
    """What becomes of the choice."""

    binding: Binding


class ProfileChoiceFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``offered``: policy offers the profile that is ``named``, and it is there. ``begun``:
    something was said in the session. ``pinned``: the profile of the session's own pin.
    """

    named: str
    offered: bool = False
    begun: bool = False
    pinned: str = ""


def decide_profile_choice(
    facts: ProfileChoiceFacts, inputs: None, policy: Policy
) -> Decision[ProfileChoice]:
    """A pin that says the same stands whatever is offered now; everything else needs an offer and a
    session that begins.
    """
    if facts.pinned:
        same = facts.pinned == facts.named
        return (
            _decided(Binding.STANDS, ProfileChoiceReason.HOLDS)
            if same
            else _decided(Binding.REFUSED, ProfileChoiceReason.PINNED)
        )
    if not facts.offered:
        return _decided(Binding.REFUSED, ProfileChoiceReason.NOT_OFFERED)
    if facts.begun:
        return _decided(Binding.REFUSED, ProfileChoiceReason.BEGUN)
    return _decided(Binding.PINS, ProfileChoiceReason.CHOSEN)


def _decided(binding: Binding, reason: ProfileChoiceReason) -> Decision[ProfileChoice]:
    return Decision(outcome=ProfileChoice(binding=binding), reason=reason)


PROFILE_CHOICE: Rule[ProfileChoiceFacts, None, ProfileChoice] = Rule(
    name="profile_choice",
    outcome=ProfileChoice,
    apply=decide_profile_choice,
    reasons=(ProfileChoiceReason,),
)
