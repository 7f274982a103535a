"""What the command's exit codes mean."""

from __future__ import annotations

OK, FAILED, USAGE, UNAVAILABLE = 0, 1, 2, 3
"""Done; the outcome is a failure; wrong arguments or configuration; not possible now, try again later."""
