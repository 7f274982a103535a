"""mail.send against real SMTP servers on the loopback address, good ones and others."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ordain.contracts.compiled_verb import CompiledVerb
from ordain.contracts.verbs import ArgumentRole, VerbEffect
from ordain.ports.verb import AnyLeafResult, LeafCall, LeafFailed, LeafReturned
from ordain.verbs import LeafExecutor, Registry
from ordain.verbs.builtin.mail_verbs import mail_send
from ordain.verbs.mail_server import MailServer
from ordain.verbs.own_addresses import OwnAddresses
from tests.shapes.mail_servers import (
    DIE,
    HANG,
    PASSWORD,
    USER,
    Certificate,
    arguments,
    certificate_in,
    declared,
    scripted,
    taking,
)

# aiosmtpd's own, of its server's side: that tests log in over SMTPS, and what becomes of a
# session's attribute
pytestmark = [
    pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS:UserWarning"),
    pytest.mark.filterwarnings("ignore:Session.login_data is deprecated:DeprecationWarning"),
]
AT_US = 1_700_000_000_000_000


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate_in(tmp_path_factory.mktemp("certificate"))


async def sent(
    server: MailServer | None, key: str = "k", timeout_s: float = 30.0, **args: Any
) -> AnyLeafResult:
    """What became of one attempt, made as the runtime makes it."""
    function = mail_send(server)
    compiled = CompiledVerb(function.spec)
    given = arguments(**args)
    assert compiled.input.errors(given) == ()
    executor = LeafExecutor(Registry(functions=[function]))
    result = await executor.run(
        LeafCall(
            spec=function.spec, args=given, key=key, attempt=1, timeout_s=timeout_s, at_us=AT_US
        )
    )
    await executor.close()
    if isinstance(result, LeafReturned):
        assert compiled.output.errors(result.output) == ()
    return result


async def failed(server: MailServer | None, **more: Any) -> tuple[str, bool | None, bool]:
    """The code of a failure, whether the mail may have gone out, and whether another try may
    help.
    """
    result = await sent(server, **more)
    assert isinstance(result, LeafFailed), result
    assert PASSWORD not in result.message
    return result.code, result.happened, result.retryable


def test_what_it_declares() -> None:
    """Sending is effect send, whom it goes to is a recipient, and everything in it is bounded."""
    spec = mail_send(None).spec
    assert (spec.effect, spec.idempotent, spec.reconcile) == (VerbEffect.SEND, False, None)
    roles = {name: argument.role for name, argument in spec.arguments.items()}
    assert roles == {
        "to": ArgumentRole.RECIPIENT,
        "cc": ArgumentRole.RECIPIENT,
        "subject": ArgumentRole.CONTENT,
        "body": ArgumentRole.CONTENT,
    }


async def test_a_mail_arrives_as_it_was_given() -> None:
    """Text of any script, long lines and lines of dots, several recipients once each; the call's
    time is its date, its key the Message-ID.
    """
    body = "Grüße, 漢字 😀\n.\n..\n.hidden\n" + "long " * 400 + "\nend"
    async with taking() as inbox:
        result = await sent(
            declared(inbox.port),
            to=["ada@example.org", "bob@BÜCHER.example".lower()],
            cc=["ada@example.org", "eve@example.com"],
            subject="Über  zwei   Leerzeichen 😀 " * 6,
            body=body,
        )
        again = await sent(declared(inbox.port))
        other = await sent(declared(inbox.port), key="another")
    assert isinstance(result, LeafReturned), result
    mail, repeated, another = inbox.mails
    assert result.output == {"message_id": mail["Message-ID"], "recipients": 3}
    assert inbox.envelopes[0].mail_from == "ordain@example.org"
    assert inbox.envelopes[0].rcpt_tos == [
        "ada@example.org",
        "bob@xn--bcher-kva.example",
        "eve@example.com",
    ]
    assert (mail["From"], mail["To"], mail["Cc"]) == (
        "ordain@example.org",
        "ada@example.org, bob@xn--bcher-kva.example",
        "ada@example.org, eve@example.com",
    )
    assert str(mail["Subject"]) == "Über  zwei   Leerzeichen 😀 " * 6
    assert mail.get_content().replace("\r\n", "\n") == body + "\n"
    assert mail["Date"].datetime.timestamp() == AT_US / 1e6
    assert max(map(len, bytes(inbox.envelopes[0].content or b"").split(b"\r\n"))) <= 78
    assert mail["Message-ID"] == repeated["Message-ID"] != another["Message-ID"]
    assert isinstance(again, LeafReturned)
    assert isinstance(other, LeafReturned)


@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_it_goes_out_encrypted_and_logged_in(security: Any, certificate: Certificate) -> None:
    """With tls or starttls the server is one with a trusted certificate, and is told user and
    password once, inside.
    """
    async with taking(certificate, security, login=True) as inbox:
        server = declared(inbox.port, security, certificate, user=USER, password=PASSWORD)
        assert isinstance(await sent(server), LeafReturned)
        wrong = declared(inbox.port, security, certificate, user=USER, password="wrong-password")
        assert await failed(wrong) == ("login_refused", False, False)
    assert (inbox.encrypted, inbox.logins) == ([True], [(USER, PASSWORD), (USER, "wrong-password")])


@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_a_server_that_nobody_vouches_for_gets_nothing(
    security: Any, certificate: Certificate
) -> None:
    """A certificate that is not trusted, or is another host's, ends the connection before login and
    mail.
    """
    async with taking(certificate, security, login=True) as inbox:
        stranger = declared(
            inbox.port, security, user=USER, password=PASSWORD, tls=ssl.create_default_context
        )
        assert await failed(stranger) == ("tls_failed", False, False)

        async def elsewhere(host: str, port: int) -> Sequence[str]:
            return ["127.0.0.1"]

        other = MailServer(
            host="mail.example.org",
            port=inbox.port,
            security=security,
            sender="a@example.org",
            resolver=elsewhere,
            tls=certificate.trusted,
        )
        assert await failed(other) == ("tls_failed", False, False)
    assert (inbox.logins, inbox.envelopes) == ([], [])


async def test_starttls_that_is_not_offered_ends_it() -> None:
    """Whoever takes the offer of encryption out on the way gets neither login nor mail."""
    async with scripted(replies={"EHLO": b"250-mail.test\r\n250 AUTH PLAIN LOGIN\r\n"}) as server:
        asked = declared(server.port, "starttls", user=USER, password=PASSWORD)
        assert await failed(asked) == ("tls_not_offered", False, False)
        await goodbye(server)
    assert server.words == ["EHLO", "QUIT"]


async def goodbye(server: Any) -> None:
    """The last command of a conversation comes when nobody waits any more."""
    for _ in range(200):
        if server.words[-1:] == ["QUIT"]:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(server.commands)


async def test_what_is_slipped_in_with_the_yes_to_starttls_is_not_read(
    certificate: Certificate,
) -> None:
    """What a server, or somebody on the way, says in clear behind its 220 is no answer to anything
    that is asked inside.
    """
    slipped = b"220 go\r\n250-mail.test\r\n250 AUTH LOGIN\r\n354 go\r\n250 taken\r\n"
    offer = b"250-mail.test\r\n250 STARTTLS\r\n"
    async with scripted(
        upgrade=certificate.serving,
        replies={"EHLO": [offer, b"250 mail.test\r\n"], "STARTTLS": slipped},
    ) as server:
        assert await failed(
            declared(server.port, "starttls", certificate, user=USER, password=PASSWORD)
        ) == (
            "login_not_offered",
            False,
            False,
        )
        await goodbye(server)
    assert server.words == ["EHLO", "STARTTLS", "EHLO", "QUIT"]
    async with scripted(
        upgrade=certificate.serving,
        replies={"EHLO": offer, "STARTTLS": slipped},
        taken=b"550 no\r\n",
    ) as server:
        assert await failed(declared(server.port, "starttls", certificate)) == (
            "mail_refused",
            False,
            False,
        )


REFUSALS = [
    ({"greeting": b"554 no\r\n"}, "server_refused", False),
    ({"greeting": b"421 later\r\n"}, "mail_deferred", True),
    ({"replies": {"EHLO": b"502 what\r\n"}}, "server_refused", False),
    ({"replies": {"MAIL": b"550 5.7.1 not you\r\n"}}, "sender_refused", False),
    ({"replies": {"MAIL": b"452 full\r\n"}}, "mail_deferred", True),
    ({"replies": {"RCPT": b"550 nobody\r\n"}}, "recipients_refused", False),
    ({"replies": {"RCPT": b"450 greylisted\r\n"}}, "mail_deferred", True),
    (
        {"replies": {"RCPT": [b"250 ok\r\n", b"450 later\r\n", b"550 nobody\r\n"]}},
        "recipients_refused",
        False,
    ),
    ({"replies": {"DATA": b"554 no\r\n"}}, "mail_refused", False),
    ({"replies": {"DATA": b"451 later\r\n"}}, "mail_deferred", True),
    ({"taken": b"554 5.6.0 spam\r\n"}, "mail_refused", False),
    ({"taken": b"451 4.3.0 later\r\n"}, "mail_deferred", True),
    ({"replies": {"EHLO": b"250-mail.test\r\n250 SIZE 200\r\n"}}, "too_large", False),
]


@pytest.mark.parametrize(("says", "code", "retryable"), REFUSALS)
async def test_a_refusal_is_known_not_to_have_happened(
    says: dict[str, Any], code: str, retryable: bool
) -> None:
    """Whatever a server refuses with a number, before the text or after it: no mail went out, and
    4xx may pass.
    """
    async with scripted(**says) as server:
        assert await failed(
            declared(server.port), to=["a@example.org", "b@example.org", "c@example.org"]
        ) == (code, False, retryable)


async def test_nobody_gets_a_mail_that_somebody_may_not_get() -> None:
    """One refused recipient of three: the text is never sent, and the failure counts recipients and
    names none.
    """
    async with scripted(
        replies={"RCPT": [b"250 ok\r\n", b"550 no such user hidden@example.org\r\n", b"250 ok\r\n"]}
    ) as server:
        result = await sent(
            declared(server.port), to=["a@example.org", "hidden@example.org", "c@example.org"]
        )
        await goodbye(server)
    assert isinstance(result, LeafFailed)
    assert (
        result.message
        == "the mail server refused 1 of 3 recipients, and so nobody gets the mail (550)"
    )
    assert server.words == ["EHLO", "MAIL", "RCPT", "RCPT", "RCPT", "QUIT"]
    assert server.texts == []


BREAKS: list[tuple[dict[str, Any], bool | None]] = [
    ({"greeting": DIE}, False),
    ({"greeting": b"garbage\r\n"}, False),
    ({"greeting": b"220-" + b"x" * 100_000 + b"\r\n220 y\r\n"}, False),
    ({"greeting": b"220-and on\r\n" * 10_000}, False),
    ({"greeting": b"\x00\xff\xfe\r\n"}, False),
    ({"replies": {"EHLO": DIE}}, False),
    ({"replies": {"EHLO": b"250-" + b"x" * 9000 + b"\r\n"}}, False),
    ({"replies": {"MAIL": DIE}}, False),
    ({"replies": {"RCPT": DIE}}, False),
    ({"replies": {"DATA": DIE}}, False),
    ({"replies": {"DATA": b"250 what\r\n"}}, False),
    ({"taken": DIE}, None),
    ({"taken": b"perhaps\r\n"}, None),
    ({"taken": b"354 more\r\n"}, None),
    ({"taken": b"250-" + b"x" * 100_000}, None),
]


@pytest.mark.parametrize(("says", "happened"), BREAKS)
async def test_a_connection_that_breaks_off(says: dict[str, Any], happened: bool | None) -> None:
    """Before the text nothing has happened and another try may help; once the text was sent nobody
    knows, and none is made.
    """
    async with scripted(**says) as server:
        assert await failed(declared(server.port)) == ("broken_answer", happened, happened is False)
    assert len(server.texts) == (happened is None)


SILENCES: list[tuple[dict[str, Any], bool | None]] = [
    ({"greeting": HANG}, False),
    ({"greeting": b"220-never\r\n"}, False),
    ({"replies": {"EHLO": HANG}}, False),
    ({"replies": {"DATA": HANG}}, False),
    ({"taken": HANG}, None),
    ({"taken": b"250-never\r\n"}, None),
]


@pytest.mark.parametrize(("says", "happened"), SILENCES)
async def test_a_server_that_says_nothing_more(says: dict[str, Any], happened: bool | None) -> None:
    """The call's time runs out inside the verb, which knows on which side of the text it was."""
    async with scripted(**says) as server:
        assert await failed(declared(server.port), timeout_s=1.5) == (
            "too_slow",
            happened,
            happened is False,
        )


async def test_a_server_that_takes_no_goodbye_holds_nobody_up() -> None:
    """What was taken is taken, whatever comes of QUIT."""
    async with scripted(replies={"QUIT": HANG}) as server:
        assert isinstance(await sent(declared(server.port)), LeafReturned)
        await goodbye(server)


async def test_where_nobody_listens() -> None:
    """A refused connection and a name without an address: nothing happened, and another try may
    help.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        assert await failed(declared(free.getsockname()[1])) == ("not_connected", False, True)

    async def nowhere(host: str, port: int) -> Sequence[str]:
        raise OSError

    assert await failed(declared(25, resolver=nowhere)) == ("not_resolved", False, True)


async def test_unencrypted_mail_stays_on_this_machine() -> None:
    """A name of this machine that turns out to be another's is not connected to; nor is Ordain
    itself.
    """

    async def elsewhere(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1", "192.0.2.1"]

    assert await failed(declared(25, resolver=elsewhere)) == ("not_loopback", False, False)
    own = OwnAddresses()
    async with scripted() as server:
        own.add("127.0.0.1", server.port)
        assert await failed(declared(server.port, own=own)) == ("own_address", False, False)
    assert server.connections == 0


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        (b"PLAIN LOGIN CRAM-MD5", "AUTH PLAIN "),
        (b"CRAM-MD5 LOGIN", "AUTH LOGIN "),
        (b"XOAUTH2", None),
    ],
)
async def test_a_login_is_tried_once(offered: bytes, expected: str | None) -> None:
    """In the plainest way that is offered; the failure tells neither the password nor what the
    server said.
    """
    replies: dict[str, bytes | list[bytes]] = {
        "EHLO": b"250-mail.test\r\n250 AUTH " + offered + b"\r\n",
        "AUTH": b"535 " + PASSWORD.encode() + b"\r\n",
    }
    async with scripted(replies=replies) as server:
        code = (await failed(declared(server.port, user=USER, password=PASSWORD)))[0]
        await goodbye(server)
    assert code == ("login_refused" if expected else "login_not_offered")
    logins = [line for line in server.commands if line.startswith("AUTH")]
    assert [line[: len(expected or "")] for line in logins] == ([expected] if expected else [])
    assert await failed(declared(server.port, user=USER)) == ("not_connected", False, True)
    async with scripted(replies=replies) as server:
        assert await failed(declared(server.port, user=USER)) == ("secret_missing", False, False)


HOSTILE_ADDRESSES = [
    "ada@example.org\r\nBcc: eve@example.com",
    "ada@example.org\nDATA",
    "ada@example.org> NOTIFY=NEVER <x",
    "Ada <ada@example.org>",
    "friends: ada@example.org;",
    "ada@example.org,eve@example.com",
    '"a b"@example.org',
    "ada(comment)@example.org",
    "<ada@example.org>",
    "ada@[127.0.0.1]",
    "ada@127.0.0.1",
    "@relay.example:ada@example.org",
    "ada%example.com@relay.example",
    "example.com!ada@relay.example",
    "|/bin/sh@example.org",
    "/etc/passwd@example.org",
    "-oQ/tmp@example.org",
    "ada@@example.org",
    "ada@example..org",
    "ada@.org",
    ".ada@example.org",
    "ada.@example.org",
    "ada@exa mple.org",
    "ada@-example.org",
    "ada@example。org",
    "ada@\uff45xample.org",
    "ada@xn--zz.org",
    "ädä@example.org",
    "ada",
    "ada@",
    "a" * 65 + "@example.org",
    "a@" + ".".join(["b" * 60] * 5),
    "ada@example.org\x00",
    "ada@example.org\u2028Bcc: x",
    "ada@\udc00.org",
]


@pytest.mark.parametrize("address", HOSTILE_ADDRESSES)
async def test_what_is_no_plain_address_is_refused_before_anything_is_sent(address: str) -> None:
    """One address an item and nothing but an address: the schema refuses the most of it, code the
    rest.
    """
    function = mail_send(declared(9))
    given = arguments(to=["bob@example.org", address])
    accepted = CompiledVerb(function.spec).input.accepts
    try:
        fits = accepted(given)
    except UnicodeEncodeError:  # half a surrogate pair is no JSON
        fits = False
    for name in ("to", "cc"):
        result = await LeafExecutor(Registry(functions=[function])).run(
            LeafCall(
                spec=function.spec,
                args=arguments(**{name: ["bob@example.org", address]}),
                key="k",
                attempt=1,
                timeout_s=5.0,
            )
        )
        assert isinstance(result, LeafFailed)
        assert result.happened is False
        assert result.code == "bad_address" if fits else result.code in {"bad_input", "bad_address"}
        assert address not in result.message
    if set(address) & set('\r\n<>",;:()[]\x00\u2028 '):
        assert not fits, "the schema lets it through to where somebody is asked for an approval"


@pytest.mark.parametrize(
    "subject",
    [
        "a\r\nBcc: eve@example.com",
        "a\nb",
        "a\rb",
        "a\x00b",
        "a\x85b",
        "a\u2028b",
        "a\tb",
        "",
        " ",
        "a\udc00",
    ],
)
async def test_a_subject_is_one_line(subject: str) -> None:
    """A line end in a subject, however it is written, is refused by schema or code before anything
    is sent.
    """
    function = mail_send(declared(9))
    call = LeafCall(
        spec=function.spec, args=arguments(subject=subject), key="k", attempt=1, timeout_s=5.0
    )
    result = await LeafExecutor(Registry(functions=[function])).run(call)
    assert isinstance(result, LeafFailed)
    assert (result.code in {"bad_input", "bad_subject"}, result.happened) == (True, False)


async def test_too_much_is_refused() -> None:
    """Recipients, subject and text have a largest size."""
    accepts = CompiledVerb(mail_send(None).spec).input.accepts
    assert accepts(
        arguments(
            to=["a@example.org"] * 20,
            cc=["b@example.org"] * 20,
            subject="s" * 300,
            body="b" * 20_000,
        )
    )
    assert not accepts(arguments(to=["a@example.org"] * 21))
    assert not accepts(arguments(to=[]))
    assert not accepts(arguments(cc=["a@example.org"] * 21))
    assert not accepts(arguments(subject="s" * 301))
    assert not accepts(arguments(body="b" * 20_001))


async def test_without_a_server_it_says_so() -> None:
    """A call that comes so far without a configured server fails typed."""
    assert await failed(None) == ("not_configured", False, False)


async def test_certificates_that_cannot_be_read(tmp_path: Path) -> None:
    """A file of certificates that is not there is a failure that says so, and nobody is connected
    to.
    """

    def missing() -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(tmp_path / "absent"))

    async with scripted() as server:
        assert await failed(declared(server.port, "tls", tls=missing)) == (
            "tls_failed",
            False,
            False,
        )
    assert server.connections == 0
