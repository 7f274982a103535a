"""What the codes of one word mean that stand for a call's failure, as reasons have it in words: for
whoever reads a header. What exactly happened its message says. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ABANDONED = "abandoned"
"""An effect was given up before it had ended."""
JOIN_DEADLINE = "join deadline"
"""Why a child run is cancelled whose time is over."""

RESULT_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "outcome_unknown": "Nobody knows whether it took effect.",
        "timed_out": "It took longer than it may.",
        "withdrawn": "It is not allowed any more, and was not done.",
        ABANDONED: "It was given up before it had ended.",
    }
)
"""How an effect or a child run may end that is no success."""

FAILURE_WORDS: Mapping[str, str] = MappingProxyType(
    {
        # not to be had here and now
        "budget_exceeded": "The run's budget is spent.",
        "withdrawn": "It is not allowed any more, and was not done.",
        "no_playbook": "No playbook fits.",
        "no_words": "It answered without words.",
        "not_found": "There is no such thing there.",
        "path_missing": "The answer has nothing at the place that is read.",
        "inactive_verb": "The verb is switched off.",
        "path_unavailable": "No path for it can be had here.",
        "too_little_history": "There is too little history to judge by.",
        "unreadable": "It cannot be read.",
        # an operator mends it
        "needs_model": "It needs a model, and none is set up.",
        "authentication": "The key is missing, or was refused.",
        "quota_exceeded": "The account's quota is used up.",
        "script_exhausted": "The script has no more answers.",
        "bad_playbook": "A playbook is none.",
        "empty_plan": "The plan has no steps.",
        "extra_missing": "A package that it needs is not installed.",
        "http_401": "The server wants other credentials.",
        "http_403": "The server does not allow it.",
        "lane.empty": "No model stands behind the lane.",
        "login_not_offered": "The mail server offers no way to log in.",
        "login_refused": "The mail server refused the login.",
        "not_loopback": "Unencrypted mail goes out to this machine alone.",
        "sender_refused": "The mail server refused the sender.",
        "server_refused": "The mail server takes no mail from here.",
        "tls_failed": "No encrypted connection came about.",
        "tls_not_offered": "The server offers no encryption.",
        "tls_refused": "The server refused to encrypt.",
        "not_implemented": "There is no code for it.",
        "not_json": "The answer is not JSON.",
        "not_permitted": "The system does not permit it.",
        "no_library": "No storage is open for what is remembered.",
        "private_address": "The address is a private one.",
        "own_address": "The address is the server's own.",
        "own_header": "The header is one that is set here.",
        "public_address": "The address is a public one, and it stays inside.",
        "redirected": "The server pointed elsewhere, where nobody follows.",
        "secret_missing": "A secret that it needs has no value here.",
        "too_many_redirects": "The server pointed elsewhere too often.",
        "url_not_declared": "The address is not declared.",
        # the same call may succeed later
        "rate_limited": "It was asked too often, and wants a rest.",
        "overloaded": "It has too much to do.",
        "server_error": "The server failed.",
        "timed_out": "It took longer than it may.",
        "connection": "No connection came about, or it broke.",
        "circuit_open": "It has failed too often, and is left alone for a while.",
        "lost": "The process died while it was at work.",
        "broken_answer": "The answer broke off.",
        "closing": "The process is stopping.",
        "http_408": "The server waited too long for it.",
        "http_425": "The server does not take it yet.",
        "http_429": "The server was asked too often.",
        "mail_deferred": "The mail server takes it later.",
        "no_answer": "There was no answer.",
        "no_slot": "All places for such calls are taken.",
        "no_time": "No time is left for it.",
        "not_loaded": "It is not loaded yet.",
        "not_connected": "No connection could be made.",
        "not_resolved": "The host's name leads nowhere.",
        "too_slow": "The answer took too long.",
        # what was given, or came back, does not fit
        "context_too_long": "The prompt is longer than the model takes.",
        "rejected": "The provider refused the request.",
        "filtered": "The provider held the answer back.",
        "truncated": "The answer was cut.",
        "malformed": "The answer has no form that is known.",
        "nothing_to_quote": "There is nothing that could be quoted.",
        "ambiguous_dates": "Dates can be read in two ways.",
        "ambiguous_numbers": "Numbers can be read in two ways.",
        "columns": "The rows have not the same columns.",
        "division_by_zero": "It divides by zero.",
        "empty": "There is nothing in it.",
        "mixed_number_formats": "Numbers are written in several ways.",
        "no_numbers": "There are no numbers in it.",
        "no_rows": "There are no rows in it.",
        "not_csv": "It is no CSV.",
        "only_years": "Its numbers are years alone.",
        "syntax": "It is no expression.",
        "too_deep": "It nests too deep.",
        "too_large": "It is too large.",
        "too_long": "It is too long.",
        "undefined": "It has no value.",
        "unknown_column": "There is no such column.",
        "answer_too_large": "The answer is too large.",
        "bad_address": "An address is none.",
        "bad_subject": "The subject is none.",
        "bad_text": "The text is none.",
        "mail_refused": "The mail server refused it.",
        "recipients_refused": "The mail server refused every recipient.",
        "bad_input": "What was given does not fit.",
        "bad_output": "What came back does not fit.",
        "empty_text": "The text is empty.",
        "invalid_path": "The path is none.",
        "invalid_text": "The text is none.",
        "not_a_file": "It is no file.",
        "hard_link": "The file has other names as well.",
        "not_text": "It is no text.",
        # code broke its own contract
        "adapter_bug": "The code that asks the model failed.",
        "prompt_over_bound": "The prompt is longer than was reckoned with.",
        "faulted": "The flow failed.",
        "output_too_deep": "What came back nests too deep.",
        "output_too_large": "What came back is too large.",
        "verb_raised": "The verb's code failed.",
    }
)
"""By code, in the order of ``contracts.failures``. A denied call has the words of its reason."""
