"""``ordain runs show``: what is below a run, each as far in as it is deep."""

from __future__ import annotations

from typing import Any

import pytest

from ordain.cli.runs import _show_tree


def below(depth: int, verb: str, **more: Any) -> dict[str, Any]:
    made = {
        "run_id": "r" * 4,
        "flow": "handoff",
        "status": "completed",
        "reason": "ok",
        "verdict": "ok",
    }
    return {
        "depth": depth,
        "verb": verb,
        **made,
        "tokens": 812,
        "usd_micros": 1500,
        "duration_ms": 34,
        **more,
    }


def test_a_plan_is_shown_as_a_tree(capsys: pytest.CaptureFixture[str]) -> None:
    """Whom work was handed to, how it came out, what it cost with all below it, and the run to look
    at next.
    """
    failed = below(2, "agent.finance_agent", verdict="partial", status="failed", reason="rejected")
    _show_tree(
        {
            "runs": [below(1, "roster_runtime", flow="roster"), failed, below(1, "", flow="seat")],
            "whole": False,
        }
    )
    assert capsys.readouterr().out.splitlines() == [
        "below it:",
        "  roster_runtime (roster) · ok · completed · 812 tokens, $0.001500, 34 ms · run rrrr",
        (
            "    agent.finance_agent (handoff) · partial · failed · rejected · 812 tokens, "
            "$0.001500, "
            "34 ms · run rrrr"
        ),
        "  seat · ok · completed · 812 tokens, $0.001500, 34 ms · run rrrr",
        "  and more: a run of these, shown by itself, has what is below it",
    ]


def test_where_nothing_is_below_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """Most runs open none."""
    _show_tree({"runs": [], "whole": True})
    assert capsys.readouterr().out == ""
