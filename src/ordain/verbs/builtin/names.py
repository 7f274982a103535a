"""What is known of shipped verbs before their code is there: ids, and the library while no storage
is open.
"""

from __future__ import annotations

from ordain.ports.library import Library
from ordain.verbs.functions import VerbError

WRITES = "collapse.write_entry"
"""The verb that writes what is remembered: private as long as nobody else is given it."""
MAIL_SEND = "mail.send"


def no_library() -> Library:
    """Where there is no storage.

    Raises:
        VerbError: always.
    """
    raise VerbError(
        "no_library", "nothing is remembered here: this process has no storage open", happened=False
    )
