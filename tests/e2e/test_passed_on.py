"""A proxy or a tunnel on this machine, run by the owner: who comes through it is not the owner."""

from __future__ import annotations

from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.e2e.process import Server, run_cli

PASSED_ON = {
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Host": "ordain.example.org",
    "X-Forwarded-Proto": "https",
    "Forwarded": "for=203.0.113.9",
    "Via": "1.1 proxy",
    "X-Real-IP": "203.0.113.9",
    "CF-Connecting-IP": "203.0.113.9",
    "Tailscale-User-Login": "ada@example.org",
}
PATHS = ("/runs", "/ws", "/v1/models", "/sessions", "/sessions/s/events", "/memory", "/ready")


@pytest.mark.parametrize("settings", ["", '[server]\ntrusted_proxies = ["127.0.0.1"]\n'])
async def test_whoever_comes_through_a_proxy_needs_a_token(tmp_path: Path, settings: str) -> None:
    """A request that says in a header that it was passed on is nobody's of this machine, whether
    settings trust the proxy or not: on every address but /health, over WebSocket too, and with the
    key that OpenAI's clients make up. A direct one is the owner's, as before.
    """
    (tmp_path / "ordain.toml").write_text(settings, encoding="utf-8")
    made = run_cli("token", "create", "one", "--scope", "runs:read", home=tmp_path)
    good = {"Authorization": f"Bearer {made.stdout.decode().strip()}"}
    with Server(tmp_path) as server:
        for name, value in PASSED_ON.items():
            told = [
                server.http.get(path, headers={name: value, **more}).status_code
                for path in PATHS
                for more in ({}, {"Authorization": "Bearer sk-none"})
                if not more or path.startswith("/v1")
            ]
            assert told == [401] * len(told), name
            assert server.http.get("/health", headers={name: value}).status_code == 200
            assert server.http.get("/runs", headers={name: value, **good}).status_code == 200
        for name, value in PASSED_ON.items():
            url = f"ws://127.0.0.1:{server.http.base_url.port}/ws"
            with pytest.raises(InvalidStatus) as refused:
                await connect(url, proxy=None, additional_headers={name: value})
            assert refused.value.response.status_code == 401
        assert server.http.get("/runs").status_code == 200
        assert server.cli("runs", "list").returncode == 0
