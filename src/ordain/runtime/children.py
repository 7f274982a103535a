"""Opening children with their parent's intent: what each begins with, of its parent's own and of
what its spawn lets it have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from msgspec import structs

from ordain.contracts.catalog import Catalog
from ordain.contracts.scope import CapabilityScope
from ordain.effects.children import Spawn
from ordain.effects.effect import Children
from ordain.errors import CallerError, FlowFault, FlowUnavailable, Refused
from ordain.flows.carried import carrier_of
from ordain.flows.kinds import Kinds
from ordain.journal.codec import Scribe
from ordain.journal.digests import call_digest, derived_id
from ordain.journal.records import RecordKind, Started
from ordain.ports.store import StoredRun
from ordain.ports.writes import NewRun
from ordain.runtime.foreign_code import asked_of
from ordain.runtime.opening import check_first
from ordain.runtime.run_state import RunState
from ordain.runtime.services import Services
from ordain.runtime.setup import RunSetup

NESTED_MAX = 32
"""How many runs a run may be a child below. Calls of verbs end sooner, by policy's depth; children
that carry out none have only this.
"""


class Opener(Protocol):
    """The live run that opens them."""

    id: str
    services: Services
    stored: StoredRun
    setup: RunSetup
    state: RunState


def new_children(parent: Opener, addr: int, effect: Children) -> Iterator[NewRun]:
    """The children's rows and started records; ids derive from (parent, address, index). Raises as
    ``started_child``, and if nested too deep.
    """
    stored, key = parent.stored, parent.stored.key or b""
    if stored.nested >= NESTED_MAX and effect.spawns:
        raise FlowFault(f"a run below {NESTED_MAX} others opens no children")
    share = runs_share(parent.state, effect)
    for index, spawn in enumerate(effect.spawns):
        started = started_child(parent.setup, parent.services.kinds, addr, index, spawn)
        # the child's time begins by the wall clock: what its parent has lost so far it has not
        authority, permit = parent.state.authority, spawn.authorized
        consent = None if permit is None else authority.given(permit.decision)
        until = started.deadline + parent.state.lost_us
        started = structs.replace(started, runs=share, deadline=until, profile=authority.held)
        started = authority.consents.begin(started, consent)
        child = derived_id(parent.id, addr, index)
        yield NewRun(
            id=child,
            key=key,
            started=started,
            record=Scribe(child, key).write(
                RecordKind.STARTED, spawn.flow, started, parent.services.clock.now()
            ),
            root=stored.root,
        )


def runs_share(parent: RunState, effect: Children) -> int:
    """How many runs each of these may open below it, now that they are counted themselves: nothing
    else is opened until the join is over.
    """
    return parent.authority.runs_left // max(1, len(effect.spawns))


def started_child(
    parent: RunSetup, kinds: Kinds, addr: int, index: int, spawn: Spawn[Any]
) -> Started:
    """What a child begins with: its parent's own, as far as the spawn lets it have that.

    Raises:
        FlowUnavailable: this build has no such flow.
        FlowFault: it would carry out a verb call that its permit does not name, or a verb that
            another kind carries out, or its kind cannot read or label the input.
        ConfigurationError: its kind says of it what its first record cannot hold.
    """
    kind, began, permit = kinds.newest.get(spawn.flow), parent.started, spawn.authorized
    if kind is None:
        raise FlowUnavailable(f"this build has no flow {spawn.flow}")
    try:
        given = asked_of(kind, "decode_input", kind.decode_input, spawn.input)
        carries = None if kind.carries is None else asked_of(kind, "carries", kind.carries, given)
        label = asked_of(kind, "label", kind.label, given)
    except (CallerError, Refused) as error:  # without its text, which may hold values of the input
        cause = type(error.__cause__ or error).__name__
        raise FlowFault(
            f"a child run of {spawn.flow}@{kind.version} with an input that its kind cannot read "
            f"or label: {cause}"
        ) from error
    if carries is None and permit is not None:
        raise FlowFault(
            f"a child run of {spawn.flow} by a permit for {permit.call.verb}: it carries out no "
            "verb's call"
        )
    if carries is not None:
        if permit is None or call_digest(permit.call) != call_digest(carries):
            raise FlowFault(f"a child run of {spawn.flow} for a verb call that no decision allowed")
        verb = parent.catalog.verbs.get(permit.call.verb)
        if verb is None or not verb.spec.composite or carrier_of(verb.spec) != spawn.flow:
            raise FlowFault(
                f"a child run of {spawn.flow} for {permit.call.verb}, which it does not carry out"
            )
    started = Started(
        flow=spawn.flow,
        flow_version=kind.version,
        catalog=began.catalog,
        input=spawn.input,
        workspace=began.workspace,
        principal=began.principal,
        scopes=began.scopes,
        may_ask=began.may_ask,
        asks_again=True,
        reserves_apart=True,
        subject=began.subject,
        parent=parent.run,
        parent_addr=addr,
        index=index,
        depth=began.depth + _nests(parent.catalog, spawn, nests=kind.nests),
        grant=CapabilityScope(allowed=spawn.scope, constraints=parent.scope.constraints),
        deadline=spawn.deadline,
        allowance=spawn.allowance,
        keep_thoughts=spawn.keep_thoughts,
        session=began.session,
        thread=began.thread,
        label=label,
        wording=parent.catalog.wording_id,
        chain=_chain(parent, spawn),
        root=parent.root,
    )
    check_first(kind, started)
    return started


def _nests(catalog: Catalog, spawn: Spawn[Any], *, nests: bool) -> bool:
    """Whether the child counts as a verb call inside a verb call: what a turn enters by is no
    nesting of verbs (B-32), nor what its kind says is none.
    """
    return (
        nests
        and spawn.authorized is not None
        and not catalog.verbs[spawn.authorized.call.verb].spec.entry
    )


def _chain(parent: RunSetup, spawn: Spawn[Any]) -> tuple[str, ...]:
    """The cards that the child's work was handed through."""
    card = None if spawn.authorized is None else parent.catalog.card_of(spawn.authorized.call.verb)
    return parent.started.chain if card is None else (*parent.started.chain, card.name)
