"""Approvals of steps of several tiers: policy's row about each call holds, whatever stands beside
it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordain.errors import Refused
from ordain.runtime.approvals import ApprovalView
from tests.integration.conversation.test_workflows import Office, office, said
from tests.shapes.talk import PRINCIPAL
from tests.shapes.workflows import step, template

MIXED = {"mixed": template("mixed", [step("note_down"), step("send_out"), step("pay_out")])}
ROLES = {"boss": ["local:boss", "local:both"], "office": ["local:clerk", "local:both"]}
PAYS: dict[str, Any] = {"tier": "destructive", "role": "boss", "expires_s": 600}
SENDS: dict[str, Any] = {"tier": "write", "role": "office", "expires_s": 60}


async def waiting(house: Office) -> ApprovalView:
    return (await house.proposed("do it", "mixed", text="ben"))[1]


async def test_a_graver_step_makes_nobody_an_approver_of_a_milder_one(tmp_path: Path) -> None:
    """Where policy wants another's yes to what is sent, a payment beside it changes nothing of
    that.

    RTE-09 "Code enforces state transitions and workflow lifecycle incl. approvals."
    """
    rules = [{"tier": "write", "not_requester": True}]
    async with office(tmp_path, templates=MIXED, policy={"approvals": {"rules": rules}}) as house:
        view = await waiting(house)
        with pytest.raises(Refused) as refused:
            await house.decide(view, by=PRINCIPAL)
        assert (refused.value.code, house.desk.did) == ("own_request", [])
        await house.decide(view)
        await house.quiet()
        assert [name for name, _ in house.desk.did] == ["note_down", "send_out", "pay_out"]


@pytest.mark.parametrize(
    "rules",
    [
        [PAYS, SENDS],
        [SENDS, PAYS],
        [PAYS, {**SENDS, "tier": None, "verb": "send_*"}],
        [{**PAYS, "tier": None, "verb": "pay_*"}, {**SENDS, "tier": None, "verb": "send_*"}],
    ],
)
async def test_whoever_approves_all_of_it_may_approve_each_of_it(
    tmp_path: Path, rules: list[dict[str, Any]]
) -> None:
    """In whatever order the rows stand: one who may approve a part alone is refused, and it is open
    as long as the shortest row leaves it.
    """
    given = [{name: value for name, value in rule.items() if value is not None} for rule in rules]
    async with office(
        tmp_path, templates=MIXED, policy={"approvals": {"rules": given, "roles": ROLES}}
    ) as house:
        view = await waiting(house)
        assert {rule.role for rule in view.needs} >= {"boss", "office"}
        assert view.row.expires_at - view.row.asked_at < 100_000_000
        for by in ("local:boss", "local:clerk"):
            with pytest.raises(Refused) as refused:
                await house.decide(view, by=by)
            assert refused.value.code == "not_an_approver"
        await house.decide(view, by="local:both")
        await house.quiet()
        assert [name for name, _ in house.desk.did] == ["note_down", "send_out", "pay_out"]


async def test_a_step_that_needs_nobodys_yes_asks_for_no_role_of_its_own(tmp_path: Path) -> None:
    """What is private runs by itself: a row about calls of its verb that need a yes is none about
    this one.
    """
    rules = [{"tier": "write", "verb": "note_*", "role": "office"}, {**PAYS, "verb": "pay_*"}]
    templates = {"mixed": template("mixed", [step("note_down"), step("pay_out")])}
    async with office(
        tmp_path, templates=templates, policy={"approvals": {"rules": rules, "roles": ROLES}}
    ) as house:
        sent, view = await house.proposed("do it", "mixed", text="ben")
        await house.decide(view, by="local:boss")
        assert said(await house.told(sent))
        assert [name for name, _ in house.desk.did] == ["note_down", "pay_out"]
