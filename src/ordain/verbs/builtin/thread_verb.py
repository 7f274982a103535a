"""``thread.close``: the task of a thread is done. What closes it is the end of the turn that says
so: a turn that completes leaves its thread done.
"""

from __future__ import annotations

CLOSED = "This thread is closed."


def close_thread(note: str = "") -> dict[str, str]:
    """Say that it is closed, and the note."""
    return {"content": f"{CLOSED} {note}".strip()}
