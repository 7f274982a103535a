"""Names that an option takes with commas between them, or several times. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ordain.errors import ConfigurationError


def names_of(given: Sequence[str], option: str) -> tuple[str, ...]:
    """Each name. An empty one is refused: it is what a variable that is not set leaves, and left
    out it would switch off what it was to say.

    Raises:
        ConfigurationError: a name is empty (``usage``).
    """
    names = tuple(part.strip() for one in given for part in one.split(","))
    if "" in names:
        raise ConfigurationError(
            f"{option} has an empty name: leave the option out, or name something", code="usage"
        )
    return names
