"""What an embedder is given back: results with types, answers of a type of one's own, and clear
words where Ordain was not started.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError, field_validator
from typing_extensions import TypedDict

from ordain import Ordain
from ordain.app import Extras
from ordain.contracts.model_keys import read_contract
from ordain.contracts.planner import TEXT_MAX, PlannerRequest
from ordain.contracts.results import answer_schema, asked_again
from ordain.errors import CallerError, Conflict, InvalidRequest
from ordain.models.scripted import ScriptedModel, make_script
from ordain.runtime.replay import replay
from ordain.settings import load_settings
from tests.e2e.proposals import add, finish

REQUEST: dict[str, Any] = {
    "goal": {"type": "analysis", "description": "How much?"},
    "toolset": [{"tool_id": "math.evaluate"}],
}


@dataclass(frozen=True)
class Item:
    """One position."""

    name: str
    pieces: int


@dataclass(frozen=True)
class Offer:
    """A dataclass with another one within, and a date."""

    items: list[Item]
    until: date


class Total(TypedDict):
    """A TypedDict."""

    total: int


class Even(BaseModel):
    """A model whose own check no schema can say."""

    total: int

    @field_validator("total")
    @classmethod
    def check(cls, value: int) -> int:
        """Even numbers alone."""
        if value % 2:
            raise ValueError("odd")
        return value


class Tree(BaseModel):
    """A model that refers to itself."""

    below: list[Tree]


def house(home: Path, *planner: Any, again: Sequence[Any] = ()) -> Ordain:
    """An Ordain in memory whose planner says this, and ``again`` where a run asks once more."""
    cases = [
        {"when": {"contains": "What does not fit in it"}, "planner": list(again)},
        {"when": {"contains": "How much?"}, "planner": list(planner)},
    ]
    extras = Extras(models={"default": ScriptedModel(make_script(cases=cases))}, memory=True)
    return Ordain(load_settings({}, home), extras=extras)


async def test_a_plan_is_told_by_names(tmp_path: Path) -> None:
    """Status, verdict, run, header, words, structured part, usage and trace are attributes;
    ``wire`` is the response of the HTTP face.
    """
    async with house(tmp_path, add("6 * 7"), finish("It is 42.", total=42)) as ordain:
        told = await ordain.plan(REQUEST)
        assert (told.ok, told.status, told.verdict, told.content, told.output) == (
            True,
            "ok",
            "ok",
            "It is 42.",
            {"total": 42},
        )
        assert (told.usage.steps, told.usage.tools_called) == (2, ["math.evaluate"])
        assert [step.action is not None for step in told.trace] == [True, False]
        assert told.error is None
        assert told.header.startswith(f"✓ ok · ordain run {told.run_id}")
        assert told.wire == ordain.runtime.response(await ordain.runtime.wait(told.run_id))


async def test_a_call_is_told_by_names(tmp_path: Path) -> None:
    """A verb's output is of the type that was asked for; one that fails has its error and no
    output.
    """
    async with house(tmp_path) as ordain:
        plain = await ordain.execute("math.evaluate", {"expression": "6 * 7"})
        assert plain.ok
        assert plain.output is not None
        assert (plain.output["result"], plain.error) == ("42", None)
        failed = await ordain.execute("math.evaluate", {"expression": "6 *"}, output_type=Total)
        assert (failed.ok, failed.output) == (False, None)
        assert failed.error is not None
        with pytest.raises(CallerError) as refused:
            await ordain.execute("math.evaluate", {"expression": "6 * 7"}, output_type=Total)
        assert refused.value.code == "output_mismatch"


async def test_an_answer_is_of_the_type_that_was_asked_for(tmp_path: Path) -> None:
    """Nested dataclasses and dates come back as themselves; the model was told the schema, and its
    run replays equal.
    """
    offer: dict[str, Any] = {"items": [{"name": "nail", "pieces": 4}], "until": "2026-12-01"}
    async with house(tmp_path, finish("Four nails.", **offer)) as ordain:
        told = await ordain.plan(REQUEST, output_type=Offer)
        assert told.output == Offer(items=[Item(name="nail", pieces=4)], until=date(2026, 12, 1))
        stored = ordain.store.stored(told.run_id)
        assert stored is not None
        assert replay(stored, ordain.catalog, ordain.kinds).equal


async def test_an_answer_that_does_not_fit_is_asked_for_once_more(tmp_path: Path) -> None:
    """The first miss is asked again, through the same gateway; what fits then is the answer."""
    async with house(tmp_path, finish("Many.", total="many"), finish("Four.", total=4)) as ordain:
        told = await ordain.plan(REQUEST, output_type=Total)
        assert (told.ok, told.output, told.usage.steps) == (True, {"total": 4}, 2)
        assert "step.answer.invalid" in told.header


async def test_a_second_miss_is_a_typed_failure(tmp_path: Path) -> None:
    """After the one try more the run fails with its reason, and there is no output."""
    async with house(
        tmp_path, finish("Many.", total="many"), finish("Lots."), finish("Four.", total=4)
    ) as ordain:
        told = await ordain.plan(REQUEST, output_type=Total)
        assert (told.ok, told.output) == (False, None)
        assert told.error is not None
        assert told.error.code == "step.answer.invalid"


async def test_a_check_that_no_schema_can_say_is_the_callers(tmp_path: Path) -> None:
    """An answer that fits the schema and twice not the type's own check is refused with a code of
    its own, which says why.
    """
    async with house(
        tmp_path, finish("Three.", total=3), again=[finish("Five.", total=5)]
    ) as ordain:
        with pytest.raises(CallerError) as refused:
            await ordain.plan(REQUEST, output_type=Even)
        assert refused.value.code == "output_mismatch"
        assert refused.value.details["unfit"] == ["total: Value error, odd"]
        assert "total: Value error, odd" in refused.value.message


async def test_what_only_the_types_checks_refuse_is_asked_for_once_more(tmp_path: Path) -> None:
    """A second run is told what did not fit and has no tools, so nothing is done twice; whoever
    repeats the request gets the same answer, unasked.
    """
    request = {
        **REQUEST,
        "request_id": "even",
        "context": {"external_facts": {"text": "Nails come in pairs."}},
    }
    async with house(
        tmp_path, add(), finish("Three.", total=3), again=[finish("Four.", total=4)]
    ) as ordain:
        told = await ordain.plan(request, output_type=Even)
        assert (told.ok, told.output, told.request_id) == (True, Even(total=4), "even:again")
        again = await ordain.plan(request, output_type=Even)
        assert (again.output, again.run_id) == (told.output, told.run_id)
        stored = ordain.store.stored(told.run_id)
        assert stored is not None
        assert replay(stored, ordain.catalog, ordain.kinds).equal
        asked = read_contract(PlannerRequest, json.loads(stored.records[0].body or b"")["input"])
        assert asked.toolset == []
        facts = asked.context.external_facts.text or ""
        assert facts.startswith("Nails come in pairs.\n\n")
        assert "- total: Value error, odd" in facts


async def test_an_answer_whose_second_run_fails_is_a_typed_failure(tmp_path: Path) -> None:
    """What the second run comes to is the result: where it fails, with its reason."""
    async with house(
        tmp_path, finish("Three.", total=3), again=[finish("Many.", total="many"), finish("Lots.")]
    ) as ordain:
        told = await ordain.plan(REQUEST, output_type=Even)
        assert (told.ok, told.output) == (False, None)
        assert told.error is not None
        assert told.error.code == "step.answer.invalid"


async def test_where_policy_grants_no_try_nothing_is_asked_again(tmp_path: Path) -> None:
    """``step.reask = 0`` holds for what only the type's own checks refuse, too."""
    (tmp_path / "policy.toml").write_text("version = 1\n[step]\nreask = 0\n", encoding="utf-8")
    async with house(
        tmp_path, finish("Three.", total=3), again=[finish("Four.", total=4)]
    ) as ordain:
        with pytest.raises(CallerError, match="odd"):
            await ordain.plan(REQUEST, output_type=Even)


def test_what_leaves_no_room_to_say_why_is_not_asked_again() -> None:
    """A request whose facts fill what they may, or an answer at which the type's own code breaks,
    is asked once; the longest id is no hindrance.
    """
    refused = CallerError(
        "odd", code="output_mismatch", details={"run": "1", "unfit": ["total: odd"]}
    )
    full = PlannerRequest.model_validate(
        {**REQUEST, "context": {"external_facts": {"text": "x" * TEXT_MAX}}}
    )
    assert asked_again(full, {}, refused) is None
    named = PlannerRequest.model_validate({**REQUEST, "request_id": "x" * 200})
    assert (
        asked_again(named, {}, CallerError("broken", code="output_mismatch", details={"run": "1"}))
        is None
    )
    again = asked_again(named, {}, refused)
    assert again is not None
    assert again.request_id is None


class Brittle(BaseModel):
    total: int

    @field_validator("total")
    @classmethod
    def _breaks(cls, total: int) -> int:
        raise RuntimeError(f"no {total}")


async def test_what_is_refused_or_breaks_at_the_type_can_be_had_from_its_run(
    tmp_path: Path,
) -> None:
    """A type whose own code raises anything is the caller's mistake, too; the refusal names the
    run, which holds the answer.
    """
    async with house(
        tmp_path, finish("Three.", total=3), again=[finish("Three.", total=3)]
    ) as ordain:
        for kind in (Even, Brittle):
            with pytest.raises(CallerError) as refused:
                await ordain.plan(REQUEST, output_type=kind)
            assert refused.value.code == "output_mismatch"
            wire = ordain.runtime.response(
                await ordain.runtime.wait(str(refused.value.details["run"]))
            )
            assert wire["final_answer"]["structured"] == {"total": 3}


async def test_an_answers_data_stays_what_was_held_to_the_schema(tmp_path: Path) -> None:
    """Code points that faces show by their number stand in the structured part as the model wrote
    them; the words beside them are visible.
    """
    exact = {"k\u202ey": ["a\u202eb", "\x1b[2J\u2028"], "total": 1}
    async with house(tmp_path, finish("a\u202eb", **exact)) as ordain:
        told = await ordain.plan(REQUEST)
        assert told.output == exact
        assert told.content == "a[U+202E]b"


async def test_a_verbs_output_that_no_type_can_be_is_the_types_fault(tmp_path: Path) -> None:
    """What has no JSON Schema is refused as such, and not as an output that does not fit."""
    async with house(tmp_path) as ordain:
        with pytest.raises(CallerError) as refused:
            await ordain.execute(
                "math.evaluate", {"expression": "6 * 7"}, output_type=Callable[[int], int]
            )  # type: ignore[arg-type]
        assert refused.value.code == "output_type"


@pytest.mark.parametrize(
    "payload", [None, "6 * 7", 1, [("expression", "1")], {1: 2}, {"expression": object()}]
)
async def test_a_payload_that_is_none_is_the_callers_mistake(tmp_path: Path, payload: Any) -> None:
    """What is no mapping of names to JSON values is refused as what breaks its contract, whatever
    it is.
    """
    async with house(tmp_path) as ordain:
        with pytest.raises(ValidationError):
            await ordain.execute("math.evaluate", payload)


async def test_half_a_surrogate_pair_is_the_callers_mistake(tmp_path: Path) -> None:
    """A text that has no bytes is refused as one, wherever it stands in a request."""
    async with house(tmp_path) as ordain:
        for ask in (
            lambda: ordain.execute("math.evaluate", {"expression": "\ud800"}),
            lambda: ordain.plan(
                {**REQUEST, "answer_schema": {"type": "object", "description": "\ud800"}}
            ),
        ):
            with pytest.raises(InvalidRequest) as refused:
                await ask()
            assert refused.value.code == "invalid_unicode"


@pytest.mark.parametrize("wrong", [int, list[int], Tree])
async def test_what_no_answer_can_be_is_refused_before_anything_runs(
    tmp_path: Path, wrong: type[Any]
) -> None:
    """A type that is no object, or refers to itself, is the caller's mistake, and no run begins."""
    async with house(tmp_path) as ordain:
        with pytest.raises(CallerError) as refused:
            await ordain.plan(REQUEST, output_type=wrong)
        assert refused.value.code == "output_type"
        assert await ordain.runtime.runs() == []


def test_a_schema_has_no_references() -> None:
    """What is nested stands where it is used: a request's schema may refer to nothing."""
    assert "$ref" not in str(answer_schema(Offer))
    assert answer_schema(Offer)["properties"]["items"]["items"]["required"] == ["name", "pieces"]


@pytest.mark.parametrize(
    "schema",
    [{"type": "string"}, {"type": "object", "$ref": "#/x"}, {"type": "object", "properties": 5}],
)
async def test_a_schema_that_is_none_is_refused(tmp_path: Path, schema: dict[str, Any]) -> None:
    """Over HTTP, too, a request's schema is of an object, is one, and refers to nothing."""
    async with house(tmp_path) as ordain:
        with pytest.raises(CallerError) as refused:
            await ordain.plan({**REQUEST, "answer_schema": schema})
        assert refused.value.code == "invalid_schema"


async def test_one_that_was_not_started_says_so(tmp_path: Path) -> None:
    """The error names what to write instead."""
    ordain = house(tmp_path)
    for asked in (
        ordain.plan(REQUEST),
        ordain.execute("math.evaluate", {"expression": "1"}),
        ordain.chat("hello"),
    ):
        with pytest.raises(Conflict, match="async with Ordain") as refused:
            await asked
        assert refused.value.code == "not_started"


def test_a_script_needs_no_event_loop(tmp_path: Path) -> None:
    """``run_sync`` starts, plans and stops; an Ordain that was started already is refused."""
    ordain = house(tmp_path, finish("Four.", total=4))
    assert ordain.run_sync(REQUEST, output_type=Total).output == {"total": 4}
    with pytest.raises(Conflict):
        ordain.run_sync(REQUEST)
    assert house(tmp_path, finish("Five.")).run_sync(REQUEST).content == "Five."


async def test_within_an_event_loop_run_sync_says_what_to_await(tmp_path: Path) -> None:
    """It would block the loop that it runs in."""
    with pytest.raises(Conflict, match=r"await ordain\.plan") as refused:
        house(tmp_path).run_sync(REQUEST)
    assert refused.value.code == "not_alone"


@pytest.mark.parametrize(
    ("hint", "says"),
    [
        ("output_type", "output_type is plan's"),
        ("mdoe", "did you mean mode?"),
        ("verbs", "there is no hint verbs"),
    ],
)
async def test_a_hint_that_is_none_is_told_by_its_name(
    tmp_path: Path, hint: str, says: str
) -> None:
    """Before anything is sent, and as a mistake of the caller's that every refusal of theirs is."""
    async with Ordain(home=tmp_path) as ordain:
        with pytest.raises(InvalidRequest, match="there is no hint") as refused:
            await ordain.chat("Hello", **{hint: dict})
    assert says in refused.value.message
