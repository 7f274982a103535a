"""Groups of commands that stand in modules of their own: what each is for, and where it stands. A
module is imported when its group is asked for.
"""

from __future__ import annotations

from typing import Any, cast

from cyclopts import App, Group

BEGIN, RUNS, KNOWN, MEANS, HOUSE = (
    Group(title, sort_key=at)
    for at, title in enumerate(
        (
            "To begin",
            "What runs, and what it did",
            "What is remembered",
            "What may be used",
            "The server and its data",
        )
    )
)
"""Under which titles the help has the commands, in this order."""
_PLACES = {
    RUNS: ("approvals", "grants"),
    KNOWN: ("memory", "docs"),
    MEANS: ("models", "local", "verbs", "workflows", "cards", "seats", "wording", "config"),
    HOUSE: ("token", "store"),
}
GROUPS = {
    "verbs": ("commands_verbs", "What can be called: list, write, check and try it."),
    "workflows": (
        "commands_workflows",
        "The workflow templates that a message may name: list and check them.",
    ),
    "cards": (
        "commands_cards",
        "The agents that work may be handed to: list, check and begin their cards.",
    ),
    "seats": ("commands_seats", "Who speaks in a council: list and check its seats."),
    "approvals": ("commands_approvals", "What waits for somebody's yes: look at it, and decide."),
    "grants": (
        "commands_approvals",
        "What somebody has said yes to beforehand: list, give and revoke.",
    ),
    "wording": (
        "commands_wording",
        "The phrases that messages are read with: list, try and check them.",
    ),
    "models": (
        "commands_models",
        "The models behind the lanes: look at them, try them, set them up, and what they cost.",
    ),
    "local": ("commands_models", "The model that runs on this machine."),
    "token": ("commands_token", "Bearer tokens: who may use a server, for what, how often."),
    "store": ("commands_store", "The data folder's own database."),
    "config": (
        "commands_config",
        (
            "Versioned records: pinned profiles, and what pins sessions, workspaces and everybody "
            "to them."
        ),
    ),
    "memory": ("commands_library", "What is remembered: add, find and forget notes."),
    "docs": ("commands_library", "Documents to search: text, Markdown, HTML and PDF."),
}
"""Name → module, and one line of help."""
EPILOGUE = (
    "Exit codes: 0 done, 1 the outcome is a failure, 2 wrong arguments or configuration, 3 not "
    "possible now, 4 done but for runs that cannot be read."
)


def group(name: str) -> App:
    """An empty group, for its module to fill."""
    return App(name=name, help=GROUPS[name][1])


def add_groups(tree: App) -> None:
    """Let ``tree`` know every group without importing one."""
    for name, (module, told) in GROUPS.items():
        tree.command(f"ordain.cli.{module}:{name}", name=name, help=told, group=_place_of(name))


def _place_of(name: str) -> Group:
    """Under which title the help has a group."""
    return next(place for place, names in _PLACES.items() if name in names)


def shown_default(value: Any) -> Any:
    """What the help says is taken where nothing is given, a text: None of what is empty, a switch
    that is off among it; values, and no Python.
    """
    if value is False or value in (None, "", ()):
        return None
    return (
        ", ".join(map(str, cast("tuple[Any, ...]", value))) if type(value) is tuple else str(value)
    )
