"""What a kind, its rules and its flow hand over in forms that nobody expects: each is as its record
has it, or a fault of that run alone.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct, structs

from ordain import Ordain
from ordain.app import Extras, with_profile
from ordain.contracts.catalog import Catalog
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.scope import CapabilityScope
from ordain.effects.children import Join, Spawn
from ordain.effects.effect import Children, ModelCall, Say, Wait, WaitFor
from ordain.engines import local
from ordain.errors import ConfigurationError
from ordain.flows.ask import AskFailed, ask
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Settlement
from ordain.flows.transcript import HistoryRef, resolve
from ordain.flows.values import PromptInputs, Values
from ordain.journal.records import Label, RecordKind, Status, raw
from ordain.models.scripted import ScriptedModel, make_script
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.ports.writes import MailKind, NewMail
from ordain.rules.decision import HeaderShare, Recorded
from ordain.rules.header import HeaderLine
from ordain.rules.proposals import parse_object
from ordain.rules.spend import Carved, Spend
from ordain.runtime.mail import posted
from ordain.runtime.run_state import EFFECT_BYTES
from ordain.runtime.run_view import RunView
from ordain.settings import load_settings
from ordain.store.sqlite import SqliteStore
from tests.replayed import replayed
from tests.shapes.survey import (
    SURVEY,
    SURVEY_PART,
    SURVEY_PROMPT,
    WORTH,
    Survey,
    WorthFacts,
    WorthInputs,
)

GIVEN = Survey(topic="bridges", expression="6 * 7")
WAIT_S = 30.0
BY = "user:test"
Flow = Callable[[FlowContext, Survey], Coroutine[Any, Any, Any]]


class Odd(BaseException):
    """No failure as others are."""


def settled(_: Any) -> Settlement:
    """Whatever the flow returned."""
    return Settlement(status=Status.COMPLETED, reason="ok")


def kind(flow: Flow, **more: Any) -> Kind[Survey, Any]:
    """The survey's kind with another flow."""
    return replace(SURVEY, run=flow, settle=settled, header=None, **more)


async def nothing(context: FlowContext, given: Survey) -> str:
    """Nothing."""
    return "done"


IDLE = replace(kind(nothing), name="idle", prompts=(), rules=())


class Counted(ScriptedModel):
    """Plays a script, and keeps what it was asked for."""

    def __init__(self) -> None:
        """Everything is worth it."""
        super().__init__(make_script(survey=[{"worth": 7}]))
        self.purposes: list[str] = []
        self.error: BaseException | None = None

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort``."""
        self.purposes.append(request.purpose)
        if self.error is not None:
            raise self.error
        return await super().attempt(request, heard)


class House:
    """An Ordain with these kinds and one that does nothing, over a model that finds everything
    worth it.
    """

    def __init__(self, home: Path, *kinds: Kind[Any, Any]) -> None:
        """Not yet open."""
        settings = with_profile(
            load_settings(environment={}, home=home),
            ModelProfile(provider="scripted", model="scripted"),
        )
        self.model = Counted()
        self.ordain = Ordain(
            settings,
            extras=Extras(kinds=(*kinds, SURVEY_PART, IDLE), models={"default": self.model}),
        )

    async def __aenter__(self) -> House:
        """Open."""
        await self.ordain.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        await self.ordain.stop()

    async def rested(self, name: str = "survey") -> RunView:
        """A run of a kind, at rest; another one goes on beside it, and what is on record replays
        equal.
        """
        accepted = await self.ordain.runtime.open(name, GIVEN, "local:test")
        view = await asyncio.wait_for(self.ordain.runtime.wait(accepted.run), WAIT_S)
        other = await self.ordain.runtime.open("idle", GIVEN, "local:test")
        assert (
            await asyncio.wait_for(self.ordain.runtime.wait(other.run), WAIT_S)
        ).stored.status is Status.COMPLETED
        report = replayed(self.ordain.runtime.services, view.stored)
        assert (report.verdict, report.differences) == ("equal", [])
        return view


# --- port calls that the flow closes --------------------------------------------------------------


async def closes(context: FlowContext, given: Survey) -> str:
    """A port call is taken up and closed before it has reached the port, and the flow goes on."""
    asked = context.fx.perform(
        Wait(what=WaitFor.TIMER, about="x", deadline=context.deadline)
    ).__await__()
    asked.send(None)
    asked.close()
    await context.fx.perform(Say(text="went on"))
    return "done"


async def drives(context: FlowContext, given: Survey) -> str:
    """The flow looks for the port behind a call that it makes by hand, so as to break it off
    there.
    """
    asked: Any = context.fx.perform(Wait(what=WaitFor.TIMER, about="x", deadline=context.deadline))
    seen = asked.__await__().send(None)
    found = [getattr(seen, name) for name in dir(seen) if not name.startswith("__")]
    assert not any(callable(one) for one in found)
    seen.method = "_perform"
    await seen
    return "done"


def intents(view: RunView) -> list[str]:
    """The effects that a run announced."""
    return [record.name for record in view.stored.records if record.kind is RecordKind.INTENT]


async def test_a_port_call_that_never_reached_the_port_was_never_made(tmp_path: Path) -> None:
    """What a flow takes up and closes before it awaits it leaves nothing behind, and no end as
    though it had been made; live as in replay.
    """
    async with House(tmp_path, kind(closes)) as house:
        view = await house.rested()
    assert (view.stored.status, intents(view)) == (Status.FAULTED, ["say"])


async def test_a_port_call_is_made_by_whoever_drives_the_flow(tmp_path: Path) -> None:
    """What a flow awaits holds nothing that makes the call, and names no other method of the
    port.
    """
    async with House(tmp_path, kind(drives)) as house:
        view = await house.rested()
    assert (view.stored.status, intents(view)) == (Status.FAULTED, [])


# --- look-alikes ----------------------------------------------------------------------------------


class HeirOfCall(ModelCall, frozen=True, kw_only=True, omit_defaults=True, tag="model_call"):
    """A model call, and of another type."""


class LikeJoin(Struct, frozen=True, kw_only=True, tag_field="effect", tag="children"):
    """What a join has, and none."""

    spawns: tuple[Spawn[Any], ...]
    until: Join


def fields(effect: Struct) -> dict[str, Any]:
    """The values of a struct's fields."""
    return {name: getattr(effect, name) for name in effect.__struct_fields__}


LIKE_CALL = msgspec.defstruct(
    "LikeCall",
    [
        (field.name, field.type, field.default)
        if field.default is not msgspec.NODEFAULT
        else (field.name, field.type)
        for field in structs.fields(ModelCall)
    ],
    tag_field="effect",
    tag="model_call",
    kw_only=True,
    omit_defaults=True,
)
LOOK_ALIKES: dict[str, Callable[[ModelCall], Any]] = {
    "itself": lambda call: call,
    "an heir": lambda call: HeirOfCall(**fields(call)),
    "a struct of the same tag": lambda call: LIKE_CALL(**fields(call)),
    "its bytes": lambda call: msgspec.Raw(msgspec.json.encode(call)),
    "its mapping": msgspec.to_builtins,
}


@dataclass(frozen=True)
class Disguising:
    """A port that hands every model call on as something like it."""

    fx: Any
    disguise: Callable[[ModelCall], Any]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.fx, name)

    async def perform(self, effect: Any) -> Any:
        """See ``Effects.perform``."""
        return await self.fx.perform(
            self.disguise(effect) if isinstance(effect, ModelCall) else effect
        )


@pytest.mark.parametrize("name", LOOK_ALIKES)
async def test_a_look_alike_of_a_model_call_is_one(tmp_path: Path, name: str) -> None:
    """It is reserved and settled, so that what it cost is booked, by the records that the call
    itself has.
    """

    async def disguised(context: FlowContext, given: Survey) -> str:
        answer = await ask(
            structs.replace(context, fx=Disguising(context.fx, LOOK_ALIKES[name])),
            SURVEY_PROMPT,
            given,
        )
        return (
            "failed"
            if isinstance(answer, AskFailed)
            else f"{context.account.spent.model_calls} call"
        )

    async with House(tmp_path, kind(disguised)) as house:
        view = await house.rested()
    assert (view.stored.status, bytes(view.result)) == (Status.COMPLETED, b'"1 call"')
    told = [record.name for record in view.stored.records[1:-1]]
    assert told == ["lane", "reserve", "model_call", "model_call", "settle"]


@pytest.mark.parametrize("alike", [Children, LikeJoin])
async def test_a_look_alike_of_a_join_opens_nothing(tmp_path: Path, alike: Any) -> None:
    """What children spend is booked by the port's own method; by ``perform`` there are none."""

    async def joins(context: FlowContext, given: Survey) -> str:
        spawn = Spawn[Any](
            flow="survey_part", input=raw(given), deadline=context.deadline, allowance=Spend()
        )
        await context.fx.perform(alike(spawns=(spawn,), until=Join()))
        return "done"

    async with House(tmp_path, kind(joins)) as house:
        view = await house.rested()
        assert house.ordain.store.query("SELECT id FROM runs WHERE parent IS NOT NULL") == []
    assert view.stored.status is Status.FAULTED


# --- other sessions -------------------------------------------------------------------------------


async def test_no_prompt_shows_another_session(tmp_path: Path) -> None:
    """Whatever a kind refers to: its run is faulted, and no model was asked."""
    secret = "Ada keeps the key under the stone"
    link: dict[str, str] = {}

    def overheard(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
        ref = HistoryRef(
            session="victim", first=1, last=1, entries=1, head=1, digest=link["digest"]
        )
        heard = resolve(values.transcript, ref)
        return PromptInputs(
            inputs={"topic": heard.history[0]["content"]}, schema={"type": "object"}
        )

    async def listens(context: FlowContext, given: Survey) -> str:
        await ask(context, prompt, given)
        return "done"

    prompt = replace(SURVEY_PROMPT, build=overheard)
    async with House(tmp_path, kind(listens, prompts=(prompt,))) as house:
        await house.ordain.chat(secret, session="victim")
        (entry,) = await house.ordain.runtime.services.sessions.entries(
            "default", "victim", after=0, limit=1
        )
        link["digest"] = entry.chain.hex()
        view = await house.rested()
    assert view.stored.status is Status.FAULTED
    assert "survey" not in house.model.purposes


# --- what rules, labels and outputs say -----------------------------------------------------------


def breaks(error: BaseException) -> Callable[[Recorded], HeaderShare]:
    """What is told by a rule that fails at it."""

    def tells(recorded: Recorded) -> HeaderShare:
        raise error

    return tells


def shares(**what: Any) -> Callable[[Recorded], HeaderShare]:
    """What a rule tells, of whatever types."""
    return lambda _: HeaderShare(**what)


TELLS: dict[str, Callable[[Recorded], Any]] = {
    "fails": breaks(LookupError("so")),
    "fails oddly": breaks(Odd("so")),
    "nothing": lambda _: None,
    "no lines": shares(lines=(1,)),
    "no mark": shares(lines=(HeaderLine(mark="great", what="x"),)),
    "half a letter": shares(lines=(HeaderLine(mark="ok", what="\ud800"),)),
    "no words": shares(lines=(HeaderLine(mark="ok", what="x", reason=7),)),  # type: ignore[arg-type]
    "no number": shares(steps="two"),
    "fewer steps": shares(steps=-5),
    "no spending": shares(spent=5),
    "spending of its own": shares(spent=Spend(verb_calls=-5)),
    "accounts of its own": shares(carved=Carved(tokens=5, usd_micros=5, accounts=("day",))),
}


@pytest.mark.parametrize("name", TELLS)
async def test_a_rule_that_tells_nonsense_is_told_as_that(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The run ends as it did, and its header says of which record nobody can say anything."""
    rule = replace(WORTH, tells=TELLS[name])

    async def decides(context: FlowContext, given: Survey) -> str:
        context.fx.decide(
            rule, WorthFacts(size_bytes=1), WorthInputs(proposal=parse_object('{"worth": 7}'))
        )
        return "done"

    async with House(tmp_path, kind(decides, rules=(rule,))) as house:
        view = await house.rested()
    assert view.stored.status is Status.COMPLETED
    assert "? record 1 (decision worth), which cannot be read" in view.header
    assert "0 steps, 0 model calls, 0 verb calls" in view.header
    assert "could not be driven" not in caplog.text


OUTPUTS: dict[str, Any] = {
    "no value": object(),
    "half a letter": "\ud800",
    "no number": {1j: 2},
    "no json": msgspec.Raw(b"{"),
    "half a letter in a key": {"\udfff": 1},
    "too much": "x" * EFFECT_BYTES,
}
OUTPUTS["itself"] = [OUTPUTS]


@pytest.mark.parametrize("name", OUTPUTS)
async def test_an_output_that_no_record_holds_is_a_fault(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The run is faulted at once, and says so in the log."""

    async def returns(context: FlowContext, given: Survey) -> Any:
        return OUTPUTS[name]

    async with House(tmp_path, kind(returns)) as house:
        view = await house.rested()
    assert view.stored.status is Status.FAULTED
    assert "could not be driven" not in caplog.text
    assert "status=faulted error=FlowFault" in caplog.text


def labelled(label: Any) -> dict[str, Any]:
    """Of a kind that says this of its runs."""

    def say(given: Survey) -> Any:
        return label

    return {"label": say}


LABELS: dict[str, dict[str, Any]] = {
    "no name": labelled(Label(agent=5)),  # type: ignore[arg-type]
    "half a letter": labelled(Label(agent="\ud800")),
    "no label": labelled("surveyor"),
    "no value": labelled(object()),
    "no scope": {"grant": lambda _, __: CapabilityScope(allowed=(5,))},  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", LABELS)
async def test_a_run_whose_kind_says_nonsense_of_it_is_not_opened(
    tmp_path: Path, name: str
) -> None:
    """Whoever opens it is told, and nobody is left with a first record that cannot be read."""
    async with House(tmp_path, kind(nothing, **LABELS[name])) as house:
        with pytest.raises(ConfigurationError, match="survey@1") as refused:
            await house.ordain.runtime.open("survey", GIVEN, "local:test")
        assert refused.value.code == "invalid_kind"
        assert house.ordain.store.query("SELECT id FROM runs") == []
        await house.rested("idle")


@pytest.mark.parametrize("name", [name for name, more in LABELS.items() if "label" in more])
async def test_a_child_whose_kind_says_nonsense_of_it_is_not_opened(
    tmp_path: Path, name: str
) -> None:
    """Its parent is faulted, and waits for nobody."""

    async def opens(context: FlowContext, given: Survey) -> str:
        spawn = Spawn[Any](
            flow="labelled", input=raw(given), deadline=context.deadline, allowance=Spend()
        )
        await context.fx.children((spawn,), Join())
        return "done"

    async with House(
        tmp_path, kind(opens), replace(IDLE, name="labelled", **LABELS[name])
    ) as house:
        view = await house.rested()
        assert house.ordain.store.query("SELECT id FROM runs WHERE parent IS NOT NULL") == []
    assert view.stored.status is Status.FAULTED


# --- what would end the process -------------------------------------------------------------------


async def asks(context: FlowContext, given: Survey) -> str:
    """Whatever the answer is."""
    await ask(context, SURVEY_PROMPT, given)
    return "done"


@pytest.mark.parametrize("where", ["build", "model"])
@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt()], ids=lambda error: type(error).__name__
)
async def test_what_would_end_the_process_in_a_model_call_ends_its_run(
    tmp_path: Path, where: str, error: BaseException
) -> None:
    """A kind's or an adapter's: the run is faulted, and others go on."""

    def build(*_: Any) -> PromptInputs:
        raise error

    prompt = replace(SURVEY_PROMPT, build=build) if where == "build" else SURVEY_PROMPT
    async with House(tmp_path, kind(asks, prompts=(prompt,))) as house:
        house.model.error = error
        view = await house.rested()
    assert view.stored.status is Status.FAULTED
    assert "flow fault · FlowFault" in view.header


async def test_a_kind_that_cancels_the_task_of_its_run_is_driven_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody asked for that: the engine does not let go of the run, and whoever waits for it is
    told.
    """
    monkeypatch.setattr(local, "TRY_AGAIN_US", 1_000)
    cancelled: list[str] = []

    def decode(given: msgspec.Raw) -> Survey:
        task: Any = asyncio.current_task()
        if task.get_coro().__name__ == "_drive" and not cancelled:
            cancelled.append("its run")
            task.cancel()
        return SURVEY.decode_input(given)

    async with House(tmp_path, kind(nothing, decode_input=decode)) as house:
        run = (await house.ordain.runtime.open("survey", GIVEN, "local:test")).run
        view = await asyncio.wait_for(house.ordain.runtime.wait(run), WAIT_S)
    assert (view.stored.status, cancelled) == (Status.COMPLETED, ["its run"])


# --- kinds beside each other, and defects ---------------------------------------------------------


def test_two_templates_of_one_name_are_refused(tmp_path: Path) -> None:
    """Which of the two a catalog had would depend on the order of the kinds."""
    other = replace(SURVEY_PROMPT, purpose="other", package="ordain.flows.planner")
    with pytest.raises(ConfigurationError, match="template survey_step is another file") as refused:
        House(tmp_path, SURVEY, replace(SURVEY, name="other", prompts=(other,)))
    assert refused.value.code == "duplicate_template"


async def test_a_run_that_a_defect_keeps_from_being_driven_stops(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tried so often, another run goes on meanwhile, and once the defect is mended it is
    resumed and goes on.
    """
    monkeypatch.setattr(local, "TRY_AGAIN_US", 1_000)
    mended: list[str] = []

    async def breaks_once(context: FlowContext, given: Survey) -> str:
        if not mended:
            raise LookupError("not yet")
        return "done"

    async with House(tmp_path, kind(breaks_once)) as house:
        run = (await house.rested()).stored.id
    with closing(SqliteStore(tmp_path)) as store:
        # mail that was sent and nobody can read: no error of ours says so
        mail = NewMail(run=run, kind=MailKind.INTERRUPT, key="damaged", body=b"\0", at=0)
        assert not (await store.submit(posted("default", mail))).refused
    mended.append("the flow")
    async with House(tmp_path, kind(breaks_once)) as house:
        runtime = house.ordain.runtime  # which finds the mail as it starts
        async with asyncio.timeout(WAIT_S):
            while (await runtime.view(run)).stored.status is not Status.DIVERGED:  # noqa: ASYNC110 - nobody waits for a run that had stopped before
                await asyncio.sleep(0.01)
        await house.rested("idle")
        assert caplog.text.count(f"run={run} could not be driven\n") == local.TRIES_OF_A_DEFECT + 1
        with closing(sqlite3.connect(tmp_path / "ordain.db")) as db, db:
            db.execute("DELETE FROM mailbox WHERE key = 'damaged'")
        await runtime.operators.resume(run, by=BY)
        assert (await asyncio.wait_for(runtime.wait(run), WAIT_S)).stored.status is Status.COMPLETED
