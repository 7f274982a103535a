"""What an HTTP verb takes from an answer that names a delay, in whatever form."""

from __future__ import annotations

import pytest

from tests.integration.verbs.test_http_verb import Server, failure, server, spec

__all__ = ["server"]  # the fixture


@pytest.mark.parametrize(
    ("seconds", "counts_ms"),
    [
        *((over, 1000) for over in ("0", "-1", "-86400")),
        *((n, 86_400_000) for n in ("86401", "9" * 30, "9" * 5000)),
    ],
)
async def test_a_time_that_is_over_or_beyond_any_wait_is_a_rest(
    server: Server, seconds: str, counts_ms: int
) -> None:
    """A Retry-After of any length counts: as a second where it is over, as a day where it is
    longer; at 503 too nothing has happened.
    """
    for status in ("429 Too Many Requests", "503 Service Unavailable"):
        server.says({}, status=status, retry_after=seconds)
        failed = await failure(spec(server, effect="private", http_method="PATCH"), item_id="1")
        assert (failed.retryable, failed.happened, failed.retry_after_ms) == (
            True,
            False,
            counts_ms,
        )


@pytest.mark.parametrize(
    ("headers", "counts_ms"),
    [
        ({"retry_after": "Sat, 21 Nov 2026 10:00:30 GMT"}, 30_000),
        ({"retry_after": "Sat, 21 Nov 2026 09:00:00 GMT"}, 1000),
        ({"retry_after_ms": "1500"}, 2000),
        ({"retry_after": "0.5"}, 1000),
        ({"retry_after": "Sat, 21 Nov 2026 10:00:30 GMT", "date": ""}, 1000),
    ],
)
async def test_a_time_is_read_in_each_of_its_forms(
    server: Server, headers: dict[str, str], counts_ms: int
) -> None:
    """A date counts from the answer's own, whatever this machine's clock says: a 503 that names one
    has refused before it did anything.
    """
    said = {"date": "Sat, 21 Nov 2026 10:00:00 GMT", **headers}
    server.says({}, status="503 Service Unavailable", **said)
    failed = await failure(spec(server, effect="private", http_method="PATCH"), item_id="1")
    assert (failed.happened, failed.retry_after_ms) == (False, counts_ms)
