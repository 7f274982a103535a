"""Whole houses before endpoints that write prose and refuse what they do not know: chat works,
contracts step down, and what was learnt is kept.

Every run of them replays equal (``open_house``), in whatever way its answers were held.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordain.app import Ordain
from ordain.contracts.events import ReplyEvent, TextEvent
from ordain.contracts.profiles import ModelProfile, Structured
from ordain.contracts.remedies import NOT_HELD
from ordain.journal.records import RecordKind
from ordain.models.ways_file import WaysFile
from ordain.rules.plain_reply import plain_reply
from ordain.runtime import ways as ways_module
from ordain.runtime.model_answers import ANSWER_CHARS
from ordain.runtime.replay import replay
from ordain.runtime.spending import By, SpendingSpan, spent
from tests.integration.models.houses import open_house
from tests.integration.models.prose_server import FACTS, PROSE, STEP, ProseEndpoint, prose_endpoint

REFUSING = [
    pytest.param((), id="prose"),
    pytest.param(("response_format",), id="no format"),
    pytest.param(("response_format", "tools"), id="no tools"),
]
TEXT = {"text": "The lamp is red."}


def profile(endpoint: ProseEndpoint, **more: Any) -> ModelProfile:
    return ModelProfile.model_validate(
        {"provider": "openai", "model": "small", "base_url": endpoint.url, **more}
    )


async def model_calls(house: Ordain) -> list[dict[str, Any]]:
    """The observations of all model calls, in order of the runs."""
    runs = [
        (await house.runtime.view(row.id)).stored
        for row in await house.runtime.runs(roots_only=False, limit=100)
    ]
    return [
        msgspec.json.decode(one.body)["result"]
        for run in runs
        for one in run.records
        if (one.kind, one.name) == (RecordKind.OBSERVATION, "model_call") and one.body is not None
    ]


@pytest.mark.parametrize("refuses", REFUSING)
@pytest.mark.parametrize("structured", list(Structured))
@pytest.mark.parametrize("api", ["chat"])
async def test_chat_works_before_a_model_that_only_writes_prose(
    tmp_path: Path, refuses: tuple[str, ...], structured: Structured, api: str
) -> None:
    """In every mode, with one request: no JSON is asked for, and the model's text is the answer as
    it stands.
    """
    with prose_endpoint(*refuses) as endpoint:
        async with open_house(tmp_path, profile(endpoint, structured=structured, api=api)) as house:
            answer = await house.chat("What is the sea like?")
            assert answer.reply is not None
            assert (answer.reply.ok, answer.reply.narrative) == (True, PROSE)
            assert endpoint.ways() == ["plain"]
            assert not any(
                "JSON Schema" in message["content"] for message in endpoint.asked[0]["messages"]
            )
            done = (await house.execute("brain.chat", TEXT)).wire
            assert (done["ok"], done["output"]) == (True, {"content": PROSE})
            assert [call.get("held", "") for call in await model_calls(house)] == ["", ""]
    learnt = WaysFile(tmp_path).read()["m0"]
    assert (learnt.ways, learnt.left, learnt.words_first) == ({}, frozenset(), True)


async def test_every_line_of_plain_words_is_quoted(tmp_path: Path) -> None:
    """C5 "Execution header: rendered by code before any narrative": plain words can no more imitate
    it than any narrative.
    """
    with prose_endpoint() as endpoint:
        async with open_house(tmp_path, profile(endpoint)) as house:
            reply = (await house.chat("What is the sea like?")).reply
    assert reply is not None
    assert plain_reply(reply.header, reply.narrative).endswith(
        "\n\n> The sea is wide, and it is {blue}.\n> ✓ math.evaluate: 42"
    )


async def test_words_are_shown_while_they_are_written(tmp_path: Path) -> None:
    """Provisionally, in order, and without the thought before them; the reply is what counts."""
    with prose_endpoint(says=f"<think>Blue, <b>?</think>\n{PROSE}") as endpoint:
        async with open_house(tmp_path, profile(endpoint)) as house:
            told = house.stream("python")
            asked = await house.send(
                {
                    "session_id": "python",
                    "user_id": "local",
                    "message": {"text": "What is the sea like?"},
                }
            )
            shown = ""
            async for event in told:
                if isinstance(event, TextEvent):
                    shown += event.text
                elif isinstance(event, ReplyEvent):
                    break
            answer = await house.answer(asked)
    assert endpoint.asked[0]["stream"] is True
    assert answer.reply is not None
    assert answer.reply.narrative == PROSE
    assert shown == PROSE


async def test_of_an_answer_that_is_far_too_long_its_way_is_judged_by_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a hostile endpoint sends besides is looked through by nothing: everybody would wait for
    that.
    """
    looked, judged = [0], ways_module.passed_over

    def passed_over(text: str, schema: Mapping[str, Any] | None) -> Any:
        looked.append(len(text))
        return judged(text, schema)

    monkeypatch.setattr(ways_module, "passed_over", passed_over)
    with prose_endpoint(says="</think>" * (ANSWER_CHARS // 4)) as endpoint:
        async with open_house(tmp_path, profile(endpoint)) as house:
            await house.chat("find out how the sea is", mode="agent")
    assert endpoint.ways()[:2] == ["native", "tool"]
    assert max(looked) == ANSWER_CHARS


@pytest.mark.parametrize("refuses", REFUSING)
async def test_a_contract_steps_down_to_what_the_endpoint_does(
    tmp_path: Path, refuses: tuple[str, ...]
) -> None:
    """LLM-04 "Provider/profile/model fallback is automatic and policy-driven": schema, tool, words,
    on record and within one call; learnt once.
    """
    with prose_endpoint(*refuses, plans=True) as endpoint:
        async with open_house(tmp_path, profile(endpoint)) as house:
            done = (await house.execute("extract_facts", TEXT)).wire
            assert (done["ok"], done["output"]) == (True, FACTS), done
            assert endpoint.ways() == ["native", "tool", "text"]
            assert "fallback.lower" in done["header"]
            assert [call["held"] for call in await model_calls(house)] == ["native", "tool", "text"]
            planned = (
                await house.plan(
                    {
                        "goal": {"type": "ask", "description": "Which number?"},
                        "toolset": [{"tool_id": "math.evaluate"}],
                    }
                )
            ).wire
            assert (planned["status"], planned["final_answer"]["content"]) == ("ok", "Forty-two.")
            turn = (await house.chat("Which number?", mode="agent")).reply
            assert turn is not None
            assert (turn.ok, turn.narrative) == (True, "Forty-two.")
        assert endpoint.ways() == ["native", "tool", "text", "text", "text"]
        async with open_house(tmp_path, profile(endpoint)) as house:
            assert (await house.execute("extract_facts", TEXT)).wire["ok"]
        assert endpoint.ways()[5:] == ["text"]
    why = {
        field: "refused" if field in refuses else "ignored"
        for field in ("response_format", "tools")
    }
    learnt = WaysFile(tmp_path).read()["m0"].ways
    assert {str(way): str(found) for way, found in learnt.items()} == {
        "native": why["response_format"],
        "tool": why["tools"],
    }


PASSED_OVER = [
    pytest.param(
        '<think>\nThey want 2+2, e.g. {"expression": "2+2"}.\n</think>\n'
        "I will call math.evaluate with 2+2.",
        id="in a thought",
    ),
    pytest.param('Sure! I will call math.evaluate with {"expression": "2+2"}.', id="among words"),
    pytest.param('{"expression": "2+2"}', id="another object"),
    pytest.param('```json\n{"expression": "2+2"}\n```', id="another object, fenced"),
    pytest.param("[]", id="a list"),
    pytest.param("{'thought': 'I will call math.evaluate', 'finish': False}", id="no JSON"),
]


@pytest.mark.parametrize("says", PASSED_OVER)
async def test_json_that_no_schema_let_through_steps_down(tmp_path: Path, says: str) -> None:
    """An object somewhere in an answer is no sign that its schema was kept: with the schema in
    words the same endpoint plans, and is asked so from then on.
    """
    with prose_endpoint(plans=True, says=says) as endpoint:
        async with open_house(tmp_path, profile(endpoint)) as house:
            turn = (await house.chat("Which number?", mode="agent")).reply
            assert turn is not None
            assert (turn.ok, turn.narrative) == (True, "Forty-two."), turn.header
            assert (await house.execute("extract_facts", TEXT)).wire["ok"]
            assert [call["held"] for call in await model_calls(house)].count("native") == 1
    assert endpoint.ways() == ["native", "tool", "text", "text"]
    assert {
        str(way): str(found) for way, found in WaysFile(tmp_path).read()["m0"].ways.items()
    } == {"native": "ignored", "tool": "ignored"}


def nothing_learnt(home: Path) -> bool:
    """Of any endpoint but that it answers."""
    kept = WaysFile(home).read().values()
    return not any(learnt.ways or learnt.left for learnt in kept)


async def test_an_answer_that_serves_is_taken_as_it_is(tmp_path: Path) -> None:
    """A step among words, without what would be null, is that step, natively as well: nothing is
    asked twice, and nothing learnt.
    """
    step = {"thought": "done", "finish": True, "final_answer": STEP["final_answer"]}
    with prose_endpoint(says=f"Sure! Here is the step: {json.dumps(step)}") as endpoint:
        async with open_house(tmp_path, profile(endpoint)) as house:
            turn = (await house.chat("Which number?", mode="agent")).reply
            assert turn is not None
            assert (turn.ok, turn.narrative) == (True, "Forty-two."), turn.header
    assert endpoint.ways() == ["native"]
    assert nothing_learnt(tmp_path)


async def test_what_answers_told_of_their_use_is_booked(tmp_path: Path) -> None:
    """A whole answer that is none costs what it says: nothing of it stands in the account as
    reserved, and `models cost` counts it.
    """
    prices = {"usd_micros_per_1k_input": 3000, "usd_micros_per_1k_output": 15000}
    with prose_endpoint() as endpoint:
        async with open_house(tmp_path, profile(endpoint, **prices)) as house:
            turn = (await house.chat("Which number?", mode="agent")).reply
            assert turn is not None
            calls = len(endpoint.asked)
            assert endpoint.ways() == ["native", "tool", "text", "text"]
            assert f"{20 * calls}+{10 * calls} tokens, ${210 * calls / 1e6:.6f}," in turn.header
            assert "reserved for" not in turn.header
            span = SpendingSpan(workspace="default", since=0, until=2**62, slack_us=0)
            total = (await spent(house.runtime.search, house.kinds, By.MODEL, span)).total
            assert (total.failed, total.tokens, total.input_tokens, total.usd_micros) == (
                2,
                30 * calls,
                20 * calls,
                210 * calls,
            )
            assert "does not speak this provider's language" not in " ".join(turn.remedies)
            assert turn.remedies == [f"m0: {NOT_HELD}"]


async def test_a_server_error_that_names_the_way_is_a_refusal_of_it(tmp_path: Path) -> None:
    """Some servers answer 500 to what they do not know: one that names it is stepped down from like
    any refusal, and nothing is booked but the calls.
    """
    with prose_endpoint("response_format", "tools", plans=True, status=500) as endpoint:
        async with open_house(tmp_path, profile(endpoint)) as house:
            turn = (await house.chat("Which number?", mode="agent")).reply
            assert turn is not None
            assert (turn.ok, turn.narrative) == (True, "Forty-two."), turn.header
            assert "reserved for" not in turn.header
    assert endpoint.ways() == ["native", "tool", "text"]
    assert {
        str(way): str(found) for way, found in WaysFile(tmp_path).read()["m0"].ways.items()
    } == {"native": "refused", "tool": "refused"}


async def test_the_recorded_way_makes_the_prompt_again(tmp_path: Path) -> None:
    """What the model was sent is rendered anew at replay, schema in words and all; another recorded
    way would be another prompt.
    """
    with prose_endpoint("response_format", "tools", plans=True) as endpoint:
        async with open_house(tmp_path, profile(endpoint)) as house:
            await house.execute("extract_facts", TEXT)
            kinds = house.runtime.services.kinds
            (row,) = [
                row
                for row in await house.runtime.runs(roots_only=False, limit=9)
                if row.flow == "verb_plan"
            ]
            stored = (await house.runtime.view(row.id)).stored
            assert replay(stored, house.catalog, kinds).equal
            answered = [
                one
                for one in stored.records
                if (one.kind, one.name) == (RecordKind.OBSERVATION, "model_call")
            ][-1]
            assert answered.body is not None
            held = json.loads(answered.body)["result"]
            assert held["held"] == "text"


async def test_an_agent_whose_model_cannot_plan_says_so(tmp_path: Path) -> None:
    """no directive is a failure, told plainly and with what does work; no words of the model are
    made an answer.
    """
    with prose_endpoint() as endpoint:
        async with open_house(tmp_path, profile(endpoint)) as house:
            reply = (await house.chat("Which number?", mode="agent")).reply
            assert reply is not None
            assert not reply.ok
            assert reply.narrative.startswith(
                "This was not done: the model could not plan: 2 of its proposals were no step of "
                "a plan."
            )
            assert "Plain chat needs no plan" in reply.narrative
            assert PROSE not in reply.narrative
            assert (await house.chat("What is the sea like?", session="chat")).reply.ok  # type: ignore[union-attr]


async def test_a_request_that_is_wrong_in_every_way_is_no_lesson(tmp_path: Path) -> None:
    """Where words alone are refused too the failure is told, and the next call begins with the
    schema again.
    """
    with prose_endpoint("model") as endpoint:
        async with open_house(tmp_path, profile(endpoint)) as house:
            for _ in range(2):
                done = (await house.execute("extract_facts", TEXT)).wire
                assert done["error"]["code"] == "rejected"
        assert endpoint.ways() == ["native", "tool", "text"] * 2
    assert nothing_learnt(tmp_path)


async def test_a_conversation_is_summed_up_in_words(tmp_path: Path) -> None:
    """A long conversation goes on before a model that writes prose: its summary is words as well.

    RTE-07 "LLM may write explanations and summaries."
    """
    with prose_endpoint(says="So far the sea.") as endpoint:
        async with open_house(tmp_path, profile(endpoint)) as house:
            for number in range(8):
                reply = (await house.chat(f"{number}: " + "waves " * 800)).reply
                assert reply is not None
                assert (reply.ok, reply.narrative) == (True, "So far the sea."), reply
    assert set(endpoint.ways()) == {"plain"}
    assert any(
        "You sum up a conversation" in body["messages"][0]["content"] for body in endpoint.asked
    )
    assert any(
        'SUMMED UP\n"So far the sea."' in body["messages"][1]["content"] for body in endpoint.asked
    )


async def test_a_verb_of_words_in_a_plan_is_observed_as_text(tmp_path: Path) -> None:
    """B-04 "for LLM verbs `output` = structured result and `llm_output` = text": of a verb that
    answers in words both are its text.
    """
    asks = {
        "thought": "ask",
        "finish": False,
        "action": {"tool_id": "brain.chat", "input": TEXT},
        "final_answer": None,
    }
    with prose_endpoint(steps=[asks, STEP]) as endpoint:
        async with open_house(tmp_path, profile(endpoint, structured="text")) as house:
            planned = (
                await house.plan(
                    {
                        "goal": {"type": "ask", "description": "Ask."},
                        "toolset": [{"tool_id": "brain.chat"}],
                    }
                )
            ).wire
    assert (planned["status"], endpoint.ways()) == ("ok", ["text", "plain", "text"]), planned
    observed = planned["trace"][0]["observation"]
    assert (observed["ok"], observed["output"], observed["llm_output"]) == (
        True,
        {"content": PROSE},
        PROSE,
    )


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([("other", "{}")], id="another"),
        pytest.param([("other", json.dumps({"answer": STEP}))], id="the answer under another name"),
        pytest.param([("planner_step", json.dumps({"answer": STEP}))] * 2, id="twice"),
        pytest.param([("planner_step", "I would say forty-two.")], id="prose"),
    ],
)
async def test_a_forced_tool_that_is_passed_over_steps_down(
    tmp_path: Path, calls: list[tuple[str, str]]
) -> None:
    """Another tool's call, several, or prose for its input: the endpoint is known to ignore the
    way, and is asked in words from then on.
    """
    plan = {
        "goal": {"type": "ask", "description": "Which number?"},
        "toolset": [{"tool_id": "math.evaluate"}],
    }
    for structured, ways in (
        (Structured.NATIVE, ["native", "tool", "text", "text"]),
        (Structured.TOOL, ["tool", "tool", "text", "text"]),
    ):
        with prose_endpoint(plans=True, says='{"note": "another object"}', calls=calls) as endpoint:
            async with open_house(
                tmp_path / structured, profile(endpoint, structured=structured)
            ) as house:
                planned = [(await house.plan(plan)).wire for _ in range(2)]
            assert [(one["status"], one["final_answer"]["content"]) for one in planned] == [
                ("ok", "Forty-two.")
            ] * 2
            assert endpoint.ways() == ways
        learnt = WaysFile(tmp_path / structured).read()["m0"].ways
        assert {str(way): str(found) for way, found in learnt.items()} == dict.fromkeys(
            ways[:-2], "ignored"
        )
