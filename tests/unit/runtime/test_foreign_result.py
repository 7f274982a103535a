"""What no record can hold is told as what became of the effect, by the effect's kind."""

from __future__ import annotations

from typing import Any

import pytest

from ordain import verb
from ordain.effects.calls import Authorized, Call
from ordain.effects.effect import Read, VerbCall
from ordain.effects.results import ReadFailed, ReadValue, VerbFailed, VerbReturned, VerbUnknown
from ordain.runtime.foreign_result import kept_form
from ordain.testing import catalog_of

NOTHING: Any = object()


@verb(name="shelf.find", effect="read")
async def find() -> str:
    """Find."""
    return ""


@verb(name="shelf.put", effect="private")
async def put() -> str:
    """Put."""
    return ""


CATALOG = catalog_of(verbs=[find.spec, put.spec])


def call(name: str) -> VerbCall:
    return VerbCall(
        authorized=Authorized(call=Call(verb=name, args={}), decision="0/authorize#0"), deadline=1
    )


def test_what_a_record_can_hold_is_read_back() -> None:
    """Live and replay see one value."""
    encoded, kept = kept_form(CATALOG, call("shelf.put"), VerbReturned(output={"n": 1}))
    assert kept == VerbReturned(output={"n": 1})
    assert b'"n":1' in bytes(encoded)


@pytest.mark.parametrize(("name", "came"), [("shelf.find", VerbFailed), ("shelf.put", VerbUnknown)])
def test_of_a_call_it_is_known_by_what_the_verb_does(name: str, came: type[Any]) -> None:
    """A read has failed; whether anything else took effect nobody knows."""
    _, kept = kept_form(CATALOG, call(name), VerbReturned(output={"n": NOTHING}))
    assert isinstance(kept, came)
    assert "cannot be recorded" in kept.message


def test_of_a_read_it_is_a_failure() -> None:
    """The flow is told so."""
    _, kept = kept_form(CATALOG, Read(what="run", deadline=1), ReadValue(value=NOTHING))
    assert isinstance(kept, ReadFailed)
    assert kept.code == "unreadable"
