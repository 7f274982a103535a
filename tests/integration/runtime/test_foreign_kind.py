"""A kind of run that stands outside the build, with all that a kind may bring, needs no change in
it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ordain.app import Extras, Ordain, with_profile
from ordain.cli.entry import main
from ordain.contracts.profiles import ModelProfile
from ordain.errors import ConfigurationError
from ordain.flows.kind import Kind
from ordain.flows.shipped import SHIPPED, shipped_kinds
from ordain.journal.records import Status
from ordain.models.scripted import make_script
from ordain.runtime.replay import replay
from ordain.settings import load_settings
from tests.shapes.house import HeldModel
from tests.shapes.stored_journal import journal_of
from tests.shapes.survey import SURVEY, SURVEY_PART, Survey

GIVEN = Survey(topic="bridges", expression="6 * 7")


def house(home: Path, *answers: Any) -> Ordain:
    """An Ordain that has the kind, and a model that gives these answers to what it asks."""
    settings = with_profile(
        load_settings(environment={}, home=home),
        ModelProfile(provider="scripted", model="scripted"),
    )
    model = HeldModel(make_script(survey=list(answers)))
    return Ordain(settings, extras=Extras(kinds=(SURVEY, SURVEY_PART), models={"default": model}))


async def test_it_runs_and_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its prompt is asked and rendered, its rule decides and speaks, its child works and is shown
    in its own words, its header lines stand there; all of it replays equal.
    """
    async with house(tmp_path, {"worth": 7}) as ordain:
        accepted = await ordain.runtime.open("survey", GIVEN, "local:test")
        view = await ordain.runtime.wait(accepted.run)
        assert (view.stored.status, view.stored.reason) == (Status.COMPLETED, "ok")
        for said in (
            "survey@1",
            "worth · worth.much",
            "child (run",
            "✓ math.evaluate",
            '· survey · "42"',
        ):
            assert said in view.header
        (child,) = (line for line in view.header.splitlines() if "child (run" in line)
        assert "worked out: 42" in child
        runs = [ordain.store.stored(row.id) for row in await ordain.runtime.runs(roots_only=False)]
        assert sorted(run.flow for run in runs if run is not None) == ["survey", "survey_part"]
        assert all(
            run is not None and replay(run, ordain.catalog, ordain.kinds).equal for run in runs
        )
        assert replay(view.stored, ordain.catalog, shipped_kinds()).verdict == "flow_unavailable"
    assert (
        await asyncio.to_thread(main, ["runs", "show", accepted.run, "--data-dir", str(tmp_path)])
        == 0
    )
    shown = capsys.readouterr().out
    assert "(worth.much)" in shown
    assert '· survey · "42"' in shown


async def test_it_resumes(tmp_path: Path) -> None:
    """Cut off in its model call it goes on with the next start, and replays equal."""
    first = house(tmp_path, "hold")
    async with first:
        run = (await first.runtime.open("survey", GIVEN, "local:test")).run
        model = first.models["default"]
        assert isinstance(model, HeldModel)
        await asyncio.wait_for(model.held.wait(), 20)
    async with house(tmp_path, {"worth": 9}) as again:
        view = await asyncio.wait_for(again.runtime.wait(run), 20)
        assert view.stored.status is Status.COMPLETED
        assert replay(view.stored, again.catalog, again.kinds).equal


async def test_a_build_without_it_keeps_its_run(tmp_path: Path) -> None:
    """A build that lacks the kind stops its run as flow_unavailable; nothing of it is lost."""
    first = house(tmp_path, "hold")
    async with first:
        run = (await first.runtime.open("survey", GIVEN, "local:test")).run
        model = first.models["default"]
        assert isinstance(model, HeldModel)
        await asyncio.wait_for(model.held.wait(), 20)
    async with Ordain(load_settings(environment={}, home=tmp_path)) as without:
        view = await asyncio.wait_for(without.runtime.wait(run), 20)
        assert view.stored.status is Status.FLOW_UNAVAILABLE
    async with house(tmp_path, {"worth": 9}) as again:
        await again.runtime.operators.resume(run, by="test")
        assert (
            await asyncio.wait_for(again.runtime.wait(run), 20)
        ).stored.status is Status.COMPLETED


async def test_what_others_know_of_it_stands_in_its_label(tmp_path: Path) -> None:
    """Whom it works for is read from its first record, and nobody looks into its input."""
    async with house(tmp_path, {"worth": 1}) as ordain:
        accepted = await ordain.runtime.open("survey", GIVEN, "local:test")
        view = await ordain.runtime.wait(accepted.run)
        assert (view.stored.status, view.stored.reason) == (Status.FAILED, "unworthy")
    with journal_of(sqlite3.connect(tmp_path / "ordain.db")) as db:
        ((body,),) = db.execute("SELECT body FROM journal WHERE seq = 0").fetchall()
    db.close()
    assert b'"label":{"agent":"surveyor"}' in body
    assert b'"grant":{"allowed":["math.evaluate"]}' in body


def test_two_kinds_of_one_name_are_refused(tmp_path: Path) -> None:
    """A second kind of one name and version is an error of who starts it, and says which."""
    with pytest.raises(ConfigurationError, match="survey@1") as refused:
        Ordain(
            load_settings(environment={}, home=tmp_path),
            extras=Extras(kinds=(SURVEY, SURVEY_PART, replace(SURVEY, charged=False))),
        )
    assert refused.value.code == "duplicate_kind"


@pytest.mark.parametrize("shipped", SHIPPED, ids=lambda kind: f"{kind.name}@{kind.version}")
@pytest.mark.parametrize("version", [1, 99])
def test_a_shipped_kinds_name_is_taken(
    tmp_path: Path, shipped: Kind[Any, Any], version: int
) -> None:
    """A newer version of one would be what conversations begin from then on: it is refused, and
    told which names are taken.
    """
    with pytest.raises(
        ConfigurationError,
        match=f"kind {shipped.name}@{version} has a name of Ordain's own, .*planner",
    ) as refused:
        Ordain(
            load_settings(environment={}, home=tmp_path),
            extras=Extras(kinds=(SURVEY_PART, replace(shipped, version=version))),
        )
    assert refused.value.code == "reserved_kind"
