"""The tree of commands. Each function only names its arguments; what it does stands in a module
that is imported when it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Parameter, UnknownCommandError

from ordain.cli.groups import BEGIN, EPILOGUE, HOUSE, RUNS, add_groups, shown_default
from ordain.cli.options import (
    ANEW,
    DEFAULTS,
    HERE,
    NO_JUDGING,
    ONE_RUN,
    UNTOLD,
    ChatAsked,
    CommonOptions,
    Everything,
    FirstRun,
    Judging,
    RemoteServer,
    Talking,
    VerboseOption,
    WhyOption,
    WorkspaceOption,
    behind_command,
)
from ordain.errors import CallerError

USAGE_SHOWN = 2000
"""Most characters of what is said of a wrong argument: it quotes the argument."""
OPTIONS, VERSION = ("--help", "--json", "--data-dir"), "--version"
"""What may stand where a command is named."""


tree = App(
    name="ordain",
    help="Models propose, code ordains.",
    help_epilogue=EPILOGUE,
    help_format="plaintext",
    version_flags=[],
    result_action="return_value",
    default_parameter=Parameter(show_default=shown_default),
)
runs = App(name="runs", help="Look at runs and operate them.", group=RUNS)
sessions = App(name="sessions", help="Look at conversations and erase them.", group=RUNS)
tree.command(runs)
tree.command(sessions)
add_groups(tree)
tree["--help"].group = HOUSE  # else it has a title to itself, above all others


def app(arguments: list[str]) -> Any:
    """Parse and run.

    Raises:
        CallerError: an argument is wrong (``usage``).
    """
    words = behind_command(arguments, _commands)
    try:
        return tree(words, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        from ordain.contracts.visible import visible_line  # lazy: an error needs it

        said = _no_option(arguments) if isinstance(error, UnknownCommandError) else ""
        said = said or visible_line(str(error), USAGE_SHOWN)
        about = " ".join(("ordain", *_commands(words)[0], "--help"))
        raise CallerError(f"{said} Try: {about}", code="usage") from None


def _no_option(arguments: Sequence[str]) -> str:
    """That what begins as an option is none: of the commands none is meant by it. "" where a
    command is what is wrong.
    """
    from ordain.contracts.nearest import no_such  # lazy: as above

    names, _, rest = tree.parse_commands(list(arguments))
    if not rest or not rest[0].startswith("-") or rest[0] in OPTIONS:
        return ""
    return f"{no_such('option', rest[0], OPTIONS if names else (*OPTIONS, VERSION)).rstrip('.')}."


def _commands(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    names, _, rest = tree.parse_commands(arguments)
    return names, rest


@tree.command(group=BEGIN)
def init(*, first: FirstRun = UNTOLD, options: CommonOptions = DEFAULTS) -> int:
    """Set up a model: what runs on this machine, a provider, the small local model or none; ends
    where `ordain chat` answers.

    On a terminal it asks. Elsewhere --use says what, or --yes takes what is found. What is set up
    already is left as it is, without --replace.
    """
    from ordain.cli.first_run import set_up  # lazy: settings, prices, adapters

    return set_up(options.data_dir, first, as_json=options.as_json)


@tree.command(group=BEGIN)
def serve(
    *,
    host: Annotated[
        str | None,
        Parameter(help="Where to listen. Beyond loopback a token is demanded, and one must exist."),
    ] = None,
    port: Annotated[
        int | None, Parameter(help="Default $PLANNER_PORT or 8090; 0 takes a free one.")
    ] = None,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Serve HTTP until SIGTERM or SIGINT, then drain."""
    from ordain.cli.server import serve_here  # lazy: the server and its models

    return serve_here(options.data_dir, host, port, as_json=options.as_json)


@tree.command(group=RUNS)
def plan(
    file: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    verbose: VerboseOption = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Work on the planning request in FILE (- for stdin): on the server that holds the data folder,
    else in this process.
    """
    from ordain.cli.runs import plan_file  # lazy: HTTP and everything behind it

    return plan_file(options.data_dir, file, whole=verbose, as_json=options.as_json)


@tree.command(group=BEGIN)
def chat(
    *message: Annotated[
        str, Parameter(help="One message; without it they are typed, or piped in, one a line.")
    ],
    talking: Talking = ANEW,
    elsewhere: RemoteServer = HERE,
    verbose: VerboseOption = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Talk: on the server that holds the data folder, else in this process; or with --url
    elsewhere. Exit code 1: an answer was not ok, or a question stays open.
    """
    from ordain.cli.chat import chat as talk  # lazy: as all commands

    return talk(
        options.data_dir,
        ChatAsked(words=message, to=talking, at=elsewhere, whole=verbose, as_json=options.as_json),
    )


@tree.command(name="call", group=RUNS)
def call_verb(
    verb: str,
    /,
    *arguments: Annotated[
        str,
        Parameter(
            help=(
                "key=value: a text, a number or JSON, as the verb's input says; a list has "
                "commas. key.part=value."
            )
        ),
    ],
    given: Annotated[
        str | None,
        Parameter(
            name="--input",
            allow_leading_hyphen=True,
            help="Arguments as a JSON object; key=value goes over them.",
        ),
    ] = None,
    verbose: VerboseOption = False,
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """Call one verb, as a run: on the server that holds the data folder, else in this process. Exit
    code 1: it failed, or waits for a yes.
    """
    from ordain.cli.call import AskedCall, call  # lazy: HTTP and everything behind it

    asked = AskedCall(
        verb=verb,
        words=arguments,
        given=given,
        workspace=workspace,
        whole=verbose,
        as_json=options.as_json,
    )
    return call(options.data_dir, asked)


@tree.command(group=RUNS)
def replay(
    run: str | None = None,
    /,
    *,
    policy: Annotated[
        Path | None, Parameter(help="Compare with the decisions that this policy would make.")
    ] = None,
    wording: Annotated[
        Path | None,
        Parameter(help="Compare with how messages would be read with the phrases of this folder."),
    ] = None,
    everything: Everything = ONE_RUN,
    judging: Judging = NO_JUDGING,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Run again from the journal, without model, verb or network, and report whatever is not as
    recorded.
    """
    from ordain.cli.replay import Compared, replay_runs  # lazy: storage and flows

    compared = Compared(policy=policy, wording=wording, judging=judging)
    return replay_runs(options.data_dir, run, compared, everything, as_json=options.as_json)


@tree.command(group=HOUSE)
def doctor(
    *,
    probes: Annotated[
        bool, Parameter(negative=(), help="Only the policy's routing probes; no model is asked.")
    ] = False,
    policy: Annotated[
        Path | None, Parameter(help="The probes of this policy, instead of the configured one.")
    ] = None,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Hold the policy to its routing probes, then ask each configured model once and say what its
    endpoint really does.
    """
    from ordain.cli.doctor import diagnose  # lazy: model adapters

    return diagnose(options.data_dir, policy, only_probes=probes, as_json=options.as_json)


@tree.command(group=HOUSE)
def backup(file: Path, /, *, options: CommonOptions = DEFAULTS) -> int:
    """Write a consistent copy of the data to FILE while the server runs; a sample of it is replayed
    before it counts.
    """
    from ordain.cli.backups import back_up  # lazy: storage and flows

    return back_up(options.data_dir, file, as_json=options.as_json)


@tree.command(group=HOUSE)
def restore(
    file: Path,
    /,
    *,
    keep_tokens: Annotated[
        bool, Parameter(negative=(), help="Tokens stay good, and whoever wrote FILE knows which.")
    ] = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Copy the rows of a backup into an empty data folder, under a schema made here; revokes its
    tokens, and refuses where there is data.
    """
    from ordain.cli.backups import restore_from  # lazy: storage and flows

    return restore_from(options.data_dir, file, keep_tokens=keep_tokens, as_json=options.as_json)


@runs.command(name="list")
def list_runs(
    *,
    status: Annotated[tuple[str, ...], Parameter(negative=(), help="Only these.")] = (),
    limit: int = 50,
    before: Annotated[str | None, Parameter(help="Only runs older than this one.")] = None,
    every: Annotated[
        bool,
        Parameter(
            name="--all",
            negative=(),
            help=(
                "Child runs too; those that have stopped are listed wherever --status asks "
                "for them."
            ),
        ),
    ] = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Runs, newest first."""
    from ordain.cli.runs import print_runs  # lazy: HTTP and everything behind it

    asked: dict[str, Any] = {"status": list(status), "limit": limit, "all": every}
    return print_runs(
        options.data_dir,
        asked if before is None else {**asked, "before": before},
        as_json=options.as_json,
    )


@runs.command(name="show")
def show_run(
    run: str,
    /,
    *,
    journal: Annotated[bool, Parameter(negative=(), help="Every record of it.")] = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """One run: its header, where it stands, its answer."""
    from ordain.cli.runs import print_run  # lazy: HTTP and everything behind it

    return print_run(options.data_dir, run, journal=journal, as_json=options.as_json)


def _operate(run: str, action: str, body: dict[str, Any], options: CommonOptions) -> int:
    from ordain.cli.runs import operate  # lazy: HTTP and everything behind it

    return operate(options.data_dir, run, action, body, as_json=options.as_json)


@runs.command(name="cancel")
def cancel_run(run: str, /, *, why: WhyOption, options: CommonOptions = DEFAULTS) -> int:
    """Interrupt a run at its next effect."""
    return _operate(run, "cancel", {"why": why}, options)


@runs.command(name="resume")
def resume_run(run: str, /, *, why: WhyOption, options: CommonOptions = DEFAULTS) -> int:
    """Drive a stopped run again, after the fix."""
    return _operate(run, "resume", {"why": why}, options)


@runs.command(name="resolve")
def resolve_effect(
    run: str,
    effect: int,
    /,
    *,
    happened: Annotated[bool, Parameter(help="What became of the effect.")],
    why: WhyOption,
    correct: Annotated[
        bool, Parameter(help="What somebody said of it before was a mistake.", negative=())
    ] = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Say what became of an effect whose outcome is unknown."""
    return _operate(
        run,
        "resolve",
        {"effect": effect, "happened": happened, "why": why, "correct": correct},
        options,
    )


@runs.command(name="erase")
def erase_run(run: str, /, *, why: WhyOption, options: CommonOptions = DEFAULTS) -> int:
    """Destroy a run's content; its header and shape stay."""
    return _operate(run, "erase", {"why": why}, options)


@runs.command(name="answer")
def answer_run(run: str, effect: int, value: str, /, *, options: CommonOptions = DEFAULTS) -> int:
    """Answer what a run waits for: VALUE is JSON, or a text."""
    from ordain.cli.runs import answer  # lazy: HTTP and everything behind it

    return answer(options.data_dir, run, effect, value, as_json=options.as_json)


@sessions.command(name="list")
def list_sessions(
    *,
    limit: int = 50,
    before: Annotated[
        str | None, Parameter(help="The page after this one, as the last one says.")
    ] = None,
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """Sessions, the most recently used first."""
    from ordain.cli.sessions import print_sessions  # lazy: HTTP and everything behind it

    return print_sessions(options.data_dir, workspace, limit, before, as_json=options.as_json)


@sessions.command(name="show")
def show_session(
    session: str,
    /,
    *,
    limit: Annotated[int, Parameter(help="How many entries, the last ones.")] = 20,
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """One session: its threads, and what was said last."""
    from ordain.cli.sessions import print_session  # lazy: HTTP and everything behind it

    return print_session(options.data_dir, workspace, session, limit, as_json=options.as_json)


@sessions.command(name="erase")
def erase_session(
    session: str,
    /,
    *,
    why: WhyOption,
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """Destroy a session's content, and that of its runs; headers and shapes stay."""
    from ordain.cli.sessions import erase_session as erase  # lazy: HTTP and everything behind it

    return erase(options.data_dir, workspace, session, why, as_json=options.as_json)
