"""``/approve`` in a chat says yes to what was shown last, or to nothing."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ordain.cli.approval_lines import approval_lines
from ordain.cli.chat_approvals import ChatApprovals
from ordain.cli.messenger import Messenger

X, Y = "1" * 32, "2" * 32


class Approvals:
    """Two approvals that are open: one of the session that is talked in, one of another."""

    def __init__(self) -> None:
        self.decided: list[str] = []

    async def approvals(self, session: str) -> dict[str, Any]:
        return {"approvals": [{"approval_id": X, "what": "mail.send"}]}

    async def approval(self, approval: str) -> dict[str, Any]:
        who = {"scope": "approvals", "roles": [], "not_requester": False}
        return {
            "approval_id": approval,
            "state": "open",
            "digest": approval[:4],
            "tier": "write",
            "subject": "call",
            "what": "mail.send",
            "words": "mail.send sends.",
            "calls": [{"verb": "mail.send", "args": {}, "shown": "{}"}],
            "detail": {},
            "requester": "ada",
            "expires_at": "2026-01-06T08:00:00+00:00",
            "asked_at": "2026-01-05T08:00:00+00:00",
            "origin_traced": False,
            "who_may": who,
            "changed": False,
            "changed_why": "",
            "workflow_id": None,
            "run_id": "3" * 32,
            "decided_by": None,
            "grant_id": None,
            "session_id": None,
            "thread_id": None,
            "root": "3" * 32,
            "decided_at": None,
            "claimed_by": None,
            "claimed_at": None,
        }

    async def whole_approval(self, given: str) -> str:
        return next((one for one in (X, Y) if one.endswith(given)), given)

    async def decide(
        self, approval: str, *, approve: bool, digest: str, why: str
    ) -> dict[str, Any]:
        assert digest == approval[:4]
        self.decided.append(approval)
        return {"state": "approved", "what": "mail.send", "decided_by": "local:0"}


async def test_a_yes_without_a_name_is_never_to_another_than_was_shown_last() -> None:
    """Where another one was looked at meanwhile, it is refused and both are named; with a name it
    counts.
    """
    desk = Approvals()
    chat = ChatApprovals(cast("Messenger", desk))
    assert await chat.shown(X)
    looked = await chat.decide("s", (Y,), approve=True)
    assert not looked.decided
    assert looked.lines[-1] == f"read it, and say /approve {Y}"
    for approve in (True, False):
        bare = await chat.decide("s", (), approve=approve)
        assert not bare.decided
        assert X in bare.lines[0]
        assert Y in bare.lines[0]
    assert desk.decided == []
    assert (await chat.decide("s", (Y,), approve=True)).decided
    assert desk.decided == [Y]


async def test_a_yes_without_a_name_is_to_what_was_shown() -> None:
    """The only one that is open in the session, which was shown last."""
    desk = Approvals()
    chat = ChatApprovals(cast("Messenger", desk))
    await chat.shown(X)
    assert (await chat.decide("s", (), approve=True)).decided
    assert desk.decided == [X]


async def test_a_short_id_names_an_approval_and_a_word_does_not() -> None:
    """The end that a header shows is enough, also for a no with its reason; what is no id of one is
    why.
    """
    desk = Approvals()
    chat = ChatApprovals(cast("Messenger", desk))
    looked = await chat.decide("s", (Y[-6:],), approve=True)
    assert looked.lines[-1] == f"read it, and say /approve {Y}"
    assert (await chat.decide("s", (Y[-6:], "too", "late"), approve=False)).decided
    await chat.shown(X)
    assert (await chat.decide("s", ("decade", "old"), approve=False)).decided
    assert desk.decided == [Y, X]


@pytest.mark.parametrize("mistyped", ["70499ax", "7e499a", "1l" * 16, "#7e499a:", "704991,"])
@pytest.mark.parametrize("approve", [True, False])
async def test_a_mistyped_id_decides_nothing_else(mistyped: str, *, approve: bool) -> None:
    """A word with digits was meant as an id, whatever stands around it, so a no to it is none to
    what was shown, as a yes never was.
    """
    desk = Approvals()
    chat = ChatApprovals(cast("Messenger", desk))
    await chat.shown(X)
    said = await chat.decide("s", (mistyped, "too", "late"), approve=approve)
    assert (said.decided, desk.decided) == (False, [])


@pytest.mark.parametrize("written", ["A" * 32, f"#{'a' * 32}:"])
async def test_an_id_is_one_in_capitals_and_between_marks_too(written: str) -> None:
    """Some screens and people write hexadecimal so."""
    desk = Approvals()
    chat = ChatApprovals(cast("Messenger", desk))
    await chat.shown("a" * 32)
    assert (await chat.decide("s", (written,), approve=True)).decided
    assert desk.decided == ["a" * 32]


async def test_a_decided_approval_says_why() -> None:
    """The approver's words stand below who decided, spelled like everything foreign there."""
    found = {
        **await Approvals().approval(X),
        "state": "denied",
        "decided_by": "local:0",
        "decided_at": "2026-01-05T09:00:00+00:00",
        "decided_why": "not to b\u0430nk\n",
    }
    assert approval_lines(found)[-2:] == [
        "denied by local:0, 2026-01-05 09:00:00 UTC",
        r'why: "not to b\u0430nk\n"',
    ]
    assert approval_lines({**found, "decided_why": ""})[-1].startswith("denied by")


async def test_who_looks_at_it_is_told() -> None:
    """Above what decides it, with since when; of what nobody looks at there is no such line."""
    found = await Approvals().approval(X)
    claimed = approval_lines(
        {**found, "claimed_by": "token:ops", "claimed_at": "2026-01-05T09:00:00+00:00"}
    )
    assert "in review by token:ops since 2026-01-05 09:00:00 UTC" in claimed
    assert [line for line in claimed if line not in approval_lines(found)] == [
        "in review by token:ops since 2026-01-05 09:00:00 UTC"
    ]
