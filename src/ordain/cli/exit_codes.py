"""What the command's exit codes mean."""

from __future__ import annotations

from ordain.errors import JournalCorrupt

OK, FAILED, USAGE, UNAVAILABLE, UNREADABLE = 0, 1, 2, 3, 4
"""Done; the outcome is a failure; wrong arguments or configuration; not possible now, try again
later; done but for runs that cannot be judged again.
"""


class Unjudged(JournalCorrupt):
    """A store that was to be judged is damaged, so nothing can be said of what is in it."""
