"""What the model of the recorded talks does by the words of a message: one script, which their
recorders and the kept folders' house share.

The messages stand in recordings that exist; so their words stay, and with them what they had the
model do.
"""

from __future__ import annotations

from ordain.testing import call, fails
from tests.shapes.lines import about, asks, holds, script_of

WORDS = (
    script_of(
        holds("slowly"),
        asks("which place", "location"),
        asks("which day", "date_time"),
        asks("whether", "yes_no"),
        asks("what else", "freeform"),
    )
    .on("planner", call("math.evaluate", expression="6 * 7"), index=0, when=about("calculate"))
    .on("planner", fails("rejected", "not today"), when=about("fail"))
)
