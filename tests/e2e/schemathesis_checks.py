"""What schemathesis checks beside its own checks."""

import schemathesis

from tests.e2e.openapi_truth import code_of

BEYOND_SCHEMAS = {
    "not_finite": "an integer in free JSON has more than 64 bits",
    "too_deep": "free JSON nests deeper than 64 levels",
    "invalid_schema": "what is given as a JSON Schema is none",
    "conflicting_verbs": "two fields contradict each other",
    "message_id_reserved": "ids of Ordain's own",
    "empty_text": "a text of white space only",
    "document_empty": "a document without text",
    "document_not_text": "bytes that are no document of the format that the name tells",
    "document_unreadable": "likewise",
    "unsupported_document": "a name that tells no format",
    "invalid_name": "a name that cannot be a file's",
    "unknown_state": "states may be given in one parameter, separated by commas",
    "not_grantable": "what a verb's effect leaves for a grant stands in the catalog",
    "invalid_grant": "a principal that is none, or a bound of a verb that the grant is not for",
    "unsupported_parameter": (
        "what of OpenAI's requests is not served here; the schema has it, so that it is refused "
        "by name"
    ),
    "conversation_unfit": (
        "messages that fit one by one and end with nothing that a user says, or names that name "
        "nothing"
    ),
    "answer_unfit": "JSON was asked for, and the model, or the offline rules, wrote none",
    "attachment_invalid": "a file whose bytes are no base64, or none",
    "attachment_unlike": "a file that is not what its media type or its name says",
    "attachment_unread": "a file of a kind that nobody reads",
    "unknown_page": "there is no such run or grant to go on after",
    "unknown_status": "statuses may be given in one parameter, separated by commas",
}
"""Codes of refusals whose reason no schema of the body can say."""


@schemathesis.check
def what_fits_is_accepted(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> None:
    """A request that fits its schemas is not refused for its shape."""
    positive = case.meta is not None and case.meta.generation.mode.is_positive
    if (
        positive
        and response.status_code in (400, 413, 415, 422)
        and code_of(response.json()) not in BEYOND_SCHEMAS
    ):
        raise AssertionError(f"what fits the schemas is refused: {response.text}")
