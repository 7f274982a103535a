"""What a kind of run is, as a value: its flow, its prompts and rules, and all that others need to
know of it. ``flows.kinds`` holds those of a build.

Nobody outside this room and the composition root names a kind: whoever needs one looks it up by
what it does (``Serves``, the request that it answers) or by what a run's own record says. So the
next kind touches its own folder only.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Raw, Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Lane, Policy
from ordain.contracts.scope import CapabilityScope
from ordain.effects.calls import Call
from ordain.effects.children import AnyEnded
from ordain.effects.effect import ModelCall
from ordain.effects.results import ModelAnswer
from ordain.errors import ConfigurationError
from ordain.flows.commission import Commission
from ordain.flows.context import ALONE, Carrying, FlowContext
from ordain.flows.shared_claim import SharedClaim
from ordain.flows.values import PromptInputs, Values
from ordain.journal.records import Label, Status, raw
from ordain.ports.model import ByCode
from ordain.rules.decision import Rule
from ordain.rules.header import HeaderLine
from ordain.rules.rulebook import ASKED_IN_STEPS, NO_FLOW_ASKS, Rulebook
from ordain.rules.shared import SHARED, SharedRule
from ordain.rules.thoughts import KeptThoughts

I = TypeVar("I")  # noqa: E741 - input, as in ordain.rules.decision
O = TypeVar("O")  # noqa: E741 - output
G = TypeVar("G")
W = TypeVar("W")

NO_LABEL = Label()
NO_SCOPE = CapabilityScope()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """How a flow's output settles its run: the status and a stable code; ``message`` says more to a
    person, "" where the code says it all.
    """

    status: Status
    reason: str
    message: str = ""


class FailedStep(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The call of a verb that a run failed at (C5), and what it said; ``workflow`` is the run of
    the workflow that it was a step of, where that is another.
    """

    verb: str
    output: str
    workflow: str = ""

    @property
    def extension(self) -> str:
        """What the verb belongs to: its id up to the last dot, all of it where there is none."""
        return self.verb.rpartition(".")[0] or self.verb


_STATUS_OF = {
    "": Status.COMPLETED,
    **dict.fromkeys(("cancelled", "interrupted", "cancellation_requested"), Status.CANCELLED),
    **dict.fromkeys(
        ("timed_out", "timeout", "question_expired", "repair_expired"), Status.TIMED_OUT
    ),
}


class Erring(Protocol):
    """A flow's output that says what went wrong: a code, or an error with its code; nothing where
    all went well.
    """

    @property
    def error(self) -> str | Mapping[str, str] | None:
        """The code, or an error with its code."""
        ...


class Explaining(Protocol):
    """A flow's output that says what went wrong by a code, "" where all went well, and in words."""

    @property
    def error(self) -> str:
        """The code."""
        ...

    @property
    def message(self) -> str:
        """The words."""
        ...


def settled_by_error(output: Erring) -> Settlement:
    """How an output's typed error settles its run; a code that is not in the table is a failure."""
    error = output.error or ""
    if isinstance(error, str):
        return _settled(error, "")
    return _settled(error["code"], error.get("message", ""))


def settled_in_words(output: Explaining) -> Settlement:
    """The same where the code and its words stand beside each other."""
    return _settled(output.error, output.message)


def _settled(code: str, message: str) -> Settlement:
    return Settlement(
        status=_STATUS_OF.get(code, Status.FAILED), reason=code or "ok", message=message
    )


# --- prompts --------------------------------------------------------------------------------------


class ModelQuestion(Struct, frozen=True, kw_only=True):
    """What to ask: the records that the prompt is made from, its literals, its bounds in tokens,
    and what of the answer may be shown early.

    ``template`` and ``contract`` are the prompt kind's own where they are "". ``role`` and
    ``temperature`` are as in ``ModelCall``. ``timeout_ms`` bounds one attempt below its profile's
    own time, ``attempts`` how many there may be in all below policy's; 0 leaves each. ``images``
    counts those that the prompt shows.
    """

    refs: tuple[int, ...]
    args: dict[str, Any]
    prompt_tokens: int
    max_tokens: int
    narrative: str = ""
    template: str = ""
    contract: str = ""
    role: str = ""
    temperature: float | None = None
    timeout_ms: int = 0
    attempts: int = 0
    images: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptKind(Generic[G]):
    """One thing that models are asked for. ``ask`` puts the question on record, ``build`` makes the
    prompt from that record again.

    Both directions stand in one module. ``lane`` is the lane where policy's table ``lanes`` names
    none for the purpose. ``template`` is a file of ``package`` and a name in the catalog; "" where
    each call names one of the catalog's. ``withhold`` blanks what may not be kept of an answer
    (B-37).
    """

    purpose: str
    contract: str
    lane: Callable[[Policy], Lane]
    ask: Callable[[FlowContext, G], ModelQuestion]
    build: Callable[[Catalog, ModelCall, Values], PromptInputs]
    template: str = ""
    package: str = ""
    withhold: Callable[[str, Policy], KeptThoughts] | None = None
    by_code: ByCode = ByCode.NOTHING

    def contract_of(self, call: ModelCall) -> str:
        """The contract of a recorded call's answer."""
        return call.contract or self.contract

    def source_of(self, catalog: Catalog, call: ModelCall) -> str:
        """The source of a recorded call's template, as the catalog has it.

        Raises:
            ConfigurationError: the catalog has no such template.
        """
        name = call.prompt or self.template
        if (source := catalog.data.prompts.get(name)) is None:
            raise ConfigurationError(f"the catalog has no prompt {name}", code="unknown_prompt")
        return source


# --- what comes from outside, and what goes back --------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A request from outside as its run gets it: the input, and the identity of the request."""

    input: Raw
    request_id: str | None
    digest: str
    keep_thoughts: bool = True


UNKNOWN_VERB = "unknown_verb"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """A run that rests, for a response: its output (null where it has none, ``why`` then), its
    header and the ``verdict`` that opens it ("": none), and the request as it was taken ({} once
    erased).

    ``handed`` reads what records handed to the flow; ``may_pass`` says whether a failure with this
    code may pass, None where nobody knows. ``remedies`` is what people can do about errors of
    models in it, by code; ``meant`` which verb was probably meant by a name that is none, as
    ``nearest.did_you_mean`` says it; ``confirms`` what people do about a verb that is off until it
    is confirmed, "" of another; ``misfits`` which of a verb's arguments do not fit, by name, for
    whoever gave them. ``raw_cortex`` is what runs below it replied, word for word, by run: empty
    unless somebody looks into the trace (B-04). ``reasons`` are the codes of what a rule decided in
    it, in order. ``carried`` says how the run ended that it opened first to carry out a verb once a
    rule had decided, None where there is none.
    """

    run: str
    status: Status
    header: str
    output: Raw
    given: Mapping[str, Any]
    erased: bool
    why: str
    verdict: str
    handed: Callable[[Iterable[int]], Values]
    may_pass: Callable[[str], bool | None]
    remedies: Mapping[str, str] = field(default_factory=dict[str, str])
    meant: Callable[[str], str] = lambda _: ""
    confirms: Callable[[str], str] = lambda _: ""
    misfits: Callable[[str, Mapping[str, Any]], str] = lambda _, __: ""
    raw_cortex: Mapping[str, str] = field(default_factory=dict[str, str])
    reasons: Callable[[str], Sequence[str]] = lambda _: ()
    carried: Callable[[str, str], AnyEnded | None] = lambda _, __: None

    def with_meant(self, error: Mapping[str, Any], name: str) -> dict[str, Any]:
        """An error; of a name that is no verb, with the verb that was probably meant."""
        meant = self.meant(name) if error["code"] == UNKNOWN_VERB else ""
        return {**error, "message": error["message"].rstrip(".") + meant} if meant else dict(error)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerHad:
    """A model's answer that a run had, and how long it took."""

    answer: ModelAnswer
    elapsed_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire(Generic[W]):
    """How callers from outside reach a kind: the contract of their request, how it is taken, and
    what they are answered.

    ``take`` gets the request, the catalog and the id that the run will have, and refuses what only
    the catalog can judge (``InvalidRequest``). ``other`` is the code with which a run of another
    kind is refused where this one's answer is asked for. ``said`` are the parts of the response in
    which a model speaks: the addresses in them stand beside it, as ``links``. ``exact`` are the
    places of the response, such as ``a.b``, that are given as they were recorded; of all others no
    text commands what shows it.
    """

    contract: type[W]
    take: Callable[[W, Catalog, str], Taken]
    response: Callable[[Ending], dict[str, Any]]
    other: str
    said: tuple[str, ...]
    exact: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """What policy's probes may expect of a kind that answers requests: what it makes of a message
    before it does anything.

    ``until`` is the rule with whose decision that is known; until then a model that it asks says
    what the probe has it suggest. ``found`` are the names and values that came out, from the
    outcomes so far by rule; ``closed`` the sets of those that have one.
    """

    until: str
    found: Callable[[Mapping[str, Any]], Mapping[str, str]]
    closed: Mapping[str, type[StrEnum]]


class Serves(StrEnum):
    """What a conversation needs runs for: to answer a request, to tell how things stand, to find
    out what a message means.
    """

    REQUEST = "request"
    STATUS = "status"
    PLACING = "placing"


# --- kinds ----------------------------------------------------------------------------------------


def no_label(_: Any) -> Label:
    """Of most runs nobody needs to know anything."""
    return NO_LABEL


def whole_output(output: Raw) -> str:
    """Most kinds' outputs are shown as they are."""
    return bytes(output).decode()


def no_words(_: Any) -> str:
    """Some runs nobody asked for in words."""
    return ""


def no_grant(_: Any, __: Catalog) -> CapabilityScope:
    """Most kinds use no verb as roots."""
    return NO_SCOPE


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[I, O]):
    """A kind of run. A run pins (name, version); a build that lacks it cannot resume that run.

    ``label`` is what others are told of a run with this input; ``words`` what was asked for, for
    people who look for it in a list; ``grant`` what a root with it may use. ``reply`` is what the
    run's session is answered from the output, below the header, and ``header`` lines of its own
    that the output adds there; None where there is nothing. ``excerpt`` is what a parent's header
    shows of its output, as JSON text. ``failed`` is the call that an output names as what it failed
    at. ``only_calls``: such a run does nothing beside the calls that it makes, so that a parent's
    header marks those as done, and not the run. ``cortex`` is the reply that the sources'
    orchestrator gives for what such a run carried out, from its end and the answers that it had,
    for who looks into a trace (B-04); None where there is none. ``recounts`` is what a later run of
    the same planning session is told of one; None: nothing. ``rules`` are those that its flow asks
    itself; ``asks`` has them by name, beside those of the steps that kinds share. ``charged``: a
    root takes its bound out of the shared accounts before it spends. ``carries`` is the verb call
    that a run carries out, None where it is for none: as a child it is opened by a permit of
    exactly that call. ``carrying`` is how, for whoever makes the call; it stands in callers'
    records, so it holds for all versions of a name. ``nests``: a call that it carries out counts as
    a verb call inside a verb call. ``raises``: how deep calls may be nested its verb's declaration
    says for those below it, too. ``routing`` is how it finds its way, for policy's probes, where it
    answers requests. ``enters``: a root may call what a turn enters by. ``escalates``: the verbs
    among those that a run of it may call, root or child, where its own rules say so. ``profiles``:
    its flow decides by itself, at a place of its own, which pinned profile holds; of others that is
    decided before they begin. ``sums_up`` is the number of the message below which a root may sum
    up its session's transcript; None: it may not. ``judged``: the headers of its runs open with a
    verdict (RTE-12); what was recorded without one stays without. ``claims`` are shared decisions
    of its own; ``shares`` has their rules by name, beside the house's.
    """

    name: str
    version: int
    run: Callable[[FlowContext, I], Coroutine[Any, Any, O]]
    decode_input: Callable[[Raw], I]
    settle: Callable[[O], Settlement]
    label: Callable[[I], Label] = no_label
    words: Callable[[I], str] = no_words
    grant: Callable[[I, Catalog], CapabilityScope] = no_grant
    prompts: tuple[PromptKind[Any], ...] = ()
    rules: tuple[Rule[Any, Any, Any], ...] = ()
    reply: Callable[[O], str | None] | None = None
    header: Callable[[O], tuple[HeaderLine, ...]] | None = None
    excerpt: Callable[[Raw], str] = whole_output
    failed: Callable[[O], FailedStep | None] | None = None
    only_calls: bool = False
    cortex: Callable[[Ending, Sequence[AnswerHad]], dict[str, Any]] | None = None
    recounts: Callable[[Ending], dict[str, Any]] | None = None
    wire: Wire[Any] | None = None
    serves: Serves | None = None
    routing: Routing | None = None
    commissioned: Callable[[Commission], I] | None = None
    carries: Callable[[I], Call] | None = None
    carrying: Carrying = ALONE
    nests: bool = True
    raises: bool = False
    enters: bool = False
    escalates: frozenset[str] = frozenset()
    profiles: bool = False
    sums_up: Callable[[I], int] | None = None
    charged: bool = True
    judged: bool = False
    claims: tuple[SharedClaim[Any, Any], ...] = ()
    asks: Rulebook = field(init=False, repr=False, compare=False)
    shares: Mapping[str, SharedRule] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """What its flow may ask is looked up at every decision.

        Raises:
            ConfigurationError: it declares a rule that no flow asks: what grants, what is claimed,
                what is asked at the door.
        """
        if refused := sorted(rule.name for rule in self.rules if rule.name in NO_FLOW_ASKS):
            raise ConfigurationError(
                f"kind {self.name}@{self.version} declares what no flow asks: {', '.join(refused)}",
                code="reserved_rule",
            )
        own = {claim.name: claim.shared for claim in self.claims}
        if len(own) < len(self.claims) or own.keys() & SHARED.keys():
            raise ConfigurationError(
                f"kind {self.name}@{self.version} brings two claims of one name, or a "
                "shipped one's",
                code="reserved_rule",
            )
        object.__setattr__(self, "shares", MappingProxyType({**SHARED, **own}))
        object.__setattr__(
            self,
            "asks",
            MappingProxyType({rule.name: rule for rule in (*self.rules, *ASKED_IN_STEPS)}),
        )

    def settled(self, output: O, *, masked: bool) -> Settlement:
        """How its output settles a run; ``masked``: the run was cancelled and only cleaned up, so
        that is how it ended.
        """
        settlement = self.settle(output)
        return replace(settlement, status=Status.CANCELLED) if masked else settlement

    def prompt(self, purpose: str) -> PromptKind[Any]:
        """The prompt kind of a purpose.

        Raises:
            ConfigurationError: this kind asks for no such thing.
        """
        for one in self.prompts:
            if one.purpose == purpose:
                return one
        raise ConfigurationError(
            f"kind {self.name}@{self.version} asks nothing for {purpose}", code="unknown_purpose"
        )


def commissioned(kind: Kind[Any, Any], given: Commission) -> Raw:
    """The input of the run that a conversation commissions.

    Raises:
        ConfigurationError: the kind takes no commission.
    """
    if kind.commissioned is None:
        raise ConfigurationError(f"kind {kind.name} serves no conversation", code="unknown_kind")
    return raw(kind.commissioned(given))
