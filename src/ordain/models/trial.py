"""One cheap call to the model behind a profile, and what follows from it for people: a verdict, and
what to do.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from ordain.contracts.profiles import ModelProfile, Structured
from ordain.contracts.remedies import NO_WORDS, NOT_HELD, REMEDIES
from ordain.flows.pricing import cost
from ordain.models.doctor import PROBE_SCHEMA, fits_probe, probe_request
from ordain.ports.model import ModelError, ModelPort
from ordain.rules import enforcement

NO_MODELS = frozenset({"offline", "scripted"})
"""Providers that answer by rules or from a file."""
SCHEMA_IGNORED = "schema_ignored"
"""It answers, in words of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one call showed. ``code`` is "" where the profile can be used; ``advice`` is "" where
    there is nothing to do.
    """

    profile: str
    provider: str
    model: str
    code: str = ""
    message: str = ""
    advice: str = ""
    answering_model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    usd_micros: int = 0
    duration_ms: int = 0

    @property
    def ok(self) -> bool:
        """Whether the profile can be used as it is configured."""
        return not self.code

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**asdict(self), "ok": self.ok}


async def try_once(
    name: str, profile: ModelProfile, model: ModelPort, way: Structured | None = None
) -> Verdict:
    """Ask once, for one word. Never raises for what it meets; the call belongs to no run and stands
    in no journal.

    ``way`` is how the answer is held to its schema, where runs have learnt of another one than the
    profile declares.
    """
    began = time.monotonic()
    held = way or profile.held_by
    answer = await model.attempt(
        msgspec.structs.replace(probe_request(profile, PROBE_SCHEMA), held=way)
    )
    known: dict[str, Any] = {"profile": name, "provider": profile.provider, "model": profile.model}
    known["duration_ms"] = round((time.monotonic() - began) * 1000)
    if isinstance(answer, ModelError):
        return Verdict(
            **known,
            code=str(answer.code),
            message=answer.message,
            advice=_advice(answer),
        )
    known |= {
        "answering_model": answer.model,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
    }
    known["usd_micros"] = cost(profile, answer.input_tokens or 0, answer.output_tokens or 0)
    if profile.provider in NO_MODELS:
        return Verdict(**known, message=answer.notice or "answers, and is no language model")
    if fits_probe(answer.text):
        return Verdict(**known, message="answers, and keeps to a schema")
    if held is Structured.TEXT:
        return Verdict(
            **known,
            message="answers, but did not keep to the schema that it was told",
            advice="expect failed steps; see ordain doctor",
        )
    advice = (
        "the endpoint does not enforce schemas that way, and runs step down by themselves: ordain "
        'doctor says which structured = "..." it does'
    )
    return Verdict(
        **known,
        code=SCHEMA_IGNORED,
        message=f"answers, but its answer was not held to the schema ({held})",
        advice=advice,
    )


def _advice(error: ModelError) -> str:
    """As below a header, for whoever reads no header here."""
    if error.ignored or error.miscalled:
        return NOT_HELD
    return NO_WORDS if error.message in enforcement.NO_WORDS else REMEDIES[error.code]
