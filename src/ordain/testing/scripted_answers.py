"""What a script has for a flow's asking: its answers in order, what a claim's transaction would
read, and what is asked for in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ordain.effects.effect import Children, Claim, ModelCall, Read, Say, VerbCall, Wait
from ordain.rules.grant import GrantFact, GrantFacts
from ordain.rules.spend import Spend
from ordain.runtime.run_state import RunState
from ordain.testing.script import Asked, Claimed, Granting, RunScript, ScriptItem, check_item


class Answers:
    """The items of a script, in order; of a callable one, what it answers to what is asked now."""

    def __init__(self, script: RunScript) -> None:
        """A list, or a function."""
        if not callable(script):
            check_item(
                script,
                Sequence,
                "a script",
                "a list of answers in order, or a function of what is asked",
            )
        self._answer: Callable[[Asked], ScriptItem | None] | None = (
            script if callable(script) else None
        )
        self.listed = not callable(script)
        self.left: list[ScriptItem] = [] if callable(script) else list(script)

    def hear(self, asked: Asked) -> None:
        """Something is asked for."""
        if self._answer is not None:
            item = self._answer(asked)
            self.left = [] if item is None else [item]

    def next_is(self, *kinds: type) -> bool:
        """Whether the next item is one of these."""
        return bool(self.left) and isinstance(self.left[0], kinds)

    def take(self) -> ScriptItem | None:
        """The next item; None where there is none."""
        return self.left.pop(0) if self.left else None


def accounts(claim: Claim[Any], item: Claimed | None) -> dict[str, Any]:
    """The claim's arguments with what is committed of each account."""
    committed: Mapping[str, Spend] = (None if item is None else item.committed) or {}
    accounts: list[dict[str, Any]] = []
    for asked in sorted(claim.args["accounts"], key=lambda account: account["name"]):
        used = committed.get(asked["name"], Spend())
        accounts.append({**asked, "tokens": used.tokens, "usd_micros": used.usd_micros})
    return {
        "tokens": claim.args["tokens"],
        "usd_micros": claim.args["usd_micros"],
        "accounts": accounts,
    }


def grant_facts(
    claim: Claim[Any], item: ScriptItem | None, state: RunState, now: int
) -> GrantFacts:
    """The grants that stand for a call; those of which the script says nothing do not."""
    call = str(claim.args["call"])
    pending = state.authority.consents.pending(call)
    assert pending is not None  # the claim was checked
    found = (
        ()
        if not isinstance(item, Granting)
        else (GrantFact(grant=item.grant, by=item.by, level=item.level, expires_at=now + 1),)
    )
    return GrantFacts(verb=pending.call.verb, call=call, tier=pending.tier, at=now, grants=found)


def told(asked: Asked) -> str:
    """What is asked for, in words."""
    match asked:
        case ModelCall():
            return f"a model's answer for purpose {asked.purpose!r} (profile {asked.profile})"
        case VerbCall():
            return f"verb {asked.authorized.call.verb} with {asked.authorized.call.args!r}"
        case Read():
            return f"a read of {asked.what!r} with {asked.args!r}"
        case Wait():
            return f"a wait for {asked.what}: {asked.about[:80]!r}"
        case Children():
            return f"children: {', '.join(spawn.flow for spawn in asked.spawns)}"
        case Claim():
            return f"claim {asked.name}"
        case Say():
            return f"words: {asked.text[:80]!r}"
