"""``ordain config``: its arguments. What it does stands in ``cli.config``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from ordain.cli.options import DEFAULTS, CommonOptions, WorkspaceOption

config = App(name="config", help="Versioned records: pinned profiles, and what pins sessions, workspaces and everybody to them.")

TypeArgument = Annotated[str, Parameter(help="profile, or policy for a pin.")]
IdArgument = Annotated[
    str, Parameter(help="A profile's name, or a pin: profile-pin:session:ID, profile-pin:workspace:ID, profile-pin:global.")
]
EverywhereOption = Annotated[bool, Parameter(negative=(), help="The profile that serves every workspace which has none of that name.")]
ExpectedOption = Annotated[
    int | None, Parameter(help="The version that it has to be at, 0: there must be none. Without it, the one that is read now.")
]
SettingsArgument = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True,
        help="--key value, as often as needed: --systemPrompt TEXT, --safety.mode guarded, --providers.writing NAME, --skills a,b; or --key=value.",
    ),
]


@config.command(name="get")
def get_record(
    resource: TypeArgument,
    name: IdArgument,
    /,
    *,
    workspace: WorkspaceOption = "default",
    everywhere: EverywhereOption = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """A record as it stands, every field said."""
    from ordain.cli.config import Named, get  # lazy: storage

    return get(options.data_dir, Named(resource=resource, id=name, workspace=workspace, everywhere=everywhere), as_json=options.as_json)


@config.command(name="set")
def set_record(
    resource: TypeArgument,
    name: IdArgument,
    /,
    *settings: SettingsArgument,
    file: Annotated[Path | None, Parameter(help="The whole config as a JSON file instead, - for stdin.")] = None,
    remove: Annotated[bool, Parameter(negative=(), help="Remove the record; its history stays.")] = False,
    expected_version: ExpectedOption = None,
    workspace: WorkspaceOption = "default",
    everywhere: EverywhereOption = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Write the next version of a record: what is named changes, what is not stays as it is.

    A pin is set with ``--profile NAME``. It holds from the next turn, also beside a running server.
    """
    from ordain.cli.config import Named, Wanted, put  # lazy: storage

    named = Named(resource=resource, id=name, workspace=workspace, everywhere=everywhere)
    wanted = Wanted(settings=settings, file=file, remove=remove, expected=expected_version)
    return put(options.data_dir, named, wanted, as_json=options.as_json)


@config.command(name="history")
def record_history(
    resource: TypeArgument,
    name: IdArgument,
    /,
    *,
    limit: int = 50,
    before: Annotated[int | None, Parameter(help="Only versions older than this one.")] = None,
    workspace: WorkspaceOption = "default",
    everywhere: EverywhereOption = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Every version of a record, the newest first: what changed, by whom, when."""
    from ordain.cli.config import Named, history  # lazy: storage

    named = Named(resource=resource, id=name, workspace=workspace, everywhere=everywhere)
    return history(options.data_dir, named, limit, before, as_json=options.as_json)


@config.command(name="list")
def list_records(
    resource: TypeArgument,
    /,
    *,
    limit: int = 50,
    after: Annotated[str, Parameter(help="Only records behind this id.")] = "",
    workspace: WorkspaceOption = "default",
    everywhere: EverywhereOption = False,
    options: CommonOptions = DEFAULTS,
) -> int:
    """The records of a type in a workspace, by id; the global pin and profiles for all with ``--everywhere``."""
    from ordain.cli.config import Named, print_records  # lazy: storage

    named = Named(resource=resource, id=after, workspace=workspace, everywhere=everywhere)
    return print_records(options.data_dir, named, limit, as_json=options.as_json)


@config.command(name="which")
def which_profile(session: str, /, *, workspace: WorkspaceOption = "default", options: CommonOptions = DEFAULTS) -> int:
    """Which profile holds for a session's next turn, by which pin. Exit code 1: the pin that counts leads nowhere."""
    from ordain.cli.config import which  # lazy: storage

    return which(options.data_dir, session, workspace, as_json=options.as_json)
