"""The house that a kept data folder was made in and is opened by: its policy, its few verbs, its
model. No folder's test builds another.

What the model proposes depends on the request alone, so that a run that goes on gets what the
killed process would have got.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ordain.contracts.verbs import ArgumentRole, Retry, Trust
from ordain.ports.model import ModelRequest
from ordain.testing import ModelScript, Proposal, call, finish, routes, says
from ordain.verbs.functions import FunctionVerb, VerbContext, VerbError, verb
from tests.replay.recorded_words import WORDS
from tests.shapes.council import judgement, verdict
from tests.shapes.ledger import Ledger, Receipt, ledger_verbs
from tests.shapes.lines import about, script_of, words
from tests.shapes.talk import House, Puppet

PLENTY = 1_000_000_000
POLICY: dict[str, dict[str, Any]] = {
    "attach": {"ask": "local", "timeout_seconds": 3600},
    "router": {"ask": "local"},
    "supervisor": {"ask": "brain"},
    "lanes": {"routes": [{"ambiguous": True, "lane": "brain", "why": "escalated"}]},
    "fallback": {"attempts_per_profile": 10, "attempts_total": 20},
    "breaker": {"rest_max_s": 0},
    "budget": {
        "day_tokens": PLENTY,
        "session": {"tokens": PLENTY},
        "agent": {"tokens": PLENTY, "per": "day"},
    },
    "verbs": {"retry_wait_max_ms": 600_000},
    "council": {"round_timeout_seconds": 600, "llm_timeout_seconds": 300},
}
LATER_S = 120
"""Delay that the provider and a verb name: long enough for a process to be killed meanwhile."""
FACTS = {
    "facts": [{"text": "The lamp is red.", "subject": None, "predicate": None, "object": None}],
    "method": "analysed",
}


def folder_verbs(ledger: Ledger) -> list[FunctionVerb[..., Any]]:
    """The ledger's verbs; a read that reaches it too; and one whose first attempt fails and names a
    delay.
    """

    @verb(effect="read")
    def page_read(text: str, context: VerbContext) -> Receipt:
        """Read a page of the ledger."""
        return ledger.write("page", text, context.key)

    @verb(
        effect="private",
        arguments={"text": ArgumentRole.CONTENT},
        output={"receipt": Trust.OWN},
        idempotent=True,
        retry=Retry(max_attempts=2),
    )
    def note_later(text: str, context: VerbContext) -> Receipt:
        """Put a note into the ledger, at the second attempt."""
        if context.attempt == 1:
            raise VerbError(
                "not_yet", "later", retryable=True, happened=False, retry_after_s=LATER_S
            )
        return ledger.write("note", text, context.key)

    return [*ledger_verbs(ledger), page_read, note_later]


STEPS: dict[str, list[Proposal]] = {
    "look at the lamp": [
        call("extract_facts", text="The lamp is red, says the patient verb."),
        finish("the lamp is red"),
    ],
    "put a note": [call("note_put", text="hang: noted"), finish("noted")],
    "under supervision": [finish("said under the patient supervisor")],
    "hang it down": [call("entry_add", text="hang: added by an agent"), finish("added")],
    "hang it up": [call("entry_add", text="hang: added before the stop"), finish("added")],
    "evaluate": [call("math.evaluate", expression="2 + 2"), finish("4")],
    "have part of it planned": [
        call("plan.subgoal", goal="let the patient planner plan part of it"),
        finish("part of it is planned"),
    ],
    "have it planned": [
        call("roster_runtime", text="let the patient roster plan"),
        finish("it is planned"),
    ],
}
"""What a planner proposes, by words of the message or the goal."""


def _step(request: ModelRequest) -> Proposal | None:
    asked = (words(request), str(request.inputs.get("goal", "")))
    steps = next(
        (steps for phrase, steps in STEPS.items() if any(phrase in text for text in asked)), []
    )
    return steps[request.index] if request.index < len(steps) else None


COMPANY = (
    ModelScript()
    .on("router", routes("agent_chain", confidence=1.0), when=about("in a chain"))
    .on("seat", {"text": "I think so."})
    .on("chair", judgement())
    .on("auditor", verdict())
    .on("roster", {"steps": [{"agent": "creative_agent", "reason": "style"}], "confidence": 0.9})
    .on("synthesis", says("They have found it."))
)
"""What several models say to each other."""
SCRIPT = script_of(
    ModelScript().on("planner", _step).on("verb", FACTS, verb="extract_facts"), WORDS, COMPANY
)


def wording(request: ModelRequest) -> str:
    """Everything a request is about, as one text."""
    return json.dumps(request.inputs, default=str).casefold()


def folder_house(home: Path, ledger: Ledger, puppet: Puppet | None = None) -> House:
    """The house over this data folder, not yet opened."""
    return House(home, puppet=puppet or Puppet(SCRIPT), policy=POLICY, verbs=folder_verbs(ledger))
