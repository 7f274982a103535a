"""The commands about what is remembered: ``memory`` and ``docs``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ordain.cli.groups import group
from ordain.cli.options import DEFAULTS, CommonOptions, WorkspaceOption

memory = group("memory")
docs = group("docs")
User = Annotated[str | None, Parameter(help="On whose behalf; else the system's user.")]
BeforeOption = Annotated[
    int | None, Parameter(help="The page after this one, as the last one says.")
]


@memory.command(name="add")
def add_note(
    *text: Annotated[str, Parameter(help="The note.")],
    file: Annotated[
        Path | None,
        Parameter(
            name=("--file", "-f"),
            help="The note stands in this file; - for stdin.",
            allow_leading_hyphen=True,
        ),
    ] = None,
    title: str = "",
    tag: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    user: User = None,
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """Remember a note."""
    from ordain.cli.library import LibraryPlace, add  # lazy: HTTP and everything behind it

    return add(
        LibraryPlace(options=options, workspace=workspace),
        text,
        file,
        {"title": title, "tags": list(tag), "user_id": user},
    )


@memory.command(name="search")
def search_notes(
    *query: Annotated[
        str,
        Parameter(help="The question; words in double quotes must stand there letter by letter."),
    ],
    limit: Annotated[int, Parameter(help="At most so many.")] = 8,
    days: Annotated[
        int, Parameter(help="Only what was added in the last so many days; 0 for ever.")
    ] = 0,
    mode: Annotated[
        Literal["hybrid", "deep"], Parameter(help="deep looks into documents too.")
    ] = "hybrid",
    user: User = None,
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """Find what is remembered, by meaning, or by words where there is no embedder. Exit code 1:
    nothing was found.
    """
    from ordain.cli.library import LibraryPlace, search  # lazy: HTTP and everything behind it

    asked = {
        "query": " ".join(query),
        "max_items": limit,
        "time_window_days": days,
        "mode": mode,
        "user_id": user,
    }
    return search(LibraryPlace(options=options, workspace=workspace), asked)


@memory.command(name="list")
def list_notes(
    *,
    limit: int = 50,
    before: BeforeOption = None,
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """Notes and entries, the last one added first."""
    from ordain.cli.library import LibraryPlace, print_notes  # lazy: HTTP and everything behind it

    return print_notes(LibraryPlace(options=options, workspace=workspace), limit, before)


@memory.command(name="forget")
def forget_note(
    note: str, /, *, workspace: WorkspaceOption = "default", options: CommonOptions = DEFAULTS
) -> int:
    """Destroy a note or an entry. What runs recalled of it stays in their journals until they are
    erased.
    """
    from ordain.cli.library import LibraryPlace, remove  # lazy: HTTP and everything behind it
    from ordain.cli.short_ids import NOTE  # lazy: as above

    return remove(LibraryPlace(options=options, workspace=workspace), NOTE, note)


@memory.command(name="reindex")
def reindex(*, workspace: WorkspaceOption = "default", options: CommonOptions = DEFAULTS) -> int:
    """Give a vector to everything that was kept without this embedder. Exit code 3: there is
    none.
    """
    from ordain.cli.library import (
        LibraryPlace,
        print_reindexed,
    )  # lazy: HTTP and everything behind it

    return print_reindexed(LibraryPlace(options=options, workspace=workspace))


@docs.command(name="add")
def add_documents(
    *files: Path, workspace: WorkspaceOption = "default", options: CommonOptions = DEFAULTS
) -> int:
    """Add documents, or all below a folder; a changed file replaces what was added of it. Exit code
    1: one of them could not be read.
    """
    from ordain.cli.library import LibraryPlace, add_files  # lazy: HTTP and everything behind it

    return add_files(LibraryPlace(options=options, workspace=workspace), files)


@docs.command(name="list")
def list_documents(
    *,
    limit: int = 50,
    before: BeforeOption = None,
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """Documents, the last one added first."""
    from ordain.cli.library import (
        LibraryPlace,
        print_documents,
    )  # lazy: HTTP and everything behind it

    return print_documents(LibraryPlace(options=options, workspace=workspace), limit, before)


@docs.command(name="show")
def show_document(
    document: str, /, *, workspace: WorkspaceOption = "default", options: CommonOptions = DEFAULTS
) -> int:
    """One document, as it was read: its passages, and where each stands."""
    from ordain.cli.library import (
        LibraryPlace,
        print_document,
    )  # lazy: HTTP and everything behind it

    return print_document(LibraryPlace(options=options, workspace=workspace), document)


@docs.command(name="remove")
def remove_document(
    document: str, /, *, workspace: WorkspaceOption = "default", options: CommonOptions = DEFAULTS
) -> int:
    """Destroy a document's text and vectors; the file it came from stays."""
    from ordain.cli.library import LibraryPlace, remove  # lazy: HTTP and everything behind it
    from ordain.cli.short_ids import DOCUMENT  # lazy: as above

    return remove(LibraryPlace(options=options, workspace=workspace), DOCUMENT, document)
