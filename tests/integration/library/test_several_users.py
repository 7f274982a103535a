"""Memory in sessions in which several users speak: whose it is what a message recalls, and whose
what its run writes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordain.contracts.library import NoteRequest
from ordain.ports.model import ModelRequest
from ordain.testing import call, finish
from ordain.testing.proposals import ScriptedAnswer
from tests.at_once import at_once
from tests.lanes import examples
from tests.shapes.lines import about, holds, script_of, steps, words
from tests.shapes.talk import House

RECALL = {"enabled": True, "time_window_days": 0, "max_items": 20}
PEOPLE = ("ada", "bob", "cleo")


def _writes(request: ModelRequest) -> ScriptedAnswer:
    return call(
        "collapse.write_entry",
        text=f"the boiler: {words(request)}",
        theme=words(request).split()[-1],
    )


SCRIPT = script_of(steps(_writes, finish("written"), when=about("write")))


def said(place: int) -> str:
    """What is kept, and found by its letters: it needs no embedder."""
    return f"the boiler: note {place}"


async def given_to(house: House, user: str, session: str, **more: Any) -> set[str]:
    """The texts that a message of this user is given in this session, as the prompt has them."""
    before = len(house.puppet.requests)
    await house.say('what is known of the "boiler"?', session, user=user, recall=RECALL, **more)
    return {
        one["text"]
        for request in house.puppet.requests[before:]
        for one in request.inputs.get("recalled", ())
    }


def recalled_by(house: House, run: str | None) -> set[str]:
    """The texts that a turn's journal says were recalled."""
    records = at_once(house.ordain.runtime.view(run or "")).stored.records
    results = (
        json.loads(one.body)["result"] for one in records if one.kind == "observation" and one.body
    )
    return {
        fragment["text"]
        for result in results
        for fragment in result.get("output", {}).get("fragments", ())
    }


async def note(house: House, user: str, text: str) -> None:
    await house.ordain.runtime.library.add_note("default", NoteRequest(text=text, user_id=user))


@pytest.mark.parametrize("shared", [False, True])
@settings(max_examples=examples(40, 4), deadline=None)
@given(
    moves=st.lists(
        st.tuples(
            st.sampled_from(["note", "write", "ask"]),
            st.sampled_from(PEOPLE),
            st.sampled_from(["s1", "s2"]),
        ),
        min_size=2,
        max_size=7,
    )
)
async def test_a_message_is_given_its_senders_memory(
    shared: bool, moves: list[tuple[str, str, str]]
) -> None:
    """Whoever spoke first, and whoever else speaks: what is recalled is what the sender let be
    remembered, and what runs of their messages wrote.
    """
    kept: dict[str, str] = {}
    async with House(script=SCRIPT, policy={"memory": {"shared": shared}}) as house:
        for place, (what, user, session) in enumerate(
            (*moves, *(("ask", user, "s1") for user in PEOPLE))
        ):
            if what == "note" or (what == "write" and shared):
                # where others may read it, it is written with somebody's yes alone
                kept[said(place)] = user
                await note(house, user, said(place))
            elif what == "write":
                kept[f"the boiler: please write theme{place}"] = user
                await house.say(
                    f"please write theme{place}",
                    session,
                    user=user,
                    mode="agent",
                    allowed_verbs=["collapse.write_entry"],
                )
            else:
                assert await given_to(house, user, session) == {
                    text for text, of in kept.items() if shared or of == user
                }
        # or nothing was written, and so nothing tried
        assert house.query("SELECT count(*) FROM items")[0][0] == len(kept)


async def test_whoever_takes_over_brings_their_own() -> None:
    """A message that takes the place of another user's turn recalls its own sender's memory, and
    the one before keeps to its sender's.
    """
    async with House(script=script_of(holds("slowly"))) as house:
        for user in PEOPLE:
            await note(house, user, f"the boiler of {user}")
        first = await house.send(
            'look slowly after the "boiler"', user="ada", recall=RECALL, mode="agent"
        )
        await house.quiet()
        second = await house.send(
            'stop, tell me of the "boiler" instead', user="bob", recall=RECALL
        )
        assert (await house.told(second)).attached == "override"
        runs = [(await house.told(sent)).run_id for sent in (first, second)]
        assert [recalled_by(house, run) for run in runs] == [
            {"the boiler of ada"},
            {"the boiler of bob"},
        ]


async def test_themes_are_the_senders() -> None:
    """Themes are counted over what the sender's own runs wrote, in a session of several users
    too.
    """
    async with House(script=SCRIPT) as house:
        for number, user in enumerate(("ada", "bob", "ada")):
            sent = await house.say(
                f"please write of theme{number}",
                user=user,
                mode="agent",
                allowed_verbs=["collapse.write_entry"],
            )
            run = sent.run_id or ""
            themes = await house.ordain._open_library().themes("default", limit=9, run=run)
            assert [one.theme for one in themes] == [
                f"theme{place}"
                for place, of in enumerate(("ada", "bob", "ada")[: number + 1])
                if of == user
            ]


async def test_an_entry_of_nobody_known_is_given_to_nobody(tmp_path: Path) -> None:
    """Where a session's entry has no sender any more, it is withheld and not everybody's."""
    async with House(tmp_path, script=SCRIPT) as house:
        await house.say(
            "please write of it", user="ada", mode="agent", allowed_verbs=["collapse.write_entry"]
        )
        assert await given_to(house, "ada", "s2")
        with house.ordain.store.writer._db as db:
            db.execute("UPDATE transcript SET author = ''")
        for user in PEOPLE:
            assert await given_to(house, user, "s3") == set()


async def test_a_name_is_taken_as_it_is(tmp_path: Path) -> None:
    """In a note as in a message: nobody's note is everybody's, nor somebody else's own, because of
    blanks in a name.
    """
    people = ("ada", "ada ", "\u00a0ada", " ", "\u3000")
    async with House(tmp_path, script=SCRIPT) as house:
        for place, user in enumerate(people):
            note = NoteRequest(text=said(place), user_id=user)
            await house.ordain.runtime.library.add_note("default", note)
        for place, user in enumerate(people):
            assert await given_to(house, user, f"s{place}") == {said(place)}
        assert await given_to(house, "bob", "s9") == set()
