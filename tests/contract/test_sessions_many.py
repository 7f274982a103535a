"""Sessions under many messages: deliveries at once, two clients, caps that leave nothing behind,
long and many sessions, bad input.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from pydantic import ValidationError

from ordain.contracts.conversation import MESSAGE_CHARS, Message
from ordain.errors import Conflict, InvalidRequest, Refused
from ordain.runtime.awaited_answers import Acknowledged
from tests.lanes import size
from tests.shapes.lines import holds, script_of
from tests.shapes.session_laws import broken_at_rest, broken_now, rows_of
from tests.shapes.talk import HANGS_S, House, message

CAPS = {"session": {"max_active": 2, "max_open": 4}}
SLOW = script_of(holds("slowly"))


def lawful(house: House, *, max_active: int = 4) -> None:
    """Every law of sessions holds."""
    assert not broken_now(rows_of(house.ordain), max_active=max_active)


# --- deliveries -----------------------------------------------------------------------------------


async def test_a_hundred_deliveries_are_one_message() -> None:
    """De-duplication: one message delivered a hundred times at once has one number, one turn and
    one reply, and each delivery learns of it.
    """
    async with House() as house:
        sent = await asyncio.gather(
            *(house.send("tell me about cats", id="m1", ts=5) for _ in range(100))
        )
        assert {(one.seq, one.message_id) for one in sent} == {(1, "m1")}
        assert sum(not one.duplicate for one in sent) == 1
        answers = await asyncio.gather(*(house.told(one) for one in sent))
        assert len({answer.reply.narrative for answer in answers if answer.reply}) == 1
        assert house.query("SELECT count(*) FROM runs WHERE parent IS NULL") == [(1,)]
        assert house.query("SELECT kind, count(*) FROM transcript GROUP BY kind ORDER BY kind") == [
            ("message", 1),
            ("reply", 1),
        ]
        lawful(house)


async def test_a_used_id_with_another_content_is_refused() -> None:
    """The same id with another text, user, hint or context is refused as message_id_reused, and
    nothing is written.
    """
    async with House() as house:
        await house.say("tell me about cats", id="m1", ts=5)
        before = house.query("SELECT head, threads FROM sessions")
        for text, more in (
            ("tell me about dogs", {}),
            ("tell me about cats", {"user": "bob"}),
            ("tell me about cats", {"mode": "agent"}),
        ):
            with pytest.raises(Conflict) as refused:
                await house.send(text, id="m1", ts=5, **more)
            assert refused.value.code == "message_id_reused"
        assert house.query("SELECT head, threads FROM sessions") == before


async def test_an_id_belongs_to_its_channel_and_session() -> None:
    """Two channels, sessions or workspaces may use the same message id; each is a message of its
    own.
    """
    async with House() as house:
        first = await house.send("tell me about cats", id="m1")
        other = await house.send("tell me about cats", id="m1", channel="telegram")
        third = await house.send("tell me about cats", "s2", id="m1")
        fourth = await house.ordain.send(
            message("tell me about cats", id="m1"), workspace="elsewhere"
        )
        assert [one.duplicate for one in (first, other, third, fourth)] == [False] * 4
        assert (first.seq, other.seq, third.seq, fourth.seq) == (1, other.seq, 1, 1)
        assert first.seq != other.seq
        await house.quiet()
        assert house.query("SELECT workspace, id FROM sessions ORDER BY no") == [
            ("default", "s1"),
            ("default", "s2"),
            ("elsewhere", "s1"),
        ]
        lawful(house)


async def test_a_delivery_after_a_restart_is_still_the_same(tmp_path: Any) -> None:
    """De-duplication is durable: a message delivered again after a crash is the one that was
    acknowledged.
    """
    house = House(tmp_path / "home")
    await house.open()
    first = await house.send("tell me about cats", id="m1")
    await house.reopen()
    again = await house.send("tell me about cats", id="m1")
    assert (again.seq, again.duplicate) == (first.seq, True)
    answer = await house.told(again)
    assert answer.reply is not None
    lawful(house)
    await house.kill()


# --- two clients, caps ----------------------------------------------------------------------------


async def test_two_clients_at_once_keep_one_order() -> None:
    """Two clients of one session: numbers are gapless, each client's own messages stand in its
    order, all are answered, caps hold.
    """
    async with House(policy={"session": {"max_active": 4, "max_open": 256}}) as house:
        first = await house.say("tell me about birds", mode="agent")

        async def client(name: str) -> list[Acknowledged]:
            return [
                await house.send(
                    f"tell me more about {name} {number}",
                    user=name,
                    reply_to=first.message_id,
                    mode="agent",
                )
                for number in range(20)
            ]

        ada, bob = await asyncio.gather(client("ada"), client("bob"))
        for mine in (ada, bob):
            assert [one.seq for one in mine] == sorted(one.seq for one in mine)
        await house.quiet()
        answers = await asyncio.gather(*(house.told(one) for one in [*ada, *bob]))
        assert all(answer.reply is not None and answer.reply.ok for answer in answers)
        order = [
            run
            for (run,) in house.query(
                "SELECT id FROM runs WHERE flow = 'turn' ORDER BY ended_at, no"
            )
        ]
        placed = [
            run
            for (run,) in house.query(
                "SELECT run FROM transcript WHERE kind = 'message' ORDER BY seq"
            )
        ]
        assert order == placed
        lawful(house)
        assert not broken_at_rest(house.ordain, [*ada, *bob])


async def test_a_busy_session_refuses_and_leaves_nothing() -> None:
    """With as many turns at work as policy permits, another request is refused as session_busy with
    a delay, and leaves no trace.
    """
    async with House(script=SLOW, policy=CAPS) as house:
        held = [
            await house.send(f"tell me slowly about {what}", mode="agent")
            for what in ("cats", "dogs")
        ]
        await house.quiet()
        tables = (
            "sessions",
            "threads",
            "turns",
            "transcript",
            "runs",
            "records",
            "mailbox",
            "subjects",
            "catalogs",
        )
        before = [house.query(f"SELECT count(*) FROM {table}") for table in tables]
        head = house.query("SELECT head, chain, threads, active FROM sessions")
        with pytest.raises(Refused) as refused:
            await house.send("tell me about birds")
        assert (refused.value.code, refused.value.status) == ("session_busy", 429)
        assert refused.value.retry_after_s
        assert [house.query(f"SELECT count(*) FROM {table}") for table in tables] == before
        assert house.query("SELECT head, chain, threads, active FROM sessions") == head
        nudged = await house.say("any luck?")
        assert nudged.attached == "status_nudge"
        assert (await house.say("thanks!")).attached == "filler"
        house.puppet.let_go()
        assert all([(await house.told(one)).reply for one in held])
        assert (await house.say("tell me about birds")).reply is not None
        lawful(house, max_active=2)


async def test_a_refused_first_message_makes_no_session() -> None:
    """Where the engine is full, a session's first message is refused as busy, and there is no
    session afterwards.
    """
    async with House(script=SLOW, policy={"engine": {"max_accepted": 1}}) as house:
        await house.send("tell me slowly about cats", mode="agent")
        await house.quiet()
        with pytest.raises(Refused) as refused:
            await house.send("tell me about dogs", "s2")
        assert refused.value.code == "busy"
        assert house.query("SELECT id FROM sessions") == [("s1",)]
        assert house.query("SELECT count(*) FROM subjects") == [(1,)]


async def test_a_full_session_can_be_stopped() -> None:
    """An order to stop is accepted however many turns are queued: it interrupts all of the thread,
    and says what had happened.
    """
    async with House(script=SLOW, policy=CAPS) as house:
        first = await house.send("tell me slowly about cats", mode="agent")
        await house.quiet()
        queued = [
            await house.send(f"tell me about cats {n}", reply_to=first.message_id) for n in range(3)
        ]
        with pytest.raises(Refused):
            await house.send("tell me about more cats", reply_to=first.message_id)
        stop = await house.say("stop", reply_to=first.message_id)
        assert stop.attached == "override"
        for one in (first, *queued):
            answer = await house.told(one)
            assert answer.reply is not None
            assert not answer.reply.ok
        assert house.puppet.held == []
        lawful(house, max_active=2)
        assert not broken_at_rest(house.ordain)


async def test_repairs_do_not_pile_up() -> None:
    """The same ambiguous order again and again asks one question at a time; the earlier ones are
    given up.
    """
    async with House(script=SLOW) as house:
        for what in ("cats", "dogs"):
            await house.send(f"tell me slowly about {what}", mode="agent")
        await house.quiet()
        for _ in range(30):
            await house.send("stop")
            await house.quiet()
        assert house.query("SELECT count(*) FROM threads WHERE asked IS NOT NULL") == [(1,)]
        (question,) = house.query("SELECT CAST(asked AS TEXT) FROM threads WHERE asked IS NOT NULL")
        assert "cats" in question[0]
        assert "dogs" in question[0]
        assert house.query("SELECT count(*) FROM turns WHERE state <> 'over'") == [(3,)]
        lawful(house)


# --- long and many --------------------------------------------------------------------------------


@pytest.mark.timeout(HANGS_S)
async def test_thousands_of_messages_in_one_session() -> None:
    """Ten thousand messages of mixed traffic in one session, two thousand where not everything is
    tested: numbers stay gapless, every one is decided, every request is answered.
    """
    blocks = size(100, quick=20)
    policy = {
        "session": {"max_open": 256},
        "history": {"max_entries": 4, "keep_entries": 2, "verb": ""},
    }
    async with House(policy=policy) as house:
        sent: list[Acknowledged] = []
        for block in range(blocks):
            texts = [
                f"tell me about number {block}",
                "stop",
                "any luck?",
                *["ok", "thanks!", "👍"] * 33,
            ][:100]
            sent += await asyncio.gather(*(house.send(text) for text in texts))
            await house.quiet()
        assert [one.seq for one in sent] == sorted(one.seq for one in sent)
        kinds = dict(
            house.query(
                "SELECT attached, count(*) FROM transcript WHERE kind = 'message' GROUP BY attached"
            )
        )
        assert sum(kinds.values()) == blocks * 100
        assert kinds["new_request"] >= blocks
        (head,) = house.query("SELECT head FROM sessions")[0]
        assert house.query("SELECT count(*), max(seq), min(seq) FROM transcript") == [
            (head, head, 1)
        ]
        last = await house.say("tell me about the end")
        assert last.reply is not None
        assert last.reply.ok
        assert house.query(
            "SELECT count(*) FROM runs WHERE status IN ('ready', 'running', 'waiting', 'queued')"
        ) == [(0,)]


@pytest.mark.timeout(HANGS_S)
async def test_two_thousand_sessions_at_once() -> None:
    """Two thousand sessions, five hundred where a run samples, each say something at once: each has
    its own transcript, thread and reply.
    """
    many = size(2000, 500)
    policy = {"engine": {"max_accepted": 5000}}
    async with House(policy=policy) as house:
        sent = await asyncio.gather(
            *(house.send("tell me about cats", f"s{number}") for number in range(many))
        )
        answers = [await house.told(one) for one in sent]
        assert all(answer.reply is not None and answer.reply.ok for answer in answers)
        assert house.query("SELECT count(*), min(head), max(head) FROM sessions") == [(many, 2, 2)]
        assert house.query("SELECT count(*) FROM turns WHERE state <> 'over'") == [(0,)]
        assert Counter(status for (status,) in house.query("SELECT status FROM runs")) == {
            "completed": 2 * many
        }


# --- bad input ------------------------------------------------------------------------------------

GOOD: dict[str, Any] = {"sessionId": "s1", "userId": "ada", "message": {"text": "hi"}}
FIELDS: dict[str, tuple[tuple[str, ...], list[Any]]] = {
    "sessionId": (
        ("sessionId",),
        [None, "", 1, " s", "-s", "a" * 201, "a b", "a\n", "ä", ["s1"], {"id": "s1"}],
    ),
    "userId": (("userId",), [None, "", 1, "u" * 201, []]),
    "channel": (("channel",), ["fax", "", "WEB", 1, None]),
    "messageId": (("messageId",), ["", "m" * 201, 5, []]),
    "timestampMs": (("timestampMs",), [-1, 2**53 + 1, 1.5, "5", float("nan")]),
    "message": (
        ("message",),
        [
            None,
            "hi",
            [],
            {},
            {"text": ""},
            {"text": " \n"},
            {"text": 5},
            {"text": "x" * (MESSAGE_CHARS + 1)},
        ],
    ),
    "attachments": (
        ("message", "attachments"),
        [
            {},
            [{"name": 5}],
            [{}],
            [{"name": "a", "bytes": "x"}],
            [{"name": "a" * 301}],
            [{"name": "a", "sizeBytes": -1}],
            [{"name": "a"}] * 21,
        ],
    ),
    "metadata": (
        ("message", "metadata"),
        [[], {str(n): n for n in range(51)}, {"x": float("inf")}, "x"],
    ),
    "context": (("context",), [None, [], "x", {"unknown": 1}]),
    "replyTo": (("context", "replyTo"), ["", "r" * 201, 5]),
    "threadRef": (("context", "threadRef"), ["t" * 201, 5]),
    "edits": (("context", "edits"), ["", "e" * 201, 5]),
    "locale": (("context", "locale"), ["", "e", "english-", "en_", "de DE", 5, "e" * 50]),
    "mode": (("context", "routingHints", "mode"), ["", "chat", "BRAIN", None, 1]),
    "verb": (("context", "routingHints", "verb"), ["", "v" * 129, 5]),
    "allowedVerbs": (
        ("context", "routingHints", "allowedVerbs"),
        ["x", [""], [5], ["v"] * 51, None],
    ),
    "supervised": (("context", "routingHints", "supervised"), [1, "true", None]),
    "maxSteps": (("context", "routingHints", "maxSteps"), [0, -1, 101, 1.5, "3", True]),
    "budgetClass": (("context", "routingHints", "budgetClass"), ["", "huge", 1]),
    "workflow": (
        ("context", "routingHints", "workflow"),
        [{}, {"template": ""}, {"template": "t", "args": []}, {"template": "t", "x": 1}, "t"],
    ),
    "delegates": (("context", "routingHints", "delegates"), [[""], [1], ["d"] * 21, "d"]),
    "unknown": (("unknown",), [1, None]),
    "unknown hint": (("context", "routingHints", "lane"), ["brain"]),
}


def with_value(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The good message with one value in another place."""
    made: dict[str, Any] = {**GOOD, "message": dict(GOOD["message"])}
    place = made
    for name in path[:-1]:
        place = place.setdefault(name, {})
    place[path[-1]] = value
    return made


@pytest.mark.parametrize("field", FIELDS)
async def test_bad_values_are_refused_at_the_door(field: str) -> None:
    """Every field of a message refuses what is not of its shape, with its place, and nothing is
    written.
    """
    path, values = FIELDS[field]
    async with House() as house:
        for value in values:
            with pytest.raises(ValidationError) as refused:
                await house.ordain.send(with_value(path, value))
            assert refused.value.error_count() >= 1
        assert house.query("SELECT count(*) FROM sessions") == [(0,)]


@pytest.mark.parametrize("missing", GOOD)
def test_what_is_required_is_required(missing: str) -> None:
    """A message without session, user or content is none."""
    with pytest.raises(ValidationError):
        Message.model_validate({name: value for name, value in GOOD.items() if name != missing})


@pytest.mark.parametrize(
    ("named", "code"),
    [
        ({"id": "ordain:0:reply"}, "message_id_reserved"),
        ({"session": "erased:0"}, "session_id_reserved"),
    ],
)
async def test_our_own_ids_are_reserved(named: dict[str, str], code: str) -> None:
    """A sender cannot pose as the assistant, nor go on with what was erased: ids that begin like
    ours are refused.
    """
    async with House() as house:
        with pytest.raises(InvalidRequest) as refused:
            await house.send("hi", **named)
        assert refused.value.code == code
        assert house.query("SELECT count(*) FROM sessions") == [(0,)]


@pytest.mark.parametrize(
    "text",
    [
        "\x00",
        "a\x00b",
        "\u202e\u2066",
        "😀" * 100,
        "ß" * 1000,
        "'; DROP TABLE transcript; --",
        "{{ x }}",
        "\x1b[2J",
    ],
)
async def test_odd_text_goes_through_unharmed(text: str) -> None:
    """Whatever a person types is kept as it is, answered, and replays."""
    async with House() as house:
        answer = await house.say(f"tell me about {text} please")
        assert answer.reply is not None
        assert answer.reply.ok
        lawful(house)
        assert not broken_at_rest(house.ordain)


async def test_text_that_is_no_unicode_is_refused() -> None:
    """A lone surrogate cannot be stored: it is refused as invalid, not as a fault."""
    async with House() as house:
        with pytest.raises((ValidationError, InvalidRequest)):
            await house.send("tell me about \ud800")
        assert house.query("SELECT count(*) FROM sessions") == [(0,)]
