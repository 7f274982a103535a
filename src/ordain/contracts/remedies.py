"""What people do about a model that gave no answer: one table, wherever it is told."""

from __future__ import annotations

from collections.abc import Mapping

from ordain.contracts.model_policy import ModelErrorCode

NO_MODEL = "offline rules, no language model; set one up: ordain init"
"""What a header says of answers that no language model gave."""
NOT_HELD = (
    "it answers, and not in the form that was asked for: chat in words works there; for plans and "
    "data take a model that keeps to a schema (ordain doctor shows what it does)"
)
"""What is done about a model whose endpoint speaks its provider's language, and whose answer was
``malformed`` all the same.
"""
NO_WORDS = (
    "it answers, and without a word (small models may call tools that nobody offered): say it "
    "again, or take another model"
)
"""What is done about a model whose whole answer had no words in it."""
TOO_LATE = (
    "it had not answered when the time for the work was over: say it again, since a model that has "
    "been loaded meanwhile answers sooner, or take a faster model"
)
"""What is done about a model that was given up because its caller had no more time, whatever time
its own profile has.
"""
REMEDIES: Mapping[ModelErrorCode, str] = {
    ModelErrorCode.AUTHENTICATION: (
        "no key was sent, or it was not accepted: check what key_env or key_file refers to, and "
        "that the key may use this model"
    ),
    ModelErrorCode.NOT_FOUND: (
        "check model and base_url; for a model on this machine run: ordain local show"
    ),
    ModelErrorCode.RATE_LIMITED: (
        "the provider asks to slow down: try again later, or ask it for a higher limit"
    ),
    ModelErrorCode.QUOTA_EXCEEDED: "the account is out of credit: see the provider's billing page",
    ModelErrorCode.OVERLOADED: "the provider is overloaded: try again later",
    ModelErrorCode.SERVER_ERROR: "the endpoint failed: look at its own log, or try again later",
    ModelErrorCode.CONNECTION: "is it running? check base_url, the network, and HTTPS_PROXY",
    ModelErrorCode.TIMED_OUT: "it did not answer in time: raise timeout_ms, or take a faster model",
    ModelErrorCode.TRUNCATED: (
        "the answer was cut at its length limit: raise max_tokens; a model that thinks aloud "
        "needs more than others"
    ),
    ModelErrorCode.CONTEXT_TOO_LONG: (
        "its window does not hold even a short prompt: check how the endpoint was started"
    ),
    ModelErrorCode.FILTERED: (
        "the provider's filter stopped a harmless question: take another model"
    ),
    ModelErrorCode.REJECTED: (
        "the endpoint refused the request: runs step down by themselves; or set structured = "
        '"text", and see ordain doctor'
    ),
    ModelErrorCode.MALFORMED: (
        "what answers there does not speak this provider's language: check provider and base_url"
    ),
    ModelErrorCode.PROMPT_OVER_BOUND: (
        "the prompt is larger than was reserved for it: say less at once, or raise context_tokens "
        "where the model has room"
    ),
    ModelErrorCode.NOTHING_TO_QUOTE: (
        "rules answer here, and found nothing to quote; to set up a model run: ordain init"
    ),
    ModelErrorCode.NEEDS_MODEL: (
        "rules answer here, and this wants a language model; to set one up run: ordain init"
    ),
    ModelErrorCode.SCRIPT_EXHAUSTED: (
        "the script has no more answers: add some to the file that script names"
    ),
    ModelErrorCode.WITHDRAWN: (
        "the profile, or the agent or verb that it was asked for, has changed or gone since this "
        "began: send it again"
    ),
    ModelErrorCode.CIRCUIT_OPEN: (
        "it kept failing and is left alone for a while: see why with ordain models test, or try "
        "again later"
    ),
    ModelErrorCode.LOST: "this process ended in the midst of the call: send it again",
    ModelErrorCode.ADAPTER_BUG: (
        "this is a fault of Ordain's own: please report it; see ordain doctor"
    ),
}


def confirming(verb: str) -> str:
    """What to do about a verb that policy leaves off until an operator has confirmed what it
    declares.
    """
    return (
        "nobody has confirmed what it declares, and policy wants that first: ordain verbs "
        f"confirm {verb}"
    )


def remedy_of(code: str) -> str | None:
    """What to do about an error of this code; None of one that is no model's."""
    return REMEDIES[ModelErrorCode(code)] if code in set(ModelErrorCode) else None
