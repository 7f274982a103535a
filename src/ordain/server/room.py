"""The memory that large bodies may fill all together, from their first byte until what they bring
is done with. Belongs to one event loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager

from ordain.errors import Transient


class Room:
    """So many bytes, and fewer for each who sends; what does not fit now is refused and comes
    again, so that nothing waits here.
    """

    def __init__(self, most: int, each: int, least: int, *, code: str, message: str) -> None:
        """One sender fills at most ``each``, and each body counts ``least`` bytes at the least;
        ``code`` and ``message`` are of what does not fit.
        """
        self._free, self._each, self._least = most, each, least
        self._taken = Counter[str]()
        self._code, self._message = code, message

    @contextmanager
    def share(self, who: str, declared: int) -> Generator[Callable[[int], None]]:
        """A part for one body that ``who`` sends, given back at the end. It grows as the body
        arrives: tell it how much is there.

        Only what has arrived counts, so that whoever announces much and sends it slowly keeps
        nobody out; what is announced and would not fit now need not be sent.

        Raises:
            Transient: it does not fit, now or as it grows.
        """
        taken = 0

        def arrived(size: int) -> None:
            nonlocal taken
            more = max(size, self._least) - taken
            self._check(who, more)
            taken += more
            self._take(who, more)

        self._check(who, declared)
        try:
            arrived(0)
            yield arrived
        finally:
            self._take(who, -taken)

    def _take(self, who: str, size: int) -> None:
        self._free -= size
        self._taken[who] += size
        if not self._taken[who]:
            del self._taken[who]

    def _check(self, who: str, size: int) -> None:
        if size > min(self._free, self._each - self._taken[who]):
            raise Transient(self._message, code=self._code)
