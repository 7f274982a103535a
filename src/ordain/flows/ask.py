"""``ask``: the one way to a model. Lane, hedge, attempt, fallback; every one of them a decision on
record. What a call may cost the port decides.

It returns a complete answer or a typed failure. What the answer means is for the caller to decide
by a rule.
"""

from __future__ import annotations

from typing import Any, TypeVar, assert_never

from msgspec import UNSET, Struct, UnsetType, structs

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile
from ordain.effects.effect import ModelCall, Wait, WaitFor
from ordain.effects.results import Beside, ModelAnswer, ModelFailed, ModelResult, Unreserved
from ordain.flows.context import FlowContext
from ordain.flows.images import seeing
from ordain.flows.kind import ModelQuestion, PromptKind
from ordain.flows.pricing import affords, call_bound
from ordain.rules.fallback import (
    FALLBACK,
    FallbackFacts,
    FallbackOutcome,
    GiveUp,
    LaneAgain,
    NextLane,
    NextProfile,
    RetryProfile,
)
from ordain.rules.hedge import HEDGE, AskSecond, HedgeFacts
from ordain.rules.lane import LANE, LaneChosen, LaneEmpty, LaneFacts, LaneInputs

G = TypeVar("G")

RETRY_WAIT = "the provider's retry-after"
"""What a run waits for before another attempt, policy's own waits included: journals hold these
words, and they are part of the effect.
"""
UNTURNED_MS = 10_000
"""After how long a model is gone back to that could not be reached, and that nobody leaves alone:
it has no turn to wait for.
"""
TAGS_TOLD = 8
"""Most tags of a verb in the facts of rule ``lane``."""


class AskFailed(Struct, frozen=True, kw_only=True):
    """No answer was had; ``code`` is a model error code or a budget or lane reason."""

    code: str
    message: str


class _Attempts(Struct):
    """Where the search for an answer stands: at which profile of the lane, how often each was
    asked, and how many attempts there were in all.

    ``order`` are the lane's profiles as they are gone through, all of them at first, and ``at`` the
    place in it. ``calls`` are all that were made, ``lost`` those whose outcome was lost; ``held``
    are those at each profile since its last attempt that were turned to in vain or named a delay,
    ``turns`` those that were held back here, and ``waited_ms`` what was waited after both. ``due``
    says of each profile that was only left alone, and has answered before to whomever, when it may
    be asked again. ``waiting`` is the failure of the profile after this one, where a hedged call
    has asked it already: it is judged when its turn comes.
    """

    lane: Any
    order: tuple[int, ...] = ()
    at: int = 0
    calls: int = 0
    total: int = 0
    lost: int = 0
    held: dict[int, int] = {}
    turns: dict[int, int] = {}
    waited_ms: dict[int, int] = {}
    made: dict[int, int] = {}
    due: dict[int, int] = {}
    waiting: ModelFailed | None = None

    def __post_init__(self) -> None:
        """Through the whole lane."""
        self.order = self.order or tuple(range(len(self.lane.profiles)))

    @property
    def profile(self) -> int:
        """The one whose turn it is."""
        return self.order[self.at]

    @property
    def left(self) -> int:
        """How many profiles come after this one."""
        return len(self.order) - self.at - 1

    def passed(self, failed: ModelFailed) -> int:
        """How often this profile was turned to in vain, turns that have not come included where
        this one has not.
        """
        turns = self.turns.get(self.profile, 0) if _was_held_back(failed) else 0
        return self.held.get(self.profile, 0) + turns

    @property
    def left_alone(self) -> list[int]:
        """The profiles before this one that were only left alone, and have answered before."""
        return [profile for profile in self.order[: self.at] if profile in self.due]

    def before_ms(self, now: int) -> int | UnsetType:
        """In how many milliseconds the first of these may be asked; UNSET where there is none."""
        due = [self.due[profile] for profile in self.left_alone]
        return max(0, -((now - min(due)) // 1000)) if due else UNSET

    def go_back(self, failed: ModelFailed) -> None:
        """To these, and this one where it was only left alone: all others failed by themselves."""
        self.order = (*self.left_alone, *([self.profile] if failed.apart else []))
        self.at = 0

    def count(self, profile: int, result: ModelResult | Beside) -> None:
        """One more attempt at this profile, unless it is told apart."""
        if not isinstance(result, ModelAnswer) and result.apart:
            return
        self.made[profile] = self.made.get(profile, 0) + 1
        self.total += 1

    def judged(self, failed: ModelFailed, now: int) -> None:
        """A failure is judged now: another one of those that are no attempt, or the end of what was
        held back in a row.
        """
        if failed.apart and failed.code is ModelErrorCode.LOST:
            self.lost += 1
            return
        self.due.pop(self.profile, None)
        if failed.known:
            self.due[self.profile] = now + (failed.retry_after_ms or UNTURNED_MS) * 1000
        if failed.apart:
            counted = self.turns if _was_held_back(failed) else self.held
            counted[self.profile] = counted.get(self.profile, 0) + 1
        else:
            for counted in (self.held, self.turns, self.waited_ms):
                counted[self.profile] = 0


async def ask(context: FlowContext, prompt: PromptKind[G], given: G) -> ModelAnswer | AskFailed:
    """Ask until there is an answer, policy forbids another attempt, or the budget or the time is
    spent.
    """
    asking = _Asking(context, prompt, prompt.ask(context, given))
    lane = lane_of(context, prompt, asking.verb, asking.question.images)
    if isinstance(lane, AskFailed):
        return lane
    attempts = _Attempts(lane)
    while True:
        result = await asking.once(attempts)
        if not isinstance(result, ModelFailed):
            return result
        failed, outcome = _after(context, attempts, result, asking.question.attempts)
        match outcome:
            case RetryProfile() | LaneAgain():
                if failed.apart:
                    waited = attempts.waited_ms.get(attempts.profile, 0)
                    attempts.waited_ms[attempts.profile] = waited + outcome.wait_ms
                if isinstance(outcome, LaneAgain):
                    attempts.go_back(failed)
                if outcome.wait_ms:
                    deadline = context.now() + outcome.wait_ms * 1000
                    await context.fx.perform(
                        Wait(what=WaitFor.TIMER, about=RETRY_WAIT, deadline=deadline)
                    )
            case NextProfile():
                attempts.at += 1
            case NextLane():
                facts = LaneFacts(
                    purpose=prompt.purpose,
                    after=attempts.lane.lane,
                    images=asking.question.images or UNSET,
                )
                chosen = context.fx.decide(
                    LANE, facts, LaneInputs(by_purpose=prompt.lane, seeing=seeing(context.catalog))
                )
                if isinstance(chosen.outcome, LaneEmpty):
                    return AskFailed(code=failed.code, message=failed.message)
                attempts = _Attempts(
                    chosen.outcome, calls=attempts.calls, total=attempts.total, lost=attempts.lost
                )
            case GiveUp():
                return AskFailed(code=failed.code, message=failed.message)
            case _:
                assert_never(outcome)


def lane_of(
    context: FlowContext, prompt: PromptKind[Any], verb: str = "", images: int = 0
) -> LaneChosen | AskFailed:
    """The lane that serves a prompt, which may show ``images``: decided when it is first needed,
    and the same from then on. A failure where no model stands behind it.
    """
    known = context.lanes.get(prompt.purpose)
    if known is not None:
        return known
    facts = lane_facts(context, prompt.purpose, verb)
    facts = structs.replace(facts, images=images) if images else facts
    inputs = LaneInputs(by_purpose=prompt.lane, held=context.held, seeing=seeing(context.catalog))
    chosen = context.fx.decide(LANE, facts, inputs)
    if isinstance(chosen.outcome, LaneEmpty):
        return AskFailed(code=chosen.reason, message=f"no model behind lane {chosen.outcome.lane}")
    context.lanes[prompt.purpose] = chosen.outcome
    return chosen.outcome


def lane_facts(context: FlowContext, purpose: str, verb: str = "") -> LaneFacts:
    """What rule ``lane`` looks at. Features that only a route table can name are told where policy
    has one, a role's where a profile names models.
    """
    routes, held = context.catalog.policy.lanes.routes, context.held
    pinned = UNSET if held is None or not held.models else held.name
    if not routes:
        return LaneFacts(
            purpose=purpose, verb=UNSET if pinned is UNSET else verb or UNSET, profile=pinned
        )
    spec = context.catalog.verbs[verb].spec if verb in context.catalog.verbs else None
    named = {route.tag for route in routes if route.tag is not None}
    return LaneFacts(
        purpose=purpose,
        verb=verb or UNSET,
        category=UNSET if spec is None else str(spec.category),
        tags=UNSET if spec is None else tuple(sorted(named.intersection(spec.tags)))[:TAGS_TOLD],
        budget_class=context.turn.budget_class or UNSET,
        ambiguous=context.turn.ambiguous if context.session else UNSET,
        profile=pinned,
    )


VERB_CONTRACT = "verb:"
"""How a contract begins that is the output of a verb's prompt plan."""


class _Asking(Struct, frozen=True):
    """One question: everything that its attempts share."""

    context: FlowContext
    prompt: PromptKind[Any]
    question: ModelQuestion

    @property
    def contract(self) -> str:
        """The answer's contract."""
        return self.question.contract or self.prompt.contract

    @property
    def verb(self) -> str:
        """The verb whose prompt plan asks; "" for every other question."""
        contract = self.contract
        return contract.removeprefix(VERB_CONTRACT) if contract.startswith(VERB_CONTRACT) else ""

    async def once(self, attempts: _Attempts) -> ModelResult | AskFailed:
        """One attempt, or two beside each other. Where both fail the first one's failure is the
        result, and the other's waits for its turn.
        """
        context, question = self.context, self.question
        name, after_ms = attempts.lane.profiles[attempts.profile], 0
        if attempts.lane.lane in context.catalog.policy.fallback.hedge_ms and not attempts.calls:
            after_ms = self._hedge(attempts)
        hedge = attempts.lane.profiles[attempts.profile + 1] if after_ms else ""
        result = await context.fx.perform(
            ModelCall(
                purpose=self.prompt.purpose,
                prompt=question.template,
                refs=question.refs,
                args=question.args,
                contract=question.contract,
                profile=name,
                max_tokens=self._max_tokens(name),
                bound_tokens=question.prompt_tokens,
                deadline=self._deadline(name),
                keep_thoughts=context.keep_thoughts,
                narrative=question.narrative,
                hedge=hedge,
                hedge_ms=after_ms,
                hedge_max_tokens=self._max_tokens(hedge) if hedge else 0,
                hedge_deadline=self._deadline(hedge, after_ms) if hedge else 0,
                role=question.role,
                temperature=question.temperature,
            )
        )
        if isinstance(result, Unreserved):
            return AskFailed(
                code="budget_exceeded", message=f"{result.reason}: {result.reason.meaning}"
            )
        attempts.calls += 1
        if result.beside is None or isinstance(result, ModelAnswer):
            attempts.count(attempts.profile, result)
            return result
        attempts.count(attempts.profile, result.beside)
        attempts.count(attempts.profile + 1, result)
        attempts.waiting = result
        return _first_failure(result.beside, result.seq)

    def _hedge(self, attempts: _Attempts) -> int:
        """After how many milliseconds the lane's next profile is asked too; 0: it is not."""
        context = self.context
        both = attempts.lane.profiles[attempts.profile : attempts.profile + 2]
        bound = call_bound(
            context.catalog,
            [(name, self._max_tokens(name)) for name in both],
            self.question.prompt_tokens,
        )
        covered = affords(context.account, bound)
        facts = HedgeFacts(
            lane=attempts.lane.lane,
            profiles_left=attempts.left,
            covered=covered,
            left_ms=max(0, context.left_ms()),
        )
        outcome = context.fx.decide(HEDGE, facts, None).outcome
        return outcome.after_ms if isinstance(outcome, AskSecond) else 0

    def _profile(self, name: str) -> ModelProfile:
        return self.context.catalog.data.profiles[name]

    def _deadline(self, name: str, after_ms: int = 0) -> int:
        """Each profile has its own time, from when it is asked, within the run's."""
        own_ms = self._profile(name).timeout_ms
        own_ms = min(own_ms, self.question.timeout_ms or own_ms)
        return min(self.context.deadline, self.context.now() + (after_ms + own_ms) * 1000)

    def _max_tokens(self, name: str) -> int:
        return min(self.question.max_tokens, self._profile(name).max_tokens)


def _was_held_back(failed: ModelFailed) -> bool:
    """Whether its endpoint was not even turned to: each turn that does not come costs it nothing,
    and no wait grows for it. Records of builds before do not say so.
    """
    return bool(failed.turn) and failed.code is not ModelErrorCode.CONNECTION


def _first_failure(beside: Beside, seq: int) -> ModelFailed:
    """The failure of a hedged call's own profile, which stands beside the other one's."""
    return ModelFailed(
        seq=seq,
        code=ModelErrorCode(beside.code),
        message=beside.message,
        provider=beside.provider,
        model=beside.model,
        retry_after_ms=beside.retry_after_ms,
        live=beside.live,
        apart=beside.apart,
        unanswered=beside.unanswered,
        known=beside.known,
        turn=beside.turn,
        lower=beside.lower,
    )


def _after(
    context: FlowContext, attempts: _Attempts, failed: ModelFailed, most: int
) -> tuple[ModelFailed, FallbackOutcome]:
    """What follows, and from which failure: where the next profile's turn comes and it has failed
    already, that is judged as well.
    """
    outcome = _fallback(context, attempts, failed, most)
    if isinstance(outcome, NextProfile) and attempts.waiting is not None:
        attempts.at += 1
        failed, attempts.waiting = attempts.waiting, None
        outcome = _fallback(context, attempts, failed, most)
    return failed, outcome


def _fallback(
    context: FlowContext, attempts: _Attempts, failed: ModelFailed, most: int
) -> FallbackOutcome:
    attempts.judged(failed, context.now())
    lost = failed.apart and failed.code is ModelErrorCode.LOST
    held = failed.apart and not lost
    before = UNSET if lost else attempts.before_ms(context.now())
    lanes = context.catalog.policy.lanes
    following = lanes.next_lane.get(attempts.lane.lane)
    facts = FallbackFacts(
        code=failed.code,
        attempts=attempts.made.get(attempts.profile, 0),
        attempts_total=attempts.total,
        profiles_left=attempts.left,
        lane_left=following is not None and bool(lanes.profiles.get(following)),
        left_ms=max(0, context.left_ms()),
        retry_after_ms=failed.retry_after_ms or 0,
        held=attempts.passed(failed) if held else UNSET,
        waited_ms=attempts.waited_ms.get(attempts.profile, 0) if held else UNSET,
        lost=attempts.lost if lost else UNSET,
        unanswered=True if held and failed.unanswered and before is UNSET else UNSET,
        turn=failed.turn or UNSET,
        before=before,
        rests=True if held and failed.live else UNSET,
        lower=True if failed.lower else UNSET,
        most=most or UNSET,
    )
    return context.fx.decide(FALLBACK, facts, None, (failed.seq,)).outcome
