"""What a socket's client sends as text is text."""

import asyncio
import logging
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from ordain.server.socket_protocol import NO_TEXT
from tests.integration.server.connecting import PATIENCE_S, listening_server


@pytest.mark.parametrize(
    "parts", [[b"caf\xe9"], [b"caf", b"\xe9"], [b"\xe2\x82"]], ids=["whole", "in parts", "cut off"]
)
async def test_text_that_is_none_ends_its_socket(
    tmp_path: Path, parts: list[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    """A client that says text and sends other bytes is told so by the socket's end, and fills no
    log.
    """
    async with listening_server(tmp_path) as place:
        url = f"ws://127.0.0.1:{place.port}/ws?session=s1"
        async with connect(url, proxy=None) as client:
            await client.send(parts if len(parts) > 1 else parts[0], text=True)
            with pytest.raises(ConnectionClosed) as closed:
                await asyncio.wait_for(client.recv(), PATIENCE_S)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == NO_TEXT
    assert [one for one in caplog.records if one.levelno >= logging.ERROR] == []


async def test_text_in_parts_may_be_cut_within_a_letter(tmp_path: Path) -> None:
    """Only the whole of a message has to be text."""
    async with listening_server(tmp_path) as place:
        url = f"ws://127.0.0.1:{place.port}/ws?session=s1"
        async with connect(url, proxy=None) as client:
            await client.send([b'{"text_input": "caf\xc3', b'\xa9"}'], text=True)
            said = await asyncio.wait_for(client.recv(), PATIENCE_S)
    assert "refused" not in str(said)
