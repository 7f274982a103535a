"""Councils in a whole house: seats as child runs side by side, late ones, stopped ones, settings of
the environment, and no model at all.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordain.app import Extras, Ordain
from ordain.contracts.council import DeliberationRequest
from ordain.effects.effect import ModelCall
from ordain.journal.codec import decode
from ordain.journal.records import IntentBody, Status
from ordain.ports.model import ModelRequest
from ordain.runtime.door import RunView
from ordain.runtime.replay import replay
from ordain.settings import load_settings
from ordain.testing import ModelScript, after, fails, hold
from tests.shapes.council import CORE, QUESTION, judgement, verdict
from tests.shapes.talk import PRINCIPAL, House

MODEL = msgspec.json.Decoder(ModelCall)
SPOKEN = (
    ModelScript()
    .on("seat", {"text": "I think so."})
    .on("chair", judgement())
    .on("auditor", verdict())
)


async def held(house: House, **request: Any) -> str:
    """Accept a council's request."""
    return (
        await house.ordain.runtime.accept(
            DeliberationRequest(prompt=QUESTION, **request), PRINCIPAL
        )
    ).run


async def response(house: House, run: str) -> tuple[RunView, dict[str, Any]]:
    """Its end, and what its caller is answered."""
    view = await house.ordain.runtime.wait(run)
    return view, house.ordain.runtime.response(view, DeliberationRequest)


async def equal(house: House) -> bool:
    """Whether every run there is replays equal."""
    rows = await house.ordain.runtime.runs(roots_only=False)
    stored = [house.ordain.store.stored(row.id) for row in rows]
    return all(
        one is not None and replay(one, house.ordain.catalog, house.ordain.kinds).equal
        for one in stored
    )


async def test_a_council_is_a_run_with_a_child_for_each_seat(tmp_path: Path) -> None:
    """CNC-04 "Council reachable by `mode=council`, router path `council`, supervisor
    `checkpoint_council`"; and by itself, as here: real files, and all of it replays equal.
    """
    async with House(tmp_path / "home", script=SPOKEN) as house:
        view, answer = await response(house, await held(house, universe="safety"))
        assert (answer["status"], answer["next"], answer["verdict"]) == ("ok", "accept_text", "ok")
        assert answer["result"]["final_text"] == "Yes, in the afternoon."
        assert answer["result"]["trace_id"] == view.stored.id
        rows = await house.ordain.runtime.runs(roots_only=False)
        assert sorted(row.flow for row in rows) == ["council", *["seat"] * 6]
        assert await equal(house)


async def test_a_seat_that_never_answers_is_absent() -> None:
    """The council waits for it no longer than its seats' part of the round, and what it would have
    said stands nowhere.
    """
    never = hold({"text": "Too late."})
    async with House(
        script=ModelScript()
        .on("seat", never, role="Mythic")
        .on("seat", {"text": "I think so."})
        .on("chair", judgement())
        .on("auditor", verdict())
    ) as house:
        run = await held(house)
        spoken = "SELECT count(*) FROM runs WHERE status = 'completed'"
        await house.until(
            "the others have spoken", lambda: never.waiting == 1 and house.query(spoken)[0][0] == 3
        )
        await house.pass_time(8)
        view, answer = await response(house, run)
        assert view.stored.status is Status.COMPLETED
        assert answer["result"]["meta"]["absent"] == ["Mythic"]
        assert "Too late." not in str(answer)
        assert "3 of 4 seats spoke; absent: Mythic (late)" in view.header
        assert never.abandoned == 1
        assert await equal(house)


async def test_the_header_names_who_was_absent_and_why() -> None:
    """Late, failed or malformed: each seat by its name, by what its run came to."""
    never = hold()
    script = (
        ModelScript()
        .on("seat", "I think so.", role="Analyst")
        .on("seat", {"text": ""}, role="Pragmatist")
        .on("seat", never, role="Mythic")
        .on("seat", fails("rejected"), role="Systems")
    )
    async with House(
        script=script.on("seat", {"text": "So."}).on("chair", judgement()).on("auditor", verdict())
    ) as house:
        run = await held(house, universe="all")
        ended = "SELECT count(*) FROM runs WHERE flow = 'seat' AND ended_at IS NOT NULL"
        await house.until(
            "the others have ended", lambda: never.waiting == 1 and house.query(ended)[0][0] == 8
        )
        await house.pass_time(8)
        view, _ = await response(house, run)
        assert (
            "5 of 9 seats spoke; absent: Analyst (malformed), Mythic (late), Pragmatist "
            "(malformed), Systems (failed: rejected)"
        ) in view.header
        assert await equal(house)


@pytest.mark.parametrize("word", ["revise_same_round", "new_round"])
async def test_an_auditors_own_answer_stands_from_then_on(word: str) -> None:
    """Where it is not accepted yet, the revision starts from it; seats, chair and auditor of
    another round are shown it with what the answer is held to.
    """
    asked: list[tuple[str, str]] = []

    def heard(one: ModelRequest) -> bool:
        asked.append((one.role or "", one.user))
        return True

    script = ModelScript().on("seat", {"text": "So."}, when=heard)
    script = script.on("chair", judgement("Mine."), index=0).on(
        "chair", judgement("Ours."), when=heard
    )
    script = script.on("auditor", verdict(word, override_answer="Bees."), index=0).on(
        "auditor", verdict(), when=heard
    )
    async with House(script=script) as house:
        _, answer = await response(house, await held(house))
        assert answer["result"]["final_text"] == "Ours."
        later = {role: text for role, text in asked if "Bees." in text}
        assert later.keys() == {"Chair", "Auditor", *(CORE if word == "new_round" else ())}
        assert ('BEFORE (the answer to revise)\n"Bees."' in later["Chair"]) is (
            word == "revise_same_round"
        )
        assert "Mine." not in later["Chair"]
        assert await equal(house)


async def test_seats_that_all_never_answer_are_no_council() -> None:
    """Typed, when their part of the round is over."""
    never = hold()
    async with House(script=ModelScript().on("seat", never)) as house:
        run = await held(house)
        await house.until("all seats are asked", lambda: never.waiting == 4)
        await house.pass_time(8)
        _, answer = await response(house, run)
        assert answer["error"]["code"] == "council_no_quorum"


async def test_a_council_that_is_cancelled_stops_its_seats() -> None:
    """Whoever calls it off gets no answer of it."""
    never = hold()
    async with House(script=ModelScript().on("seat", never)) as house:
        run = await held(house)
        await never.reached()
        await house.ordain.runtime.operators.cancel(run, by=PRINCIPAL, why="no more")
        view, answer = await response(house, run)
        assert (view.stored.status, answer["error"]["code"]) == (Status.CANCELLED, "cancelled")
        rows = await house.ordain.runtime.runs(roots_only=False)
        assert {row.status for row in rows} == {Status.CANCELLED}


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("COUNCIL_MAX_ROUNDS", "1", "council_unresolved"),
        ("COUNCIL_LLM_TIMEOUT_SEC", "0.5", "council_verdict_invalid"),
        ("COUNCIL_ROUND_TIMEOUT_SEC", "0.9", "council_no_quorum"),
    ],
)
async def test_the_environments_numbers_hold(
    tmp_path: Path, name: str, value: str, code: str
) -> None:
    """CNC-03 "Settings `COUNCIL_ROUND_TIMEOUT_SEC`, `COUNCIL_LLM_TIMEOUT_SEC`, `COUNCIL_MAX_ROUNDS`
    are all effective": each by what it brings about.
    """
    settings = load_settings({name: value}, tmp_path)
    script = {
        "COUNCIL_MAX_ROUNDS": SPOKEN_ANEW,
        "COUNCIL_LLM_TIMEOUT_SEC": ModelScript()
        .on("seat", {"text": "So."})
        .on("chair", after(700, judgement())),
        "COUNCIL_ROUND_TIMEOUT_SEC": ModelScript().on("seat", after(800, {"text": "So."})),
    }[name]
    async with House(
        script=script, policy={"council": settings.policy.council.model_dump()}
    ) as house:
        _, answer = await response(house, await held(house))
        assert answer["error"]["code"] == code


@pytest.mark.parametrize(("call_s", "round_s"), [(60, 600), (300, 60), (67.5, 67.5)])
async def test_each_call_of_a_council_ends_by_what_is_configured(
    tmp_path: Path, call_s: float, round_s: float
) -> None:
    """By the time of one call or by what is left of the round's, whichever is over first: seats,
    chair and auditor, each as its own intent has it. The times are long beside what a busy machine
    takes between a deadline and its record.

    EXE-17 "planner/council RPCs by configured timeout knobs."
    """
    settings = load_settings(
        {"COUNCIL_LLM_TIMEOUT_SEC": str(call_s), "COUNCIL_ROUND_TIMEOUT_SEC": str(round_s)},
        tmp_path,
    )
    async with House(
        script=SPOKEN, policy={"council": settings.policy.council.model_dump()}
    ) as house:
        view, answer = await response(house, await held(house))
        assert answer["status"] == "ok"
        began = view.stored.records[0].at
        journals = [
            house.ordain.store.stored(row.id)
            for row in await house.ordain.runtime.runs(roots_only=False)
        ]
    calls = [
        (record.at, MODEL.decode(body.effect))
        for run in journals
        if run is not None
        for record in run.records
        if isinstance(body := decode(record), IntentBody) and record.name == "model_call"
    ]
    assert sorted(call.role for _, call in calls) == sorted(["Auditor", "Chair", *CORE])
    for at, call in calls:
        assert 0 < call.deadline - at <= call_s * 1_000_000
        assert call.deadline <= at + round_s * 1_000_000
    if call_s < round_s / 2:
        assert all(call.deadline - at > call_s / 2 * 1_000_000 for at, call in calls)
    assert min(at for at, _ in calls) >= began


SPOKEN_ANEW = (
    ModelScript()
    .on("seat", {"text": "So."})
    .on("chair", judgement())
    .on("auditor", verdict("new_round"))
)


async def test_without_a_model_there_is_no_council(tmp_path: Path) -> None:
    """Rules of code play no seat: typed, and with the reason."""
    async with Ordain(load_settings({}, tmp_path), extras=Extras(memory=True)) as ordain:
        accepted = await ordain.runtime.accept(DeliberationRequest(prompt=QUESTION), PRINCIPAL)
        answer = ordain.runtime.response(
            await ordain.runtime.wait(accepted.run), DeliberationRequest
        )
        assert answer["error"]["code"] == "council_no_quorum"
        assert "needs_model" in answer["error"]["message"]
