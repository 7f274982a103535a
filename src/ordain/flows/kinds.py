"""The registry of a build's kinds, a value that is passed in: asked by name and version, by what a
conversation needs, by a request's contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from msgspec import MsgspecError, Raw

from ordain.contracts.model_policy import NO_PURPOSES
from ordain.contracts.policy import Policy
from ordain.errors import ConfigurationError, OrdainError
from ordain.flows.context import Carrying
from ordain.flows.kind import NO_LABEL, Kind, PromptKind, Serves, whole_output
from ordain.journal.records import Label, Started
from ordain.ports.writes import RowTable
from ordain.rules.rulebook import Rulebook, rulebook

FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    MsgspecError,
    OrdainError,
    SystemExit,
)
"""What code of a kind may fail with; whatever suspends a run is none of it."""


@dataclass(frozen=True)
class Kinds:
    """The kinds of a build by (name, version), and what they bring with them. A value that is
    passed in.

    ``Serves`` and requests are the newest version's business; an older one is kept for runs that
    began as such.
    """

    all: tuple[Kind[Any, Any], ...] = ()
    by_id: Mapping[tuple[str, int], Kind[Any, Any]] = field(init=False)
    newest: Mapping[str, Kind[Any, Any]] = field(init=False)
    rules: Rulebook = field(init=False)
    carrying: Mapping[str, Carrying] = field(init=False)
    by_service: Mapping[Serves, Kind[Any, Any]] = field(init=False)

    def __post_init__(self) -> None:
        """Index them.

        Raises:
            ConfigurationError: two kinds have one name and version, ask under one purpose for
                answers of two contracts, or bring different templates or tables of one name; a
                kind's name or version is none, or what it asks for goes by a word of policy's.
            ValueError: two rules have one name, or one code means two things.
        """
        by_id: dict[tuple[str, int], Kind[Any, Any]] = {}
        newest: dict[str, Kind[Any, Any]] = {}
        for kind in self.all:
            if (
                type(kind.name) is not str
                or not kind.name
                or type(kind.version) is not int
                or kind.version < 1
            ):
                raise ConfigurationError(
                    f"kind {kind.name!r:.80}@{kind.version!r:.20}: a name and a version from 1 on",
                    code="invalid_kind",
                )
            if by_id.setdefault((kind.name, kind.version), kind) is not kind:
                raise ConfigurationError(
                    f"there are two kinds {kind.name}@{kind.version}", code="duplicate_kind"
                )
            if kind.name not in newest or newest[kind.name].version < kind.version:
                newest[kind.name] = kind
        carrying = {name: kind.carrying for name, kind in newest.items()}
        rules = rulebook(
            rule
            for kind in self.all
            for rule in (*kind.rules, *(claim.shared.rule for claim in kind.claims))
        )
        by_service = {
            kind.serves: kind for kind in reversed(newest.values()) if kind.serves is not None
        }
        indices: dict[str, Mapping[Any, Any]] = {
            "by_id": by_id,
            "newest": newest,
            "carrying": carrying,
            "rules": rules,
            "by_service": by_service,
        }
        for name, index in indices.items():
            # all runs of a process share them, and flows see them
            object.__setattr__(self, name, MappingProxyType(index))
        self._check_purposes()
        self._check_templates()
        self._check_tables()

    def _check_tables(self) -> None:
        """A table's name is the store's for all kinds, so that it means one table."""
        known: dict[str, RowTable] = {}
        for table in self.tables:
            if known.setdefault(table.name, table) != table:
                raise ConfigurationError(
                    f"table {table.name} has other columns in another kind", code="duplicate_table"
                )

    def _check_templates(self) -> None:
        """A template's name is the catalog's for all kinds, so that it means one file."""
        packages: dict[str, str] = {}
        for kind in self.all:
            for prompt in kind.prompts:
                if (
                    prompt.template
                    and packages.setdefault(prompt.template, prompt.package) != prompt.package
                ):
                    found = f"{packages[prompt.template]} and {prompt.package}"
                    raise ConfigurationError(
                        f"template {prompt.template} is another file in {found}",
                        code="duplicate_template",
                    )

    def _check_purposes(self) -> None:
        """Policy and scripts know what is asked for by its purpose alone, so that is one thing
        whichever kind asks.
        """
        contracts: dict[str, str] = {}
        for kind in self.newest.values():
            for prompt in kind.prompts:
                if prompt.purpose in NO_PURPOSES:
                    raise ConfigurationError(
                        f"purpose {prompt.purpose} is a word of policy's for something else",
                        code="reserved_purpose",
                    )
                if contracts.setdefault(prompt.purpose, prompt.contract) != prompt.contract:
                    found = f"{contracts[prompt.purpose]!r} and {prompt.contract!r}"
                    raise ConfigurationError(
                        f"purpose {prompt.purpose} asks for two contracts: {found}",
                        code="duplicate_purpose",
                    )

    def get(self, name: str, version: int) -> Kind[Any, Any] | None:
        """The kind that a run pins, None where this build lacks it."""
        return self.by_id.get((name, version))

    def serving(self, what: Serves) -> Kind[Any, Any]:
        """The kind that a conversation needs for this.

        Raises:
            ConfigurationError: this build has none.
        """
        kind = self.by_service.get(what)
        if kind is None:
            raise ConfigurationError(f"no kind of this build serves {what}", code="unknown_kind")
        return kind

    def answering(self, contract: type[Any]) -> Kind[Any, Any]:
        """The kind that a request of this contract opens.

        Raises:
            ConfigurationError: this build has none.
        """
        for kind in self.newest.values():
            if kind.wire is not None and kind.wire.contract is contract:
                return kind
        raise ConfigurationError(
            f"no kind of this build answers {contract.__name__}", code="unknown_kind"
        )

    def label(self, started: Started) -> Label:
        """What is to be known of a run: as recorded, else as its kind makes it from the input."""
        if started.label is not None:
            return started.label
        kind = self.get(started.flow, started.flow_version)
        return NO_LABEL if kind is None else _label(kind, started.input)

    def words(self, started: Started) -> str:
        """What was asked for with a run, whole; "" where nobody can tell."""
        kind = self.get(started.flow, started.flow_version)
        try:
            words = "" if kind is None else kind.words(kind.decode_input(started.input))
        except FAILURES:  # a kind is foreign code here
            return ""
        return words if type(words) is str else ""

    def narrates(self, name: str, given: Raw) -> bool:
        """Whether the words of a child with this input stand below its parent's header."""
        kind = self.newest.get(name)
        return kind is not None and _label(kind, given).narrates

    def judges(self, name: str, version: int) -> bool:
        """Whether the headers of runs of this kind and version open with a verdict."""
        kind = self.get(name, version)
        return kind is not None and kind.judged

    def only_calls(self, name: str) -> bool:
        """Whether a run of this kind does nothing beside the calls that it makes."""
        kind = self.newest.get(name)
        return kind is not None and kind.only_calls

    def excerpt(self, name: str, output: Raw) -> str:
        """What the header of a child's parent shows of its output; the whole where its kind is not
        of this build or fails at it.
        """
        kind = self.newest.get(name)
        try:
            shown = whole_output(output) if kind is None else kind.excerpt(output)
        except FAILURES:  # a kind is foreign code here, and perhaps newer than the output
            return whole_output(output)
        return shown if type(shown) is str else whole_output(output)

    @property
    def prompts(self) -> Mapping[str, PromptKind[Any]]:
        """What models are asked for, by purpose, as the newest versions ask."""
        return {prompt.purpose: prompt for kind in self.newest.values() for prompt in kind.prompts}

    @property
    def scripted(self) -> frozenset[str]:
        """The purposes that a script has one list for; a prompt without a contract of its own has
        one list per verb.
        """
        return frozenset(purpose for purpose, prompt in self.prompts.items() if prompt.contract)

    def check_policy(self, policy: Policy, place: str = "policy") -> None:
        """Policy names no purpose that nothing is asked for; ``place`` is what an error calls the
        policy.

        Raises:
            ConfigurationError: it does; the message names the key or the row.
        """
        known = self.prompts
        named = [
            (f"lanes.{purpose[:60]} (or LLM_ROUTE_{purpose[:60].upper()})", purpose)
            for purpose in policy.lanes.by_purpose
        ]
        named += [
            (f"lanes.routes.{number}.purpose", row.purpose)
            for number, row in enumerate(policy.lanes.routes)
            if row.purpose is not None
        ]
        for key, purpose in named:
            if purpose not in known:
                raise ConfigurationError(
                    f"{place}: {key}: {purpose[:60]!r} is none of {', '.join(sorted(known))}"
                )

    @property
    def tables(self) -> tuple[RowTable, ...]:
        """The tables that kinds' shared decisions keep rows in, each once."""
        return tuple(
            dict.fromkeys(
                table for kind in self.all for claim in kind.claims for table in claim.tables
            )
        )

    @property
    def templates(self) -> Mapping[str, str]:
        """The package of each template that a kind brings, by the template's name."""
        return {
            prompt.template: prompt.package
            for kind in self.all
            for prompt in kind.prompts
            if prompt.template
        }


def _label(kind: Kind[Any, Any], given: Raw) -> Label:
    """The label that a kind makes from an input; none where that is not its input, as damage or
    another's spawn may have it.
    """
    try:
        return kind.label(kind.decode_input(given))
    except FAILURES:  # a kind is foreign code here; what it fails at is told where a run is opened
        return NO_LABEL
