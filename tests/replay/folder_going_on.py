"""Going on with a kept data folder: what its people do once a process runs over it again, and what
comes of its runs.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from ordain.journal.records import SETTLED, Status
from ordain.runtime.approvals import ApproverWord
from tests.at_once import at_once
from tests.replay.folder_file import LATE, SOON, Call, End, Kept
from tests.replay.folder_house import LATER_S, folder_house
from tests.shapes.ledger import Ledger
from tests.shapes.session_laws import broken_at_rest, broken_now, rows_of
from tests.shapes.talk import PRINCIPAL, WORKSPACE, House

AFTER_S = {SOON: 1, LATE: 400 * 86_400}
"""How long after its process died a folder is opened, by case."""
OPERATOR = "ada"
UNSETTLED = [str(status) for status in Status if status not in SETTLED]
MANY = 1000


async def go_on(
    home: Path, kept: Kept, ledger: Ledger, case: str
) -> tuple[dict[str, End], tuple[Call, ...]]:
    """Open the folder, let everything come to its end, and give the ends of its runs and the calls
    that reached the ledger meanwhile.

    What was quarantined is resumed. Soon, the questions are answered and what waits for a yes gets
    it; late, nobody says anything.
    """
    _set_clock(home, kept.at + AFTER_S[case] * 1_000_000)
    seen = _seed(ledger, kept.world)
    async with folder_house(home, ledger) as house:
        await house.quiet()
        if case == SOON:
            for answer in kept.answers:
                told = await house.say(answer.text, answer.session, reply_to=answer.question)
                assert told.attached == "answer_to_pending", (answer, told)
            desk = house.ordain.runtime.approvals
            for view in await desk.listed(WORKSPACE):
                await desk.decide(
                    WORKSPACE,
                    view.row.id,
                    ApproverWord(approve=True, digest=view.row.digest),
                    PRINCIPAL,
                )
        house.puppet.let_go()
        await _take_up_stopped(house)
        await house.quiet()
        await house.pass_time(LATER_S * 2)
        await house.until("everything has settled", lambda: not unsettled(house))
        await house.quiet()
        assert (
            broken_now(rows_of(house.ordain), max_active=house.settings.policy.session.max_active)
            == []
        )
        assert broken_at_rest(house.ordain) == []
        if case == SOON:
            # money was carved out of the accounts and none was spent; late, the accounts of that
            # day are gone
            assert house.query("SELECT name FROM accounts WHERE usd_micros <> 0") == []
        ends = {run.id: _end(house, run.id) for run in kept.runs}
    calls = ledger.calls()[seen:]
    return ends, tuple(
        sorted(Call(call["verb"], call["text"], call["key"], call["applied"]) for call in calls)
    )


def unsettled(house: House) -> list[str]:
    """The runs that have not come to an end."""
    return [
        run
        for run, status in house.query("SELECT id, status FROM runs ORDER BY no DESC")
        if status in UNSETTLED
    ]


def _set_clock(home: Path, now: int) -> None:
    """The time at which the house over this folder opens. It sets its clock once it is open: by the
    machine's own clock nothing was lost until then.
    """
    machine = time.time_ns() // 1000
    (home / "clock").write_text(str(now - machine))
    with closing(sqlite3.connect(home / "ordain.db")) as db, db:
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'beats'").fetchone():
            db.execute("UPDATE beats SET at = ?", (machine,))


def _seed(ledger: Ledger, world: Sequence[Call]) -> int:
    """Make the ledger what it was when the process died; gives how many calls that are."""
    ledger.boot = 1
    ledger.prepare()
    for call in world:
        ledger.write(call.verb, call.text, call.key)
    ledger.boot = 2
    return len(world)


async def _take_up_stopped(house: House) -> None:
    """An operator's word for what has stopped."""
    runtime = house.ordain.runtime
    for row in await runtime.runs(statuses=["quarantined"], roots_only=False):
        await runtime.operators.resume(row.id, by=OPERATOR)
        await asyncio.wait_for(runtime.wait(row.id), 20)


def _end(house: House, run: str) -> End:
    view = at_once(house.ordain.runtime.view(run))
    return End(
        str(view.stored.status), view.stored.reason, len(house.ordain.runtime.unknown_effects(view))
    )
