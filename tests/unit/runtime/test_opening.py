"""A root run's first record: what it is to work on, for whom, and what it may do."""

from __future__ import annotations

import msgspec
import pytest

from ordain.contracts.planner import PlannerRequest
from ordain.contracts.scope import CapabilityScope
from ordain.effects.children import Spawn
from ordain.errors import InvalidRequest
from ordain.flows.kinds import Kinds
from ordain.flows.planner.kind import PLANNER
from ordain.journal.codec import verify
from ordain.journal.records import Raw, Started
from ordain.rules.spend import Spend
from ordain.runtime.children import started_child
from ordain.runtime.opening import Opening, root_run
from ordain.runtime.setup import RunSetup
from ordain.testing import with_policy
from tests.unit.flows.house import shipped

REQUEST = PlannerRequest.model_validate(
    {
        "goal": {"type": "chat", "description": "x"},
        "toolset": [{"tool_id": "b"}, {"tool_id": "a"}],
        "caller": "helper",
    }
)
GIVEN = Raw(REQUEST.model_dump_json(exclude_unset=True).encode())
OPENING = Opening(
    run="r1",
    input=GIVEN,
    workspace="w",
    principal="ada",
    subject="s",
    key=b"k" * 32,
    at=7,
    deadline=9,
    keep_thoughts=False,
    session="s1",
    thread=2,
)


def test_it_has_what_its_kind_grants_under_policys_budget() -> None:
    """Scope and label are the kind's to say, amounts the policy's, everything else whose request it
    is.
    """
    catalog = with_policy(
        shipped(),
        {
            "budget": {
                "run_tokens": 11,
                "run_usd_micros": 12,
                "run_model_calls": 13,
                "run_verb_calls": 14,
            }
        },
    )
    opened = root_run(PLANNER, OPENING, catalog)
    started = opened.started
    assert msgspec.json.decode(opened.record.body or b"", type=Started) == started
    assert started.grant == CapabilityScope(allowed=("a", "b"))
    assert started.allowance == Spend(tokens=11, usd_micros=12, model_calls=13, verb_calls=14)
    assert (started.label.agent if started.label else "", started.depth, started.keep_thoughts) == (
        "other",
        0,
        False,
    )
    assert (started.flow_version, started.catalog) == (PLANNER.version, catalog.digest)
    assert (started.session, started.thread, started.parent, opened.record.at) == ("s1", 2, None, 7)
    verify("r1", OPENING.key, (opened.record,))


@pytest.mark.parametrize("session", ["", "s1"])
def test_it_says_with_which_wording_it_reads(session: str) -> None:
    """In a conversation and outside of any; and so does a child, though its parent be of a build
    that did not say it.
    """
    catalog = shipped()
    opened = root_run(PLANNER, msgspec.structs.replace(OPENING, session=session), catalog)
    started = opened.started
    assert started.wording == catalog.wording_id != ""
    parent = RunSetup.of(
        "r1", PLANNER, msgspec.structs.replace(started, wording=""), catalog, Kinds((PLANNER,))
    )
    spawn = Spawn[object](flow=PLANNER.name, input=GIVEN, deadline=9, allowance=Spend())
    assert started_child(parent, Kinds((PLANNER,)), 0, 0, spawn).wording == catalog.wording_id


def test_what_is_no_input_opens_nothing() -> None:
    """It is the request's fault, before a run exists."""
    with pytest.raises(
        InvalidRequest, match=r"kind planner@5 cannot read this input: .*\n*goal"
    ) as refused:
        root_run(PLANNER, msgspec.structs.replace(OPENING, input=Raw(b"{}")), shipped())
    assert isinstance(refused.value.__cause__, ValueError)
