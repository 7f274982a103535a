"""``ordain verbs``: look at verbs, write them, hold them to the rules, try them. What a command
does is imported when it runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ordain.cli.groups import group
from ordain.cli.options import DEFAULTS, CommonOptions

verbs = group("verbs")

DeclaredEffect = Literal["read", "egress", "private", "send", "admin", "pay", "delete", "secret"]
Input = Annotated[
    str | None,
    Parameter(
        name="--input",
        allow_leading_hyphen=True,
        help="Arguments as JSON, instead of the example's.",
    ),
]


@verbs.command(name="list")
def list_verbs(
    *,
    pack: Annotated[str | None, Parameter(help="Only the verbs of this pack.")] = None,
    verbose: Annotated[
        bool,
        Parameter(
            name="--verbose", negative=(), help="Show what each does whole, however long a line is."
        ),
    ] = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Every verb, and whether it is active here; and what is written but not in use."""
    from ordain.cli.verbs import print_verbs  # lazy: verbs and catalog

    return print_verbs(options.data_dir, pack, whole=verbose, as_json=options.as_json)


@verbs.command(name="show")
def show_verb(verb: str, /, *, options: CommonOptions = DEFAULTS) -> int:
    """One verb: what it needs, gives and does."""
    from ordain.cli.verbs import print_verb  # lazy: verbs and catalog

    return print_verb(options.data_dir, verb, as_json=options.as_json)


@verbs.command(name="new")
def new_verb(
    name: str,
    /,
    *,
    kind: Annotated[
        Literal["prompt", "http", "python"],
        Parameter(help="A model does it, another server does it, or your code does."),
    ] = "prompt",
    effect: Annotated[
        DeclaredEffect | None,
        Parameter(help="What a call does to the world; read unless the kind says otherwise."),
    ] = None,
    url: Annotated[
        str | None,
        Parameter(help="For --kind http: whom to ask; {argument} in its path is an argument."),
    ] = None,
    use: Annotated[
        Literal["chat"] | None,
        Parameter(
            name="--for",
            help="chat: a prompt that answers in conversations, with what was said before.",
        ),
    ] = None,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Write a complete verb that works into the data folder's verbs/, to be changed into yours.
    Overwrites nothing.
    """
    from ordain.cli.new_verb import NewVerb, write_verb  # lazy: contracts

    return write_verb(
        options.data_dir,
        NewVerb(name=name, kind=kind, effect=effect, url=url, chats=use is not None),
        as_json=options.as_json,
    )


@verbs.command(name="lint")
def lint_verbs(
    *what: Annotated[
        str, Parameter(help="Ids of verbs, or files; without any, every file in verbs/.")
    ],
    strict: Annotated[bool, Parameter(negative=(), help="A warning is a failure too.")] = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Every problem of verbs as they are written, with file, line and what to do. Exit code 1:
    there is an error.
    """
    from ordain.cli.verb_lint import print_lint  # lazy: verbs and catalog

    return print_lint(options.data_dir, what, strict=strict, as_json=options.as_json)


@verbs.command(name="confirm")
def confirm_verbs(
    *name: Annotated[str, Parameter(help="Ids of verbs.")],
    every: Annotated[
        bool,
        Parameter(
            name="--all",
            negative=(),
            help="Every verb of the folder that is not confirmed as it is now.",
        ),
    ] = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Confirm that verbs are what their files declare: effect, roles and trust. One that changes
    has to be confirmed again.
    """
    from ordain.cli.verb_confirmation import confirm  # lazy: verbs and catalog

    return confirm(options.data_dir, name, every=every, as_json=options.as_json)


@verbs.command(name="test")
def run_examples(
    *name: Annotated[str, Parameter(help="Ids of verbs.")],
    every: Annotated[
        bool, Parameter(name="--all", negative=(), help="Every verb that has an example.")
    ] = False,
    given: Input = None,
    file: Annotated[
        Path | None,
        Parameter(
            name=["--file", "-f"],
            help="JSON: arguments, or a list of {input, output}; for one verb.",
        ),
    ] = None,
    writes: Annotated[
        bool, Parameter(negative=(), help="With --all: also your own verbs that change something.")
    ] = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Run verbs on their examples: really, through authorisation and schemas, over storage that is
    thrown away. Exit code 1: one failed.
    """
    from ordain.cli.verb_trial import VerbTrial, print_tests  # lazy: everything a run needs

    asked = VerbTrial(names=name, every=every, given=given, file=file, writes=writes)
    return print_tests(options.data_dir, asked, as_json=options.as_json)


@verbs.command(name="explain")
def explain_verb(name: str, /, *, given: Input = None, options: CommonOptions = DEFAULTS) -> int:
    """What would become of a call and why: schema, authorisation, lane, bound, prompt or request.
    Nothing is carried out, no model asked.
    """
    from ordain.cli.verb_explanation import print_explanation  # lazy: rules and catalog

    return print_explanation(options.data_dir, name, given, as_json=options.as_json)


@verbs.command(name="reload")
def reload_verbs(*, options: CommonOptions = DEFAULTS) -> int:
    """Have the running server take up what stands in verbs/ now. Exit code 1: something is wrong,
    and the verbs of before stay.
    """
    from ordain.cli.verbs import reload_server  # lazy: HTTP and everything behind it

    return reload_server(options.data_dir, as_json=options.as_json)
