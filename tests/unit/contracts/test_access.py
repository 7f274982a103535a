"""Tokens as text: minted, parsed, told from whatever is none; and the words that names, rates and
times are written in.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.access import (
    TOKEN_WORKSPACES,
    TokenScope,
    checked_name,
    checked_scopes,
    checked_workspaces,
    holds_token,
    mint_token,
    parse_lifetime_s,
    parse_rate,
    parse_token,
    tokens_in,
)
from ordain.errors import InvalidRequest

chances = st.binary(min_size=40, max_size=64)


@given(chances)
def test_a_minted_token_is_one(chance: bytes) -> None:
    """What is minted parses, to an id that stands in it and a digest that does not; its repr shows
    no digest.
    """
    token = mint_token(chance)
    parsed = parse_token(token)
    assert parsed is not None
    assert token.startswith(f"ordain_{parsed.id}_")
    assert len(parsed.digest) == 32
    assert parsed.digest.hex() not in repr(parsed)


@given(chances, chances)
def test_other_chance_makes_another_token(one: bytes, other: bytes) -> None:
    """Two tokens are equal only where the chance they are made of is; all 256 bits count."""
    assert (mint_token(one) == mint_token(other)) == (one[:40] == other[:40])
    flipped = one[:39] + bytes([one[39] ^ 1]) + one[40:]
    assert mint_token(flipped) != mint_token(one)


@given(chances, st.data())
def test_a_mistyped_token_is_none(chance: bytes, data: st.DataObject) -> None:
    """A character changed, dropped or added, or two exchanged: the checksum tells."""
    token = mint_token(chance)
    at = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.characters(codec="ascii").filter(lambda c: c != token[at]))
    assert parse_token(token[:at] + other + token[at + 1 :]) is None
    assert parse_token(token[:at] + token[at + 1 :]) is None
    assert parse_token(token[:at] + other + token[at:]) is None
    if at and token[at] != token[at - 1]:
        assert parse_token(token[: at - 1] + token[at] + token[at - 1] + token[at + 1 :]) is None


@given(st.text(max_size=80))
def test_any_text_is_parsed(text: str) -> None:
    """What is no token is None, whatever it is."""
    assert parse_token(text) is None


@given(st.text(max_size=20), chances, st.text(max_size=20))
def test_a_token_in_a_text_is_found_and_struck_out(before: str, chance: bytes, after: str) -> None:
    """Wherever it stands, a token is seen whole; once its secret is struck out it is none any
    more.
    """
    token = mint_token(chance)
    text = f"{before} {token} {after}"
    assert holds_token(text)
    ((begin, secret, end),) = tokens_in(text)
    assert text[begin:end] == token
    assert not holds_token(f"{text[:secret]}[secret]{text[end:]}")


def test_too_little_chance_makes_no_token() -> None:
    """Less than 40 bytes is refused, not stretched."""
    with pytest.raises(ValueError, match="40 bytes"):
        mint_token(bytes(39))


@pytest.mark.parametrize(
    ("text", "shown"), [("10/s", "10/s"), ("120/min", "120/min"), ("1000000/h", "1000000/h")]
)
def test_a_rate_is_written_as_it_is_read(text: str, shown: str) -> None:
    """A rate's text is its own."""
    assert str(parse_rate(text)) == shown


@pytest.mark.parametrize(
    "text", ["", "0/s", "10", "10/d", "-1/s", "1e3/s", "10/s\n", "1000001/h", "٣/s", "10 / s"]
)
def test_what_is_no_rate_is_refused(text: str) -> None:
    """Zero, other units, other digits and more than a million are no rate."""
    with pytest.raises(InvalidRequest) as refused:
        parse_rate(text)
    assert refused.value.code == "invalid_rate"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("45m", 2700), ("12h", 43_200), ("30d", 2_592_000), ("3650d", 315_360_000)],
)
def test_a_time_is_read(text: str, seconds: int) -> None:
    """Minutes, hours and days, up to ten years."""
    assert parse_lifetime_s(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "30", "0d", "-1d", "3651d", "1w", "30d ", "30d\n", "99999999999d"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    """Anything else is refused, ten years and a day too."""
    with pytest.raises(InvalidRequest):
        parse_lifetime_s(text)


@pytest.mark.parametrize("name", ["", "-a", "A", "a b", "a/b", "a" * 49, "a\n", "ä"])
def test_what_is_no_name_is_refused(name: str) -> None:
    """A name is what a principal can carry, and nothing that looks like something else in a log."""
    with pytest.raises(InvalidRequest):
        checked_name(name)


def test_scopes_and_workspaces_are_checked() -> None:
    """Each counts once, `all` is every scope, and what is none is refused with what there is."""
    assert checked_scopes(("plan", "chat", "plan")) == (TokenScope.CHAT, TokenScope.PLAN)
    assert checked_scopes(("all",)) == tuple(TokenScope)
    assert checked_workspaces(("b", "a", "b")) == ("b", "a")
    for scopes in ((), ("root",), ("chat", "")):
        with pytest.raises(InvalidRequest, match="runs:read"):
            checked_scopes(scopes)
    for workspaces in (
        (),
        ("*",),
        ("A",),
        ("a\n",),
        tuple(f"w{n}" for n in range(TOKEN_WORKSPACES + 1)),
    ):
        with pytest.raises(InvalidRequest):
            checked_workspaces(workspaces)
