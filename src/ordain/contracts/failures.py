"""Whose doing a failed call is, in the sources' five words (C5): what to do about it, where a code
says what happened. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any


class FailureCategory(StrEnum):
    """The sources' words; ``TO_DO`` says what each asks for."""

    UNAVAILABLE = "ToolUnavailable"
    MISCONFIGURED = "ToolMisconfigured"
    TRANSIENT = "ToolTransientError"
    VALIDATION = "ToolValidationError"
    BUG = "InternalContractBug"


TO_DO: Mapping[FailureCategory, str] = MappingProxyType(
    {
        FailureCategory.UNAVAILABLE: (
            "Not to be had here and now, or there is nothing to be had: choose another call."
        ),
        FailureCategory.MISCONFIGURED: (
            "An operator mends settings, a declaration or an account; until then it fails again."
        ),
        FailureCategory.TRANSIENT: "The same call may succeed later.",
        FailureCategory.VALIDATION: (
            "What was given, or what came back, does not fit: change the arguments."
        ),
        FailureCategory.BUG: (
            "Code broke its own contract: report it, nothing the caller changes helps."
        ),
    }
)
"""What to do about a failure of each category."""

_CODES: Mapping[FailureCategory, tuple[str, ...]] = {
    FailureCategory.UNAVAILABLE: (
        "out_of_scope",
        "token_scope",
        "inactive",
        "depth",
        "budget",
        "approval_not_available",
        "not_approved",
        "approval_expired",
        "approval_withdrawn",
        "in_doubt",
        "session_only",
        "safety",
        "budget_exceeded",
        "withdrawn",
        "no_playbook",
        "no_words",
        "not_found",
        "path_missing",
        "inactive_verb",
        "delegation_blocked",
        "fanout_limited",
        "handoff_depth",
        "handoff_mode_not_allowed",
        "handoff_target_not_allowed",
        "no_envelope",
        "prohibited",
        "unknown_agent",
        "path_unavailable",
        "reserved_verb",
        "too_little_history",
        "unknown_verb",
        "unreadable",
    ),
    FailureCategory.MISCONFIGURED: (
        "needs_model",
        "authentication",
        "quota_exceeded",
        "script_exhausted",
        "bad_playbook",
        "empty_plan",
        "extra_missing",
        "http_401",
        "http_403",
        "lane.empty",
        "login_not_offered",
        "login_refused",
        "not_configured",
        "not_loopback",
        "sender_refused",
        "server_refused",
        "tls_failed",
        "tls_not_offered",
        "tls_refused",
        "not_implemented",
        "not_json",
        "not_permitted",
        "no_library",
        "private_address",
        "own_address",
        "own_header",
        "public_address",
        "redirected",
        "secret_missing",
        "too_many_redirects",
        "url_not_declared",
    ),
    FailureCategory.TRANSIENT: (
        "rate_limited",
        "overloaded",
        "server_error",
        "timed_out",
        "connection",
        "circuit_open",
        "lost",
        "broken_answer",
        "closing",
        "http_408",
        "http_425",
        "http_429",
        "mail_deferred",
        "no_answer",
        "no_slot",
        "no_time",
        "not_loaded",
        "not_connected",
        "not_resolved",
        "too_slow",
    ),
    FailureCategory.VALIDATION: (
        "context_too_long",
        "constraint",
        "too_far",
        "envelope_invalid",
        "handoff_cycle",
        "handoff_self",
        "rejected",
        "filtered",
        "truncated",
        "malformed",
        "nothing_to_quote",
        "schema",
        "ambiguous_dates",
        "ambiguous_numbers",
        "columns",
        "division_by_zero",
        "empty",
        "mixed_number_formats",
        "no_numbers",
        "no_rows",
        "not_csv",
        "only_years",
        "syntax",
        "too_deep",
        "too_large",
        "too_long",
        "undefined",
        "unknown_column",
        "answer_too_large",
        "bad_address",
        "bad_subject",
        "bad_text",
        "mail_refused",
        "recipients_refused",
        "bad_input",
        "bad_output",
        "empty_text",
        "invalid_path",
        "invalid_text",
        "not_a_file",
        "hard_link",
        "not_text",
    ),
    FailureCategory.BUG: (
        "adapter_bug",
        "prompt_over_bound",
        "faulted",
        "output_too_deep",
        "output_too_large",
        "verb_raised",
    ),
}
CATEGORY: Mapping[str, FailureCategory] = MappingProxyType(
    {code: category for category, codes in _CODES.items() for code in codes}
)
"""The category of each code that this build itself gives a failed call."""


def failure_category(code: str, *, retryable: bool | None = None) -> FailureCategory | None:
    """The category of a failed call; None where nothing failed that one of the five words fits,
    such as a cancelled call.

    A code of a verb's own says nothing by itself: what the verb said of another try (``retryable``;
    None: not known) decides. Whether an ``outcome_unknown`` failed is what nobody knows: it has
    none.
    """
    known = CATEGORY.get(code.partition(":")[0])
    if known is not None or retryable is None:
        return known
    return FailureCategory.TRANSIENT if retryable else FailureCategory.VALIDATION


def categorised(error: Mapping[str, Any], *, retryable: bool | None = None) -> dict[str, Any]:
    """``{code, message, ...}`` with its ``category``, as plain JSON."""
    category = failure_category(error["code"], retryable=retryable)
    return {**error, "category": None if category is None else category.value}
