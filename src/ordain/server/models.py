"""``/models``: which models stand behind the lanes, and what they cost."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from starlette.responses import Response

from ordain.contracts.catalog import Catalog
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.moments import DAY_US, moment
from ordain.runtime.spending import By, SpendingSpan, SpentBetween, Sum, spent
from ordain.server.documents import shown
from ordain.server.face import Face, Json
from ordain.server.parameters import from_query
from ordain.server.resource import Resource, resource
from ordain.server.shapes import Costs, CostSum, ModelItem, ModelList, PriceTier
from ordain.server.workspaces import Workspace

DAYS_MAX = 3660


def models_view(catalog: Catalog) -> ModelList:
    """The profiles that this process runs with, and the lanes that name them. No key, and nothing
    about keys.
    """
    lanes = catalog.policy.lanes.profiles
    return ModelList(
        models=[
            ModelItem(
                name=name,
                provider=profile.provider,
                model=profile.model,
                structured=str(profile.held_by),
                lanes=[str(lane) for lane, names in lanes.items() if name in names],
                usd_micros_per_1k_input=profile.usd_micros_per_1k_input,
                usd_micros_per_1k_output=profile.usd_micros_per_1k_output,
                tiers=[
                    PriceTier(
                        above_tokens=tier.above_tokens,
                        usd_micros_per_1k_input=tier.usd_micros_per_1k_input,
                        usd_micros_per_1k_output=tier.usd_micros_per_1k_output,
                    )
                    for tier in profile.tiers
                ],
                priced_on=profile.priced_on,
            )
            for name, profile in sorted(catalog.data.profiles.items())
        ]
    )


def costs_view(found: SpentBetween, workspace: str) -> Costs:
    """What was spent."""
    return Costs(
        workspace=workspace,
        by=str(found.by),
        since=str(moment(found.since)),
        until=str(moment(found.until)),
        complete=found.complete,
        runs=found.runs,
        unreadable_runs=found.unreadable,
        erased_attempts=found.erased,
        total=_sum("", found.total),
        groups=[_sum(key, one) for key, one in found.groups.items()],
    )


def _sum(key: str, one: Sum) -> CostSum:
    told: dict[str, Any] = {**asdict(one), "models": list(one.models)}
    return CostSum(key=key, **told)


def models_router(face: Face) -> Resource:
    """The models' routes."""
    router = resource("models", prefix="/models")
    runtime = face.runtime

    @router.get("", **shown(ModelList))
    async def list_models() -> Response:
        """The model profiles that this server runs with, and the lanes behind which they stand."""
        return Json(models_view(runtime.catalog))

    @router.get("/cost", **shown(Costs))
    async def show_cost(
        days: Annotated[
            int, from_query(ge=1, le=DAYS_MAX, description="How many days, up to now.")
        ] = 30,
        by: Annotated[
            By, from_query(description="What attempts are grouped by; days are in UTC.")
        ] = By.DAY,
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """What the workspace's model calls came to, failed attempts included, added up from the
        journal: tokens, and micro-dollars at list price.
        """
        now = runtime.services.clock.now()
        slack_us = runtime.catalog.policy.session.hold_seconds * 1_000_000
        span = SpendingSpan(
            workspace=workspace, since=now - days * DAY_US, until=now, slack_us=slack_us
        )
        return Json(
            costs_view(await spent(runtime.search, runtime.services.kinds, by, span), workspace)
        )

    return router
