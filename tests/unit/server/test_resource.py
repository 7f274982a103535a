"""What a start builds of the HTTP face, counted."""

from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import httpx2
import pytest
from fastapi.dependencies.utils import get_dependant

from ordain.server import Face, build_app


async def test_a_route_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each route's signature is read when it is declared and not again, whatever is asked of the application afterwards."""
    built: Counter[str] = Counter()

    def counted(**given: Any) -> Any:
        built[given["path"]] += 1
        return get_dependant(**given)

    monkeypatch.setattr("fastapi.routing.get_dependant", counted)
    app = build_app(Face(runtime=cast("Any", SimpleNamespace(conversation=None))))
    declared = built.copy()
    assert declared.total() > 50
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app.router), base_url="http://127.0.0.1") as client:
        assert (await client.get("/no/such/route")).status_code == 404
    assert app.openapi()["paths"]
    assert built == declared
