"""``ordain approvals`` and ``ordain grants``: their arguments. What a command does is imported when
it runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from ordain.cli.groups import group
from ordain.cli.options import DEFAULTS, CommonOptions, WorkspaceOption

approvals = group("approvals")
grants = group("grants")
WhyGiven = Annotated[str, Parameter(name="--why", help="The reason.")]


@Parameter(name="*")
@dataclass(frozen=True)
class ApprovalFilter:
    """Which approvals are listed, and where the page begins."""

    state: Annotated[
        tuple[str, ...],
        Parameter(
            negative=(),
            help="open (as it is without), approved, denied, superseded, expired or withdrawn.",
        ),
    ] = ()
    every: Annotated[bool, Parameter(name="--all", negative=(), help="In whatever state.")] = False
    session: Annotated[str | None, Parameter(help="Only what runs of this session ask for.")] = None
    limit: int = 50
    before: Annotated[
        str | None, Parameter(help="The page after this one, as the last one says.")
    ] = None

    def asked(self) -> dict[str, Any]:
        """As the face is asked."""
        named = {
            name: value
            for name, value in (("session", self.session), ("before", self.before))
            if value is not None
        }
        return {"state": list(self.state), "all": self.every, "limit": self.limit, **named}


@Parameter(name="*")
@dataclass(frozen=True)
class GrantBeside:
    """A grant that comes with a yes."""

    grant_for: Annotated[
        str | None, Parameter(help="Give a grant for more such calls too, for 45m, 12h or 30d.")
    ] = None
    grant_uses: Annotated[int | None, Parameter(help="The grant is for so many calls.")] = None
    grant_any_target: Annotated[
        bool,
        Parameter(
            negative=(),
            help=(
                "The grant is for any recipient and target, not for those alone that the approved "
                "calls name."
            ),
        ),
    ] = False


@Parameter(name="*")
@dataclass(frozen=True)
class GrantFor:
    """What a grant is for, and how long and how often."""

    verb: Annotated[tuple[str, ...], Parameter(negative=(), help="A verb's id or a glob; several.")]
    lasts: Annotated[str, Parameter(name="--for", help="How long it stands: 45m, 12h or 30d.")]
    uses: Annotated[
        int | None,
        Parameter(help="For so many calls; without it, as many as come until it expires."),
    ] = None
    target: Annotated[
        tuple[str, ...],
        Parameter(negative=(), help="The only recipients, targets and addresses; without it any."),
    ] = ()
    egress: Annotated[
        bool, Parameter(negative=(), help="Only for reads that send their arguments out.")
    ] = False


EVERYTHING_OPEN, NO_GRANT = ApprovalFilter(), GrantBeside()


@approvals.command(name="list")
def list_approvals(
    *,
    which: ApprovalFilter = EVERYTHING_OPEN,
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """What waits for a yes, the latest first."""
    from ordain.cli.approvals import print_approvals  # lazy: HTTP and everything behind it

    return print_approvals(options.data_dir, workspace, which.asked(), as_json=options.as_json)


@approvals.command(name="show")
def show_approval(
    approval: str, /, *, workspace: WorkspaceOption = "default", options: CommonOptions = DEFAULTS
) -> int:
    """One approval: what will happen, the exact arguments, who may say yes and until when."""
    from ordain.cli.approvals import print_approval  # lazy: HTTP and everything behind it

    return print_approval(options.data_dir, workspace, approval, as_json=options.as_json)


@approvals.command(name="approve")
def approve(
    approval: str,
    /,
    *,
    digest: Annotated[
        str | None,
        Parameter(
            help="What you looked at, as `show` tells it; without it you are shown it and asked."
        ),
    ] = None,
    why: WhyGiven = "",
    grant: GrantBeside = NO_GRANT,
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """Say yes, once, to exactly what was looked at."""
    from ordain.cli.approvals import ApprovalDecision, decide  # lazy: HTTP and everything behind it

    word = ApprovalDecision(
        approval=approval,
        approve=True,
        digest=digest,
        why=why,
        grant_for=grant.grant_for,
        grant_uses=grant.grant_uses,
        grant_any_target=grant.grant_any_target,
    )
    return decide(options.data_dir, workspace, word, as_json=options.as_json)


@approvals.command(name="deny")
def deny(
    approval: str,
    /,
    *,
    digest: Annotated[
        str | None,
        Parameter(
            help=(
                "What you looked at, as `show` tells it; without it the no is to what is asked now."
            )
        ),
    ] = None,
    why: WhyGiven = "",
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """Say no: what waits ends without doing it."""
    from ordain.cli.approvals import ApprovalDecision, decide  # lazy: HTTP and everything behind it

    word = ApprovalDecision(approval=approval, approve=False, digest=digest, why=why)
    return decide(options.data_dir, workspace, word, as_json=options.as_json)


@approvals.command(name="resubmit")
def resubmit(
    approval: str,
    args: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """Propose other arguments for the one call: ARGS is a JSON object of all of them (- for stdin).
    The run asks anew for exactly these.
    """
    from ordain.cli.approvals import resubmit as propose  # lazy: HTTP and everything behind it

    return propose(options.data_dir, workspace, approval, args, as_json=options.as_json)


@approvals.command(name="claim")
def claim_approval(
    approval: str,
    /,
    *,
    take_over: Annotated[
        bool, Parameter(negative=(), help="Also where somebody else looks at it: in their place.")
    ] = False,
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """Say that you look at it, as others see from then on; they may decide it all the same."""
    from ordain.cli.approvals import claim  # lazy: HTTP and everything behind it

    return claim(
        options.data_dir, workspace, approval, take_over=take_over, as_json=options.as_json
    )


@approvals.command(name="release")
def release_approval(
    approval: str, /, *, workspace: WorkspaceOption = "default", options: CommonOptions = DEFAULTS
) -> int:
    """Say that you look at it no longer."""
    from ordain.cli.approvals import release  # lazy: HTTP and everything behind it

    return release(options.data_dir, workspace, approval, as_json=options.as_json)


@grants.command(name="list")
def list_grants(
    *,
    every: Annotated[
        bool,
        Parameter(name="--all", negative=(), help="Also those that are spent, over or revoked."),
    ] = False,
    limit: int = 50,
    before: Annotated[
        str | None, Parameter(help="The page after this one, as the last one says.")
    ] = None,
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """Grants that stand, the latest first."""
    from ordain.cli.grants import print_grants  # lazy: HTTP and everything behind it

    asked: dict[str, Any] = {"all": every, "limit": limit}
    return print_grants(
        options.data_dir,
        workspace,
        asked if before is None else {**asked, "before": before},
        as_json=options.as_json,
    )


@grants.command(name="give")
def give_grant(
    principal: str,
    /,
    *,
    given: GrantFor,
    why: WhyGiven = "",
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """Let runs of PRINCIPAL (token:NAME, local:UID) make such calls without being asked. What pays,
    deletes or is secret is approved each time.
    """
    from ordain.cli.grants import GrantWords  # lazy: HTTP and everything behind it
    from ordain.cli.grants import give_grant as give  # lazy: see above

    words = GrantWords(
        principal=principal,
        verbs=given.verb,
        lasts=given.lasts,
        uses=given.uses,
        targets=given.target,
        only_egress=given.egress,
        why=why,
    )
    return give(options.data_dir, workspace, words, as_json=options.as_json)


@grants.command(name="revoke")
def revoke_grant(
    grant: str,
    /,
    *,
    why: WhyGiven = "",
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """Take a grant back: it lets no call through any more. Who did, and why, is kept with it."""
    from ordain.cli.grants import revoke_grant as revoke  # lazy: HTTP and everything behind it

    return revoke(options.data_dir, workspace, grant, why, as_json=options.as_json)
