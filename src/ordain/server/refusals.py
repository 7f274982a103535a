"""Every code that a refusal over HTTP may carry: its status and what it means. The published
document names them by operation.

A route says which codes are its own (``refusing``); what any request may meet is added to each
operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.remedies import REMEDIES

KEY = "x-refusals"
"""Where a route's own codes stand until the document is put together."""


class HttpRefusal(NamedTuple):
    """The status of a code, and when it is given."""

    status: int
    meaning: str


NO_ANSWER = "model_"
"""What the code of a refusal begins with that tells of a model's error: that error's own code
follows.
"""
MODELS_FAILED = tuple(f"{NO_ANSWER}{code}" for code in ModelErrorCode)
REFUSALS: Mapping[str, HttpRefusal] = {
    # any request
    "malformed_http": HttpRefusal(400, "what came is no HTTP request"),
    "request_timeout": HttpRefusal(408, "the request did not arrive in time"),
    "unauthenticated": HttpRefusal(401, "a token is needed, or the one that was sent is not good"),
    "forbidden": HttpRefusal(403, "the token has not the scope, or not the workspace"),
    "rate_limited": HttpRefusal(
        429, "the token's rate is spent, or too many tokens from this address were not good"
    ),
    "token_in_query": HttpRefusal(400, "a token stands in the address"),
    "repeated_header": HttpRefusal(400, "a header that is sent once came twice"),
    "too_many_parameters": HttpRefusal(400, "the address has too many parameters"),
    "foreign_host": HttpRefusal(421, "the Host header is none of the server's names"),
    "headers_too_large": HttpRefusal(431, "the headers are too large"),
    "internal": HttpRefusal(500, "a bug in Ordain; its log says more"),
    "stopping": HttpRefusal(503, "the server stops, or is not up yet"),
    "too_many_connections": HttpRefusal(503, "the server has as many connections as it can keep"),
    "out_of_resources": HttpRefusal(
        503, "the server has no memory or no descriptor left for the request"
    ),
    "own_request": HttpRefusal(
        403,
        (
            "a verb of this very server asks; of an approval: who asked for the run may not "
            "approve "
            "what it does"
        ),
    ),
    "foreign_origin": HttpRefusal(403, "a web page of another origin asks"),
    "upgrade_required": HttpRefusal(426, "the address speaks WebSocket"),
    "no_such_address": HttpRefusal(404, "there is nothing at this address"),
    "method_not_allowed": HttpRefusal(405, "the address does not know this method"),
    # bodies and parameters
    "malformed_json": HttpRefusal(400, "the body is no JSON"),
    "invalid_utf8": HttpRefusal(400, "the body is not UTF-8"),
    "invalid_unicode": HttpRefusal(400, "a text holds half a surrogate pair"),
    "duplicate_key": HttpRefusal(400, "an object names a key twice"),
    "not_finite": HttpRefusal(400, "a number is not finite, or an integer has more than 64 bits"),
    "too_deep": HttpRefusal(400, "the body nests too deep"),
    "too_large": HttpRefusal(413, "the body is too large"),
    "too_many_values": HttpRefusal(413, "the body holds too many values"),
    "unsupported_media_type": HttpRefusal(415, "the body is not plain application/json in UTF-8"),
    "invalid_request": HttpRefusal(
        422, "body or parameters do not fit; `errors` names the first place of a body"
    ),
    # storage and capacity
    "storage_unavailable": HttpRefusal(
        503, "nothing can be written now, or what is asked for cannot be read"
    ),
    "storage_damaged": HttpRefusal(
        503, "the database's file is damaged: waiting mends nothing, a backup does"
    ),
    "lease_lost": HttpRefusal(503, "another engine holds the storage"),
    "not_ready": HttpRefusal(503, "runs are not accepted now; `checks` says why"),
    "busy": HttpRefusal(429, "as many runs are accepted as policy permits"),
    "session_busy": HttpRefusal(429, "the session has as many turns going as policy permits"),
    # conversation
    "session_not_found": HttpRefusal(404, "there is no such session in the workspace"),
    "message_not_found": HttpRefusal(404, "the session has no message of this number"),
    "message_id_reused": HttpRefusal(409, "the message id came before with another content"),
    "message_id_reserved": HttpRefusal(422, "message ids of this form are Ordain's own"),
    "session_id_reserved": HttpRefusal(
        422, "session ids of this form are those of what was erased"
    ),
    "conflicting_verbs": HttpRefusal(422, "`verb` and `verbs` name different verbs"),
    "beyond_head": HttpRefusal(409, "the session has fewer entries than that"),
    "attachments_too_many": HttpRefusal(413, "the message brings more files than policy permits"),
    "attachment_too_large": HttpRefusal(
        413, "the files of the message have more bytes than policy permits"
    ),
    "attachment_invalid": HttpRefusal(422, "a file's bytes are no base64, or there are none"),
    "attachment_unlike": HttpRefusal(415, "a file is not what its media type or its name says"),
    "attachment_unread": HttpRefusal(415, "a file is of a kind that nobody reads"),
    "attachment_gone": HttpRefusal(
        503, "what came with the message was given up meanwhile; it may be sent again"
    ),
    "timeout": HttpRefusal(
        504,
        "there is no answer yet; the turn goes on, and `location` says where its answer will be",
    ),
    # the OpenAI address
    "unknown_model": HttpRefusal(404, "no `model` of this name is served"),
    "profile_unfit": HttpRefusal(
        409, "the session is pinned to another profile, or has begun without this one"
    ),
    "unsupported_parameter": HttpRefusal(
        422, "the request asks for something that is not done here; `errors` names it"
    ),
    "conversation_unfit": HttpRefusal(
        422,
        "nothing is said now, it is too long, or a session or response is named that cannot be one",
    ),
    **{
        f"{NO_ANSWER}{code}": HttpRefusal(
            502,
            (
                "a model gave no answer, so the turn has none of the form that was asked for: "
                f"{remedy}"
            ),
        )
        for code, remedy in REMEDIES.items()
    },
    # plans and verbs
    "request_id_reused": HttpRefusal(409, "the request id came before with another body"),
    "invalid_input": HttpRefusal(
        422, "the kind of run that the request opens cannot read the input made of it"
    ),
    "invalid_kind": HttpRefusal(
        500, "the kind of run that the request opens fails at it; its author finds why in the log"
    ),
    "invalid_schema": HttpRefusal(422, "a tool's schema is none"),
    "schema_too_large": HttpRefusal(422, "a tool's schema is too large"),
    "toolset_too_large": HttpRefusal(422, "the toolset's schemas are too large together"),
    "unknown_template": HttpRefusal(404, "there is no such workflow template"),
    "no_engine": HttpRefusal(503, "nothing is driven or reloaded here"),
    "unknown_verb": HttpRefusal(404, "there is no such verb"),
    "unknown_agent": HttpRefusal(404, "there is no card of this name"),
    "unknown_pack": HttpRefusal(404, "policy has no pack of this name"),
    "no_such_schema": HttpRefusal(404, "no contract of this name is published"),
    # what is remembered
    "note_not_found": HttpRefusal(404, "there is no such note in the workspace"),
    "document_not_found": HttpRefusal(404, "there is no such document in the workspace"),
    "empty_text": HttpRefusal(422, "a note has a text"),
    "invalid_name": HttpRefusal(422, "a document has a name of one line, not too long"),
    "document_too_large": HttpRefusal(413, "the document has too many bytes"),
    "document_too_deep": HttpRefusal(422, "the page nests its elements too deep"),
    "quota_spent": HttpRefusal(
        507, "the workspace, or the token, has as much remembered as policy permits"
    ),
    "document_too_long": HttpRefusal(
        422, "the document has too much text, too many pages or sections, or takes too much memory"
    ),
    "document_not_text": HttpRefusal(422, "the document is no UTF-8 text"),
    "document_empty": HttpRefusal(422, "the document has no text; a scan has none"),
    "document_encrypted": HttpRefusal(422, "the PDF is encrypted"),
    "document_unreadable": HttpRefusal(422, "the document is broken"),
    "document_too_slow": HttpRefusal(422, "reading the document takes too long"),
    "unsupported_document": HttpRefusal(415, "the document is of no format that is read"),
    "documents_busy": HttpRefusal(503, "as many documents are being added as there is memory for"),
    "no_process": HttpRefusal(503, "no process can be started to read the document"),
    # runs
    "run_not_found": HttpRefusal(404, "there is no such run in the workspace"),
    "journal_corrupt": HttpRefusal(500, "a record of the run is not what was written"),
    "unknown_status": HttpRefusal(422, "a status that runs do not have"),
    "unknown_page": HttpRefusal(
        422,
        (
            "what the page is to begin after is not there, or no longer: the pages begin anew "
            "without "
            "`before`"
        ),
    ),
    "run_unreadable": HttpRefusal(
        409, "the run's records cannot be read: erase it, or restore a backup"
    ),
    "settled": HttpRefusal(409, "the run has settled"),
    "not_stopped": HttpRefusal(409, "the run is not stopped"),
    "erased": HttpRefusal(409, "the run was erased"),
    "thread_taken": HttpRefusal(409, "another turn of its thread is going on"),
    "not_at_rest": HttpRefusal(409, "the run, or one that belongs to it, is not at rest"),
    "not_unknown": HttpRefusal(409, "that effect has no unknown outcome"),
    "already_resolved": HttpRefusal(
        409, "somebody has said otherwise of that effect: `correct` says that it was a mistake"
    ),
    "already_answered": HttpRefusal(409, "that effect was answered before"),
    "answer_too_large": HttpRefusal(422, "the answer is too large or nests too deep"),
    "answer_unfit": HttpRefusal(422, "it is no answer to the question, which stays open"),
    "approval_required": HttpRefusal(
        409, "that effect waits for an approver, and no answer is one"
    ),
    # approvals and grants
    "approval_not_found": HttpRefusal(404, "there is no such approval in the workspace"),
    "already_decided": HttpRefusal(
        409, "the approval was decided before, or nobody waits for it any more"
    ),
    "already_claimed": HttpRefusal(
        409,
        (
            "somebody else looks at the approval (`claimed_by`): `take_over` says that you do in "
            "their place"
        ),
    ),
    "not_claimed": HttpRefusal(409, "whoever releases the approval is not who claimed it"),
    "approval_expired": HttpRefusal(409, "the time of the approval is over"),
    "approval_stale": HttpRefusal(
        409,
        "what was looked at (`digest`) is not what is asked for, or it may not be done any more",
    ),
    "not_an_approver": HttpRefusal(403, "this principal may not approve it"),
    "approver_unknown": HttpRefusal(
        403, "it matters who approves, and nobody knows who this is: come with a token"
    ),
    "why_too_long": HttpRefusal(422, "a reason is too long"),
    "unknown_state": HttpRefusal(422, "a state that approvals do not have"),
    "not_resubmittable": HttpRefusal(409, "only the approval of one call can be proposed anew"),
    "same_args": HttpRefusal(422, "these are the arguments that are asked for"),
    "invalid_args": HttpRefusal(422, "the arguments do not fit the verb's schema"),
    "args_too_large": HttpRefusal(422, "the arguments are too large or nest too deep"),
    "grant_not_found": HttpRefusal(404, "there is no such grant in the workspace"),
    "invalid_grant": HttpRefusal(
        422,
        (
            "a grant that cannot be given: its time, its uses, its principal, its verbs, its "
            "targets "
            "or its bounds"
        ),
    ),
    "not_grantable": HttpRefusal(
        422,
        (
            "what is destructive is approved each time, a read needs no yes, and a grant comes "
            "with a "
            "yes alone"
        ),
    ),
}

EVERYWHERE = (
    *(
        "malformed_http",
        "request_timeout",
        "foreign_host",
        "foreign_origin",
        "own_request",
        "headers_too_large",
        "internal",
        "stopping",
    ),
    *("too_many_connections", "out_of_resources", "storage_unavailable", "storage_damaged"),
)
GUARDED = (
    "unauthenticated",
    "forbidden",
    "rate_limited",
    "token_in_query",
    "repeated_header",
    "too_many_parameters",
)
"""What the guard refuses with, before any address but the public ones."""
UNSAFE = ("lease_lost",)
PARAMETERS = ("invalid_request",)
BODY = (
    *(
        "malformed_json",
        "invalid_utf8",
        "invalid_unicode",
        "duplicate_key",
        "not_finite",
        "too_deep",
    ),
    *("too_large", "too_many_values", "unsupported_media_type", "invalid_request"),
)

RAW = ("unsupported_media_type",)
"""What a body that is no JSON may meet beside its route's own."""

UNREADABLE = (
    *(
        "invalid_name",
        "document_too_large",
        "document_too_long",
        "document_too_deep",
        "quota_spent",
        "document_not_text",
        "document_empty",
        "document_encrypted",
    ),
    *(
        "document_unreadable",
        "document_too_slow",
        "unsupported_document",
        "no_process",
        "documents_busy",
    ),
)
"""What a document may be refused with."""
FILES = (
    *(
        "attachments_too_many",
        "attachment_too_large",
        "attachment_invalid",
        "attachment_unlike",
        "attachment_unread",
        "attachment_gone",
    ),
    *UNREADABLE,
)
"""What the files of a message may be refused with."""
CONVERSATION = (
    "message_id_reused",
    "message_id_reserved",
    "session_id_reserved",
    "busy",
    "session_busy",
    *FILES,
)
"""What a message may be refused with, in whatever shape it comes."""


def refusing(options: Mapping[str, Any], *codes: str) -> dict[str, Any]:
    """Route options with the route's own refusal codes."""
    extra = dict(options.get("openapi_extra") or {})
    return {**options, "openapi_extra": {**extra, KEY: [*extra.get(KEY, ()), *codes]}}


def refusal_codes(operation: Mapping[str, Any], method: str) -> tuple[str, ...]:
    """Every code that an operation may refuse with: its own, and what its shape brings with it."""
    given = [*operation.get(KEY, ()), *EVERYWHERE]
    if method not in {"get", "head"}:
        given += UNSAFE
    if "requestBody" in operation:
        given += BODY if "application/json" in operation["requestBody"]["content"] else RAW
    if operation.get("parameters"):
        given += PARAMETERS
    return tuple(sorted(set(given)))
