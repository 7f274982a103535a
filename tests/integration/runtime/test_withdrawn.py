"""Narrowing applies at once: what the current catalog forbids does not go live, whatever the run's
pinned catalog allowed.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from ordain.app import Extras, Ordain, with_profile
from ordain.catalogs import build_catalog
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.policy import Activation
from ordain.journal.codec import decode
from ordain.journal.records import ObservationBody
from ordain.models.scripted import make_script
from ordain.runtime.services import Catalogs
from ordain.settings import load_settings
from tests.replay.golden import SUM, act, finish, request, scripted
from tests.shapes.house import SCRIPTED, GatedModel


async def test_kill_switch_stops_a_running_plan(tmp_path: Path) -> None:
    """A verb switched off while a plan runs is observed as withdrawn; the run goes on and its
    header says so.
    """
    settings = load_settings({}, tmp_path)
    model = GatedModel(make_script(planner=[act("math.evaluate", SUM), finish("no tool")]), 0)
    async with Ordain(
        with_profile(settings, SCRIPTED), extras=Extras(models={"default": model}, memory=True)
    ) as ordain:
        planned = asyncio.ensure_future(ordain.plan(request("math.evaluate")))
        await model.asked.wait()
        verbs = settings.policy.verbs.model_copy(update={"default": Activation(deny=["math.*"])})
        narrowed = ordain.settings.model_copy(
            update={"policy": settings.policy.model_copy(update={"verbs": verbs})}
        )
        services = ordain.runtime.services
        services.catalogs = Catalogs(
            build_catalog(narrowed, ordain.registry, ordain.kinds), ordain.store.catalog
        )
        model.gate.set()
        answer = (await planned).wire
        assert answer["trace"][0]["observation"]["error"]["code"] == "withdrawn"
        assert "math.evaluate · withdrawn" in answer["header"]
        stored = ordain.store.stored(answer["run_id"])
        assert stored is not None
        (seen,) = [
            decode(record)
            for record in stored.records
            if record.kind == "observation" and record.name == "verb_call"
        ]
        assert isinstance(seen, ObservationBody)
        assert seen.catalog == services.catalogs.current.digest != stored.catalog


async def test_widening_never_applies_to_a_running_plan(tmp_path: Path) -> None:
    """A verb that was off when the run began stays out of its scope though it is switched on
    meanwhile.
    """
    settings = load_settings({}, tmp_path)
    off = settings.policy.verbs.model_copy(update={"default": Activation(deny=["math.*"])})
    closed = settings.model_copy(
        update={"policy": settings.policy.model_copy(update={"verbs": off})}
    )
    async with scripted(closed, [act("math.evaluate", SUM), finish("4")], {}) as ordain:
        services = ordain.runtime.services
        pinned = services.catalogs.current
        services.catalogs = Catalogs(
            build_catalog(settings, ordain.registry, ordain.kinds), ordain.store.catalog
        )
        services.catalogs.current, opened = pinned, services.catalogs.current
        accepted = await ordain.runtime.accept(
            PlannerRequest.model_validate(request("math.evaluate")), "local:test"
        )
        services.catalogs.current = opened
        view = await ordain.runtime.wait(accepted.run)
        assert view.stored.reason == "inactive_verb:math.evaluate"
