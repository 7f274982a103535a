"""Conversations that are played to their end whatever kills the process meanwhile: what is said,
and when.

Every step of a script is done again by a later process unless it was acknowledged; a message keeps
its id, so that sending it again is a duplicate delivery.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.scope import Constraint
from ordain.runtime.approvals import ApproverWord
from ordain.runtime.awaited_answers import Acknowledged
from ordain.runtime.configuration import Applied, RecordChange
from ordain.runtime.grants import GrantOffer
from ordain.testing import call, routes, says, suggests
from tests.at_once import at_once
from tests.shapes.client import Client
from tests.shapes.house import MovableClock
from tests.shapes.lines import about, asks, holds, script_of
from tests.shapes.talk import PRINCIPAL, WORKSPACE, Puppet, message
from tests.shapes.workflows import LEDGER

MINUTE_US = 60_000_000


GRANTED = GrantOffer(
    principal=PRINCIPAL,
    capabilities=("note_send",),
    ttl_s=86_400,
    uses=5,
    targets=("it rains",),
    constraints={"note_*": Constraint(max_calls=1)},
)
"""What is granted: of five calls the first one."""


class Talker:
    """Somebody who says what the script has them say, and waits for what the script has them wait
    for.
    """

    def __init__(self, client: Client) -> None:
        """Acknowledgements go into the client's diary."""
        self.client = client
        self.ordain = client.ordain

    @property
    def puppet(self) -> Puppet:
        """The model."""
        model = self.ordain.models["default"]
        assert isinstance(model, Puppet)
        return model

    async def say(self, name: str, text: str, **more: Any) -> None:
        """Send a message unless it was acknowledged before."""

        async def send() -> int:
            sent = await self.ordain.runtime.receive(message(text, id=name, **more), PRINCIPAL)
            return sent.seq

        await self.client.once(name, send)

    def sent(self, name: str) -> bool:
        """Whether a message was acknowledged."""
        return name in self.client.diary.entries

    def received(self, name: str) -> Acknowledged:
        """A message that was acknowledged."""
        return Acknowledged(
            session="s1", seq=self.client.diary.entries[name], message_id=name, duplicate=False
        )

    def so_far(self, name: str) -> MessageAnswer:
        """What became of a message."""
        return at_once(self.ordain.runtime.conversation.so_far(WORKSPACE, self.received(name)))

    def reply_to(self, name: str) -> dict[str, Any] | None:
        """The closing reply of the run that serves a message."""
        rows = self.ordain.store.query(
            "SELECT r.body FROM transcript r JOIN transcript m ON m.session = r.session AND m.run "
            "= r.run AND m.run <> ''"
            " WHERE r.kind = 'reply' AND m.seq = ? ORDER BY r.seq DESC LIMIT 1",
            (self.client.diary.entries[name],),
        )
        return json.loads(rows[0][0]) if rows else None

    def replied(self, name: str) -> bool:
        """Whether a message has its closing reply."""
        return self.reply_to(name) is not None

    async def reply(self, *names: str) -> None:
        """Wait for the replies to these messages."""
        for name in names:
            await self.client.until(f"{name} is answered", lambda name=name: self.replied(name))

    async def question(self, name: str) -> str:
        """Wait until a message has been answered by a question, or had been; gives the question's
        id.
        """

        def asked() -> str:
            rows = self.ordain.store.query(
                "SELECT q.message_id FROM transcript q JOIN transcript m ON m.session = q.session "
                "AND m.seq = ? WHERE q.kind = 'question'"
                " AND (q.run = m.run OR m.attached <> 'new_request') AND q.seq > m.seq ORDER BY "
                "q.seq LIMIT 1",
                (self.client.diary.entries[name],),
            )
            return rows[0][0] if rows else ""

        await self.client.until(f"{name} is answered by a question", asked)
        return asked()

    async def approve(self) -> None:
        """Wait until somebody is asked for an approval, and say yes to it, unless the yes of a
        process that died was durable already.
        """
        await self.asked("open", "approved")
        desk = self.ordain.runtime.approvals
        for view in await desk.listed(WORKSPACE):
            await desk.decide(
                WORKSPACE,
                view.row.id,
                ApproverWord(approve=True, digest=view.row.digest),
                "local:ben",
            )

    async def propose(self, args: dict[str, Any]) -> None:
        """Propose other arguments for what somebody is asked, unless a process that died did."""
        await self.asked("open", "superseded")
        if not self.ordain.store.query("SELECT 1 FROM approvals WHERE state = 'superseded'"):
            (view,) = await self.ordain.runtime.approvals.listed(WORKSPACE)
            await self.ordain.runtime.approvals.resubmit(WORKSPACE, view.row.id, args, "local:ben")

    async def asked(self, *states: str) -> None:
        """Wait until an approval stands so."""
        marks = ", ".join("?" * len(states))
        await self.client.until(
            "somebody is asked",
            lambda: self.ordain.store.query(
                f"SELECT 1 FROM approvals WHERE state IN ({marks})", states
            ),
        )

    async def grant(self, before: str) -> None:
        """Grant calls of ``GRANTED``, of which there may be one, before a message is sent. What
        stands already is not granted again.
        """
        if not self.sent(before) and not self.ordain.store.query("SELECT 1 FROM grants"):
            await self.ordain.runtime.grants.give(WORKSPACE, GRANTED, "local:ben")

    async def pin(self, before: str, profile: str, config: dict[str, Any] | None) -> None:
        """Write a profile, where there is a config, and pin the session to it, before a message is
        sent. What stands already is not written again.
        """
        if self.sent(before):
            return
        records = ([("profile", profile, config)] if config is not None else []) + [
            ("policy", "profile-pin:session:s1", {"profile": profile})
        ]
        for resource, record, what in records:
            change = RecordChange(place=WORKSPACE, resource=resource, id=record, config=what)
            assert isinstance(
                await self.ordain.runtime.control.change(change, by=PRINCIPAL), Applied
            )

    async def held(self, *names: str, unless: str = "") -> None:
        """Wait until the model calls of these messages are open, or another message was sent
        meanwhile, or they are answered.
        """

        def so() -> bool:
            done = sum(self.replied(name) for name in names)
            return self.sent(unless) or len(self.puppet.held) >= len(names) - done

        await self.client.until("the model is asked", so)

    async def let_go(self, *names: str) -> None:
        """Have the model answer until these messages have their replies."""

        def so() -> bool:
            self.puppet.let_go()
            return all(self.replied(name) for name in names)

        await self.client.until("the model has answered", so)

    async def wait_so_long(self, name: str, minutes: int) -> None:
        """Let time pass until a message has its reply."""
        clock = self.ordain.runtime.services.clock
        assert isinstance(clock, MovableClock)
        clock.move(minutes * MINUTE_US)

        def so() -> bool:
            for (run,) in self.ordain.store.query("SELECT id FROM runs WHERE status = 'waiting'"):
                self.ordain.engine.wake(run)
            return self.replied(name)

        await self.client.until(f"{name} is answered in the end", so)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A conversation: its script, its policy, and what each message comes to: its class, and
    whether its reply is ok.

    ``templates`` are the workflows of its data folder, ``cards`` its agents. ``at_once`` are the
    turns that it needs at work at the same time: suspects of a second death are driven one at a
    time.
    """

    name: str
    play: Callable[[Talker], Awaitable[None]]
    comes_to: Mapping[str, tuple[str, bool]]
    policy: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    templates: Mapping[str, Any] = field(default_factory=dict[str, Any])
    cards: Mapping[str, Any] = field(default_factory=dict[str, Any])
    at_once: int = 1
    hold: bool = False


SCRIPT = (
    script_of(holds("slowly"), asks("which place", "location"), asks("which day", "date_time"))
    .on("planner", call("entry_add", text="it rains"), index=0, when=about("write down"))
    .on("planner", call("note_send", text="it rains"), index=0, when=about("tell them all"))
    .on("planner", call("entry_add", text="it rains"), role="writer", index=0)
    .on("planner", call("note_put", text="it rains"), role="keeper", index=0)
    .on("synthesis", says("Both have it."))
    .on("router", routes("agent_chain", confidence=1.0), when=about("takes longer"))
    .on("triage", suggests("status_nudge", thread=1), when=about("well then"))
    .on("triage", suggests("new_request"), when=about("its harbour"))
)
"""What the model does in every conversation."""
PATIENT = {"fallback": {"attempts_per_profile": 10, "attempts_total": 20}}
"""A model call that dies with its process is tried again, as often as a case may kill."""


async def chat(talker: Talker) -> None:
    """Two plain turns, one after the other."""
    await talker.say("m1", "tell me about cats")
    await talker.reply("m1")
    await talker.say("m2", "tell me more about them", reply_to="m1")
    await talker.reply("m2")


async def agent(talker: Talker) -> None:
    """A supervised turn that writes to the ledger."""
    await talker.say("m1", "write down that it rains", mode="agent", allowed_verbs=["entry_add"])
    await talker.reply("m1")


async def asked(talker: Talker) -> None:
    """A turn that asks, and is answered."""
    await talker.say("m1", "find out which place is meant", mode="agent")
    question = await talker.question("m1")
    await talker.say("m2", "Lisbon", reply_to=question)
    await talker.reply("m1", "m2")


async def expired(talker: Talker) -> None:
    """A turn that asks, and nobody answers."""
    await talker.say("m1", "find out which day is meant", mode="agent")
    await talker.question("m1")
    await talker.wait_so_long("m1", 60 * 48)


async def overridden(talker: Talker) -> None:
    """An order to do it otherwise while a model call is in flight."""
    await talker.say("m1", "tell me slowly about Hamburg", mode="agent")
    await talker.held("m1", unless="m2")
    await talker.say("m2", "use Berlin instead", mode="agent")
    await talker.reply("m1", "m2")


async def stopped(talker: Talker) -> None:
    """A bare order to stop while a model call is in flight, and a turn queued behind it."""
    await talker.say("m1", "tell me slowly about Hamburg", mode="agent")
    await talker.held("m1", unless="m3")
    await talker.say("m2", "tell me about its harbour", reply_to="m1")
    await talker.say("m3", "stop", reply_to="m1")
    await talker.reply("m1", "m2", "m3")


async def nudged(talker: Talker) -> None:
    """A question after progress while a turn is at work."""
    await talker.say("m1", "tell me slowly about Hamburg", mode="agent")
    await talker.held("m1", unless="m2")
    await talker.say("m2", "any luck?")
    await talker.reply("m2")
    await talker.let_go("m1")


async def repaired(talker: Talker) -> None:
    """An order to stop that could mean either of two turns, and the choice."""
    await talker.say("m1", "tell me slowly about Hamburg", mode="agent")
    await talker.say("m2", "tell me slowly about Bremen", mode="agent")
    await talker.held("m1", "m2", unless="m3")
    await talker.say("m3", "stop")
    question = await talker.question("m3")
    await talker.say("m4", "B", reply_to=question)
    await talker.reply("m1", "m3", "m4")
    await talker.let_go("m2")


async def suggested(talker: Talker) -> None:
    """A message whose class a model suggests, while a turn is at work."""
    await talker.say("m1", "tell me slowly about Hamburg", mode="agent")
    await talker.held("m1", unless="m2")
    await talker.say("m2", "well then")
    await talker.reply("m2")
    await talker.say("m3", "hmm and its harbour")
    await talker.reply("m3")
    await talker.let_go("m1")


async def approved(talker: Talker) -> None:
    """A workflow that waits for a yes, and gets it."""
    await talker.say(
        "m1",
        "tell them that it rains",
        workflow={"template": "tell_all", "args": {"text": "it rains"}},
    )
    await talker.approve()
    await talker.reply("m1")


async def undone(talker: Talker) -> None:
    """A workflow that is approved, of which the last step fails: what happened before is undone."""
    await talker.say(
        "m1",
        "tell them that it rains",
        workflow={"template": "try_to_tell", "args": {"text": "it rains"}},
    )
    await talker.approve()
    await talker.reply("m1")


async def granted(talker: Talker) -> None:
    """A turn whose call a grant lets out, and one for which none of its calls is left, so that
    somebody is asked.
    """
    await talker.grant("m1")
    await talker.say("m1", "tell them all that it rains", mode="agent", allowed_verbs=["note_send"])
    await talker.reply("m1")
    await talker.say("m2", "tell them all again", mode="agent", allowed_verbs=["note_send"])
    await talker.approve()
    await talker.reply("m2")


async def proposed(talker: Talker) -> None:
    """A turn for whose call another is proposed, which somebody says yes to."""
    await talker.say("m1", "tell them all that it rains", mode="agent", allowed_verbs=["note_send"])
    await talker.propose({"text": "it pours"})
    await talker.approve()
    await talker.reply("m1")


async def pinned(talker: Talker) -> None:
    """A guarded session's turn, whose write waits for a yes; then one of a session that is pinned
    to what is not there.
    """
    await talker.pin(
        "m1",
        "careful",
        {
            "skills": ["entry_add"],
            "safety": {"mode": "guarded", "notRequester": True},
            "systemPrompt": "Be brief.",
        },
    )
    await talker.say(
        "m1", "write down that it rains", mode="agent", allowed_verbs=["entry_add", "entry_book"]
    )
    await talker.approve()
    await talker.reply("m1")
    await talker.pin("m2", "gone", None)
    await talker.say("m2", "tell me about cats")
    await talker.reply("m2")


async def chained(talker: Talker) -> None:
    """A turn whose router leads it into an agent chain, which writes to the ledger."""
    await talker.say(
        "m1", "write down what takes longer", mode="agent", allowed_verbs=["entry_add"]
    )
    await talker.reply("m1")


async def handed_on(talker: Talker) -> None:
    """A turn that two agents are handed at once, after a yes to each; what they have done is put
    into words.
    """
    await talker.say("m1", "have it written down and kept", delegates=list(AGENTS))
    await talker.approve()
    await talker.reply("m1")


AGENTS = {
    "writer": {"domain": "ledger", "allow": ["entry_add"]},
    "keeper": {"domain": "notes", "allow": ["note_put"]},
}
HANDS_ON = {
    "profile": {
        "allowed_handoff_targets": list(AGENTS),
        "allowed_handoff_modes": ["direct", "delegate", "fanout-fanin"],
    }
}
TALKS: dict[str, Talk] = {
    talk.name: talk
    for talk in (
        Talk(
            name="chat",
            play=chat,
            policy=PATIENT,
            comes_to={"m1": ("new_request", True), "m2": ("new_request", True)},
        ),
        Talk(
            name="agent turn with a verb",
            play=agent,
            policy=PATIENT,
            comes_to={"m1": ("new_request", True)},
        ),
        Talk(
            name="question answered",
            play=asked,
            policy=PATIENT,
            comes_to={"m1": ("new_request", True), "m2": ("answer_to_pending", True)},
        ),
        Talk(
            name="question expired",
            play=expired,
            policy=PATIENT,
            comes_to={"m1": ("new_request", False)},
        ),
        Talk(
            name="workflow approved",
            play=approved,
            templates=LEDGER,
            comes_to={"m1": ("new_request", True)},
        ),
        Talk(
            name="workflow undone",
            play=undone,
            templates=LEDGER,
            comes_to={"m1": ("new_request", False)},
        ),
        Talk(
            name="agent chain",
            play=chained,
            policy={**PATIENT, "router": {"ask": "local"}},
            comes_to={"m1": ("new_request", True)},
        ),
        Talk(
            name="handed to two agents",
            play=handed_on,
            policy={**PATIENT, **HANDS_ON},
            cards=AGENTS,
            comes_to={"m1": ("new_request", True)},
        ),
        Talk(
            name="granted",
            play=granted,
            policy=PATIENT,
            comes_to={"m1": ("new_request", True), "m2": ("new_request", True)},
        ),
        Talk(
            name="proposed anew",
            play=proposed,
            policy=PATIENT,
            comes_to={"m1": ("new_request", True)},
        ),
        Talk(
            name="pinned",
            play=pinned,
            policy=PATIENT,
            comes_to={"m1": ("new_request", True), "m2": ("new_request", False)},
        ),
        Talk(
            name="override in a model call",
            play=overridden,
            policy=PATIENT,
            comes_to={"m1": ("new_request", False), "m2": ("override", True)},
        ),
        Talk(
            name="bare stop",
            play=stopped,
            policy=PATIENT,
            comes_to={
                "m1": ("new_request", False),
                "m2": ("new_request", False),
                "m3": ("override", True),
            },
        ),
        Talk(
            name="nudge during a turn",
            play=nudged,
            at_once=2,
            policy=PATIENT,
            comes_to={"m1": ("new_request", True), "m2": ("status_nudge", True)},
        ),
        Talk(
            name="repair by choice",
            play=repaired,
            at_once=2,
            policy=PATIENT,
            comes_to={
                "m1": ("new_request", False),
                "m2": ("new_request", True),
                "m3": ("override", True),
                "m4": ("answer_to_pending", True),
            },
        ),
        Talk(
            name="triage by suggestion",
            play=suggested,
            at_once=2,
            policy={**PATIENT, "attach": {"ask": "local"}},
            comes_to={
                "m1": ("new_request", True),
                "m2": ("status_nudge", True),
                "m3": ("new_request", True),
            },
        ),
    )
}


def outcome(talker: Talker, talk: Talk) -> str:
    """What each message came to, in words: its class, whether it is ok, and what was said where
    that does not tell of times.
    """
    found: dict[str, Any] = {}
    for name in talk.comes_to:
        now, said = talker.so_far(name), talker.reply_to(name) or {}
        timeless = now.attached not in ("status_nudge", "override")
        found[name] = [
            now.attached,
            now.thread_id,
            said.get("text") if timeless else "",
            said.get("ok"),
        ]
    return json.dumps(found, sort_keys=True)


def unexpected(talker: Talker, talk: Talk) -> list[str]:
    """The messages that came to something else than they should, in words."""
    found: list[str] = []
    for name, expected in talk.comes_to.items():
        attached, said = talker.so_far(name).attached, talker.reply_to(name) or {}
        if (attached, said.get("ok")) != expected:
            found.append(
                f"{name} came to {attached}, ok {said.get('ok')}: {said.get('text', '')[:100]}"
            )
    return found
