"""Verbs that record: a declared verb with a script, or a look at its own code, in place of what it
does.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

from msgspec import structs

from ordain import VerbContext, VerbError
from ordain.contracts.verbs import VerbSpec
from ordain.ports.verb import LeafFailed, LeafReturned, LeafTimedOut
from ordain.testing.proposals import Delayed, Hold
from ordain.testing.script import Ran, ScriptError, returned


class _Signed(Protocol):
    """What is needed of a verb's signature."""

    @property
    def wraps(self) -> bool:
        """Whether the output is ``{"result": …}``."""
        ...

    @property
    def context(self) -> bool:
        """Whether the function takes the call's context."""
        ...


class Declared(Protocol):
    """A verb made by ``@verb``."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def spec(self) -> VerbSpec:
        """Its declaration."""
        ...

    @property
    def function(self) -> Callable[..., Any]:
        """Its code."""
        ...

    @property
    def signature(self) -> _Signed:
        """Its parameters and result."""
        ...


V = TypeVar("V", bound=Declared)
VerbAnswer = Ran | Hold | Delayed | Mapping[str, Any]
"""What a scripted verb gives: ``returned``, ``failed`` or ``hung``, an output as a mapping, held
back or late.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One attempt: its arguments as the verb's code gets them, and the call's context
    (``VerbContext``).
    """

    args: dict[str, Any]
    context: VerbContext

    @property
    def key(self) -> str:
        """The idempotency key, shared by all attempts of one authorised call."""
        return self.context.key

    @property
    def attempt(self) -> int:
        """Which attempt it is, from 1."""
        return self.context.attempt

    @property
    def session(self) -> str:
        """The conversation it is made for; "" for none."""
        return self.context.session


class RecordingVerb(Generic[V]):
    """A verb that records its calls: ``Ordain(verbs=[recording.verb])``. Declaration and schemas
    stay what ``@verb`` made of them.
    """

    def __init__(
        self, declared: V, answers: Sequence[VerbAnswer] | Callable[[RecordedCall], VerbAnswer]
    ) -> None:
        """``answers`` in order of the calls, or by call; none at all: the verb's own code
        answers.
        """
        self._declared, self._answers = declared, answers
        self._listed = None if callable(answers) or not answers else list(answers)
        self.calls: list[RecordedCall] = []
        signature: Any = structs.replace(cast("Any", declared.signature), context=True)
        self.verb: V = dataclasses.replace(
            cast("Any", declared), function=self._run, signature=signature, asynchronous=True
        )

    @property
    def left(self) -> int:
        """How many answers nobody has asked for yet."""
        return len(self._listed or ())

    async def _run(self, *, context: VerbContext, **args: Any) -> Any:
        call = RecordedCall(args=args, context=context)
        self.calls.append(call)
        if callable(self._answers):
            return await self._given(self._answers(call), call)
        if self._listed is None:
            return await self._own(call)
        if not self._listed:
            raise VerbError(
                "script_exhausted",
                f"{self._declared.spec.name} has no answer for call {len(self.calls)}",
                happened=False,
            )
        return await self._given(self._listed.pop(0), call)

    async def _own(self, call: RecordedCall) -> Any:
        """The verb's own code; a plain function's runs here, and not in a thread."""
        more = {"context": call.context} if self._declared.signature.context else {}
        value = self._declared.function(**call.args, **more)
        return await value if inspect.isawaitable(value) else value

    async def _given(self, answer: VerbAnswer, call: RecordedCall) -> Any:
        match answer:
            case Hold():
                await answer.wait()
                return (
                    await self._own(call)
                    if answer.then is None
                    else await self._given(answer.then, call)
                )
            case Delayed():
                await asyncio.sleep(answer.ms / 1000)
                return await self._given(answer.item, call)
            case Ran():
                return await self._result(answer)
            case _:
                return await self._result(returned(answer))

    async def _result(self, ran: Ran) -> Any:
        match ran.result:
            case LeafReturned(output=output, trust=trust):
                if trust:
                    raise ScriptError(
                        "a recording verb returns with the trust that its declaration says"
                    )
                return output["result"] if self._declared.signature.wraps else output
            case LeafFailed() as given:
                wait_s = given.retry_after_ms / 1000
                raise VerbError(
                    given.code,
                    given.message,
                    retryable=given.retryable,
                    happened=given.happened,
                    retry_after_s=wait_s,
                )
            case LeafTimedOut():
                return await asyncio.Event().wait()  # until its time is over
            case given:
                raise ScriptError(
                    f"a verb's code cannot give {type(given).__name__}: that is the runtime's "
                    "to say"
                )

    def __repr__(self) -> str:
        """The verb, its calls, and what is left of its answers."""
        return (
            f"<RecordingVerb {self._declared.spec.name}, called {len(self.calls)} times, "
            f"{self.left} answers left>"
        )


def recorded(
    declared: V, *answers: VerbAnswer, by: Callable[[RecordedCall], VerbAnswer] | None = None
) -> RecordingVerb[V]:
    """Record the calls of a verb, and answer them in order, ``by`` call, or by its own code where
    nothing is said.
    """
    return RecordingVerb(declared, answers if by is None else by)
