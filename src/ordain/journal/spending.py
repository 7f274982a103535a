"""What each attempt at a model call of a run came to, read from its records: the lane, the profile,
the outcome, and what was booked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ordain.effects.effect import ModelCall
from ordain.effects.results import Beside
from ordain.journal.codec import decode
from ordain.journal.partial_bodies import LOST
from ordain.journal.records import DecisionBody, IntentBody, ObservationBody, Record, RecordKind
from ordain.rules.budget import SETTLE
from ordain.rules.fallback import FALLBACK
from ordain.rules.lane import LANE

MODEL_CALL = str(ModelCall.__struct_config__.tag)
SPENDING = (LANE.name, SETTLE.name, FALLBACK.name, MODEL_CALL)
"""The names of the records that this fold reads; others may be left out."""


class ModelAttempt(Struct, frozen=True, kw_only=True):
    """One attempt. ``tokens`` and ``usd_micros`` are what was booked: of an attempt that was lost,
    all that was reserved.

    Of a hedged call both attempts are told, and what was booked for both stands with the one that
    counted. ``input_tokens`` and ``output_tokens`` are what was counted, 0 where it failed and no
    answer told of its use. ``code`` is "" where it was answered; ``lane`` and ``profile`` are ""
    where the records that say so were erased.
    """

    at: int
    lane: str
    profile: str
    provider: str
    model: str
    code: str
    input_tokens: int
    output_tokens: int
    tokens: int
    usd_micros: int
    estimated: bool


class _Call(Struct):
    profile: str
    purpose: str = ""
    hedge: str = ""


class _Result(Struct):
    result: str
    provider: str = ""
    model: str = ""
    code: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    live: bool = True
    profile: str = ""
    beside: Beside | None = None


class _Lane(Struct):
    type: str
    lane: str = ""


class _Purpose(Struct):
    purpose: str
    after: Any = None


class _Settled(Struct):
    tokens: int
    usd_micros: int


class _Outcome(Struct):
    type: str = ""


_CALL = msgspec.json.Decoder(_Call)
_RESULT = msgspec.json.Decoder(_Result)
_LANE = msgspec.json.Decoder(_Lane)
_PURPOSE = msgspec.json.Decoder(_Purpose)
_SETTLED = msgspec.json.Decoder(_Settled)
_OUTCOME = msgspec.json.Decoder(_Outcome)
_NOBODY = _Call(profile="")
_NOTHING = _Result(result="", code="abandoned")


class Spending:
    """The attempts of one run, and how many more there were whose content was erased."""

    def __init__(self, records: Sequence[Record]) -> None:
        """Fold the records, in order; those of other names are passed over."""
        self.attempts: list[ModelAttempt] = []
        self.erased = 0
        self._first: dict[str, str] = {}  # the lane of a purpose, decided once in a run
        self._lanes: dict[str, str] = {}  # where the purpose's present question stands
        self._calls: dict[int, _Call] = {}
        self._results: dict[int, tuple[int, _Result]] = {}
        self._last = -1
        for record in records:
            if record.name not in SPENDING:
                continue
            if record.body is not None:
                self._one(record)
            elif record.kind is RecordKind.DECISION and record.name == SETTLE.name:
                self.erased += 1

    def _one(self, record: Record) -> None:
        match decode(record):
            case IntentBody() as body if record.name == MODEL_CALL:
                self._calls[body.addr] = _CALL.decode(body.effect)
                self._last = body.addr
            case ObservationBody() as body if record.name == MODEL_CALL:
                self._results[record.seq] = (body.addr, _RESULT.decode(body.result))
            case DecisionBody() as body if record.name == LANE.name:
                self._lane(body)
            case DecisionBody() as body if record.name == SETTLE.name:
                self._settle(record.at, body)
            case DecisionBody() as body if (
                record.name == FALLBACK.name and _OUTCOME.decode(body.outcome).type == "give_up"
            ):
                self._answered(self._calls.get(self._last, _NOBODY).purpose)
            case _:
                pass

    def _lane(self, body: DecisionBody) -> None:
        chosen, asked = _LANE.decode(body.outcome), _PURPOSE.decode(body.facts)
        if chosen.type == "lane":
            self._lanes[asked.purpose] = chosen.lane
            if asked.after is None:
                self._first[asked.purpose] = chosen.lane

    def _answered(self, purpose: str) -> None:
        """The purpose's next question begins in its own lane again."""
        if purpose in self._first:
            self._lanes[purpose] = self._first[purpose]

    def _settle(self, at: int, body: DecisionBody) -> None:
        booked = _SETTLED.decode(body.facts)
        addr, result = self._results.get(body.refs[0] if body.refs else -1, (self._last, _NOTHING))
        call = self._calls.get(addr, _NOBODY)
        answered = result.result == "answer"
        own = self._own(at, call, result, booked)
        if result.live or booked.tokens:  # else it was held back, or reached nobody
            self.attempts.append(own)
        if (other := result.beside) is not None:
            if other.live:
                self.attempts.append(self._beside(at, own.lane, other))
        elif call.hedge and result.code == LOST:
            # whether it had been asked nobody knows; what it can have cost was booked with the
            # other
            lost = Beside(profile=call.hedge, provider="", model="", code=LOST)
            self.attempts.append(self._beside(at, own.lane, lost))
        if answered:
            self._answered(call.purpose)

    def _own(self, at: int, call: _Call, result: _Result, booked: _Settled) -> ModelAttempt:
        return ModelAttempt(
            at=at,
            lane=self._lanes.get(call.purpose, ""),
            profile=result.profile or call.profile,
            provider=result.provider,
            model=result.model,
            code="" if result.result == "answer" else result.code or result.result,
            input_tokens=result.input_tokens,
            output_tokens=result.output_tokens,
            tokens=booked.tokens,
            usd_micros=booked.usd_micros,
            estimated=result.estimated,
        )

    @staticmethod
    def _beside(at: int, lane: str, other: Beside) -> ModelAttempt:
        """The attempt of a hedged call that did not count."""
        named = {
            "lane": lane,
            "profile": other.profile,
            "provider": other.provider,
            "model": other.model,
            "code": other.code,
        }
        counted, said = other.input_tokens, other.output_tokens
        return ModelAttempt(
            at=at,
            **named,
            input_tokens=counted,
            output_tokens=said,
            tokens=0,
            usd_micros=0,
            estimated=False,
        )
