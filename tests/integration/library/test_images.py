"""Images that come with a message: shown to models that see and to no others, held by reference,
erased with the session.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ordain import Ordain
from ordain.app import Extras
from ordain.contracts.conversation import Attachment, Message, MessageAnswer
from ordain.contracts.policy import Lane
from ordain.contracts.profiles import ModelProfile
from ordain.errors import InvalidRequest
from ordain.ports.model import SentImage
from ordain.ports.store import load_run
from ordain.runtime.images import ARG
from ordain.settings import load_settings
from tests.replayed import replayed
from tests.shapes.pictures import GIF, PNG
from tests.shapes.talk import PRINCIPAL, Puppet


@asynccontextmanager
async def house(
    home: Path, seeing: tuple[str, ...], lanes: dict[str, list[str]], **policy: Any
) -> AsyncGenerator[tuple[Ordain, dict[str, Puppet]]]:
    """An Ordain with the model profiles that the lanes name, of which some see."""
    names = sorted({name for some in lanes.values() for name in some})
    profiles = {
        name: ModelProfile(provider="scripted", model=name, vision=name in seeing) for name in names
    }
    settings = load_settings(environment={}, home=home)
    own = settings.policy.lanes.model_copy(
        update={"profiles": {Lane(lane): some for lane, some in lanes.items()}}
    )
    updated = settings.policy.model_copy(update={"lanes": own, **policy})
    puppets = {name: Puppet() for name in names}
    settings = settings.model_copy(update={"profiles": profiles, "policy": updated})
    async with Ordain(settings, extras=Extras(models=dict(puppets))) as ordain:
        yield ordain, puppets


def every_lane(model: str) -> dict[str, list[str]]:
    return {str(lane): [model] for lane in Lane}


async def ask(
    ordain: Ordain, *files: Attachment, text: str = "what is on it?", **hints: Any
) -> MessageAnswer:
    given = {
        "session_id": "s1",
        "user_id": "ada",
        "message": {"text": text, "attachments": list(files)},
        "context": {"routing_hints": hints},
    }
    sent = await ordain.runtime.receive(Message.model_validate(given), PRINCIPAL)
    return await ordain.answer(sent)


def images(puppet: Puppet) -> list[tuple[SentImage, ...]]:
    return [request.images for request in puppet.requests]


def header(answer: MessageAnswer) -> str:
    assert answer.reply is not None
    return answer.reply.header


async def test_a_model_that_sees_is_shown_them(tmp_path: Path) -> None:
    """Behind the message's text, as they came; the turn's journal refers to them by digest, and
    replay needs none of their bytes.
    """
    async with house(tmp_path, ("eye",), every_lane("eye")) as (ordain, puppets):
        answer = await ask(ordain, Attachment.of("a.png", PNG), Attachment.of("b.gif", GIF))
        ((first, second),) = images(puppets["eye"])
        assert (first.media_type, second.media_type) == ("image/png", "image/gif")
        assert "lane.sees" in header(answer)
        assert "not read" not in header(answer)
        services, referred = ordain.runtime.services, list[Any]()
        for run in await ordain.runtime.runs(roots_only=False):
            stored = await load_run(services.store, run.id)
            assert stored is not None
            assert first.data not in json.dumps(
                [(one.body or b"").decode() for one in stored.records]
            )
            assert replayed(services, stored).verdict == "equal"
            intents = [
                json.loads(one.body or b"{}") for one in stored.records if one.kind == "intent"
            ]
            referred += [
                one["effect"]["args"][ARG]
                for one in intents
                if ARG in one.get("effect", {}).get("args", {})
            ]
        assert [(one["seq"], len(one["digests"])) for one in referred] == [(1, 2)]
        await ask(ordain, text="and again?")
        assert images(puppets["eye"])[1:] == [()]


async def test_of_a_lane_only_those_that_see_are_asked(tmp_path: Path) -> None:
    """Whatever their order there; where none of the lane sees, another lane's that does."""
    async with house(
        tmp_path, ("eye",), {"local": ["blind"], "worker": ["blind", "eye"], "brain": ["blind"]}
    ) as (ordain, puppets):
        await ask(ordain, Attachment.of("a.png", PNG))
        assert (len(puppets["blind"].requests), len(images(puppets["eye"])[0])) == (0, 1)
    async with house(
        tmp_path / "other", ("eye",), {"local": ["blind"], "worker": ["blind"], "brain": ["eye"]}
    ) as (ordain, puppets):
        await ask(ordain, Attachment.of("a.png", PNG))
        assert (len(puppets["blind"].requests), len(images(puppets["eye"])[0])) == (0, 1)


async def test_where_no_model_sees_they_are_refused(tmp_path: Path) -> None:
    """In words, with the message."""
    async with house(tmp_path, (), every_lane("blind")) as (ordain, puppets):
        with pytest.raises(InvalidRequest, match="no model here sees") as refused:
            await ask(ordain, Attachment.of("a.png", PNG))
        assert (refused.value.code, puppets["blind"].requests) == ("attachment_unread", [])


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ([Attachment.of(f"{number}.png", PNG) for number in range(5)], "attachments_too_many"),
        (
            [Attachment.of(f"{number}.png", PNG + bytes(1_500_000)) for number in range(3)],
            "attachment_too_large",
        ),
        ([Attachment.of("a.png", b"no picture")], "attachment_unlike"),
        ([Attachment.of("a.bmp.tiff", b"II*\x00" + bytes(20))], "attachment_unread"),
    ],
)
async def test_they_are_bounded(tmp_path: Path, files: list[Attachment], code: str) -> None:
    """In number, in bytes, and to what models are shown."""
    async with house(tmp_path, ("eye",), every_lane("eye")) as (ordain, _):
        with pytest.raises(InvalidRequest) as refused:
            await ask(ordain, *files)
        assert refused.value.code == code


async def test_whom_they_are_not_shown_the_header_says_so(tmp_path: Path) -> None:
    """An agent's planner is given none."""
    async with house(tmp_path, ("eye",), every_lane("eye")) as (ordain, puppets):
        answer = await ask(ordain, Attachment.of("a.png", PNG), mode="agent")
        assert "1 attachments: not read" in header(answer)
        assert not any(images(puppets["eye"]))


async def test_erasing_the_session_erases_them(tmp_path: Path) -> None:
    """Nothing of their bytes is left in the database."""
    async with house(tmp_path, ("eye",), every_lane("eye")) as (ordain, puppets):
        await ask(ordain, Attachment.of("a.png", PNG))
        ((image,),) = images(puppets["eye"])
        assert ordain.store.query("SELECT 1 FROM transcript WHERE instr(body, ?)", (image.data,))
        await ordain.runtime.operators.erase_session("s1", by="ada", why="asked for")
        assert not ordain.store.query(
            "SELECT 1 FROM transcript WHERE instr(body, ?)", (image.data,)
        )
