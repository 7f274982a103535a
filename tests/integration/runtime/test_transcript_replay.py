"""Going through a transcript again: what was recorded verifies, and whatever somebody changes in it
is found.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordain.app import Extras, Ordain
from ordain.contracts.lanes import AttachPolicy, Lane
from ordain.contracts.profiles import ModelProfile
from ordain.errors import JournalCorrupt
from ordain.journal.digests import GENESIS, entry_link, entry_marks
from ordain.models.scripted import ScriptedModel, make_script
from ordain.ports.sessions import Entry, EntryKind, SessionRow
from ordain.runtime.transcript_replay import PAGE, Retold, retell
from ordain.runtime.wording_diff import messages_read
from ordain.settings import load_settings
from ordain.wording.wording import wording_of
from tests.at_once import at_once

SESSION = "s"
HELLO = [{"content": "Hello."}]


@pytest.fixture
async def ordain(tmp_path: Path) -> AsyncIterator[Ordain]:
    """An Ordain in memory whose model says hello."""
    profile = ModelProfile(provider="scripted", model="scripted", script="in memory")
    settings = load_settings({}, tmp_path).model_copy(update={"profiles": {"default": profile}})
    extras = Extras(
        models={"default": ScriptedModel(make_script(verbs={"chat_general": HELLO}))}, memory=True
    )
    async with Ordain(settings, extras=extras) as ordain:
        yield ordain


async def talk(ordain: Ordain, *texts: str) -> None:
    """Say things in the session, each after the answer to the one before."""
    for text in texts:
        await ordain.chat(text, session=SESSION)


class Altered:
    """A session's transcript as it is, after somebody has been at it."""

    def __init__(self, ordain: Ordain, named: str = SESSION) -> None:
        sessions = ordain.runtime.services.sessions
        row = at_once(sessions.session("default", named))
        assert row is not None
        self.row: SessionRow = row
        self.told: list[Entry] = [
            *at_once(sessions.entries("default", named, after=0, limit=10_000))
        ]
        self._pinned = ordain.runtime.services.catalogs.pinned

    async def session(self, workspace: str, session: str) -> SessionRow | None:
        return self.row if (workspace, session) == ("default", self.row.id) else None

    async def entries(
        self, workspace: str, session: str, *, after: int, limit: int
    ) -> Sequence[Entry]:
        return [entry for entry in self.told if entry.seq > after][:limit]

    def change(self, number: int, **fields: Any) -> None:
        """Write something else into one entry."""
        self.told[number] = msgspec.structs.replace(self.told[number], **fields)

    def decision(self, at: int, **fields: Any) -> None:
        """Write something else into one decision."""
        self.change(
            at,
            decision=json.dumps({**json.loads(self.told[at].decision or b"{}"), **fields}).encode(),
        )

    def reseal(self) -> None:
        """Make marks and links again, as somebody who has the key can."""
        link = GENESIS
        for number, entry in enumerate(self.told):
            self.change(
                number, marks=entry_marks(self.row.key or b"", entry.author, entry.decision)
            )
            heading, marks = (entry.kind, entry.message_id, entry.at), self.told[number].marks
            link = entry_link(
                link, f"default/{SESSION}", entry.seq, heading, (entry.digest, marks, entry.cover)
            )
            self.change(number, chain=link)

    def retold(self) -> Retold:
        return at_once(retell(self, "default", self.row.id, self._pinned))  # type: ignore[arg-type]


async def test_what_was_said_verifies(ordain: Ordain) -> None:
    """Numbers, digests, chain and head hold, and every message is attached again as it was."""
    await talk(ordain, "hello", "thanks!", "hello again")
    report = Altered(ordain).retold()
    assert (
        report.verdict,
        report.verifies,
        report.entries,
        report.decisions,
        report.differences,
    ) == ("equal", True, 5, 3, [])


def dropped(told: Altered, at: int) -> None:
    del told.told[at]


ALTERATIONS: dict[str, Callable[[Altered], None]] = {
    "words": lambda told: told.change(
        0, body=(told.told[0].body or b"").replace(b"hello", b"hullo")
    ),
    "answer": lambda told: told.change(
        1, body=(told.told[1].body or b"").replace(b"true", b"null")
    ),
    "time": lambda told: told.change(0, at=told.told[0].at + 1),
    "id": lambda told: told.change(0, message_id="another"),
    "kind": lambda told: told.change(1, kind=EntryKind.SAID),
    "run of a reply": lambda told: told.change(1, run="another"),
    "digest": lambda told: told.change(1, digest=bytes(16)),
    "link": lambda told: told.change(1, chain=bytes(16)),
    "first": lambda told: dropped(told, 0),
    "middle": lambda told: dropped(told, 1),
    "last": lambda told: dropped(told, -1),
    "class": lambda told: told.change(0, attached="filler"),
    "reason": lambda told: told.change(0, reason="attach.filler"),
    "no decision": lambda told: told.change(0, decision=None),
    "garbage": lambda told: told.change(0, decision=b"{"),
    "facts": lambda told: told.decision(0, facts={"cues": "none"}),
    "unknown class": lambda told: told.decision(0, outcome={"type": "surprise"}),
    "author": lambda told: told.change(0, author="another"),
    "run of a message": lambda told: told.change(0, run="another"),
    "thread": lambda told: told.change(0, thread=7),
    "channel": lambda told: told.change(1, channel="another"),
    "edits": lambda told: told.change(0, edits="another"),
    "timestamp": lambda told: told.change(0, timestamp_ms=told.told[0].timestamp_ms + 1),
    "anchor": lambda told: told.change(0, anchor="another"),
    "size": lambda told: told.change(0, size=told.told[0].size + 1),
    "through": lambda told: told.change(1, through=1),
    "marks": lambda told: told.change(0, marks=None),
    "a decision that comes out so": lambda told: told.decision(0, source="another"),
    "wording": lambda told: told.decision(0, wording=f"1:{'0' * 64}"),
    "unknown catalog": lambda told: told.decision(0, catalog="0" * 64),
}


@pytest.mark.parametrize("name", ALTERATIONS)
async def test_what_was_altered_is_found(ordain: Ordain, name: str) -> None:
    """Whatever is changed in an entry, its decision or their order, the session no longer verifies
    and the place is named.
    """
    await talk(ordain, "hello", "hello again")
    told = Altered(ordain)
    ALTERATIONS[name](told)
    report = told.retold()
    assert (report.verdict, report.verifies) == ("journal_corrupt", False)
    assert report.differences


async def test_an_entry_that_is_none_is_found(ordain: Ordain) -> None:
    """A kind that no build wrote is corrupt and named, whoever reads the session; it ends no
    replay.
    """
    await talk(ordain, "hello")
    ordain.store._db.execute("UPDATE transcript SET kind = 'messagex' WHERE seq = 1")
    services = ordain.runtime.services
    report = await retell(services.sessions, "default", SESSION, services.catalogs.pinned)
    assert (report.verdict, [one.place for one in report.differences]) == (
        "journal_corrupt",
        ["1/entry"],
    )
    told = await messages_read(
        services.sessions, "default", SESSION, wording_of(ordain.catalog), services.catalogs.pinned
    )
    assert told.verdict == "journal_corrupt"


async def test_another_decision_is_a_difference(ordain: Ordain) -> None:
    """Facts from which the rule now concludes something else are a difference of the decision, at
    the message's number.
    """
    await talk(ordain, "hello")
    told = Altered(ordain)
    facts = json.loads(told.told[0].decision or b"{}")["facts"]
    told.decision(0, facts={**facts, "cues": {**facts["cues"], "filler": 2}})
    told.reseal()
    report = told.retold()
    assert (report.verdict, [one.place for one in report.differences]) == ("differs", ["1/attach"])


async def test_an_erased_session_keeps_its_chain(ordain: Ordain) -> None:
    """After erasure the chain still verifies, under an id that names nobody, and what is said later
    under the old one verifies apart.
    """
    await talk(ordain, "hello")
    run = Altered(ordain).told[0].run
    await ordain.runtime.operators.erase(run, by="test", why="asked")
    ((named,),) = ordain.store.query("SELECT id FROM sessions")
    report = Altered(ordain, named).retold()
    assert (report.verdict, report.verifies, report.entries, report.erased, report.decisions) == (
        "erased",
        True,
        2,
        2,
        0,
    )
    await talk(ordain, "hello again")
    report = Altered(ordain).retold()
    assert (report.verdict, report.entries, report.erased, report.decisions) == ("equal", 2, 0, 1)
    for fields in ({"digest": bytes(16)}, {"at": 1}, {"channel": "slack"}):
        told = Altered(ordain, named)
        told.change(0, **fields)
        assert told.retold().verdict == "journal_corrupt"


async def test_long_transcripts_are_read_in_pages(ordain: Ordain) -> None:
    """A session longer than a page verifies, each entry once."""
    for number in range(PAGE + 3):
        await ordain.send(
            {
                "session_id": SESSION,
                "user_id": "u",
                "message": {"text": "thanks!"},
                "message_id": f"m{number}",
            }
        )
    report = Altered(ordain).retold()
    assert (report.verdict, report.entries, report.decisions) == ("equal", PAGE + 3, PAGE + 3)


async def test_a_postponed_decision_verifies(tmp_path: Path) -> None:
    """A message whose class a model was asked for holds the decision that was made in the end."""
    said = {"content": "Hello."}
    script = make_script(
        verbs={"chat_general": [{"$delay_ms": 600_000, "$answer": said}]},
        triage=[{"type": "status_nudge", "thread": 1, "confidence": 1.0}],
    )
    profile = ModelProfile(
        provider="scripted", model="scripted", script="in memory", timeout_ms=900_000
    )
    settings = load_settings({}, tmp_path)
    policy = settings.policy.model_copy(update={"attach": AttachPolicy(ask=Lane.WORKER)})
    settings = settings.model_copy(update={"profiles": {"default": profile}, "policy": policy})
    async with Ordain(
        settings, extras=Extras(models={"default": ScriptedModel(script)}, memory=True)
    ) as ordain:
        await ordain.send({"session_id": SESSION, "user_id": "u", "message": {"text": "hello"}})
        answered = await ordain.chat("and that one over there", session=SESSION)
        assert (answered.attached, answered.reason) == ("status_nudge", "attach.suggested")
        report = Altered(ordain).retold()
        assert (report.verdict, report.decisions) == ("equal", 2)


async def test_no_session_is_no_transcript(ordain: Ordain) -> None:
    """What does not exist does not verify."""

    def none(digest: str) -> Any:
        raise JournalCorrupt(digest)

    assert not (await retell(ordain.runtime.services.sessions, "default", "nobody", none)).verifies
