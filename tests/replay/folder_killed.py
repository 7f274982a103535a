"""How the data folder of a killed process is made: whatever a run can be doing when its process
dies, and what has settled beside it.

``python -m tests.replay.folder_killed FOLDER NAME`` plays it, kills it and writes ``NAME.tar.xz``
and ``NAME.json``; done once for a build, never again. The folder is taken as SIGKILL left it.
Processes die before on one turn until the next one quarantines it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
import tempfile
import threading
import traceback
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec import structs

from ordain.contracts.council import DeliberationRequest
from ordain.contracts.library import NoteRequest
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.verbs import VerbRequest
from ordain.ports.leases import QUARANTINE
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.runtime.approvals import ApproverWord
from ordain.runtime.continuation import Shown, ShownTurn
from ordain.testing import fails
from tests.replay.folder_file import (
    LATE,
    SOON,
    Answer,
    Call,
    Kept,
    KeptRun,
    pack,
    unpack,
    write_statement,
)
from tests.replay.folder_going_on import go_on
from tests.replay.folder_house import LATER_S, SCRIPT, folder_house, wording
from tests.replay.golden import request
from tests.shapes.ledger import Ledger, Receipt, ledger_process
from tests.shapes.stored_journal import journal_of
from tests.shapes.talk import PRINCIPAL, WORKSPACE, House, Puppet, message
from tests.shapes.workflows import LEDGER, write_templates

AGENT = {"mode": "agent"}
CASE = "folder"
SEATS = 4
"""How many seats a council has, as shipped."""
SAID = {
    "location": "Lisbon",
    "date_time": "next Tuesday",
    "yes_no": "yes",
    "freeform": "a green one made of wood",
    "choice": "B",
}
"""What is said to an open question, by the kind of answer that it expects."""


class Patient(Puppet):
    """A puppet that never answers what holds such words, and is asked too often once."""

    def __init__(self) -> None:
        """Nobody waits yet."""
        super().__init__(SCRIPT)
        self.waiting: list[str] = []

    async def attempt(
        self, asked: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort``."""
        text = wording(asked)
        if asked.purpose == "planner" and "come back later" in text:
            return fails("rate_limited", "slow down", retry_after_ms=LATER_S * 1000).error
        if f"patient {asked.purpose}" in text:
            self.waiting.append(text)
            await asyncio.Event().wait()
        return await super().attempt(asked, heard)


class Hanging(Ledger):
    """A ledger whose answer never reaches a call that hangs; one that is unsent has not even
    reached the ledger.
    """

    hung = 0

    def write(self, kind: str, text: str, key: str, attempt: int = 1) -> Receipt:
        """Write, and wait for the end of the process."""
        if "hang" not in text:
            return super().write(kind, text, key, attempt)
        if "unsent" not in text:
            super().write(kind, text, key, attempt)
        type(self).hung += 1
        threading.Event().wait()
        raise AssertionError


async def settled(house: House) -> None:
    """What has come to its end before."""
    await house.ordain.runtime.library.add_note(
        WORKSPACE, NoteRequest(text="Ada drinks her tea without milk.", user_id="ada")
    )
    await house.say(
        "how do I drink my tea?",
        "done",
        recall={"enabled": True, "required": True, "time_window_days": 0},
    )
    await house.say("find out which place it is", "done", **AGENT)
    await house.say("Lisbon", "done")
    await house.say("please fail at it", "done", **AGENT)
    await house.ordain.runtime.wait(await plan(house, "evaluate it", "math.evaluate"))
    await house.ordain.runtime.wait(await use(house, "math.evaluate", expression="1 / 0"))


async def shown(house: House) -> None:
    """A conversation that came with a client's own history, which was imported."""
    runtime = house.ordain.runtime
    before = (
        ShownTurn(role="user", text="hello"),
        ShownTurn(role="assistant", text="✓ gpt-x · 2 tools\n\nIt was sent."),
    )
    now = Shown(
        before=before,
        now=(ShownTurn(role="user", text="how do I drink my tea?"),),
        instructions="You are a pirate.",
    )
    place = await runtime.continuation.place(
        now, workspace=WORKSPACE, principal=PRINCIPAL, user="ada"
    )
    sent = await runtime.receive(
        message("how do I drink my tea?", place.session),
        PRINCIPAL,
        WORKSPACE,
        source="openai",
        place=place,
    )
    await runtime.conversation.answer(WORKSPACE, sent)


async def asking(house: House) -> None:
    """An open question of each kind."""
    for session, text in (
        ("place", "find out which place it is"),
        ("day", "find out which day it is"),
        ("whether", "find out whether it is so"),
        ("freeform", "find out what else there is"),
    ):
        await house.say(text, session, id=f"{session}-1", **AGENT)
    for number in (1, 2):
        await house.send(
            f"think slowly about number {number} suggest:new_request:0:0.9", "choice", **AGENT
        )
    await house.until("both work", lambda: waiting(house) == 2)
    assert (await house.say("stop", "choice")).question is not None


async def at_models(house: House) -> None:
    """Runs of each flow in a model call, with turns queued behind one of them; and one that comes
    back later.
    """
    before = waiting(house)
    await house.send("let the patient verb tell of Hamburg", "chat")
    await house.send("let the patient planner work", "agent", id="agent-1", **AGENT)
    for number in (2, 3):
        await house.send(
            f"tell me about part {number}", "agent", id=f"agent-{number}", reply_to="agent-1"
        )
        await house.until("it is queued", lambda behind=number - 1: queued(house) == behind)
    await house.send("please look at the lamp", "tool", allowed_verbs=["extract_facts"], **AGENT)
    await house.send("ask the patient router", "router")
    await house.send("say it under supervision", "supervisor", **AGENT)
    await house.send("let the patient planner work on", "triage", **AGENT)
    await house.send("let the patient planner go on working", "status", **AGENT)
    await plan(house, "let the patient planner work", "math.evaluate")
    await plan(house, "look at the lamp", "extract_facts")
    await use(house, "extract_facts", text="The lamp is red, says the patient verb.")
    await house.until("all are asked", lambda: waiting(house) == before + 10)
    await house.send("hmm let the patient triage see suggest:new_request:0:0.9", "triage")
    await house.until("it is asked too", lambda: waiting(house) == before + 11)


async def at_approvals(house: House) -> None:
    """A workflow that waits for a yes and somebody looks at, and one that was given it and is inside
    of a verb.
    """
    before, desk = Hanging.hung, house.ordain.runtime.approvals
    for session, text in (("steps", "hang: it rains"), ("workflow", "it rains")):
        await house.send(
            "tell them", session, workflow={"template": "tell_all", "args": {"text": text}}
        )
        await house.until(
            "somebody is asked", lambda: house.query("SELECT 1 FROM approvals WHERE state = 'open'")
        )
        for view in await desk.listed(WORKSPACE):
            if view.row.session == "steps":
                await desk.decide(
                    WORKSPACE,
                    view.row.id,
                    ApproverWord(approve=True, digest=view.row.digest),
                    PRINCIPAL,
                )
            elif view.row.session == "workflow":
                await desk.claim(WORKSPACE, view.row.id, PRINCIPAL)
    await house.until("it hangs", lambda: Hanging.hung == before + 1)


async def in_company(house: House) -> None:
    """Runs of the kinds in which several models work: a council's seat and chair, a chain, a
    subgoal, a roster, an agent who was handed a turn, and the words for it. One waits for a yes.
    """
    before, desk, creative, opened = (
        waiting(house),
        house.ordain.runtime.approvals,
        ["creative_agent"],
        "SELECT 1 FROM approvals WHERE state = 'open'",
    )
    already = len(house.query(opened))
    await house.send("let the patient seat think", "seats", mode="council")
    await house.ordain.runtime.accept(
        DeliberationRequest(prompt="let the patient chair judge"), PRINCIPAL
    )
    await house.send("in a chain let the patient planner work", "chain", **AGENT)
    await plan(house, "have part of it planned", "plan.subgoal")
    await house.send("have it planned", "roster", allowed_verbs=["roster_runtime"], **AGENT)
    await house.send("let the patient planner put it well", "handed", delegates=creative)
    await house.send("let the patient synthesis put it well", "worded", delegates=creative)
    await house.send("put it well", "unhanded", delegates=creative)
    await house.until("somebody is asked of each", lambda: len(house.query(opened)) == already + 3)
    for view in await desk.listed(WORKSPACE):
        if view.row.session in ("handed", "worded"):
            await desk.decide(
                WORKSPACE,
                view.row.id,
                ApproverWord(approve=True, digest=view.row.digest),
                PRINCIPAL,
            )
    await house.until("all are asked", lambda: waiting(house) == before + SEATS + 6)


async def in_verbs(house: House) -> None:
    """Runs inside a verb of each kind, of planner, verb, turn and supervisor; one of which was told
    to stop; and one that waits to try again.
    """
    before = Hanging.hung
    await use(house, "page_read", text="hang: read")
    await use(house, "entry_book", text="hang: booked")
    await use(house, "entry_book", text="hang unsent: booked")
    await use(house, "entry_add", text="hang: added")
    await use(house, "note_later", text="noted later")
    await plan(house, "put a note", "note_put")
    await house.send("please hang it down", "writes", allowed_verbs=["entry_add"], **AGENT)
    await house.send(
        "please hang it up", "stopped", id="stopped-1", allowed_verbs=["entry_add"], **AGENT
    )
    await house.until("all hang", lambda: Hanging.hung == before + 7)
    await house.send("stop", "stopped", reply_to="stopped-1")
    # at last: who asks that profile rests from then on
    await plan(house, "come back later", "math.evaluate")


async def last_words(house: House) -> None:
    """A question after progress that is accepted and not yet looked at, when the process dies."""
    still = "SELECT count(*) FROM runs WHERE status IN ('ready', 'running')"
    await house.until(
        "waits are durable",
        lambda: house.query("SELECT count(*) FROM runs WHERE wake_at IS NOT NULL")[0][0] >= 2,
    )
    await house.until(
        "what works is in a call", lambda: house.query(still)[0][0] == waiting(house) + Hanging.hung
    )
    await house.send("any luck?", "status")
    os.kill(os.getpid(), signal.SIGKILL)


def waiting(house: House) -> int:
    """How many model calls are open."""
    assert isinstance(house.puppet, Patient)
    return len(house.puppet.waiting) + len(house.puppet.held)


def queued(house: House) -> int:
    """How many turns wait behind another."""
    return int(house.query("SELECT count(*) FROM runs WHERE status = 'queued'")[0][0])


async def plan(house: House, goal: str, *tools: str) -> str:
    """Have a planning request accepted; gives its run."""
    asked = request(*tools) | {
        "goal": {"type": "analysis", "description": goal},
        "request_id": None,
    }
    asked["limits"] = {"timeout_seconds": 600}
    return (await house.ordain.runtime.accept(PlannerRequest.model_validate(asked), PRINCIPAL)).run


async def use(house: House, verb_id: str, **payload: Any) -> str:
    """Have a verb request accepted; gives its run."""
    return (
        await house.ordain.runtime.accept(
            VerbRequest(verb_id=verb_id, payload=payload, caller="python"), PRINCIPAL
        )
    ).run


async def boot(home: Path, ledger: Ledger, number: int) -> None:
    """One process: the first ones die in the same verb of one turn, the last does everything
    else.
    """
    async with folder_house(home, ledger, Patient()) as house:
        if number == 1:
            await house.send("hang: noted thrice", "poison", verb="note_put")
        if number <= QUARANTINE:
            await house.until("it hangs", lambda: Hanging.hung)
            os.kill(os.getpid(), signal.SIGKILL)
        await house.until(
            "it is quarantined",
            lambda: house.query("SELECT id FROM runs WHERE status = 'quarantined'"),
        )
        for part in (
            settled,
            shown,
            asking,
            at_models,
            at_approvals,
            in_company,
            in_verbs,
            last_words,
        ):
            await part(house)


def play(home: Path, port: int) -> None:
    """Process after process, each in a fork of its own."""
    home.mkdir(parents=True)
    write_templates(home, LEDGER)
    for number in range(1, QUARANTINE + 2):
        child = os.fork()
        if not child:
            try:
                asyncio.run(boot(home, Hanging(port, CASE, number), number))
            except BaseException:  # a forked process must not unwind into its parent's frames
                traceback.print_exc()
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"process {number} ended with {status}"
        assert os.WTERMSIG(status) == signal.SIGKILL


def states(home: Path) -> tuple[int, tuple[KeptRun, ...], tuple[Answer, ...]]:
    """When the last record was written, the runs as they stood, and the open questions with what is
    to be said to each.
    """
    with closing(journal_of(sqlite3.connect(home / "ordain.db"))) as db:
        ((at,),) = db.execute("SELECT max(at) FROM journal").fetchall()
        rows = db.execute(
            "SELECT r.no, r.id, r.flow || '@' || r.flow_version, coalesce(r.session, ''), "
            "coalesce(p.id, ''), r.status"
            " FROM runs r LEFT JOIN runs p ON p.no = r.parent ORDER BY r.no"
        ).fetchall()
        runs = tuple(
            KeptRun(
                id=run,
                flow=flow,
                session=session,
                parent=parent,
                status=status,
                doing=_doing(db, no),
            )
            for no, run, flow, session, parent, status in rows
        )
        asked = db.execute(
            "SELECT s.id, t.asked FROM threads t JOIN sessions s ON s.no = t.session WHERE "
            "t.asked IS NOT NULL"
        ).fetchall()
    answers = [
        Answer(
            session=session,
            question=one["message_id"],
            expects=one["expects"],
            text=SAID[one["expects"]],
        )
        for session, asks in asked
        for one in [json.loads(asks)]
    ]
    return at, runs, tuple(sorted(answers, key=lambda answer: answer.session))


def _doing(db: sqlite3.Connection, run: int) -> str:
    """The effect that was announced and has no end yet: what it is, and of what kind or by what
    name.
    """
    found = db.execute(
        "SELECT r.kind, coalesce(r.body, p.bytes) FROM journal r LEFT JOIN payloads p ON p.id = "
        "r.payload"
        " WHERE r.run = ? AND r.kind IN ('intent', 'observation', 'ended') ORDER BY r.seq DESC "
        "LIMIT 1",
        (run,),
    ).fetchall()
    if not found or found[0][0] != "intent":
        return ""
    effect = json.loads(found[0][1])["effect"]
    names = (
        effect.get("purpose"),
        effect.get("what"),
        effect.get("authorized", {}).get("call", {}).get("verb"),
    )
    return " ".join(filter(None, (effect["effect"], *names)))


def main() -> None:
    """Play, pack, and write down what is in it and what the same build makes of it."""
    folder, name = Path(sys.argv[1]), sys.argv[2]
    file = folder / f"{name}.tar.xz"
    with tempfile.TemporaryDirectory() as place, ledger_process() as port:
        play(Path(place) / "home", port)
        pack(Path(place) / "home", file)
        world = tuple(
            Call(call["verb"], call["text"], call["key"], call["applied"])
            for call in Ledger(port, CASE).calls()
        )
        at, runs, answers = states(unpack(file, Path(place) / "read"))
        kept = Kept(at=at, runs=runs, answers=answers, world=world)
        for case in (SOON, LATE):
            ends, calls = asyncio.run(
                go_on(unpack(file, Path(place) / case), kept, Ledger(port, case), case)
            )
            kept = structs.replace(
                kept,
                runs=tuple(
                    structs.replace(run, ends=run.ends | {case: ends[run.id]}) for run in kept.runs
                ),
                calls=kept.calls | {case: calls},
            )
    write_statement(folder / f"{name}.json", kept)


if __name__ == "__main__":
    main()
