"""mail.draft and mail.send in a house: drafts are entries, mail goes out only where a server is
configured and somebody allows it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ordain import Ordain
from ordain.catalogs import mail_server
from ordain.cli import main
from ordain.contracts.approvals import Subject, Tier
from ordain.contracts.compiled_verb import CompiledVerb
from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked
from ordain.effects.results import VerbFailed, VerbReturned, VerbUnknown
from ordain.errors import ConfigurationError
from ordain.ports.library import ItemKind
from ordain.ports.verb import LeafCall
from ordain.rules.recover import safety_of
from ordain.runtime.approval_words import told
from ordain.runtime.calls import result_of
from ordain.settings import Settings, load_settings
from ordain.verbs.own_addresses import OwnAddresses
from tests.shapes.mail_servers import DIE, PASSWORD, SENDER, USER, arguments, scripted, taking

SERVER = f"""[mail]
host = "127.0.0.1"
port = {{port}}
security = "none"
from = "{SENDER}"
"""
LOGIN = f'user = "{USER}"\npassword_env = "MAIL_PASSWORD"\n'


def settings(home: Path, toml: str, **environment: str) -> Settings:
    (home / "ordain.toml").write_text(toml, encoding="utf-8")
    return load_settings(environment, home)


async def test_a_draft_is_an_entry_of_the_users_own(tmp_path: Path) -> None:
    """mail.draft runs without asking, gives the entry's id, is listed and recalled, keeps its own
    once a call, and goes with its run.
    """
    async with Ordain(home=tmp_path) as ordain:
        given = arguments(
            cc=["bob@bücher.example"],
            subject="Thursday, über zehn",
            body="Dear Ada,\r\n\r\nthe herons are back.\r\n",
        )
        reply = (await ordain.execute("mail.draft", given)).wire
        assert reply["ok"], reply
        assert reply["output"]["outcome"] == "added"
        (entry,) = await ordain.runtime.library.notes("default", limit=9, before=None)
        assert (entry.id, entry.kind, entry.title, entry.source) == (
            reply["output"]["draft_id"],
            ItemKind.ENTRY,
            "Thursday, über zehn",
            "mail.draft",
        )
        assert (entry.tags, entry.trust) == (("mail", "draft"), "foreign")
        recalled = (await ordain.execute("recall.fetch_context", {"query": '"herons"'})).wire
        assert recalled["output"]["fragments"][0]["text"] == (
            "To: ada@example.org\nCc: bob@xn--bcher-kva.example\nSubject: Thursday, über zehn\n\n"
            "Dear Ada,\n\nthe herons are back."
        )
        spec = ordain.registry.specs["mail.draft"]
        calls = [
            LeafCall(spec=spec, args=arguments(), key="one", attempt=attempt, timeout_s=5.0)
            for attempt in (1, 2)
        ]
        outcomes = [(await ordain.runtime.services.verbs.run(call)).output for call in calls]  # type: ignore[union-attr]
        assert [one["outcome"] for one in outcomes] == ["added", "same"]
        assert outcomes[0]["draft_id"] == outcomes[1]["draft_id"]
        await ordain.runtime.operators.erase(reply["run_id"], by="test", why="")
        assert [
            note.id for note in await ordain.runtime.library.notes("default", limit=9, before=None)
        ] == [outcomes[0]["draft_id"]]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"to": ["Ada <ada@example.org>"]}, "schema"),
        ({"to": ["ada@127.0.0.1"]}, "bad_address"),
        ({"subject": "a\nb"}, "schema"),
        ({"subject": "  "}, "bad_subject"),
        ({"body": "\0"}, "bad_text"),
    ],
)
async def test_a_draft_is_a_mail_that_could_be_sent(
    tmp_path: Path, more: dict[str, Any], code: str
) -> None:
    """What mail.send would refuse is no draft either."""
    async with Ordain(home=tmp_path) as ordain:
        reply = (await ordain.execute("mail.draft", arguments(**more))).wire
        assert (reply["ok"], reply["error"]["code"]) == (False, code)
        assert list(await ordain.runtime.library.notes("default", limit=9, before=None)) == []


@pytest.mark.parametrize("toml", ["", SERVER.format(port=25) + LOGIN])
async def test_without_a_server_or_its_password_the_verb_is_inactive(
    tmp_path: Path, toml: str
) -> None:
    """Whoever names mail.send is told that it is not configured, before anybody would be asked for
    an approval.
    """
    async with Ordain(settings(tmp_path, toml)) as ordain:
        reply = (await ordain.execute("mail.send", arguments())).wire
        assert (reply["ok"], reply["error"]["code"]) == (False, "not_configured")
        assert (
            ordain.catalog.inactive_reason("mail.send", ordain.catalog.policy.verbs)
            == "not_configured"
        )
        assert (await ordain.execute("mail.draft", arguments())).wire["ok"]


async def test_with_a_server_sending_asks_for_an_approval(tmp_path: Path) -> None:
    """A configured mail.send is active, and nobody can approve it here: no connection is made."""
    async with (
        scripted() as server,
        Ordain(settings(tmp_path, SERVER.format(port=server.port))) as ordain,
    ):
        reply = (await ordain.execute("mail.send", arguments())).wire
        assert (reply["ok"], reply["error"]["code"]) == (False, "approval_not_available")
        assert ordain.catalog.inactive_reason("mail.send", ordain.catalog.policy.verbs) is None
    assert server.connections == 0


async def test_an_approver_is_told_who_sends_and_by_which_server(tmp_path: Path) -> None:
    """No call chooses them, and they decide what the mail is: they stand with the approval, and
    without a server there is nothing of it.
    """
    async with Ordain(settings(tmp_path, SERVER.format(port=25))) as ordain:
        asked = ApprovalAsked(
            subject=Subject.CALL, calls=(Call(verb="mail.send", args=arguments()),), tier=Tier.WRITE
        )
        words = told(asked, ordain.catalog).split("\n")
        assert f'  from (as settings have it): "{SENDER}"' in words
        assert '  server (as settings have it): "127.0.0.1:25"' in words
    async with Ordain(settings(tmp_path, "")) as ordain:
        assert ordain.catalog.data.fixed == {}
        assert "fixed" not in json.loads(ordain.catalog.encoded)


async def test_what_a_run_is_told_of_a_mail(tmp_path: Path) -> None:
    """Behind the door, as the runtime judges it: taken, failed and to be tried again, or unknown,
    which is never repeated by itself or after a crash.
    """
    async with (
        taking() as inbox,
        scripted(taken=b"451 later\r\n") as busy,
        scripted(taken=DIE) as dying,
    ):
        told: list[Any] = []
        for port in (inbox.port, busy.port, dying.port):
            async with Ordain(settings(tmp_path, SERVER.format(port=port))) as ordain:
                verb = CompiledVerb(ordain.registry.specs["mail.send"])
                call = LeafCall(
                    spec=verb.spec, args=arguments(), key="k", attempt=1, timeout_s=10.0
                )
                told.append(result_of(verb, await ordain.runtime.services.verbs.run(call)))
                assert safety_of(verb.spec) == "nothing"
        taken, deferred, unknown = told
    assert isinstance(taken, VerbReturned)
    assert taken.output == {"message_id": inbox.mails[0]["Message-ID"], "recipients": 1}
    assert isinstance(deferred, VerbFailed)
    assert (deferred.code, deferred.retryable) == ("mail_deferred", True)
    assert isinstance(unknown, VerbUnknown)


async def test_ordain_itself_is_no_mail_server(tmp_path: Path) -> None:
    """A mail server that turns out to be this Ordain is not connected to."""
    async with (
        scripted() as server,
        Ordain(settings(tmp_path, SERVER.format(port=server.port))) as ordain,
    ):
        ordain.listening.add("127.0.0.1", server.port)
        call = LeafCall(
            spec=ordain.registry.specs["mail.send"],
            args=arguments(),
            key="k",
            attempt=1,
            timeout_s=5.0,
        )
        result: Any = await ordain.runtime.services.verbs.run(call)
        assert (result.code, result.happened) == ("own_address", False)


WRONG = [
    ('host = "mail.example.org"\nsecurity = "none"\nfrom = "a@example.org"', "this machine"),
    ('host = "127.0.0.1"\nfrom = "Ada <a@example.org>"', "plain address"),
    ('host = "127.0.0.1"', r"mail\.from"),
    ('host = "127.0.0.1"\nfrom = "a@example.org"\nuser = "u"', "exactly one"),
    ('host = "127.0.0.1"\nfrom = "a@example.org"\npassword_env = "P"', "exactly one"),
    (
        (
            'host = "127.0.0.1"\nfrom = "a@example.org"\nuser = "u"\npassword_env = "P"\n'
            'password_file = "p"'
        ),
        "exactly one",
    ),
    ('host = "127.0.0.1"\nfrom = "a@example.org"\npassword = "s3cret-word"', r"mail\.password"),
    ('host = "a b"\nfrom = "a@example.org"', r"mail\.host"),
    ('host = "127.0.0.1"\nfrom = "a@example.org"\nsecurity = "ssl"', r"mail\.security"),
    ('host = "127.0.0.1"\nfrom = "a@example.org"\nport = 0', r"mail\.port"),
]


@pytest.mark.parametrize(("toml", "said"), WRONG)
def test_wrong_settings_are_refused_by_place(tmp_path: Path, toml: str, said: str) -> None:
    """Unencrypted mail to another machine, a sender that is no plain address, a login without a
    password or with a written one.
    """
    with pytest.raises(ConfigurationError, match=said) as refused:
        settings(tmp_path, f"[mail]\n{toml}\n")
    assert "s3cret" not in refused.value.message


def test_the_password_is_read_by_reference(tmp_path: Path) -> None:
    """From a variable or a file of the data folder; it is in no repr, and struck out wherever it
    turns up.
    """
    toml = '[mail]\nhost = "mail.example.org"\nfrom = "a@example.org"\nuser = "u"\n'
    (tmp_path / "mail.key").write_text(f"{PASSWORD}\n", encoding="utf-8")
    for reference in ('password_env = "MAIL_PASSWORD"', 'password_file = "mail.key"'):
        read = settings(tmp_path, toml + reference, MAIL_PASSWORD=PASSWORD)
        server = mail_server(read, OwnAddresses())
        assert server is not None
        assert (server.password, server.port, server.security) == (PASSWORD, 465, "tls")
        assert PASSWORD not in repr(read) + repr(server)
        assert PASSWORD in read.every_secret
    with pytest.raises(ConfigurationError, match=r"mail\.password"):
        settings(tmp_path, toml + 'password_env = "MAIL_PASSWORD"', MAIL_PASSWORD="short")


def doctor(home: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, dict[str, Any]]:
    """The command's exit code, what it says of mail, and the same as JSON."""
    code = main(["doctor", "--data-dir", str(home)])
    said = capsys.readouterr().out
    main(["doctor", "--data-dir", str(home), "--json"])
    (line,) = [line for line in said.splitlines() if line.startswith("mail: ")]
    return code, line, json.loads(capsys.readouterr().out)["mail"]


def test_the_doctor_greets_the_mail_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing configured is said and no failure; a password that is missing is one, exit code 1; a
    server that is not there 3.
    """
    monkeypatch.setenv("OPENAI_API_KEY", "")
    code, line, found = doctor(tmp_path, capsys)
    assert (code, line, found["code"]) == (
        0,
        "mail: no server is configured ([mail] in ordain.toml), mail.send is inactive",
        "",
    )
    (tmp_path / "ordain.toml").write_text(SERVER.format(port=9) + LOGIN, encoding="utf-8")
    code, line, found = doctor(tmp_path, capsys)
    assert (code, found["code"]) == (1, "secret_missing")
    (tmp_path / "ordain.toml").write_text(SERVER.format(port=9), encoding="utf-8")
    code, line, found = doctor(tmp_path, capsys)
    assert (code, line) == (
        3,
        "mail: 127.0.0.1:9 (none): no connection to the mail server [not_connected]",
    )
