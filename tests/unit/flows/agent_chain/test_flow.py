"""Flow ``agent_chain``: a planner works within a chain's bounds, and only a validated final answer
ends it well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from ordain.contracts.chain import AgentChainRequest, AgentChainResult
from ordain.flows.agent_chain.kind import AGENT_CHAIN
from ordain.flows.carried import VerbPlanInput, VerbPlanOutput
from ordain.flows.steps.chain import pack_tools
from ordain.journal.records import Status
from ordain.rules.chain_end import CHAIN_END, ChainEndInputs, ChainFinished
from ordain.testing import (
    Played,
    Standing,
    after,
    call,
    failed,
    fails,
    finish,
    interrupt,
    returned,
    says,
)
from tests.lanes import sampled
from tests.unit.flows.house import play, shipped

TOOLS = ["math.evaluate"]
IN_TURN = Standing(session="s1", child=True, depth=0, scope=TOOLS)
SUM = call("math.evaluate", expression="6 * 7")
RESULT = returned({"result": "42", "decimal": "42", "exact": True})
DONE = finish("It is 42.", {"sum": 42})


def chain(*script: Any, policy: Any = None, **args: Any) -> Played[VerbPlanOutput]:
    given = VerbPlanInput(
        verb="agent_chain", args={"text": "What is 6 * 7?", "tools": TOOLS, **args}, narrate=True
    )
    return play(AGENT_CHAIN, given, *script, policy=policy, standing=IN_TURN)


def out(played: Played[VerbPlanOutput]) -> VerbPlanOutput:
    assert played.output is not None
    return played.output


def test_it_works_and_answers_with_the_directive_that_led_there() -> None:
    """Its text is the final answer's, and whoever takes it finds that it counts.

    ACH-01 "`AgentChainResult{mode, text, structured{}, planner_raw{}}`; `text` from planner
    `final_answer.content`."
    """
    played = chain(SUM, RESULT, DONE)
    result = AgentChainResult.model_validate(out(played).output)
    assert (result.mode, result.text, result.structured) == ("agent", "It is 42.", {"sum": 42})
    assert result.planner_raw["directive"]["final_answer"]["content"] == result.text
    inputs = ChainEndInputs(result=out(played).output or {})
    assert isinstance(
        CHAIN_END.apply(inputs.facts, inputs, played.catalog.policy).outcome, ChainFinished
    )
    assert [(step.step_name, step.ok) for step in out(played).step_results] == [
        ("math.evaluate", True)
    ]
    assert {one.role for one in played.model_calls} == {"agent_chain"}


@pytest.mark.parametrize(
    "answer",
    [
        says("The answer is 42, and everything went well."),
        says('"maybe"'),
        says('{"text": "It is 42.", "confidence": NaN}'),
        says('{"thought": "done", "finish": true, "action": null, "final_answer": null}'),
        says(
            '{"thought": "done", "finish": true, "final_answer": {"content": "42"}, '
            '"confidence": 1}'
        ),
        finish(""),
        call("agent_chain", text="again"),
    ],
)
def test_prose_is_no_end(answer: Any) -> None:
    """One more try, then the chain fails typed; nothing that a model says in another form is ever
    its text.
    """
    played = chain(answer, answer)
    assert (played.status, out(played).ok, out(played).output) == (Status.FAILED, False, None)
    assert out(played).error == str(played.decided("step")[0].reason)
    assert out(chain(answer, DONE)).ok


@pytest.mark.parametrize(
    ("args", "script", "code"),
    [
        ({"max_steps": 1}, (SUM, RESULT), "max_steps_exhausted"),
        ({"timeout_ms": 1000}, (after(2_000, DONE),), "timed_out"),
        ({"max_tokens_answer": 5}, (DONE.used(10, 9),), "token_limit"),
        ({}, (fails("rejected"),), "rejected"),
        ({"tools": ["no.such"]}, (), "unknown_verb"),
        ({"session_id": "another"}, (), "foreign_session"),
    ],
)
def test_each_of_its_bounds_ends_it(
    args: dict[str, Any], script: tuple[Any, ...], code: str
) -> None:
    """Typed, without an answer."""
    done = out(chain(*script, **args))
    assert (done.ok, done.error, done.output) == (False, code, None)


LIES: list[str] = json.loads(
    (Path(__file__).resolve().parents[3] / "fixtures" / "messages" / "lies.json").read_text(
        encoding="utf-8"
    )
)
UNFINISHED: Mapping[str, Callable[[str], tuple[Any, ...]]] = {
    "prose": lambda lie: (says(spoken(lie)), says(spoken(lie))),
    "a directive that finishes without an answer": lambda lie: (finish_with(lie), finish_with(lie)),
    "a tool that is none of its own": lambda lie: (
        call("agent_chain", text=lie),
        call("agent_chain", text=lie),
    ),
    "a call whose arguments do not fit": lambda lie: (
        call("math.evaluate", expression="6 * 7", why=lie),
        call("math.evaluate", expression="6 * 7", why=lie),
    ),
}


def spoken(lie: str) -> str:
    """The lie as prose, whatever it looks like."""
    return f"I say: {lie.translate(str.maketrans('{}[]', '()()'))}"


def finish_with(lie: str) -> Any:
    return says(json.dumps({"thought": lie, "finish": True, "action": None, "final_answer": None}))


def told(played: Played[VerbPlanOutput]) -> tuple[Any, ...]:
    """All that code says of it, but for how many tokens the words took."""
    return (
        re.sub(r"\d+\+\d+ tokens", "N tokens", played.header),
        played.facts.verdict,
        out(played).ok,
        out(played).error,
        out(played).output,
    )


@pytest.mark.parametrize("failure", UNFINISHED)
def test_no_lie_ends_a_chain_well(failure: str) -> None:
    """A hundred of them for each way in which a chain comes to no end: header, verdict and error
    are those of an honest failure, and there is no text.

    ACH-02 "Prose-first result is not a decision: it must carry, or be wrapped with, a validated
    executable directive before Exec finishes on it."
    RTE-07 "LLM may write explanations and summaries."
    """
    honest = told(chain(*UNFINISHED[failure]("I do not know.")))
    assert (honest[2], honest[4]) == (False, None)
    lies = list(dict.fromkeys(lie.strip()[:400] or "All done." for lie in LIES))
    assert len(lies) >= 100
    for lie in sampled(lies[:100], 5, failure):
        assert told(chain(*UNFINISHED[failure](lie))) == honest, lie


def test_policy_bounds_what_it_may_use() -> None:
    """Six steps and ninety seconds as shipped; what is asked only lowers that, and packs stand for
    tools that nobody names.
    """
    longest = chain(*(SUM, RESULT) * 6, max_steps=50, timeout_ms=10**7)
    assert (out(longest).error, len(longest.model_calls)) == ("max_steps_exhausted", 6)
    assert longest.decided("limits")[0].outcome.timeout_ms == 90_000
    assert (
        out(chain(*(SUM, RESULT) * 2, policy={"agent_chain": {"max_steps": 2}})).error
        == "max_steps_exhausted"
    )
    given = VerbPlanInput(verb="agent_chain", args={"text": "Sum it up."})
    packed = play(AGENT_CHAIN, given, DONE, standing=IN_TURN)
    tools = pack_tools(shipped())
    packs = [shipped().policy.supervisor.packs[name] for name in ("executive_pack", "memory_pack")]
    assert set(tools) == {verb for pack in packs for verb in pack if verb in shipped().verbs}
    assert [
        verb for verb in tools if verb not in packed.requests[0].user + packed.requests[0].system
    ] == []


def test_a_failed_call_is_told_and_interrupted_it_says_so() -> None:
    """What was done stands among its steps."""
    assert [step.ok for step in out(chain(SUM, failed("overflow"), DONE)).step_results] == [False]
    stopped = chain(SUM, RESULT, interrupt())
    assert (out(stopped).error, len(out(stopped).step_results), stopped.status) == (
        "cancelled",
        1,
        Status.CANCELLED,
    )


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_text_is_refused(text: str) -> None:
    """By the contract, and by the verb's schema, before anything is asked."""
    with pytest.raises(ValidationError):
        AgentChainRequest(text=text)
    assert not shipped().verbs["agent_chain"].input.accepts({"text": text})


def test_the_verbs_schema_and_the_contract_are_of_one_shape() -> None:
    """The same names, the same one that is required, and one reads what the other accepts."""
    spec, contract = shipped().verbs["agent_chain"].spec, AgentChainRequest.model_json_schema()
    properties: Any = spec.input_schema["properties"]
    assert properties.keys() == contract["properties"].keys()
    assert spec.input_schema["required"] == contract["required"] == ["text"]
    output: Any = spec.output_schema
    assert output["properties"].keys() == AgentChainResult.model_json_schema()["properties"].keys()
    given: dict[str, Any] = yaml.safe_load(
        "{text: hi, messages: [{role: user, content: so}], packs: [a], max_steps: 3}"
    )
    assert shipped().verbs["agent_chain"].input.accepts(given)
    AgentChainRequest.model_validate(given)
