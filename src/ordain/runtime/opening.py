"""Opening a root run: its identity and first record. Whoever opens one, the run is made here."""

from __future__ import annotations

from msgspec import Raw, Struct

from ordain.contracts.catalog import Catalog
from ordain.journal.codec import Scribe
from ordain.journal.records import Kind, Started
from ordain.ports.store import NewRun
from ordain.rules.spend import Spend


class Opening(Struct, frozen=True, kw_only=True):
    """What a root run is opened with. ``key`` is its subject's digest key; times in microseconds since 1970."""

    run: str
    flow: str
    flow_version: int
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


def root_run(opening: Opening, catalog: Catalog) -> NewRun:
    """The run with its ``started`` record, under the catalog's budget."""
    budget = catalog.policy.budget
    started = Started(
        flow=opening.flow,
        flow_version=opening.flow_version,
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
    )
    return NewRun(
        id=opening.run,
        flow=opening.flow,
        flow_version=opening.flow_version,
        catalog=catalog.digest,
        workspace=opening.workspace,
        subject=opening.subject,
        key=opening.key,
        started=Scribe(opening.run, opening.key).write(Kind.STARTED, opening.flow, started, opening.at),
        session=opening.session,
        thread=opening.thread,
    )
