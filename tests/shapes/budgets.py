"""A house in memory whose trees of runs spend: handoffs, a council's seats, a plan's steps. Beside
it a purse that knows only the raw records.

Everything is real (flows, rules, journal, joins, mail, writer) but the models and the clock. What
models were really asked is written down outside of the house, by the run that was driven then, and
the process can die at any commit and within any call.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, cast

import msgspec

from ordain import VerbError, verb
from ordain.contracts.cards import AgentCard
from ordain.contracts.catalog import Catalog
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.scope import CapabilityScope
from ordain.contracts.verbs import ArgumentRole, Retry
from ordain.flows.accounts import open_account
from ordain.flows.carried import VerbPlanInput, VerbPlanOutput
from ordain.flows.context import FlowContext
from ordain.flows.council.kind import COUNCIL_KIND
from ordain.flows.kind import Kind
from ordain.flows.planner.kind import PLANNER
from ordain.flows.roster.flow import run_roster
from ordain.flows.roster.kind import ROSTER
from ordain.flows.shipped import SHIPPED
from ordain.journal.codec import decode
from ordain.journal.records import (
    ChildEndedBody,
    ClaimBody,
    DecisionBody,
    IntentBody,
    Record,
    RecordKind,
    Started,
)
from ordain.ports.effects import Interrupted
from ordain.ports.model import Charge, Heard, ModelError, ModelReply, ModelRequest
from ordain.ports.store import JournalStore, StoredRun
from ordain.rules.spend import Spend
from ordain.runtime.drive import Drive, Driven
from ordain.testing import with_policy
from ordain.verbs.functions import FunctionVerb
from tests.shapes.cards import given
from tests.shapes.handoffs import SPREAD, Spread, SpreadEnd, run_spread
from tests.unit.flows.house import shipped
from tests.unit.runtime.house import House

ALLOWED = {
    "clerk": ["note_*"],
    "boss": ["agent.clerk", "agent.general_agent", "note_*"],
    "general_agent": ["note_down"],
}
CARDS: Mapping[str, AgentCard] = {
    name: AgentCard(name=name, description=f"The {name}.", domain=f"of.{name}", allow=allow)
    for name, allow in ALLOWED.items()
}
AGENTS = tuple(f"agent.{name}" for name in CARDS)
POLICY: dict[str, dict[str, Any]] = {
    "profile": {
        "allowed_handoff_targets": list(CARDS),
        "allowed_handoff_modes": ["direct", "delegate", "fanout-fanin"],
        "max_fanout_agents": 8,
    },
    "approvals": {"delegation": "never"},
    "fallback": {"backoff_ms": 0},
    "verbs": {"retry_wait_ms": 0},
}
PRICED = ModelProfile(
    provider="scripted",
    model="scripted",
    max_tokens=300,
    usd_micros_per_1k_input=1_000,
    usd_micros_per_1k_output=3_000,
)
SHORT = "budget_exceeded"


async def _roster(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """A plan's run as a root of its own, which takes its bound out of the shared accounts as every
    root does.
    """
    try:
        if await open_account(context, "roster") is not None:
            return VerbPlanOutput(ok=False, error=SHORT)
    except Interrupted:
        return VerbPlanOutput(ok=False, error="cancelled")
    return await run_roster(context, call)


async def _spread(context: FlowContext, wanted: Spread) -> SpreadEnd:
    """The same of several who are handed work at once."""
    try:
        if await open_account(context, "spread") is not None:
            return SpreadEnd(came={}, error=SHORT)
        return await run_spread(context, wanted)
    except Interrupted:
        return SpreadEnd(came={}, error="cancelled")


def _grant(_: VerbPlanInput, catalog: Catalog) -> CapabilityScope:
    return CapabilityScope(allowed=tuple(sorted(catalog.lendable(AGENTS))))


ROOTED_ROSTER = replace(ROSTER, run=_roster, grant=_grant)
ROOTED_SPREAD = replace(SPREAD, run=_spread)
KINDS = (*(ROOTED_ROSTER if kind is ROSTER else kind for kind in SHIPPED), ROOTED_SPREAD)
ROOTS: Mapping[str, tuple[Kind[Any, Any], Any]] = {
    "planner": (
        PLANNER,
        {
            "request_id": "r",
            "caller": "test",
            "goal": {"type": "analysis", "description": "Have it done."},
            "toolset": [{"tool_id": tool} for tool in ("note_down", "note_twice", *AGENTS)],
        },
    ),
    "roster": (ROOTED_ROSTER, VerbPlanInput(verb="roster_runtime", args={"text": "Have it done."})),
    "council": (COUNCIL_KIND, {"prompt": "Should it be done?"}),
    "spread": (ROOTED_SPREAD, {"targets": ["clerk", "boss", "clerk", "general_agent"]}),
}


def policy_budget(allowance: Spend) -> dict[str, Any]:
    """The bound of a root's run."""
    return {
        "run_tokens": allowance.tokens,
        "run_usd_micros": allowance.usd_micros,
        "run_model_calls": allowance.model_calls,
        "run_verb_calls": allowance.verb_calls,
    }


# --- what models say, and what is known of it outside ---------------------------------------------


@dataclass(slots=True)
class Really:
    """What a run really did, as the world saw it: attempts that providers took, tokens that they
    counted, calls of verbs.
    """

    attempts: int = 0
    tokens: int = 0
    verb_calls: int = 0
    hazy: int = 0
    """Attempts of which the provider may charge more than anybody knows."""


class Spenders:
    """Implements ``ModelPort``: each answer follows from the run's seed and the request alone, so
    that a run that died is answered the same again.
    """

    def __init__(self, house: BudgetHouse) -> None:
        self._house = house

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """Answer, fail, or take all that was reserved for the answer."""
        house, really = self._house, self._house.really[self._house.driving]
        chance = _Chance(
            f"{house.seed_of(house.driving)}/{request.purpose}/{request.role}/{request.index}"
        )
        really.attempts += 1
        await house.moment()
        await house.stopped_meanwhile()
        mishap = chance.one_of(20)
        if mishap == 0:
            really.attempts -= 1
            return ModelError(
                code=ModelErrorCode.CONNECTION,
                message="nothing was sent",
                known=Charge.NOTHING_SENT,
            )
        if mishap == 1:
            return ModelError(code=ModelErrorCode.REJECTED, message="refused before any work")
        most = len(request.system.encode()) + len(request.user.encode())
        used = (
            most if chance.one_of(4) == 0 else most // 4,
            request.max_tokens if chance.one_of(4) == 0 else 1 + chance.one_of(100),
        )
        really.tokens += sum(used)
        if mishap == 2:
            really.hazy += 1
            return ModelError(code=ModelErrorCode.TRUNCATED, message="cut off")
        await house.moment()
        return ModelReply(
            text=_says(request, chance),
            model="scripted",
            input_tokens=used[0],
            output_tokens=used[1],
        )

    async def close(self) -> None:
        """Nothing is held."""


class _Chance:
    """Numbers that follow from a text."""

    def __init__(self, text: str) -> None:
        self._text, self._drawn = text, 0

    def one_of(self, many: int) -> int:
        self._drawn += 1
        return int.from_bytes(sha256(f"{self._text}#{self._drawn}".encode()).digest()[:4]) % many

    def of(self, *some: Any) -> Any:
        return some[self.one_of(len(some))]


def _says(request: ModelRequest, chance: _Chance) -> str:
    match request.purpose:
        case "planner":
            return _step(request, chance)
        case "seat":
            said: Any = chance.of({"text": "I think so."}, {"text": "Rather not."}, "maybe")
        case "chair":
            scores = dict.fromkeys(("coherence", "faithfulness", "usefulness", "overall"), 0.8)
            said = {
                "proposed_answer": "Yes.",
                "scores": {
                    **scores,
                    "risk": chance.of(0.1, 0.9),
                    "effort_cost": 0.4,
                    "novelty": 0.5,
                },
                "disagreement": {"level": chance.of(0.1, 0.9), "notes": ""},
                "notes": "",
            }
        case "auditor":
            said = chance.of(
                {"action": chance.of("accept", "revise", "new_round"), "reason": "so I say"},
                "maybe",
            )
        case "roster":
            steps = [
                {"agent": chance.of(*CARDS), "reason": f"part {number}", "confidence": 0.9}
                for number in range(1 + chance.one_of(4))
            ]
            said = {
                "steps": steps,
                "metadata": {"handoff_strategy": chance.of("parallel", "sequential")},
                "confidence": 0.9,
            }
        case _:
            said = "It is done."
    return said if isinstance(said, str) else json.dumps(said)


def _step(request: ModelRequest, chance: _Chance) -> str:
    """A call of a verb, a handoff, prose, or the end; sooner or later the end."""
    act = chance.one_of(10) if request.index < 4 else 9
    hands_on = (
        [agent for agent in AGENTS if agent not in ("agent.boss", f"agent.{request.role}")]
        if request.role.startswith("boss")
        else []
    )
    if act == 0:
        return "Well, I would say it is done."
    if act <= 3 or (act <= 7 and request.role and not hands_on):
        action = {
            "tool_id": chance.of("note_down", "note_twice"),
            "input": {"text": f"tea {request.index}"},
        }
    elif act <= 7:
        action = {
            "tool_id": chance.of(*(hands_on if request.role else AGENTS)),
            "input": given(task=f"Part {request.index}."),
        }
    else:
        return json.dumps(
            {
                "thought": "",
                "finish": True,
                "action": None,
                "final_answer": {"content": "Done.", "structured": {}},
            }
        )
    return json.dumps({"thought": "", "finish": False, "action": action, "final_answer": None})


# --- the house ------------------------------------------------------------------------------------


class BudgetHouse(House):
    """``driving`` is the run at work; ``dies_at`` counts the moments until the process dies (None:
    it lives), ``really`` what each run did.
    """

    def __init__(self, shared: Mapping[str, Any] | None = None) -> None:
        self.really: defaultdict[str, Really] = defaultdict(Really)
        self.driving = ""
        self.dies_at: int | None = None
        self.stops_at: int | None = None
        self._work: Drive | None = None
        self.seeds: dict[str, int] = {}
        self.died = set[str]()
        self._dead = asyncio.Event()
        super().__init__(*KINDS, verbs=self._verbs(), models={"default": Spenders(self)})
        self.base = with_policy(
            self.services.catalogs.current.changed(
                cards=dict(CARDS), seats=shipped().data.seats, profiles={"default": PRICED}
            ),
            {**POLICY, "budget": dict(shared or {})},
        )
        self._submit = self.store.submit
        self.services.store = cast("JournalStore", _Frail(self))

    def _verbs(self) -> list[FunctionVerb[..., Any]]:
        @verb(name="note_down", effect="private", arguments={"text": ArgumentRole.CONTENT})
        async def note_down(text: str) -> str:
            """Note something down."""
            self.really[self.driving].verb_calls += 1
            await self.moment()
            return text

        @verb(
            name="note_twice",
            effect="private",
            arguments={"text": ArgumentRole.CONTENT},
            idempotent=True,
            retry=Retry(max_attempts=2),
        )
        async def note_twice(text: str) -> str:
            """Note something down, which the first time fails as often as not."""
            self.really[self.driving].verb_calls += 1
            if _Chance(f"{self.driving}{self.really[self.driving].verb_calls}").one_of(2):
                raise VerbError("not_now", "not this time", retryable=True, happened=False)
            await self.moment()
            return text

        return [note_down, note_twice]

    async def moment(self) -> None:
        """A moment at which the process may die; then nothing goes on, and nothing is written any
        more.
        """
        if self.dies_at is None:
            return
        if self.dies_at <= 0:
            self._dead.set()
            await asyncio.Event().wait()
        self.dies_at -= 1

    async def stopped_meanwhile(self) -> None:
        """A call at which somebody may stop the run that makes it, which is broken off."""
        if self.stops_at is None or self._work is None:
            return
        self.stops_at -= 1
        if self.stops_at < 0:
            self.stops_at = None
            await self.interrupt(self.driving)
            self._work.heard()
            await asyncio.Event().wait()

    @property
    def is_dead(self) -> bool:
        return self._dead.is_set()

    def seed_of(self, run: str) -> int:
        """What the answers in a run's tree follow from."""
        return self.seeds[self.root_of(run)]

    def root_of(self, run: str) -> str:
        """The run at the root of a run's tree."""
        while parent := self.started(run).parent:
            run = parent
        return run

    def started(self, run: str) -> Started:
        return self.bodies(run, RecordKind.STARTED)[0]

    async def begin(self, root: str, allowance: Spend, seed: int) -> str:
        """A root with so much to spend."""
        kind, given_ = ROOTS[root]
        self.services.catalogs.swap(with_policy(self.base, {"budget": policy_budget(allowance)}))
        run = await self.open(kind, given_)
        self.seeds[run] = seed
        return run

    async def drive_until(
        self, run: str, dies_at: int | None, stops_at: int | None = None
    ) -> Driven | None:
        """One drive of a run; None where the process died at the moment with that number: what was
        not committed is gone.

        ``stops_at``: its model call with this number is broken off, because somebody stops it then.
        """
        self.driving, self.dies_at, self.stops_at = run, dies_at, stops_at
        self._dead, self._work = asyncio.Event(), Drive(self.services, self.held(run))
        driving, death = (
            asyncio.ensure_future(self._work.to_rest()),
            asyncio.ensure_future(self._dead.wait()),
        )
        await asyncio.wait((driving, death), return_when=asyncio.FIRST_COMPLETED)
        try:
            if driving.done():
                return driving.result()
            self.died.add(run)
            driving.cancel()
            await asyncio.wait((driving,))
            return None
        finally:
            death.cancel()
            self.driving, self.dies_at, self.stops_at = "", None, None
            self._dead = asyncio.Event()

    def able(self) -> list[str]:
        """The runs that an engine would take up now, oldest first: they are at work, mail came, or
        it is time.
        """
        waits = (
            "SELECT id FROM runs WHERE status IN ('ready', 'running') OR (status = 'waiting' AND "
            "wake_at <= ?) ORDER BY no"
        )
        return [run for (run,) in self.store.query(waits, (self.clock.at,))]

    def to_next(self) -> None:
        """Time passes until the next run's time has come."""
        ((wake_at,),) = self.store.query("SELECT min(wake_at) FROM runs WHERE status = 'waiting'")
        if wake_at is not None:
            self.clock.at = max(self.clock.at, wake_at)

    def runs(self) -> list[StoredRun]:
        """All there are, oldest first."""
        return [self.stored(run) for (run,) in self.store.query("SELECT id FROM runs ORDER BY no")]

    def shared(self) -> Counter[str]:
        """What of each shared account is committed, in tokens and in money."""
        found: Counter[str] = Counter()
        for name, tokens, money in self.store.query(
            "SELECT name, tokens, usd_micros FROM accounts"
        ):
            found[f"{name} tokens"], found[f"{name} money"] = tokens, money
        return found


class _Frail:
    """The store of a process that may die just before a commit, or just behind it."""

    def __init__(self, house: BudgetHouse) -> None:
        self._house, self._store = house, house.store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def submit(self, unit: Any) -> asyncio.Future[Any]:
        """As the store's, but for what a dead process does not do."""
        if not self._house.driving:
            return self._store.submit(unit)
        return asyncio.ensure_future(self._committed(unit))

    async def _committed(self, unit: Any) -> Any:
        house = self._house
        if house.is_dead:
            raise asyncio.CancelledError
        await house.moment()
        outcome = await self._store.submit(unit)
        await house.moment()
        return outcome


# --- the purse: what the raw records say, read without the house's folds --------------------------


@dataclass(frozen=True, slots=True)
class Lent:
    """What a join gave to its children, at the place where it did."""

    left: Spend
    parts: tuple[Spend, ...]
    permits: int


@dataclass(slots=True)
class Purse:
    """A run's money as its own records tell it: what it may spend, what it spent itself, what its
    children gave account of, what it lent.
    """

    may: Spend
    own: Spend
    given_back: dict[str, Spend]
    lent: list[Lent]
    asked: list[tuple[tuple[int, ...], tuple[int, ...]]]
    """What rule ``reserve`` was told is left, beside what was."""
    carved: bool = False

    @property
    def spent(self) -> Spend:
        """All in all."""
        return _sum(self.own, *self.given_back.values())


def purse_of(records: tuple[Record, ...]) -> Purse:
    """The purse after these records, which may be any prefix."""
    bodies = [(record, decode(record)) for record in records]
    started = bodies[0][1]
    assert isinstance(started, Started)
    purse = Purse(may=started.allowance, own=Spend(), given_back={}, lent=[], asked=[])
    for record, body in bodies:
        match body:
            case DecisionBody() if record.name == "settle":
                facts = msgspec.json.decode(body.facts)
                purse.own = _sum(
                    purse.own,
                    Spend(
                        tokens=facts["tokens"],
                        usd_micros=facts["usd_micros"],
                        model_calls=facts.get("calls", 1),
                    ),
                )
            case DecisionBody() if record.name == "reserve":
                facts, left = msgspec.json.decode(body.facts), purse.may.less(purse.spent)
                told = (facts["left_tokens"], facts["left_usd_micros"], facts["left_calls"])
                purse.asked.append((told, (left.tokens, left.usd_micros, left.model_calls)))
            case ClaimBody() if record.name == "carve":
                outcome = msgspec.json.decode(body.outcome)
                purse.carved = "tokens" in outcome
                if purse.carved:
                    purse.may = msgspec.structs.replace(
                        purse.may, tokens=outcome["tokens"], usd_micros=outcome["usd_micros"]
                    )
            case IntentBody():
                _announced(purse, msgspec.json.decode(body.effect))
            case ChildEndedBody():
                ended = msgspec.json.decode(body.ended)
                assert ended["child"] not in purse.given_back, "a child gave account twice"
                purse.given_back[ended["child"]] = msgspec.convert(ended.get("spent", {}), Spend)
            case _:
                pass
    return purse


def _announced(purse: Purse, effect: dict[str, Any]) -> None:
    match effect["effect"]:
        case "verb_call":
            purse.own = _sum(purse.own, Spend(verb_calls=1))
        case "children":
            parts = tuple(msgspec.convert(spawn["allowance"], Spend) for spawn in effect["spawns"])
            permits = sum(
                "authorized" in spawn and spawn["authorized"] is not None
                for spawn in effect["spawns"]
            )
            purse.lent.append(Lent(left=purse.may.less(purse.spent), parts=parts, permits=permits))
            purse.own = _sum(purse.own, Spend(verb_calls=permits))
        case _:
            pass


def _sum(*amounts: Spend) -> Spend:
    total = Spend()
    for one in amounts:
        total = total.plus(one)
    return total
