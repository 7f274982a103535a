"""A model call without its transport: the prompt as it is sent, and what is kept of what comes
back. Pure: gateway and scripted runs share it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, structs

from ordain.contracts.catalog import Catalog
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.policy import Policy
from ordain.contracts.profiles import ModelProfile, Structured
from ordain.contracts.visible import shows_nothing
from ordain.effects.effect import ModelCall, Read, VerbCall
from ordain.effects.results import AnyResult, ModelAnswer, ModelFailed, VerbTimedOut, Withheld
from ordain.errors import ConfigurationError
from ordain.flows.ask import VERB_CONTRACT
from ordain.flows.kind import PromptKind
from ordain.flows.pricing import cheaper_part
from ordain.flows.values import (
    PromptInputs,
    Values,
    advised_prompt,
    prompt_bytes,
    prompt_digest,
    sent_prompt,
)
from ordain.journal.digests import content_digest
from ordain.ports.model import Charge, Heard, ModelError, ModelReply, ModelRequest
from ordain.prompts.prompt import Prompt, render
from ordain.rules.seen_words import with_seen_words
from ordain.rules.thought_tags import canonical, spoken, without_thoughts
from ordain.runtime.breakers import NAMED_A_DELAY, HeldBack
from ordain.runtime.ways import Manner

R = TypeVar("R", ModelReply, ModelReply | ModelError)
REST_MS = 1000
"""A delay that a provider names is a rest from here on; a refusal that names a shorter one, or
nothing, is an attempt, or an outage would be a storm.
"""
AS_DECLARED = Manner()
ANSWER_CHARS = 262_144
TOKEN_CHARS = 16
"""An answer is looked at up to the larger of so many characters and so many for each token that was
asked for: no model says more, and to look through what a hostile endpoint sends takes time that
everybody waits.
"""
BELIEVED_TIMES = 16
"""A provider's token count is believed up to so many times what was reserved for it."""


class Failure:
    """Makes ``ModelFailed`` for one call."""

    def __init__(self, provider: str, model: str) -> None:
        """Nothing is rendered yet."""
        self.provider, self.model = provider, model
        self.prepared: PreparedCall | None = None

    def prompt_digest(self, held: Structured | None) -> str:
        """Of the prompt as it went out where its answer was held so; "" where there is none yet."""
        return "" if self.prepared is None else self.prepared.digest(held)

    def of(
        self,
        code: ModelErrorCode,
        message: str,
        *,
        retry_after_ms: int | None = None,
        charge: Charge = Charge.NOTHING_SENT,
        held: Structured | None = None,
    ) -> ModelFailed:
        """The failure with this code; nothing was sent unless ``charge`` says so. A provider that
        names a delay rests, which is no attempt.
        """
        live = charge is not Charge.NOTHING_SENT
        rests = live and code in NAMED_A_DELAY and (retry_after_ms or 0) >= REST_MS
        return ModelFailed(
            code=code,
            message=message[:300],
            provider=self.provider,
            model=self.model,
            retry_after_ms=retry_after_ms,
            apart=rests,
            known=rests,
            prompt_digest=self.prompt_digest(held),
            live=live,
            charged=charge is Charge.POSSIBLE if live else None,
            held=held or "",
        )

    def held_back(self, held: HeldBack, message: str, *, known: bool) -> ModelFailed:
        """Nothing was sent, since the model is left alone: no attempt. ``known``: its endpoint has
        answered before, or named the delay itself.
        """
        why = (
            f"{message} for another {held.wait_ms} "
            f"ms{'' if known else ', for it has answered nothing so far'}; nothing was sent"
        )
        failed = self.of(held.code, why, retry_after_ms=held.wait_ms)
        return structs.replace(
            failed, apart=True, unanswered=not known, known=known, turn=held.turn
        )

    def unreached(self, message: str, *, known: bool, wait_ms: int) -> ModelFailed:
        """Nothing was sent, since no connection could be made: no attempt. ``wait_ms``: so long the
        endpoint is left alone now; 0: it is not.
        """
        failed = self.of(ModelErrorCode.CONNECTION, message, retry_after_ms=wait_ms or None)
        turn = "rest" if wait_ms else ""
        return structs.replace(failed, apart=True, unanswered=not known, known=known, turn=turn)


class PreparedCall(Struct, frozen=True, kw_only=True):
    """What goes out: the rendered prompt, its kind, what it was rendered from, its size in bytes,
    and its content address.
    """

    kind: PromptKind[Any]
    prompt: Prompt
    inputs: PromptInputs
    size: int
    address: str

    def digest(self, held: Structured | None) -> str:
        """Content address of the prompt as it goes out where its answer is held so."""
        sent = sent_prompt(self.prompt, self.inputs, held or "")
        return self.address if sent is self.prompt else prompt_digest(sent)

    def request(
        self,
        call: ModelCall,
        profile: ModelProfile,
        *,
        timeout_s: float,
        index: int,
        heard: bool,
        manner: Manner = AS_DECLARED,
    ) -> ModelRequest:
        """The request of one attempt at ``profile``; ``index`` counts the run's calls of this
        purpose and role, ``heard`` says that somebody listens.
        """
        contract = self.kind.contract_of(call)
        return ModelRequest(
            profile=profile,
            purpose=call.purpose,
            verb=contract.removeprefix(VERB_CONTRACT) if contract.startswith(VERB_CONTRACT) else "",
            by_code=self.kind.by_code,
            system=self.prompt.system,
            user=self.prompt.user,
            schema_name=contract.replace(":", "_").replace(".", "_"),
            schema=self.inputs.schema,
            max_tokens=call.max_tokens,
            timeout_s=timeout_s,
            inputs=self.inputs.inputs,
            index=index,
            narrative=call.narrative if heard else "",
            held=manner.held,
            left=manner.left,
            words_first=manner.words_first,
            role=call.role,
            asked_temperature=call.temperature,
        )


def held_reply(given: object) -> ModelReply | ModelError:
    """What an adapter gave back, held to the type it should have; what is none of it is the
    adapter's failure, told by its name.
    """
    for kind, decoder in _HELD.items():
        if isinstance(given, kind):
            try:
                return decoder.decode(_ENCODER.encode(given))
            except (msgspec.MsgspecError, TypeError, ValueError, OverflowError):
                pass  # below is said what it is that has no such form, or it is made to have one
            try:
                return msgspec.convert(
                    {name: _plain(getattr(given, name)) for name in kind.__struct_fields__}, kind
                )
            except msgspec.ValidationError as error:
                return ModelError(
                    code=ModelErrorCode.ADAPTER_BUG,
                    message=f"the adapter gave back no {kind.__name__}: {error}"[:300],
                )
    return ModelError(
        code=ModelErrorCode.ADAPTER_BUG,
        message=f"the adapter gave back {type(given).__name__}"[:300],
    )


_ENCODER = msgspec.msgpack.Encoder()
_HELD: Mapping[type[ModelReply | ModelError], msgspec.msgpack.Decoder[ModelReply | ModelError]] = {
    kind: msgspec.msgpack.Decoder(kind) for kind in (ModelReply, ModelError)
}


def _plain(value: Any) -> Any:
    """A text as one that JSON has a form for, whatever subclass it is of."""
    return (
        str.encode(value, errors="replace").decode()
        if isinstance(value, str) and not isinstance(value, StrEnum)
        else value
    )


def prepare(
    catalog: Catalog, call: ModelCall, values: Values, prompt: PromptKind[Any], failure: Failure
) -> PreparedCall | ModelFailed:
    """The rendered prompt, within the bound that was reserved for it; ``failure`` is told its
    digest.
    """
    try:
        resolved = prompt.build(catalog, call, values)
        own = render(prompt.source_of(catalog, call), resolved.inputs, values.system_parts)
        rendered = advised_prompt(own, resolved, values.advice)
    except ConfigurationError as error:
        return failure.of(ModelErrorCode.REJECTED, error.message)
    whole = prompt_bytes(rendered)
    size = len(whole) - 1
    failure.prepared = PreparedCall(
        kind=prompt, prompt=rendered, inputs=resolved, size=size, address=content_digest(whole)
    )
    if size > call.bound_tokens:
        return failure.of(
            ModelErrorCode.PROMPT_OVER_BOUND,
            f"the prompt has {size} bytes, reserved were {call.bound_tokens}",
        )
    return failure.prepared


def looked_at(max_tokens: int) -> int:
    """How many characters of an answer are looked at where so many tokens were asked for."""
    return max(ANSWER_CHARS, TOKEN_CHARS * max_tokens)


def within_bound(reply: R, max_tokens: int) -> R:
    """A reply with as much of its text as is looked at, by whatever looks at it; what is left out
    its notice says.
    """
    if isinstance(reply, ModelError) or (chars := len(reply.text)) <= ANSWER_CHARS:
        return reply
    if chars <= (most := looked_at(max_tokens)):
        return reply
    notice = _told_too(reply.notice, _first(chars, most))
    return structs.replace(reply, text=reply.text[:most], notice=notice)


def heard_of(heard: Heard | None, prepared: PreparedCall) -> Heard | None:
    """Who listens hears no more of plain words than is kept of them."""
    left = prepared.inputs.words_most if prepared.inputs.schema is None else 0
    if heard is None or not left:
        return heard

    def hear(piece: str) -> None:
        nonlocal left
        kept = piece if len(piece) <= left else piece[:left]
        left -= len(kept)
        if kept or not piece:
            heard(kept)

    return hear


def kept_answer(
    call: ModelCall, policy: Policy, reply: ModelReply, about: Failure, prepared: PreparedCall
) -> ModelAnswer:
    """What may be kept of a reply (B-37), and what it is believed to have used."""
    asked = max(call.max_tokens, call.hedge_max_tokens)
    reply = within_bound(reply, asked)
    encoded, notice = reply.text.encode(errors="replace"), reply.notice
    text, size, prompt_size = encoded.decode(), len(encoded), prepared.size
    withheld: Withheld | None = None
    content: str | None
    if prepared.inputs.schema is None:
        content, cut = _kept_words(text, call, prepared.inputs.words_most)
        notice = _told_too(notice, cut)
    else:
        judged = with_seen_words(without_thoughts(text), prepared.inputs.words_at)
        content = judged
        if not call.keep_thoughts and prepared.kind.withhold is not None:
            kept = prepared.kind.withhold(judged, policy)
            if kept.content is None:
                withheld = Withheld(
                    size_bytes=kept.size_bytes,
                    digest=content_digest(judged.encode()),
                    reason=str(kept.reason),
                )
            content = kept.content
    given = _believed(reply.input_tokens, max(call.bound_tokens, prompt_size))
    said = _believed(reply.output_tokens, max(asked, size))
    if said is not None and said * TOKEN_BYTES_MOST < size:
        said = None  # what a stream begins its count with, and never went on to count
    return ModelAnswer(
        content=content,
        withheld=withheld,
        provider=about.provider,
        model=reply.model,
        input_tokens=prompt_size if given is None else given,
        output_tokens=size if said is None else said,
        cached_tokens=cheaper_part(reply.cached_tokens, given),
        written_tokens=min(reply.written_tokens, given or 0),
        estimated=given is None or said is None,
        prompt_digest=prepared.digest(reply.held),
        notice=notice,
        held=reply.held or "",
    )


def with_use(failed: ModelFailed, said: ModelError, call: ModelCall) -> ModelFailed:
    """The failure with what its answer told of its use, where that is all of it and can be
    believed: else it told of none, and all that was reserved is booked.
    """
    given = _believed(said.input_tokens, call.bound_tokens)
    answered = _believed(said.output_tokens, max(call.max_tokens, call.hedge_max_tokens))
    if not failed.live or not given or answered is None:
        return failed
    return structs.replace(
        failed,
        input_tokens=given,
        output_tokens=answered,
        cached_tokens=cheaper_part(said.cached_tokens, given),
        written_tokens=min(max(said.written_tokens, 0), given),
    )


def _kept_words(text: str, call: ModelCall, most: int) -> tuple[str, str]:
    """Plain words within their bound, and what is told of that: of a text that is longer its
    beginning counts, as of one that was cut elsewhere.
    """
    words = spoken(text)
    whole = canonical(text, words) if call.keep_thoughts else words
    if shows_nothing(words):
        return whole.removesuffix(words), ""
    if not most or len(words) <= most:
        return whole, ""
    return whole.removesuffix(words) + words[:most], _first(len(words), most)


def _first(chars: int, most: int) -> str:
    return f"the answer has {chars} characters, of which the first {most} are kept"


def _told_too(notice: str | None, more: str) -> str | None:
    return "; ".join(filter(None, (notice, more))) or notice


TOKEN_BYTES_MOST = 64
"""A text has a token for so many bytes at least."""


def _believed(count: int | None, most: int) -> int | None:
    """A provider's count, if it can be: less than none would fill an account, more than so many
    times what was reserved would empty every one at one stroke.
    """
    return None if count is None or not 0 <= count <= BELIEVED_TIMES * most else count


TIMER_SLACK_US = 100_000
"""A timer on the monotonic clock may fire a little before the wall clock's deadline; only then is
the deadline the record's time.
"""


def timed_out_at(
    effect: ModelCall | VerbCall | Read, result: AnyResult | None, clock: Callable[[], int]
) -> int | None:
    """When an effect ended that came to its deadline, where its timer fired a little early; None of
    any other, which ends now by the ``clock``, that is not asked then.
    """
    if not (
        isinstance(result, VerbTimedOut)
        or (isinstance(result, ModelFailed) and result.code is ModelErrorCode.TIMED_OUT)
    ):
        return None
    deadline, now = _deadline_of(effect, result), clock()
    return max(now, deadline) if deadline - now < TIMER_SLACK_US else None


def _deadline_of(effect: ModelCall | VerbCall | Read, result: AnyResult | None) -> int:
    """The one that the effect had: of a hedged call that of whoever is heard last."""
    if isinstance(effect, ModelCall) and isinstance(result, ModelFailed) and result.profile:
        return effect.hedge_deadline
    return effect.deadline


def lost_call(catalog: Catalog, effect: ModelCall) -> ModelFailed:
    """What is known of a call that the process stopped in."""
    profile = catalog.data.profiles[effect.profile]
    return ModelFailed(
        code=ModelErrorCode.LOST,
        message="the process stopped during the call",
        provider=profile.provider,
        model=profile.model,
        apart=True,
    )
