"""``ordain replay --wording``: which decisions about messages and answers would be others with the
phrases of a folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ordain.cli.archive import open_archive
from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.output import print_json, show_line
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.errors import NotFound
from ordain.runtime.flips import Flip
from ordain.runtime.policy_changes import COMPARED
from ordain.runtime.transcript_replay import ERASED
from ordain.runtime.wording_diff import AnswersRead, MessagesRead
from ordain.wording.languages import table_with
from ordain.wording.wording import Wording, compiled
from ordain.wording_files import read_folder


def compare_wording(home: Path, run: str | None, folder: Path, *, as_json: bool) -> int:
    """Every session and run, or one run with its children. A flip is what was asked for and no
    failure; what cannot be read back is one.

    Raises:
        NotFound: there is no such folder or run.
        ConfigurationError: a file of the folder cannot be used.
    """
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}", code="unknown_file")
    wording = compiled(table_with(read_folder(folder, checked=True)))
    answers, messages = asyncio.run(_read_with(home, run, wording))
    if as_json:
        print_json(
            {
                "wording": wording.id,
                "sessions": [asdict(one) for one in messages],
                "runs": [asdict(one) for one in answers if _says(one)],
            }
        )
    else:
        for session in messages:
            _print_session(session)
        for one in answers:
            if _says(one):
                show_line(
                    f"{one.verdict:<16} {one.run}  {one.flow}  {one.judged} answers, "
                    f"{len(one.flips)} others"
                )
                _print_flips(one.flips)
        judged = sum(one.judged for one in (*messages, *answers))
        flipped = sum(len(one.flips) for one in (*messages, *answers))
        unjudged = sum(one.unjudged for one in messages)
        show_line(
            f"{flipped} of {judged} decisions would be others, each in the state that was; "
            f"{unjudged} not judged: erased"
        )
    return OK if all(one.verdict in (COMPARED, ERASED) for one in (*messages, *answers)) else FAILED


def _says(one: AnswersRead) -> bool:
    return bool(one.judged) or one.verdict != COMPARED


def _print_session(session: MessagesRead) -> None:
    name = (
        session.session
        if session.workspace == DEFAULT_WORKSPACE
        else f"{session.session} in {session.workspace}"
    )
    erased = f", {session.unjudged} not judged" if session.unjudged else ""
    show_line(
        f"{session.verdict:<16} session {name}  {session.judged} messages, {len(session.flips)} "
        f"others{erased}"
    )
    _print_flips(session.flips)


def _print_flips(flips: Sequence[Flip]) -> None:
    for flip in flips:
        show_line(f"  at {flip.address}: recorded {flip.recorded}; now {flip.now}")


async def _read_with(
    home: Path, run: str | None, wording: Wording
) -> tuple[list[AnswersRead], list[MessagesRead]]:
    with open_archive(home) as archive:
        runs = await (archive.runs() if run is None else archive.tree(run))
        return [await archive.answers(one, wording) for one in runs], await archive.messages(
            wording
        ) if run is None else []
