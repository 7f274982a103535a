"""What an embedder asks a running Ordain for, with types: plans, verbs, agents, the council,
messages and their answers.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeVar, cast, overload

from pydantic import BaseModel

from ordain.contracts.access import EMBEDDER
from ordain.contracts.agent_verbs import INTENT_CHARS, WhyHanded
from ordain.contracts.cards import AGENT_VERB
from ordain.contracts.conversation import Message, MessageAnswer, RoutingHints
from ordain.contracts.council import DeliberationRequest
from ordain.contracts.events import SessionEvent
from ordain.contracts.ids import DEFAULT_WORKSPACE, WorkspaceId
from ordain.contracts.model_keys import read_contract
from ordain.contracts.nearest import no_such
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.results import (
    CallResult,
    DeliberationResult,
    PlanResult,
    answer_schema,
    asked_again,
    read_as,
)
from ordain.contracts.several import several
from ordain.contracts.verbs import VerbRequest
from ordain.errors import CallerError, InvalidRequest
from ordain.runtime.attachments import file_read
from ordain.runtime.awaited_answers import Acknowledged
from ordain.runtime.door import Runtime

T = TypeVar("T")
NOTHING: Mapping[str, Any] = MappingProxyType({})


class Embedded(Protocol):
    """Whoever has a door can be asked through it; each request is the one that a face would make of
    it.
    """

    @property
    @abstractmethod
    def runtime(self) -> Runtime:
        """The door: everything that may be asked of a running Ordain.

        Raises:
            Conflict: it was not started (``not_started``).
        """
        ...

    @overload
    async def plan(
        self, request: PlannerRequest | Mapping[str, Any]
    ) -> PlanResult[dict[str, Any]]: ...
    @overload
    async def plan(
        self, request: PlannerRequest | Mapping[str, Any], *, output_type: type[T]
    ) -> PlanResult[T]: ...
    async def plan(
        self, request: PlannerRequest | Mapping[str, Any], *, output_type: type[Any] | None = None
    ) -> PlanResult[Any]:
        """Run a planning request to its end. A run that fails is a result with its error, never an
        exception.

        ``output_type`` (a Pydantic model, a dataclass or a TypedDict) is what the answer's
        structured part is of: an answer that does not fit its JSON Schema is asked for once more,
        as policy grants it, and then the run fails with ``step.answer.invalid``. One that only the
        type's own checks refuse is asked for once more by a second run, without tools, where policy
        grants any try; then the result is that run's.

        Raises:
            ValidationError: the request is not of its contract's shape.
            CallerError: ``output_type`` cannot be asked for, or its own checks, which no schema can
                say, refuse the answer again (``output_mismatch``: the details name the run, which
                holds it).
            Conflict: this Ordain was not started (``not_started``).
        """
        parsed = (
            request
            if isinstance(request, PlannerRequest)
            else read_contract(PlannerRequest, request)
        )
        if output_type is not None:
            parsed = PlannerRequest.model_validate(
                {
                    **parsed.model_dump(exclude_unset=True),
                    "answer_schema": answer_schema(output_type),
                }
            )
        told = await self._planned(parsed)
        if not told.ok or output_type is None:
            return told
        try:
            return PlanResult(told.wire, read_as(output_type, told.output, told.run_id))
        except CallerError as refused:
            tries = self.runtime.services.catalogs.current.policy.step.reask
            if (again := asked_again(parsed, told.output, refused) if tries else None) is None:
                raise
        told = await self._planned(again)
        return (
            PlanResult(told.wire, read_as(output_type, told.output, told.run_id))
            if told.ok
            else told
        )

    async def _planned(self, request: PlannerRequest) -> PlanResult[Any]:
        """What a request came to, its answer's structured part as it was recorded."""
        runtime = self.runtime
        accepted = await runtime.accept(request, EMBEDDER)
        told: PlanResult[Any] = PlanResult(runtime.response(await runtime.wait(accepted.run)))
        return PlanResult(told.wire, told.wire["final_answer"]["structured"]) if told.ok else told

    @overload
    async def execute(
        self, verb_id: str, payload: Mapping[str, Any]
    ) -> CallResult[dict[str, Any]]: ...
    @overload
    async def execute(
        self, verb_id: str, payload: Mapping[str, Any], *, output_type: type[T]
    ) -> CallResult[T]: ...
    async def execute(
        self, verb_id: str, payload: Mapping[str, Any], *, output_type: type[Any] | None = None
    ) -> CallResult[Any]:
        """Run one verb. A verb that fails is a result with its error; ``output_type`` is what it
        returns.

        Raises:
            ValidationError: the payload is no mapping of names to JSON values.
            CallerError: ``output_mismatch``: what it returned is not of that type; the details name
                the run.
        """
        given = dict(payload) if isinstance(cast(object, payload), Mapping) else payload
        request = read_contract(
            VerbRequest, {"verb_id": verb_id, "payload": given, "caller": "python"}
        )
        accepted = await self.runtime.accept(request, EMBEDDER)
        return _called(self.runtime.response(await self.runtime.wait(accepted.run)), output_type)

    async def delegate(
        self,
        agent: str,
        task: str,
        *,
        intent: str = "",
        reason: WhyHanded = WhyHanded.REQUESTED,
        payload: Mapping[str, Any] = NOTHING,
        **wishes: Any,
    ) -> CallResult[dict[str, Any]]:
        """Hand a task to an agent, and wait for what comes back: the reply of its verb. It waits
        too for the yes that policy wants.

        ``intent`` is the task where nobody says it; ``wishes`` are its other arguments:
        ``forward_skills``, ``priority``, ``return_expected``, ``tools``, ``fallback_tools``.
        """
        args = {
            "task": task,
            "intent": intent or task[:INTENT_CHARS],
            "reason": str(reason),
            "payload": dict(payload),
            **wishes,
        }
        request = VerbRequest(verb_id=f"{AGENT_VERB}{agent}", payload=args, caller="python")
        return _called(await self._asked(request), None)

    async def council(self, prompt: str, **more: Any) -> DeliberationResult:
        """Ask the council, and wait for what it came to; ``more`` are the request's other fields
        (``universe``, ``history``, ``max_rounds``, …).

        Raises:
            ValidationError: the request is not of its contract's shape.
        """
        return DeliberationResult(
            await self._asked(read_contract(DeliberationRequest, {"prompt": prompt, **more}))
        )

    async def _asked(self, request: BaseModel) -> dict[str, Any]:
        """What a request came to that may wait for people."""
        accepted = await self.runtime.accept(request, EMBEDDER, waits=True)
        return self.runtime.response(await self.runtime.wait(accepted.run))

    async def send(
        self,
        message: Message | Mapping[str, Any],
        *,
        attachments: Sequence[Path | str] = (),
        workspace: str = DEFAULT_WORKSPACE,
    ) -> Acknowledged:
        """Send a message into its session; it is durable when this returns, and answered later
        (``answer``, ``stream``).

        ``attachments`` are files that go with it, beside those that stand in it
        (``Attachment.of``).

        Raises:
            ValidationError: the message is not of its contract's shape.
            ConfigurationError: a file cannot be read (``cannot_read``), or ``attachments`` is no
                list (``usage``).
            InvalidRequest: a file is not taken (``attachment_unread``, …).
            Refused: the session has as many turns going as policy permits (``session_busy``).
            Conflict: the message id came before with another content (``message_id_reused``).
        """
        parsed = message if isinstance(message, Message) else read_contract(Message, message)
        if named := several(attachments, "attachments"):
            files = await asyncio.to_thread(lambda: [file_read(Path(one)) for one in named])
            content = parsed.message.model_copy(
                update={"attachments": [*parsed.message.attachments, *files]}
            )
            parsed = parsed.model_copy(update={"message": content})
        return await self.runtime.receive(parsed, EMBEDDER, WorkspaceId(workspace))

    async def answer(
        self, sent: Acknowledged, *, workspace: str = DEFAULT_WORKSPACE
    ) -> MessageAnswer:
        """Wait until a message is answered: by a reply, by a question back, or because nothing
        follows from it.
        """
        return await self.runtime.conversation.answer(workspace, sent)

    async def chat(
        self,
        text: str,
        *,
        session: str = "python",
        user: str = "local",
        attachments: Sequence[Path | str] = (),
        **hints: Any,
    ) -> MessageAnswer:
        """Say something and wait for the answer; ``hints`` are routing hints: ``mode``, ``verb``,
        ``allowed_verbs``, ``max_steps``.

        Raises: as ``send``; InvalidRequest: there is no such hint.
        """
        known = RoutingHints.model_fields
        for name in hints:
            if name not in known:
                about = "; output_type is plan's, whose answer is a type" * (name == "output_type")
                raise InvalidRequest(f"{no_such('hint', name, known)}{about}")
        message = {
            "session_id": session,
            "user_id": user,
            "message": {"text": text},
            "context": {"routing_hints": hints},
        }
        return await self.answer(await self.send(message, attachments=attachments))

    async def stream(
        self, session: str, *, after: int = 0, workspace: str = DEFAULT_WORKSPACE
    ) -> AsyncGenerator[SessionEvent, None]:
        """A session's events after entry ``after``, until it is erased: what was said as it becomes
        durable, provisional text between. Raises as ``Runtime.check_after``.
        """
        await self.runtime.check_after(workspace, session, after)
        events = self.runtime.conversation.events(workspace, session, after)
        async with aclosing(events):
            async for event in events:
                yield event


def _called(wire: dict[str, Any], output_type: type[Any] | None) -> CallResult[Any]:
    output = wire["output"]
    if output_type is None:
        return CallResult(wire, output)
    return CallResult(
        wire, read_as(output_type, output, str(wire.get("run_id") or "")) if wire["ok"] else None
    )
