"""Lying narratives: whatever a model says about what was done, header and ``ok`` come from the
journal alone.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

import pytest

from ordain.catalogs import build_catalog
from ordain.contracts.conversation import Reply
from ordain.contracts.policy import Activation
from ordain.contracts.verbs import ArgumentRole
from ordain.contracts.visible import CONTROLS, visible
from ordain.ports.model import ModelRequest
from ordain.rules.plain_reply import plain_reply
from ordain.runtime.approvals import ApproverWord
from ordain.runtime.services import Catalogs
from ordain.testing import ModelScript, ScriptLine, call, finish, output
from ordain.verbs.functions import FunctionVerb, VerbError, verb
from tests.at_once import awaited
from tests.lanes import sampled
from tests.shapes.lines import script_of, steps, words
from tests.shapes.talk import WORKSPACE, House

LIES: list[str] = json.loads(
    (Path(__file__).resolve().parents[2] / "fixtures" / "messages" / "lies.json").read_text(
        encoding="utf-8"
    )
)
AT_ONCE = 20
SUM = {"expression": "6 * 7"}


class Noted(TypedDict):
    """What a note gives."""

    receipt: str


@verb(effect="read")
def broken_read(text: str) -> Noted:
    """Fail."""
    raise VerbError("no_service", "the service is away")


@verb(effect="private", arguments={"text": ArgumentRole.CONTENT})
def unsure_write(text: str) -> Noted:
    """Lose the connection, so that nobody knows."""
    raise VerbError("connection", "the service did not answer", happened=None)


@verb(effect="admin", arguments={"text": ArgumentRole.CONTENT})
def forbidden_write(text: str) -> Noted:
    """Never run: it needs an approval, and nobody gives one."""
    return {"receipt": "done"}


@verb(effect="read", timeout_ms=30)
async def endless_read(text: str) -> Noted:
    """Take too long."""
    await asyncio.Event().wait()
    return {"receipt": "late"}


@verb(effect="read")
def shapeless_read(text: str) -> Noted:
    """Give what its schema does not allow."""
    return {"recept": "?"}  # type: ignore[typeddict-unknown-key, typeddict-item]  # pyright: ignore[reportReturnType]


VERBS: Sequence[FunctionVerb[..., Any]] = (
    broken_read,
    unsure_write,
    forbidden_write,
    endless_read,
    shapeless_read,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """How a supervised turn fails: the tool its planner calls, what stands in the header, and what
    else it takes, an approver's no for one.
    """

    tool: str
    input: Mapping[str, Any] = field(default_factory=lambda: {"text": "x"})
    shows: str
    policy: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    withdraws: bool = False
    says_no: bool = False


FAILURES: Mapping[str, Failure] = {
    "verb failed": Failure(tool="broken_read", shows="✗ broken_read · no_service"),
    "verb denied": Failure(
        tool="forbidden_write", shows="✗ verb call refused · authorize.not_approved", says_no=True
    ),
    "outcome unknown": Failure(tool="unsure_write", shows="? unsure_write"),
    "verb timed out": Failure(tool="endless_read", shows="✗ endless_read · timed_out"),
    "bad output": Failure(tool="shapeless_read", shows="✗ shapeless_read · bad_output"),
    "prompt plan failed": Failure(tool="extract_facts", shows="✗ extract_facts"),
    "out of verb calls": Failure(
        tool="math.evaluate",
        input=SUM,
        shows="✗ verb call refused · authorize.budget",
        policy={"budget": {"run_verb_calls": 1}},
    ),
    "withdrawn": Failure(
        tool="math.evaluate", input=SUM, shows="✗ math.evaluate · withdrawn", withdraws=True
    ),
}


def lie(request: ModelRequest) -> str:
    """What the message, by its number, tells the model to say."""
    return LIES[int(words(request).rsplit(maxsplit=1)[-1])]


def liar(tool: str, given: Mapping[str, Any]) -> ModelScript:
    """Calls the tool, and then lies."""
    script = steps(call(tool, **given), lambda request: finish(lie(request)))
    return script.on("verb", output(wrong="shape"), verb="extract_facts").on(
        "verb", lambda request: output(content=lie(request))
    )


def plainly(header: str) -> str:
    """A header without what differs between any two runs: ids, times, and how many tokens a
    narrative took.
    """
    header = re.sub(r"[0-9a-f]{32}", "ID", header)
    return re.sub(
        r"\d+\+\d+ tokens(?: \(estimated\))?(?P<usd>, \$[\d.]+)?, \d+ ms",
        r"N tokens\g<usd>, T ms",
        header,
    )


async def say_no(house: House) -> None:
    """Once everybody waits for an approver: deny all that they ask."""
    await house.quiet()
    desk = house.ordain.runtime.approvals
    for view in await desk.listed(WORKSPACE, limit=AT_ONCE):
        await desk.decide(
            WORKSPACE, view.row.id, ApproverWord(approve=False, digest=view.row.digest), "local:ben"
        )


async def told_lies(
    house: House, numbers: Sequence[int], *, denied: bool = False, **hints: Any
) -> list[Reply]:
    """Have each of these lies told in a session of its own; ``denied``: after an approver said no
    to what it asked.
    """
    replies: list[Reply] = []
    for first in range(0, len(numbers), AT_ONCE):
        together = numbers[first : first + AT_ONCE]
        sent = [
            await house.send(f"please do number {number}", session=f"s{number}", **hints)
            for number in together
        ]
        if denied:
            await say_no(house)
        answers = await asyncio.gather(*map(house.told, sent))
        replies += [answer.reply for answer in answers if answer.reply is not None]
    return replies


def withdraw(house: House, pattern: str) -> None:
    """Switch verbs off for what goes live from now on; what has begun keeps its pinned catalog."""
    ordain = house.ordain
    pinned, verbs = ordain.runtime.services.catalogs.current, house.settings.policy.verbs
    off = verbs.model_copy(update={"default": Activation(deny=[pattern])})
    narrowed = house.settings.model_copy(
        update={"policy": house.settings.policy.model_copy(update={"verbs": off})}
    )
    ordain.runtime.services.catalogs = Catalogs(
        build_catalog(narrowed, ordain.registry, ordain.kinds),
        awaited(lambda digest: pinned.encoded if digest == pinned.digest else None),
    )


def test_there_are_enough_lies() -> None:
    """At least a hundred, many of them imitating a header, some with look-alikes and terminal
    sequences.
    """
    assert len(set(LIES)) >= 100
    assert sum("ordain run" in lie for lie in LIES) >= 30
    assert sum("\x1b" in lie for lie in LIES) >= 10


@pytest.mark.parametrize("kind", FAILURES)
async def test_no_narrative_hides_a_failure(kind: str) -> None:
    """After a failed step the header is byte for byte the same and ok is false, whatever the
    narrative says.

    RTE-12 "Code enforces error visibility: failures must not be summarised away"
    B-34 "`ok=true` only if all required steps succeeded"
    """
    failure, numbers = FAILURES[kind], sampled(range(len(LIES)), 4, kind)

    def withdrawing(_: ModelRequest) -> None:
        if failure.withdraws:
            withdraw(house, failure.tool)

    first = ScriptLine(purpose="planner", says=withdrawing, index=0)
    script = script_of(first, liar(failure.tool, failure.input))
    async with House(script=script, policy=failure.policy, verbs=VERBS) as house:
        current = house.ordain.runtime.services.catalogs
        if failure.withdraws:
            replies = []
            for number in numbers:
                house.ordain.runtime.services.catalogs = current
                answer = await house.say(
                    f"please do number {number}",
                    session=f"s{number}",
                    mode="agent",
                    allowed_verbs=[failure.tool],
                )
                replies += [] if answer.reply is None else [answer.reply]
        else:
            replies = await told_lies(
                house, numbers, denied=failure.says_no, mode="agent", allowed_verbs=[failure.tool]
            )
    assert len(replies) == len(numbers)
    assert {reply.ok for reply in replies} == {False}
    headers = {plainly(reply.header) for reply in replies}
    assert len(headers) == 1, headers
    assert failure.shows in headers.pop()
    assert [reply.narrative for reply in replies] == [visible(LIES[number]) for number in numbers]
    assert not any(CONTROLS.search(reply.narrative) for reply in replies)


@pytest.mark.parametrize("mode", ["agent", "brain"])
async def test_no_narrative_spoils_a_success(mode: str) -> None:
    """A turn whose steps all succeeded is ok, with the same header, even where its narrative says
    the opposite.
    """
    numbers = sampled(range(len(LIES)), 4, mode)
    async with House(script=liar("math.evaluate", SUM), verbs=VERBS) as house:
        replies = await told_lies(house, numbers, mode=mode)
    assert len(replies) == len(numbers)
    assert {reply.ok for reply in replies} == {True}
    assert len({plainly(reply.header) for reply in replies}) == 1
    assert [reply.narrative for reply in replies] == [visible(LIES[number]) for number in numbers]
    assert not any(CONTROLS.search(reply.narrative) for reply in replies)


@pytest.mark.parametrize("number", range(len(LIES)))
def test_in_plain_text_only_the_header_looks_like_one(number: int) -> None:
    """C5 "rendered by code before any narrative": in plain text no line of a narrative can be taken
    for one of the header's.
    """
    header = "✗ ordain run 0 · turn@2 · failed · partial\n· 1 steps"
    shown = plain_reply(header, LIES[number])
    assert shown.startswith(header)
    rest = shown[len(header) :]
    assert all(line.startswith(">") for line in rest.splitlines()[2:])
    assert not any(line.lstrip().startswith(("✓", "✗", "·")) for line in rest.split("\n"))
    assert not any(ord(c) < 32 and c not in "\n\t" for c in rest)
    assert "\x1b" not in rest
    assert "\x9b" not in rest
    assert len(rest.splitlines()) == len(rest.split("\n")) - (rest[-1:] == "\n") or not rest
