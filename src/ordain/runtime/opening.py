"""Opening a root run: its identity and first record. Whoever opens one, the run is made here."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import MsgspecError, Raw, Struct

from ordain.contracts.catalog import Catalog
from ordain.errors import ConfigurationError
from ordain.flows.kind import Kind
from ordain.journal.codec import Scribe
from ordain.journal.records import RecordKind, Started, raw
from ordain.ports.writes import NewRun
from ordain.rules.spend import Spend
from ordain.runtime.foreign_code import asked_of, input_of

_STARTED = msgspec.json.Decoder(Started)


class Opening(Struct, frozen=True, kw_only=True):
    """What a root run is opened with. ``key`` is its subject's digest key; times in microseconds since 1970."""

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


def root_run(kind: Kind[Any, Any], opening: Opening, catalog: Catalog, *, queued: bool = False) -> NewRun:
    """The run with its ``started`` record: what its kind says of it and grants it, under the catalog's budget.

    Raises:
        InvalidRequest: the input is none of this kind's.
        ConfigurationError: the kind fails at it or at what it says of the run, or that is nothing that its first record can hold.
    """
    budget, given = catalog.policy.budget, input_of(kind, opening.input)
    started = Started(
        flow=kind.name,
        flow_version=kind.version,
        catalog=catalog.digest,
        input=opening.input,
        workspace=opening.workspace,
        principal=opening.principal,
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
    )
    check_first(kind, started)
    return NewRun(
        id=opening.run,
        key=opening.key,
        started=started,
        queued=queued,
        record=Scribe(opening.run, opening.key).write(RecordKind.STARTED, kind.name, started, opening.at),
    )


def check_first(kind: Kind[Any, Any], started: Started) -> None:
    """A kind is foreign code here, and whoever reads a run begins with this record: of a root, and of a child.

    Raises:
        ConfigurationError: what the kind says of the run is nothing that it can hold.
    """
    try:
        _STARTED.decode(raw(started))
    except (MsgspecError, TypeError, ValueError, RecursionError) as error:
        found = f"kind {kind.name}@{kind.version} labels or grants its run what no record can hold: {str(error)[:200]}"
        raise ConfigurationError(found, code="invalid_kind") from error
