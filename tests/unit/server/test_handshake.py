"""What begins a WebSocket."""

import pytest

from ordain.server.handshake import ONCE, opens_socket

GOOD = (
    (b"host", b"localhost"),
    (b"sec-websocket-key", b"dGhlIHNhbXBsZSBub25jZQ=="),
    (b"sec-websocket-version", b"13"),
)


def test_a_key_and_our_version_begin_one() -> None:
    """With an origin too, and however the names are spelled."""
    assert opens_socket(GOOD)
    assert opens_socket([*((name.title(), value) for name, value in GOOD), (b"Origin", b"null")])


@pytest.mark.parametrize("name", sorted(ONCE))
def test_what_is_said_twice_begins_none(name: bytes) -> None:
    """Of an origin, a key, a version or a host there is one, also where both are the same."""
    given = dict(GOOD).get(name, b"http://localhost")
    assert not opens_socket(
        [*(one for one in GOOD if one[0] != name), (name, given), (name, given)]
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"sec-websocket-version", b"12"),
        (b"sec-websocket-key", b"zzzz"),
        (b"sec-websocket-key", b"\xff"),
        (b"sec-websocket-key", b""),
    ],
)
def test_what_is_no_key_or_version_begins_none(name: bytes, value: bytes) -> None:
    """A key is 16 bytes in base64."""
    assert not opens_socket([(one, value if one == name else said) for one, said in GOOD])
