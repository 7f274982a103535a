"""Who sits here: the user on whose behalf a command asks where nobody is named, and who decides
with what the folder holds.
"""

from __future__ import annotations

import getpass
import os

from ordain.contracts.access import local_principal

SOMEBODY = "local"
"""A user whom the system has no name for, as in a container."""


def person() -> str:
    """The logged-in user's name, as the system knows it."""
    try:
        return getpass.getuser() or SOMEBODY
    except (KeyError, OSError):
        return SOMEBODY


def operator() -> str:
    """Whoever changes what a folder holds, as policy's roles and approvals name them, too: one
    person has one name.
    """
    return local_principal(os.geteuid())
