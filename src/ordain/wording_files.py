"""An operator's files of phrases, as they stand in a folder: read here, and judged in the room of
wording, which opens none.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ordain.owned_files import not_owned, regular_bytes
from ordain.wording.languages import (
    FILE_BYTES,
    SUFFIX,
    Language,
    check_phrases,
    check_sizes,
    read_language,
    wrong_file,
)

FILES_MAX: Final = 64
"""Most files of phrases in a folder."""
SUFFIXES: Final = (SUFFIX, ".yaml", ".yml")
"""What is looked at in a folder: a file of phrases, and what somebody may have meant as one."""


def read_folder(folder: Path, *, checked: bool = False) -> tuple[Language, ...]:
    """Every file of a folder, by name; none where there is no such folder.

    ``checked`` is for what somebody else wrote: each phrase is looked at, and there may not be too
    many.

    Raises:
        ConfigurationError: a file cannot be used, or there are too many files, phrases or words.
    """
    found = tuple(read_file(file) for file in wording_files(folder))
    if checked:
        for language in found:
            check_phrases(language)
        check_sizes(str(folder), found)
    return found


def wording_files(folder: Path) -> Sequence[Path]:
    """What of a folder is meant as a file of phrases, by name.

    Raises:
        ConfigurationError: there are too many.
    """
    if not folder.is_dir():
        return ()
    found = sorted(entry for entry in folder.iterdir() if _counts(entry))
    if len(found) > FILES_MAX:
        raise wrong_file(str(folder), f"more than {FILES_MAX} files")
    return found


def read_file(file: Path) -> Language:
    """One file.

    Raises:
        ConfigurationError: it cannot be used.
    """
    if not file.name.endswith(SUFFIX):
        raise wrong_file(str(file), f"a file of phrases is named *{SUFFIX}")
    if fault := not_owned(file):
        raise wrong_file(str(file), f"not read: {fault}")
    try:
        encoded = regular_bytes(file, FILE_BYTES + 1)
    except OSError as error:
        raise wrong_file(str(file), error.strerror or "cannot be read") from None
    return read_language(str(file), encoded)


def _counts(entry: Path) -> bool:
    """Whether it is meant as a file of phrases: what an editor leaves behind, or notes beside, is
    not.
    """
    return not entry.name.startswith(".") and entry.name.endswith(SUFFIXES)
