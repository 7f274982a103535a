"""The one piece of work that every system does: a turn of four model calls and three tool calls.

Nothing here is measured. The model is asked a question, calls ``look_up`` three times, each time
with what it learned before, and answers. Every system gets the same instructions, question, tool
and tool results, and the same words from its model.
"""

from __future__ import annotations

from typing import Any

CALLS = 3
MODEL_CALLS = CALLS + 1
STEPS = MODEL_CALLS + CALLS
"""Durable steps of a turn: each model call and each tool call is one."""
MAX_STEPS = 8
MODEL = "bench-model"

INSTRUCTIONS = (
    "You look after a warehouse. Use the tools to find out what is asked; never guess a number, "
    "an address or a date. Ask for one record "
    "at a time. When you know enough, answer in two or three sentences and name the records that "
    "you used."
)
QUESTION = (
    "A customer asks when order A-1041 will arrive in Lyon, which depot it leaves from, and "
    "whether the depot is open on Saturday. "
    "Please find out and write an answer that I can send."
)
TOOL_NAME = "look_up"
TOOL_DESCRIPTION = "Look up one record of the warehouse by its id."
TOOL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"record": {"type": "string", "description": "The record's id."}},
    "required": ["record"],
    "additionalProperties": False,
}

RECORDS: dict[str, str] = {
    "order/A-1041": (
        "Order A-1041: 12 crates of glassware, 148 kg, packed in two layers; customer Maison "
        "Perrin, 14 rue Mercière, Lyon. Leaves from "
        "depot/DIJ on Thursday at 06:40 with carrier/KN-7, fragile, no stacking, delivery by tail "
        "lift, invoice sent on the 3rd."
    ),
    "depot/DIJ": (
        "Depot DIJ: Dijon Sud, quai 9, opening hours Monday to Friday 05:30 to 21:00, Saturday "
        "06:00 to 12:30, closed on Sunday. Manager "
        "on duty: N. Aubert. Two loading ramps, one of them with a tail lift; the cold store is "
        "out of order until the 19th."
    ),
    "carrier/KN-7": (
        "Carrier KN-7: night line Dijon to Lyon, one stop in Mâcon, average duration 3 h 10 min, "
        "latest arrival in Lyon 11:30 on the same "
        "day. Free capacity this week 2.4 t. Delays of more than one hour: 3 in the last 90 days, "
        "all in snow."
    ),
}
THOUGHTS = (
    (
        "The order itself names the depot and the carrier, so I start there and read the rest from "
        "what it says."
    ),
    (
        "It leaves from depot DIJ; the question is whether that depot is open on Saturday, so "
        "I read "
        "the depot's record next."
    ),
    "The carrier's record tells how long the way to Lyon takes and when it arrives at the latest.",
    "I have everything: departure, duration, latest arrival and the opening hours.",
)
ANSWER = (
    "Order A-1041 leaves depot DIJ (Dijon Sud) on Thursday at 06:40 and reaches Lyon by 11:30 on "
    "the same day at the latest. The depot is "
    "open on Saturday from 06:00 to 12:30. Records used: order/A-1041, depot/DIJ, carrier/KN-7."
)
ASKED = tuple(RECORDS)


def looked_up(record: str) -> str:
    """What the tool returns."""
    return RECORDS[record]


def directive(index: int) -> dict[str, Any]:
    """Ordain's planner directive number ``index``."""
    if index < CALLS:
        action = {"tool_id": TOOL_NAME, "input": {"record": ASKED[index]}}
        return {"thought": THOUGHTS[index], "finish": False, "action": action, "final_answer": None}
    return {
        "thought": THOUGHTS[index],
        "finish": True,
        "action": None,
        "final_answer": {"content": ANSWER, "structured": {}},
    }
