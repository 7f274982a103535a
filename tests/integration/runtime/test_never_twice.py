"""What may have happened is not made once more by the run's own doing: neither where its model
proposes it anew, nor by a run below or above it, and under no other key.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordain import Ordain, VerbContext, VerbError, verb
from ordain.app import Extras, shipped_kinds
from ordain.contracts.access import EMBEDDER
from ordain.contracts.verbs import ArgumentRole
from ordain.errors import Conflict
from ordain.runtime.approvals import ApproverWord
from ordain.runtime.grants import GrantOffer
from ordain.runtime.replay import replay
from ordain.testing import ModelScript, ScriptedModels, call, finish

KEYS: list[tuple[str, str]] = []
AGAIN = call("note.keep", text="tea")
BELOW, OTHERWISE = (
    call("plan.subgoal", goal=goal, tools=["note.keep"]) for goal in ("Keep it.", "Do keep it.")
)


@verb(name="note.keep", effect="private", arguments={"text": ArgumentRole.CONTENT})
def keep(text: str, context: VerbContext) -> dict[str, str]:
    """Keep a note, of which nobody hears whether it was kept."""
    KEYS.append((text, context.key))
    raise VerbError("no_answer", "the connection broke")


@pytest.mark.parametrize(
    ("steps", "kept"),
    [
        ((AGAIN, AGAIN, call("note.keep", text="cake"), AGAIN), ["tea", "cake"]),
        ((AGAIN, BELOW), ["tea"]),
        ((BELOW, AGAIN), ["tea"]),
        ((BELOW, OTHERWISE), ["tea"]),
    ],
    ids=["itself", "below", "above", "beside"],
)
async def test_a_call_in_doubt_is_not_made_again_by_whoever_proposes_it(
    tmp_path: Path, steps: tuple[Any, ...], kept: list[str]
) -> None:
    """The second proposal of the very call is denied, one with other arguments is another call; the
    header says both, and the run replays equal.
    """
    KEYS.clear()
    script = ModelScript().on("planner", AGAIN, role="subgoal", index=0)
    script = script.on("planner", finish("kept"), role="subgoal")
    for number, step in enumerate(steps):
        script = script.on("planner", step, index=number)
    script = script.on("planner", finish("kept"))
    async with Ordain(
        home=tmp_path, verbs=[keep], extras=Extras(models={"default": ScriptedModels(script)})
    ) as ordain:
        done = await ordain.plan(
            {
                "goal": {"type": "chat", "description": "Keep tea."},
                "toolset": [{"tool_id": "note.keep"}, {"tool_id": "plan.subgoal"}],
            }
        )
        assert [text for text, _ in KEYS] == kept
        assert done.verdict == "unknown"
        assert "authorize.in_doubt" in done.header
        for run in await ordain.runtime.search.tree(done.run_id):
            stored = (await ordain.runtime.view(run)).stored
            assert replay(stored, ordain.catalog, shipped_kinds()).equal


@verb(
    name="note.pin",
    effect="private",
    arguments={"text": ArgumentRole.CONTENT, "copies": ArgumentRole.CONTENT},
)
def pin(text: str, context: VerbContext, copies: float = 1.0) -> dict[str, str]:
    """Pin a note; nobody hears of the first one whether it was pinned."""
    KEYS.append((text, context.key))
    if len(KEYS) == 1:
        raise VerbError("no_answer", "the connection broke")
    return {"said": "pinned"}


@verb(name="note.post", effect="send", arguments={"to": ArgumentRole.RECIPIENT})
def post(to: str, context: VerbContext) -> dict[str, str]:
    """Send a note; nobody hears of the first one whether it arrived."""
    KEYS.append((to, context.key))
    if len(KEYS) == 1:
        raise VerbError("no_answer", "the connection broke")
    return {"said": "posted"}


async def said(ordain: Ordain, text: str, tool: str) -> Any:
    """What becomes of a message to an agent that may use this tool."""
    return await ordain.chat(text, session="desk", user="ada", mode="agent", allowed_verbs=[tool])


async def replays_equal(ordain: Ordain, run: str) -> bool:
    """Whether a run of a conversation comes out of its journal as it was."""
    stored = (await ordain.runtime.view(run)).stored
    reader = ordain.runtime.services.transcript(stored.workspace)
    report = await reader.having(lambda: replay(stored, ordain.catalog, shipped_kinds(), reader))
    return report.equal


async def yes(ordain: Ordain) -> str:
    """A person says yes to what is open; gives what it was told."""
    (view,) = await ordain.runtime.approvals.listed("default")
    word = ApproverWord(approve=True, digest=view.row.digest)
    await ordain.runtime.approvals.decide("default", view.row.id, word, "local:ben")
    return view.words


@pytest.mark.parametrize(
    "again",
    [
        {"text": "caf\u00e9"},
        {"text": "cafe\u0301"},
        {"text": "caf\u00e9", "copies": 1},
        {"copies": 1.0, "text": "caf\u00e9"},
    ],
    ids=["the same", "another normal form", "the default as a whole number", "another order"],
)
async def test_a_later_turn_makes_a_call_in_doubt_only_by_a_persons_yes_and_once(
    tmp_path: Path, again: dict[str, Any]
) -> None:
    """The same call said otherwise waits for somebody who is told that it may have happened, though
    the verb needs no yes; that lets it go, once; the turns replay equal.
    """
    KEYS.clear()
    first, second = call("note.pin", text="caf\u00e9"), call("note.pin", **again)
    script = ModelScript().on("planner", first, index=0, when=lambda asked: "one" in str(asked))
    script = script.on("planner", second, index=0).on("planner", finish("pinned"))
    models = {"default": ScriptedModels(script)}
    async with Ordain(home=tmp_path, verbs=[pin], extras=Extras(models=models)) as ordain:
        await said(ordain, "Please pin one coffee", "note.pin")
        assert len(KEYS) == 1
    async with Ordain(home=tmp_path, verbs=[pin], extras=Extras(models=models)) as ordain:
        asked = await said(ordain, "Please pin two coffees", "note.pin")
        assert asked.approval is not None
        assert len(KEYS) == 1
        assert "may have happened already" in await yes(ordain)
        answer = await ordain.runtime.wait(asked.run_id)
        assert len(KEYS) == 2
        third = await said(ordain, "Please pin three coffees", "note.pin")
        assert third.approval is not None
        assert len(KEYS) == 2
        for run in await ordain.runtime.search.tree(answer.stored.id):
            assert await replays_equal(ordain, run)


@verb(
    name="note.pin",
    effect="private",
    arguments={"text": ArgumentRole.CONTENT, "copies": ArgumentRole.CONTENT},
)
def pin_twice(text: str, context: VerbContext, copies: float = 2.0) -> dict[str, str]:
    """Pin a note, as a later build of the verb has it."""
    KEYS.append((text, context.key))
    return {"said": "pinned"}


async def test_a_call_in_doubt_is_the_same_where_its_verb_is_declared_otherwise_by_now(
    tmp_path: Path,
) -> None:
    """A default that it left out then is said now, since the verb has another: the call amounts to
    the same, and a person is asked.
    """
    KEYS.clear()
    first, again = call("note.pin", text="tea"), call("note.pin", text="tea", copies=1)
    script = ModelScript().on("planner", first, index=0).on("planner", finish("pinned"))
    models = {"default": ScriptedModels(script)}
    async with Ordain(home=tmp_path, verbs=[pin], extras=Extras(models=models)) as ordain:
        await said(ordain, "Please pin one tea", "note.pin")
    models = {"default": ScriptedModels(ModelScript().on("planner", again, index=0))}
    async with Ordain(home=tmp_path, verbs=[pin_twice], extras=Extras(models=models)) as ordain:
        asked = await said(ordain, "Please pin a second tea", "note.pin")
        assert asked.approval is not None
        assert "This very call went out before" in asked.approval.text
        assert len(KEYS) == 1
        assert await replays_equal(ordain, asked.run_id)


async def test_a_grant_covers_no_call_that_a_turn_before_left_in_doubt(tmp_path: Path) -> None:
    """What was granted beforehand lets the first call go, and not the same once more in the next
    turn of the conversation: there a person is asked.
    """
    KEYS.clear()
    proposed = call("note.post", to="ada@example.org")
    script = ModelScript().on("planner", proposed, index=0).on("planner", finish("posted"))
    models = {"default": ScriptedModels(script)}
    async with Ordain(home=tmp_path, verbs=[post], extras=Extras(models=models)) as ordain:
        offer = GrantOffer(principal=EMBEDDER, capabilities=("note.post",), ttl_s=3600)
        await ordain.runtime.grants.give("default", offer, "local:ben")
        done = await said(ordain, "Please send a note to Ada", "note.post")
        assert done.approval is None
        assert len(KEYS) == 1
        asked = await said(ordain, "Please send another note to Ada", "note.post")
        assert asked.approval is not None
        assert len(KEYS) == 1
        await yes(ordain)
        await ordain.runtime.wait(asked.run_id)
        assert len(KEYS) == 2


async def test_a_yes_is_good_for_what_its_approver_was_told(tmp_path: Path) -> None:
    """Two turns ask for the same call. The first yes lets it go, and nobody hears how it ended: the
    second, to the words of before, is stale; the words of now say that it may have happened.
    """
    KEYS.clear()
    proposed = call("note.post", to="ada@example.org")
    script = ModelScript().on("planner", proposed, index=0).on("planner", finish("posted"))
    models = {"default": ScriptedModels(script)}
    async with Ordain(home=tmp_path, verbs=[post], extras=Extras(models=models)) as ordain:
        first = await said(ordain, "Please send a note to Ada", "note.post")
        second = await said(ordain, "Please write a letter to Ada", "note.post")
        words = {one.row.run: one for one in await ordain.runtime.approvals.listed("default")}
        assert not any("may have happened" in one.words for one in words.values())
        seen = {one.row.root: one for one in words.values()}
        for asked in (first, second):
            view = seen[asked.run_id]
            word = ApproverWord(approve=True, digest=view.row.digest)
            if asked is second:
                with pytest.raises(Conflict) as refused:
                    await ordain.runtime.approvals.decide("default", view.row.id, word, "local:ben")
                assert refused.value.code == "approval_stale"
            else:
                await ordain.runtime.approvals.decide("default", view.row.id, word, "local:ben")
                await ordain.runtime.wait(asked.run_id)
        assert len(KEYS) == 1
        assert "may have happened already" in await yes(ordain)
        await ordain.runtime.wait(second.run_id)
        assert len(KEYS) == 2
        for run in await ordain.runtime.search.tree(second.run_id):
            assert await replays_equal(ordain, run)
