"""What every command takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


@Parameter(name="*")
@dataclass(frozen=True)
class Options:
    """What every command takes."""

    data_dir: Annotated[Path | None, Parameter(name="--data-dir", help="Data folder instead of $ORDAIN_HOME (~/.ordain).")] = None
    as_json: Annotated[bool, Parameter(name="--json", negative=(), help="Print JSON.")] = False


DEFAULTS = Options()
Workspace = Annotated[str, Parameter(help="The workspace.")]
Why = Annotated[str, Parameter(name="--why", help="The reason; it is kept in the run's journal.")]
