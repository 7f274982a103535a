"""What schemathesis checks beside its own checks."""

import schemathesis

BEYOND_SCHEMAS = {
    "not_finite": "an integer in free JSON has more than 64 bits",
    "too_deep": "free JSON nests deeper than 64 levels",
    "invalid_schema": "what is given as a JSON Schema is none",
    "conflicting_verbs": "two fields contradict each other",
    "message_id_reserved": "ids of Ordain's own",
    "unknown_status": "statuses may be given in one parameter, separated by commas",
}
"""Codes of refusals whose reason no schema of the body can say."""


@schemathesis.check
def what_fits_is_accepted(ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case) -> None:
    """A request that fits its schemas is not refused for its shape."""
    positive = case.meta is not None and case.meta.generation.mode.is_positive
    if positive and response.status_code in (400, 413, 415, 422) and response.json()["code"] not in BEYOND_SCHEMAS:
        raise AssertionError(f"what fits the schemas is refused: {response.text}")
