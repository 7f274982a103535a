"""``ordain config``: its arguments. What it does stands in ``cli.config``."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ordain.cli.groups import group
from ordain.cli.options import (
    BY_KEYS,
    DEFAULTS,
    IN_DEFAULT,
    LATEST,
    CommonOptions,
    RecordOptions,
    RecordPage,
    RecordPlace,
    WorkspaceOption,
)

config = group("config")

TypeArgument = Annotated[str, Parameter(help="profile, or policy for a pin.")]
IdArgument = Annotated[
    str,
    Parameter(
        help=(
            "A profile's name, or a pin: profile-pin:session:ID, profile-pin:workspace:ID, "
            "profile-pin:global."
        )
    ),
]
SettingsArgument = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True,
        help=(
            "--key value, as often as needed: --systemPrompt TEXT, --safety.mode guarded, "
            "--providers.writing NAME, --skills a,b; or --key=value."
        ),
    ),
]


@config.command(name="get")
def get_record(
    resource: TypeArgument,
    name: IdArgument,
    /,
    *,
    where: RecordPlace = IN_DEFAULT,
    options: CommonOptions = DEFAULTS,
) -> int:
    """A record as it stands, every field said."""
    from ordain.cli.config import RecordNamed, get  # lazy: storage

    return get(
        options.data_dir,
        RecordNamed(resource=resource, id=name, where=where),
        as_json=options.as_json,
    )


@config.command(name="set")
def set_record(
    resource: TypeArgument,
    name: IdArgument,
    /,
    *settings: SettingsArgument,
    how: RecordOptions = BY_KEYS,
    where: RecordPlace = IN_DEFAULT,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Write the next version of a record: what is named changes, what is not stays as it is.

    A pin is set with ``--profile NAME``. It holds from the next turn, also beside a running server.
    """
    from ordain.cli.config import RecordNamed, RecordWanted, put  # lazy: storage

    named = RecordNamed(resource=resource, id=name, where=where)
    return put(
        options.data_dir, named, RecordWanted(settings=settings, how=how), as_json=options.as_json
    )


@config.command(name="history")
def record_history(
    resource: TypeArgument,
    name: IdArgument,
    /,
    *,
    page: RecordPage = LATEST,
    where: RecordPlace = IN_DEFAULT,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Every version of a record, the newest first: what changed, by whom, when."""
    from ordain.cli.config import RecordNamed, history  # lazy: storage

    named = RecordNamed(resource=resource, id=name, where=where)
    return history(options.data_dir, named, page, as_json=options.as_json)


@config.command(name="list")
def list_records(
    resource: TypeArgument,
    /,
    *,
    limit: int = 50,
    after: Annotated[str, Parameter(help="Only records behind this id.")] = "",
    where: RecordPlace = IN_DEFAULT,
    options: CommonOptions = DEFAULTS,
) -> int:
    """The records of a type in a workspace, by id; the global pin and profiles for all with
    ``--everywhere``.
    """
    from ordain.cli.config import RecordNamed, print_records  # lazy: storage

    return print_records(
        options.data_dir,
        RecordNamed(resource=resource, id=after, where=where),
        limit,
        as_json=options.as_json,
    )


@config.command(name="which")
def which_profile(
    session: str, /, *, workspace: WorkspaceOption = "default", options: CommonOptions = DEFAULTS
) -> int:
    """Which profile holds for a session's next turn, by which pin. Exit code 1: the pin that counts
    leads nowhere.
    """
    from ordain.cli.config import which  # lazy: storage

    return which(options.data_dir, session, workspace, as_json=options.as_json)
