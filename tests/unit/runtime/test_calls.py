"""The live side of a verb call: one attempt under what holds now, and after a crash what is safe
and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from ordain.contracts.catalog import Catalog
from ordain.contracts.floor import raised
from ordain.contracts.pinned import SafetyMode
from ordain.contracts.verbs import Trust, VerbEffect, VerbSpec
from ordain.effects.calls import Authorized, Call
from ordain.effects.effect import VerbCall
from ordain.effects.results import (
    VerbFailed,
    VerbReturned,
    VerbTimedOut,
    VerbUnknown,
    VerbWithdrawn,
)
from ordain.ports.configuration import ConfigKey, ConfigRecord
from ordain.ports.verb import AnyLeafResult, LeafCall, LeafFailed, LeafReturned, LeafTimedOut
from ordain.rules.profile import HeldProfile, NoProfile
from ordain.rules.recover import FoundOut, RecoverFacts, RecoverOutcome, decide_recover, safety_of
from ordain.runtime.calls import (
    NOT_STARTED,
    OnBehalf,
    call_verb,
    result_of,
    too_late,
    withdrawn,
)
from ordain.runtime.doubted_calls import DIED
from ordain.runtime.recovered_calls import VOID, recover_verb
from ordain.runtime.services import Catalogs, Counters
from ordain.testing import catalog_of
from tests.unit.runtime.test_streams import RUN

SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
ANY = {"type": "object"}
NOW = 1_000_000
BY = OnBehalf(key="the key", run=RUN, principal="token:ci")
EFFECTS = [VerbEffect.READ, VerbEffect.EGRESS, VerbEffect.PRIVATE]


def spec(name: str = "shelf.do", effect: VerbEffect = VerbEffect.READ, **more: Any) -> VerbSpec:
    given = {
        "name": name,
        "description": "Do it.",
        "effect": effect,
        "input_schema": SCHEMA,
        "output_schema": SCHEMA,
        **more,
    }
    if effect is not VerbEffect.READ:
        given = {"arguments": {"text": {"role": "content"}}, **given}
    return VerbSpec.model_validate(given, strict=False)


def reconciled(*, voids: bool = True, **more: Any) -> list[VerbSpec]:
    """A verb that can be asked after, and what asks."""
    asks = spec(
        "shelf.asked",
        input_schema={"type": "object", "properties": {"attempt": {}}} if voids else ANY,
        output_schema=ANY,
    )
    return [
        spec(
            effect=VerbEffect.PRIVATE,
            reconcile={"verb": "shelf.asked", "voids": True} if voids else "shelf.asked",
            **more,
        ),
        asks,
    ]


@dataclass
class Leaf:
    """Implements ``VerbPort``: gives what it is told for each verb, and keeps what it was asked."""

    gives: dict[str, AnyLeafResult]
    calls: list[LeafCall] = field(default_factory=list)

    async def run(self, call: LeafCall) -> AnyLeafResult:
        self.calls.append(call)
        return self.gives[call.spec.name]

    def implements(self, verb_id: str) -> bool:
        return verb_id in self.gives

    async def close(self) -> None:
        return


class NothingPinned:
    """Implements what is read of ``Configuration``: there is no record."""

    async def current(self, keys: Sequence[ConfigKey]) -> Sequence[ConfigRecord]:
        return ()


def services(pinned: Catalog, leaf: Leaf, current: Catalog | None = None) -> Any:
    catalogs, clock = Catalogs(current or pinned, lambda _: None), SimpleNamespace(now=lambda: NOW)
    return SimpleNamespace(
        catalogs=catalogs,
        verbs=leaf,
        clock=clock,
        counters=Counters(),
        configuration=NothingPinned(),
    )


def verb_call(deadline: int = 2 * NOW, attempt: int = 1) -> VerbCall:
    call = Call(verb="shelf.do", args={"text": "x"})
    return VerbCall(
        authorized=Authorized(call=call, decision="0/authorize#0"),
        deadline=deadline,
        attempt=attempt,
    )


GOOD = LeafReturned(output={"text": "done"})


# --- what an attempt came to ----------------------------------------------------------------------


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("happened", [True, False, None])
def test_a_lost_effect_is_not_guessed(effect: VerbEffect, happened: bool | None) -> None:
    """A failure of which nobody knows whether it took effect is unknown; what changes nothing, a read
    or egress, leaves no doubt. A time-out likewise.
    """
    verb = catalog_of(verbs=[spec(effect=effect)]).verbs["shelf.do"]
    failed = result_of(
        verb,
        LeafFailed(code="broken", message="m", retryable=True, retry_after_ms=7, happened=happened),
    )
    harmless = effect in {VerbEffect.READ, VerbEffect.EGRESS}
    if not harmless and happened is None:
        assert failed == VerbUnknown(message="broken: m")
    else:
        assert failed == VerbFailed(code="broken", message="m", retryable=True, retry_after_ms=7)
    assert isinstance(result_of(verb, LeafTimedOut()), VerbTimedOut if harmless else VerbUnknown)
    # it never went out
    assert isinstance(too_late(verb), VerbTimedOut if harmless else VerbFailed)


@pytest.mark.parametrize("effect", EFFECTS)
def test_an_output_that_does_not_fit_is_a_failure_only_of_what_changes_nothing(
    effect: VerbEffect,
) -> None:
    """The verb ran: the message says so, and no value of the output. What it may have changed stays
    in doubt: told as failed, it would be proposed anew and happen twice.
    """
    found = result_of(
        catalog_of(verbs=[spec(effect=effect)]).verbs["shelf.do"],
        LeafReturned(output={"text": 31337}),
    )
    if effect is VerbEffect.PRIVATE:
        assert isinstance(found, VerbUnknown)
    else:
        assert isinstance(found, VerbFailed)
        assert found.code == "bad_output"
    assert ("the verb ran" in found.message, "31337" in found.message) == (True, False)


@given(st.sampled_from(list(Trust)), st.none() | st.sampled_from(list(Trust)))
def test_trust_is_only_lowered(declared: Trust, lowered: Trust | None) -> None:
    """What a verb says of its own output counts where it is less than what its declaration says."""
    verb = catalog_of(verbs=[spec(output={"text": {"trust": str(declared)}})]).verbs["shelf.do"]
    given_back = LeafReturned(
        output={"text": "x"},
        trust={} if lowered is None else {"text": lowered, "other": Trust.SYSTEM},
    )
    found = result_of(verb, given_back)
    assert isinstance(found, VerbReturned)
    assert set(found.trust) <= {"text"}
    least = max(declared, lowered or declared, key=list(Trust).index)
    assert found.trust.get("text", Trust.FOREIGN) is least


# --- what holds now -------------------------------------------------------------------------------


def other_request(path: str) -> VerbSpec:
    return spec(
        effect=VerbEffect.READ,
        http={
            "method": "GET",
            "url": f"https://example.test/{path}",
            "hosts": ["example.test"],
            "private": True,
            "query": {"q": "{text}"},
        },
    )


BELOW = spec(
    effect=VerbEffect.PRIVATE,
    arguments={"text": {"role": "content"}},
    http={"method": "PUT", "url": "https://example.test/items", "hosts": ["example.test"]},
)
"""As builds stored it that knew no floor."""


@pytest.mark.parametrize(
    ("pinned", "current", "says"),
    [
        (spec(), spec(description="Do it otherwise."), None),
        (spec(), None, "unknown"),
        (spec(), spec(effect=VerbEffect.PRIVATE), "has effect private"),
        (BELOW, raised(BELOW), "has effect send"),
        (
            spec(),
            spec(
                input_schema={
                    **SCHEMA,
                    "required": ["text", "why"],
                    "properties": {"text": {}, "why": {}},
                }
            ),
            "invalid",
        ),
        (other_request("a"), other_request("b"), "another request"),
        (other_request("a"), other_request("a"), None),
    ],
)
def test_what_the_current_catalog_does_not_allow_is_withdrawn(
    pinned: VerbSpec, current: VerbSpec | None, says: str | None
) -> None:
    """A verb that is gone, is something else now, or does not take these arguments any more; other
    words of it change nothing.
    """
    before = catalog_of(verbs=[pinned])
    now = catalog_of(
        verbs=[] if current is None else [current], policy={"limits": {"timeout_seconds": 61}}
    )
    why = withdrawn(
        services(before, Leaf({}), now), before, Call(verb="shelf.do", args={"text": "x"})
    )
    assert (why is None) == (says is None)
    assert why is None or (says or "") in why or "authorize." in why


@pytest.mark.parametrize(
    ("more", "unconfirmed"),
    [
        ({"description": "Do it otherwise."}, []),
        ({"arguments": {"text": {"role": "recipient"}}}, []),
        ({}, ["shelf.do"]),
    ],
)
def test_a_yes_to_what_is_declared_otherwise_now_is_withdrawn(
    more: dict[str, Any], unconfirmed: list[str]
) -> None:
    """An approver was shown the words and roles, and no mark: other ones, or code that nobody has
    confirmed since, were not said yes to.
    """
    declared: dict[str, Any] = {
        "effect": VerbEffect.PRIVATE,
        "arguments": {"text": {"role": "content"}},
    }
    before = catalog_of(verbs=[spec(**declared)])
    now = catalog_of(verbs=[spec(**(declared | more))]).changed(unconfirmed=unconfirmed)
    call = Call(verb="shelf.do", args={"text": "x"})
    assert withdrawn(services(before, Leaf({}), now), before, call, approved=True) is not None
    assert withdrawn(services(before, Leaf({}), now), before, call) is None


@pytest.mark.parametrize(
    ("pinned", "current", "void"),
    [("a", "b", True), ("a", "", True), ("a", "a", False), ("", "b", False), ("", "", False)],
    ids=["other code", "no code of its own", "the same", "a catalog of before", "neither"],
)
def test_a_yes_to_a_verb_that_is_made_of_something_else_now_is_withdrawn(
    pinned: str, current: str, void: bool
) -> None:
    """Also where nobody had confirmed the one nor has the other; what a catalog of a build before
    says nothing of does not count.
    """

    def made_of(code: str) -> Catalog:
        declarations = {"shelf.do": code * 64} if code else {}
        base = catalog_of(
            verbs=[spec(effect=VerbEffect.PRIVATE, arguments={"text": {"role": "content"}})]
        )
        return base.changed(declarations=declarations, unconfirmed=["shelf.do"])

    before, now = made_of(pinned), made_of(current).changed(node="another")
    call = Call(verb="shelf.do", args={"text": "x"})
    why = withdrawn(services(before, Leaf({}), now), before, call, approved=True)
    assert (why is not None and "was changed" in why) is void
    assert withdrawn(services(before, Leaf({}), now), before, call) is None


def test_a_verb_that_was_switched_off_is_withdrawn_and_one_that_was_switched_on_is_not_allowed_by_it() -> (
    None
):
    """Narrowing is at once; under the pinned catalog itself nothing is asked."""
    on = catalog_of(verbs=[spec()])
    off = catalog_of(verbs=[spec()], policy={"verbs": {"default": {"deny": ["shelf.*"]}}})
    call = Call(verb="shelf.do", args={"text": "x"})
    assert withdrawn(services(on, Leaf({}), off), on, call) is not None
    assert withdrawn(services(off, Leaf({}), on), off, call) is None
    assert withdrawn(services(off, Leaf({}), off), off, call) is None


HELD: dict[str, Any] = {"skills": ("*",), "mcp_servers": ("*",), "plugins": ("*",)}


@pytest.mark.parametrize(
    ("effect", "held", "approved", "says"),
    [
        (VerbEffect.PRIVATE, None, False, None),
        (
            VerbEffect.PRIVATE,
            HeldProfile(pin="session", profile="p", version=1, **HELD),
            False,
            None,
        ),
        (
            VerbEffect.PRIVATE,
            HeldProfile(pin="session", mode=SafetyMode.READ_ONLY, **HELD),
            True,
            "authorize.safety",
        ),
        (
            VerbEffect.READ,
            HeldProfile(pin="session", mode=SafetyMode.READ_ONLY, **HELD),
            False,
            None,
        ),
        (
            VerbEffect.PRIVATE,
            HeldProfile(pin="session", mode=SafetyMode.GUARDED, **HELD),
            True,
            None,
        ),
        (
            VerbEffect.PRIVATE,
            HeldProfile(pin="session", mode=SafetyMode.GUARDED, **HELD),
            False,
            "authorize.approval_not_available",
        ),
        (
            VerbEffect.PRIVATE,
            HeldProfile(pin="session", profile="p", version=2, **(HELD | {"skills": ("other.*",)})),
            True,
            "p@2 (session)",
        ),
        (VerbEffect.PRIVATE, NoProfile(pin="session", profile="gone"), True, "gone (session)"),
        (VerbEffect.READ, NoProfile(pin="session", profile="gone"), False, "gone (session)"),
    ],
)
def test_what_the_profile_of_now_does_not_let_happen_is_withdrawn(
    effect: VerbEffect, held: HeldProfile | NoProfile | None, approved: bool, says: str | None
) -> None:
    """Under the very catalog that the run pins too: a profile narrows as a catalog does, with a yes
    or without.
    """
    catalog = catalog_of(verbs=[spec(effect=effect)])
    why = withdrawn(
        services(catalog, Leaf({})),
        catalog,
        Call(verb="shelf.do", args={"text": "x"}),
        held,
        approved=approved,
    )
    assert (why is None) == (says is None)
    assert says is None or says in (why or "")


# --- one attempt ----------------------------------------------------------------------------------


async def attempt(
    specs: list[VerbSpec],
    leaf: Leaf,
    call: VerbCall | None = None,
    current: Catalog | None = None,
    *,
    recover: bool = False,
    lost: int = 1,
    by: OnBehalf = BY,
) -> Any:
    pinned = catalog_of(verbs=specs)
    made = call or verb_call()
    if not recover:
        return await call_verb(services(pinned, leaf, current), pinned, made, by)

    async def decide(found: FoundOut) -> RecoverOutcome:
        facts = RecoverFacts(
            verb=specs[0].name,
            permit="0/authorize#0",
            attempt=made.attempt,
            lost=lost,
            safety=safety_of(specs[0]),
            happened=found.happened,
            stopping=True if found.stopping else UNSET,
        )
        return decide_recover(facts, None, pinned.policy).outcome

    return await recover_verb(services(pinned, leaf, current), pinned, made, by, decide)


async def test_one_attempt_with_what_is_left_of_the_time() -> None:
    """On behalf of the run's workspace and session, under the key of its decision."""
    leaf = Leaf({"shelf.do": GOOD})
    assert await attempt(
        [spec()], leaf, verb_call(deadline=NOW + 250_000, attempt=2)
    ) == VerbReturned(output={"text": "done"})
    (made,) = leaf.calls
    assert (made.key, made.attempt, made.timeout_s, made.args) == (
        "the key",
        2,
        0.25,
        {"text": "x"},
    )
    assert (made.workspace, made.session, made.run, made.principal) == (
        RUN.workspace,
        RUN.session,
        RUN.id,
        "token:ci",
    )


@pytest.mark.parametrize(
    ("why", "result"),
    [("no code", VerbWithdrawn), ("too late", VerbTimedOut), ("gone", VerbWithdrawn)],
    ids=["no code", "too late", "gone"],
)
async def test_what_may_not_go_out_does_not(why: str, result: type[Any]) -> None:
    """No code in this build, no time left, not allowed any more: the verb never hears of it."""
    leaf = Leaf({} if why == "no code" else {"shelf.do": GOOD})
    current = catalog_of() if why == "gone" else None
    assert isinstance(
        await attempt(
            [spec()], leaf, verb_call(deadline=NOW if why == "too late" else 2 * NOW), current
        ),
        result,
    )
    assert leaf.calls == []


# --- after a crash --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "specs",
    [[spec()], [spec(effect=VerbEffect.PRIVATE, idempotent=True)]],
    ids=["read", "idempotent"],
)
async def test_what_is_safe_is_repeated(specs: list[VerbSpec]) -> None:
    """A read, and what is idempotent under the same key, as another attempt."""
    leaf = Leaf({"shelf.do": GOOD})
    assert await attempt(specs, leaf, recover=True) == VerbReturned(output={"text": "done"})
    assert [(one.key, one.attempt) for one in leaf.calls] == [("the key", 2)]


async def test_what_is_not_safe_is_not_repeated() -> None:
    """Nobody knows."""
    leaf = Leaf({"shelf.do": GOOD})
    assert isinstance(
        await attempt([spec(effect=VerbEffect.PRIVATE)], leaf, recover=True), VerbUnknown
    )
    assert leaf.calls == []


@pytest.mark.parametrize("denied", ["no time", "no code", "switched off"])
async def test_a_repetition_that_does_not_go_out_says_nothing_of_the_first(denied: str) -> None:
    """It may have taken effect: that is unknown, and neither failed nor withdrawn."""
    leaf = Leaf({} if denied == "no code" else {"shelf.do": GOOD})
    call = verb_call(deadline=0 if denied == "no time" else 2 * NOW)
    found = await attempt(
        [spec(effect=VerbEffect.PRIVATE, idempotent=True)],
        leaf,
        call,
        catalog_of() if denied == "switched off" else None,
        recover=True,
    )
    assert isinstance(found, VerbUnknown)
    assert "not repeated" in found.message


@pytest.mark.parametrize(
    ("answer", "result", "repeated"),
    [
        (
            LeafReturned(output={"happened": True, "output": {"text": "then"}}),
            VerbReturned(output={"text": "then"}),
            False,
        ),
        (LeafReturned(output={"happened": True, "output": {"text": 3}}), VerbUnknown, False),
        (LeafReturned(output={"happened": True}), VerbUnknown, False),
        (LeafReturned(output={"happened": False}), VerbReturned(output={"text": "done"}), True),
        (LeafReturned(output={"happened": None}), VerbUnknown, False),
        (LeafReturned(output={"happened": "yes"}), VerbUnknown, False),
        (LeafFailed(code="down", message="m"), VerbUnknown, False),
        (LeafTimedOut(), VerbUnknown, False),
    ],
)
async def test_a_verb_that_can_be_asked_after_is(
    answer: AnyLeafResult, result: Any, repeated: bool
) -> None:
    """By key, arguments and attempt: it happened, with that output, or it is void and is called
    again; anything else is unknown.
    """
    leaf = Leaf({"shelf.do": GOOD, "shelf.asked": answer})
    found = await attempt(reconciled(), leaf, recover=True)
    assert found == result if isinstance(result, VerbReturned) else isinstance(found, result)
    assert [one.spec.name for one in leaf.calls] == ["shelf.asked", "shelf.do"][: 1 + repeated]
    assert leaf.calls[0].args == {"key": "the key", "args": {"text": "x"}, "attempt": 1}
    assert [(one.key, one.attempt) for one in leaf.calls] == [("the key", 1), ("the key", 2)][
        : 1 + repeated
    ]


@pytest.mark.parametrize("happened", [False, None])
async def test_what_was_voided_and_is_not_made_again_has_failed(happened: bool | None) -> None:
    """Cut off more often than policy permits: who has fenced the key knows that it did not happen,
    and without a word of his nobody knows.
    """
    asked = LeafReturned(output={"happened": happened})
    leaf = Leaf({"shelf.do": GOOD, "shelf.asked": asked})
    found = await attempt(reconciled(), leaf, recover=True, lost=6)
    assert (
        found == VerbFailed(code="lost", message=VOID)
        if happened is False
        else found == VerbUnknown(message=DIED)
    )
    assert [one.spec.name for one in leaf.calls] == ["shelf.asked"]


@pytest.mark.parametrize("happened", [True, False])
async def test_a_no_that_voids_nothing_leaves_it_unknown(happened: bool) -> None:
    """The call that was cut off may still arrive; that it happened counts all the same. It is told
    no attempt that it does not take.
    """
    leaf = Leaf(
        {
            "shelf.do": GOOD,
            "shelf.asked": LeafReturned(output={"happened": happened, "output": {"text": "then"}}),
        }
    )
    found = await attempt(reconciled(voids=False), leaf, recover=True)
    assert (
        found == VerbReturned(output={"text": "then"})
        if happened
        else isinstance(found, VerbUnknown)
    )
    assert [one.args for one in leaf.calls] == [{"key": "the key", "args": {"text": "x"}}]


async def test_nobody_to_ask_leaves_it_unknown() -> None:
    """This build has no code for the verb that would say."""
    leaf = Leaf({"shelf.do": GOOD})
    assert isinstance(await attempt(reconciled(), leaf, recover=True), VerbUnknown)
    assert leaf.calls == []


async def test_a_call_that_never_went_out_has_a_code_of_its_own() -> None:
    """By which the repetition is told from a failure."""
    found = await attempt(
        [spec(effect=VerbEffect.PRIVATE)], Leaf({"shelf.do": GOOD}), verb_call(deadline=0)
    )
    assert isinstance(found, VerbFailed)
    assert found.code == NOT_STARTED
