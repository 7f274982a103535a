"""The shapes: what is asked, and what somebody does meanwhile. Replay laws and the crash harness
run over all of them.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from msgspec import Raw

from ordain.app import Ordain
from ordain.contracts.council import DeliberationRequest
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.planner import PlannerRequest
from ordain.effects.children import JoinMode
from ordain.flows.kind import Kind
from ordain.journal.digests import content_digest
from ordain.journal.records import ENCODER, Status, raw
from ordain.models.scripted import Script, make_script
from ordain.ports.writes import MailKind, NewMail
from ordain.runtime.mail import InterruptBody, posted
from tests.shapes.client import Client
from tests.shapes.flows import DEADLY as FLOW_DEADLY
from tests.shapes.flows import DELEGATED, ERRANDS, FAN_OUT, QUESTIONS, Errands, FanOut, Questions
from tests.shapes.request import Request

RUN = "5ca1ab1e" * 4
MINUTE = 60_000_000
TEXT = "Alice lives in Paris, works at Acme Corp, and her manager is Bob."


async def nothing(client: Client, run: str) -> None:
    """The client waits for the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One shape: its request, what its client does, and how an undisturbed run ends. ``hold``: the
    ledger holds some calls. ``roots`` are all that it asks for.

    ``lawful`` is false for a shape that kills its processes by itself: what becomes of it has its
    own test.
    """

    name: str
    request: Callable[[Ordain], Request]
    play: Callable[[Client, str], Awaitable[None]] = nothing
    script: Script = dataclasses.field(default_factory=make_script)
    hold: bool = False
    ends: Status = Status.COMPLETED
    roots: tuple[str, ...] = (RUN,)
    lawful: bool = True


def of_flow(flow: Kind[Any, Any], given: object) -> Callable[[Ordain], Request]:
    """A request for a run of this flow."""
    encoded = given if isinstance(given, Raw) else raw(given)

    def request(ordain: Ordain) -> Request:
        return Request(
            kind=flow,
            input=encoded,
            request_id="shape",
            digest=content_digest(bytes(encoded)),
            run=RUN,
        )

    return request


def of_plan(*tools: str, run: str = RUN, **more: Any) -> Callable[[Ordain], Request]:
    """A planning request with these tools, as the wire's; ``more`` are its other fields."""

    def request(ordain: Ordain) -> Request:
        parsed = PlannerRequest.model_validate(plan_body(*tools) | more)
        kind = ordain.kinds.answering(PlannerRequest)
        assert kind.wire is not None
        taken = kind.wire.take(parsed, ordain.catalog, RUN)
        return Request(
            kind=kind, input=taken.input, request_id=taken.request_id, digest=taken.digest, run=run
        )

    return request


def plan_body(*tools: str) -> dict[str, Any]:
    """The planning request itself."""
    return {
        "request_id": "shape",
        "goal": {"type": "analysis", "description": "Note what the text says."},
        "context": {"external_facts": {"text": TEXT}},
        "toolset": [{"tool_id": tool} for tool in tools],
    }


def calls(tool: str, **args: str) -> dict[str, Any]:
    """A planner directive that calls a tool."""
    return {
        "thought": f"use {tool}",
        "finish": False,
        "action": {"tool_id": tool, "input": args},
        "final_answer": None,
    }


def finishes(content: str) -> dict[str, Any]:
    """A planner directive that finishes."""
    return {
        "thought": "done",
        "finish": True,
        "action": None,
        "final_answer": {"content": content, "structured": {}},
    }


PLAN = Shape(
    name="plan with three tools",
    request=of_plan("note_put", "entry_add", "entry_book"),
    script=make_script(
        planner=[
            calls("note_put", text="Alice lives in Paris"),
            calls("entry_add", text="Alice works at Acme Corp"),
            calls("entry_book", text="her manager is Bob"),
            finishes("All three are noted."),
        ]
    ),
)

PLAN_CHILD = Shape(
    name="prompt-plan verb as a child",
    request=of_plan("extract_facts", "entry_add"),
    script=make_script(
        planner=[
            calls("extract_facts", text=TEXT),
            calls("entry_add", text="one fact"),
            finishes("One fact was noted."),
        ],
        verbs={
            "extract_facts": [
                {
                    "facts": [
                        {
                            "text": "Alice lives in Paris.",
                            "subject": "Alice",
                            "predicate": "lives in",
                            "object": "Paris",
                        }
                    ],
                    "method": "analysed",
                }
            ]
        },
    ),
)

NEXT = "5e5510a2" * 4
IN_SESSION = {"session_id": "sums"}


async def ask_on(client: Client, run: str) -> None:
    """Once the first request is over, another one in its session, which goes on from it.

    Raises:
        AssertionError: it has not read what the first one came to.
    """
    await client.until("the first request is over", lambda: client.over(run))
    request = of_plan("entry_add", run=NEXT, request_id="next", **IN_SESSION)(client.ordain)
    await client.once("next", lambda: request.open(client.ordain))
    await client.until("the next request is over", lambda: client.over(NEXT))
    stored = client.ordain.store.stored(NEXT)
    assert client.status(NEXT) is Status.COMPLETED, client.status(NEXT)
    assert stored is not None
    reads = [
        record for record in stored.records if record.kind == "intent" and record.name == "read"
    ]
    assert [run.encode() in (record.body or b"") for record in reads] == [True]


PLAN_SESSION = Shape(
    name="plans of one session",
    request=of_plan("entry_add", **IN_SESSION),
    play=ask_on,
    roots=(RUN, NEXT),
    script=make_script(
        planner=[calls("entry_add", text="Alice lives in Paris"), finishes("It is noted.")]
    ),
)

DRIVER = Shape(
    name="delegated driver",
    request=of_flow(DELEGATED, Raw(ENCODER.encode(plan_body("entry_add")))),
    script=make_script(planner=[calls("entry_add", text="one step")]),
)

# --- councils -------------------------------------------------------------------------------------


def of_council(ordain: Ordain) -> Request:
    """A council's request, as the wire's."""
    kind = ordain.kinds.answering(DeliberationRequest)
    assert kind.wire is not None
    taken = kind.wire.take(
        DeliberationRequest(prompt="Is it so?", trace_id="shape"), ordain.catalog, RUN
    )
    return Request(kind=kind, input=taken.input, request_id="shape", digest=taken.digest, run=RUN)


def judges(answer: str, **more: object) -> dict[str, Any]:
    """A chair's judgement."""
    return {"proposed_answer": answer, **more}


COUNCIL = Shape(
    name="council that revises",
    request=of_council,
    script=make_script(
        seat={"Mythic": ["no opinion"], "*": [{"text": "It is."}]},
        chair=[judges("It is.", scores={"risk": 0.8}), judges("It may be.")],
        auditor=[{"action": "accept"}, {"action": "accept", "override_answer": "It may well be."}],
    ),
)

# --- joins ----------------------------------------------------------------------------------------

ASLEEP = Errands(errands=(), wait=True)


def child_runs(client: Client, run: str) -> list[Status]:
    """The statuses of a run's children, in the order of spawning."""
    rows = client.ordain.store.query(
        "SELECT c.status FROM runs c JOIN runs p ON p.no = c.parent WHERE p.id = ? ORDER BY "
        "c.child",
        (run,),
    )
    return [Status(status) for (status,) in rows]


async def until_late(client: Client, run: str) -> None:
    """When the two that work have ended and the third sleeps, let the join's deadline pass."""

    def only_sleeper() -> bool:
        now = child_runs(client, run)
        return client.over(run) or (
            now[:2] == [Status.COMPLETED] * 2 and now[2:] == [Status.WAITING]
        )

    await client.until("two children ended", only_sleeper)
    await client.move_clock(run, 2 * MINUTE)


JOIN_ALL = Shape(
    name="join of all with a deadline",
    request=of_flow(
        FAN_OUT,
        FanOut(
            children=(
                Errands(errands=(("note_put", "a"), ("entry_book", "b"))),
                Errands(errands=(("entry_add", "c"),)),
                Errands(errands=(), sleep_s=3600),
            ),
            deadline=MINUTE,
        ),
    ),
    play=until_late,
)

JOIN_FIRST = Shape(
    name="join of the first",
    request=of_flow(
        FAN_OUT,
        FanOut(
            children=(ASLEEP, Errands(errands=(("entry_add", "mine"),)), ASLEEP),
            mode=JoinMode.FIRST,
        ),
    ),
)

JOIN_QUORUM = Shape(
    name="join of a quorum",
    request=of_flow(
        FAN_OUT,
        FanOut(
            children=(
                Errands(errands=(("note_put", "x"),)),
                ASLEEP,
                Errands(errands=(("entry_book", "y"),)),
            ),
            mode=JoinMode.QUORUM,
            quorum=2,
        ),
    ),
)

# --- waits ----------------------------------------------------------------------------------------


async def answer_early(client: Client, run: str) -> None:
    """Answer both questions before either is asked, and the first one twice."""
    await client.answer(run, 1, "yes")
    await client.answer(run, 2, "also yes")
    await client.answer(run, 1, "no", by="bob")


async def answer_late(client: Client, run: str) -> None:
    """Answer the first question once the run sleeps, twice; let the second one expire, then answer
    it.
    """
    await client.until("the first question", lambda: client.waits_at(run, 1))
    await client.answer(run, 1, "yes")
    await client.answer(run, 1, "no", by="bob")
    await client.until("the second question", lambda: client.waits_at(run, 2))
    await client.move_clock(run, 2 * MINUTE)
    await client.until(
        "the second question expired", lambda: client.over(run) or client.reached(run) > 2
    )
    await client.answer(run, 2, "too late")


WAIT_EARLY = Shape(
    name="waits answered before they are",
    request=of_flow(QUESTIONS, Questions(MINUTE)),
    play=answer_early,
)
WAIT_LATE = Shape(
    name="waits answered late or never",
    request=of_flow(QUESTIONS, Questions(MINUTE)),
    play=answer_late,
)

# --- interrupts -----------------------------------------------------------------------------------


async def cancel_in_model(client: Client, run: str) -> None:
    """Cancel while a model call is open."""
    await client.until("a model call is held", lambda: client.model_held() or client.over(run))
    await client.cancel(run)


async def cancel_in_verb(client: Client, run: str) -> None:
    """Cancel while a verb is at work, then let it end."""
    await client.until(
        "a verb call is held",
        lambda: client.verb_held() or client.over(run) or "cancel" in client.diary.entries,
    )
    await client.cancel(run)
    client.ledger.let_go()


async def cancel_in_wait(client: Client, run: str) -> None:
    """Cancel while the run sleeps."""
    await client.until("the run waits", lambda: client.waits_at(run, 0))
    await client.cancel(run)


async def cancel_in_join(client: Client, run: str) -> None:
    """Cancel while the run waits for a child that has a child's work done and a child that
    sleeps.
    """

    def asleep() -> bool:
        return client.over(run) or (
            client.waits_at(run, 0)
            and child_runs(client, run) == [Status.COMPLETED, Status.WAITING]
        )

    await client.until("the join waits", asleep)
    await client.cancel(run)


INTERRUPT_MODEL = Shape(
    name="interrupt in a model call",
    request=of_plan("entry_add"),
    script=make_script(planner=[calls("entry_add", text="done before"), "hold", finishes("never")]),
    play=cancel_in_model,
    ends=Status.CANCELLED,
)

INTERRUPT_VERB = Shape(
    name="interrupt in a verb call",
    request=of_flow(
        ERRANDS, Errands(errands=(("entry_book", "hold this"), ("entry_add", "never")))
    ),
    play=cancel_in_verb,
    hold=True,
    ends=Status.CANCELLED,
)

INTERRUPT_WAIT = Shape(
    name="interrupt in a wait",
    request=of_flow(ERRANDS, Errands(errands=(("entry_add", "never"),), wait=True)),
    play=cancel_in_wait,
    ends=Status.CANCELLED,
)

INTERRUPT_JOIN = Shape(
    name="interrupt in a join",
    request=of_flow(FAN_OUT, FanOut(children=(Errands(errands=(("note_put", "before"),)), ASLEEP))),
    play=cancel_in_join,
    ends=Status.CANCELLED,
)


async def cancel_at_once(client: Client, run: str) -> None:
    """Nothing more: the request and its cancellation came in one commit."""


def with_cancel(request: Callable[[Ordain], Request]) -> Callable[[Ordain], Request]:
    """The same request, whose cancellation is queued right behind it."""

    def both(ordain: Ordain) -> Request:
        services, built = ordain.runtime.services, request(ordain)
        body = ENCODER.encode(InterruptBody(what="cancel", by="ada", why="changed my mind"))
        mail = NewMail(
            run=built.run,
            kind=MailKind.INTERRUPT,
            key="cancel:ada",
            body=body,
            at=services.clock.now(),
        )
        asyncio.get_running_loop().call_soon(services.store.submit, posted(DEFAULT_WORKSPACE, mail))
        return built

    return both


INTERRUPT_FIRST = Shape(
    name="interrupt before the first effect",
    request=with_cancel(of_flow(ERRANDS, Errands(errands=(("entry_add", "never"),)))),
    play=cancel_at_once,
    ends=Status.CANCELLED,
)

# --- runs that kill the process they run in -------------------------------------------------------

INNOCENT = "0" * 32


async def beside_an_innocent(client: Client, run: str) -> None:
    """Another run has a verb at work whenever the first one kills; it is let go once the first one
    is stopped.
    """
    other = dataclasses.replace(
        of_flow(ERRANDS, Errands(errands=(("note_put", "hold this"),)))(client.ordain),
        run=INNOCENT,
        request_id="innocent",
    )
    await client.once("innocent", lambda: _accepted(client, other))
    await client.until("the killer is stopped", lambda: client.over(run))
    client.ledger.let_go()
    await client.until("the innocent one is done", lambda: client.over(INNOCENT))


async def _accepted(client: Client, request: Request) -> str:
    return await request.open(client.ordain)


POISON = Shape(
    name="poison",
    request=of_flow(ERRANDS, Errands(errands=(("note_put", "poison"),))),
    play=beside_an_innocent,
    hold=True,
    lawful=False,
)

DEADLY = Shape(name="deadly", request=of_flow(FLOW_DEADLY, Errands(errands=())), lawful=False)

KILLERS: dict[str, Shape] = {shape.name: shape for shape in (POISON, DEADLY)}

SHAPES: dict[str, Shape] = {
    shape.name: shape
    for shape in (
        PLAN,
        PLAN_CHILD,
        PLAN_SESSION,
        DRIVER,
        COUNCIL,
        JOIN_ALL,
        JOIN_FIRST,
        JOIN_QUORUM,
        WAIT_EARLY,
        WAIT_LATE,
        INTERRUPT_MODEL,
        INTERRUPT_VERB,
        INTERRUPT_WAIT,
        INTERRUPT_JOIN,
        INTERRUPT_FIRST,
    )
}


async def play(shape: Shape, client: Client) -> str:
    """Have the shape's request accepted, do what its client does, and wait for the end; gives the
    run.

    Raises:
        TimeoutError: it never came to its end.
    """
    run = await client.accept(shape.request(client.ordain))
    await shape.play(client, run)
    await client.until("the run is over", lambda: client.over(run))
    return run
