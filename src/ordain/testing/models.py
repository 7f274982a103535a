"""``ScriptedModels``: a model for a whole Ordain that answers by a typed script and records what it
was asked.

Which line answers depends on the request alone (purpose, verb, role, index, its typed inputs),
never on memory, so that a resumed run gets what the killed one would have got.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never, cast

import msgspec

from ordain.contracts.model_policy import ModelErrorCode
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.testing.proposals import (
    NOTICE,
    OUTPUT,
    Delayed,
    Failing,
    Hold,
    Proposal,
    ScriptedAnswer,
    as_said,
)
from ordain.testing.script import ScriptError

When = Callable[[ModelRequest], bool]
"""Whether a line answers this request, by its typed inputs for example."""
Replying = Callable[[ModelRequest], Any]
"""What answers a request: a typed answer, a text as it is, or a JSON value; None where the next
line may.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptLine:
    """One line of a script: what it answers, and which requests. What is "" or None fits any.

    ``role`` is that of the prompt's inputs, where a prompt has one; ``index`` counts the calls of a
    purpose in a run, from 0.
    """

    says: ScriptedAnswer | Replying
    purpose: str = ""
    verb: str = ""
    role: str = ""
    index: int | None = None
    when: When | None = None

    def fits(self, request: ModelRequest) -> bool:
        """Whether it answers this request."""
        return (
            self.purpose in ("", request.purpose)
            and self.verb in ("", request.verb)
            and self.role in ("", role_of(request))
            and self.index in (None, request.index)
            and (self.when is None or self.when(request))
        )


@dataclass(frozen=True, slots=True)
class ModelScript:
    """The lines of a scripted model; the first that fits a request answers it. Values: every change
    gives a new script.
    """

    lines: tuple[ScriptLine, ...] = ()

    @classmethod
    def of(
        cls, verbs: Mapping[str, Sequence[Any]] | None = None, **purposes: Sequence[Any]
    ) -> ModelScript:
        """Answers in order: the n-th call of a purpose in a run gets the n-th; ``verbs`` have a
        list each.

        An entry is a typed answer, a text as it is, or a JSON value.
        """
        lines = [
            ScriptLine(says=as_said(one), purpose=purpose, index=index)
            for purpose, answers in purposes.items()
            for index, one in enumerate(answers)
        ]
        for verb, answers in (verbs or {}).items():
            lines += [
                ScriptLine(says=as_said(one), purpose=OUTPUT, verb=verb, index=index)
                for index, one in enumerate(answers)
            ]
        return cls(tuple(lines))

    def on(
        self,
        purpose: str,
        says: Any,
        *,
        verb: str = "",
        role: str = "",
        index: int | None = None,
        when: When | None = None,
    ) -> ModelScript:
        """One more line behind the others; ``says`` may be a function of the request, which gives
        None to leave it to the next line.
        """
        said = cast("Replying", says) if callable(says) else as_said(says)
        return ModelScript(
            (
                *self.lines,
                ScriptLine(
                    says=said, purpose=purpose, verb=verb, role=role, index=index, when=when
                ),
            )
        )

    def answer(self, request: ModelRequest) -> ScriptedAnswer | None:
        """What answers a request; None where no line does."""
        for line in self.lines:
            if line.fits(request):
                said = line.says(request) if callable(line.says) else line.says
                if said is not None:
                    return as_said(said)
        return None

    @property
    def told(self) -> str:
        """For which purposes it has lines, so that a misspelt one is seen."""
        found = sorted({line.purpose or "any" for line in self.lines})
        return f"the script has lines for {', '.join(found) or 'nothing'}"

    def __repr__(self) -> str:
        """How many lines, and for what."""
        return (
            f"<ModelScript of {len(self.lines)} lines for "
            f"{', '.join(sorted({line.purpose or 'any' for line in self.lines})) or 'nothing'}>"
        )


class ScriptedModels:
    """Implements ``ModelPort`` by a script: ``Extras(models={"default":
    ScriptedModels(planner=[…])})``.

    ``requests`` are all that it was asked, ``unscripted`` those without an answer, which came back
    as ``script_exhausted``. A delay beyond the request's time is a time-out at once; a shorter one
    is told to ``passes`` (milliseconds; move your clock there), and slept without.
    """

    def __init__(
        self,
        script: ModelScript | None = None,
        *,
        verbs: Mapping[str, Sequence[Any]] | None = None,
        passes: Callable[[int], None] | None = None,
        **purposes: Sequence[Any],
    ) -> None:
        """The lines of ``script`` come first, then the lists by purpose and verb
        (``ModelScript.of``).
        """
        more = ModelScript.of(verbs, **purposes)
        self.script = ModelScript((*(script.lines if script is not None else ()), *more.lines))
        self.requests: list[ModelRequest] = []
        self.unscripted: list[ModelRequest] = []
        self._passes = passes

    def asked(self, purpose: str, verb: str = "") -> list[ModelRequest]:
        """The requests of one purpose, of one verb where it is named, in order."""
        return [one for one in self.requests if one.purpose == purpose and verb in ("", one.verb)]

    def check(self) -> None:
        """Every request had an answer.

        Raises:
            ScriptError: one had none; the message names it.
        """
        if self.unscripted:
            raise ScriptError(
                f"nothing is scripted for {'; '.join(map(_told, self.unscripted))}: "
                f"{self.script.told}"
            )

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort.attempt``."""
        self.requests.append(request)
        said = self.script.answer(request)
        if said is None:
            self.unscripted.append(request)
            return ModelError(
                code=ModelErrorCode.SCRIPT_EXHAUSTED,
                message=f"nothing is scripted for {_told(request)}: {self.script.told}",
            )
        return await self._reply(said, request, heard)

    async def close(self) -> None:
        """Nothing is held."""

    async def _reply(
        self, said: ScriptedAnswer, request: ModelRequest, heard: Heard | None
    ) -> ModelReply | ModelError:
        match said:
            case Hold():
                await said.wait()
                return await self._reply(as_said(said.then), request, heard)
            case Delayed():
                if said.ms >= request.timeout_s * 1000:
                    return ModelError(
                        code=ModelErrorCode.TIMED_OUT,
                        message="the script waits longer than the time-out",
                    )
                if self._passes is None:
                    await asyncio.sleep(said.ms / 1000)
                else:
                    self._passes(said.ms)
                return await self._reply(as_said(said.item), request, heard)
            case Failing():
                return said.error
            case Proposal():
                if said.purpose not in ("", request.purpose):
                    message = f"the script answers {said.purpose}, and {_told(request)} was asked"
                    return ModelError(code=ModelErrorCode.SCRIPT_EXHAUSTED, message=message)
                words = said.said(plain=request.schema is None)
                if heard is not None and (text := _narrative(words, request)):
                    heard(text)
                    await asyncio.sleep(0)  # who listens gets a turn before the answer is there
                return ModelReply(
                    text=words,
                    model=request.profile.model,
                    input_tokens=said.input_tokens,
                    output_tokens=said.output_tokens,
                    notice=NOTICE,
                )
            case _:
                assert_never(said)

    def __repr__(self) -> str:
        """The script, and how much of it was asked for."""
        return (
            f"<ScriptedModels {self.script!r}, asked {len(self.requests)} times, "
            f"{len(self.unscripted)} times in vain>"
        )


def role_of(request: ModelRequest) -> str:
    """As whom the model is asked, or the role that a prompt speaks in: ``role`` of its typed
    inputs; "" where there is neither.
    """
    role = request.role or request.inputs.get("role", "")
    return role if isinstance(role, str) else ""


def _told(request: ModelRequest) -> str:
    return f"{request.purpose} {request.verb}".strip() + f" (call {request.index})"


def _narrative(text: str, request: ModelRequest) -> str:
    """What of an answer may be shown early: plain text all of it, of JSON the text at its place,
    keys joined by dots; "" where there is none.
    """
    if not request.narrative or request.schema is None:
        return text if request.narrative else ""
    try:
        value: Any = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return ""
    for key in request.narrative.split("."):
        value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""
