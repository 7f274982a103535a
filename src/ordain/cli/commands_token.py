"""``ordain token``: its arguments. What it does stands in ``cli.tokens``."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ordain.cli.groups import group
from ordain.cli.options import DEFAULTS, CommonOptions

token = group("token")


@token.command(name="create")
def create_token(
    name: str,
    /,
    *,
    scope: Annotated[
        tuple[str, ...],
        Parameter(
            negative=(),
            help=(
                "chat, runs:read, runs:operate, verbs, plan, memory, approvals, models, admin, "
                "metrics, or all."
            ),
        ),
    ],
    workspace: Annotated[
        tuple[str, ...], Parameter(negative=(), help="A workspace it belongs to; several.")
    ] = ("default",),
    expires: Annotated[
        str | None, Parameter(help="45m, 12h or 30d; without it, it lasts until it is revoked.")
    ] = None,
    rate: Annotated[
        str | None, Parameter(help="10/s, 120/min or 5000/h; without it, the server's own.")
    ] = None,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Give a token. It is shown once, and stored nowhere."""
    from ordain.cli.tokens import TokenWanted, create  # lazy: storage

    return create(
        options.data_dir,
        TokenWanted(name=name, scopes=scope, workspaces=workspace, expires=expires, rate=rate),
        as_json=options.as_json,
    )


@token.command(name="list")
def list_tokens(*, options: CommonOptions = DEFAULTS) -> int:
    """Every token there ever was."""
    from ordain.cli.tokens import print_tokens  # lazy: storage

    return print_tokens(options.data_dir, as_json=options.as_json)


@token.command(name="revoke")
def revoke_token(name: str, /, *, options: CommonOptions = DEFAULTS) -> int:
    """End a token at once."""
    from ordain.cli.tokens import revoke  # lazy: storage

    return revoke(options.data_dir, name, as_json=options.as_json)


@token.command(name="rotate")
def rotate_token(
    name: str,
    /,
    *,
    grace: Annotated[
        str | None,
        Parameter(help="How long the one before stays good: 45m, 12h, 7d; without it, no longer."),
    ] = None,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Give a token another secret; name, scopes and journal stay as they are."""
    from ordain.cli.tokens import rotate  # lazy: storage

    return rotate(options.data_dir, name, grace, as_json=options.as_json)


@token.command(name="audit")
def audit_tokens(
    name: str | None = None,
    /,
    *,
    limit: int = 50,
    before: Annotated[int | None, Parameter(help="Only lines older than this one.")] = None,
    options: CommonOptions = DEFAULTS,
) -> int:
    """What was given, taken, used and refused; uses and refusals of one kind are one line a day."""
    from ordain.cli.tokens import print_audit  # lazy: storage

    return print_audit(options.data_dir, name, limit, before, as_json=options.as_json)
