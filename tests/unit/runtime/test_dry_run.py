"""Running a flow without spending: it decides as live, up to the first thing that would go live,
and leaves nothing behind.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ordain.flows.kinds import Kinds
from ordain.flows.verb.kind import VERB
from ordain.flows.verb.request import VerbRunInput
from ordain.journal.records import DecisionBody, raw
from ordain.rules.decision import Rule
from ordain.runtime.dry_run import NothingSpent, dry_opening, dry_run
from ordain.testing import with_policy
from tests.unit.flows.house import shipped

LASTS = 60_000_000


class Deciding(NothingSpent):
    """Goes on past every decision, as those do who show them."""

    def decided(self, rule: Rule[Any, Any, Any], body: DecisionBody) -> None:
        return


def run(verb: str, args: dict[str, object], **budget: object) -> tuple[object, int]:
    catalog = with_policy(shipped(), {"budget": budget})
    opening = dry_opening(raw(VerbRunInput(verb_id=verb, payload=args, caller="dry")), "dry", LASTS)
    output, state = dry_run(VERB, opening, catalog, Deciding(catalog.policy), Kinds((VERB,)))
    return output, state.authority.spent.verb_calls


@pytest.mark.parametrize(
    ("verb", "args"), [("math.evaluate", {"expression": "1"}), ("extract_facts", {"text": "a"})]
)
def test_what_would_go_live_ends_it(verb: str, args: dict[str, object]) -> None:
    """A leaf's call and a child alike: there is no output, and nothing was used."""
    assert run(verb, args) == (None, 0)


def test_what_is_refused_before_is_its_output() -> None:
    """As the flow itself gives it."""
    output, used = run("no.such", {})
    assert (msgspec.to_builtins(output)["error"]["code"], used) == ("unknown_verb", 0)


def test_shared_accounts_are_found_untouched() -> None:
    """Whoever asks is told what policy alone says: too much for the account is refused, anything
    else goes on.
    """
    assert run("math.evaluate", {"expression": "1"}, day_tokens=5_000_000) == (None, 0)
    output, _ = run("math.evaluate", {"expression": "1"}, day_tokens=10, rest=False)
    assert msgspec.to_builtins(output)["error"]["code"] == "budget_exceeded"
