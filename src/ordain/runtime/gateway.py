"""The model gateway's live side: one attempt, or two beside each other; what is sent and what is
kept of it, ``model_answers`` says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter_ns
from typing import Any

from msgspec import Struct, structs

from ordain.contracts.catalog import Catalog
from ordain.contracts.failure_words import ABANDONED
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile
from ordain.effects.effect import ModelCall
from ordain.effects.results import Beside, ModelAnswer, ModelFailed, ModelResult
from ordain.flows.kind import PromptKind
from ordain.flows.values import Values
from ordain.ports.model import Charge, Heard, ModelError, ModelPort, ModelReply, ModelRequest
from ordain.ports.verb import Withdrawing, nothing_withdrawn
from ordain.runtime.breakers import HeldBack, endpoint_of, is_answer, speaks_of_endpoint
from ordain.runtime.foreign_code import contained
from ordain.runtime.images import Images
from ordain.runtime.model_answers import (
    Failure,
    PreparedCall,
    heard_of,
    kept_answer,
    prepare,
    with_use,
)
from ordain.runtime.services import Services
from ordain.runtime.time_limit import TimeLimit, ended_within

Having = Callable[[Callable[[], PreparedCall | ModelFailed]], Awaitable[PreparedCall | ModelFailed]]
"""See ``ReadTranscript.having``."""


class Attempt(Struct, frozen=True, kw_only=True):
    """Which attempt of its run a call is.

    How many of its purpose were answered before, how what its prompt refers to is read, and its
    images, why the verb that the run carries out may not go on, and who hears its text.
    """

    index: int
    prompt: PromptKind[Any]
    having: Having
    within: Withdrawing = nothing_withdrawn
    images: Images | None = None
    heard: Heard | None = None


async def call_model(
    services: Services, catalog: Catalog, call: ModelCall, values: Values, attempt: Attempt
) -> ModelResult:
    """One attempt, and where the call has a hedge perhaps a second one beside it. Whatever goes
    wrong is a value; cancelling abandons.
    """
    asking = _ModelAttempt(services, catalog, call, values, attempt)
    if not call.hedge:
        return await asking.one(call.profile, attempt.heard)
    return await asking.hedged()


class _ModelAttempt(Struct, frozen=True):
    """One model call: everything that its attempts share."""

    services: Services
    catalog: Catalog
    call: ModelCall
    values: Values
    attempt: Attempt

    async def one(self, name: str, heard: Heard | None) -> ModelResult:
        """Ask one profile once."""
        services, call = self.services, self.call
        profile = self.catalog.data.profiles[name]
        current = services.catalogs.current.data.profiles.get(name)
        port = services.models.get(name)
        failure = Failure(profile.provider, profile.model)
        if (
            current is None
            or port is None
            or (current.provider, current.model) != (profile.provider, profile.model)
        ):
            return failure.of(
                ModelErrorCode.WITHDRAWN, f"model profile {name} is no longer configured as it was"
            )
        if (why := await self.attempt.within()) is not None:
            return failure.of(ModelErrorCode.WITHDRAWN, why)
        left_us = call.deadline - services.clock.now()
        if left_us <= 0:
            return failure.of(ModelErrorCode.TIMED_OUT, "deadline passed before the call")
        began = perf_counter_ns()
        prepared = await self.attempt.having(
            lambda: prepare(self.catalog, call, self.values, self.attempt.prompt, failure)
        )
        services.counters.render_ns += perf_counter_ns() - began
        if isinstance(prepared, ModelFailed):
            return prepared
        request = prepared.request(
            call,
            current,
            timeout_s=left_us / 1e6,
            index=self.attempt.index,
            heard=heard is not None,
            manner=services.ways.manner(name, current),
        )
        if current.vision and self.attempt.images is not None:
            images = await self.attempt.images.of(call)
            if images is None:
                return failure.of(
                    ModelErrorCode.REJECTED, "an image that the prompt shows was erased"
                )
            request = structs.replace(request, images=images) if images else request
        reply = await self._sent(name, port, request, heard_of(heard, prepared), failure)
        return (
            reply
            if isinstance(reply, ModelFailed)
            else kept_answer(call, self.catalog.policy, reply, failure, prepared)
        )

    async def _sent(
        self,
        name: str,
        port: ModelPort,
        request: ModelRequest,
        heard: Heard | None,
        failure: Failure,
    ) -> ModelReply | ModelFailed:
        """Through the circuit breaker to the provider and back."""
        services, policy = self.services, self.services.catalogs.current.policy.breaker
        breakers, profile = services.breakers, request.profile
        admitted = breakers.admit(name, profile, _steady(services), policy)
        if isinstance(admitted, HeldBack):
            known = admitted.code is not ModelErrorCode.CIRCUIT_OPEN or self._knows(name, profile)
            return failure.held_back(admitted, "left alone", known=known)
        services.counters.model_calls += 1
        limit = TimeLimit(request.timeout_s, services.clock.now)
        try:
            async with limit:
                reply = await port.attempt(request, heard)
        except TimeoutError:
            reply = ModelError(
                code=ModelErrorCode.TIMED_OUT, message="the provider did not answer in time"
            )
        except asyncio.CancelledError:
            if _given_up():
                breakers.abandoned(admitted)
                raise
            reply = ModelError(
                code=ModelErrorCode.ADAPTER_BUG, message="the adapter's own work was cancelled"
            )
        except BaseException:
            # whatever ends the attempt early, a probe must not stay under way for ever
            breakers.abandoned(admitted)
            raise
        at = services.clock.now()
        now = _steady(services, at)
        if is_answer(reply):
            breakers.heard_from(profile)
            services.ways.answered(name, profile, at)
        reply, lower = services.ways.heard(name, profile, reply, at, request)
        if isinstance(reply, ModelReply):
            breakers.ended(admitted, None, now, policy)
            return reply
        if speaks_of_endpoint(
            reply.code, profile, request.timeout_s * 1000, limit.lost_us() / 1000
        ):
            breakers.ended(admitted, reply.code, now, policy)
            breakers.rest(name, reply.code, reply.retry_after_ms, now, policy)
        else:
            breakers.abandoned(admitted)
        return self._failed(name, reply, request, failure, lower=lower)

    def _failed(
        self, name: str, reply: ModelError, request: ModelRequest, failure: Failure, *, lower: bool
    ) -> ModelFailed:
        """What became of an attempt that failed, once its circuit knows of it."""
        services, profile = self.services, request.profile
        if reply.code is ModelErrorCode.CONNECTION and reply.charge is Charge.NOTHING_SENT:
            policy = services.catalogs.current.policy.breaker
            return failure.unreached(
                reply.message,
                known=self._knows(name, profile),
                wait_ms=services.breakers.left_alone_ms(profile, _steady(services), policy),
            )
        failed = failure.of(
            reply.code,
            reply.message,
            retry_after_ms=reply.retry_after_ms,
            charge=reply.charge,
            held=reply.held,
        )
        return structs.replace(
            with_use(failed, reply, self.call),
            lower=lower,
            calls=reply.calls and bool(request.offered),
        )

    def _knows(self, name: str, profile: ModelProfile) -> bool:
        """Whether the profile's endpoint has ever answered: to this process, or to one before."""
        services = self.services
        return services.breakers.answered(profile) or services.ways.has_answered(name, profile)

    async def hedged(self) -> ModelResult:
        """Ask the call's profile, and after its delay the hedge as well; the first answer counts,
        and the other attempt is told beside it.

        The hedge has its own limit and its own time. A first one that nothing was heard of until
        another endpoint had answered has failed in that part, and after a few such failures hedged
        calls leave it alone: the hedge is asked at once then, and alone.
        """
        call, services = self.call, self.services
        profile, policy = (
            self.catalog.data.profiles[call.profile],
            services.catalogs.current.policy.breaker,
        )
        leading = services.breakers.admit_first(profile, _steady(services), policy)
        if isinstance(leading, HeldBack):
            return await self._hedge_alone(leading)
        second = self._second()
        spoke = overtaken = False

        def hearing(piece: str) -> None:
            nonlocal spoke
            spoke = True
            if self.attempt.heard is not None:
                self.attempt.heard(piece)

        heard = None if self.attempt.heard is None else hearing
        first = asyncio.ensure_future(
            contained("a model call", lambda: self.one(call.profile, heard))
        )
        asked = [first]
        try:
            if await ended_within(first, call.hedge_ms / 1000):
                return first.result()
            asked.append(
                asyncio.ensure_future(
                    contained("a model call", lambda: second.one(call.hedge, None))
                )
            )
            await _first_answer(asked)
            overtaken = (
                not (first.done() or spoke) and _answered(asked[1]) and self._elsewhere(call.hedge)
            )
        finally:
            for task in asked:
                task.cancel()
            try:
                await asyncio.gather(*asked, return_exceptions=True)
            finally:
                # whoever gives up may do so twice, and a probe must not stay under way for ever
                if overtaken or _answered(first):
                    services.breakers.ended(
                        leading,
                        ModelErrorCode.TIMED_OUT if overtaken else None,
                        _steady(services),
                        policy,
                    )
                else:
                    services.breakers.abandoned(leading)
        if _answered(first):
            return structs.replace(first.result(), beside=self._beside(call.hedge, asked[1]))
        return structs.replace(
            asked[1].result(), profile=call.hedge, beside=self._beside(call.profile, first)
        )

    def _second(self) -> _ModelAttempt:
        call = self.call
        return structs.replace(
            self,
            call=structs.replace(
                call, max_tokens=call.hedge_max_tokens, deadline=call.hedge_deadline
            ),
        )

    async def _hedge_alone(self, leading: HeldBack) -> ModelResult:
        """The hedge's answer, where the call's own profile is left alone: who waits for it waits no
        longer than without a hedge.
        """
        call, profile = self.call, self.catalog.data.profiles[self.call.profile]
        first = Failure(profile.provider, profile.model).held_back(
            leading, "left alone as the first of two", known=self._knows(call.profile, profile)
        )
        result = await self._second().one(call.hedge, self.attempt.heard)
        beside = self._failed_beside(call.profile, first)
        return structs.replace(result, profile=call.hedge, beside=beside)

    def _elsewhere(self, name: str) -> bool:
        """Whether a profile stands at another endpoint than the call's own: then its answer does
        not speak for that one.
        """
        profiles = self.catalog.data.profiles
        return endpoint_of(profiles[name]) != endpoint_of(profiles[self.call.profile])

    def _beside(self, name: str, task: asyncio.Future[ModelResult]) -> Beside:
        profile = self.catalog.data.profiles[name]
        result = None if task.cancelled() else task.result()
        if isinstance(result, ModelFailed):
            return self._failed_beside(name, result)
        return Beside(profile=name, provider=profile.provider, model=profile.model, code=ABANDONED)

    def _failed_beside(self, name: str, result: ModelFailed) -> Beside:
        profile = self.catalog.data.profiles[name]
        return Beside(
            profile=name,
            provider=profile.provider,
            model=profile.model,
            code=str(result.code),
            message=result.message,
            live=result.live,
            charged=result.charged,
            retry_after_ms=result.retry_after_ms,
            apart=result.apart,
            unanswered=result.unanswered,
            known=result.known,
            turn=result.turn,
            lower=result.lower,
            input_tokens=result.input_tokens,
            output_tokens=result.output_tokens,
            cached_tokens=result.cached_tokens,
            written_tokens=result.written_tokens,
        )


def _steady(services: Services, at: int | None = None) -> int:
    """The clock of rests and circuits: that of the wall, which does not step back here, or a model
    would be left alone for as long as that was ahead. ``at`` of whoever has just asked the wall's.
    """
    now = services.clock.now() if at is None else at
    services.lost.look(now)
    return now + services.lost.back_us


def _given_up() -> bool:
    """Whether somebody asked this task to end; a cancellation that nobody asked for would end the
    run's drive, and nobody would hear of it.
    """
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


async def _first_answer(tasks: Sequence[asyncio.Future[ModelResult]]) -> None:
    """Wait until one of them has an answer, or none is left."""
    pending = set(tasks)
    while pending and not any(_answered(task) for task in tasks):
        _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)


def _answered(task: asyncio.Future[ModelResult]) -> bool:
    return (
        task.done()
        and not task.cancelled()
        and task.exception() is None
        and isinstance(task.result(), ModelAnswer)
    )
