"""What a chat turn leaves on disk. ``python -m bench.conversation.stored HOME``; the home is closed
and unchanged since.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from bench.journal import kept

_ENTRY = (
    "length(digest) + length(chain) + length(kind) + length(run) + length(channel) + "
    "length(message_id) + length(attached) + length(reason)"
)
_SPOKEN = "('message', 'reply')"


def _main(home: Path) -> dict[str, Any]:
    file = home / "ordain.db"
    db = sqlite3.connect(file)

    def one(sql: str) -> Any:
        return db.execute(sql).fetchone()[0] or 0

    turns = one("SELECT count(*) FROM transcript WHERE kind = 'reply'")
    flows = dict(db.execute("SELECT no, flow FROM runs").fetchall())
    counts, sizes = Counter[str](), Counter[str]()
    for each in kept(db):
        kind = f"{flows[each.run]}: {each.kind}" + (
            "" if each.kind in {"ended", "started"} else f" {each.name}"
        )
        counts[kind] += 1
        sizes[kind] += each.size
    texts = one(f"SELECT sum(size) FROM transcript WHERE kind IN {_SPOKEN}")
    return {
        "turns": turns,
        "runs": one("SELECT count(*) FROM runs") / turns,
        "records": sum(counts.values()) / turns,
        "records_bytes": sum(sizes.values()) / turns,
        "said_bytes": texts / turns,
        # 40: its numbers
        "transcript_bytes": one(
            f"SELECT sum(coalesce(length(body), 0) + {_ENTRY} + 40) FROM transcript"
        )
        / turns,
        "decision_bytes": one("SELECT sum(length(decision)) FROM transcript") / turns,
        "file_bytes": file.stat().st_size / turns,
        "kinds": [
            {"kind": kind, "count": counts[kind] / turns, "bytes": size / turns}
            for kind, size in sizes.most_common()
        ],
    }


if __name__ == "__main__":
    print(json.dumps(_main(Path(sys.argv[1]))))
