"""A test's own Ordain: a script plays the model, nothing is kept on disk. anyio, which comes with
Ordain, runs what is async; no plugin is needed.
"""

from collections.abc import AsyncGenerator

import pytest
from offer import price

from ordain import Ordain
from ordain.app import Extras
from ordain.testing import ScriptedModels, call, finish


@pytest.fixture
def anyio_backend() -> str:
    """What anyio runs tests with."""
    return "asyncio"


@pytest.fixture
async def ordain() -> AsyncGenerator[Ordain]:
    """Started before the test, stopped after it."""
    models = ScriptedModels(
        planner=[
            call("offer.price", pieces=4),
            finish("Ten euros.", structured={"total": 10, "currency": "EUR"}),
        ]
    )
    extras = Extras(verbs=(price,), models={"default": models}, memory=True)
    async with Ordain(extras=extras) as ordain:
        yield ordain
    models.check()
