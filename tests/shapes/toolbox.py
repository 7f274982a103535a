"""Calls of the shipped prompt plans on data that no example holds: an answer that counts, and
answers that must not.
"""

import json
from pathlib import Path
from typing import Any

UNSEEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "toolbox" / "unseen.json").read_text(encoding="utf-8")
)
TOOLBOX_PLANS = tuple(case["verb"] for case in UNSEEN)
WRONG = [
    (case["verb"], case["input"], wrong["answer"], wrong["reason"])
    for case in UNSEEN
    for wrong in case["wrong"]
]
