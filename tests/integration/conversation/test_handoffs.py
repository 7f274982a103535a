"""Work that is handed on in a real house: over storage, with approvals, several at once, and killed
in between.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordain.contracts.approvals import Subject
from ordain.contracts.risk import RiskLevel
from ordain.errors import InvalidRequest
from ordain.journal.records import Status
from ordain.runtime.grant_words import grant_words
from ordain.runtime.grants import GrantOffer
from ordain.runtime.replay import replay
from ordain.runtime.tickets import ticket_of
from ordain.testing import ModelScript, call, finish, hold
from tests.shapes.cards import given
from tests.shapes.handoffs import (
    CARDS,
    POLICY,
    SCRIPT,
    SPREAD,
    UNASKED,
    Spread,
    asked,
    decide,
    planned,
    request,
    write_cards,
)
from tests.shapes.talk import PRINCIPAL, WORKSPACE, House
from tests.shapes.workflows import Desk

HANDED = planned(call("agent.clerk", **given()), finish("The clerk has noted it."))


def house(home: Path, script: Any = HANDED, policy: Any = POLICY) -> tuple[House, Desk]:
    write_cards(home)
    desk = Desk()
    return House(home, script=script, policy=policy, verbs=desk.verbs, kinds=(SPREAD,)), desk


def all_equal(one: House) -> None:
    """Every run of the house replays as it was."""
    for (run,) in one.query("SELECT id FROM runs ORDER BY no"):
        stored = one.ordain.store.stored(run)
        assert stored is not None
        report = replay(stored, one.ordain.catalog, one.ordain.kinds)
        assert report.equal, report.differences


async def test_a_delegation_waits_for_a_yes_to_exactly_it(tmp_path: Path) -> None:
    """As shipped: nothing is done before, the specialist works after, and what it did stands below
    what was handed to it.

    HND-03 "Sub-agents run with explicit capability scope and inherited policy constraints."
    """
    one, desk = house(tmp_path)
    async with one:
        run = await asked(one, "agent.clerk")
        assert desk.did == []
        assert await decide(one) == [Subject.CALL]
        view = await one.ordain.runtime.wait(run)
        assert desk.did == [("note_down", "tea")]
        header = view.header
        assert "to be handed on to clerk by primary: 3 verbs, reason domain" in header
        assert "✓ agent.clerk" in header
        assert "  ✓ note_down" in header
        assert view.verdict == "ok"
        all_equal(one)


async def test_a_no_hands_nothing_on(tmp_path: Path) -> None:
    """The planner learns that it was denied, and that it was is in the header whatever it says."""
    one, desk = house(tmp_path)
    async with one:
        run = await asked(one, "agent.clerk")
        await decide(one, approve=False)
        view = await one.ordain.runtime.wait(run)
        assert desk.did == []
        assert view.verdict != "ok"
        assert "authorize.not_approved" in view.header
        assert "to be handed on to clerk by primary" in view.header
        assert not [
            line
            for line in view.header.splitlines()
            if "handed on" in line and "to be handed on" not in line
        ]
        all_equal(one)


async def test_what_a_specialist_does_is_approved_by_itself(tmp_path: Path) -> None:
    """A yes to the delegation is none to what the specialist then wants to send."""
    one, desk = house(tmp_path, planned(call("agent.sender", **given()), finish("Sent.")), UNASKED)
    async with one:
        run = await asked(one, "agent.sender")
        assert await decide(one) == [Subject.CALL]
        await one.ordain.runtime.wait(run)
        assert desk.did == [("send_out", "tea")]
        all_equal(one)


async def test_a_failure_below_comes_back_with_its_trace(tmp_path: Path) -> None:
    """A specialist hands on in its turn; the one that only talks fails by name, and that runs
    through to the header.

    FAIL-02 "Delegated execution failure returns a failure payload to the primary orchestrator with
    full trace context."
    """
    one, desk = house(
        tmp_path, planned(call("agent.boss", **given()), finish("All is done.")), UNASKED
    )
    async with one:
        run = await asked(one, "agent.boss")
        view = await one.ordain.runtime.wait(run)
        assert desk.did == [("note_down", "tea")]
        assert "to be handed on to babbler by boss" in view.header
        assert view.verdict == "partial"
        ((child,),) = one.query("SELECT id FROM runs WHERE flow = 'handoff' AND status = 'failed'")
        boss = next(
            stored
            for (found,) in one.query(
                "SELECT id FROM runs WHERE flow = 'handoff' AND status = 'completed'"
            )
            if (stored := one.ordain.store.stored(found)) is not None
            and b"agent.boss" in (stored.records[0].body or b"")
        )
        assert any(
            child.encode() in (record.body or b"") and b"traceId" in (record.body or b"")
            for record in boss.records
        )
        all_equal(one)


async def test_a_fan_out_waits_once_and_says_who_failed(tmp_path: Path) -> None:
    """One approval of kind plan, all at once, and of two the one that failed is named.

    HND-06 "Temporary sub-agents allowed for bounded parallel work, explicitly traced."
    """
    one, desk = house(tmp_path, SCRIPT)
    async with one:
        accepted = await one.ordain.runtime.open(
            "spread", Spread(targets=("clerk", "babbler", "clerk")), PRINCIPAL, waits=True
        )
        assert await decide(one) == [Subject.PLAN]
        view = await one.ordain.runtime.wait(accepted.run)
        came = msgspec.json.decode(bytes(view.result))["came"]
        assert (came["status"], came["failed"]) == ("partial", ["babbler"])
        assert sorted(desk.did) == [("note_down", "tea")] * len(desk.did)
        assert "to be handed on to clerk_2 by primary" in view.header
        all_equal(one)


async def test_a_review_is_one_open_ticket(tmp_path: Path) -> None:
    """It has the source's fields, and is resolved by the one decision there is."""
    one, _ = house(tmp_path, HANDED, {**UNASKED, "guardrails": {"review_at": 0.05}})
    async with one:
        run = await asked(one, "agent.clerk")
        await one.quiet()
        (view,) = await one.ordain.runtime.approvals.listed(WORKSPACE)
        ticket = ticket_of(view)
        assert ticket is not None
        assert (ticket.status, ticket.summary) == ("open", "agent.clerk")
        assert await decide(one) == [Subject.REVIEW]
        await one.ordain.runtime.wait(run)
        closed = ticket_of(await one.ordain.runtime.approvals.one(WORKSPACE, ticket.ticket_id))
        assert closed is not None
        assert closed.status == "resolved"


@pytest.mark.parametrize("targets", [("clerk", "nobody"), ("clerk", "general_agent")])
async def test_one_outside_stops_all(tmp_path: Path, targets: tuple[str, ...]) -> None:
    """Nobody is asked, nothing is opened, and the header says why.

    B-30 "Reject whole request pre-execution if any target is disallowed"
    """
    one, desk = house(tmp_path, SCRIPT)
    async with one:
        accepted = await one.ordain.runtime.open(
            "spread", Spread(targets=targets), PRINCIPAL, waits=True
        )
        view = await one.ordain.runtime.wait(accepted.run)
        assert desk.did == []
        assert one.query("SELECT count(*) FROM runs") == [(1,)]
        assert "handoff refused" in view.header
        assert view.stored.status is Status.COMPLETED
        assert view.verdict == "partial"


async def test_budgets_of_parent_and_children_add_up(tmp_path: Path) -> None:
    """What the children spent is what their parent did, and none had more than its share."""
    one, _ = house(tmp_path, SCRIPT, {**UNASKED, "budget": {"run_tokens": 60_000}})
    async with one:
        accepted = await one.ordain.runtime.open(
            "spread", Spread(targets=("clerk", "babbler")), PRINCIPAL, waits=True
        )
        await one.ordain.runtime.wait(accepted.run)
        stored = one.ordain.store.stored(accepted.run)
        assert stored is not None
        ends = [
            msgspec.json.decode(record.body)["ended"]
            for record in stored.records
            if record.kind == "child_ended" and record.body
        ]
        starts = [
            msgspec.json.decode(found.records[0].body or b"")
            for (run,) in one.query("SELECT id FROM runs WHERE flow = 'handoff'")
            if (found := one.ordain.store.stored(run)) is not None
        ]
        assert sum(start["allowance"]["tokens"] for start in starts) <= 60_000
        assert all(end["spent"]["tokens"] <= 30_000 for end in ends)
        assert [start["chain"] for start in starts] == [["clerk"], ["babbler"]]
        assert {start["root"] for start in starts} == {accepted.run}


async def test_a_house_that_dies_goes_on(tmp_path: Path) -> None:
    """While the delegation waits, and again after the yes: the work is done once."""
    one, desk = house(tmp_path)
    async with one:
        run = await asked(one, "agent.clerk")
        await one.quiet()
        await one.reopen()
        assert await decide(one) == [Subject.CALL]
        await one.reopen()
        view = await one.ordain.runtime.wait(run)
        assert desk.did == [("note_down", "tea")]
        assert view.verdict == "ok"
        all_equal(one)


async def test_a_card_that_changed_meanwhile_is_not_said_yes_to(tmp_path: Path) -> None:
    """Renamed or widened while its approval waits: nobody can say yes to what was looked at."""
    one, desk = house(tmp_path)
    async with one:
        run = await asked(one, "agent.clerk")
        await one.quiet()
        await one.kill()
        write_cards(tmp_path, {"clerk": {"domain": "notes", "allow": ["*"]}})
        await one.open()
        await one.quiet()
        found = await one.ordain.runtime.approvals.listed(WORKSPACE)
        assert ["another one now" in view.void for view in found] == [True]
        assert desk.did == []
        await one.ordain.runtime.operators.cancel(run, by=PRINCIPAL, why="no")


async def test_a_yes_is_void_once_the_card_changes_under_it(tmp_path: Path) -> None:
    """Also after it was given: the specialist is at work, its card is widened, and nothing more
    that it wants is done by that yes.
    """
    held = hold(call("note_down", text="tea"))
    script = ModelScript(
        (*ModelScript().on("planner", held, role="clerk", index=0).lines, *HANDED.lines)
    )
    one, desk = house(tmp_path, script)
    async with one:
        run = await asked(one, "agent.clerk")
        assert await decide(one) == [Subject.CALL]
        await held.reached()
        write_cards(tmp_path, {"clerk": {"domain": "notes", "allow": ["*"]}})
        assert (await one.ordain.reload()).ok
        held.release()
        view = await one.ordain.runtime.wait(run)
        assert desk.did == []
        assert "hands work to another card than when a yes was asked for" in view.header
        assert view.verdict != "ok"


@pytest.mark.parametrize(
    "changed",
    [
        {"allow": ["note_down", "send_out"]},
        {"description": "Another clerk."},
        {"deny": ["read_up"]},
    ],
)
async def test_a_grant_for_a_card_is_for_the_card_that_it_was(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    """Nobody is asked while it stands; once the card says otherwise the grant is for no handoff to
    it, and says so. Its words name what the specialist may use.
    """
    one, desk = house(tmp_path)
    async with one:
        offer = GrantOffer(
            principal=PRINCIPAL,
            capabilities=("agent.clerk",),
            ttl_s=600,
            risk_level=RiskLevel.WRITE,
        )
        given_first = await one.ordain.runtime.grants.give(WORKSPACE, offer, "user:boss")
        assert (
            "agent.clerk hands work to clerk, which may use at most: note_back, note_down, "
            "note_more (private)"
        ) in grant_words(given_first, one.ordain.catalog)
        view = await one.ordain.runtime.wait(await asked(one, "agent.clerk"))
        assert (view.verdict, desk.did) == ("ok", [("note_down", "tea")])
        write_cards(tmp_path, {**CARDS, "clerk": {**CARDS["clerk"], **changed}})
        assert (await one.ordain.reload()).changed
        assert "Not agent.clerk: declared otherwise" in grant_words(given_first, one.ordain.catalog)
        run = await asked(one, "agent.clerk", name="again")
        assert await decide(one, approve=False) == [Subject.CALL]
        await one.ordain.runtime.wait(run)
        assert desk.did == [("note_down", "tea")]


async def test_handing_on_is_granted_by_name(tmp_path: Path) -> None:
    """A glob over agents is refused with that reason, and not as if nobody's yes were needed."""
    one, _ = house(tmp_path)
    async with one:
        with pytest.raises(InvalidRequest, match="granted by its name, and by no glob"):
            await one.ordain.runtime.grants.give(
                WORKSPACE,
                GrantOffer(principal=PRINCIPAL, capabilities=("agent.*",), ttl_s=60),
                "user:boss",
            )


async def test_what_an_agent_says_makes_no_call_ok(tmp_path: Path) -> None:
    """Asked for by itself: one of two calls that it wanted was refused, it says that all is sent,
    and the reply is not ok, with the verdict's code. Where the only one was, its words do not even
    count.

    B-34 "`ok=true` only if all required steps succeeded"
    """
    both = ModelScript().on("planner", call("note_down", text="tea"), role="sender", index=1)
    one, desk = house(tmp_path / "both", ModelScript((*both.lines, *SCRIPT.lines)), UNASKED)
    async with one:
        lied = (await one.ordain.execute("agent.sender", given())).wire
        assert (lied["verdict"], lied["ok"], lied["error"]["code"]) == ("partial", False, "partial")
        assert lied["output"]["outputPayload"]["content"] == "It is sent."
        did = (await one.ordain.execute("agent.clerk", given())).wire
        assert (did["verdict"], did["ok"], did["error"]) == ("ok", True, None)
        assert desk.did == [("note_down", "tea"), ("note_down", "tea")]
    one, desk = house(tmp_path / "alone", policy=UNASKED)
    async with one:
        lied = (await one.ordain.execute("agent.sender", given())).wire
        assert (lied["ok"], lied["error"]["code"]) == (False, "tool_first_violation")
        assert (lied["output"]["status"], desk.did) == ("failed", [])


async def test_a_failed_handoff_that_was_asked_for_says_where_its_trace_is(tmp_path: Path) -> None:
    """Called by itself, it comes back as it does to a planner: by code, in words, and with the run
    that has the trace; refused before, that is the asking run. A blank task is none.

    FAIL-02 "Delegated execution failure returns a failure payload to the primary orchestrator with
    full trace context."
    """
    one, _ = house(tmp_path, policy=UNASKED)
    async with one:
        reply = (await one.ordain.execute("agent.babbler", given())).wire
        ((child,),) = one.query("SELECT id FROM runs WHERE flow = 'handoff'")
        why = {"code": "step.syntax.prose", "message": reply["error"]["message"], "traceId": child}
        assert (reply["ok"], reply["output"]) == (
            False,
            {"status": "failed", "mode": "delegate", "failure": why},
        )
        refused = (await one.ordain.delegate("nobody", "Write.")).wire
        assert refused["output"]["failure"] == {
            "code": "unknown_agent",
            "message": refused["error"]["message"],
            "traceId": refused["run_id"],
        }
        with pytest.raises(InvalidRequest) as blank:
            await one.ordain.delegate("clerk", " \n")
        assert blank.value.details["errors"][0]["place"] == "/payload/task"
        typed = await one.ordain.execute("agent.babbler", given(), output_type=dict[str, Any])
        assert (typed.ok, typed.output) == (False, None)


@pytest.mark.parametrize("agent", ["sender", "boss"])
async def test_what_a_plan_says_of_agents_makes_no_status_ok(tmp_path: Path, agent: str) -> None:
    """A planning request whose agent was refused what it wanted, whatever the planner says then: an
    error with the verdict's code, and its answer is marked as none.

    B-34 "`ok=true` only if all required steps succeeded"
    """
    one, _ = house(
        tmp_path,
        script=planned(call(f"agent.{agent}", **given()), finish("All of it is done.")),
        policy=UNASKED,
    )
    async with one:
        told = (await one.ordain.plan(request(f"agent.{agent}"))).wire
        assert (told["verdict"], told["status"], told["error"]["code"]) == (
            "partial",
            "error",
            "partial",
        )
        assert told["final_answer"] == {
            "content": "All of it is done.",
            "structured": {"salvaged": True, "stop_reason": "partial"},
        }


async def test_a_plan_whose_agents_did_it_is_ok(tmp_path: Path) -> None:
    """Its status is as it was, and its answer counts."""
    one, desk = house(tmp_path, policy=UNASKED)
    async with one:
        told = (await one.ordain.plan(request("agent.clerk"))).wire
        assert (told["verdict"], told["status"], told["error"]) == ("ok", "ok", None)
        assert (told["final_answer"]["content"], desk.did) == (
            "The clerk has noted it.",
            [("note_down", "tea")],
        )
