"""Which runs beside one may hold a call of whose end nobody knew: found by the words of their
records, which their reader then decodes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ordain.journal.records import UNKNOWN_ENDS
from ordain.store.run_records import Statement

ROOTS = 50
"""How many of a session's latest runs are looked below."""
_HOLDS = " OR ".join(f"instr({{0}}, CAST('{end.decode()}' AS BLOB)) > 0" for end in UNKNOWN_ENDS)
_BESIDE = f"""
WITH RECURSIVE me AS (SELECT no, root, workspace, session FROM runs WHERE id = ?1),
latest AS (
  SELECT t.run AS id FROM transcript t JOIN sessions s ON s.no = t.session JOIN me ON s.workspace = me.workspace AND s.id = me.session
  WHERE t.run <> '' GROUP BY t.run ORDER BY max(t.seq) DESC LIMIT {ROOTS}),
below(no) AS (
  SELECT root FROM me UNION SELECT r.no FROM latest JOIN runs r ON r.id = latest.id
  UNION SELECT c.no FROM below JOIN runs c ON c.parent = below.no WHERE c.parent IS NOT NULL),
holding(no) AS (
  SELECT no FROM below WHERE EXISTS (SELECT 1 FROM sheets h WHERE h.run = below.no AND ({_HOLDS.format("h.records")}))
  OR EXISTS (SELECT 1 FROM records d WHERE d.run = below.no AND d.body IS NOT NULL AND ({_HOLDS.format("d.body")})))
SELECT r.id FROM runs r WHERE r.id <> ?1 AND r.no IN (SELECT no FROM holding UNION SELECT c.parent FROM holding JOIN runs c ON c.no = holding.no)
ORDER BY r.no DESC
"""  # noqa: S608 - constants
"""With whoever opened what holds one: the call that is carried out there stands in its own journal,
and how it ended may lie apart as a payload.
"""


def unknown_beside(query: Statement, run: str) -> Sequence[str]:
    """See ``JournalStore.unknown_beside``."""
    return [row[0] for row in query(_BESIDE, (run,))]
