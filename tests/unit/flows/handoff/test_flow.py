"""Kind ``handoff``: the envelope is looked at once more, then the specialist works within it, and
what it gives is an answer or a failure with its trace.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ordain.contracts.cards import PRIMARY
from ordain.contracts.handoff import (
    PARTS,
    Envelope,
    HandedPayload,
    HandoffBudget,
    HandoffTrace,
    ModelSnapshot,
)
from ordain.contracts.planner import Limits
from ordain.contracts.work_bounds import WorkBounds
from ordain.flows.carried import VerbPlanInput, VerbPlanOutput
from ordain.flows.envelopes import asks_of
from ordain.flows.handoff.kind import HANDOFF_RUN
from ordain.flows.steps.bounds import lowered
from ordain.journal.records import Status
from ordain.testing import Played, ScriptedEffects, Standing, call, finish, returned, says
from tests.shapes.cards import hand_to, house_of_cards

CATALOG = house_of_cards()
CALL = hand_to("reader")
ASK = asks_of((CALL,))[0]
WHOLE = Envelope(
    source=PRIMARY,
    target="reader",
    reason="domain",
    intent="to know it",
    payload=HandedPayload(type=ASK.verb, digest=ASK.digest, size_bytes=ASK.size_bytes),
    scope=("look",),
    models=ModelSnapshot(catalog=CATALOG.digest, lane="worker"),
    budget=HandoffBudget(tokens=100_000, model_calls=5, verb_calls=5),
    trace=HandoffTrace(root="t", run="r", depth=1),
    mode="delegate",
)


limits = st.builds(
    Limits,
    max_steps=st.integers(1, 1000),
    max_tokens_reason=st.integers(1, 10**6),
    max_tokens_answer=st.integers(1, 10**6),
    timeout_seconds=st.floats(0.001, 86_400),
)


def play(envelope: Envelope | None, *script: Any, **more: Any) -> Played[VerbPlanOutput]:
    standing = Standing(child=True, scope=("look",), chain=("reader",))
    given = VerbPlanInput(verb=CALL.verb, args={**CALL.args, **more}, handoff=envelope)
    played = ScriptedEffects(HANDOFF_RUN, CATALOG, standing=standing).play(given, script)
    assert played.replayed().equal
    return played


def test_a_specialist_works_in_its_envelope() -> None:
    """Asked as the card, shown the task and no tool but its scope's; what it gives comes back as
    its payload.

    HND-01e "Capability scope, server-owned and validated."
    """
    played = play(
        WHOLE, call("look", text="a"), returned({"text": "found"}), finish("It is found.")
    )
    asked = played.asked[0]
    assert asked.role == "reader"
    output = played.output
    assert output is not None
    assert output.output == {
        "status": "completed",
        "mode": "delegate",
        "outputPayload": {"content": "It is found.", "structured": {}},
    }
    assert [step.step_name for step in output.step_results] == ["look"]


@given(
    limits,
    st.builds(
        WorkBounds,
        **{
            name: st.integers(0, 10**7)
            for name in ("max_steps", "max_tokens_reason", "max_tokens_answer", "timeout_ms")
        },
    ),
)
def test_the_bounds_of_a_message_only_ever_lower(own: Limits, bounds: WorkBounds) -> None:
    """Each of a worker's limits is at most its own, and at most what the message has of it, where
    that says anything.
    """
    held = lowered(own, bounds)
    for name in ("max_steps", "max_tokens_reason", "max_tokens_answer"):
        assert getattr(held, name) <= getattr(own, name)
        assert not getattr(bounds, name) or getattr(held, name) <= getattr(bounds, name)
    assert held.timeout_seconds <= own.timeout_seconds
    assert not bounds.timeout_ms or held.timeout_seconds <= bounds.timeout_ms / 1000


def test_a_specialist_has_the_steps_that_the_message_allows() -> None:
    """Beyond them its work has failed, by name."""
    given = VerbPlanInput(
        verb=CALL.verb, args=CALL.args, handoff=WHOLE, bounds=WorkBounds(max_steps=1)
    )
    standing = Standing(child=True, scope=("look",), chain=("reader",))
    played = ScriptedEffects(HANDOFF_RUN, CATALOG, standing=standing).play(
        given, (call("look", text="a"), returned({"text": "found"}))
    )
    assert played.replayed().equal
    assert played.output is not None
    assert (len(played.requests), played.output.error) == (1, "max_steps_exhausted")


def test_what_is_not_wanted_back_is_not_given() -> None:
    """Only that it was done."""
    call_ = hand_to("reader", return_expected=False)
    ask = asks_of((call_,))[0]
    given = structs.replace(
        WHOLE,
        return_expected=False,
        payload=HandedPayload(type=ask.verb, digest=ask.digest, size_bytes=ask.size_bytes),
    )
    played = play(given, finish("It is found."), return_expected=False)
    assert played.output is not None
    assert played.output.output == {"status": "completed", "mode": "delegate"}


@pytest.mark.parametrize("part", PARTS)
def test_without_a_part_nothing_is_done(part: str) -> None:
    """No model is asked, and the failure says which part is not there.

    HND-02 "No raw prompt-based handoff is accepted without typed envelope + policy validation."
    """
    nothing = structs.asdict(Envelope())
    played = play(structs.replace(WHOLE, **{field: nothing[field] for field in PARTS[part]}))
    assert played.asked == ()
    output = played.output
    assert output is not None
    assert (output.ok, output.error, output.message) == (
        False,
        "envelope_invalid",
        f"without {part}",
    )
    assert output.output is not None
    assert output.output["failure"]["code"] == "envelope_invalid"
    assert output.output["failure"]["traceId"]
    assert played.settlement is not None
    assert played.settlement.status is Status.FAILED


@pytest.mark.parametrize(
    "prose",
    [
        "I would say it is found.",
        "maybe",
        '{"finish": true}',
        '{"answer": NaN}',
        '{"agent": "reader"}',
    ],
)
def test_prose_is_no_result(prose: str) -> None:
    """Whatever a specialist says that is no directive ends in a typed failure with its trace, and
    none of it is passed on as an answer.

    FAIL-02 "Delegated execution failure returns a failure payload to the primary orchestrator with
    full trace context."
    """
    played = play(WHOLE, says(prose), says(prose))
    output = played.output
    assert output is not None
    assert not output.ok
    assert output.output is not None
    assert output.output["status"] == "failed"
    assert prose not in msgspec.json.encode(output).decode()
