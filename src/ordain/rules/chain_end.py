"""Rule ``chain_end``: does what an agent chain gave end the work that it was for (ACH-01, ACH-02,
EXE-07)?

Its text is no decision. It counts where ``planner_raw`` holds a directive that rule ``step`` would
accept as a final answer, and the text is that answer's own. The chain is asked so before it ends,
and whoever takes its result asks again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.proposals import Parsed
from ordain.rules.reasons import Reason
from ordain.rules.step import finishing_fault


class ChainEndReason(Reason):
    """Why a chain's result counts or does not (ACH-02, EXE-07)."""

    FINISHED = "chain_end.finished", "A validated final answer led to the chain's text."
    MALFORMED = "chain_end.malformed", "What the chain gave is not of its result's shape."
    NO_DIRECTIVE = (
        "chain_end.no_directive",
        "The chain gave a text and no directive that led there: prose is no decision.",
    )
    INVALID = (
        "chain_end.invalid_directive",
        "The directive beside the chain's text is no valid final answer.",
    )
    OTHER_TEXT = (
        "chain_end.other_text",
        "The chain's text is not what its directive's final answer says.",
    )


class ChainFinished(Struct, frozen=True, gc=False, tag="finished"):
    """The result counts."""


class ChainUnfinished(Struct, frozen=True, gc=False, tag="unfinished"):
    """It does not, and what it was for fails with this code; ``detail`` names the fault of the
    directive, never a value.
    """

    code: str = "agent_chain_unfinished"
    detail: str = ""


class ChainEndFacts(Struct, frozen=True, gc=False, kw_only=True):
    """Features of the result: how long its text is, and whether a directive stands beside it."""

    text_chars: int
    directive: bool


class ChainEndInputs(Struct, frozen=True, kw_only=True):
    """The result as the chain gave it."""

    result: Mapping[str, Any]

    @property
    def facts(self) -> ChainEndFacts:
        """Its features."""
        text = self.result.get("text")
        return ChainEndFacts(
            text_chars=len(text) if isinstance(text, str) else 0,
            directive=_directive(self.result) is not None,
        )


def decide_chain_end(
    facts: ChainEndFacts, inputs: ChainEndInputs, policy: Policy
) -> Decision[ChainFinished | ChainUnfinished]:
    """Shape, then the directive, then that both say the same."""
    result = inputs.result
    text, structured = result.get("text"), result.get("structured")
    if not isinstance(text, str) or not text.strip() or not isinstance(structured, dict):
        return _unfinished(ChainEndReason.MALFORMED)
    directive = _directive(result)
    if directive is None:
        return _unfinished(ChainEndReason.NO_DIRECTIVE)
    fault = finishing_fault(
        Parsed(value=directive, size_bytes=len(msgspec.json.encode(directive))), policy
    )
    if fault is not None:
        return _unfinished(ChainEndReason.INVALID, str(fault))
    answer: dict[str, Any] = directive["final_answer"]
    if answer["content"] != text or answer.get("structured", {}) != structured:
        return _unfinished(ChainEndReason.OTHER_TEXT)
    return Decision(outcome=ChainFinished(), reason=ChainEndReason.FINISHED)


def _directive(result: Mapping[str, Any]) -> dict[str, Any] | None:
    raw = result.get("planner_raw")
    found = cast("dict[str, Any]", raw).get("directive") if isinstance(raw, dict) else None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _unfinished(reason: Reason, detail: str = "") -> Decision[ChainFinished | ChainUnfinished]:
    return Decision(outcome=ChainUnfinished(detail=detail), reason=reason)


def _tells(recorded: Recorded) -> HeaderShare:
    """What keeps a chain's text from counting."""
    if recorded.reason == str(ChainEndReason.FINISHED):
        return SILENT
    return HeaderShare(
        lines=(
            HeaderLine(
                mark="fail", what="agent chain: its text is no answer", reason=recorded.reason
            ),
        )
    )


CHAIN_END: Rule[ChainEndFacts, ChainEndInputs, Any] = Rule(
    name="chain_end",
    outcome=ChainFinished | ChainUnfinished,
    apply=decide_chain_end,
    reasons=(ChainEndReason,),
    tells=_tells,
)
