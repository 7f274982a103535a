"""Who sits here: the user on whose behalf a command asks where nobody is named."""

from __future__ import annotations

import getpass

SOMEBODY = "local"
"""A user whom the system has no name for, as in a container."""


def person() -> str:
    """The logged-in user's name, as the system knows it."""
    try:
        return getpass.getuser() or SOMEBODY
    except (KeyError, OSError):
        return SOMEBODY
