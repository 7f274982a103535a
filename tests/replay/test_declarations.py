"""What is said of declarations since builds look at them: of a recorded run nothing changes, and a
golden plan holds what is new.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import msgspec

from ordain.contracts.cards import AGENT_VERB
from ordain.contracts.catalog import Catalog
from ordain.contracts.verbs import TrustClass, VerbEffect
from ordain.journal.codec import decode
from ordain.journal.records import DecisionBody, EndedBody
from ordain.ports.store import StoredRun
from ordain.rules.authorize import GroundReason
from tests.replay.golden_file import GOLDEN, read, read_talk

UNCONFIRMED = GOLDEN / "talks" / "unconfirmed.json"


def recorded() -> Iterator[tuple[tuple[StoredRun, ...], Catalog]]:
    """Every golden that was made before, with the catalog that it pins."""
    for file in sorted(GOLDEN.glob("v*/*.json")):
        golden = read(file)
        yield (golden.run,), golden.compiled()
    for file in sorted(GOLDEN.glob("talks/*.json")):
        if file != UNCONFIRMED:
            talk = read_talk(file)
            yield talk.runs, talk.compiled()


def test_a_catalog_of_before_keeps_its_digest_and_what_it_declares() -> None:
    """It has its digest by its own bytes, nothing of it is unconfirmed or raised, and what there is
    now is not written into it.
    """
    for runs, catalog in recorded():
        assert (
            {run.catalog for run in runs}
            == {catalog.digest}
            == {hashlib.sha256(catalog.encoded).hexdigest()}
        )
        written = json.loads(catalog.encoded)
        assert "unconfirmed" not in written
        assert catalog.unconfirmed == frozenset()
        for name, verb in catalog.verbs.items():
            if name.startswith(AGENT_VERB):  # made of the card, which alone is stored
                assert name.removeprefix(AGENT_VERB) in written["cards"]
                continue
            assert (verb.spec.effect, verb.spec.declared_effect) == (
                written["verbs"][name]["effect"],
                None,
            )
            assert verb.spec.trust_class is TrustClass.NATIVE
        assert b'"unconfirmed":[' not in catalog.changed().encoded


def test_no_header_of_before_speaks_of_confirmation() -> None:
    """Neither do its decisions: there is no such fact in them."""
    ends = 0
    for runs, _ in recorded():
        for body in (
            decode(record) for run in runs for record in run.records if record.body is not None
        ):
            if isinstance(body, EndedBody):
                ends += 1
                assert GroundReason.UNCONFIRMED.value not in body.header
            elif isinstance(body, DecisionBody) and body.addr.rpartition("/")[2].startswith(
                "authorize#"
            ):
                assert b'"unconfirmed"' not in bytes(body.facts)
    assert ends > 100


def test_a_golden_plan_over_unconfirmed_declarations() -> None:
    """The verb that was allowed is marked, the write that called itself private was refused as what
    it is, and nobody is told it happened.
    """
    golden = read_talk(UNCONFIRMED)
    catalog = golden.compiled()
    keep = catalog.verbs["item.keep"].spec
    assert catalog.unconfirmed == {"tell", "item.keep"}
    assert (keep.effect, keep.declared_effect, keep.trust_class) == (
        VerbEffect.SEND,
        VerbEffect.PRIVATE,
        TrustClass.SKILL,
    )
    (plan,) = [run for run in golden.runs if run.flow == "planner"]
    bodies = [decode(record) for record in plan.records]
    judged = [
        body for body in bodies if isinstance(body, DecisionBody) and "/authorize#" in body.addr
    ]
    assert [body.reason for body in judged] == [
        "authorize.read",
        "authorize.approval_not_available",
    ]
    assert [msgspec.json.decode(body.facts)["unconfirmed"] for body in judged] == [True, True]
    (end,) = [body for body in bodies if isinstance(body, EndedBody)]
    marked = [
        line.strip() for line in end.header.splitlines() if GroundReason.UNCONFIRMED.value in line
    ]
    assert marked == ["· tell, whose declaration nobody has confirmed · authorize.unconfirmed"]
