"""Which runs beside one may hold a call of whose end nobody knew: found by the words of their
records, which their reader then decodes.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from ordain.journal.records import SETTLED, UNKNOWN_ENDS
from ordain.store.run_records import Statement

ROOTS = 50
"""How many of a session's latest runs are looked below."""
ENTRIES = 8 * ROOTS
"""Among how many of its latest entries they are looked for: what one run leaves is a few."""
KNOWN = 10_000
"""So many settled runs are remembered to hold none, which can get none any more."""
_SETTLED = ", ".join(f"'{status}'" for status in sorted(SETTLED))
_NEAR = f"""
WITH RECURSIVE me AS (SELECT no, root, workspace, session FROM runs WHERE id = ?1),
latest AS (
  SELECT t.run AS id FROM me
  CROSS JOIN sessions s ON s.workspace = me.workspace AND s.id = me.session
  CROSS JOIN transcript t ON t.session = s.no AND t.seq > s.head - {ENTRIES}
  WHERE t.run <> '' GROUP BY t.run ORDER BY max(t.seq) DESC LIMIT {ROOTS}),
below(no) AS (
  SELECT root FROM me UNION SELECT r.no FROM latest JOIN runs r ON r.id = latest.id
  UNION SELECT c.no FROM below JOIN runs c ON c.parent = below.no WHERE c.parent IS NOT NULL)
SELECT r.no, r.id, r.status IN ({_SETTLED}) FROM below CROSS JOIN runs r ON r.no = below.no
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


class UnknownEnds:
    """Implements ``JournalStore.unknown_beside``. It is asked before each call that changes
    something, so that what has settled without such an end is looked through once.
    """

    def __init__(self, query: Statement) -> None:
        """Over a connection that reads."""
        self._query = query
        self._without = OrderedDict[str, None]()

    def beside(self, run: str) -> Sequence[str]:
        """See ``JournalStore.unknown_beside``."""
        near = [row for row in self._query(_NEAR, (run,)) if row[1] not in self._without]
        # as of before: what settles while it is looked through is looked through again
        holding = {row[0] for row in self._query(_HOLDING, (_list(row[0] for row in near),))}
        for no, one, settled in near:
            if settled and no not in holding:
                self._without[one] = None
        while len(self._without) > KNOWN:
            self._without.popitem(last=False)
        if not holding:
            return []
        return [row[0] for row in self._query(_WITH_OPENERS, (run, _list(holding)))]


def _list(numbers: Iterable[int]) -> str:
    return json.dumps(list(numbers))
