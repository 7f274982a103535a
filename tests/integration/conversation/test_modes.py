"""What a mode, a verb and a supervised turn come to, in whole turns: the plan, the path, the lanes,
and what a model is asked when.
"""

from __future__ import annotations

import json
from typing import Any, TypedDict

import msgspec
import pytest

from ordain.contracts.conversation import Message, MessageAnswer
from ordain.flows.turn.kind import TURN
from ordain.ports.model import ModelRequest
from ordain.testing import ModelScript, ScriptLine, call, finish, moves, routes, suggests
from ordain.verbs.functions import FunctionVerb, verb
from tests.shapes.lines import about, act, asks, holds, script_of, steps, words
from tests.shapes.talk import House, message

AGENT = ["planner_react/PlannerReactService", "agent_chain/AgentChainService"]
COUNCIL = ["council_supervisor/CouncilService"]
MODELS = {"router": {"ask": "local"}, "supervisor": {"ask": "brain"}}


class Written(TypedDict):
    """What was written down."""

    length: int


class Notebook:
    """What happened, in its order: what the models of a script were asked, with what they saw, and
    which verbs ran.
    """

    def __init__(self, script: ModelScript | None = None) -> None:
        """Nothing has happened."""
        self.happened: list[tuple[str, Any]] = []
        self.script = script_of(ScriptLine(says=self._note), script or ModelScript())

    def verb(self) -> FunctionVerb[..., Any]:
        """A verb that writes into this notebook."""

        @verb(effect="read")
        def write_down(text: str) -> Written:
            """Write down."""
            self.happened.append(("write_down", text))
            return {"length": len(text)}

        return write_down

    def seen(self, purpose: str) -> list[dict[str, Any]]:
        """What the models of a purpose saw."""
        return [what for name, what in self.happened if name == purpose]

    def _note(self, request: ModelRequest) -> None:
        self.happened.append((request.purpose, request.inputs))


async def turn(
    house: House, text: str = "please work this out", **hints: Any
) -> tuple[MessageAnswer, dict[str, Any]]:
    """A turn's answer and output."""
    answer = await house.say(text, **hints)
    return answer, json.loads(bytes((await house.ordain.runtime.view(answer.run_id or "")).result))


def lanes_of(house: House) -> set[tuple[str, str]]:
    """Purpose and lane of every model call there was."""
    bodies = [
        json.loads(body)
        for (body,) in house.query(
            "SELECT CAST(body AS TEXT) FROM journal WHERE kind = 'decision' AND name = 'lane'"
        )
    ]
    return {(body["facts"]["purpose"], body["outcome"]["lane"]) for body in bodies}


@pytest.mark.parametrize(
    ("hints", "verb", "plan"),
    [
        ({}, "chat_general", ["chat_general/LLMGatewayService"]),
        ({"verb": "extract_facts"}, "extract_facts", ["extract_facts/LLMGatewayService"]),
        (
            {"supervised": True},
            "chat_general",
            ["planner_react/PlannerReactService", "chat_general/LLMGatewayService"],
        ),
        ({"mode": "agent"}, "agent_runtime", AGENT),
        ({"mode": "agent", "verb": "chat_general"}, "chat_general", AGENT),
        ({"mode": "agent", "verb": "extract_facts", "supervised": True}, "extract_facts", AGENT),
        (
            {"mode": "agent", "allowed_verbs": ["extract_facts", "summarize_facts"]},
            "agent_runtime",
            AGENT,
        ),
        ({"mode": "council"}, "council_runtime", COUNCIL),
        ({"mode": "council", "verb": "chat_general"}, "chat_general", COUNCIL),
        ({"mode": "council", "supervised": True}, "council_runtime", COUNCIL),
    ],
)
async def test_the_plan_of_a_turn(hints: dict[str, Any], verb: str, plan: list[str]) -> None:
    """Whatever else a message asks for, the plan of its turn is the mode's, what ran of it and what
    was skipped; the verb is what it was entered by.

    ORC-02 "branches on mode only"
    ORC-03 "steps `planner_react`(services `PlannerReactService`) then `agent_chain`(services
    `AgentChainService`)"
    ORC-04 "one step `council_supervisor`(services `CouncilService`)"
    """
    async with House(script=steps(finish("42"))) as house:
        _, result = await turn(house, **hints)
    assert (result["verb"], [*result.get("plan", []), *result.get("skipped", [])]) == (verb, plan)


@pytest.mark.parametrize(
    "hints", [{}, {"mode": "agent"}, {"mode": "council"}, {"verb": "extract_facts"}]
)
async def test_a_turn_is_a_typed_request(hints: dict[str, Any]) -> None:
    """What a turn is handed is of its type and nothing else, and the verb of its plan is what the
    router is asked about.

    EXE-01 "Exec parses every request as typed `CortexExecRequest`, then runs the plan through the
    router"
    """
    notebook = Notebook(steps(finish("42")).on("router", "none"))
    async with House(script=notebook.script, policy={"router": MODELS["router"]}) as house:
        _, result = await turn(house, **hints)
        names = [
            name
            for (name,) in house.query(
                "SELECT name FROM journal WHERE kind = 'decision' AND name IN ('entry', 'route')"
            )
        ]
        (stored,) = house.query(
            "SELECT CAST(body AS TEXT) FROM journal WHERE kind = 'started' AND name = 'turn'"
        )
    given = json.loads(stored[0])["input"]
    assert (
        msgspec.json.decode(
            msgspec.json.encode(TURN.decode_input(msgspec.Raw(json.dumps(given).encode())))
        )
        == given
    )
    assert (names, [seen["verb"] for seen in notebook.seen("router")]) == (
        ["entry", "route"],
        [result["verb"]],
    )
    for forged in (
        {**given, "path": "direct"},
        {**given, "mode": "root"},
        {**given, "seq": "1"},
        {"text": "x"},
        [],
    ):
        with pytest.raises(msgspec.ValidationError):
            TURN.decode_input(msgspec.Raw(json.dumps(forged).encode()))


async def test_what_the_router_is_told() -> None:
    """The router model sees mode, verb and message, and what else code knows of the turn; it is
    asked before the supervised loop begins.

    EXE-09 "Input `{mode, verb, last_user_message, recall/debug context}`"
    """
    notebook = Notebook(steps(finish("42")).on("router", "none"))
    hints: dict[str, Any] = {"mode": "agent", "allowed_verbs": ["write_down"], "max_steps": 2}
    async with House(
        script=notebook.script, verbs=[notebook.verb()], policy={"router": MODELS["router"]}
    ) as house:
        await turn(house, "work out the fence", **hints)
    (seen,) = notebook.seen("router")
    assert (seen["mode"], seen["verb"], seen["message"]) == (
        "agent",
        "agent_runtime",
        "work out the fence",
    )
    assert {key: seen["context"][key] for key in ("tools", "max_steps")} == {
        "tools": ["write_down"],
        "max_steps": 2,
    }
    assert seen["context"]["message_number"] >= 1
    assert [name for name, _ in notebook.happened] == ["router", "planner"]


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize(
    ("hints", "verb", "path"),
    [
        ({}, "chat_general", "direct"),
        ({"verb": "extract_facts"}, "extract_facts", "direct"),
        ({"supervised": True}, "chat_general", "react_lite"),
        ({"mode": "agent"}, "agent_runtime", "react_lite"),
        ({"mode": "agent", "verb": "extract_facts"}, "extract_facts", "react_lite"),
        ({"mode": "council", "verb": "extract_facts"}, "extract_facts", "council"),
        ({"mode": "council"}, "council_runtime", "council"),
    ],
)
async def test_the_supervised_path(
    hints: dict[str, Any], verb: str, path: str, asked: bool
) -> None:
    """Agent and supervised turns are driven by the supervisor and brain turns are not, a router
    model sees the plan's verb, and a council whose seats say nothing fails typed.
    """
    notebook = Notebook(steps(finish("42")).on("router", "no object at all"))
    async with House(
        script=notebook.script, policy={"router": MODELS["router"]} if asked else {}
    ) as house:
        answer, result = await turn(house, **hints)
        supervisors = house.query("SELECT count(*) FROM runs WHERE flow = 'supervisor'")[0][0]
        prompted = [
            request.purpose for request in house.puppet.requests if request.purpose != "router"
        ]
    assert (result["verb"], result["path"]) == (verb, path)
    assert supervisors == (path != "direct")
    assert (
        set(prompted) == {"direct": {"verb"}, "react_lite": {"planner"}, "council": {"seat"}}[path]
    )
    assert [(seen["verb"], seen["mode"]) for seen in notebook.seen("router")] == [
        (verb, hints.get("mode", "brain"))
    ] * asked
    assert answer.reply is not None
    assert verb in answer.reply.header or path != "direct"
    if path == "council":
        assert result["error"]["code"] == "council_no_quorum"


@pytest.mark.parametrize("key", ["content", "text"])
async def test_an_unsupervised_turn_says_the_payloads_text(key: str) -> None:
    """The text of the verb that served is the reply, and fields beside it that look like directives
    call nothing.

    EXE-03 "Unsupervised path: final text = payload `content` or `text`; directive-like fields
    (`next_verb`, `action`, …) have no effect there"
    """
    ran: list[str] = []

    @verb(effect="read")
    def oracle(text: str) -> dict[str, Any]:
        """Answer, and order about."""
        orders = {
            "next_verb": "write_down",
            "action": {"tool_id": "write_down", "input": {"text": "x"}},
            "finish": False,
        }
        return {key: "It is so.", **orders}

    @verb(effect="read")
    def write_down(text: str) -> Written:
        """Write down."""
        ran.append(text)
        return {"length": len(text)}

    async with House(verbs=[oracle, write_down]) as house:
        answer, result = await turn(house, verb="oracle", allowed_verbs=["oracle", "write_down"])
        calls = house.query(
            "SELECT count(*) FROM journal WHERE kind = 'intent' AND name = 'verb_call'"
        )
        assert house.puppet.requests == []
    assert answer.reply is not None
    assert (answer.reply.narrative, answer.reply.ok, result["executed"]) == (
        "It is so.",
        True,
        ["oracle"],
    )
    assert (calls, ran) == ([(1,)], [])


async def test_the_latest_proposals_action_binds() -> None:
    """Of all actions that a planner ever named, in answers, thoughts and earlier steps, each step
    runs the one of the newest answer.

    EXE-04 "Supervisor parses the planner reply as a typed model; the binding action is the last
    trace step's `action`"
    """
    writing = [
        act("write_down", {"text": text})
        | {"thought": f'run {{"tool_id": "write_down", "input": {{"text": "{text}!"}}}}'}
        for text in "abc"
    ]
    notebook = Notebook(steps(*writing, finish("written")))
    async with House(script=notebook.script, verbs=[notebook.verb()]) as house:
        answer, result = await turn(house, mode="agent", allowed_verbs=["write_down"], max_steps=4)
    assert [(name, what) for name, what in notebook.happened if name == "write_down"] == [
        ("write_down", text) for text in "abc"
    ]
    assert [name for name, _ in notebook.happened] == ["planner", "write_down"] * 3 + ["planner"]
    assert answer.reply is not None
    assert (answer.reply.ok, len(result["steps"])) == (True, 3)


@pytest.mark.parametrize(
    "reply",
    [
        {"trace": [{"thought": "", "action": {"tool_id": "write_down", "input": {"text": "x"}}}]},
        {**act("write_down", {"text": "x"}), "trace": []},
        {**act("write_down", {"text": "x"}), "finish": "false"},
        {
            **act("write_down", {"text": "x"}),
            "action": [{"tool_id": "write_down", "input": {"text": "x"}}],
        },
        [act("write_down", {"text": "x"})],
        (
            f"{json.dumps(act('write_down', {'text': 'x'}))} "
            f"{json.dumps(act('write_down', {'text': 'y'}))}"
        ),
    ],
)
async def test_a_reply_that_is_not_typed_binds_nothing(reply: Any) -> None:
    """A planner's reply that is not of the one shape runs no action, wherever it names one.

    EXE-04 "parses the planner reply as a typed model"
    """
    notebook = Notebook(steps(reply))
    async with House(script=notebook.script, verbs=[notebook.verb()]) as house:
        answer, result = await turn(house, mode="agent", allowed_verbs=["write_down"])
    assert answer.reply is not None
    assert (answer.reply.ok, result["error"]["code"][:5]) == (False, "step.")
    assert not notebook.seen("write_down")


@pytest.mark.parametrize(
    ("action", "known"),
    [
        ({"tool_id": "write_down", "input": {"text": "x"}}, True),
        ({"tool_id": "write_down ", "input": {"text": "x"}}, False),
        ({"tool_id": "Write_Down", "input": {"text": "x"}}, False),
        ({"tool_id": "math.evaluate", "input": {"expression": "1"}}, False),
        ({"tool_id": "agent_runtime", "input": {"text": "x"}}, False),
        ({"tool_id": "", "input": {}}, False),
        (None, False),
    ],
)
async def test_an_action_that_is_none_is_not_executed(action: Any, known: bool) -> None:
    """Only a verb of the turn's own tools runs, by its exact name.

    EXE-05 "An action executes only when it exists and maps to a known verb/tool"
    """
    notebook = Notebook(steps({**act("x", {}), "action": action}, finish("done")))
    async with House(script=notebook.script, verbs=[notebook.verb()]) as house:
        answer, _ = await turn(house, mode="agent", allowed_verbs=["write_down"])
        calls = house.query(
            "SELECT count(*) FROM journal WHERE kind = 'intent' AND name = 'verb_call'"
        )
    assert answer.reply is not None
    assert (len(notebook.seen("write_down")), calls) == (known, [(int(known),)])


async def test_the_models_beside_the_planner_are_asked_in_their_places() -> None:
    """The router is asked once, before the first step; the supervisor after each proposal and
    before it is carried out.

    EXE-09 "**A router model** sits just before supervised dispatch"
    EXE-11 "**B supervisor model** runs each iteration, after planner output and before tool
    execution/escalation. Input `{planner trace, pending action, observations, budgets}`"
    """
    script = steps(
        call("write_down", text="first"), call("write_down", text="second"), finish("written")
    )
    notebook = Notebook(script.on("router", routes("react_lite", confidence=1.0)))
    async with House(script=notebook.script, verbs=[notebook.verb()], policy=MODELS) as house:
        answer, _ = await turn(house, mode="agent", allowed_verbs=["write_down"])
    assert answer.reply is not None
    assert answer.reply.ok
    names = [name for name, _ in notebook.happened]
    assert names == [
        "router",
        *["planner", "supervisor", "write_down"] * 2,
        "planner",
        "supervisor",
    ]
    first, second, last = notebook.seen("supervisor")
    assert [seen["pending"] for seen in (first, second, last)] == ["action", "action", "final"]
    assert [seen["steps_left"] for seen in (first, second, last)] == [3, 2, 1]
    assert [len(seen["trace"]) for seen in (first, second, last)] == [0, 1, 2]
    assert (
        '"second"' in json.dumps(second["proposal"]),
        '"first"' in json.dumps(second["trace"]),
    ) == (True, True)
    assert '"length": 5' in json.dumps(second["trace"])
    assert "written" in json.dumps(last["proposal"])


@pytest.mark.parametrize("decision", ["finish", "request_replan", "checkpoint_council", "maybe"])
async def test_a_supervisor_that_does_not_say_execute_lets_nothing_run(decision: str) -> None:
    """Whatever but execute_action a supervisor model says of a pending action, the action does not
    run; of an agent chain its own planner proposes.

    EXE-12 "B output ∈
    `execute_action|request_replan|escalate_agent_chain|checkpoint_council|finish`, hard schema
    validation"
    """
    notebook = Notebook(steps(call("write_down", text="x")).on("supervisor", moves(decision)))
    async with House(
        script=notebook.script, verbs=[notebook.verb()], policy={"supervisor": MODELS["supervisor"]}
    ) as house:
        answer, result = await turn(house, mode="agent", allowed_verbs=["write_down"])
    assert not notebook.seen("write_down")
    assert answer.reply is not None
    expected = {
        "request_replan": {"max_steps_exhausted", "supervisor_invalid"},
        "checkpoint_council": {"council_no_quorum"},
    }
    assert result["error"]["code"] in expected.get(decision, {"supervisor_invalid"})
    assert not answer.reply.ok


@pytest.mark.parametrize(
    "tables",
    [
        {"planner": "brain", "verb": "worker"},
        {"planner": "local", "verb": "brain"},
        {"planner": "worker", "verb": "local"},
    ],
)
async def test_a_mode_implies_no_lane(tables: dict[str, str]) -> None:
    """Turns of every mode ask the lanes that policy's table names for the purpose, and no other.

    B-09 "mode never implies lane (policy table maps)"
    """
    profiles = {lane: ["default"] for lane in ("local", "worker", "brain")}
    policy = {"lanes": {**tables, "profiles": profiles}}
    modes: list[dict[str, Any]] = [{}, {"supervised": True}, {"mode": "agent"}, {"mode": "council"}]
    script = steps(call("extract_facts", text="A lamp."), finish("42"))
    for hints in modes:
        async with House(script=script, policy=policy) as house:
            await turn(house, **hints)
            found = lanes_of(house)
        assert found <= {
            *tables.items(),
            *((purpose, tables["planner"]) for purpose in ("seat", "chair", "auditor")),
        }
        assert found


ANCHORS: list[dict[str, Any]] = [
    {"thread_ref": "telegram:reply:1"},
    {"thread_ref": "telegram:reply:2", "reply_to": "m0"},
    {"reply_to": "never-seen"},
    {"thread_ref": "slack:thread:9", "reply_to": "m1"},
    {},
]


def anchored(number: int, anchor: dict[str, Any]) -> Message:
    """A message with the references of its transport."""
    said = message(f"tell me about topic{number}", id=f"m{number}")
    return said.model_copy(update={"context": said.context.model_copy(update=anchor)})


async def test_references_of_the_transport_split_no_history() -> None:
    """Messages with other reply and thread references are of one session, and each is answered in
    sight of all that came before.

    ING-06 "they must not partition conversation history"
    """
    notebook = Notebook()
    async with House(script=notebook.script) as house:
        for number, anchor in enumerate(ANCHORS):
            sent = await house.ordain.runtime.receive(anchored(number, anchor), "local:test")
            assert (sent.session, sent.seq) == ("s1", 2 * number + 1)
            answer = await house.told(sent)
            assert answer.reply is not None
            assert answer.reply.ok
            shown = json.dumps(notebook.seen("verb")[-1]["history"])
            assert [
                earlier for earlier in range(number) if f"tell me about topic{earlier}" not in shown
            ] == []
            assert [
                earlier
                for earlier in range(number)
                if f"I heard: tell me about topic{earlier}" not in shown
            ] == []
        assert house.query("SELECT count(*) FROM sessions") == [(1,)]


@pytest.mark.parametrize("sure", [0.9, 0.1])
async def test_a_model_may_suggest_what_a_message_is(sure: float) -> None:
    """With a question open, a model's class of an open wording counts where it is sure, and an
    answer only if its sender says so; else code's own.

    RTE-05 "LLM may suggest routing/classification (e.g. status nudge vs answer to a pending
    question)"
    """
    said = {"hm which one is it": "status_nudge", "hm where was I": "answer_to_pending"}
    script = script_of(asks("what else", "freeform"))
    for text, kind in said.items():
        script = script.on("triage", suggests(kind, thread=1, confidence=sure), when=about(text))
    async with House(script=script, policy={"attach": {"ask": "local"}}) as house:
        asking = await house.say("find out what else is meant", mode="agent")
        assert asking.question is not None
        classes: list[str] = []
        for text in said:
            sent = await house.send(text)
            await house.quiet()
            now = house.so_far(sent)
            classes.append(now.attached)
            assert (now.reason in ("attach.suggested", "attach.suggested_back")) == (sure > 0.5)
        assert house.puppet.asked("triage")
        assert (classes == ["status_nudge", "repair"]) == (sure > 0.5)
        if sure > 0.5:
            assert (await house.say("A")).attached == "answer_to_pending"
            await house.quiet()
            assert house.so_far(sent).attached == "answer_to_pending"


async def test_code_chooses_what_is_replied_to() -> None:
    """Where nothing else is live a reply refers to nothing; an override and what comes beside
    several threads get their own message's id.

    RTE-08 "Code enforces message attachment/thread selection and reply anchoring"
    """
    script = script_of(holds("slowly")).on(
        "planner", lambda request: finish(f"in reply to m1: {words(request)}")
    )
    async with House(script=script) as house:
        alone = await house.say("tell me about boats", id="m1", mode="agent")
        assert (alone.attached, alone.anchor) == ("new_request", None)
        first = await house.send("tell me slowly about lamps", id="m2", mode="agent")
        await house.until("the first is at work", lambda: len(house.puppet.held) == 1)
        instead = await house.send("use candles slowly instead", id="m3", mode="agent")
        second = await house.send(
            "tell me slowly about the weather in the north", id="m4", mode="agent"
        )
        third = await house.send(
            "tell me slowly about the trams in the south", id="m5", mode="agent"
        )
        await house.until("all are at work", lambda: len(house.puppet.held) == 3)
        house.puppet.let_go()
        replaced = await house.told(first)
        answers = [await house.told(sent) for sent in (instead, second, third)]
        assert replaced.reply is not None
        assert not replaced.reply.ok
        assert [answer.attached for answer in answers] == ["override", "new_request", "new_request"]
        assert [answer.anchor for answer in answers if answer.anchor] == ["m3", "m5"]
        assert len({answer.thread_id for answer in answers}) == 3
        assert answers[0].thread_id == replaced.thread_id
