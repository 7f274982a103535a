"""The one closed set of reason codes, grouped by rule; ``docs/reference/reasons.md`` is generated from it."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why a decision is what it is. The text after each code is its documentation."""

    meaning: str

    def __new__(cls, code: str, meaning: str) -> Reason:
        """A member is its code; its meaning is an attribute."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    # step: precedence syntax, size, shape, consistency, tool id, tool input (PLN-30, PLN-31, B-25, B-26)
    STEP_CALL = "step.call", "The directive calls a tool of the toolset with valid input."
    STEP_FINISH = "step.finish", "The directive finishes with an answer."
    STEP_EMPTY = "step.syntax.empty", "The answer is empty."
    STEP_PROSE = "step.syntax.prose", "The answer holds no JSON object."
    STEP_BROKEN = "step.syntax.broken", "The answer's JSON is malformed or cut off."
    STEP_SEVERAL = "step.syntax.several", "The answer holds more than one JSON value."
    STEP_NOT_OBJECT = "step.syntax.not_object", "The answer is JSON but not an object."
    STEP_DUPLICATE_KEY = "step.syntax.duplicate_key", "An object names a key twice."
    STEP_NOT_FINITE = "step.syntax.not_finite", "A number is NaN, infinite or out of range."
    STEP_ENCODING = "step.syntax.encoding", "The text is not well-formed Unicode."
    STEP_TOO_LARGE = "step.size.bytes", "The directive is longer than policy allows."
    STEP_TOO_DEEP = "step.size.depth", "The directive nests deeper than policy allows."
    STEP_TEXT_TOO_LONG = "step.size.text", "A text field is longer than its contract allows."
    STEP_MISSING_KEY = "step.shape.missing_key", "A required key is absent."
    STEP_UNKNOWN_KEY = "step.shape.unknown_key", "There is a key that the contract does not know."
    STEP_WRONG_TYPE = "step.shape.wrong_type", "A value has the wrong type."
    STEP_EMPTY_TEXT = "step.shape.empty_text", "A text that must say something is empty."
    STEP_FINISH_WITH_ACTION = "step.consistency.finish_with_action", "finish is true and there is an action."
    STEP_FINISH_WITHOUT_ANSWER = "step.consistency.finish_without_answer", "finish is true and there is no final answer."
    STEP_ACT_WITH_ANSWER = "step.consistency.act_with_answer", "finish is false and there is a final answer."
    STEP_ACT_WITHOUT_ACTION = "step.consistency.act_without_action", "finish is false and there is no action."
    STEP_UNKNOWN_TOOL = "step.tool.unknown", "No verb has this id; ids are exact."
    STEP_TOOL_OUTSIDE = "step.tool.outside_toolset", "The verb exists but is not in this run's toolset."
    STEP_INPUT_INVALID = "step.input.invalid", "The tool's input does not fit its schema."

    # reask, of B-25
    REASK_ALLOWED = "reask.allowed", "Policy grants one more try after an invalid directive."
    REASK_SPENT = "reask.spent", "No further try is left; the run fails with the first reason."

    # limits, of PLN-15, B-42, B-44
    LIMITS_AS_ASKED = "limits.as_asked", "The request's limits hold."
    LIMITS_CLAMPED = "limits.clamped", "A server cap lowered at least one limit."

    # scope (PLN-26, SAF-01)
    SCOPE_GRANTED = "scope.granted", "Every requested verb is in scope."
    SCOPE_UNKNOWN_VERB = "scope.unknown_verb", "A requested verb is not registered."
    SCOPE_INACTIVE_VERB = "scope.inactive_verb", "A requested verb is switched off here."

    # lane, of RTE-01, B-09
    LANE_BY_PURPOSE = "lane.by_purpose", "Policy's table names the lane for this purpose."
    LANE_AFTER_FAILURE = "lane.after_failure", "The lane that policy names after the one whose models failed."
    LANE_ROUTINE = "lane.routine", "A row of the route table: routine or low-risk work."
    LANE_ESCALATED = "lane.escalated", "A row of the route table: the work asks for more than its purpose's lane."
    LANE_ROUTED = "lane.routed", "A row of the route table names the lane."
    LANE_EMPTY = "lane.empty", "No model profile stands behind the lane."

    # fallback, of LLM-04, LLM-06
    FALLBACK_RETRY = "fallback.retry", "The error may pass: the same model is tried again."
    FALLBACK_WAIT_TOO_LONG = "fallback.wait_too_long", "Another model is tried: the wait before a retry would be longer than policy likes."
    FALLBACK_NEXT_PROFILE = "fallback.next_profile", "The next model of the lane is tried."
    FALLBACK_NEXT_LANE = "fallback.next_lane", "Policy's next lane is tried."
    FALLBACK_NOT_RETRYABLE = "fallback.not_retryable", "The error would repeat itself."
    FALLBACK_EXHAUSTED = "fallback.exhausted", "Every permitted attempt was made."
    FALLBACK_NO_TIME = "fallback.no_time", "The deadline has passed or comes before the provider's retry-after."

    # hedge
    HEDGE_SECOND = "hedge.second", "Policy lets a second model be asked too if the first is slow."
    HEDGE_ALONE = "hedge.alone", "No second model is asked: none is left, or the budget or the time does not cover it."

    # budget
    BUDGET_RESERVED = "budget.reserved", "The spend fits and is reserved at its upper bound."
    BUDGET_SETTLED = "budget.settled", "The reservation is replaced by what was used."
    BUDGET_OVERRUN = "budget.overrun", "More was used than reserved; the excess is booked and blocks the next."
    BUDGET_TOKENS = "budget.tokens", "The run's token budget does not cover the call."
    BUDGET_MONEY = "budget.money", "The run's money budget does not cover the call."
    BUDGET_MODEL_CALLS = "budget.model_calls", "The run's model calls are spent."
    BUDGET_CARVED = "budget.carved", "The run's bound was taken out of the shared accounts."
    BUDGET_REST = "budget.rest", "What was left of a shared account is less than the run's bound: the run may use that."
    BUDGET_ACCOUNT = "budget.account", "A shared account does not cover the run's bound."
    BUDGET_VERB_CALLS = "budget.verb_calls", "The run's verb calls are spent."

    # authorize (security policy)
    AUTHORIZE_READ = "authorize.read", "A read in scope."
    AUTHORIZE_PRIVATE = "authorize.private", "A write to the user's own space, in scope."
    AUTHORIZE_EGRESS_DECLARED = "authorize.egress_declared", "Every argument is fixed by the verb or on its declared list."
    AUTHORIZE_OUT_OF_SCOPE = "authorize.out_of_scope", "The verb is not in the run's scope."
    AUTHORIZE_UNKNOWN_VERB = "authorize.unknown_verb", "No such verb in the catalog."
    AUTHORIZE_INACTIVE = "authorize.inactive", "The verb is switched off here."
    AUTHORIZE_SCHEMA = "authorize.schema", "The arguments do not fit the verb's schema."
    AUTHORIZE_DEPTH = "authorize.depth", "No recursion depth is left."
    AUTHORIZE_BUDGET = "authorize.budget", "No verb call is left in the run's budget."
    AUTHORIZE_NO_APPROVAL = "authorize.approval_not_available", "The call needs an approval and nobody can give one here."
    AUTHORIZE_SESSION_ONLY = "authorize.session_only", "The verb works inside a session only."

    # output of a prompt-plan step (VRB-07, C3)
    OUTPUT_VALID = "output.valid", "The step's answer fits the verb's output schema."
    OUTPUT_UNPARSED = "output.unparsed", "The step's answer is not one JSON object."
    OUTPUT_SCHEMA = "output.schema", "The step's answer does not fit the verb's output schema."
    OUTPUT_UNGROUNDED = "output.ungrounded", "The step's answer refers to an item, or quotes words, that its input does not hold."

    # retry of a verb
    VERB_RETRY = "verb.retry", "The failure may pass: the call is tried again with the same key."
    VERB_NO_RETRY = "verb.no_retry", "The failure would repeat itself, or every permitted attempt was made."
    VERB_WAIT_TOO_LONG = "verb.wait_too_long", "The failure may pass, but not before policy's longest wait, or the time, is over."

    # attach (RTE-05, RTE-08, C5)
    ATTACH_OVERRIDE = "attach.override", "The wording orders what runs to stop or to be done otherwise."
    ATTACH_NOTHING_TO_STOP = "attach.nothing_to_stop", "The wording orders a stop and nothing runs."
    ATTACH_NUDGE = "attach.status_nudge", "The wording asks after work that there is."
    ATTACH_ANSWER = "attach.answer", "The message fits what exactly one open question expects."
    ATTACH_ANSWER_ANCHORED = "attach.answer_anchored", "The message replies to the question itself and fits it."
    ATTACH_FILLER = "attach.filler", "The wording wants nothing."
    ATTACH_NEW_REQUEST = "attach.new_request", "Nothing else fits: a request of its own."
    ATTACH_ANCHORED = "attach.anchored", "A request that replies to a message of the thread."
    ATTACH_AMBIGUOUS = "attach.ambiguous", "Two threads fit equally: the sender is asked."
    ATTACH_CHOSEN = "attach.chosen", "The sender chose one of the two readings."
    ATTACH_ASK = "attach.ask", "Wording and state leave the class open; policy lets a model suggest one."
    ATTACH_SUGGESTED = "attach.suggested", "A model's suggestion, possible here and confident enough."
    ATTACH_SUGGESTION_REJECTED = (
        "attach.suggestion_rejected",
        "A model's suggestion was missing, not possible here or not confident enough.",
    )
    ATTACH_EDIT = "attach.edit", "The message replaces one whose turn is unsettled."
    ATTACH_EDIT_LATE = "attach.edit_late", "The message replaces one whose turn has ended."
    ATTACH_STALE_EDIT = "attach.stale_edit", "A later edit of the same message came before this one."
    ATTACH_SUPERSEDED = "attach.superseded", "An edit of this message came before it."
    ATTACH_BUSY = "attach.session_busy", "The session has as many unsettled turns as policy permits."

    # entry, of ING-10, GW-01, B-06, B-33
    ENTRY_OF_MODE = "entry.of_mode", "The mode's own entry verb."
    ENTRY_NAMED = "entry.named", "The message names this verb."
    ENTRY_UNKNOWN_VERB = "entry.unknown_verb", "No verb has this id; ids are exact."
    ENTRY_INACTIVE_VERB = "entry.inactive_verb", "The verb is switched off here."
    ENTRY_RESERVED_VERB = "entry.reserved_verb", "The verb is the entry of another mode."
    ENTRY_UNKNOWN_PACK = "entry.unknown_pack", "Policy has no pack of this name."
    ENTRY_EMPTY_PACK = "entry.empty_pack", "The packs named, and the tools named with them, leave no verb that may run here."

    # outcome, of RTE-02, B-41
    OUTCOME_BY_MODE = "outcome.by_mode", "An explicit mode agent or council is a direct turn."
    OUTCOME_DIRECT = "outcome.direct", "Nothing but an answer is asked for."
    OUTCOME_WORKFLOW = "outcome.workflow", "A workflow template is suggested; it needs approval before it runs."
    OUTCOME_DELEGATES = "outcome.delegates", "Other agents are suggested."

    # route, of EXE-10, B-10
    ROUTE_OF_MODE = "route.of_mode", "The mode's own path; no router model is asked."
    ROUTE_SUGGESTED = "route.suggested", "The router model's path, allowed for the mode and confident enough."
    ROUTER_UNAVAILABLE = "router_rejected:unavailable", "The router model gave no answer; the mode's own path holds."
    ROUTER_MALFORMED = "router_rejected:malformed", "The router model's answer is not of its contract's shape; the mode's own path holds."
    ROUTER_CONFIDENCE = "router_rejected:confidence", "The router model's confidence is no number from 0 to 1; the mode's own path holds."
    ROUTER_BUDGET_CLASS = "router_rejected:budget_class", "The router model's budget class is none; the mode's own path holds."
    ROUTER_UNKNOWN_PATH = "router_rejected:unknown_path", "The router model's path is none; the mode's own path holds."
    ROUTER_OUTSIDE_MODE = "router_rejected:outside_mode", "The router model's path is not allowed for the mode; the mode's own path holds."
    ROUTER_LOW_CONFIDENCE = "router_rejected:low_confidence", "The router model is not confident enough; the mode's own path holds."

    # supervise, of EXE-04..EXE-06, EXE-12
    SUPERVISE_ACTION = "supervise.action", "A valid action is pending."
    SUPERVISE_FINAL = "supervise.final", "A valid final answer is pending."
    SUPERVISE_REPLAN = "supervise.replan", "The planner's step was refused and one more try is granted."
    SUPERVISE_SUGGESTED = "supervise.suggested", "The supervisor model's decision, possible here."
    SUPERVISE_NO_DIRECTIVE = (
        "supervise.no_directive",
        "The planner gave neither a valid action nor a valid answer, and no further try is left.",
    )
    SUPERVISE_PLANNER_FAILED = "supervise.planner_failed", "The planner gave no step at all."
    SUPERVISE_INVALID = "supervise.invalid", "The supervisor model's answer is not of its contract's shape."
    SUPERVISE_NOT_POSSIBLE = "supervise.not_possible", "The supervisor model chose what the state does not permit."

    # history
    HISTORY_WHOLE = "history.whole", "Everything stands in the prompt, whole or summarised."
    HISTORY_SUMMARISE = "history.summarise", "More entries or bytes than policy's stand whole: the older ones are summarised first."
    HISTORY_LEFT_OUT = "history.left_out", "Part of the history neither fits nor is summarised, or is shown cut."

    # access, of the bearer tokens
    ACCESS_PUBLIC = "access.public", "The address is open to everybody."
    ACCESS_LOCAL = "access.local", "A caller on this machine, where no token is asked for."
    ACCESS_OWNER = "access.owner", "The caller holds the key that the server left in its data folder."
    ACCESS_TOKEN = "access.token", "A live token that has the scope and the workspace."
    ACCESS_MISSING = "access.missing", "A token is asked for and none was sent."
    ACCESS_MALFORMED = "access.malformed", "What was sent is no token: mistyped, cut or of another kind."
    ACCESS_UNKNOWN = "access.unknown", "No token like this was ever given, or its secret is another."
    ACCESS_REVOKED = "access.revoked", "The token was revoked, or replaced by a rotation."
    ACCESS_EXPIRED = "access.expired", "The token's time is over."
    ACCESS_SCOPE = "access.scope", "The token has none of the scopes that the address asks for."
    ACCESS_WORKSPACE = "access.workspace", "The token does not belong to the workspace."

    # rate, of the bearer tokens
    RATE_GRANTED = "rate.granted", "The bucket covers the request."
    RATE_SPENT = "rate.spent", "The bucket is empty: it fills with time."

    # authorize, in a session
