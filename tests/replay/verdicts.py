"""What the build that is imported makes of the golden runs and conversations: a program, so that a
build with other tables or code can be asked.

``python -m tests.replay.verdicts [NAME …]`` prints the verdicts of each as JSON; the current
catalog is one of the build's own table.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import CatalogData
from ordain.contracts.policy import Policy
from ordain.flows.shipped import shipped_kinds
from ordain.ports.sessions import Entry, SessionRow
from ordain.runtime.replay import replay
from ordain.runtime.services import Catalogs
from ordain.runtime.transcript_replay import retell
from ordain.runtime.wording_diff import messages_read
from ordain.wording.languages import shipped_table
from ordain.wording.wording import wording_of
from tests.at_once import at_once, awaited
from tests.replay.golden_file import GOLDEN, GoldenJournal, GoldenTalk, read, read_talk

SESSION = "s1"


class OneSession:
    """A golden conversation's session, as ``Sessions`` reads it."""

    def __init__(self, talk: GoldenTalk) -> None:
        """Its runs have the session's key."""
        self._entries = talk.transcript
        self._key = next(run.key for run in talk.runs if run.session == SESSION)

    async def session(self, workspace: str, session: str) -> SessionRow:
        """See ``Sessions.session``."""
        head = self._entries[-1].seq
        return SessionRow(
            id=session,
            workspace=workspace,
            head=head,
            open=0,
            channel="",
            user="",
            created_at=0,
            last_at=0,
            active=0,
            key=self._key,
            no=1,
        )

    async def entries(
        self, workspace: str, session: str, *, after: int, limit: int
    ) -> Sequence[Entry]:
        """See ``Sessions.entries``."""
        return [entry for entry in self._entries if entry.seq > after][:limit]


def catalogs_of(golden: GoldenJournal | GoldenTalk) -> Catalogs:
    """The build's own catalog as the current one, and the golden's as stored."""
    own, (digest, encoded) = shipped_table(), golden.compiled().stored[-1]
    data = CatalogData(policy=Policy(version=1), wording=f"1:{own.digest}")
    return Catalogs(
        Catalog(data, {own.digest: own.encoded}.get),
        awaited({**golden.tables, digest: encoded}.get),
    )


def of_talk(talk: GoldenTalk) -> dict[str, Any]:
    """The verdicts of its runs and of its session, and how many messages would be read otherwise
    with the wording that they were read with.
    """
    catalogs = catalogs_of(talk)
    runs = [
        replay(run, at_once(catalogs.pinned(run.catalog)), shipped_kinds(), talk.read)
        for run in talk.runs
    ]
    found: dict[str, Any] = {"runs": sorted({report.verdict for report in runs})}
    if not any(run.session == SESSION for run in talk.runs):  # requests of no conversation
        return found
    sessions: Any = OneSession(talk)
    pinned = at_once(catalogs.pinned(talk.runs[0].catalog))
    told = at_once(messages_read(sessions, "default", SESSION, wording_of(pinned), catalogs.pinned))
    return {
        **found,
        "session": at_once(retell(sessions, "default", SESSION, catalogs.pinned)).verdict,
        "flips": len(told.flips),
    }


def main() -> None:
    """Print them."""
    found: dict[str, Any] = {}
    for file in sorted(GOLDEN.glob("talks/*.json")):
        if file.stem in (names := sys.argv[1:]) or not names:
            found[file.stem] = of_talk(read_talk(file))
    for file in sorted(GOLDEN.glob("v*/*.json")):
        if not sys.argv[1:]:
            golden = read(file)
            report = replay(
                golden.run, at_once(catalogs_of(golden).pinned(golden.run.catalog)), shipped_kinds()
            )
            found[f"{file.parent.name}/{file.stem}"] = {"runs": [report.verdict]}
    sys.stdout.write(json.dumps({"table": shipped_table().digest, "found": found}))


if __name__ == "__main__":
    main()
