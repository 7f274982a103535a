"""What a council is asked, as its seats, its chair and its auditor are shown it."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.council import AuditVerdict, Constraints, DeliberationRequest, Phi
from ordain.flows.transcript import HistoryRef, Spoken

PROMPT_CHARS = 32_000
"""What an agent chain takes, to which the question may go."""
HISTORY_MESSAGES = 20
HISTORY_CHARS = 4000
STATE_CHARS = 4000


class HistoryLine(Struct, frozen=True, kw_only=True):
    """One message of what was said before."""

    role: str
    content: str


class CouncilQuestion(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The question, cut as it is shown. ``spoken`` is the conversation's history by reference,
    ``history`` what a request itself brings.

    ``phi`` is told to seats that use it, ``state`` (the request's ``self_field`` and
    ``persona_state``) to all.
    """

    prompt: str
    history: tuple[HistoryLine, ...] = ()
    spoken: HistoryRef | None = None
    phi: dict[str, float] | None = None
    state: str = ""

    @property
    def history_used(self) -> int:
        """How many earlier messages are shown."""
        return len(self.history) + (0 if self.spoken is None else self.spoken.entries)

    @property
    def size_bytes(self) -> int:
        """Upper bound of what it takes in a prompt."""
        whole = 0 if self.spoken is None else self.spoken.size_bytes
        return 2 * (len(msgspec.json.encode(msgspec.structs.replace(self, spoken=None))) + whole)

    @property
    def repeats(self) -> int:
        """How many lines it has that repeat a part of the template."""
        return self.history_used + 1


def question_of(request: DeliberationRequest, spoken: HistoryRef | None = None) -> CouncilQuestion:
    """A request's question; ``spoken`` is the history of the conversation that it is asked in."""
    state = {"self_field": request.self_field, "persona_state": request.persona_state}
    told = {name: value for name, value in state.items() if value}
    return CouncilQuestion(
        prompt=_cut(request.prompt, PROMPT_CHARS),
        history=tuple(
            HistoryLine(role=line.role, content=_cut(line.content, HISTORY_CHARS))
            for line in request.history[-HISTORY_MESSAGES:]
        ),
        spoken=spoken,
        phi=None if request.phi is None else _phi(request.phi),
        state=_cut(msgspec.json.encode(told).decode(), STATE_CHARS) if told else "",
    )


def shown_history(question: CouncilQuestion, spoken: Spoken) -> tuple[dict[str, str], ...]:
    """What was said before, as a prompt shows it: the conversation's summary and entries, then what
    the request brings.
    """
    before = (
        ()
        if spoken.summary is None
        else ({"role": "system", "content": f"What was said before, summed up: {spoken.summary}"},)
    )
    return (
        *before,
        *spoken.history,
        *({"role": line.role, "content": line.content} for line in question.history),
    )


def shown_constraints(verdict: AuditVerdict, why: str, *, own: bool = False) -> dict[str, Any]:
    """What a verdict holds the next answer to; ``why`` is what code says to it. ``own``: the
    auditor's own answer, too, which the next one is to go on from.
    """
    given: Constraints = verdict.constraints
    said = {
        "why": why,
        "reason": verdict.reason,
        "emphasize": list(given.emphasize),
        "avoid": list(given.avoid),
        "notes": given.notes,
        "answer": (verdict.override_answer or "") if own else "",
    }
    return {name: value for name, value in said.items() if value}


def _phi(phi: Phi) -> dict[str, float]:
    return {
        "valence": phi.valence,
        "energy": phi.energy,
        "coherence": phi.coherence,
        "novelty": phi.novelty,
    }


def _cut(text: str, bound: int) -> str:
    return text if len(text) <= bound else text[: bound - 1] + "…"
