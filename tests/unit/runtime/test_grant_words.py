"""What is told of a grant: whose runs, which calls, about whom, and what it is not for."""

from __future__ import annotations

import msgspec

from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.scope import Constraint
from ordain.contracts.verbs import VerbEffect
from ordain.runtime.grant_words import grant_words
from tests.unit.runtime.office import BEN
from tests.unit.runtime.test_grants import OFFER, offered, office, redeclared


async def test_a_glob_that_names_more_is_taken_and_told() -> None:
    """What it is for now, and what it is not for."""
    with office() as house:
        given = await house.grants.give(DEFAULT_WORKSPACE, offered(capabilities=("p*",)), BEN)
        words = grant_words(given, house.services.catalogs.current)
        assert "p*, now post.all, post.out" in words
        assert "Not pay.out: what pays, deletes or is secret is approved each time." in words


async def test_each_verb_that_is_let_happen_is_told_the_gravest_first() -> None:
    """However many there are, behind a glob and by name: what sends never stands behind "and
    more".
    """
    with office() as house:
        many = [f"a{number:02}.out" for number in range(40)]
        for verb_id in many:
            redeclared(house, verb_id, effect=VerbEffect.EGRESS)
        redeclared(house, "z.out")
        catalog = house.services.catalogs.current
        behind = grant_words(
            await house.grants.give(DEFAULT_WORKSPACE, offered(capabilities=("*.out",)), BEN),
            catalog,
        )
        sends = [
            verb_id
            for verb_id in ("post.out", "ring.out", "tell.out", "z.out")
            if verb_id in catalog.verbs
        ]
        asks = sorted([*many, "ask.out"])
        assert f"*.out, now {', '.join((*sends, *asks))}." in behind.split("\n")[0]
        named = grant_words(
            await house.grants.give(DEFAULT_WORKSPACE, offered(capabilities=(*many, "z.out")), BEN),
            catalog,
        )
        assert f"without being asked: {', '.join(('z.out', *many))}." in named


async def test_words_say_whose_runs_and_about_whom() -> None:
    """A principal whom nobody knows is told as such, and no recipient reads as any."""
    with office() as house:
        catalog = house.services.catalogs.current
        bound = offered(
            principal="http:loopback",
            constraints={"post.out": Constraint(max_calls=3)},
            targets=("ben\u202e@example.org",),
        )
        words = grant_words(await house.grants.give(DEFAULT_WORKSPACE, bound, BEN), catalog)
        assert words.startswith(
            "Runs of http:loopback, which is anybody of this machine who gives no token, may make "
            "these calls"
        )
        assert "\u202e" not in words
        assert r'"ben\u202e@example.org"' in words
        assert "post.out: 3 calls in all." in words
        assert "To and about anybody" in grant_words(
            await house.grants.give(DEFAULT_WORKSPACE, OFFER, BEN), catalog
        )


async def test_what_passes_for_another_sign_is_told_by_its_number() -> None:
    """In whose runs, about whom and within what: whole, and nothing of it looks like words of
    code.
    """
    with office() as house:
        bounds = {
            "post.*": Constraint(
                domains_allowlist=("ex\u0430mple.org",), paths=("/srv, and anywhere",)
            )
        }
        long = "b" * 400
        grant = await house.grants.give(
            DEFAULT_WORKSPACE,
            offered(
                principal="token:p\u0430y", constraints=bounds, targets=("a\u0430@x.org", long)
            ),
            BEN,
        )
        words = grant_words(grant, house.services.catalogs.current)
        assert r'Runs of "token:p\u0430y" may' in words
        assert r'post.*: domains "ex\u0430mple.org"; paths "/srv, and anywhere".' in words
        assert rf'one of: "a\u0430@x.org", "{long}".' in words
        assert words.isascii()


async def test_a_grant_of_what_is_gone_is_for_nobody() -> None:
    """Once whom it named is erased it says so, and never that it is for any."""
    with office() as house:
        given = await house.grants.give(DEFAULT_WORKSPACE, OFFER, BEN)
        erased = msgspec.structs.replace(
            given, scope=msgspec.structs.replace(given.scope, targets=())
        )
        assert "To nobody" in grant_words(erased, house.services.catalogs.current)
