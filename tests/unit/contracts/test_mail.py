"""Addresses, subjects and texts: what is accepted means one thing to everybody who reads it."""

from __future__ import annotations

from collections.abc import Callable
from email.utils import getaddresses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordain.contracts.mail import ADDRESS_CHARS, checked_body, checked_subject, plain_address
from ordain.errors import InvalidRequest
from tests.lanes import examples

SIGNS = "abzA09._-+'#$%&*!/|=?^`{}~ @<>()[]\\,;:\"\r\n\t\0üß漢。\u2028\u202e"
TEXTS = st.text(st.sampled_from(SIGNS), max_size=30) | st.text(max_size=30)
ADDRESSES = (
    TEXTS
    | st.builds("{}@{}".format, TEXTS, TEXTS)
    | st.builds("{}@{}.{}".format, *[st.text("abA0-.ü", min_size=1, max_size=12)] * 3)
)


def accepted(check: Callable[[str], str], text: str, code: str) -> str | None:
    """What a check makes of a text; None where it refuses it, with its code and without the
    text.
    """
    try:
        return check(text)
    except InvalidRequest as error:
        told = error
    assert told.code == code
    assert len(text) < 12 or text not in told.message
    return None


@settings(max_examples=examples(400), deadline=None)
@given(ADDRESSES)
def test_what_is_an_address_is_one_and_nothing_else(text: str) -> None:
    """Total: any text is refused or becomes one ASCII address that header and command line read the
    same, and that stays as it is.
    """
    address = accepted(plain_address, text, "bad_address")
    if address is None:
        return
    assert address.isascii()
    assert address.isprintable()
    assert len(address) <= ADDRESS_CHARS
    assert not set(address) & set(' <>()[]\\,;:"%!|/`')
    assert address.count("@") == 1
    assert getaddresses([address]) == [("", address)]
    assert plain_address(address) == address
    assert address.partition("@")[0] == text.rpartition("@")[0]


@pytest.mark.parametrize(
    ("given_as", "sent_as"),
    [
        ("ada@example.org", "ada@example.org"),
        ("Ada.Lovelace+notes@Example.ORG", "Ada.Lovelace+notes@example.org"),
        ("o'neil@bücher.example", "o'neil@xn--bcher-kva.example"),
        ("ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example"),
        ("root@localhost", "root@localhost"),
    ],
)
def test_addresses_that_are_sent(given_as: str, sent_as: str) -> None:
    """The domain is told as servers know it; the name before it is never touched."""
    assert plain_address(given_as) == sent_as


@settings(max_examples=examples(200), deadline=None)
@given(TEXTS)
def test_a_subject_is_one_line_or_is_none(text: str) -> None:
    """What is accepted has no line end of any kind and can be written down."""
    subject = accepted(checked_subject, text, "bad_subject")
    if subject is None:
        return
    assert subject == text
    assert len(subject.splitlines()) == 1
    assert subject.encode()


@settings(max_examples=examples(200), deadline=None)
@given(TEXTS)
def test_a_text_has_line_ends_of_one_kind(text: str) -> None:
    """What is accepted has line feeds for whatever ended a line, and no other control character but
    tabs.
    """
    body = accepted(checked_body, text, "bad_text")
    if body is None:
        return
    assert "\r" not in body
    assert body.split("\n") == text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert body.encode()
