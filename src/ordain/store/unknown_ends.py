"""Which runs beside one may hold a call of whose end nobody knew: found by the words of their
records, which their reader then decodes, or since they were at work and are no more.

Of a conversation all runs count, however long it is. So of each one what has settled without such
an end is left behind, and what it says since is looked through alone.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, field

from ordain.journal.records import SETTLED, UNKNOWN_ENDS, Status
from ordain.store.run_records import Statement

KNOWN = 10_000
"""So many settled runs are remembered to hold none, which can get none any more."""
TALKS = 1_000
"""Of so many conversations it is remembered how far they were looked through."""
SLICE = 100
"""So many runs are looked through by one statement; between two others get their turn."""
_SETTLED = ", ".join(f"'{status}'" for status in sorted(SETTLED))
_ME = """
SELECT r.no, r.root, s.no, s.generation, s.head FROM runs r
LEFT JOIN sessions s ON s.workspace = r.workspace AND s.id = r.session WHERE r.id = ?
"""
_ROOTS = """
SELECT r.no FROM transcript t JOIN runs r ON r.id = t.run
WHERE t.session = ?1 AND t.seq > ?2 AND t.run <> ''
UNION SELECT run FROM turns WHERE session = ?1 AND state <> 'over'
"""
"""Whose entries came since; a turn at work may serve one that came before it."""
_BELOW = f"""
WITH RECURSIVE below(no, top) AS (
  SELECT value, value FROM json_each(?)
  UNION SELECT c.no, below.top FROM below JOIN runs c ON c.parent = below.no
  WHERE c.parent IS NOT NULL)
SELECT r.no, below.top, r.status IN ({_SETTLED}), r.status = '{Status.WAITING}'
FROM below CROSS JOIN runs r ON r.no = below.no
"""  # noqa: S608 - constants
_HOLDS = " OR ".join(f"instr({{0}}, CAST('{end.decode()}' AS BLOB)) > 0" for end in UNKNOWN_ENDS)
_HOLDING = f"""
SELECT one.value FROM json_each(?) one
WHERE EXISTS (SELECT 1 FROM sheets h WHERE h.run = one.value AND ({_HOLDS.format("h.records")}))
OR EXISTS (SELECT 1 FROM records d WHERE d.run = one.value AND d.body IS NOT NULL
  AND ({_HOLDS.format("d.body")}))
"""  # noqa: S608 - constants
_WITH_OPENERS = """
SELECT r.id FROM runs r WHERE r.id <> ?1 AND r.no IN (
  SELECT value FROM json_each(?2)
  UNION SELECT c.parent FROM json_each(?2) one JOIN runs c ON c.no = one.value)
ORDER BY r.no DESC
"""
"""With whoever opened what holds one: the call that is carried out there stands in its own journal,
and how it ended may lie apart as a payload.
"""


class _Talk(Struct):
    """A conversation, as far as it was looked through: ``roots`` are the runs below which something
    has not settled, or may hold such an end.
    """

    generation: int
    head: int = 0
    roots: set[int] = field(default_factory=set[int])


class UnknownEnds:
    """Implements ``JournalStore.unknown_beside``. It is asked before each call that changes
    something, so that what has settled without such an end is looked through once.
    """

    def __init__(self, query: Statement) -> None:
        """Over a connection that reads."""
        self._query = query
        self._without = OrderedDict[int, None]()
        self._talks = OrderedDict[int, _Talk]()

    async def beside(self, run: str) -> Sequence[str]:
        """See ``JournalStore.unknown_beside``."""
        found = self._query(_ME, (run,))
        if not found:
            return []
        me, root, no, generation, head = found[0]
        talk = _Talk(generation=0) if no is None else self._talk(no, generation, head)
        tops = talk.roots | {root}
        near = await self._of_each(_BELOW, sorted(tops))
        looked = [no for no, *_ in near if no not in self._without]
        # as of before: what settles while it is looked through is looked through again
        holding = {row[0] for row in await self._of_each(_HOLDING, looked)}
        goes_on = set[int]()
        for one, top, settled, waits in near:
            if one in holding or not settled:
                goes_on.add(top)
            else:
                self._without[one] = None
            if not settled and not waits and one != me:
                holding.add(one)
        talk.roots -= tops - goes_on  # others came meanwhile
        _forget(self._without, KNOWN)
        if not holding:
            return []
        return [row[0] for row in self._query(_WITH_OPENERS, (run, _list(holding)))]

    def _talk(self, no: int, generation: int, head: int) -> _Talk:
        """What is to be looked at of a conversation, its latest runs among it."""
        talk = self._talks.pop(no, None)
        if talk is None or talk.generation != generation or talk.head > head:
            talk = _Talk(generation=generation)
        talk.roots |= {row[0] for row in self._query(_ROOTS, (no, talk.head))}
        talk.head = head
        self._talks[no] = talk
        _forget(self._talks, TALKS)
        return talk

    async def _of_each(self, sql: str, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        """What a statement says of these runs, of so many at a time."""
        found = list[tuple[Any, ...]]()
        for first in range(0, len(numbers), SLICE):
            if first:
                await asyncio.sleep(0)
            found += self._query(sql, (_list(numbers[first : first + SLICE]),))
        return found


def _forget(known: OrderedDict[int, Any], most: int) -> None:
    while len(known) > most:
        known.popitem(last=False)


def _list(numbers: Iterable[int]) -> str:
    return json.dumps(list(numbers))
