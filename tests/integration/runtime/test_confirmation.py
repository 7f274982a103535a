"""Declarations that nobody has confirmed: marked in headers, off where policy says so, and taken up
when an operator confirms them.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import structs

from ordain import Ordain, verb
from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import MemoryPolicy
from ordain.contracts.verbs import VerbEffect, VerbRequest
from ordain.errors import Conflict
from ordain.runtime.approvals import ApproverWord
from ordain.settings import Settings, load_settings
from ordain.verbs.confirmed import FILE, Confirmation, read_confirmed, write_confirmed
from tests.replayed import replayed

MARK = "· count.letters, whose declaration nobody has confirmed · authorize.unconfirmed"
CODE = '''\
from ordain import verb


@verb(effect="read", name="count.letters")
def count(text: str) -> int:
    """Count."""
    return len(text) * {times}
'''
DELETE = """\
name: item.drop
description: Drop an item.
effect: private
http: {method: DELETE, url: "http://127.0.0.1:9/items/{item_id}", hosts: ["127.0.0.1"], private: true}
arguments: {item_id: {role: label}}
input_schema: {type: object, properties: {item_id: {type: string}}, required: [item_id], additionalProperties: false}
"""


def home(folder: Path, policy: str = "mark") -> Settings:
    (folder / "verbs").mkdir()
    (folder / "verbs" / "count_letters.py").write_text(CODE.format(times=1), encoding="utf-8")
    (folder / "ordain.toml").write_text("[verbs]\npython = true\nwatch_ms = 0\n", encoding="utf-8")
    (folder / "policy.toml").write_text(
        f'version = 1\n[verbs]\nunconfirmed = "{policy}"\n', encoding="utf-8"
    )
    return load_settings(home=folder)


def confirmed(ordain: Ordain) -> None:
    digests = ordain.registry.declarations
    write_confirmed(
        ordain.settings.home / FILE,
        {name: Confirmation(digest=one, by="local:ada", at="now") for name, one in digests.items()},
    )


async def header(ordain: Ordain) -> str:
    reply = (await ordain.execute("count.letters", {"text": "abc"})).wire
    assert reply["ok"], reply
    run = ordain.store.stored(reply["run_id"])
    assert run is not None
    assert replayed(ordain.runtime.services, run).equal
    return str(reply["header"])


async def test_the_header_says_what_rests_on_an_unconfirmed_declaration(tmp_path: Path) -> None:
    """Until it is confirmed; a changed one asks again; what was recorded keeps its header, and all
    of it replays equal.
    """
    async with Ordain(home(tmp_path)) as ordain:
        assert ordain.catalog.unconfirmed == {"count.letters"}
        assert MARK in await header(ordain)
        confirmed(ordain)
        assert (await ordain.reload()).changed
        assert MARK not in await header(ordain)
        (tmp_path / "verbs" / "count_letters.py").write_text(CODE.format(times=2), encoding="utf-8")
        assert (await ordain.reload()).changed
        assert MARK in await header(ordain)
        assert b'"unconfirmed":[' not in ordain.catalog.changed(unconfirmed=[]).encoded


async def test_a_yes_to_code_that_was_changed_counts_no_more(tmp_path: Path) -> None:
    """Nobody had confirmed it and nobody has confirmed what it is now: what somebody said yes to
    does not run, and a yes to what has not changed does.
    """
    settings = home(tmp_path)
    sends = "from ordain.contracts.verbs import ArgumentRole\n" + CODE.replace(
        'effect="read"', 'effect="send", arguments={{"text": ArgumentRole.RECIPIENT}}'
    )
    file = tmp_path / "verbs" / "count_letters.py"
    file.write_text(sends.format(times=1), encoding="utf-8")
    async with Ordain(settings) as ordain:
        desk = ordain.runtime.approvals
        for times, runs in ((2, False), (2, True)):
            request = VerbRequest(verb_id="count.letters", payload={"text": "abc"})
            accepted = await ordain.runtime.accept(request, "local:ada", waits=True)
            for _ in range(1000):
                if found := await desk.listed("default"):
                    break
                await asyncio.sleep(0.02)
            file.write_text(sends.format(times=times), encoding="utf-8")
            assert (await ordain.reload()).ok
            assert ordain.catalog.unconfirmed == {"count.letters"}
            with suppress(Conflict):  # whether they are told at once or not
                word = ApproverWord(approve=True, digest=found[0].row.digest)
                await desk.decide("default", found[0].row.id, word, "local:ben")
            if not runs and (await desk.one("default", found[0].row.id)).row.state == "open":
                await desk.decide(
                    "default",
                    found[0].row.id,
                    ApproverWord(approve=False, digest=found[0].row.digest),
                    "local:ben",
                )
            view = await ordain.runtime.wait(accepted.run)
            assert ("✓ count.letters" in view.header) is runs, view.header


async def test_a_confirmation_is_taken_up_while_a_process_runs(tmp_path: Path) -> None:
    """Whoever watches the folder sees the file come, change and go, and the header follows; nothing
    else has to be touched.
    """
    settings = home(tmp_path)
    watching = settings.model_copy(
        update={"verbs": settings.verbs.model_copy(update={"watch_ms": 10})}
    )
    async with Ordain(watching) as ordain:
        for change, mark in ((lambda: confirmed(ordain), False), ((tmp_path / FILE).unlink, True)):
            before = ordain.runtime.catalog.digest
            change()
            async with asyncio.timeout(30):
                while ordain.runtime.catalog.digest == before:  # noqa: ASYNC110 - a reload is announced to nobody
                    await asyncio.sleep(0.01)
            assert (MARK in await header(ordain)) == mark


async def test_policy_may_switch_off_what_nobody_confirmed(tmp_path: Path) -> None:
    """With `unconfirmed = "deny"` it is called by nobody, and offered to nobody, until it is
    confirmed.
    """
    async with Ordain(home(tmp_path, "deny")) as ordain:
        refused = (await ordain.execute("count.letters", {"text": "abc"})).wire
        assert (refused["ok"], refused["error"]["code"]) == (False, "inactive")
        assert refused["error"]["remedy"].endswith("ordain verbs confirm count.letters")
        assert (
            ordain.catalog.inactive_reason("count.letters", ordain.settings.policy.verbs)
            == "unconfirmed"
        )
        confirmed(ordain)
        await ordain.reload()
        assert MARK not in await header(ordain)


async def test_what_is_shipped_and_an_embedders_is_confirmed(tmp_path: Path) -> None:
    """Neither is asked about: who ships or embeds it has said so."""

    @verb(effect="read", name="mine.count")
    def mine(text: str) -> int:
        """Count."""
        return len(text)

    ordain = Ordain(load_settings(home=tmp_path), verbs=[mine])
    assert ordain.catalog.unconfirmed == frozenset()
    assert {spec.trust_class for spec in ordain.registry.specs.values()} == {"native"}
    assert b'"unconfirmed":[' not in ordain.catalog.encoded


async def test_a_file_of_confirmations_that_cannot_be_used_is_a_problem(tmp_path: Path) -> None:
    """Then nothing is confirmed, the verbs are there all the same, and what is wrong is told as
    other problems are.
    """
    settings = home(tmp_path)
    async with Ordain(settings) as ordain:
        confirmed(ordain)
        await ordain.reload()
        assert not ordain.catalog.unconfirmed
        (tmp_path / FILE).write_text("[", encoding="utf-8")
        done = await ordain.reload()
        assert (done.ok, [problem.code for problem in done.problems]) == (
            True,
            ["invalid_confirmations"],
        )
        assert ordain.catalog.unconfirmed == {"count.letters"}


async def test_a_verb_below_its_floor_is_in_use_at_it(tmp_path: Path) -> None:
    """A deletion that calls itself private is loaded as one, told as a warning, and needs an
    approval; it comes back so from storage.
    """
    settings = home(tmp_path)
    (tmp_path / "verbs" / "item.drop.yaml").write_text(DELETE, encoding="utf-8")
    async with Ordain(settings) as ordain:
        spec = ordain.catalog.verbs["item.drop"].spec
        assert (spec.effect, spec.declared_effect) == (VerbEffect.DELETE, VerbEffect.PRIVATE)
        (problem,) = (await ordain.reload()).problems
        assert (problem.code, problem.warning) == ("effect_raised", True)
        assert "DELETE is at least delete: effect delete, not private" in problem.message
        reply = (await ordain.execute("item.drop", {"item_id": "1"})).wire
        assert reply["error"]["code"] == "approval_not_available"
        stored = await ordain.store.catalog(ordain.catalog.digest)
        assert stored is not None
        assert Catalog.from_bytes(stored).verbs["item.drop"].spec == spec


async def test_what_other_users_are_given_is_not_private(tmp_path: Path) -> None:
    """Where memory is shared, an entry is sent to the others: it needs an approval, and the catalog
    says why.
    """
    settings = load_settings(home=tmp_path)
    shared = settings.policy.model_copy(update={"memory": MemoryPolicy(shared=True)})
    for policy, effect in ((settings.policy, "private"), (shared, "send")):
        ordain = Ordain(settings.model_copy(update={"policy": policy}))
        assert ordain.catalog.verbs["collapse.write_entry"].spec.effect == effect
    reasons: list[Any] = [problem.message for problem in ordain._began[1]]
    assert any("other users can read" in reason for reason in reasons)


def test_a_confirmation_says_who_and_when(tmp_path: Path) -> None:
    """Beside the digest."""
    one = Confirmation(digest="b" * 64, by="local:ada", at="2026-01-01T00:00:00+00:00")
    write_confirmed(tmp_path / FILE, {"a": one})
    assert structs.asdict(read_confirmed(tmp_path / FILE)["a"])["by"] == "local:ada"
