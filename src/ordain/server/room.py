"""The memory that large bodies may fill all together, from their first byte until what they bring is done with. Belongs to one event loop."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from ordain.errors import Transient


class Room:
    """So many bytes; what does not fit now is refused and comes again, so that nothing waits here."""

    def __init__(self, most: int, least: int, code: str, message: str) -> None:
        """Each body counts ``least`` bytes at the least, which bounds their number too; ``code`` and ``message`` are of what does not fit."""
        self._free, self._least = most, least
        self._code, self._message = code, message

    @contextmanager
    def share(self, declared: int) -> Generator[Callable[[int], None]]:
        """A part for one body, given back at the end. It grows as the body arrives: tell it how much is there.

        Only what has arrived counts, so that whoever announces much and sends it slowly keeps nobody out; what is announced and would not fit
        now need not be sent.

        Raises:
            Transient: it does not fit, now or as it grows.
        """
        taken = 0

        def arrived(size: int) -> None:
            nonlocal taken
            more = max(size, self._least) - taken
            self._check(more)
            taken += more
            self._free -= more

        self._check(declared)
        try:
            arrived(0)
            yield arrived
        finally:
            self._free += taken

    def _check(self, size: int) -> None:
        if size > self._free:
            raise Transient(self._message, code=self._code)
