"""The model gateway's live side: render, check the bound, one attempt, withhold thoughts that may not be kept (B-37)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import perf_counter_ns

from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import ModelErrorCode, Policy
from ordain.errors import ConfigurationError
from ordain.flows.planner import PLANNER
from ordain.flows.prompting import Values, prompt_digest, prompt_inputs
from ordain.journal.digests import content_digest
from ordain.journal.records import ENCODER
from ordain.ports.effects import ModelAnswer, ModelCall, ModelFailed, ModelResult, Withheld
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.prompts.renderer import render
from ordain.rules.proposals import Unparsed, parse_object
from ordain.rules.step import directive_fault
from ordain.runtime.services import Services


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Which attempt of its run a call is.

    How many of its purpose were answered before, its key, the verb whose flow the run is ("": none), and who hears its text.
    """

    index: int
    key: str
    verb: str = ""
    heard: Heard | None = None


async def call_model(services: Services, catalog: Catalog, call: ModelCall, values: Values, attempt: Attempt) -> ModelResult:
    """One attempt. Whatever goes wrong is a value; cancelling abandons it."""
    profile = catalog.data.profiles[call.profile]
    current = services.catalogs.current.data.profiles.get(call.profile)
    port = services.models.get(call.profile)
    failure = _Failure(profile.provider, profile.model)
    if current is None or port is None or (current.provider, current.model) != (profile.provider, profile.model):
        return failure.of(ModelErrorCode.WITHDRAWN, f"model profile {call.profile} is no longer configured as it was")
    verb = call.contract.removeprefix("verb:") if call.purpose == "verb" else attempt.verb
    if verb and (why := verb_withdrawn(services, verb)) is not None:
        return failure.of(ModelErrorCode.WITHDRAWN, why)
    left_us = call.deadline - services.clock.now()
    if left_us <= 0:
        return failure.of(ModelErrorCode.TIMED_OUT, "deadline passed before the call")
    began = perf_counter_ns()
    try:
        resolved = prompt_inputs(catalog, call, values)
        prompt = render(resolved.source, resolved.inputs)
    except ConfigurationError as error:
        return failure.of(ModelErrorCode.REJECTED, error.message)
    services.counters.render_ns += perf_counter_ns() - began
    failure.prompt_digest = prompt_digest(prompt)
    size = len(prompt.system.encode()) + len(prompt.user.encode())
    if size > call.bound_tokens:
        return failure.of(ModelErrorCode.PROMPT_OVER_BOUND, f"the prompt has {size} bytes, reserved were {call.bound_tokens}")
    request = ModelRequest(
        profile=current,
        purpose=call.purpose,
        system=prompt.system,
        user=prompt.user,
        schema_name=call.contract.replace(":", "_").replace(".", "_"),
        schema=resolved.schema,
        max_tokens=call.max_tokens,
        timeout_s=left_us / 1e6,
        inputs=resolved.inputs,
        index=attempt.index,
        key=attempt.key,
        narrative=call.narrative if attempt.heard is not None else "",
    )
    services.counters.model_calls += 1
    try:
        async with asyncio.timeout(request.timeout_s):
            reply = await port.attempt(request, attempt.heard)
    except TimeoutError:
        return failure.of(ModelErrorCode.TIMED_OUT, "the provider did not answer in time", live=True)
    if isinstance(reply, ModelError):
        return failure.of(reply.code, reply.message, retry_after_ms=reply.retry_after_ms, live=True)
    return _answer(call, reply, failure, size, catalog.policy)


def verb_withdrawn(services: Services, verb_id: str) -> str | None:
    """Why the verb behind a run may not go on any more, or None: switching a verb off reaches what runs already."""
    current = services.catalogs.current
    if verb_id not in current.verbs:
        return f"{verb_id} is no longer registered"
    why = current.inactive_reason(verb_id, current.policy.verbs)
    return None if why is None else f"{verb_id} is switched off: {why}"


class _Failure:
    """Makes ``ModelFailed`` for one call."""

    def __init__(self, provider: str, model: str) -> None:
        self.provider, self.model = provider, model
        self.prompt_digest = ""

    def of(self, code: ModelErrorCode, message: str, *, retry_after_ms: int | None = None, live: bool = False) -> ModelFailed:
        return ModelFailed(
            code=code,
            message=message[:300],
            provider=self.provider,
            model=self.model,
            retry_after_ms=retry_after_ms,
            prompt_digest=self.prompt_digest,
            live=live,
        )


def _answer(call: ModelCall, reply: ModelReply, about: _Failure, prompt_size: int, policy: Policy) -> ModelResult:
    content: str | None = reply.text.encode(errors="replace").decode()
    size = len(content.encode())
    withheld: Withheld | None = None
    if not call.keep_thoughts and call.purpose == PLANNER:
        content, withheld = withhold(content or "", policy)
    estimated = reply.input_tokens is None or reply.output_tokens is None
    return ModelAnswer(
        content=content,
        withheld=withheld,
        provider=about.provider,
        model=reply.model,
        input_tokens=reply.input_tokens if reply.input_tokens is not None else prompt_size,
        output_tokens=reply.output_tokens if reply.output_tokens is not None else size,
        estimated=estimated,
        prompt_digest=about.prompt_digest,
        notice=reply.notice,
    )


def withhold(content: str, policy: Policy) -> tuple[str | None, Withheld | None]:
    """Blank the thought before the answer is recorded (B-37).

    An answer that is no directive, or not of a directive's shape, may hold a thought anywhere: it is kept as length, digest
    and reason. The reason is rule ``step``'s own, found on the whole answer, so that withholding changes no decision.
    """
    parsed = parse_object(content)
    reason = parsed.reason if isinstance(parsed, Unparsed) else directive_fault(parsed, policy)
    if reason is not None or isinstance(parsed, Unparsed):
        digest = content_digest(content.encode(errors="replace"))
        return None, Withheld(size_bytes=parsed.size_bytes, digest=digest, reason=str(reason))
    return ENCODER.encode({**parsed.value, "thought": None}).decode(), None
