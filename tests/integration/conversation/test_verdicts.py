"""The verdict on every face: what a header opens with when models say otherwise, and what clears an
unknown one.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ordain import Ordain, verb
from ordain.app import Extras
from ordain.contracts.cortex import HubChat
from ordain.contracts.policy import BudgetClass, Lane
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.verbs import ArgumentRole, VerbRequest
from ordain.flows.commission import MessageFacts, RecallAsked
from ordain.flows.turn.request import TurnInput
from ordain.flows.turn.router import caps_told, router_prompt
from ordain.journal.codec import decode
from ordain.journal.partial_bodies import MODEL
from ordain.journal.records import IntentBody, RecordKind, Started
from ordain.models.chat_completions import read_completion
from ordain.models.schemas import OutputTool
from ordain.models.scripted import ScriptedModel, make_script
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.ports.store import StoredRun
from ordain.runtime.brief import needs_all
from ordain.server import Face, build_app
from ordain.server.translation import HUB_WS, canonical, chat_of_hub, client_request, source_of
from ordain.settings import load_settings
from ordain.verbs.functions import VerbError
from tests.replay.golden import act, finish, request
from tests.replayed import replayed

OVER = threading.Event()
WRITES = {"text": ArgumentRole.CONTENT}


@verb(effect="private", arguments=WRITES)
def keep(text: str) -> dict[str, str]:
    """Keep a note, but not a bad one."""
    if text == "bad":
        raise VerbError("refused", "the note is not kept", happened=False)
    return {"text": text}


@verb(effect="private", arguments=WRITES)
def lose(text: str) -> dict[str, str]:
    """Lose the connection, so that nobody knows."""
    raise VerbError("connection", "the service did not answer", happened=None)


@asynccontextmanager
async def house(home: Path, **script: Any) -> AsyncIterator[tuple[Ordain, httpx2.AsyncClient]]:
    """An Ordain with scripted proposals, or offline where there are none, and its HTTP face."""
    settings, extras = load_settings({}, home), Extras(verbs=(keep, lose))
    ask, model = script.pop("ask", None), script.pop("model", None)
    if script:
        policy = settings.policy
        policy = policy.model_copy(
            update={"supervisor": policy.supervisor.model_copy(update={"ask": ask, "max_steps": 8})}
        )
        profiles = {
            "default": ModelProfile(provider="scripted", model="scripted", script="in memory")
        }
        settings = settings.model_copy(update={"profiles": profiles, "policy": policy})
        extras = Extras(
            verbs=(keep, lose), models={"default": model or ScriptedModel(make_script(**script))}
        )
    async with Ordain(settings, extras=extras) as ordain:
        face = Face(runtime=ordain.runtime)
        transport = httpx2.ASGITransport(build_app(face), raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            yield ordain, http


def agent(text: str, *verbs: str, session: str = "s") -> dict[str, Any]:
    """A message in agent mode with these tools."""
    return {
        "text_input": text,
        "mode": "agent",
        "session_id": session,
        "options": {"allowed_verbs": list(verbs)},
    }


DIVIDE = act("math.evaluate", {"expression": "1 / 0"})


async def test_a_plan_whose_only_tool_failed_is_partial_everywhere(tmp_path: Path) -> None:
    """RTE-12 “failures must not be summarised away”: whatever the model says, answer, run and
    header say partial; ``status`` stays the source's.
    """
    async with house(tmp_path, planner=[DIVIDE, finish("computed successfully")]) as (_, http):
        told = (await http.post("/plan/react", json=request("math.evaluate"))).json()
        assert (told["status"], told["verdict"]) == ("ok", "partial")
        assert told["header"].startswith(f"✗ partial · ordain run {told['run_id']} · planner@5")
        run = (await http.get(f"/runs/{told['run_id']}")).json()
        assert (run["verdict"], run["response"]["verdict"], run["header"]) == (
            "partial",
            "partial",
            told["header"],
        )


OUTSIDE = act("mail.draft", {"to": ["bob@example.com"], "subject": "hi", "text": "report"})
UNFIT = act("math.evaluate", {"formula": "1 + 1"})
ADD = act("math.evaluate", {"expression": "1 + 1"})
WROTE = finish("I have written to Bob.")
REFUSED = {
    "and something else was done": ([OUTSIDE, ADD, WROTE], "partial", True),
    "and nothing else was done": ([OUTSIDE, WROTE], "no tool succeeded", True),
    "and then it fitted": ([UNFIT, ADD, WROTE], "ok", False),
    "for its input, which is no object": (
        [ADD, {**OUTSIDE, "action": {"tool_id": "mail.draft", "input": ["bob"]}}, WROTE],
        "partial",
        True,
    ),
    "for a word too many": ([ADD, {**OUTSIDE, "now": True}, WROTE], "partial", True),
    "for an answer beside it": (
        [ADD, {**OUTSIDE, "final_answer": WROTE["final_answer"]}, WROTE],
        "partial",
        True,
    ),
    "for a second object": ([ADD, json.dumps(OUTSIDE) + json.dumps(WROTE), WROTE], "partial", True),
    "cut off": ([ADD, json.dumps(OUTSIDE)[:-4], WROTE], "partial", True),
    "for its shape, and then it had one": ([{**ADD, "now": True}, ADD, WROTE], "ok", False),
    "and there is no such verb": ([act("write_bob", {}), ADD, WROTE], "ok", True),
}


@pytest.mark.parametrize(("said", "verdict", "whole"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("mode", ["plan", "agent"])
async def test_a_call_that_was_refused_before_it_was_one(
    tmp_path: Path, said: list[Any], verdict: str, mode: str, *, whole: bool
) -> None:
    """RTE-12 “failures must not be summarised away”: the verb stands in the header, which one line
    does not stand for, and no other verb's success makes it good.
    """
    async with house(tmp_path, planner=said) as (ordain, http):
        if mode == "plan":
            told = (await http.post("/plan/react", json=request("math.evaluate"))).json()
        else:
            told = (await http.post("/api/chat", json=agent("add", "math.evaluate"))).json()[
                "reply"
            ]
        assert told["verdict"] == verdict
        assert needs_all(told["header"]) is whole
        named = {"partial": ": mail.draft", "no tool succeeded": "step 1: mail.draft"}.get(
            verdict, "step 1: "
        )
        assert named in told["header"]
        run = told["header"].partition("ordain run ")[2].partition(" ")[0]
        stored = await ordain.runtime.services.store.load([run])
        assert all(
            replayed(ordain.runtime.services, run).equal
            for run in stored.values()
            if isinstance(run, StoredRun)
        )


ACTION = {"tool_id": "math.evaluate", "input": {"expression": "2 + 2"}}
SHAPELESS = {
    "in a list": json.dumps([{"thought": "", "finish": False, "action": ACTION}]),
    "a key too many": {"thought": "", "finish": False, "action": ACTION, "note": "now"},
    "bare": ACTION,
}


@pytest.mark.parametrize("said", SHAPELESS.values(), ids=SHAPELESS)
@pytest.mark.parametrize("mode", ["plan", "agent"])
async def test_a_call_that_had_no_shape_was_proposed(tmp_path: Path, said: Any, mode: str) -> None:
    """RTE-12 “failures must not be summarised away”: a call was refused for its shape, the model
    says that it was made, and nothing was.
    """
    async with house(tmp_path, planner=[said, finish("It was worked out: 4.")]) as (_, http):
        if mode == "plan":
            told = (await http.post("/plan/react", json=request("math.evaluate"))).json()
        else:
            told = (await http.post("/api/chat", json=agent("add", "math.evaluate"))).json()[
                "reply"
            ]
        assert told["verdict"] == "no tool succeeded"
        assert told["header"].startswith("✗ no tool succeeded · ordain run")


class Calling(ScriptedModel):
    """Calls a tool of its own endpoint's at first, which is no answer, and then plays its
    script.
    """

    called = False

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort``."""
        if not self.called and request.purpose == "planner":
            self.called = True
            return self.first()
        return await super().attempt(request, heard)

    def first(self) -> ModelReply | ModelError:
        """What the first call comes to."""
        function = {"name": "math.evaluate", "arguments": "{}"}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "type": "function", "function": function}],
        }
        return read_completion(
            json.dumps({"choices": [{"finish_reason": "tool_calls", "message": message}]}).encode(),
            "m",
        )


async def test_a_call_that_was_no_answer_was_proposed(tmp_path: Path) -> None:
    """RTE-12 “failures must not be summarised away”: an attempt that called a tool as its endpoint
    has them is tried again, and has proposed a call.
    """
    model = Calling(make_script(planner=[finish("4"), finish("4")]))
    async with house(tmp_path, planner=[], model=model) as (_, http):
        told = (await http.post("/plan/react", json=request("math.evaluate"))).json()
        assert told["verdict"] == "no tool succeeded"
        assert "a call of a tool that was not offered" in told["header"]


@pytest.mark.parametrize(
    ("name", "given", "verdict"),
    [
        ("math.evaluate", {"expression": "1"}, "no tool succeeded"),
        ("step", {"answer": finish("4")}, "ok"),
    ],
)
async def test_what_is_called_in_place_of_the_answers_tool(
    tmp_path: Path, name: str, given: dict[str, Any], verdict: str
) -> None:
    """Where the answer is held by a tool, another tool's call is a proposed call; the answer under
    another name is a broken answer and none.
    """
    tool = OutputTool("planner_step", {"anyOf": [{"type": "object"}]})

    class Naming(Calling):
        """Calls by another name at first."""

        def first(self) -> ModelReply | ModelError:
            """See ``Calling``."""
            said = tool.answer([(name, json.dumps(given))])
            assert isinstance(said, ModelError)
            return said

    async with house(
        tmp_path, planner=[], model=Naming(make_script(planner=[finish("4"), finish("4")]))
    ) as (_, http):
        told = (await http.post("/plan/react", json=request("math.evaluate"))).json()
        assert told["verdict"] == verdict


async def test_prose_for_a_directive_proposed_nothing(tmp_path: Path) -> None:
    """An answer that proposed no call is ``ok`` with the line that no tool was used, also where it
    came as prose at first.
    """
    async with house(tmp_path, planner=["It is 4.", finish("4")]) as (_, http):
        told = (await http.post("/plan/react", json=request("math.evaluate"))).json()
        assert told["verdict"] == "ok"
        assert "no tool was used" in told["header"]


async def test_another_argument_makes_no_write_good(tmp_path: Path) -> None:
    """FAIL-04 “never a silent fallback claiming success”: a write that failed is made good by the
    identical call alone, and the turn is not ok.
    """
    bad, good = act("keep", {"text": "bad"}), act("keep", {"text": "good"})
    async with house(tmp_path, planner=[bad, good, finish("all kept")]) as (ordain, http):
        told = (await http.post("/api/chat", json=agent("keep both", "keep"))).json()
        reply, result = told["reply"], told["cortex_result"]
        assert (reply["ok"], reply["verdict"], reply["narrative"]) == (False, "partial", "all kept")
        assert (result["ok"], result["verdict"], result["status"], result["error"]["code"]) == (
            False,
            "partial",
            "partial",
            "partial",
        )
        events = [event async for event in first(ordain, "s", 2)]
        assert events[-1].verdict == "partial"


async def first(ordain: Ordain, session: str, number: int) -> AsyncIterator[Any]:
    """So many durable events of a session's stream."""
    async for event in ordain.runtime.conversation.events("default", session):
        if hasattr(event, "seq"):
            yield event
            number -= 1
        if not number:
            return


async def test_offline_nothing_is_done(tmp_path: Path) -> None:
    """Without a model code can only repeat: that is no deed, in either mode, and an agent is not
    ok.
    """
    said = "Delete report.txt and email Bob"
    async with house(tmp_path) as (_, http):
        chat = (await http.post("/api/chat", json={"text_input": said, "session_id": "a"})).json()
        assert (chat["reply"]["ok"], chat["reply"]["verdict"]) == (True, "nothing done")
        assert chat["reply"]["header"].startswith("· nothing done · ordain run")
        worked = (
            await http.post(
                "/api/chat", json={"text_input": said, "mode": "agent", "session_id": "b"}
            )
        ).json()
        assert (
            worked["reply"]["ok"],
            worked["reply"]["verdict"],
            worked["cortex_result"]["status"],
        ) == (False, "nothing done", "fail")


async def test_what_a_supervisor_sends_back_was_not_done(tmp_path: Path) -> None:
    """A proposal has a mark of its own and the supervisor's move is a line; the tool never ran, so
    that no mark of success stands there.
    """
    script = {"planner": [act("math.evaluate", {"expression": "2 + 2"}), finish("4")]}
    moves = [{"decision": "request_replan"}, {"decision": "finish"}]
    async with house(tmp_path, **script, supervisor=moves, ask=Lane.BRAIN) as (_, http):
        reply = (await http.post("/api/chat", json=agent("add", "math.evaluate"))).json()["reply"]
        lines = [line.strip() for line in reply["header"].split("\n")]
        assert lines[0].startswith("✗ no tool succeeded · ordain run")
        assert "→ step 1: math.evaluate · step.call" in lines
        assert (
            lines[lines.index("→ step 1: math.evaluate · step.call") + 1]
            == "· supervisor: request_replan · supervise.suggested"
        )
        assert not any(line.startswith("✓") for line in lines)
        assert (reply["ok"], reply["verdict"]) == (False, "no tool succeeded")
        assert " 0 verb calls, " in lines[-1]


async def test_what_a_turn_enters_by_is_no_verb_call(tmp_path: Path) -> None:
    """A turn without tools has none and says so; three tools are three."""
    sums = [act("math.evaluate", {"expression": f"2 + {number}"}) for number in range(3)]
    script = {
        "planner": [*sums, finish("done")],
        "verbs": {"chat_general": [{"content": "Hello."}]},
    }
    async with house(tmp_path, **script) as (_, http):
        chat = (
            (await http.post("/api/chat", json={"text_input": "hello", "session_id": "a"}))
            .json()["reply"]["header"]
            .split("\n")
        )
        assert (chat[0].partition(" ·")[0], chat[-2]) == ("✓ ok", "· no tool was used")
        assert " 0 verb calls, " in chat[-1]
        worked = (
            await http.post("/api/chat", json=agent("add", "math.evaluate", session="b"))
        ).json()
        assert " 3 verb calls, " in worked["reply"]["header"].split("\n")[-1]
        assert worked["cortex_result"]["metadata"]["executed_verbs"] == ["math.evaluate"]
        steps = [(step["step_name"], step["status"]) for step in worked["cortex_result"]["steps"]]
        assert steps == [*[("math.evaluate", "success")] * 3, ("agent_chain", "skipped")]


async def test_an_unknown_effect_is_cleared_by_a_person_alone(tmp_path: Path) -> None:
    """What nobody knows comes before all else, however much succeeded; once somebody says what
    became of it, every face says so.
    """
    script = [act("lose", {"text": "x"}), act("math.evaluate", {"expression": "1"}), finish("done")]
    async with house(tmp_path, planner=script) as (_, http):
        told = (await http.post("/plan/react", json=request("lose", "math.evaluate"))).json()
        assert told["verdict"] == "unknown"
        assert told["header"].startswith("? unknown · ")
        run = f"/runs/{told['run_id']}"
        (effect,) = (await http.get(run)).json()["unknown_effects"]
        await http.post(
            f"{run}/resolve", json={"effect": effect, "happened": True, "why": "it is there"}
        )
        now = (await http.get(run)).json()
        assert (now["verdict"], now["response"]["verdict"], now["unknown_effects"]) == (
            "ok",
            "ok",
            [],
        )
        assert now["header"].startswith("✓ ok · ordain run")
        assert now["header"].endswith(
            f"\n· resolve by http:loopback: lose (effect {effect}) happened"
        )
        assert "? lose" in now["header"]


async def test_what_is_said_not_to_have_happened_is_no_success(tmp_path: Path) -> None:
    """Then the call failed, and nothing made it good: in a turn as well, whose child it was."""
    async with house(tmp_path, planner=[act("lose", {"text": "x"}), finish("sent")]) as (
        ordain,
        http,
    ):
        reply = (
            await http.post("/api/chat", json=agent("please send the note to the archive", "lose"))
        ).json()
        assert (reply["reply"]["verdict"], reply["cortex_result"]["error"]["code"]) == (
            "unknown",
            "outcome_unknown",
        )
        (child,) = [
            row.id
            for row in await ordain.runtime.runs(roots_only=False)
            if row.parent == reply["run_id"]
        ]
        (effect,) = (await http.get(f"/runs/{child}")).json()["unknown_effects"]
        await http.post(
            f"/runs/{child}/resolve",
            json={"effect": effect, "happened": False, "why": "it is not there"},
        )
        assert (await http.get(f"/runs/{reply['run_id']}")).json()["verdict"] == "partial"


async def test_how_a_message_came_is_in_log_and_journal(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """HUB-06 “metadata:{source:"hub_ws", trace_verb}”: both labels are kept with the decision and
    the run; the same message by another way is the same.
    """
    caplog.set_level(logging.INFO)
    async with house(tmp_path, planner=[finish("done")]) as (ordain, http):
        hub = HubChat.model_validate({**agent("hello", "math.evaluate"), "message_id": "m1"})
        client = client_request(chat_of_hub(hub, HUB_WS))
        message = canonical(client, "s", message_id="m1")
        sent = await ordain.runtime.receive(message, "local:test", source=source_of(client))
        assert "source='hub_ws' trace_verb='task_execution'" in caplog.text
        again = (
            await http.post(
                "/api/chat", json={**agent("hello", "math.evaluate"), "message_id": "m1"}
            )
        ).json()
        assert again["duplicate"]
        view = await ordain.runtime.view(again["run_id"])
        first_record = decode(view.stored.records[0])
        assert isinstance(first_record, Started)
        assert b'"source":"hub_ws"' in bytes(first_record.input)
        assert b'"trace_verb":"task_execution"' in bytes(first_record.input)
        (entry, *_) = await ordain.runtime.conversation.transcript("default", "s", after=0, limit=5)
        assert b'"source":"hub_ws"' in (entry.decision or b"")
        assert sent.seq == entry.seq


@pytest.mark.parametrize(
    ("caller", "account"),
    [("evil-1", "other"), ("evil-2", "other"), ("agent-daemon", "agent-daemon")],
)
async def test_unknown_callers_share_one_account(tmp_path: Path, caller: str, account: str) -> None:
    """B-03 “policy (quotas, lanes) keys only on known values”: a caller that makes up names gets no
    fresh budget with each of them.
    """
    settings = load_settings({}, tmp_path)
    budget = settings.policy.budget
    bounded = budget.model_copy(
        update={"agent": budget.agent.model_copy(update={"tokens": 90_000})}
    )
    changed = settings.model_copy(
        update={"policy": settings.policy.model_copy(update={"budget": bounded})}
    )
    async with Ordain(changed, extras=Extras(memory=True)) as ordain:
        planned = (await ordain.plan({**request("math.evaluate"), "caller": caller})).wire
        accepted = await ordain.runtime.accept(
            VerbRequest(verb_id="math.evaluate", payload={"expression": "1"}, caller=caller),
            "local:test",
        )
        await ordain.runtime.wait(accepted.run)
        for run in (planned["run_id"], accepted.run):
            (claim,) = [
                record
                for record in (await ordain.runtime.view(run)).stored.records
                if record.kind is RecordKind.CLAIM
            ]
            assert f'"agent:{account}:'.encode() in (claim.body or b"")


async def test_a_supervisor_is_told_what_is_left(tmp_path: Path) -> None:
    """EXE-11 “observations, budgets}”: of each bound what is left stands in what it is asked, and a
    call of the planner ends with its step.

    EXE-17 “Each step call is bounded by `step.timeout_ms`”
    """
    script = {"planner": [act("math.evaluate", {"expression": "2 + 2"}), finish("4")]}
    moves = [{"decision": "execute_action"}, {"decision": "finish"}]
    async with house(tmp_path, **script, supervisor=moves, ask=Lane.BRAIN) as (ordain, http):
        answer = (await http.post("/api/chat", json=agent("add", "math.evaluate"))).json()
        (child,) = [
            row.id
            for row in await ordain.runtime.runs(roots_only=False)
            if row.parent == answer["run_id"]
        ]
        records = (await ordain.runtime.view(child)).stored.records
        calls = [
            (record.at, MODEL.decode(body.effect))
            for record in records
            if isinstance(body := decode(record), IntentBody) and record.name == "model_call"
        ]
        asked = [call.args["budgets"] for _, call in calls if call.purpose == "supervisor"]
        assert [set(one) for one in asked] == [
            {
                "tokens_reason",
                "tokens_answer",
                "tokens",
                "usd_micros",
                "model_calls",
                "verb_calls",
                "ms",
            }
        ] * 2
        assert asked[1]["model_calls"] == asked[0]["model_calls"] - 2
        assert asked[1]["verb_calls"] == asked[0]["verb_calls"] - 1
        assert [
            call.deadline - at <= 120_000_000 for at, call in calls if call.purpose == "planner"
        ] == [True, True]
        started = decode(records[0])
        assert isinstance(started, Started)
        assert b'"step_timeout_ms":120000' in bytes(started.input)


@pytest.mark.parametrize(("model_ms", "limit_s"), [(40_000, 600), (600_000, 5)])
async def test_a_planners_call_ends_by_what_is_configured(
    tmp_path: Path, model_ms: int, limit_s: float
) -> None:
    """By its model's own time or by policy's for the whole plan, whichever is over first, whatever
    a request wants.

    EXE-17 "planner/council RPCs by configured timeout knobs."
    """
    settings = load_settings({}, tmp_path)
    limits = settings.policy.limits.model_copy(update={"timeout_seconds": limit_s})
    profile = ModelProfile(
        provider="scripted", model="scripted", script="in memory", timeout_ms=model_ms
    )
    settings = settings.model_copy(
        update={
            "profiles": {"default": profile},
            "policy": settings.policy.model_copy(update={"limits": limits}),
        }
    )
    script = ScriptedModel(make_script(planner=[finish("4")]))
    async with Ordain(settings, extras=Extras(models={"default": script}, memory=True)) as ordain:
        planned = (
            await ordain.plan(request("math.evaluate", limits={"timeout_seconds": 3600}))
        ).wire
        records = (await ordain.runtime.view(planned["run_id"])).stored.records
    bodies = [
        (record.name, body) for record in records if isinstance(body := decode(record), IntentBody)
    ]
    (call,) = [MODEL.decode(body.effect) for name, body in bodies if name == "model_call"]
    assert call.deadline - records[0].at == min(model_ms * 1000, limit_s * 1_000_000)


@verb(effect="read", timeout_ms=50)
def dawdle(text: str) -> dict[str, str]:
    """Take longer than it may."""
    OVER.wait(30)
    return {"text": text}


async def test_a_functions_time_binds(tmp_path: Path) -> None:
    """EXE-17 “Each step call is bounded by `step.timeout_ms`”: a plain function that takes longer
    than it declares is not waited for.
    """
    async with Ordain(
        load_settings({}, tmp_path), extras=Extras(verbs=(dawdle,), memory=True)
    ) as ordain:
        told = (await ordain.execute("dawdle", {"text": "x"})).wire
        OVER.set()
        assert (told["ok"], told["error"]["code"], told["verdict"]) == (
            False,
            "timed_out",
            "partial",
        )


def test_a_router_is_told_recall_and_caps() -> None:
    """EXE-09 “recall/debug context”: what will be asked of memory, and the caps of each class;
    earlier versions were told neither.
    """
    policy = load_settings({}, Path("nowhere")).policy
    given = TurnInput(
        seq=1,
        message=MessageFacts(
            text="hello", user="ada", channel="web", recall=RecallAsked(required=True)
        ),
    )
    told = router_prompt(given, "chat_general", caps_told(policy)).context
    assert told["recall"] == {"required": True, "mode": "hybrid", "max_items": 8}
    assert (
        told["caps"]["classes"]["large"]["max_steps"]
        == policy.router.classes[BudgetClass.LARGE].max_steps
    )
    assert told["caps"]["supervised_steps"] == policy.supervisor.max_steps
    assert set(router_prompt(given, "chat_general").context) == {"message_number"}
