"""Workflows in a conversation: run at once where no step needs a yes, else proposed whole; what
happened, and what is undone, where something goes wrong.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordain.contracts.conversation import MessageAnswer
from ordain.errors import Conflict
from ordain.journal.records import RecordKind
from ordain.ports.sessions import ThreadStatus
from ordain.rules.approve import ApprovalState
from ordain.runtime.approvals import ApprovalView, ApproverWord
from ordain.runtime.awaited_answers import Acknowledged
from ordain.testing import ModelScript, call, finish
from tests.shapes.session_laws import lawful
from tests.shapes.talk import WORKSPACE, House
from tests.shapes.workflows import TEMPLATES, Desk, step, template, write_templates

ADA = "local:ada"
DAY_S = 86_400


class Office(House):
    """A house with templates, and the desk of their verbs."""

    desk: Desk

    async def start(self, words: str, name: str, /, **args: Any) -> Acknowledged:
        """A message that names a workflow."""
        return await self.send(words, workflow={"template": name, "args": args})

    async def carry_out(self, words: str, name: str, /, **args: Any) -> MessageAnswer:
        """The same, to its reply."""
        return await self.told(await self.start(words, name, **args))

    async def proposed(
        self, words: str, name: str, /, **args: Any
    ) -> tuple[Acknowledged, ApprovalView]:
        """The same, until it waits for somebody's yes."""
        sent = await self.start(words, name, **args)
        await self.quiet()
        (view,) = await self.ordain.runtime.approvals.listed(WORKSPACE)
        return sent, view

    async def decide(
        self,
        view: ApprovalView,
        *,
        approve: bool = True,
        by: str = ADA,
        digest: str = "",
        why: str = "",
    ) -> None:
        """Somebody's yes or no, to exactly this."""
        word = ApproverWord(approve=approve, digest=digest or view.row.digest, why=why)
        await self.ordain.runtime.approvals.decide(WORKSPACE, view.row.id, word, by)

    async def thread(self, number: int = 1) -> Any:
        """A thread of the session as it stands."""
        (found,) = [
            one
            for one in await self.ordain.runtime.conversation.threads(WORKSPACE, "s1")
            if one.id == number
        ]
        return found

    def ends(self) -> dict[str, tuple[str, str]]:
        """Status and reason of the newest run of each kind."""
        return {
            flow: (status, reason)
            for flow, status, reason in self.query(
                "SELECT flow, status, reason FROM runs ORDER BY no"
            )
        }


@asynccontextmanager
async def office(
    home: Path, *, templates: Mapping[str, Any] = TEMPLATES, **more: Any
) -> AsyncIterator[Office]:
    """An open house with these templates; its session's laws hold when it closes."""
    write_templates(home, templates)
    desk = Desk()
    house = Office(home, verbs=desk.verbs, **more)
    house.desk = desk
    async with house:
        yield house
        await house.quiet()
        lawful(house.ordain)


def said(answer: MessageAnswer) -> str:
    """The reply's words."""
    assert answer.reply is not None
    return answer.reply.narrative


# --- at once --------------------------------------------------------------------------------------


async def test_a_workflow_that_needs_nobodys_yes_runs_at_once(tmp_path: Path) -> None:
    """Its steps in order, each authorised when it runs; nobody is asked.

    WFL-02 "Workflow execution (tools) is a distinct outcome."
    """
    async with office(tmp_path) as house:
        answer = await house.carry_out("write it down twice", "note_twice", text="tea")
        assert answer.reply is not None
        assert answer.reply.ok
        assert house.desk.did == [("note_down", "tea"), ("note_down", "and again")]
        assert "outcome workflow_run" in (answer.reply.header or "")
        assert await house.ordain.runtime.approvals.listed(WORKSPACE) == []
        (run,) = house.query("SELECT id FROM runs WHERE flow = 'workflow'")[0]
        stored = house.ordain.store.stored(run)
        assert stored is not None
        assert (
            sum(
                (record.kind, record.name) == (RecordKind.DECISION, "authorize")
                for record in stored.records
            )
            == 2
        )


@pytest.mark.parametrize(
    ("name", "args", "code"),
    [
        ("no_such", {}, "unknown_template"),
        ("announce", {}, "missing_argument"),
        ("announce", {"text": "tea", "cc": "all"}, "unknown_argument"),
        ("announce", {"text": 7}, "mistyped_argument"),
        ("announce", {"text": ""}, "mistyped_argument"),
        ("announce", {"text": {"$arg": "text"}}, "mistyped_argument"),
        ("search_web", {"query": "tea"}, "tool_unavailable"),
        ("lookup_weather", {"place": "Lisbon"}, "tool_unavailable"),
        (
            "send_email",
            {"to": ["ben@example.org"], "subject": "s", "body": "b"},
            "tool_unavailable",
        ),
    ],
)
async def test_what_cannot_be_carried_out_is_refused_before_anybody_is_asked(
    tmp_path: Path, name: str, args: dict[str, Any], code: str
) -> None:
    """By its code, with nothing run and nothing proposed."""
    async with office(tmp_path) as house:
        answer = await house.carry_out("please do", name, **args)
        assert answer.reply is not None
        assert not answer.reply.ok
        assert f"({code})" in answer.reply.narrative
        assert house.desk.did == []
        assert house.query("SELECT count(*) FROM approvals") == [(0,)]
        assert [flow for (flow,) in house.query("SELECT flow FROM runs")] == ["turn"]


async def test_a_tasks_end_closes_its_thread(tmp_path: Path) -> None:
    """``complete_task`` leaves the thread done, so that a later message begins another one."""
    async with office(tmp_path) as house:
        answer = await house.carry_out("that is done", "complete_task", note="It went out.")
        assert "This thread is closed. It went out." in said(answer)
        assert (await house.thread()).status is ThreadStatus.DONE


# --- proposed -------------------------------------------------------------------------------------


async def test_a_workflow_with_a_step_that_needs_a_yes_is_proposed_whole(tmp_path: Path) -> None:
    """Nothing runs before it; the thread says what it waits for, and the approval shows each exact
    call, what would undo one included.

    WFL-01 "A workflow proposal is a distinct outcome that requires approval before execution."
    RTE-09 "Code enforces state transitions and workflow lifecycle incl. approvals."
    """
    async with office(tmp_path) as house:
        sent, view = await house.proposed("tell them", "announce", text="tea is ready")
        assert house.desk.did == []
        thread = await house.thread()
        (run,) = house.query("SELECT id FROM runs WHERE flow = 'workflow'")[0]
        assert (thread.status, thread.awaiting.workflow) == (ThreadStatus.WORKFLOW_PROPOSED, run)
        assert [(call.verb, call.args) for call in view.calls] == [
            ("note_down", {"text": "tea is ready"}),
            ("note_back", {"text": "tea is ready"}),
            ("send_out", {"text": "tea is ready"}),
        ]
        assert view.words.startswith("Workflow announce@1, in this order:")
        assert view.words.endswith(
            "is not traced: a model may have taken them from anything that it read."
        )
        await house.decide(view)
        answer = await house.told(sent)
        assert answer.reply is not None
        assert answer.reply.ok
        assert house.desk.did == [("note_down", "tea is ready"), ("send_out", "tea is ready")]
        assert "outcome workflow_proposal" in (answer.reply.header or "")
        assert "send_out: approved by local:ada" in (answer.reply.header or "")
        assert (await house.thread()).status is ThreadStatus.DONE


async def test_a_no_ends_it_before_anything_ran(tmp_path: Path) -> None:
    """Typed, and the thread has failed."""
    async with office(tmp_path) as house:
        sent, view = await house.proposed("tell them", "announce", text="tea")
        await house.decide(view, approve=False)
        assert "(approval_denied)" in said(await house.told(sent))
        assert house.desk.did == []


async def test_nobodys_yes_in_time_ends_it(tmp_path: Path) -> None:
    """As policy has it; a yes that comes later is refused by name (B-27 "expires.")."""
    async with office(tmp_path) as house:
        sent, view = await house.proposed("tell them", "announce", text="tea")
        await house.pass_time(DAY_S * 8)
        assert "(approval_expired)" in said(await house.told(sent))
        with pytest.raises(Conflict) as refused:
            await house.decide(view)
        assert refused.value.code in {"approval_expired", "already_decided"}
        assert house.desk.did == []


async def test_a_yes_after_a_long_time_still_counts(tmp_path: Path) -> None:
    """What waits for a person is as long alive as the approval is open: its own time stands
    still.
    """
    async with office(tmp_path) as house:
        sent, view = await house.proposed("tell them", "announce", text="tea")
        await house.pass_time(3_500)
        await house.decide(view)
        answer = await house.told(sent)
        assert answer.reply is not None
        assert answer.reply.ok, answer.reply


async def test_two_yeses_are_one(tmp_path: Path) -> None:
    """The second is refused, and nothing runs twice (B-27 "single-use;")."""
    async with office(tmp_path) as house:
        sent, view = await house.proposed("tell them", "announce", text="tea")
        await house.decide(view)
        with pytest.raises(Conflict) as refused:
            await house.decide(view, by="local:ben")
        assert refused.value.code == "already_decided"
        await house.told(sent)
        assert house.desk.did == [("note_down", "tea"), ("send_out", "tea")]


async def test_a_yes_to_another_workflow_is_none_to_this(tmp_path: Path) -> None:
    """With another argument it is another one, and stale here.

    B-27 "Approval binds to a hash of the exact expanded steps;"
    """
    async with office(tmp_path) as house:
        _, tea = await house.proposed("tell them", "announce", text="tea")
        sent = await house.start("tell them the other thing", "announce", text="coffee")
        await house.quiet()
        (coffee,) = [
            view
            for view in await house.ordain.runtime.approvals.listed(WORKSPACE)
            if view.row.id != tea.row.id
        ]
        with pytest.raises(Conflict) as refused:
            await house.decide(coffee, digest=tea.row.digest)
        assert refused.value.code == "approval_stale"
        await house.decide(coffee)
        await house.told(sent)
        assert house.desk.did == [("note_down", "coffee"), ("send_out", "coffee")]
        await house.decide(tea, approve=False)


async def test_what_is_destructive_needs_its_own_yes_inside_of_a_workflow_too(
    tmp_path: Path,
) -> None:
    """The approval of the steps is the yes to each of them, once: a payment is proposed as what it
    is.
    """
    async with office(tmp_path) as house:
        sent, view = await house.proposed("pay him", "pay_off", text="ben")
        assert view.row.tier == "destructive"
        await house.decide(view)
        await house.told(sent)
        assert house.desk.did == [("pay_out", "ben")]


async def test_the_mechanics_of_templates(tmp_path: Path) -> None:
    """The six are shipped; the steps are the template's alone; a pending one is of its thread, used
    up by its yes, and stopped before its next step.

    WFL-03 "(template mechanics → C5)"
    """
    six = {
        "lookup_weather",
        "search_web",
        "draft_email",
        "send_email",
        "delegate_to_agent",
        "complete_task",
    }
    async with office(tmp_path) as house:
        assert six == set(house.ordain.catalog.workflows) - set(TEMPLATES)
        sent, view = await house.proposed("tell them", "announce", text="tea")
        calls = [(call.verb, call.args) for call in view.calls]
        steps = [(one["verb"], {"text": "tea"}) for one in TEMPLATES["announce"]["steps"]]
        assert [call for call in calls if call in steps] == steps
        assert (view.row.session, view.row.thread, view.row.workflow) == ("s1", 1, view.row.run)
        assert (await house.thread()).status is ThreadStatus.WORKFLOW_PROPOSED
        await house.decide(view)
        await house.told(sent)
        with pytest.raises(Conflict):
            await house.decide(view)
        sent, view = await house.proposed("tell them again", "announce", text="coffee")
        assert view.row.thread == 2
        await house.say("stop", reply_to=sent.message_id)
        with pytest.raises(Conflict):
            await house.decide(view)
        assert house.desk.did == steps_done(steps)


def steps_done(steps: list[tuple[str, dict[str, str]]]) -> list[tuple[str, str]]:
    """What lies on the desk once these steps were done."""
    return [(verb, args["text"]) for verb, args in steps]


# --- what changes while it waits ------------------------------------------------------------------


async def test_a_template_that_is_edited_while_it_waits_cannot_be_approved(tmp_path: Path) -> None:
    """Nobody says yes to what an operator has changed since: whoever tries is told so, and so is
    the run that waits, which does nothing of it.
    """
    async with office(tmp_path) as house:
        sent, view = await house.proposed("tell them", "announce", text="tea")
        edited = template(
            "announce", [step("note_down"), step("send_out"), step("note_more")], version=2
        )
        write_templates(tmp_path, {"announce": edited})
        assert (await house.ordain.reload()).changed
        with pytest.raises(Conflict) as refused:
            await house.decide(view)
        assert refused.value.code == "approval_stale"
        assert house.desk.did == []
        words = said(await house.told(sent))
        assert words == "This was not done: the workflow's template is another one now (withdrawn)."
        after, again = await house.proposed("tell them", "announce", text="tea")
        assert [call.verb for call in again.calls] == ["note_down", "send_out", "note_more"]
        await house.decide(again)
        await house.told(after)
        assert house.desk.did == [("note_down", "tea"), ("send_out", "tea"), ("note_more", "tea")]


async def test_a_workflow_that_has_begun_does_what_was_approved(tmp_path: Path) -> None:
    """Its template is edited, and then taken away, while a step is at work: the steps that follow
    are those that the yes was to, and no others.
    """
    steps = [step("note_down", "note_back"), step("hold_on"), step("send_out")]
    async with office(tmp_path, templates={"announce": template("announce", steps)}) as house:
        sent, view = await house.proposed("tell them", "announce", text="tea")
        await house.decide(view)
        await house.desk.holding.wait()
        write_templates(
            tmp_path, {"announce": template("announce", [*steps, step("note_more")], version=2)}
        )
        assert (await house.ordain.reload()).changed
        (tmp_path / "workflows" / "announce.yaml").unlink()
        assert (await house.ordain.reload()).changed
        house.desk.gate.set()
        answer = await house.told(sent)
        assert answer.reply is not None
        assert answer.reply.ok, answer.reply
        assert house.desk.did == [("note_down", "tea"), ("hold_on", "tea"), ("send_out", "tea")]


async def test_a_template_that_is_described_otherwise_stays_what_it_is(tmp_path: Path) -> None:
    """Its words decide nothing."""
    async with office(tmp_path) as house:
        sent, view = await house.proposed("tell them", "announce", text="tea")
        write_templates(
            tmp_path, {"announce": {**TEMPLATES["announce"], "description": "Say it to all."}}
        )
        assert (await house.ordain.reload()).changed
        await house.decide(view)
        await house.told(sent)
        assert house.desk.did == [("note_down", "tea"), ("send_out", "tea")]


async def test_a_verb_that_is_switched_off_after_the_yes_does_not_run(tmp_path: Path) -> None:
    """The yes was given, the process died, an operator switched the verb off: its step is
    withdrawn, and what had happened is undone.
    """
    async with office(
        tmp_path,
        templates={
            **TEMPLATES,
            "announce": template(
                "announce", [step("note_down", "note_back"), step("hold_on"), step("send_out")]
            ),
        },
    ) as house:
        sent, view = await house.proposed("tell them", "announce", text="tea")
        await house.decide(view)
        await house.desk.holding.wait()
        tables = house.settings.policy.model_dump(mode="json")
        tables["verbs"]["default"] = {"allow": [], "deny": ["send_out"]}
        policy = type(house.settings.policy).model_validate(tables, strict=False)
        house.ordain.runtime.services.catalogs.swap(house.ordain.catalog.changed(policy=policy))
        house.desk.gate.set()
        answer = await house.told(sent)
        assert house.desk.did == [("note_down", "tea"), ("hold_on", "tea"), ("note_back", "tea")]
        assert "withdrawn" in said(answer)


# --- what goes wrong ------------------------------------------------------------------------------


async def test_what_happened_is_undone_the_latest_first(tmp_path: Path) -> None:
    """A failed step ends it: later ones do not run, and each one before it that says how is
    undone.
    """
    async with office(tmp_path) as house:
        answer = await house.carry_out("do it", "fragile", text="tea")
        assert house.desk.did == [
            ("note_down", "tea"),
            ("note_more", "tea"),
            ("note_back", "tea"),
            ("note_back", "tea"),
        ]
        assert answer.reply is not None
        assert not answer.reply.ok
        assert "(no_ink)" in answer.reply.narrative
        assert "not run: step 4, note_down" in (answer.reply.header or "")


async def test_what_undoes_a_step_was_approved_with_it(tmp_path: Path) -> None:
    """It needs no second yes, even where it is itself what needs one."""
    undone = template(
        "announce",
        [
            {**step("note_down"), "compensate": {"verb": "send_out", "args": {"text": "sorry"}}},
            step("break_off"),
        ],
    )
    async with office(tmp_path, templates={"announce": undone}) as house:
        sent, view = await house.proposed("tell them", "announce", text="tea")
        assert house.desk.did == []
        await house.decide(view)
        await house.told(sent)
        assert house.desk.did == [("note_down", "tea"), ("send_out", "sorry")]


async def test_that_one_cannot_be_undone_keeps_no_other_from_it(tmp_path: Path) -> None:
    """The header has what failed to be undone."""
    async with office(tmp_path) as house:
        await house.carry_out("do it", "half_undone", text="tea")
        assert house.desk.did == [("note_down", "tea"), ("note_more", "tea"), ("note_back", "tea")]


async def test_where_nobody_knows_whether_a_step_happened_nothing_more_is_done(
    tmp_path: Path,
) -> None:
    """Neither the next step nor what would undo the ones before: nothing is guessed."""
    async with office(tmp_path) as house:
        answer = await house.carry_out("do it", "lost", text="tea")
        assert house.desk.did == [("note_down", "tea"), ("get_lost", "tea")]
        assert (
            said(answer)
            == "Nobody knows whether get_lost of workflow lost happened (outcome_unknown)."
        )
        kept = (await house.thread()).last_error
        (child,) = house.query("SELECT id FROM runs WHERE flow = 'workflow'")[0]
        assert (kept["workflowId"], kept["capabilityId"], kept["code"]) == (
            child,
            "get_lost",
            "outcome_unknown",
        )
        assert kept["output"] == "connection: nobody knows"


async def test_a_template_lowers_how_often_a_step_is_tried(tmp_path: Path) -> None:
    """The verb's own retries are three; the template says two."""
    async with office(tmp_path) as house:
        await house.carry_out("keep it", "patient", text="tea")
        assert house.desk.did == [("third_time", "1"), ("third_time", "2")]


async def test_a_template_lowers_how_long_a_step_may_take(tmp_path: Path) -> None:
    """Its time is over before the verb's; of a write nobody knows then whether it happened, and
    nothing more is done.
    """
    brief = template(
        "brief",
        [step("note_down", "note_back"), step("hold_on", timeout_ms=1000), step("note_more")],
    )
    async with office(tmp_path, templates={"brief": brief}) as house:
        answer = await house.carry_out("do it quickly", "brief", text="tea")
        assert "(outcome_unknown)" in said(answer)
        assert house.desk.did == [("note_down", "tea")]


async def test_a_step_may_be_a_verb_that_asks_a_model(tmp_path: Path) -> None:
    """It is carried out as everywhere, as a run of its own; what it says becomes no step."""
    asks_model = template(
        "hear", [{"verb": "chat_general", "args": {"text": {"$arg": "text"}}}, step("note_down")]
    )
    async with office(tmp_path, templates={"hear": asks_model}) as house:
        answer = await house.carry_out("ask it", "hear", text="tea")
        assert answer.reply is not None
        assert answer.reply.ok, answer.reply
        assert house.desk.did == [("note_down", "tea")]
        assert [flow for (flow,) in house.query("SELECT flow FROM runs ORDER BY no")] == [
            "turn",
            "workflow",
            "verb_plan",
        ]


async def test_a_workflow_is_cancelled_before_its_next_step(tmp_path: Path) -> None:
    """The step at work ends, the next one never begins, and nothing is undone that somebody did not
    ask for.
    """
    async with office(tmp_path) as house:
        sent = await house.start("do it slowly", "slow", text="tea")
        await house.desk.holding.wait()
        (root,) = house.query("SELECT id FROM runs WHERE flow = 'turn'")[0]
        await house.ordain.runtime.operators.cancel(root, by="ada", why="enough")
        house.desk.gate.set()
        answer = await house.told(sent)
        assert house.desk.did == [("note_down", "tea"), ("hold_on", "tea")]
        assert house.ends() == {
            "turn": ("cancelled", "cancellation_requested"),
            "workflow": ("cancelled", "cancellation_requested"),
        }
        assert "(cancellation_requested)" in said(answer)
        assert answer.reply is not None
        assert "hold_on" in (answer.reply.header or "")


async def test_what_waits_for_a_yes_can_be_cancelled(tmp_path: Path) -> None:
    """Its approval is withdrawn: nobody can say yes to it any more."""
    async with office(tmp_path) as house:
        sent, view = await house.proposed("tell them", "announce", text="tea")
        (root,) = house.query("SELECT id FROM runs WHERE flow = 'turn'")[0]
        await house.ordain.runtime.operators.cancel(root, by="ada", why="never mind")
        await house.quiet()
        assert "(cancellation_requested)" in said(await house.told(sent))
        assert (
            await house.ordain.runtime.approvals.one(WORKSPACE, view.row.id)
        ).row.state == ApprovalState.WITHDRAWN
        with pytest.raises(Conflict):
            await house.decide(view)
        assert house.desk.did == []


async def test_what_went_wrong_can_be_asked(tmp_path: Path) -> None:
    """The thread keeps all that C5 names, of the step that failed; the answer is code's, and asks
    no model.
    """
    async with office(tmp_path) as house:
        answer = await house.carry_out("do it", "fragile", text="tea")
        (child,) = house.query("SELECT id FROM runs WHERE flow = 'workflow'")[0]
        assert answer.run_id is not None
        kept = (await house.thread()).last_error
        assert {
            name: kept[name]
            for name in ("runId", "workflowId", "threadId", "extensionId", "capabilityId", "code")
        } == {
            "runId": answer.run_id,
            "workflowId": child,
            "threadId": 1,
            "extensionId": "break_off",
            "capabilityId": "break_off",
            "code": "no_ink",
        }
        assert kept["messageId"]
        assert kept["timestampMs"] > 0
        assert kept["output"].startswith("there is no ink for it")
        assert len(kept["output"]) == 300
        asked = len(house.puppet.requests)
        wrong = await house.say("what went wrong?")
        assert wrong.attached == "status_nudge"
        assert "break_off" in said(wrong)
        assert "no_ink" in said(wrong)
        assert "there is no ink for it" in said(wrong)
        assert len(house.puppet.requests) == asked


# --- what a model suggests ------------------------------------------------------------------------


def suggests_workflow(proposal: Any) -> ModelScript:
    """A model that suggests this, whatever the message."""
    return ModelScript().on("workflow", proposal)


ASKING = {"outcome": {"ask": "local"}}


async def test_a_model_suggests_a_workflow_and_code_decides(tmp_path: Path) -> None:
    """Where policy names its lane, and the message names no workflow itself.

    RTE-06 "LLM may suggest a workflow template and arguments."
    """
    script = suggests_workflow({"template": "note_twice", "args": {"text": "tea"}})
    async with office(tmp_path, script=script, policy=ASKING) as house:
        answer = await house.say("please write down tea, twice")
        assert answer.reply is not None
        assert answer.reply.ok
        assert house.desk.did == [("note_down", "tea"), ("note_down", "and again")]


async def test_nothing_is_asked_of_a_model_where_policy_names_no_lane(tmp_path: Path) -> None:
    """As shipped."""
    script = suggests_workflow({"template": "note_twice", "args": {"text": "tea"}})
    async with office(tmp_path, script=script) as house:
        await house.say("please write down tea, twice")
        assert house.desk.did == []
        assert house.puppet.asked("workflow") == []


@pytest.mark.parametrize(
    ("proposal", "code"),
    [
        ({"template": "no_such", "args": {}}, "unknown_template"),
        ({"template": "announce", "args": {}}, "missing_argument"),
        ({"template": "announce", "args": {"text": "tea", "verb": "pay_out"}}, "unknown_argument"),
        ({"template": "announce", "args": {"text": ["tea"]}}, "mistyped_argument"),
        (
            {
                "template": "announce",
                "args": {"text": "tea"},
                "steps": [{"verb": "pay_out", "args": {}}],
            },
            "malformed_suggestion",
        ),
        ({"template": "announce", "args": []}, "malformed_suggestion"),
        ({"template": ["announce"], "args": {}}, "malformed_suggestion"),
        ("announce", "malformed_suggestion"),
    ],
)
async def test_a_model_that_suggests_more_than_a_template_is_refused(
    tmp_path: Path, proposal: Any, code: str
) -> None:
    """No step, no verb and no argument of its own comes of what it says; where policy says so the
    message is answered as if it had said nothing.
    """
    async with office(tmp_path, script=suggests_workflow(proposal), policy=ASKING) as house:
        assert f"({code})" in said(await house.say("please do it"))
        assert house.desk.did == []
    direct = {"outcome": {"ask": "local", "on_refusal": "direct"}}
    async with office(
        tmp_path / "direct", script=suggests_workflow(proposal), policy=direct
    ) as house:
        answer = await house.say("please do it")
        assert answer.reply is not None
        assert answer.reply.ok
        assert house.desk.did == []


async def test_what_a_model_suggests_waits_for_a_yes_like_anybodys(tmp_path: Path) -> None:
    """It is a suggestion; whose it is does not count.

    WFL-03 "Model suggests template + arguments; code owns lifecycle, transitions, approvals."
    """
    script = suggests_workflow({"template": "announce", "args": {"text": "tea"}})
    async with office(tmp_path, script=script, policy=ASKING) as house:
        sent = await house.send("tell them tea is ready please")
        await house.quiet()
        (view,) = await house.ordain.runtime.approvals.listed(WORKSPACE)
        assert house.desk.did == []
        assert msgspec.to_builtins(view.calls[0])["args"] == {"text": "tea"}
        await house.decide(view)
        await house.told(sent)
        assert house.desk.did == [("note_down", "tea"), ("send_out", "tea")]


async def test_an_agents_pack_brings_no_template(tmp_path: Path) -> None:
    """A planner's tools are verbs: a template is none, whatever it is called by."""
    script = (
        ModelScript()
        .on("planner", call("announce", text="tea"), index=0)
        .on("planner", finish("tried"))
    )
    async with office(tmp_path, script=script) as house:
        await house.say("tell them", mode="agent")
        assert house.desk.did == []
        assert house.query("SELECT count(*) FROM runs WHERE flow = 'workflow'") == [(0,)]
