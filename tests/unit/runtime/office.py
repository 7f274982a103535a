"""A house in memory whose runs make the calls that they are given, and wait for a yes where one is
needed; beside it the desk that gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from ordain import VerbContext, VerbError, verb
from ordain.contracts.access import Principal
from ordain.contracts.approvals import MayAsk
from ordain.contracts.catalog import Catalog
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.scope import CapabilityScope
from ordain.contracts.verbs import Argument, ArgumentRole, PlanStep, Retry, VerbEffect, VerbSpec
from ordain.effects.calls import Call
from ordain.effects.results import VerbReturned
from ordain.errors import OrdainError
from ordain.flows.act import act
from ordain.flows.carried import VERB_PLAN, VerbPlanInput, VerbPlanOutput, call_label, carried_call
from ordain.flows.context import Carrying, FlowContext
from ordain.flows.workflow.kind import WORKFLOW_RUN
from ordain.journal.records import RecordKind, Status
from ordain.rules.approve import ApprovalState
from ordain.runtime.approvals import ApprovalDesk, ApprovalView, ApproverWord
from ordain.runtime.grants import GrantDesk
from ordain.runtime.opening import Opening
from ordain.runtime.replay import replay
from ordain.testing import kind_of, with_policy
from ordain.verbs.functions import FunctionVerb
from tests.unit.runtime.house import HOUR, House

BEN, CLEO, ASKER = "local:ben", "local:cleo", "user:test"
LIMITED = Principal("token:robot", ())


async def _calls(context: FlowContext, given: list[dict[str, Any]]) -> list[str]:
    """Make the calls one after the other; says of each why it was refused, "" where it was carried
    out.
    """
    return [(await act(context, Call(verb=one["verb"], args=one["args"]))).denied for one in given]


CALLS = kind_of(
    _calls, verbs=("look.up", "ask.out", "post.out", "post.all", "pay.out", "ring.out", "tell.out")
)


async def _tells(context: FlowContext, given: VerbPlanInput) -> VerbPlanOutput:
    """Look something up, then what is to be told, and give both back; says why where one of them
    may not be.
    """
    for text in ("first", given.args["to"]):
        result = (await act(context, Call(verb="look.up", args={"text": text}))).result
        if not isinstance(result, VerbReturned):
            return VerbPlanOutput(
                ok=False,
                error=str(result.__struct_config__.tag),
                message=getattr(result, "message", ""),
            )
    return VerbPlanOutput(ok=True, output={})


TELLS = replace(
    kind_of(
        _tells,
        verbs=("look.up",),
        decode=lambda given: msgspec.json.decode(given, type=VerbPlanInput),
    ),
    name=VERB_PLAN,
    carrying=Carrying(inherits=True),
    carries=carried_call,
    label=call_label,
)
"""Carries out ``tell.out``, of whose effect others notice."""
WORKFLOWS = replace(WORKFLOW_RUN, grant=lambda given, catalog: CapabilityScope(allowed=("*",)))
"""As the shipped one, and a root."""
TELL = VerbSpec(
    name="tell.out",
    description="Tell somebody.",
    effect=VerbEffect.SEND,
    plan=[PlanStep(name="tell", order=0, services=["LLMGatewayService"], prompt_template="tell")],
    arguments={"to": Argument(role=ArgumentRole.RECIPIENT)},
    input_schema={
        "type": "object",
        "properties": {"to": {"type": "string", "maxLength": 100}},
        "additionalProperties": False,
    },
)


def tell(to: str = "ben") -> dict[str, Any]:
    """A call that a run of its own carries out."""
    return {"verb": "tell.out", "args": {"to": to}}


NOBODY_KNOWS = "gone out, perhaps"
"""A text at which the post breaks off after it was handed over."""


def post(text: str = "hello", to: str = "ben@example.org") -> dict[str, Any]:
    """A call that sends."""
    return {"verb": "post.out", "args": {"to": to, "text": text}}


def post_all(*to: str, text: str = "hello") -> dict[str, Any]:
    """A call that sends to all of these, and to everybody where nobody is named."""
    return {"verb": "post.all", "args": {"to": list(to), "text": text}}


def ask(text: str = "what?") -> dict[str, Any]:
    """A read that sends its arguments out, and names nobody."""
    return {"verb": "ask.out", "args": {"text": text}}


def ring(to: str = "ben") -> dict[str, Any]:
    """A call that fails at its first attempt, and is tried again after a while."""
    return {"verb": "ring.out", "args": {"to": to}}


def pay(to: str = "ben") -> dict[str, Any]:
    """A call that pays."""
    return {"verb": "pay.out", "args": {"to": to}}


class Office(House):
    """``did`` are the calls that went out; ``desk`` and ``grants`` are the approvers' side;
    ``meanwhile`` is what happens while a text is looked up.
    """

    def __init__(self, policy: Mapping[str, Any] | None = None) -> None:
        self.did: list[tuple[str, Any]] = []
        self.began: Catalog | None = None
        self.meanwhile: dict[str, Callable[[], object]] = {}
        super().__init__(CALLS, TELLS, WORKFLOWS, verbs=self._verbs(), composites=[TELL])
        if policy:
            self.use_policy(policy)
        self.desk, self.grants = ApprovalDesk(self.services), GrantDesk(self.services)

    def __enter__(self) -> Office:
        return self

    def use_policy(self, policy: Mapping[str, Any]) -> None:
        """Another policy, from now on."""
        self.services.catalogs.swap(with_policy(self.services.catalogs.current, dict(policy)))

    def opening(self, given: Any, *, lasts: int = HOUR) -> Opening:
        """With whom it may ask, and a key of its own."""
        return msgspec.structs.replace(
            super().opening(given, lasts=lasts), may_ask=self.may_ask, key=self.clock.new_key()
        )

    may_ask: MayAsk | None = MayAsk.PEOPLE

    def _verbs(self) -> list[FunctionVerb[..., Any]]:
        did = self.did

        @verb(name="look.up", effect="read")
        def look_up(text: str) -> str:
            """Look something up."""
            did.append(("look.up", text))
            self.meanwhile.pop(text, int)()
            return text

        @verb(
            name="post.out",
            effect="send",
            arguments={"to": ArgumentRole.RECIPIENT, "text": ArgumentRole.CONTENT},
        )
        def post_out(to: str, text: str) -> str:
            """Send a text to somebody."""
            did.append(("post.out", text))
            if text == NOBODY_KNOWS:
                raise RuntimeError("cut off after it was sent")
            return to

        @verb(name="pay.out", effect="pay", arguments={"to": ArgumentRole.RECIPIENT})
        def pay_out(to: str) -> str:
            """Pay somebody."""
            did.append(("pay.out", to))
            return to

        @verb(
            name="post.all",
            effect="send",
            arguments={"to": ArgumentRole.RECIPIENT, "text": ArgumentRole.CONTENT},
        )
        def post_all(text: str, to: list[str] | None = None) -> str:
            """Send a text to some, or to everybody."""
            did.append(("post.all", text))
            return ", ".join(to or ())

        @verb(name="ask.out", effect="egress", arguments={"text": ArgumentRole.CONTENT})
        def ask_out(text: str) -> str:
            """Ask somebody elsewhere."""
            did.append(("ask.out", text))
            return text

        @verb(
            name="ring.out",
            effect="send",
            arguments={"to": ArgumentRole.RECIPIENT},
            retry=Retry(max_attempts=3),
        )
        def ring_out(to: str, context: VerbContext) -> str:
            """Ring somebody up, who never answers at the first attempt."""
            did.append(("ring.out", context.attempt))
            if context.attempt == 1:
                raise VerbError("no_answer", "nobody answers", retryable=True, happened=False)
            return to

        return [look_up, ask_out, post_out, post_all, pay_out, ring_out]

    async def begun(self, *calls: dict[str, Any], lasts: int = HOUR) -> str:
        """A run with these calls, driven until it waits or is over."""
        run = await self.open(CALLS, list(calls), lasts=lasts)
        await self.drive(run)
        return run

    async def asked(self, *calls: dict[str, Any], lasts: int = HOUR) -> ApprovalView:
        """The same, and what it waits for."""
        run = await self.begun(*calls, lasts=lasts)
        assert self.stored(run).status is Status.WAITING
        return (await self.desk.listed(DEFAULT_WORKSPACE))[0]

    async def decide(
        self,
        view: ApprovalView,
        *,
        approve: bool = True,
        by: Principal | str = BEN,
        digest: str = "",
        why: str = "",
        drive: bool = True,
    ) -> str:
        """A word about an approval, and the run goes on; gives the code with which it was refused,
        "" where it counts.
        """
        try:
            word = ApproverWord(approve=approve, digest=digest or view.row.digest, why=why)
            await self.desk.decide(DEFAULT_WORKSPACE, view.row.id, word, by)
        except OrdainError as error:
            return error.code
        if drive:
            await self.drive(view.row.run)
        return ""

    async def state(self, view: ApprovalView) -> ApprovalState:
        """Where it stands."""
        return ApprovalState((await self.desk.one(DEFAULT_WORKSPACE, view.row.id)).row.state)

    def came_to(self, run: str) -> list[str]:
        """What became of a run's calls."""
        from_run = self.stored(run)
        assert from_run.status is Status.COMPLETED, from_run.reason
        return msgspec.json.decode(self.bodies(run, RecordKind.ENDED)[0].result)

    async def go_on(self, run: str) -> None:
        """A run and those below it, to their ends."""
        await self.drive(run)
        for (child,) in self.store.query("SELECT id FROM runs WHERE parent IS NOT NULL"):
            await self.drive(child)
            await self.drive(run)

    def withdrawn(self) -> list[str]:
        """Why calls did not go out, of all runs."""
        runs = [run for (run,) in self.store.query("SELECT id FROM runs")]
        assert all(replay(self.stored(run), self.pinned(run), self.kinds).equal for run in runs)
        return [
            bytes(body.result).decode()
            for run in runs
            for body in self.bodies(run, RecordKind.OBSERVATION)
            if b'"result":"withdrawn"' in bytes(body.result)
        ]

    def pinned(self, run: str) -> Catalog:
        """The catalog that a run pins: the current one, or the one before that was narrowed."""
        current, before = self.services.catalogs.current, self.began
        return current if before is None or self.stored(run).catalog == current.digest else before

    def narrow(self, policy: Mapping[str, Any]) -> None:
        """Another policy; what runs began with is kept."""
        self.began = self.services.catalogs.current
        self.use_policy(policy)
