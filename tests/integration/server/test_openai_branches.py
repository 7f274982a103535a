"""Responses that go on from an earlier one, and who speaks where nobody says it: what others said
since, or under another name, is in no prompt unnoticed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from ordain import Ordain
from ordain.runtime.continuation import LEFT_MARK
from ordain.runtime.transcript_replay import retell
from ordain.server import Face, build_app
from ordain.testing import ModelScript, ScriptedModels, output
from tests.integration.server.openai_house import (
    RESPONSES,
    file_parts,
    ordain_of,
    said,
    text_of,
    turns,
)

WORDS = ModelScript().on("verb", output(content="It is so."))


@asynccontextmanager
async def served(
    home: Path, person: str = ""
) -> AsyncIterator[tuple[Ordain, httpx2.AsyncClient, ScriptedModels]]:
    """An Ordain that this person runs, its HTTP face, and its model, which keeps what it was
    asked.
    """
    model = ScriptedModels(WORDS)
    async with ordain_of(home, model) as ordain:
        transport = httpx2.ASGITransport(
            build_app(Face(runtime=ordain.runtime, person=person)), raise_app_exceptions=False
        )
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            yield ordain, http, model


async def respond(
    http: httpx2.AsyncClient,
    text: str | list[dict[str, Any]],
    after: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A response, behind another one."""
    previous = {} if after is None else {"previous_response_id": after["id"]}
    answer = await http.post(RESPONSES, json={"model": "ordain", "input": text, **previous, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def of(answer: dict[str, Any]) -> tuple[str, str]:
    """The session of a response, and how that was found."""
    return answer["ordain"]["session_id"], answer["ordain"]["continuation"].removeprefix(
        "continuation."
    )


async def test_an_earlier_response_is_gone_on_from_without_what_was_said_since(
    tmp_path: Path,
) -> None:
    """A new session, into which the history up to it is imported, marked; from there it goes on,
    and the other way goes on as it was.
    """
    async with served(tmp_path) as (ordain, http, model):
        first = await respond(http, "My number is 11.")
        second = await respond(http, "SECRET-SECOND-TURN", first)
        branch = await respond(http, "branch from first", first)
        assert of(second) == (of(first)[0], "named")
        assert (of(branch)[1], of(branch)[0] == of(first)[0]) == ("contradicts", False)
        asked = model.requests[-1].user
        assert "My number is 11." in asked
        assert "It is so." in asked
        assert "SECRET-SECOND-TURN" not in asked
        entries = (await http.get(f"/sessions/{of(branch)[0]}/messages")).json()["entries"]
        assert [entry["event"] for entry in entries] == ["summary", "message", "reply"]
        opening, *below = entries[0]["text"].split("\n")
        assert opening == LEFT_MARK.format(of(first)[0])
        assert below[0] == "> user: My number is 11."
        assert all(line.startswith(">") for line in below)
        assert of(await respond(http, "on with it", branch)) == (of(branch)[0], "named")
        assert of(await respond(http, "and here", second)) == (of(first)[0], "named")
        again = await respond(http, "a branch of the branch", branch)
        assert of(again)[1] == "contradicts"
        assert "My number is 11." in model.requests[-1].user
        assert "on with it" not in model.requests[-1].user
        services = ordain.runtime.services
        retold = await retell(services.sessions, "default", of(branch)[0], services.catalogs.pinned)
        assert retold.verdict == "equal"


async def test_what_others_said_since_is_in_no_response(tmp_path: Path) -> None:
    """By whatever way they spoke; and a file of what went before is named as not read."""
    async with served(tmp_path) as (_, http, model):
        first = await respond(
            http, [{"role": "user", "content": file_parts(b"# Lease\n\nOne dog.\n")[RESPONSES]}]
        )
        other = {"sessionId": of(first)[0], "userId": "ben", "message": {"text": "BEN SAYS THIS"}}
        assert (await http.post("/messages", json=other)).status_code == 200
        on = await respond(http, "and then?", first)
        assert of(on)[1] == "contradicts"
        assert "BEN SAYS THIS" not in model.requests[-1].user
        assert on["ordain"]["ignored"] == ["file lease.md of an earlier message"]


async def test_who_runs_the_server_is_one_person_at_each_face(tmp_path: Path) -> None:
    """A caller without a name is called as the command calls them, so that their notes are found;
    whoever is named is who is named.
    """
    async with served(tmp_path, person="igor") as (ordain, http, _):
        note = {"text": "The boiler code is 4711.", "user_id": "igor"}
        assert (await http.post("/memory", json=note)).status_code == 200
        for answer, user in (
            (await said(http, turns("Hi")), "igor"),
            (await said(http, turns("Hi"), user="ada"), "ada"),
            (await said(http, turns("Hi"), {"X-LibreChat-User-Id": "l1"}), "l1"),
            (await respond(http, "Hi"), "igor"),
        ):
            row = await ordain.runtime.conversation.session(
                "default", answer["ordain"]["session_id"]
            )
            assert row.user == user


async def test_conversations_that_began_as_local_go_on(tmp_path: Path) -> None:
    """Of a folder that was served before: found by what is shown, by name and by a response's id,
    and still under that name.
    """
    async with served(tmp_path) as (_, http, _):
        shown = await said(http, turns("one"))
        named = await said(http, turns("hello"), {"Ordain-Session": "mine"})
        response = await respond(http, "two")
    async with served(tmp_path, person="igor") as (ordain, http, _):
        again = await said(http, turns("one", text_of(shown), "more"))
        third = await said(http, turns("one", text_of(shown), "more", text_of(again), "and more"))
        there = await said(http, turns("hello", text_of(named), "more"), {"Ordain-Session": "mine"})
        behind = await respond(http, "more", response)
        assert [of(each) for each in (again, third, there, behind)] == [
            (of(shown)[0], "found"),
            (of(shown)[0], "found"),
            ("mine", "named"),
            (of(response)[0], "named"),
        ]
        for session in {of(each)[0] for each in (again, there, behind)}:
            entries = await ordain.runtime.conversation.transcript(
                "default", session, after=0, limit=50
            )
            assert {entry.author for entry in entries if entry.kind == "message"} == {"local"}
