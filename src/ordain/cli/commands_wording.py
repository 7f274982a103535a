"""``ordain wording``: the phrases that messages are read with. What a command does is imported when
it runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ordain.cli.groups import group
from ordain.cli.options import DEFAULTS, CommonOptions

wording = group("wording")


@wording.command(name="list")
def list_wording(*, options: CommonOptions = DEFAULTS) -> int:
    """The languages with how many phrases each has, your own files, and which engine and table they
    come to.
    """
    from ordain.cli.wording import print_languages  # lazy: the tables of phrases

    return print_languages(options.data_dir, as_json=options.as_json)


@wording.command(name="explain")
def explain_text(text: str, /, *, options: CommonOptions = DEFAULTS) -> int:
    """What each piece of a text is taken for, and the features that a decision about it would
    see.
    """
    from ordain.cli.wording import explain  # lazy: the tables of phrases

    return explain(options.data_dir, text, as_json=options.as_json)


@wording.command(name="lint")
def lint_wording(
    folder: Annotated[
        Path | None, Parameter(help="A folder of files; without it, wording/ in the data folder.")
    ] = None,
    /,
    *,
    strict: Annotated[bool, Parameter(negative=(), help="A warning is a failure too.")] = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Phrases that contradict one another or change nothing, with file and line. Exit code 1: there
    is an error.
    """
    from ordain.cli.wording import print_lint  # lazy: the tables of phrases

    return print_lint(options.data_dir, folder, strict=strict, as_json=options.as_json)
