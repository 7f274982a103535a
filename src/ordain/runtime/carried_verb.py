"""The verb that a child run carries out, held to what holds now: it was allowed in its parent, and
goes on only as long as it would be.
"""

from __future__ import annotations

from msgspec import Struct

from ordain.contracts.approvals import Consent
from ordain.contracts.catalog import Catalog
from ordain.contracts.handoff import Envelope
from ordain.contracts.tiers import tier_of
from ordain.effects.calls import Call
from ordain.flows.carried import VerbPlanInput
from ordain.ports.store import StoredRun
from ordain.rules.handoff import taken_away
from ordain.rules.profile import NoProfile
from ordain.runtime.calls import CallBasis, forbidden, held_now, withdrawn
from ordain.runtime.foreign_code import asked_of
from ordain.runtime.services import Services
from ordain.runtime.setup import RunSetup


class CarriedVerb(Struct, frozen=True, kw_only=True):
    """What a run carries out: the verb, its exact call where the run's kind says so, and what
    allowed that: ``consent``, and whether it needed one.

    ``handoff`` is the envelope in which work came to it.
    """

    services: Services
    run: StoredRun
    catalog: Catalog
    verb: str
    call: Call | None = None
    consent: Consent | None = None
    approved: bool = False
    handoff: Envelope | None = None

    async def withdrawn(self) -> str | None:
        """Why it may not go on any more, or None: what takes a verb, a yes or a profile's leave
        away reaches what runs already.

        What turns enter by is no profile's to take away.
        """
        current, verb = self.services.catalogs.current, self.verb
        if verb not in current.verbs:
            return f"{verb} is no longer registered"
        if (why := current.inactive_reason(verb, current.policy.verbs)) is not None:
            return f"{verb} is switched off: {why}"
        if self.call is None:
            return None
        if self.handoff is not None and (why := await self._taken_away(self.handoff)) is not None:
            return why
        if self.catalog.verbs[verb].spec.entry and not self.approved:
            return withdrawn(self.services, self.catalog, self.call)
        basis = CallBasis(
            consent=self.consent, approved=self.approved, begun=self.handoff is not None
        )
        return await forbidden(self.services, self.run, self.catalog, self.call, basis)

    async def _taken_away(self, envelope: Envelope) -> str | None:
        """Why the work would not be handed on any more, by what policy and profile say now of its
        target, of the way and of how many are at work at once.

        Of those that were begun beside each other the first ones stay, as many as may be at work
        now.
        """
        held, policy = (
            await held_now(self.services, self.run),
            self.services.catalogs.current.policy,
        )
        return (
            None
            if isinstance(held, NoProfile)
            else taken_away(envelope.target, envelope.mode, self.run.index + 1, held, policy)
        )


def carried_verb(services: Services, run: StoredRun, setup: RunSetup) -> CarriedVerb | None:
    """The verb that a run carries out for its parent; None where it carries out none."""
    verb = services.kinds.label(setup.started).verb if run.parent is not None else ""
    if not verb:
        return None
    kind, held, consent = setup.kind, setup.started.profile, setup.started.consent
    call = None if kind.carries is None else asked_of(kind, "carries", kind.carries, setup.given)
    if call is None or call.verb not in setup.catalog.verbs:
        return CarriedVerb(services=services, run=run, catalog=setup.catalog, verb=verb)
    needs = tier_of(
        setup.catalog.verbs[call.verb], call.args, "" if held is None else held.safety
    )  # a build before said nothing of the yes
    return CarriedVerb(
        services=services,
        run=run,
        catalog=setup.catalog,
        verb=verb,
        call=call,
        consent=consent,
        approved=consent is not None or needs is not None,
        handoff=setup.given.handoff if isinstance(setup.given, VerbPlanInput) else None,
    )
