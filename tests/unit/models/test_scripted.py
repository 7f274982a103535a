"""The scripted provider and its files."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile
from ordain.errors import ConfigurationError
from ordain.flows.deliberation.prompt import JudgePrompt
from ordain.flows.roster.prompt import RosterPrompt
from ordain.flows.seat.prompt import SeatPrompt
from ordain.flows.shipped import shipped_kinds
from ordain.models.scripted import (
    NOTICE,
    PIECE_CHARS,
    Script,
    ScriptedModel,
    make_script,
    read_script,
)
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest

PURPOSES = shipped_kinds().scripted
"""What a script of this build has a list for, beside its verbs."""
FINISH = {
    "thought": "",
    "finish": True,
    "action": None,
    "final_answer": {"content": "done", "structured": {}},
}


def request(
    index: int, verb: str | None = None, timeout_s: float = 5, **inputs: Any
) -> ModelRequest:
    return ModelRequest(
        profile=ModelProfile(provider="scripted", model="three-facts"),
        purpose="planner" if verb is None else "verb",
        verb=verb or "",
        system="",
        user="",
        schema_name="x",
        schema={},
        max_tokens=10,
        timeout_s=timeout_s,
        inputs=inputs if verb is None else {"verb": verb, **inputs},
        index=index,
    )


async def play(
    script: Script, index: int, verb: str | None = None, timeout_s: float = 5, **inputs: Any
) -> ModelReply | ModelError:
    return await ScriptedModel(script).attempt(request(index, verb, timeout_s, **inputs))


async def ask(
    script: Script, purpose: str, *, index: int = 0, narrative: str = "", heard: Heard | None = None
) -> ModelReply | ModelError:
    asked = structs.replace(request(index), purpose=purpose, narrative=narrative)
    return await ScriptedModel(script).attempt(asked, heard)


async def test_the_index_says_which_item() -> None:
    """The n-th call gets the n-th item, again and again, with the notice and without token
    counts.
    """
    script = make_script(planner=[FINISH, "raw {"], verbs={"v.one": [{"a": 1}]})
    for _ in range(2):
        answer = await play(script, 0)
        assert isinstance(answer, ModelReply)
        assert json.loads(answer.text) == FINISH
        assert (answer.model, answer.notice, answer.input_tokens, answer.output_tokens) == (
            "three-facts",
            NOTICE,
            None,
            None,
        )
    raw = await play(script, 1)
    assert isinstance(raw, ModelReply)
    assert raw.text == "raw {"
    of_verb = await play(script, 0, "v.one")
    assert isinstance(of_verb, ModelReply)
    assert of_verb.text == '{"a":1}'


@pytest.mark.parametrize(("index", "verb"), [(1, None), (-1, None), (0, "other"), (0, "v" * 900)])
async def test_beyond_the_end_the_script_is_exhausted(index: int, verb: str | None) -> None:
    """A call that the script has no item for is a typed error, never a repetition."""
    answer = await play(make_script(planner=[FINISH]), index, verb)
    assert isinstance(answer, ModelError)
    assert answer.code is ModelErrorCode.SCRIPT_EXHAUSTED
    assert len(answer.message) <= 300


async def test_errors_and_delays_are_played() -> None:
    """An item may be an error with its code and delay, or come late, also later than the
    time-out.
    """
    script = make_script(
        planner=[
            {"$error": "rate_limited", "message": "slow down", "retry_after_ms": 500},
            {"$error": "overloaded"},
            {"$delay_ms": 1, "$answer": FINISH},
            {"$delay_ms": 1, "$answer": {"$error": "connection"}},
            {"$delay_ms": 60_000, "$answer": FINISH},
        ]
    )
    assert await play(script, 0) == ModelError(
        code=ModelErrorCode.RATE_LIMITED, message="slow down", retry_after_ms=500
    )
    assert await play(script, 1) == ModelError(
        code=ModelErrorCode.OVERLOADED, message="scripted error"
    )
    assert isinstance(await play(script, 2), ModelReply)
    assert await play(script, 3) == ModelError(
        code=ModelErrorCode.CONNECTION, message="scripted error"
    )
    late = await play(script, 4, timeout_s=0.01)
    assert isinstance(late, ModelError)
    assert late.code is ModelErrorCode.TIMED_OUT


async def test_cases_are_chosen_by_the_words_of_the_request(tmp_path: Path) -> None:
    """The first case whose words the request holds answers; without one the rest of the file
    does.
    """
    file = tmp_path / "cases.yaml"
    file.write_text(
        """
        planner: ["none"]
        cases:
          - {when: {contains: "Über \\"Oslo\\""}, planner: ["oslo"], verbs: {v: ["verb of oslo"]}}
          - {when: {contains: bergen}, planner: ["bergen"]}
        """,
        encoding="utf-8",
    )
    script = read_script(file)

    async def text(verb: str | None = None, **inputs: Any) -> str:
        answer = await play(script, 0, verb, **inputs)
        assert isinstance(answer, ModelReply)
        return answer.text

    assert await text(goal='Tell me über "OSLO" and Bergen') == "oslo"
    assert await text(facts={"text": "In Bergen it rains"}) == "bergen"
    assert await text(goal="x", trace=["bergen"]) == "none"
    assert await text("v", input={"text": 'über "Oslo"'}) == "verb of oslo"


async def test_a_turns_case_is_chosen_by_its_message_alone() -> None:
    """Where there is a current message, words in the history or the goal choose no case."""
    tree = {
        "planner": ["none"],
        "cases": [
            {"when": {"contains": word}, "planner": [word], "router": [f"to {word}"]}
            for word in ("old", "new")
        ],
    }
    script = make_script(**tree)
    history = [{"role": "user", "content": "something old"}]
    for message, text in (("Something NEW", "new"), ("something else", "none"), (None, "old")):
        answer = await play(script, 0, message=message, history=history, goal="old")
        assert isinstance(answer, ModelReply)
        assert answer.text == text
    routed = await ScriptedModel(script).attempt(
        structs.replace(request(0, message="new"), purpose="router")
    )
    assert isinstance(routed, ModelReply)
    assert routed.text == "to new"


ABOUT_OSLO: dict[str, dict[str, Any]] = {
    "roster": structs.asdict(
        RosterPrompt(agents="a", request="Over OSLO.", known="", most=3, threshold=0.7)
    ),
    "synthesis": {"request": "Over OSLO.", "found": []},
    "seat": structs.asdict(
        SeatPrompt(
            role="Analyst",
            description="d",
            question="Over OSLO?",
            history=(),
            constraints=(),
            phi=None,
            state="",
        )
    ),
    "chair": structs.asdict(
        JudgePrompt(
            role="Chair",
            description="d",
            question="Over OSLO?",
            history=(),
            state="",
            opinions=(),
            constraints=(),
        )
    ),
}
ABOUT_OSLO["auditor"] = ABOUT_OSLO["chair"] | {"role": "Auditor"}


@pytest.mark.parametrize("purpose", ABOUT_OSLO)
async def test_agents_and_councils_have_cases_too(purpose: str) -> None:
    """Whoever plans for agents, puts their findings into words or sits in a council is asked about
    a request or a question, which chooses the case.
    """
    script = make_script(
        **{purpose: ["none"], "cases": [{"when": {"contains": "oslo"}, purpose: ["oslo"]}]}
    )
    answer = await ScriptedModel(script).attempt(
        structs.replace(request(0, **ABOUT_OSLO[purpose]), purpose=purpose)
    )
    assert isinstance(answer, ModelReply)
    assert answer.text == "oslo"


@pytest.mark.parametrize("purpose", sorted(PURPOSES))
async def test_each_purpose_has_its_list(purpose: str) -> None:
    """A call is answered from its own purpose's list, and from no other."""
    script = make_script(**{purpose: ["own"]})
    answer = await ask(script, purpose)
    assert isinstance(answer, ModelReply)
    assert answer.text == "own"
    for other in {*PURPOSES, "verb", "unknown"} - {purpose}:
        refused = await ask(script, other)
        assert isinstance(refused, ModelError)
        assert refused.code is ModelErrorCode.SCRIPT_EXHAUSTED
        assert other in refused.message


async def test_the_narrative_is_played_in_pieces() -> None:
    """Where somebody listens, the text comes in pieces with a turn for others between them; the
    reply is the same without.
    """
    text = "A text that is rather longer than one piece, with “signs” and\nbreaks."
    script = make_script(
        planner=[
            {"final_answer": {"content": text}},
            {"$text_ms": 1, "$answer": {"final_answer": {"content": text}}},
        ]
    )
    pieces: list[str] = []
    seen: list[int] = []

    async def watch() -> None:
        while True:
            seen.append(len(pieces))
            await asyncio.sleep(0)

    for index in range(2):
        pieces.clear()
        seen.clear()
        watching = asyncio.create_task(watch())
        answer = await ask(
            script, "planner", index=index, narrative="final_answer.content", heard=pieces.append
        )
        watching.cancel()
        assert "".join(pieces) == text
        assert all(0 < len(piece) <= PIECE_CHARS for piece in pieces)
        assert set(range(1, len(pieces) + 1)) <= set(seen)
        assert answer == await ask(script, "planner", index=index)


@pytest.mark.parametrize(
    ("item", "place"),
    [
        ({"content": "x"}, ""),
        ({"content": 1}, "content"),
        ("no object", "content"),
        ({"$error": "overloaded"}, "content"),
        ({"a": "x"}, "content"),
    ],
)
async def test_without_a_narrative_nothing_is_heard(item: object, place: str) -> None:
    """No place, no text at the place, an error: nothing is played."""
    pieces: list[str] = []
    await ask(make_script(planner=[item]), "planner", narrative=place, heard=pieces.append)
    assert pieces == []


async def test_a_text_that_is_slower_than_the_time_out() -> None:
    """Pauses count into the time-out, and what was heard before counts for nothing; with $delay_ms
    they add up.
    """
    pieces: list[str] = []
    item = {
        "$delay_ms": 1,
        "$text_ms": 60_000,
        "$answer": {"$delay_ms": 1, "$answer": {"content": "x" * 40}},
    }
    asked = structs.replace(request(0, timeout_s=1.0), narrative="content")
    answer = await ScriptedModel(make_script(planner=[item])).attempt(asked, pieces.append)
    assert isinstance(answer, ModelError)
    assert answer.code is ModelErrorCode.TIMED_OUT
    assert pieces == ["x" * PIECE_CHARS]
    assert isinstance(await ScriptedModel(make_script(planner=[item])).attempt(asked), ModelReply)


async def test_json_files_are_scripts_too(tmp_path: Path) -> None:
    """A .json file has the same form."""
    file = tmp_path / "script.json"
    file.write_text(json.dumps({"planner": [FINISH]}), encoding="utf-8")
    assert isinstance(await play(read_script(file), 0), ModelReply)


async def test_the_shipped_example_is_a_script() -> None:
    """The example script plays the three facts of the sources' trace (D3)."""
    root = Path(__file__).parents[3]
    script = read_script(root / "examples/scripts/extract_facts.yaml")
    trace = json.loads(
        (root / "tests/fixtures/seeds/extract_facts_trace.json").read_text(encoding="utf-8")
    )
    first, last = await play(script, 0), await play(script, 1)
    assert isinstance(first, ModelReply)
    assert isinstance(last, ModelReply)
    assert json.loads(first.text)["action"] == trace["trace"][0]["action"]
    assert json.loads(last.text)["final_answer"] == trace["final_answer"]
    assert isinstance(await play(script, 0, "extract_facts"), ModelReply)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("[]", "must be a mapping"),
        ("", "must be a mapping"),
        ("planer: []", "unknown planer"),
        ("planner: 1", "planner: must be a list"),
        ("planner: {a: 1}", "planner.a: must be a list"),
        ("planner: [1]", "planner[0]: must be a mapping"),
        ("planner: [{}, {$eror: x}]", "planner[1]: unknown $eror"),
        ("planner: [{$error: no_such}]", "planner[0].$error: unknown"),
        ("planner: [{$error: [x]}]", "planner[0].$error: unknown"),
        ("planner: [{$error: connection, code: 3}]", "planner[0]: unknown code"),
        ("planner: [{$error: connection, message: 3}]", "planner[0].message"),
        ("planner: [{$error: connection, retry_after_ms: -1}]", "planner[0].retry_after_ms"),
        ("planner: [{$delay_ms: soon, $answer: x}]", "planner[0].$delay_ms"),
        ("planner: [{$delay_ms: 5}]", "planner[0].$answer: must be a mapping"),
        ("router: x", "router: must be a list"),
        ("cases: [{when: {contains: a}, triage: [1]}]", "cases[0].triage[0]: must be a mapping"),
        ("supervisor: [{$text_ms: -1, $answer: x}]", "supervisor[0].$text_ms"),
        ("planner: [{$text_ms: 5, $delay: 1, $answer: x}]", "planner[0]: unknown $delay"),
        ("planner: [{$text_ms: 5}]", "planner[0].$answer: must be a mapping"),
        ("planner: [{a: 2026-01-01}]", "planner[0].a: date is not JSON"),
        ("planner: [{a: [.nan]}]", "planner[0].a[0]: not a finite number"),
        ("planner: [{a: {1: 2}}]", "planner[0].a: the key 1"),
        ("planner: [{a: 1, a: 2}]", "stands twice"),
        ("planner: []\nplanner: []", "line 2"),
        ("verbs: []", ""),
        ("verbs: [x]", "verbs: must be a mapping"),
        ("verbs: {extract: x}", "verbs.extract: must be a list"),
        ("cases: [{when: {}, planner: []}]", "cases[0].when.contains"),
        ("cases: [{planner: []}]", "cases[0].when: must be a mapping"),
        ("cases: [{when: {contains: a}, cases: []}]", "cases[0]: unknown cases"),
        ("planner: [", "line 1"),
        ("planner: [!!python/object/apply:os.getcwd []]", "python/object"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(tmp_path: Path, content: str, place: str) -> None:
    """A file that is no script is refused; the message names the file and the place in it."""
    file = tmp_path / "bad.yaml"
    file.write_text(content, encoding="utf-8")
    if not place:
        read_script(file, PURPOSES)
        return
    with pytest.raises(ConfigurationError) as caught:
        read_script(file, PURPOSES)
    assert caught.value.code == "invalid_script"
    assert str(file) in caught.value.message
    assert place in caught.value.message


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b'{"planner": [', b"[" * 100_000])
def test_broken_json_is_refused(tmp_path: Path, content: bytes) -> None:
    """Broken or endless JSON is refused with the file's name."""
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"bad\.json"):
        read_script(file)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """A file that cannot be read is refused with its name."""
    with pytest.raises(ConfigurationError, match=r"none\.yaml"):
        read_script(tmp_path / "none.yaml")
