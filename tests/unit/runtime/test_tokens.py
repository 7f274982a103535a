"""Bearer tokens: shown once, replaced with a time of grace, taken away at once; and everything that
was done with them is told.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ordain.contracts.access import TokenScope, parse_token
from ordain.errors import Conflict, NotFound
from ordain.ports.access import KnownToken
from ordain.runtime.tokens import NewToken, Tokens
from tests.at_once import at_once
from tests.unit.runtime.house import BEGAN, SECOND, House

CHAT = NewToken(name="chat", scopes=(TokenScope.CHAT,), workspaces=("default",), lifetime_s=3600)


@pytest.fixture
def house() -> Iterator[House]:
    with House() as house:
        yield house


def tokens(house: House) -> Tokens:
    return Tokens(house.services.tokens, house.store, house.clock)


def known(house: House, secret: str) -> KnownToken:
    parsed = parse_token(secret)
    assert parsed is not None
    found = at_once(house.services.tokens.find(parsed.id))
    assert found is not None
    assert found.digest == parsed.digest
    return found


async def test_a_token_is_known_by_its_secret_and_keeps_none(house: House) -> None:
    """What is stored is an id and a digest; nothing that is printed holds the secret."""
    made = await tokens(house).create(CHAT, by="local:cli")
    assert known(house, made.secret).token == made.token
    assert (made.token.created_at, made.token.expires_at) == (BEGAN, BEGAN + 3600 * SECOND)
    assert made.secret not in repr(made) + repr(known(house, made.secret)) + repr(
        await tokens(house).all()
    )


async def test_a_name_is_given_once(house: House) -> None:
    """Even after the token was revoked: the journal speaks of it by name."""
    held = tokens(house)
    await held.create(CHAT, by="x")
    await held.revoke("chat", by="x")
    with pytest.raises(Conflict) as raised:
        await held.create(CHAT, by="x")
    assert raised.value.code == "token_exists"


async def test_a_replaced_secret_is_good_for_a_while(house: House) -> None:
    """So long as was said, and the new one for as long as the token is."""
    held = tokens(house)
    first = await held.create(CHAT, by="x")
    second = await held.rotate("chat", grace_s=60, by="x")
    assert first.secret != second.secret
    assert known(house, first.secret).secret_ends_at == BEGAN + 60 * SECOND
    assert known(house, second.secret).secret_ends_at is None
    assert (
        known(house, first.secret).token
        == known(house, second.secret).token
        == await held.named("chat")
    )


@pytest.mark.parametrize(
    ("over", "code"), [("revoked", "token_revoked"), ("expired", "token_expired")]
)
async def test_what_is_over_is_not_replaced(house: House, over: str, code: str) -> None:
    """A new secret would bring it back."""
    held = tokens(house)
    made = await held.create(CHAT, by="x")
    if over == "revoked":
        assert (await held.revoke("chat", by="x")).revoked_at == BEGAN
    else:
        house.clock.pass_s(3600)
    with pytest.raises(Conflict) as raised:
        await held.rotate("chat", grace_s=60, by="x")
    assert raised.value.code == code
    assert await held.live() == 0
    assert known(house, made.secret).secret_ends_at is None


async def test_a_token_that_there_is_not(house: House) -> None:
    """Is found by nothing."""
    held = tokens(house)
    for asking in (held.rotate("none", grace_s=0, by="x"), held.revoke("none", by="x")):
        with pytest.raises(NotFound) as raised:
            await asking
        assert raised.value.code == "token_not_found"
    with pytest.raises(NotFound):
        await held.named("none")


async def test_every_change_has_its_line(house: House) -> None:
    """Newest first, by whom; what was refused has none."""
    held = tokens(house)
    await held.create(CHAT, by="ada")
    await held.rotate("chat", grace_s=0, by="bob")
    await held.revoke("chat", by="eve")
    with pytest.raises(Conflict):
        await held.revoke("chat", by="eve")
    lines = await held.audit(limit=10, before=None, token="chat")
    assert [(line.event, line.by) for line in lines] == [
        ("revoked", "eve"),
        ("rotated", "bob"),
        ("created", "ada"),
    ]
    assert [line.event for line in await held.audit(limit=1, before=lines[0].no, token=None)] == [
        "rotated"
    ]
