"""The scripted provider and its files."""

import json
from pathlib import Path
from typing import Any

import pytest

from ordain.contracts.policy import ModelErrorCode, ModelProfile
from ordain.errors import ConfigurationError
from ordain.models.scripted import NOTICE, Script, ScriptedModel, make_script, read_script
from ordain.ports.model import ModelError, ModelReply, ModelRequest

FINISH = {"thought": "", "finish": True, "action": None, "final_answer": {"content": "done", "structured": {}}}


async def play(script: Script, index: int, verb: str | None = None, timeout_s: float = 5, **inputs: Any) -> ModelReply | ModelError:
    return await ScriptedModel(script).attempt(
        ModelRequest(
            profile=ModelProfile(provider="scripted", model="three-facts"),
            purpose="planner" if verb is None else "verb",
            system="",
            user="",
            schema_name="x",
            schema={},
            max_tokens=10,
            timeout_s=timeout_s,
            inputs=inputs if verb is None else {"verb": verb, **inputs},
            index=index,
            key="k",
        )
    )


async def test_the_index_says_which_item() -> None:
    """The n-th call gets the n-th item, again and again, with the notice and without token counts."""
    script = make_script([FINISH, "raw {"], {"v.one": [{"a": 1}]})
    for _ in range(2):
        answer = await play(script, 0)
        assert isinstance(answer, ModelReply)
        assert json.loads(answer.text) == FINISH
        assert (answer.model, answer.notice, answer.input_tokens, answer.output_tokens) == ("three-facts", NOTICE, None, None)
    raw = await play(script, 1)
    assert isinstance(raw, ModelReply)
    assert raw.text == "raw {"
    of_verb = await play(script, 0, "v.one")
    assert isinstance(of_verb, ModelReply)
    assert of_verb.text == '{"a":1}'


@pytest.mark.parametrize(("index", "verb"), [(1, None), (-1, None), (0, "other"), (0, "v" * 900)])
async def test_beyond_the_end_the_script_is_exhausted(index: int, verb: str | None) -> None:
    """A call that the script has no item for is a typed error, never a repetition."""
    answer = await play(make_script([FINISH]), index, verb)
    assert isinstance(answer, ModelError)
    assert answer.code is ModelErrorCode.SCRIPT_EXHAUSTED
    assert len(answer.message) <= 300


async def test_errors_and_delays_are_played() -> None:
    """An item may be an error with its code and delay, or come late, also later than the time-out."""
    script = make_script(
        [
            {"$error": "rate_limited", "message": "slow down", "retry_after_ms": 500},
            {"$error": "overloaded"},
            {"$delay_ms": 1, "$answer": FINISH},
            {"$delay_ms": 1, "$answer": {"$error": "connection"}},
            {"$delay_ms": 60_000, "$answer": FINISH},
        ]
    )
    assert await play(script, 0) == ModelError(code=ModelErrorCode.RATE_LIMITED, message="slow down", retry_after_ms=500)
    assert await play(script, 1) == ModelError(code=ModelErrorCode.OVERLOADED, message="scripted error")
    assert isinstance(await play(script, 2), ModelReply)
    assert await play(script, 3) == ModelError(code=ModelErrorCode.CONNECTION, message="scripted error")
    late = await play(script, 4, timeout_s=0.01)
    assert isinstance(late, ModelError)
    assert late.code is ModelErrorCode.TIMED_OUT


async def test_cases_are_chosen_by_the_words_of_the_request(tmp_path: Path) -> None:
    """The first case whose words the request holds answers; without one the rest of the file does."""
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


async def test_json_files_are_scripts_too(tmp_path: Path) -> None:
    """A .json file has the same form."""
    file = tmp_path / "script.json"
    file.write_text(json.dumps({"planner": [FINISH]}), encoding="utf-8")
    assert isinstance(await play(read_script(file), 0), ModelReply)


async def test_the_shipped_example_is_a_script() -> None:
    """The example script plays the three facts of the sources' trace (D3)."""
    root = Path(__file__).parents[3]
    script = read_script(root / "examples/scripts/extract_facts.yaml")
    trace = json.loads((root / "tests/fixtures/seeds/extract_facts_trace.json").read_text(encoding="utf-8"))
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
        ("planner: {a: 1}", "planner: must be a list"),
        ("planner: [1]", "planner[0]: must be a mapping"),
        ("planner: [{}, {$eror: x}]", "planner[1]: unknown $eror"),
        ("planner: [{$error: no_such}]", "planner[0].$error: unknown"),
        ("planner: [{$error: [x]}]", "planner[0].$error: unknown"),
        ("planner: [{$error: connection, code: 3}]", "planner[0]: unknown code"),
        ("planner: [{$error: connection, message: 3}]", "planner[0].message"),
        ("planner: [{$error: connection, retry_after_ms: -1}]", "planner[0].retry_after_ms"),
        ("planner: [{$delay_ms: soon, $answer: x}]", "planner[0].$delay_ms"),
        ("planner: [{$delay_ms: 5}]", "planner[0].$answer: must be a mapping"),
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
        read_script(file)
        return
    with pytest.raises(ConfigurationError) as caught:
        read_script(file)
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
