"""The offline provider: what it quotes, what it calls, what it says when it does neither."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.planner import ActStep, FinishStep, PlannerStep
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.schema import Schema
from ordain.flows.shipped import shipped_kinds
from ordain.models.arguments import fill
from ordain.models.offline import NOTICE, OfflineModel
from ordain.models.sentences import split
from ordain.ports.model import ModelError, ModelReply, ModelRequest

ROOT = Path(__file__).parents[3]
D2 = json.loads(
    (ROOT / "tests/fixtures/seeds/extract_facts_plan_minimal.json").read_text(encoding="utf-8")
)
VERBS = ROOT / "src/ordain/verbs/builtin"
STEP: TypeAdapter[ActStep | FinishStep] = TypeAdapter(PlannerStep)
LEAD = "not analysed:\n"
PROMPTS = shipped_kinds().prompts

REWRITES = [
    "Mina lives in Oslo, works at Norfjord AS, and her manager is Tor.",
    "Her manager is Ivo. Petra works at Zeta Ltd. and lives in Brno.",
    "At Quillon Inc. works Deniz, who lives in Izmir; her manager is Kaya.",
    "Lives in Lima, works at Andes S.A., reports to Ruiz: that is Flor.",
    "Dr. J. R. Okafor lives in Lagos. He works at 3.5 Labs Ltd. His manager is Mrs. Bello.",
    "Kim is managed by Lee. Kim is with Hanbit Co. since 2019. Home is Busan.",
    "- Ana lives in Porto.\n- Ana works at Vela.\n- Ana's manager is Rui.",
    "1. Jan lives in Ghent.\n2. Jan works at Lumen.\n3. Jan's manager is Els.",
    "Where does Sofia live? In Rome! Where does she work? At Tiber S.p.A. Who is her boss? Luca.",
    "“Noor lives in Utrecht,” said Bram. “She works at Delta B.V. Her manager is Pim.”",
    "美月は東京に住んでいます。彼女は青空社で働いています！上司は健さんです。",  # noqa: RUF001 - the text's own signs
    "王芳住在北京。她在长城公司工作。她的经理是李强吗？",  # noqa: RUF001 - see above
    "يعيش كريم في القاهرة. هل يعمل في شركة النيل؟ نعم، ومديره سامي.",
    "Мария живёт в Казани. Она работает в «Волге». Её начальник — Олег.",
    "रवि पुणे में रहता है। वह सह्याद्रि में काम करता है। उसकी प्रबंधक मीरा है।",
    "¿Dónde vive Inés? Vive en Cádiz. ¡Trabaja en Faro! Su jefa es Pilar.",
    "The kettle boils at 96.5 degrees here. Nobody knows why... Perhaps the altitude.",
    (
        "Shipping notes\n\n"
        "The crate weighs 12 kg. It left on 2031-04-02; it arrives, e.g. by lorry, on Friday.\n"
        "Signed: the clerk"
    ),
    "The river rose 2.4 m overnight, the bridge held, and school was closed.",
    "Ulla's manager is Finn and she lives in Aarhus and works at Fjordbyg A/S",
]


def verb_schema(name: str) -> dict[str, Any]:
    return yaml.safe_load((VERBS / f"{name}.yaml").read_text(encoding="utf-8"))["output_schema"]


async def ask(
    purpose: str, inputs: dict[str, Any], max_tokens: int = 4096
) -> ModelReply | ModelError:
    return await OfflineModel().attempt(
        ModelRequest(
            profile=ModelProfile(provider="offline", model="offline"),
            purpose=purpose,
            verb=str(inputs.get("verb", "")),
            by_code=str(PROMPTS[purpose].by_code),
            system="",
            user="",
            schema_name="x",
            schema={},
            max_tokens=max_tokens,
            timeout_s=1,
            inputs=inputs,
            index=0,
        )
    )


def planner_inputs(
    text: str | None, tools: list[dict[str, Any]] | None = None, **more: Any
) -> dict[str, Any]:
    return {
        "goal_type": "analysis",
        "goal": D2["goal"]["description"],
        "user_message": None,
        "history": []
        if text is None
        else [{"role": "user", "content": f"Here's some info: {text}"}],
        "facts": {} if text is None else {"text": text},
        "state": {},
        "tools": D2["toolset"] if tools is None else tools,
        "trace": [],
        "steps_left": 4,
        "reask": None,
        "style": "neutral",
        **more,
    }


async def step(inputs: dict[str, Any]) -> ActStep | FinishStep:
    reply = await ask("planner", inputs)
    assert isinstance(reply, ModelReply)
    assert reply.notice == NOTICE
    assert (reply.input_tokens, reply.output_tokens) == (None, None)
    return STEP.validate_json(reply.text)


async def final(inputs: dict[str, Any]) -> str:
    found = await step(inputs)
    assert isinstance(found, FinishStep)
    return found.final_answer.content


def tool(name: str, *required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(required or properties),
        "additionalProperties": False,
    }
    return {"tool_id": name, "description": "", "input_schema": schema, "output_schema": {}}


def seen(tool_id: str, output: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    observation = {"ok": output is not None, "output": output, "llm_output": None, **more}
    return {
        "step_index": 0,
        "thought": "",
        "action": {"tool_id": tool_id, "input": {}},
        "observation": observation,
    }


def letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


@pytest.mark.parametrize("text", [D2["context"]["external_facts"]["text"], *REWRITES])
async def test_a_request_is_answered_with_its_own_words(text: str) -> None:
    """However the request is rewritten, every bullet is a part of its text and none is missing."""
    action = await step(planner_inputs(text))
    assert isinstance(action, ActStep)
    assert (action.action.tool_id, action.action.input) == ("extract_facts", {"text": text})

    reply = await ask(
        "verb",
        {
            "verb": "extract_facts",
            "input": {"text": text},
            "previous": None,
            "output_schema": verb_schema("extract_facts"),
        },
    )
    assert isinstance(reply, ModelReply)
    output = json.loads(reply.text)
    assert Schema(verb_schema("extract_facts")).accepts(output)
    assert output["method"] == "quoted"
    assert all(fact["subject"] is None for fact in output["facts"])

    content = await final(planner_inputs(text, trace=[seen("extract_facts", output)], steps_left=3))
    assert LEAD in content
    bullets = [line.removeprefix("- ") for line in content.partition(LEAD)[2].splitlines()]
    assert bullets == [fact["text"] for fact in output["facts"]]
    assert all(bullet in text for bullet in bullets)
    assert letters("".join(bullets)) == letters(text)


@pytest.mark.parametrize(
    "text", ["", "   \n", "...!?", "12345", "— – —", "42 3.14 -7", "🙂🙂", "Hello", "https"]
)
async def test_without_a_sentence_nothing_is_quoted(text: str) -> None:
    """A text without sentences gives a typed error instead of an invented fact."""
    reply = await ask(
        "verb",
        {
            "verb": "extract_facts",
            "input": {"text": text},
            "output_schema": verb_schema("extract_facts"),
        },
    )
    assert isinstance(reply, ModelError)
    assert reply.code is ModelErrorCode.NOTHING_TO_QUOTE


@pytest.mark.parametrize("name", ["summarize_facts", "propose_next_steps"])
async def test_the_other_shipped_verbs_quote_their_facts(name: str) -> None:
    """Every shipped prompt-plan verb has a shape that quotations fit, with options left out of
    them.
    """
    facts = [{"text": "The library opens at nine."}, {"text": "Entry is free."}]
    given = {"facts": facts, "max_bullets": 5, "goal": "Borrow the atlas."}
    reply = await ask("verb", {"verb": name, "input": given, "output_schema": verb_schema(name)})
    assert isinstance(reply, ModelReply)
    output = json.loads(reply.text)
    assert Schema(verb_schema(name)).accepts(output)
    assert [item["text"] for item in output[next(iter(output))]] == [fact["text"] for fact in facts]


async def test_a_quotation_longer_than_its_bound_is_truncated() -> None:
    """A quotation that a model's length limit would cut is an error, as a model's would be."""
    reply = await ask(
        "verb",
        {"verb": "v", "input": {"text": "Some words here. " * 200}, "output_schema": {}},
        max_tokens=50,
    )
    assert isinstance(reply, ModelError)
    assert reply.code is ModelErrorCode.TRUNCATED


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("words", "tools", "expected"),
    [
        (
            "What is 17 + 25?",
            [tool("math", expression=TEXT), tool("page", url=TEXT)],
            ("math", {"expression": "17 + 25"}),
        ),
        (
            "Compute (3.5 - 1) * 2, please.",
            [tool("math", expression=TEXT)],
            ("math", {"expression": "(3.5 - 1) * 2"}),
        ),
        (
            "Fetch https://example.org/a?b=(c).",
            [tool("page", url=TEXT), tool("file", path=TEXT)],
            ("page", {"url": "https://example.org/a?b=(c)"}),
        ),
        (
            "Read notes/todo.md aloud.",
            [tool("file", path=TEXT), tool("math", expression=TEXT)],
            ("file", {"path": "notes/todo.md"}),
        ),
        (
            "Set it to 21.5 degrees.",
            [tool("heat", level={"type": "number", "maximum": 30})],
            ("heat", {"level": 21.5}),
        ),
        (
            "Use the BLUE one.",
            [tool("paint", colour={"type": "string", "enum": ["red", "blue"]})],
            ("paint", {"colour": "blue"}),
        ),
        (
            "Write to kim@example.org!",
            [tool("mail", to={"type": "string", "format": "email"})],
            ("mail", {"to": "kim@example.org"}),
        ),
        (
            "Order AB-1234 is late.",
            [tool("order", number={"type": "string", "pattern": "^[A-Z]{2}-\\d{4}$"})],
            ("order", {"number": "AB-1234"}),
        ),
        (
            "Day 2031-04-02 it is.",
            [tool("day", on={"type": "string", "format": "date"})],
            ("day", {"on": "2031-04-02"}),
        ),
    ],
)
async def test_the_one_tool_that_can_be_called_is_called(
    words: str, tools: list[dict[str, Any]], expected: tuple[str, Any]
) -> None:
    """An argument is filled where its declaration fits exactly one value in the request."""
    found = await step(
        planner_inputs(None, tools, history=[{"role": "user", "content": words}], goal="Help.")
    )
    assert isinstance(found, ActStep)
    assert (found.action.tool_id, found.action.input) == expected


@pytest.mark.parametrize(
    ("words", "tools"),
    [
        ("Some words here.", [tool("one", text=TEXT), tool("two", text=TEXT)]),
        ("What is 17 + 25?", [tool("math", expression=TEXT), tool("facts", text=TEXT)]),
    ],
)
async def test_two_tools_that_can_be_called_are_not(
    words: str, tools: list[dict[str, Any]]
) -> None:
    """Rules do not choose between two tools: none is called and both are named."""
    content = await final(planner_inputs(words, tools))
    assert all(offered["tool_id"] in content for offered in tools)
    assert "2 tools" in content


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("See https://a.example and https://b.example.", tool("page", url=TEXT)),
        ("Two or three: 2 and 3.", tool("count", number={"type": "integer"})),
        ("Nothing here.", tool("page", url=TEXT)),
        ("Pages 2-3 of 11/21/2031, call 555-1234.", tool("math", expression=TEXT)),
        ("Set it to 99.", tool("heat", level={"type": "integer", "maximum": 30})),
        ("Red or blue?", tool("paint", colour={"type": "string", "enum": ["red", "blue"]})),
        ("Some words.", tool("say", words=TEXT)),
        ("Some words.", tool("flag", on={"type": "boolean"})),
        ("Some words.", tool("list", text={"type": "array", "items": TEXT})),
        ("Far too long.", tool("short", text={"type": "string", "maxLength": 5})),
        (
            "Some words.",
            {"tool_id": "bare", "description": "", "input_schema": {}, "output_schema": {}},
        ),
        (
            "Some words.",
            {"tool_id": "none", "description": "", "input_schema": None, "output_schema": {}},
        ),
        (
            "Some words.",
            {
                "tool_id": "bad",
                "description": "",
                "input_schema": {"properties": {"text": {"type": 7}}, "required": ["text"]},
            },
        ),
        (
            "Some words.",
            {
                "tool_id": "remote",
                "input_schema": {
                    "$ref": "http://example.org/s",
                    "properties": {"text": TEXT},
                    "required": ["text"],
                },
            },
        ),
    ],
)
async def test_an_argument_that_could_mean_more_or_nothing_is_not_filled(
    words: str, offered: dict[str, Any]
) -> None:
    """A tool whose arguments the request does not unambiguously give is not called; the answer
    names it.
    """
    content = await final(
        planner_inputs(None, [offered], history=[{"role": "user", "content": words}], goal="Help.")
    )
    assert offered["tool_id"] in content
    assert "No tool was called" in content


async def test_without_tools_it_says_so() -> None:
    """A request without tools is finished with the reason."""
    assert "offers no tools" in await final(planner_inputs("Some words here.", []))


async def test_a_refused_step_is_not_repeated() -> None:
    """After a refusal the same step would be refused again, so it finishes and names the reason."""
    assert "step_unknown_tool" in await final(
        planner_inputs("Some words here.", reask="step_unknown_tool")
    )


async def test_a_failed_tool_is_reported() -> None:
    """After a failed call it finishes with the tool and the error's code."""
    content = await final(
        planner_inputs(
            "Words.", trace=[seen("page", None, error={"code": "not_found", "message": "x"})]
        )
    )
    assert "page failed (not_found)" in content


@pytest.mark.parametrize(
    ("output", "bullets"),
    [
        ({"value": "42"}, ["value: 42"]),
        ({"value": 42, "exact": True}, ["value: 42", "exact: true"]),
        (
            {"path": "a.md", "text": "One line here.\nAnd another one."},
            ["path: a.md", "One line here.", "And another one."],
        ),
        ({"rows": [{"name": "x", "n": 1}, "bare words", None]}, ["name: x", "n: 1", "bare words"]),
        ({"a": {"b": {"c": "Deep words here."}}}, ["Deep words here."]),
    ],
)
async def test_any_result_is_reported_verbatim(output: dict[str, Any], bullets: list[str]) -> None:
    """What any tool returned is reported value by value, nothing added."""
    content = await final(planner_inputs("Words.", trace=[seen("some.tool", output)]))
    assert content.partition(LEAD)[2].splitlines() == [f"- {bullet}" for bullet in bullets]


async def test_text_beside_the_output_is_the_second_choice() -> None:
    """Where there is no structured output, the tool's text is quoted; where there is neither, the
    answer says so.
    """
    content = await final(
        planner_inputs("W.", trace=[seen("v", {}, llm_output="Plain words came back.")])
    )
    assert "- Plain words came back." in content
    assert "nothing that could be quoted" in await final(
        planner_inputs("W.", trace=[seen("v", {})])
    )


async def test_a_long_result_is_cut_between_statements_and_counted() -> None:
    """A report stays within an answer's bound and within max_tokens, and says how much is left
    out.
    """
    output = {"facts": [f"Sentence number {number} is here." for number in range(2000)]}
    content = await final(planner_inputs("W.", trace=[seen("v", output)]))
    assert len(content) < 16_000
    assert "more: they do not fit" in content
    reply = await ask("planner", planner_inputs("W.", trace=[seen("v", output)]), max_tokens=400)
    assert isinstance(reply, ModelReply)
    assert len(reply.text.encode()) <= 1600


@given(
    text=st.text(max_size=400),
    inputs=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=40), st.lists, max_leaves=5
    ),
)
async def test_every_request_has_an_answer(text: str, inputs: Any) -> None:
    """Any text gets a valid directive, and any prompt-plan input a quotation or a typed error."""
    encodable = text.encode("utf-8", "ignore").decode()
    assert isinstance(await step(planner_inputs(encodable)), ActStep | FinishStep)
    reply = await ask(
        "verb",
        {
            "verb": "v",
            "input": {"text": encodable, "more": inputs},
            "output_schema": {"type": "object"},
        },
    )
    if isinstance(reply, ModelReply):
        quotes = msgspec.json.decode(reply.text)["quotes"]
        assert all(quote in encodable for quote in quotes)
        assert letters("".join(quotes)) == letters(encodable)
        assert quotes == [encodable[span.start : span.end] for span in split(encodable)]


HISTORY = [
    {"role": "user", "content": "We sail on Monday. Bring a coat."},
    {
        "role": "assistant",
        "content": "The crossing takes about nine hours in good weather and longer in bad weather.",
    },
]


def one_text(name: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "string", **more}},
        "required": [name],
        "additionalProperties": False,
    }


async def said(inputs: dict[str, Any], max_tokens: int = 4096) -> dict[str, Any]:
    reply = await ask(
        "verb", {"verb": "v", "input": {"text": "Other words of the input."}, **inputs}, max_tokens
    )
    assert isinstance(reply, ModelReply), reply
    return json.loads(reply.text)


@pytest.mark.parametrize("purpose", ["router", "supervisor", "triage", "seat", "chair"])
async def test_it_chooses_nothing(purpose: str) -> None:
    """Asked to route, to judge or to take a seat it says that this needs a model, whatever the
    message.
    """
    reply = await ask(
        purpose, {"message": "Please choose one of these.", "output_schema": one_text("content")}
    )
    assert isinstance(reply, ModelError)
    assert reply.code is ModelErrorCode.NEEDS_MODEL
    assert "no language model" in reply.message


@given(st.text(max_size=900), st.integers(100, 600) | st.none())
async def test_an_answer_to_a_person_says_that_it_can_only_repeat(
    message: str, bound: int | None
) -> None:
    """A turn is answered with the message itself, marked as repeated and cut where it is long,
    within the shape's bound.
    """
    message = message.encode("utf-8", "ignore").decode()
    schema = one_text("content", maxLength=bound) if bound else one_text("content")
    reply = await ask(
        "verb",
        {
            "verb": "chat",
            "message": message,
            "history": HISTORY,
            "input": {},
            "output_schema": schema,
        },
    )
    if not message.strip():
        assert isinstance(reply, ModelError)
        assert reply.code is ModelErrorCode.NOTHING_TO_QUOTE
        return
    assert isinstance(reply, ModelReply)
    answer = json.loads(reply.text)
    assert Schema(schema).accepts(answer)
    lead, _, rest = answer["content"].partition("“")
    assert lead == "No language model is configured here, so I can only repeat what you said: "
    assert rest.endswith("”")
    assert message.strip().startswith(rest[:-1].removesuffix("…"))
    assert len(answer["content"]) <= (bound or 600)


async def test_an_answer_has_only_what_was_said() -> None:
    """What the shape wants besides stays empty or null; where it must hold more, nothing is
    invented.
    """
    shape = one_text("content")
    parts = {
        "sources": {"type": "array"},
        "more": {"type": ["string", "null"]},
        "structured": {"type": "object"},
        "kind": {"const": "chat"},
    }
    shape["properties"] |= parts
    shape["required"] = list(shape["properties"])
    answer = await said({"message": "Good morning", "output_schema": shape})
    assert answer.pop("content").endswith("“Good morning”")
    assert answer == {"sources": [], "more": None, "structured": {}, "kind": "chat"}
    for part in ({"type": "integer"}, {"type": "string"}, {"type": "array", "minItems": 1}, False):
        shape["properties"]["sources"] = part
        reply = await ask("verb", {"verb": "v", "message": "Good morning", "output_schema": shape})
        assert isinstance(reply, ModelError)
        assert reply.code is ModelErrorCode.MALFORMED


async def test_the_material_of_a_conversation() -> None:
    """The message is quoted, without one the history, and without both the input as ever."""
    content, facts = one_text("content"), verb_schema("extract_facts")
    quoted = await said(
        {"message": "Noor lives in Utrecht. She sings.", "history": HISTORY, "output_schema": facts}
    )
    assert [fact["text"] for fact in quoted["facts"]] == ["Noor lives in Utrecht.", "She sings."]
    of_history = await said({"message": None, "history": HISTORY, "output_schema": content})
    assert of_history == await said({"history": tuple(HISTORY), "output_schema": content})
    assert of_history["content"].endswith(
        f"what was said: “{HISTORY[0]['content']}\n{HISTORY[1]['content']}”"
    )
    for nothing in ({}, {"message": None}, {"message": None, "history": []}):
        assert await said({**nothing, "output_schema": content}) == {
            "content": "Other words of the input."
        }


async def test_a_summary_of_a_conversation_is_quoted() -> None:
    """A summary is the first whole sentences that fit into its bound and into max_tokens."""
    asked = {"message": None, "history": HISTORY}
    whole = await said({**asked, "output_schema": one_text("summary")})
    assert whole == {"summary": f"{HISTORY[0]['content']}\n{HISTORY[1]['content']}"}
    assert await said({**asked, "output_schema": one_text("summary", maxLength=40)}) == {
        "summary": HISTORY[0]["content"]
    }
    assert await said({**asked, "output_schema": one_text("summary", maxLength=14)}) == {
        "summary": "Bring a coat."
    }
    long = [
        {"role": "user", "content": f"Sentence number {number} is here."} for number in range(900)
    ]
    short = await said(
        {**asked, "history": long, "output_schema": one_text("summary")}, max_tokens=400
    )
    assert short["summary"].startswith("Sentence number 0 is here.")
    assert short["summary"].endswith(" is here.")
    reply = await ask(
        "verb", {"verb": "v", **asked, "output_schema": one_text("summary", maxLength=5)}
    )
    assert isinstance(reply, ModelError)
    assert reply.code is ModelErrorCode.MALFORMED


def test_no_word_of_the_fixtures_stands_in_the_source() -> None:
    """Nothing in src knows the people, places and firms of the example request."""
    words = {
        word.strip(".,")
        for word in D2["context"]["external_facts"]["text"].split()
        if word[0].isupper()
    }
    assert words == {"Alice", "Paris", "Acme", "Corp", "Bob"}
    for path in (ROOT / "src").rglob("*"):
        if path.is_file() and path.suffix in {
            ".py",
            ".yaml",
            ".toml",
            ".j2",
            ".json",
            ".sql",
            ".html",
        }:
            content = path.read_text(encoding="utf-8")
            assert not [word for word in words if word in content], path


@pytest.mark.parametrize(
    "words",
    [
        "Wie viel ist 3,5 * 2?",
        "What is 1,200 * 3?",
        "Take 2 * pi * 3 * 4.",
        "Let x = 5 + 3*y.",
        "We met on 2024 - 05 - 01.",
        "Call +49 30 (0) 123 - 456.",
    ],
)
def test_no_arithmetic_is_cut_out_of_something_larger(words: str) -> None:
    """Decimals with a comma, formulas with names, dates and telephone numbers are no expression for
    a calculator.
    """
    schema = {
        "type": "object",
        "properties": {"expression": {"type": "string"}},
        "required": ["expression"],
    }
    assert fill(schema, words, words) is None


@pytest.mark.parametrize(
    ("words", "expression"),
    [("What is 17 + 25?", "17 + 25"), ("Work out (2 + 3) * 4 please", "(2 + 3) * 4")],
)
def test_plain_arithmetic_is_an_expression(words: str, expression: str) -> None:
    """Arithmetic that stands alone in a sentence is taken as it stands."""
    schema = {
        "type": "object",
        "properties": {"expression": {"type": "string"}},
        "required": ["expression"],
    }
    assert fill(schema, words, words) == {"expression": expression}


@pytest.mark.parametrize(
    "words", ["It costs 1.200 Euro.", "About 1 000 000 people.", "It is minus 5 outside."]
)
def test_a_number_that_depends_on_who_wrote_it_is_not_taken(words: str) -> None:
    """Thousands with a point or a space, and a sign in words, fill no number."""
    schema = {
        "type": "object",
        "properties": {"amount": {"type": "number"}},
        "required": ["amount"],
    }
    assert fill(schema, words, words) is None
