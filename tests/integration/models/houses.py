"""Whole houses whose models stand behind fake servers; whatever happened in them replays equal."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ordain.app import Ordain
from ordain.contracts.model_policy import BreakerPolicy
from ordain.contracts.policy import Lane
from ordain.contracts.profiles import ModelProfile
from ordain.runtime.replay import replay
from ordain.settings import Settings, load_settings
from tests.integration.models.wire import API_KEY


def settings(home: Path, *profiles: ModelProfile) -> Settings:
    """A house that asks these, in order.

    Policy is as shipped but for one thing: no circuit opens, so that a test does not depend on the
    failures of those before it.
    """
    found = load_settings(environment={}, home=home)
    names = [f"m{number}" for number in range(len(profiles))]
    lanes = found.policy.lanes.model_copy(update={"profiles": dict.fromkeys(Lane, names)})
    policy = found.policy.model_copy(update={"lanes": lanes, "breaker": BreakerPolicy()})
    given = {
        "profiles": dict(zip(names, profiles, strict=True)),
        "secrets": dict.fromkeys(names, API_KEY),
        "policy": policy,
    }
    return found.model_copy(update=given)


@asynccontextmanager
async def open_house(
    home: Path, *profiles: ModelProfile, backoff_ms: int | None = None
) -> AsyncIterator[Ordain]:
    found = settings(home, *profiles)
    if backoff_ms is not None:
        fallback = found.policy.fallback.model_copy(
            update={"backoff_ms": backoff_ms, "backoff_max_ms": backoff_ms}
        )
        found = found.model_copy(
            update={"policy": found.policy.model_copy(update={"fallback": fallback})}
        )
    async with Ordain(found) as running:
        yield running
        flows = running.runtime.services.kinds
        for run in await running.runtime.runs(limit=500):
            again = replay((await running.runtime.view(run.id)).stored, running.catalog, flows)
            assert again.equal, again
