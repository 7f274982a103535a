"""Opening a root run: its identity and first record. Whoever opens one, the run is made here."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import MsgspecError, Raw, Struct

from ordain.contracts.access import TokenScope
from ordain.contracts.approvals import MayAsk
from ordain.contracts.catalog import Catalog
from ordain.contracts.scope import CapabilityScope
from ordain.errors import ConfigurationError
from ordain.flows.kind import Kind
from ordain.journal.codec import Scribe
from ordain.journal.records import Label, RecordKind, Started, raw
from ordain.ports.writes import NewRun
from ordain.rules.profile import ProfiledBy
from ordain.rules.spend import Spend
from ordain.runtime.foreign_code import asked_of, input_of


class _Said(Struct, frozen=True):
    """What of a first record a kind gives."""

    label: Label | None = None
    grant: CapabilityScope | None = None


_SAID = msgspec.json.Decoder(_Said)
_UNHELD = (MsgspecError, TypeError, ValueError, RecursionError)
"""What encoding or decoding raises where a kind says what no record can hold."""


class Opening(Struct, frozen=True, kw_only=True):
    """What a root run is opened with. ``key`` is its subject's digest key; times in microseconds
    since 1970. ``may_ask``: None of one that is not kept.
    """

    run: str
    input: Raw
    workspace: str
    principal: str
    subject: str
    key: bytes
    at: int
    deadline: int
    keep_thoughts: bool = True
    session: str = ""
    thread: int = 0
    scopes: tuple[TokenScope, ...] | None = None
    profiled: ProfiledBy | None = None
    may_ask: MayAsk | None = None


def root_run(
    kind: Kind[Any, Any], opening: Opening, catalog: Catalog, *, queued: bool = False
) -> NewRun:
    """The run with its ``started`` record: what its kind says of it and grants it, under the
    catalog's budget.

    Raises:
        InvalidRequest: the input is none of this kind's.
        ConfigurationError: the kind fails at it or at what it says of the run, or that is nothing
            that its first record can hold.
    """
    budget, given = catalog.policy.budget, input_of(kind, opening.input)
    started = Started(
        flow=kind.name,
        flow_version=kind.version,
        catalog=catalog.digest,
        input=opening.input,
        workspace=opening.workspace,
        principal=opening.principal,
        scopes=opening.scopes,
        may_ask=opening.may_ask,
        asks_again=True,
        doubted=(),
        redoes=True,
        reserves_apart=True,
        subject=opening.subject,
        deadline=opening.deadline,
        allowance=Spend(
            tokens=budget.run_tokens,
            usd_micros=budget.run_usd_micros,
            model_calls=budget.run_model_calls,
            verb_calls=budget.run_verb_calls,
        ),
        keep_thoughts=opening.keep_thoughts,
        session=opening.session,
        thread=opening.thread,
        label=asked_of(kind, "label", kind.label, given),
        grant=asked_of(kind, "grant", kind.grant, given, catalog),
        wording=catalog.wording_id,
        profiled=opening.profiled,
    )
    try:
        record = Scribe(opening.run, opening.key).write(
            RecordKind.STARTED, kind.name, started, opening.at
        )
        _SAID.decode(record.body or b"")
    except _UNHELD as error:
        raise _unheld(kind, error) from error
    return NewRun(id=opening.run, key=opening.key, started=started, queued=queued, record=record)


def check_first(kind: Kind[Any, Any], started: Started) -> None:
    """A kind is foreign code here, and whoever reads a run begins with this record: of a root, and
    of a child.

    Raises:
        ConfigurationError: what the kind says of the run is nothing that it can hold.
    """
    try:
        _SAID.decode(raw(started))
    except _UNHELD as error:
        raise _unheld(kind, error) from error


def _unheld(kind: Kind[Any, Any], error: BaseException) -> ConfigurationError:
    found = (
        f"kind {kind.name}@{kind.version} labels or grants its run what no record can hold: "
        f"{str(error)[:200]}"
    )
    return ConfigurationError(found, code="invalid_kind")
