"""What a person says of an effect with unknown outcome, as the note that stands on record."""

from __future__ import annotations

from msgspec import Struct

from ordain.errors import Conflict
from ordain.journal.folds import Fold
from ordain.journal.records import NoteBody, raw


class ResolveWord(Struct, frozen=True, kw_only=True):
    """Whether effect ``addr`` happened, who says so, and why; ``correct``: whatever was said of it
    before was a mistake.
    """

    addr: int
    happened: bool
    by: str
    why: str
    correct: bool = False


def resolution(fold: Fold, run: str, word: ResolveWord) -> NoteBody | None:
    """The note; None where the same was said before.

    Raises:
        Conflict: that effect's outcome is not unknown (``not_unknown``), or somebody has said
            otherwise of it (``already_resolved``).
    """
    if word.addr not in fold.unknown:
        raise Conflict(
            f"effect {word.addr} of run {run} has no unknown outcome", code="not_unknown"
        )
    before = fold.told.get(word.addr)
    if before is word.happened:
        return None
    if before is not None and not word.correct:
        said = "it happened" if before else "it did not happen"
        raise Conflict(
            f"of effect {word.addr} of run {run} somebody has said that {said}: say that you "
            "correct that",
            code="already_resolved",
        )
    told = {
        "addr": word.addr,
        "happened": word.happened,
        "verb": fold.named(word.addr),
        "corrects": before is not None,
    }
    return NoteBody(by=word.by, action="resolve", why=word.why, details=raw(told))
