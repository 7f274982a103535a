"""What a flow is given of its run: everything it needs, and nothing that it could change."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ordain.contracts.scope import CapabilityScope
from ordain.effects.children import Join, Spawn
from ordain.errors import FlowFault
from ordain.flows.context import FlowContext
from ordain.flows.kinds import Kinds
from ordain.journal.records import Started, raw
from ordain.rules.spend import Spend
from ordain.runtime.flow_port import FlowPort
from ordain.runtime.setup import AccountView, RunSetup
from ordain.testing import ScriptedEffects, Standing, catalog_of, child_cancelled, joined, kind_of

PORT = {"authorize", "children", "claim", "decide", "new_id", "now", "perform"}
CATALOG = catalog_of()


async def _look(context: FlowContext, given: Any) -> Any:
    assert isinstance(context.fx, FlowPort)
    assert isinstance(context.account, AccountView)
    assert {name for name in dir(context.fx) if not name.startswith("__")} == PORT
    for target, name in (
        (context, "scope"),
        (context.fx, "perform"),
        (context.account, "cap"),
        (context.account, "spent"),
    ):
        with pytest.raises(AttributeError):
            setattr(target, name, None)
    with pytest.raises(AttributeError):
        del context.fx.perform
    return [
        list(context.scope.allowed),
        context.hard - context.now(),
        context.child,
        context.session,
        context.keep_thoughts,
    ]


def look(standing: Standing, verbs: tuple[str, ...] = ("a", "b")) -> Any:
    return (
        ScriptedEffects(kind_of(_look, verbs=verbs), CATALOG, standing=standing).play(None).output
    )


def test_a_root_has_what_its_kind_grants() -> None:
    """And what its record says of session, time and thoughts."""
    assert look(Standing(session="s1", keep_thoughts=False)) == [
        ["a", "b"],
        3_600_000_000,
        False,
        "s1",
        False,
    ]


def test_a_child_has_what_its_parent_let_it_have() -> None:
    """Not what a root of its kind would be granted."""
    assert look(Standing(child=True, depth=1, scope=("b",)))[:3] == [["b"], 3_600_000_000, True]


def test_a_record_without_a_grant_is_read_as_of_old() -> None:
    """A child's is its scope, a root's what its kind grants."""
    kind = kind_of(_look, verbs=("a",))
    played = ScriptedEffects(kind, CATALOG).play(None)
    started = msgspec.json.decode(played.stored.records[0].body or b"", type=Started)
    bare = msgspec.structs.replace(started, grant=None, scope=("c",))
    assert RunSetup.of("r", kind, bare, CATALOG, Kinds()).scope == CapabilityScope(allowed=("a",))
    child = msgspec.structs.replace(bare, parent="p")
    assert RunSetup.of("r", kind, child, CATALOG, Kinds()).scope == CapabilityScope(allowed=("c",))


@pytest.mark.parametrize(
    ("standing", "charged", "bound", "owes"),
    [
        (Standing(), True, True, True),
        (Standing(), False, True, False),
        (Standing(), True, False, False),
        (Standing(child=True, depth=1), True, True, False),
    ],
)
def test_shared_accounts_come_first_where_they_bound_a_root(
    standing: Standing, charged: bool, bound: bool, owes: bool
) -> None:
    """Not of a child, whose parent has carved; nor of a kind that is not charged."""

    async def spawn(context: FlowContext, given: Any) -> Any:
        child = Spawn[Any](flow="part", input=raw(None), deadline=context.hard, allowance=Spend())
        await context.fx.children((child,), Join())

    policy = {"budget": {"day_tokens": 100}} if bound else None
    played = ScriptedEffects(
        kind_of(spawn, charged=charged), CATALOG, policy=policy, standing=standing
    ).play(None, lambda asked: joined(child_cancelled()), faults=True)
    assert isinstance(played.fault, FlowFault) == owes


async def _forges_its_account(context: FlowContext, given: Any) -> list[int]:
    account: Any = context.account
    for amount in (account.cap, account.spent, account._copy_of("cap"), account._copy_of("spent")):
        msgspec.structs.force_setattr(amount, "tokens", 77)
    return [context.account.cap.tokens, context.account.spent.tokens]


def test_an_amount_that_a_flow_is_given_is_a_copy() -> None:
    """Whatever it writes into it, by whatever means."""
    cap, spent = (
        ScriptedEffects(kind_of(_forges_its_account), CATALOG, standing=Standing())
        .play(None)
        .output
    )
    assert (cap, spent) == (
        ScriptedEffects(kind_of(_caps), CATALOG, standing=Standing()).play(None).output,
        0,
    )


async def _caps(context: FlowContext, given: Any) -> int:
    return context.account.cap.tokens
