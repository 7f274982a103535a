"""What a chat turn leaves on disk. ``python -m bench.conversation.stored HOME``; the home is closed and unchanged since."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

from bench.journal import HEADING

_ENTRY = (
    "length(digest) + length(chain) + length(kind) + length(run) + length(channel) + length(message_id) + length(attached) + length(reason)"
)
_SPOKEN = "('message', 'reply')"


def _main(home: Path) -> dict[str, Any]:
    file = home / "ordain.db"
    db = sqlite3.connect(file)

    def one(sql: str) -> Any:
        return db.execute(sql).fetchone()[0] or 0

    turns = one("SELECT count(*) FROM transcript WHERE kind = 'reply'")
    kinds = db.execute(
        f"SELECT u.flow, r.kind, r.name, count(*), sum(coalesce(length(r.body), 0) + coalesce(length(p.bytes), 0) + {HEADING})"
        " FROM records r JOIN runs u ON u.no = r.run LEFT JOIN payloads p ON p.id = r.payload GROUP BY 1, 2, 3 ORDER BY 5 DESC"
    ).fetchall()
    texts = one(f"SELECT sum(size) FROM transcript WHERE kind IN {_SPOKEN}")
    return {
        "turns": turns,
        "runs": one("SELECT count(*) FROM runs") / turns,
        "records": sum(row[3] for row in kinds) / turns,
        "records_bytes": sum(row[4] for row in kinds) / turns,
        "said_bytes": texts / turns,
        "transcript_bytes": one(f"SELECT sum(coalesce(length(body), 0) + {_ENTRY} + 40) FROM transcript") / turns,  # 40: its numbers
        "decision_bytes": one("SELECT sum(length(decision)) FROM transcript") / turns,
        "file_bytes": file.stat().st_size / turns,
        "kinds": [
            {
                "kind": f"{flow}: {kind}" + ("" if kind in {"ended", "started"} else f" {name}"),
                "count": count / turns,
                "bytes": size / turns,
            }
            for flow, kind, name, count, size in kinds
        ],
    }


if __name__ == "__main__":
    print(json.dumps(_main(Path(sys.argv[1]))))
