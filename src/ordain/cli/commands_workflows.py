"""``ordain workflows``: the templates that a message may name. What a command does is imported when
it runs.
"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ordain.cli.groups import group
from ordain.cli.options import DEFAULTS, CommonOptions

workflows = group("workflows")


@workflows.command(name="list")
def list_workflows(*, options: CommonOptions = DEFAULTS) -> int:
    """Every template, and what of its steps is not here."""
    from ordain.cli.workflows import print_workflows  # lazy: verbs and catalog

    return print_workflows(options.data_dir, as_json=options.as_json)


@workflows.command(name="show")
def show_workflow(template: str, /, *, options: CommonOptions = DEFAULTS) -> int:
    """One template: its arguments and its steps."""
    from ordain.cli.workflows import print_workflow  # lazy: verbs and catalog

    return print_workflow(options.data_dir, template, as_json=options.as_json)


@workflows.command(name="lint")
def lint_workflows(
    *what: Annotated[
        str, Parameter(help="Ids of templates, or files; without any, every file in workflows/.")
    ],
    strict: Annotated[bool, Parameter(negative=(), help="A warning is a failure too.")] = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Every problem of templates as they are written, with file, line and what to do. Exit code 1:
    there is an error.
    """
    from ordain.cli.workflows import print_lint  # lazy: verbs and catalog

    return print_lint(options.data_dir, what, strict=strict, as_json=options.as_json)
