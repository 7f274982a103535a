"""A verb's requests are known by the server of the same process, whatever stands between."""

from __future__ import annotations

import httpx2

from ordain.runtime.access import ON_LOOPBACK, Exposure
from ordain.runtime.own_requests import HEADER, MARK
from ordain.server.loopback import HostGuard
from ordain.server.problems import problem


async def test_a_request_of_an_own_verb_is_refused() -> None:
    """With a token or without, 403 `own_request`; another process's mark is let through."""
    for exposure in (ON_LOOPBACK, Exposure(demanded=True)):
        app = HostGuard(problem(418, "reached", "let through"), exposure)
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url="http://localhost"
        ) as http:
            for mark, status in ((MARK, 403), ("0" * 32, 418)):
                answer = await http.get(
                    "/runs", headers={HEADER: mark, "Authorization": "Bearer x"}
                )
                assert answer.status_code == status
