"""The gateway live: hedged calls, circuits that open, delays that all runs keep, cached input;
every one replays equal.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ordain.app import Extras, Ordain
from ordain.contracts.model_policy import ModelErrorCode, OnModelError
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.policy import Lane, Policy
from ordain.contracts.profiles import ModelProfile
from ordain.flows.shipped import shipped_kinds
from ordain.journal.folds import Fold
from ordain.journal.records import Status
from ordain.journal.spending import Spending
from ordain.models.openai import OpenAIModel
from ordain.ports.model import Charge, Heard, ModelError, ModelPort, ModelReply, ModelRequest
from ordain.ports.store import StoredRun
from ordain.rules.breaker import Circuit
from ordain.rules.spend import Spend
from ordain.runtime.breakers import CircuitAdmission
from ordain.runtime.replay import replay
from ordain.settings import load_settings
from tests.e2e.process import nobody
from tests.replay.golden import finish, request
from tests.shapes.house import MovableClock

Behaviour = Callable[[int], ModelReply | ModelError | float]
PRICED = ModelProfile(
    provider="scripted",
    model="m",
    max_tokens=500,
    usd_micros_per_1k_input=1000,
    usd_micros_per_1k_output=2000,
    usd_micros_per_1k_cached=100,
    usd_micros_per_1k_cache_write=1250,
)
SECONDS = 20
ELSEWHERE = PRICED.model_copy(update={"base_url": "http://127.0.0.1:9"})


def answer(**counts: int) -> ModelReply:
    """A finishing directive with these token counts."""
    return ModelReply(
        text=json.dumps(finish("done")),
        model="m",
        **{"input_tokens": 1000, "output_tokens": 100, **counts},
    )


def failing(code: ModelErrorCode, retry_after_ms: int | None = None) -> Behaviour:
    """A model that always fails like this."""
    return lambda _: ModelError(code=code, message="on purpose", retry_after_ms=retry_after_ms)


class Model:
    """A model of known behaviour: for its n-th call an answer, an error, or seconds to be silent
    before it answers.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        """Count the calls."""
        self.behaviour, self.calls, self.abandoned = behaviour, 0, 0
        self.limits: list[int] = []
        self.asked, self.given_up = asyncio.Event(), asyncio.Event()

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort``."""
        self.calls += 1
        self.limits.append(request.max_tokens)
        self.asked.set()
        found = self.behaviour(self.calls)
        if not isinstance(found, float):
            return found
        try:
            await asyncio.sleep(found)
        except asyncio.CancelledError:
            self.abandoned += 1
            self.given_up.set()
            raise
        return answer()

    async def close(self) -> None:
        """Nothing is held."""


class Lingering(Model):
    """A model that is silent, and once it is given up goes on until it is given up again."""

    def __init__(self) -> None:
        """Say when it is given up."""
        super().__init__(lambda _: 3600.0)
        self.given_up = asyncio.Event()

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort``."""
        try:
            return await super().attempt(request, heard)
        except asyncio.CancelledError:
            self.given_up.set()
            await asyncio.sleep(3600)
            raise


class Late(Model):
    """A model that fails, but late."""

    def __init__(self, model: Model) -> None:
        """Fail like ``model``."""
        super().__init__(model.behaviour)

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort``."""
        await asyncio.sleep(0.1)
        return await super().attempt(request, heard)


class Outlasting(Model):
    """A model that answers once the other one was given up."""

    def __init__(self, other: Model) -> None:
        """After ``other``."""
        super().__init__(lambda _: answer())
        self._other = other

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort``."""
        await self._other.given_up.wait()
        return await super().attempt(request, heard)


def house(
    home: Path,
    models: Mapping[str, ModelPort],
    profiles: Mapping[str, ModelProfile] | None = None,
    **tables: Any,
) -> Ordain:
    """An Ordain whose worker lane has these models in this order, with policy's tables changed."""
    shipped = load_settings({}, home)
    tree = shipped.policy.model_dump()
    for name, change in {
        "lanes": {"profiles": {lane: list(models) for lane in Lane}},
        **tables,
    }.items():
        tree[name] |= change
    settings = shipped.model_copy(
        update={
            "policy": Policy.model_validate(tree),
            "profiles": {**dict.fromkeys(models, PRICED), **(profiles or {})},
        }
    )
    return Ordain(settings, extras=Extras(models=models, memory=True))


def on_disk(home: Path, models: Mapping[str, ModelPort], **tables: Any) -> Ordain:
    """The same house over a store that outlives it."""
    made = house(home, models, **tables)
    return Ordain(made.settings, extras=Extras(models=models))


def stored(ordain: Ordain, run: str) -> StoredRun:
    """The run, which replays equal."""
    found = ordain.store.stored(run)
    assert found is not None
    assert replay(found, ordain.catalog, shipped_kinds()).equal
    return found


async def planned(ordain: Ordain, name: str = "r") -> tuple[dict[str, Any], Fold]:
    """One plan that the models only have to finish."""
    told = (await ordain.plan(request(request_id=name))).wire
    found = stored(ordain, told["run_id"])
    return told, Fold(found.id, found.records, shipped_kinds())


HEDGED = {"hedge_ms": {Lane.WORKER: 20}}
PATIENT = {"wait_max_ms": 90_000, "on_error": {ModelErrorCode.CIRCUIT_OPEN: OnModelError.RETRY}}


async def test_a_slow_model_is_overtaken(tmp_path: Path) -> None:
    """The second model answers first: its answer counts, the slow attempt is given up, both stand
    in header and budget.
    """
    slow, quick = Model(lambda _: 30.0), Model(lambda _: answer())
    async with house(tmp_path, {"slow": slow, "quick": quick}, fallback=HEDGED) as ordain:
        told, fold = await planned(ordain)
    assert told["status"] == "ok"
    assert (slow.calls, slow.abandoned, quick.calls) == (1, 1, 1)
    assert "model slow, asked beside · abandoned" in told["header"]
    assert '"quick (scripted: m)"' in told["header"]
    assert fold.spent.model_calls == 2
    # the answer's own price, and the abandoned attempt at its bound
    assert fold.spent.usd_micros > 1000 + 200


async def test_a_quick_model_is_asked_alone(tmp_path: Path) -> None:
    """Where the first model answers in time the second is never asked, and only one call is
    paid.
    """
    quick, other = Model(lambda _: answer()), Model(lambda _: answer())
    async with house(
        tmp_path, {"quick": quick, "other": other}, fallback={"hedge_ms": {Lane.WORKER: 20_000}}
    ) as ordain:
        told, fold = await planned(ordain)
    assert (told["status"], quick.calls, other.calls) == ("ok", 1, 0)
    assert (fold.spent.model_calls, fold.spent.usd_micros) == (1, 1200)


async def test_both_of_a_hedged_call_fail(tmp_path: Path) -> None:
    """Two failures beside each other are two attempts on record; what is tried next is the third
    model.
    """
    first, second, third = (
        Model(failing(ModelErrorCode.QUOTA_EXCEEDED)),
        Model(failing(ModelErrorCode.SERVER_ERROR)),
        Model(lambda _: answer()),
    )
    late = Late(first)
    async with house(
        tmp_path,
        {"late": late, "broken": second, "good": third},
        fallback={**HEDGED, "attempts_per_profile": 1},
    ) as ordain:
        told, fold = await planned(ordain)
    assert (told["status"], late.calls, second.calls, third.calls) == ("ok", 1, 1, 1)
    assert "model late, asked beside · quota_exceeded" in told["header"]
    assert "model broken · server_error" in told["header"]
    assert fold.spent.model_calls == 3


async def test_a_hedge_has_its_own_time(tmp_path: Path) -> None:
    """The first model's time ends while the second still works: its answer counts, as it would had
    it been asked alone.
    """
    slow = Model(lambda _: 30.0)
    later = Outlasting(slow)
    profiles = {
        "slow": PRICED.model_copy(update={"timeout_ms": 1500}),
        "later": PRICED.model_copy(update={"timeout_ms": 60_000}),
    }
    async with house(tmp_path, {"slow": slow, "later": later}, profiles, fallback=HEDGED) as ordain:
        told, _ = await planned(ordain)
    assert (told["status"], slow.calls, later.calls) == ("ok", 1, 1)


async def test_each_of_a_hedged_call_has_its_own_limit(tmp_path: Path) -> None:
    """A second model that may say less takes nothing from the first, and the budget is reserved for
    what each may say.
    """
    first, second = Model(lambda _: 30.0), Model(lambda _: answer())
    short = {"second": PRICED.model_copy(update={"max_tokens": 40})}
    async with house(
        tmp_path, {"first": first, "second": second}, short, fallback=HEDGED
    ) as ordain:
        told, _ = await planned(ordain)
        records = stored(ordain, told["run_id"]).records
    assert (first.limits, second.limits) == ([500], [40])
    (call,) = [
        json.loads(record.body or b"")["effect"]
        for record in records
        if (record.kind, record.name) == ("intent", "model_call")
    ]
    reserved = next(
        json.loads(record.body or b"")["facts"] for record in records if record.name == "reserve"
    )
    assert reserved["tokens"] == 2 * call["bound_tokens"] + 500 + 40


async def test_the_first_of_two_failures_is_judged_first(tmp_path: Path) -> None:
    """A fault that passes is tried again as it would be without a hedge, whatever the second model
    made of the call.
    """
    first = Late(
        Model(
            lambda call: (
                ModelError(code=ModelErrorCode.SERVER_ERROR, message="on purpose")
                if call == 1
                else answer()
            )
        )
    )
    second = Model(failing(ModelErrorCode.REJECTED))
    async with house(
        tmp_path, {"first": first, "second": second}, fallback={**HEDGED, "backoff_ms": 0}
    ) as ordain:
        told, _ = await planned(ordain)
    assert (told["status"], first.calls, second.calls) == ("ok", 2, 1)
    assert "fallback.retry" in told["header"]


async def test_the_second_of_two_failures_is_judged_in_its_turn(tmp_path: Path) -> None:
    """Where the first model's failure passes the call on, the second's own decides: not asked
    again, and no third for what is refused.
    """
    first, second, third = (
        Late(Model(failing(ModelErrorCode.QUOTA_EXCEEDED))),
        Model(failing(ModelErrorCode.REJECTED)),
        Model(lambda _: answer()),
    )
    async with house(
        tmp_path, {"first": first, "second": second, "third": third}, fallback=HEDGED
    ) as ordain:
        told, _ = await planned(ordain)
    assert (told["status"], first.calls, second.calls, third.calls) == ("error", 1, 1, 0)
    assert told["error"]["code"] == "rejected"


CHARGES = [
    (ModelError(code=ModelErrorCode.OVERLOADED, message="m"), 1, False),
    (ModelError(code=ModelErrorCode.SERVER_ERROR, message="m"), 1, True),
    (ModelError(code=ModelErrorCode.ADAPTER_BUG, message="m"), 1, True),
    (ModelError(code=ModelErrorCode.OVERLOADED, message="m", known=Charge.POSSIBLE), 1, True),
    (ModelError(code=ModelErrorCode.MALFORMED, message="m", known=Charge.REFUSED), 1, False),
    (ModelError(code=ModelErrorCode.CONNECTION, message="m", known=Charge.NOTHING_SENT), 0, False),
]


@pytest.mark.parametrize(("error", "calls", "charged"), CHARGES)
@pytest.mark.parametrize("beside", [False, True])
async def test_a_failed_attempt_is_booked_by_what_is_known(
    error: ModelError, calls: int, charged: bool, beside: bool, tmp_path: Path
) -> None:
    """Nothing where nothing was sent, a call where it was refused before work, else its bound;
    beside another attempt as well as alone.
    """
    failed, good = Model(lambda _: error), Model(lambda call: 0.3 if beside else answer())
    models = {"failed": Late(failed) if beside else failed, "good": good}
    alone = 1200
    fallback = {"attempts_per_profile": 1, **(HEDGED if beside else {})}
    async with house(tmp_path, models, fallback=fallback, breaker={"failures": 0}) as ordain:
        told, fold = await planned(ordain)
    assert (told["status"], good.calls, str(error.code) in told["header"]) == ("ok", 1, True)
    assert fold.spent.model_calls == 1 + calls
    assert (fold.spent.usd_micros > alone) is charged
    assert (fold.spent.tokens > 1100) is charged


@pytest.mark.parametrize("beside", [False, True])
async def test_a_failed_attempt_that_told_of_its_use_is_booked_with_it(
    beside: bool, tmp_path: Path
) -> None:
    """A whole answer that is none costs what it says, and stands in the header's tokens; beside
    another attempt as well as alone.
    """
    error = ModelError(
        code=ModelErrorCode.MALFORMED, message="m", input_tokens=500, output_tokens=50
    )
    failed, good = Model(lambda _: error), Model(lambda call: 0.3 if beside else answer())
    models = {"failed": Late(failed) if beside else failed, "good": good}
    on_error = {"on_error": {ModelErrorCode.MALFORMED: OnModelError.NEXT}}
    fallback = {"attempts_per_profile": 1, **on_error, **(HEDGED if beside else {})}
    async with house(tmp_path, models, fallback=fallback, breaker={"failures": 0}) as ordain:
        told, fold = await planned(ordain)
    assert (told["status"], "model failed" in told["header"]) == ("ok", True)
    assert (fold.spent.model_calls, fold.spent.tokens, fold.reserved.tokens) == (2, 1100 + 550, 0)
    assert f"{1000 + 500}+{100 + 50} tokens" in told["header"]


async def test_an_outage_costs_nothing(tmp_path: Path) -> None:
    """An endpoint that refuses connections was sent nothing: no token, no money, no call is booked,
    however often it is tried.
    """
    with nobody() as port:
        down = OpenAIModel(f"http://127.0.0.1:{port}")
        async with house(
            tmp_path, {"down": down}, breaker={"failures": 0}, fallback={"unanswered_max_ms": 300}
        ) as ordain:
            told, fold = await planned(ordain)
    assert told["status"] == "error"
    assert told["header"].count("model down · connection") == 3
    assert "fallback.unanswered" in told["header"]
    assert fold.spent == Spend()


async def overtaken(ordain: Ordain) -> Mapping[str, int]:
    """Six hedged calls, all answered; the circuits that are open after them."""
    async with ordain:
        told = [(await planned(ordain, str(number)))[0]["status"] for number in range(6)]
        assert told == ["ok"] * 6
        return dict(ordain.runtime.services.breakers.open())


async def test_an_endpoint_that_is_always_overtaken_is_left_alone(tmp_path: Path) -> None:
    """A model that hangs until another endpoint has answered fails each time: its circuit opens,
    and the second one serves alone, at once, whatever policy says of an open circuit.
    """
    slow, quick = Model(lambda _: 30.0), Model(lambda _: answer())
    tables = {"breaker": {"failures": 2, "open_s": 60}, "fallback": {**HEDGED, **PATIENT}}
    circuits = await overtaken(
        house(tmp_path, {"slow": slow, "quick": quick}, {"slow": ELSEWHERE}, **tables)
    )
    assert ([one[-7:] for one in circuits], slow.calls, quick.calls) == ([" hedged"], 2, 6)


async def test_a_slow_endpoint_serves_whoever_has_no_other(tmp_path: Path) -> None:
    """What is overtaken again and again may be slow and well: calls that are not hedged go to it as
    ever.
    """
    slow, quick = Model(lambda call: 30.0 if call <= 2 else answer()), Model(lambda _: answer())
    tables = {"breaker": {"failures": 2, "open_s": 60}, "fallback": HEDGED}
    lanes = {
        "profiles": {Lane.LOCAL: ["slow"], Lane.WORKER: ["slow", "quick"], Lane.BRAIN: ["slow"]}
    }
    ordain = house(
        tmp_path, {"slow": slow, "quick": quick}, {"slow": ELSEWHERE}, **{**tables, "lanes": lanes}
    )
    async with ordain:
        for number in range(3):
            await planned(ordain, str(number))
        assert (slow.calls, quick.calls) == (2, 3)
        admitted = ordain.runtime.services.breakers.admit(
            "slow", ELSEWHERE, ordain.runtime.services.clock.now(), ordain.catalog.policy.breaker
        )
        assert not isinstance(admitted, tuple)


async def test_a_model_that_its_neighbour_overtakes_keeps_its_circuit(tmp_path: Path) -> None:
    """Where both models stand at one endpoint, that endpoint has just answered."""
    slow, quick = Model(lambda _: 30.0), Model(lambda _: answer())
    assert not await overtaken(
        house(tmp_path, {"slow": slow, "quick": quick}, breaker={"failures": 1}, fallback=HEDGED)
    )
    assert (slow.calls, quick.calls) == (6, 6)


async def test_an_open_circuit_sends_nothing(tmp_path: Path) -> None:
    """After as many faults as policy names nothing more goes out; the next model serves, and the
    header says why.

    LLM-04: "Provider/profile/model fallback is automatic and policy-driven", FAIL-03: "Model
    failure → policy fallback is attempted before any user-visible failure"
    """
    down, good = Model(failing(ModelErrorCode.OVERLOADED)), Model(lambda _: answer())
    tables = {
        "breaker": {"failures": 2, "window_s": 60, "open_s": 60},
        "fallback": {"backoff_ms": 0, "wait_max_ms": 1},
    }
    async with house(
        tmp_path, {"down": down, "good": good}, {"down": ELSEWHERE}, **tables
    ) as ordain:
        headers = [(await planned(ordain, str(number)))[0]["header"] for number in range(4)]
        assert ordain.runtime.services.breakers.open().keys() == {"scripted http://127.0.0.1:9"}
    assert down.calls == 2
    assert good.calls == 4
    assert "circuit_open" in headers[-1]
    assert all("fallback." in header for header in headers)


async def test_a_circuit_closes_when_probes_answer(tmp_path: Path) -> None:
    """After its time one probe goes out; as many answers as there were faults close the circuit for
    everybody.
    """
    model = Model(
        lambda call: (
            ModelError(code=ModelErrorCode.CONNECTION, message="down") if call <= 2 else answer()
        )
    )
    breaker = {"failures": 2, "window_s": 60, "open_s": 1}
    async with house(
        tmp_path,
        {"only": model},
        breaker=breaker,
        fallback={"attempts_per_profile": 4, "backoff_ms": 0, "wait_max_ms": 0},
    ) as ordain:
        # fails twice, waits out the open circuit, and its probe answers
        told, _ = await planned(ordain)
        assert told["status"] == "ok"
        assert ordain.runtime.services.breakers.open()
        assert (await planned(ordain, "another"))[0]["status"] == "ok"
        assert not ordain.runtime.services.breakers.open()
    assert model.calls == 4


async def test_a_probe_that_is_given_up_twice_is_under_way_no_more(tmp_path: Path) -> None:
    """Two people cancel a run while its probe is closed: the endpoint is asked again, by the next
    hedged call.
    """
    slow, other = Lingering(), Model(lambda _: 3600.0)
    async with house(
        tmp_path,
        {"slow": slow, "other": other},
        {"slow": ELSEWHERE},
        breaker={"failures": 1},
        fallback=HEDGED,
    ) as ordain:
        breakers, clock, runtime = (
            ordain.runtime.services.breakers,
            ordain.runtime.services.clock,
            ordain.runtime,
        )
        breakers._circuits[CircuitAdmission(ELSEWHERE, 0, hedged=True).circuit] = Circuit(
            opened_at=1
        )
        run = (await runtime.accept(PlannerRequest.model_validate(request()), "test")).run
        await slow.asked.wait()
        await runtime.operators.cancel(run, by="one", why="enough")
        await slow.given_up.wait()
        await runtime.operators.cancel(run, by="another", why="enough")
        assert (await runtime.wait(run)).stored.status is Status.CANCELLED
        assert isinstance(
            breakers.admit_first(ELSEWHERE, clock.now(), ordain.catalog.policy.breaker),
            CircuitAdmission,
        )


async def test_a_model_that_gives_up_by_itself_has_failed(tmp_path: Path) -> None:
    """An adapter whose own work was cancelled, by nobody here, has failed: the next model serves,
    and the run comes to its end.
    """

    class Gone(Model):
        async def attempt(
            self, request: ModelRequest, heard: Heard | None = None
        ) -> ModelReply | ModelError:
            self.calls += 1
            raise asyncio.CancelledError

    gone, good = Gone(lambda _: answer()), Model(lambda _: answer())
    async with house(tmp_path, {"gone": gone, "good": good}) as ordain, asyncio.timeout(SECONDS):
        told, fold = await planned(ordain)
    assert (told["status"], gone.calls, good.calls) == ("ok", 1, 1)
    assert "adapter_bug" in told["header"]
    assert not fold.unknown


@pytest.mark.parametrize(
    "gives",
    [
        None,
        ModelReply(text="{}", model="m", input_tokens=1.5, output_tokens=1),  # type: ignore[arg-type]
        ModelReply(text="{}", model="m", input_tokens=True, output_tokens=1),
        ModelReply(text=b"{}", model="m", input_tokens=1, output_tokens=1),  # type: ignore[arg-type]
        ModelError(code="nonsense", message="x"),  # type: ignore[arg-type]
        ModelError(code=ModelErrorCode.RATE_LIMITED, message="x", retry_after_ms="5"),  # type: ignore[arg-type]
    ],
    ids=repr,
)
async def test_an_adapter_that_gives_back_what_is_no_reply_has_failed(
    tmp_path: Path, gives: Any
) -> None:
    """Whatever it gives back is its failure by name: nothing unreadable is recorded, and the next
    model serves.
    """

    class Odd(Model):
        async def attempt(
            self, request: ModelRequest, heard: Heard | None = None
        ) -> ModelReply | ModelError:
            self.calls += 1
            return gives

    odd, good = Odd(lambda _: answer()), Model(lambda _: answer())
    async with house(tmp_path, {"gone": odd, "good": good}) as ordain, asyncio.timeout(SECONDS):
        told, _ = await planned(ordain)
    assert (told["status"], odd.calls, good.calls) == ("ok", 1, 1)
    assert "adapter_bug" in told["header"]


WAITING = "SELECT count(*) FROM runs WHERE status = 'waiting'"


async def until_waiting(ordain: Ordain, runs: int) -> None:
    """Wait until so many runs wait for their time, and none is driven."""
    async with asyncio.timeout(SECONDS):
        while ordain.engine.driving or ordain.store.query(WAITING) != [(runs,)]:  # noqa: ASYNC110 - announced to nobody
            await asyncio.sleep(0.005)


async def test_all_runs_keep_the_delay_that_a_provider_named(tmp_path: Path) -> None:
    """One run is told to come back later: no other run asks before that, and none is told an
    untruth.
    """
    later = ModelError(code=ModelErrorCode.RATE_LIMITED, message="later", retry_after_ms=20_000)
    model = Model(lambda call: later if call == 1 else answer())
    async with house(
        tmp_path,
        {"only": model},
        breaker={"rest_max_s": 60},
        fallback={"backoff_ms": 0, "wait_max_ms": 0},
    ) as ordain:
        clock = MovableClock.within(ordain)
        first = asyncio.ensure_future(planned(ordain, "first"))
        await until_waiting(ordain, 1)
        later_ones = [asyncio.ensure_future(planned(ordain, str(number))) for number in range(5)]
        await until_waiting(ordain, 6)
        assert model.calls == 1
        clock.move(20_000_000)
        ordain.engine._arm()
        (told, _), *others = await asyncio.gather(first, *later_ones)
    assert told["status"] == "ok"
    assert all(other["status"] == "ok" for other, _ in others)
    assert model.calls == 7  # the one that was refused, and one for each of the six runs
    assert all("nothing was sent" in other["header"] for other, _ in others)


async def test_a_clock_that_is_put_right_holds_up_no_rest(tmp_path: Path) -> None:
    """A run waits for a named delay while the clock is set back by an hour: timer, wait and rest
    end as they were to, and the next run meets none of it.
    """
    later = ModelError(code=ModelErrorCode.RATE_LIMITED, message="later", retry_after_ms=1000)
    model = Model(lambda call: later if call == 1 else answer())
    async with (
        house(tmp_path, {"only": model}, breaker={"rest_max_s": 60}) as ordain,
        asyncio.timeout(SECONDS),
    ):
        clock = MovableClock.within(ordain)
        first = asyncio.ensure_future(planned(ordain, "first"))
        await until_waiting(ordain, 1)
        clock.offset = -3_600_000_000
        told, _ = await first
        assert told["status"] == "ok"
        assert (await planned(ordain, "second"))[0]["status"] == "ok"
    assert model.calls == 3


async def test_input_written_into_the_cache_has_its_own_price(tmp_path: Path) -> None:
    """What a provider charges more for, because it filled its cache with it, is booked at that
    price and lies within the reservation.
    """
    model = Model(lambda _: answer(cached_tokens=100, written_tokens=800))
    async with house(tmp_path, {"only": model}) as ordain:
        told, fold = await planned(ordain)
    assert fold.spent.usd_micros == 100 + 10 + 1000 + 200
    assert "overrun" not in told["header"]


async def test_cached_input_has_its_own_price(tmp_path: Path) -> None:
    """Input that the provider read from its cache is booked at its own price, rounded up once."""
    model = Model(lambda _: answer(cached_tokens=900))
    async with house(tmp_path, {"only": model}) as ordain:
        _, fold = await planned(ordain)
    assert fold.spent.usd_micros == 100 + 90 + 200


@pytest.mark.parametrize("code", [ModelErrorCode.REJECTED, ModelErrorCode.FILTERED])
async def test_what_the_input_is_to_blame_for_is_not_tried_elsewhere(
    code: ModelErrorCode, tmp_path: Path
) -> None:
    """An error of the request itself ends the call at once, with its reason in the header.

    B-28: "input-contract errors are not retried on another provider"
    """
    first, second = Model(failing(code)), Model(lambda _: answer())
    async with house(tmp_path, {"first": first, "second": second}) as ordain:
        told, _ = await planned(ordain)
    assert told["status"] == "error"
    assert (first.calls, second.calls) == (1, 0)
    assert str(code) in told["header"]


async def test_each_attempt_shows(tmp_path: Path) -> None:
    """A failed attempt, what followed from it and who answered stand in the header, each with its
    reason.

    B-28: "Automatic, but each attempt carries a reason code and shows in metadata/header", LLM-05:
    "Manual mid-task model hopping is not the default path"
    """
    models = {
        "first": Model(failing(ModelErrorCode.QUOTA_EXCEEDED)),
        "second": Model(lambda _: answer()),
    }
    async with house(tmp_path, models) as ordain:
        told, _ = await planned(ordain)
    for part in ("model first · quota_exceeded", "fallback.next_profile", '"second (scripted: m)"'):
        assert part in told["header"]


def talking(home: Path, policy: dict[str, Any], router: ModelReply | None = None) -> Ordain:
    """An Ordain with a model of its own behind each lane; the one of lane local is the router where
    policy asks one.
    """
    said = ModelReply(
        text=json.dumps({"content": "Hello."}), model="m", input_tokens=10, output_tokens=10
    )
    models = {
        "small": Model(lambda _: router or said),
        "middle": Model(lambda _: said),
        "large": Model(lambda _: said),
    }
    lanes = {"profiles": {Lane.LOCAL: ["small"], Lane.WORKER: ["middle"], Lane.BRAIN: ["large"]}}
    return house(home, models, lanes=lanes, **policy)


async def header_of(ordain: Ordain, **hints: Any) -> str:
    """The header of one chat turn's answer."""
    told = await ordain.chat("Say hello.", session="s", **hints)
    assert told.reply is not None
    assert told.reply.ok
    return told.reply.header


async def test_a_turn_is_escalated(tmp_path: Path) -> None:
    """An ordinary turn is served by lane worker; a large one, and one whose path a router model
    left open, by brain, and the header says so.

    LLM-03: "Interactive coding, synthesis, ambiguous tasks escalate to `worker` or `brain`",
    RTE-01: "Policy resolves a model lane per turn"
    """
    async with talking(tmp_path / "one", {}) as ordain:
        plain, large = await header_of(ordain), await header_of(ordain, budget_class="large")
    assert '"middle (scripted: m)"' in plain
    assert "escalated" not in plain
    assert '"large (scripted: m)"' in large
    assert "lane: brain · lane.escalated" in large
    unsure = {"path": "direct", "confidence": 0.1, "budget_class": "standard"}
    router = ModelReply(text=json.dumps(unsure), model="m", input_tokens=10, output_tokens=10)
    async with talking(tmp_path / "two", {"router": {"ask": Lane.LOCAL}}, router) as ordain:
        assert "lane: brain · lane.escalated" in await header_of(ordain)


async def test_a_hedged_call_needs_room_for_both(tmp_path: Path) -> None:
    """With one model call left no second model is asked: the bound of model calls is hard."""
    slow, quick = Model(lambda _: 0.2), Model(lambda _: answer())
    async with house(
        tmp_path, {"slow": slow, "quick": quick}, fallback=HEDGED, budget={"run_model_calls": 1}
    ) as ordain:
        told, fold = await planned(ordain)
    assert told["status"] == "ok"
    assert (slow.calls, quick.calls, fold.spent.model_calls) == (1, 0, 1)


@pytest.mark.parametrize(
    "counts",
    [
        {"input_tokens": 2**52},
        {"output_tokens": 2**52},
        {"input_tokens": 2**52, "output_tokens": 2**52},
    ],
)
async def test_no_count_of_a_providers_empties_an_account(
    tmp_path: Path, counts: dict[str, int]
) -> None:
    """A count that no honest answer comes to is not believed: bytes are counted, which the header
    says, and the next run has its budget.
    """
    async with house(tmp_path, {"liar": Model(lambda _: answer(**counts))}) as ordain:
        told, fold = await planned(ordain)
        assert fold.spent.tokens < 100_000
        assert "(estimated)" in told["header"]
        assert (await planned(ordain, "next"))[0]["status"] == "ok"


async def test_a_hedged_call_that_was_cut_off_hides_nobody(tmp_path: Path) -> None:
    """A process that ends during a hedged call leaves it lost: header and costs name both models,
    and both are paid for.
    """
    first, second = Model(lambda _: 30.0), Model(lambda _: 30.0)
    cut = await on_disk(tmp_path, {"first": first, "second": second}, fallback=HEDGED).start()
    accepted = await cut.runtime.accept(
        PlannerRequest.model_validate_json(json.dumps(request(request_id="r"))), "test"
    )
    await asyncio.wait_for(second.asked.wait(), SECONDS)
    await cut.stop()
    quick = Model(lambda _: answer())
    async with on_disk(tmp_path, {"first": quick, "second": quick}, fallback=HEDGED) as ordain:
        view = await asyncio.wait_for(ordain.runtime.wait(accepted.run), SECONDS)
        assert "model first · lost" in view.header
        assert "model second, perhaps asked beside · lost" in view.header
        found = stored(ordain, accepted.run)
        attempts = Spending(found.records).attempts
        assert [(one.profile, one.code) for one in attempts] == [
            ("first", "lost"),
            ("second", "lost"),
            ("first", ""),
        ]
        fold = Fold(found.id, found.records, shipped_kinds())
        assert fold.spent.tokens > sum(one.tokens for one in attempts[2:])
