"""What every command takes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self

from cyclopts import Parameter


@Parameter(name="*")
@dataclass(frozen=True)
class CommonOptions:
    """What every command takes."""

    data_dir: Annotated[
        Path | None,
        Parameter(name="--data-dir", help="Data folder instead of $ORDAIN_HOME (~/.ordain)."),
    ] = None
    as_json: Annotated[bool, Parameter(name="--json", negative=(), help="Print JSON.")] = False


DEFAULTS = CommonOptions()
_COMMON = {"--data-dir": True, "--json": False}
"""What stands for them on the line, and whether a value follows."""


def behind_command(
    arguments: Sequence[str],
    commands: Callable[[Sequence[str]], tuple[Sequence[str], Sequence[str]]],
) -> list[str]:
    """What every command takes may stand before its name, too: the same line with that behind the
    name. ``commands`` parts a line into its command's names and the rest.
    """
    moved = list[str]()
    names, rest = commands(arguments)
    while rest and (option := rest[0].partition("="))[0] in _COMMON:
        taken = 2 if _COMMON[option[0]] and not option[1] else 1
        moved += rest[:taken]
        names, rest = commands([*names, *rest[taken:]])
    return [*names, *moved, *rest] if names else [*rest, *moved] if rest else []


WorkspaceOption = Annotated[str, Parameter(help="The workspace.")]
VerboseOption = Annotated[
    bool, Parameter(name="--verbose", negative=(), help="Show every header whole, not on one line.")
]
WhyOption = Annotated[
    str, Parameter(name="--why", help="The reason; it is kept in the run's journal.")
]


@Parameter(name="*")
@dataclass(frozen=True)
class Talking:
    """Into which session, as whom, and how what is said is to be carried out."""

    session: Annotated[
        str | None,
        Parameter(
            help="Go on with this one; `last` is the one used last. Else a fresh one begins."
        ),
    ] = None
    mode: Annotated[
        str,
        Parameter(
            help="chat: one answer. agent: work with tools, step by step. council: several voices "
            "first."
        ),
    ] = "chat"
    verb: Annotated[
        tuple[str, ...],
        Parameter(negative=(), help="One serves each turn; several are all that it may use."),
    ] = ()
    user: Annotated[str | None, Parameter(help="Who speaks; else the system's user.")] = None
    attach: Annotated[
        tuple[Path, ...], Parameter(negative=(), help="A file that goes with the first message.")
    ] = ()
    workspace: WorkspaceOption = "default"


ANEW = Talking()


@Parameter(name="*")
@dataclass(frozen=True)
class RemoteServer:
    """A server that holds no folder of this machine; "" is the folder's."""

    url: Annotated[
        str,
        Parameter(
            help=(
                "Talk to the server at this address (https://HOST) instead; its token: "
                "$ORDAIN_TOKEN or --token-file."
            )
        ),
    ] = ""
    token_file: Annotated[
        Path | None, Parameter(help="The file that holds the token for --url.")
    ] = None


HERE = RemoteServer()


@dataclass(frozen=True)
class ChatAsked:
    """What ``ordain chat`` is asked for; ``words`` are one message, and without them messages are
    typed or piped; ``whole``: headers are.
    """

    words: tuple[str, ...] = ()
    to: Talking = ANEW
    at: RemoteServer = HERE
    whole: bool = False
    as_json: bool = False

    @property
    def text(self) -> str:
        """The words as one message; bytes that are no text become signs for that."""
        return os.fsencode(" ".join(self.words)).decode(errors="replace")


@Parameter(name="*")
@dataclass(frozen=True)
class Everything:
    """Whether all is replayed, by how many processes (None: as many as there are cores), and the
    ledger's ``head`` that was kept elsewhere (None: none is compared).
    """

    every: Annotated[
        bool,
        Parameter(
            name="--all",
            negative=(),
            help="Every run, every session's transcript, and the ledger over them.",
        ),
    ] = False
    jobs: Annotated[
        int | None,
        Parameter(help="With --all: how many processes, as many as there are cores by default."),
    ] = None
    head: Annotated[
        str | None,
        Parameter(
            help=(
                "With --all: a head of the ledger that was kept elsewhere, which it has to go "
                "on from."
            )
        ),
    ] = None


ONE_RUN = Everything()


@Parameter(name="*")
@dataclass(frozen=True)
class Judging:
    """What a policy is tried on, what of its findings fails, and where they are told; a ``backup``
    is read by whatever else a replay does, too.
    """

    since: Annotated[
        str | None,
        Parameter(
            help="Only runs that began since: a span (30d, 12h) or a date (2026-11-01), in UTC."
        ),
    ] = None
    until: Annotated[
        str | None, Parameter(help="Only runs that began before: a span ago, or a date.")
    ] = None
    fail_on: Annotated[
        tuple[str, ...],
        Parameter(
            negative=(),
            help="Exit code 1 where there is a finding: new-allow, new-deny, outcome, course.",
        ),
    ] = ()
    report: Annotated[
        tuple[Path, ...],
        Parameter(
            negative=(),
            help="Write a report: FILE.md, FILE.json or FILE.xml (JUnit). May stand several times.",
        ),
    ] = ()

    backup: Annotated[
        Path | None,
        Parameter(help="Read a file that `ordain backup` made, instead of the data folder."),
    ] = None

    @property
    def asked(self) -> bool:
        """Whether a policy is to be judged by its findings."""
        return self.since is not None or self.until is not None or bool(self.fail_on or self.report)


NO_JUDGING = Judging()


@Parameter(name="*")
@dataclass(frozen=True)
class Setup:
    """A model profile as it is set up."""

    provider: Annotated[
        str | None,
        Parameter(
            help="openai (and every endpoint that speaks like it), anthropic, gemini or local."
        ),
    ] = None
    model: Annotated[str | None, Parameter(help="The model, as the provider calls it.")] = None
    base_url: Annotated[
        str | None, Parameter(help="The endpoint, where it is not the provider's own.")
    ] = None
    api: Annotated[
        str | None,
        Parameter(help="chat or responses: the wire of an endpoint that speaks like OpenAI."),
    ] = None
    key_env: Annotated[
        str | None,
        Parameter(help="The environment variable that holds the key; never the key itself."),
    ] = None
    key_file: Annotated[str | None, Parameter(help="The file that holds the key.")] = None
    lane: Annotated[
        tuple[str, ...],
        Parameter(negative=(), help="Put it first behind this lane: local, worker or brain."),
    ] = ()
    price_input: Annotated[
        str | None,
        Parameter(help="Dollars per million tokens of input, instead of the list price."),
    ] = None
    price_output: Annotated[str | None, Parameter(help="The same of output.")] = None
    structured: Annotated[
        str | None, Parameter(help="native, tool or text: how answers are held to their schema.")
    ] = None
    max_tokens: Annotated[int | None, Parameter(help="Most tokens of one answer.")] = None
    context_tokens: Annotated[int | None, Parameter(help="The model's window, in tokens.")] = None
    timeout_ms: Annotated[int | None, Parameter(help="Longest time of one attempt.")] = None
    gguf: Annotated[
        str | None, Parameter(help="The model's file, for provider local; else the installed one.")
    ] = None
    threads: Annotated[int | None, Parameter(help="Its threads, for provider local.")] = None
    vision: Annotated[
        bool, Parameter(negative=(), help="It sees: pictures of a message are shown to it.")
    ] = False
    test: Annotated[
        bool, Parameter(negative="--no-test", help="Ask it once when it is set up.")
    ] = True
    replace: Annotated[
        bool, Parameter(negative=(), help="Take the place of a profile of this name.")
    ] = False

    def with_changes(self, **changes: Any) -> Self:
        """The same with some fields changed."""
        return replace(self, **changes)


@Parameter(name="*")
@dataclass(frozen=True)
class FirstRun:
    """What `ordain init` is told beforehand; without a terminal that is all it goes by."""

    use: Annotated[
        str | None,
        Parameter(
            help=(
                "ollama, llamacpp, lmstudio, vllm, openai, anthropic, gemini, endpoint (with "
                "--base-url), local or offline."
            )
        ),
    ] = None
    model: Annotated[str | None, Parameter(help="The model, as the endpoint calls it.")] = None
    base_url: Annotated[
        str | None, Parameter(help="The endpoint, where it is not the usual one.")
    ] = None
    key_env: Annotated[
        str | None,
        Parameter(help="The environment variable that holds the key; never the key itself."),
    ] = None
    key_file: Annotated[str | None, Parameter(help="The file that holds the key.")] = None
    yes: Annotated[
        bool, Parameter(negative=(), help="Ask nothing: take --use, else the first that is found.")
    ] = False
    replace: Annotated[
        bool, Parameter(negative=(), help="Put it in the place of what is set up already.")
    ] = False
    test: Annotated[
        bool, Parameter(negative="--no-test", help="Ask the model once when it is set up.")
    ] = True
    chat: Annotated[bool, Parameter(negative=(), help="Go on into `ordain chat`.")] = False


UNTOLD = FirstRun()


@Parameter(name="*")
@dataclass(frozen=True)
class RecordPlace:
    """Where a record of the configuration belongs."""

    workspace: WorkspaceOption = "default"
    everywhere: Annotated[
        bool,
        Parameter(
            negative=(), help="The profile that serves every workspace which has none of that name."
        ),
    ] = False


@Parameter(name="*")
@dataclass(frozen=True)
class RecordOptions:
    """What a record is to become, where it is no keys and values, and the version that it has to be
    at.
    """

    file: Annotated[
        Path | None, Parameter(help="The whole config as a JSON file instead, - for stdin.")
    ] = None
    remove: Annotated[
        bool, Parameter(negative=(), help="Remove the record; its history stays.")
    ] = False
    expected_version: Annotated[
        int | None,
        Parameter(
            help=(
                "The version that it has to be at, 0: there must be none. Without it, the one "
                "that is read now."
            )
        ),
    ] = None


@Parameter(name="*")
@dataclass(frozen=True)
class RecordPage:
    """Which versions of a record are shown."""

    limit: int = 50
    before: Annotated[int | None, Parameter(help="Only versions older than this one.")] = None


IN_DEFAULT, BY_KEYS, LATEST = RecordPlace(), RecordOptions(), RecordPage()
