"""A mail as bytes: what a reader reads is what was given, and nothing else stands in it."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import cast

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ordain.contracts.mail import RECIPIENTS_MAX, checked_body, checked_subject, plain_address
from ordain.errors import InvalidRequest
from ordain.verbs.mail_message import Letter, composed, message_id
from tests.lanes import examples

SIGNS = 'ab  =?utf-8q_,;:<>@"\\.üé漢😀\u200b\u202e\xa0'
ADDRESSES = st.builds(
    "{}@{}.{}".format,
    st.from_regex(r"[a-zA-Z0-9_+']{1,40}", fullmatch=True),
    *[st.from_regex(r"[a-z0-9]{1,60}x", fullmatch=True)] * 2,
)
LISTS = st.lists(ADDRESSES, max_size=RECIPIENTS_MAX)


def read(message: bytes) -> EmailMessage:
    return cast(EmailMessage, message_from_bytes(message, policy=policy.default))  # type: ignore[arg-type]


@settings(max_examples=examples(200), deadline=None)
@given(
    LISTS.filter(len),
    LISTS,
    st.text(SIGNS, min_size=1, max_size=300),
    st.text(SIGNS + "\n.", min_size=1, max_size=2000),
)
def test_a_reader_reads_what_was_given(
    to: list[str], cc: list[str], subject: str, body: str
) -> None:
    """Recipients in order, the subject with every space, the text line by line, in ASCII with lines
    that every server takes.
    """
    try:
        checked_subject(subject)
        body = checked_body(body)
    except InvalidRequest:
        assume(False)
    letter = Letter(
        to=[plain_address(one) for one in to],
        cc=[plain_address(one) for one in cc],
        subject=subject,
        body=body,
    )
    raw = composed(
        letter,
        sender="ordain@example.org",
        identity=message_id("k", "ordain@example.org"),
        at_us=1_700_000_000_000_000,
    )
    assert raw.isascii()
    assert raw.count(b"\r") == raw.count(b"\n") == raw.count(b"\r\n")
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    mail = read(raw)
    assert [one.addr_spec for one in mail["To"].addresses] == list(letter.to)
    assert (
        [one.addr_spec for one in mail["Cc"].addresses] == list(letter.cc)
        if letter.cc
        else mail["Cc"] is None
    )
    assert str(mail["Subject"]) == subject
    assert mail.get_content().replace("\r\n", "\n").removesuffix("\n") == body.removesuffix("\n")
    plain = {
        "From",
        "To",
        "Subject",
        "Date",
        "Message-ID",
        "Content-Type",
        "Content-Transfer-Encoding",
        "MIME-Version",
    }
    assert sorted(mail.keys()) == sorted(plain | ({"Cc"} if letter.cc else set()))


@pytest.mark.parametrize(
    "value",
    [
        "a@example.org\r\nBcc: b@example.org",
        "a@example.org\nx",
        "a@example.org\r",
        "a\0@example.org",
    ],
)
def test_a_value_that_nobody_checked_begins_no_header(value: str) -> None:
    """Even where a caller had checked nothing, an address with a line end makes no message."""
    with pytest.raises(ValueError, match="one value"):
        composed(
            Letter(to=[value], cc=[], subject="s", body="b"),
            sender="o@example.org",
            identity="<i@example.org>",
            at_us=0,
        )


def test_a_key_is_one_message() -> None:
    """The Message-ID follows from the key alone, and does not tell it."""
    one, other = message_id("key-1", "o@example.org"), message_id("key-2", "o@example.org")
    assert message_id("key-1", "o@example.org") == one != other
    assert "key-1" not in one
    assert one.endswith("@example.org>")
