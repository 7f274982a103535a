"""Whether a call that is about to go out may have happened already: looked up in the journals of
its run, of those of the same root, and of the conversation, where such calls stand whose end nobody
knows.

By what a call amounts to and not by its digest, since a model spells the same call in many ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast
from unicodedata import normalize

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.contracts.verbs import VerbSpec, properties_of
from ordain.effects.calls import Call
from ordain.journal.digests import call_digest, content_digest
from ordain.ports.store import JournalStore, StoredRun
from ordain.runtime.asking_run import asked_before_anywhere

IN_DOUBT = "this very call went out before, and nobody knows if it happened"
NOWHERE = -1
"""The number of no effect: all that a run's records hold comes before it."""


def likeness(call: Call, catalog: Catalog) -> str:
    """A digest of what a call amounts to, equal for the same said otherwise: a whole number with or
    without a fraction, a text in another normal form, what is the default or null said or left out,
    a verb that makes the same request under another name.
    """
    verb = catalog.verbs.get(call.verb)
    if verb is None:
        return call_digest(call)
    said = (_request(verb.spec), _plain(call.args, verb.spec.input_schema))
    return content_digest(msgspec.json.encode(said, order="deterministic"))


async def in_doubt(store: JournalStore, run: StoredRun, call: Call, catalog: Catalog) -> bool:
    """Whether a run's call may have happened already, by whoever of its root or conversation made
    it; ``run`` with its records so far.
    """
    before = await asked_before_anywhere(store, run, NOWHERE, ())
    alike = likeness(call, catalog)
    return any(likeness(one, catalog) == alike for one in (*before.unknown, *before.elsewhere))


def _request(spec: VerbSpec) -> str:
    http = spec.http
    if http is None:
        return spec.name
    return repr((http.method, http.url, http.query, http.headers, http.encoding))


def _plain(value: object, declared: Mapping[str, Any]) -> object:
    """A value without what says nothing, or no more than its schema does."""
    match value:
        case str():
            return normalize("NFC", value)
        case float() if value.is_integer():
            return int(value)
        case list():
            items = _schema(declared.get("items"))
            return [_plain(one, items) for one in cast("list[object]", value)]
        case dict():
            return dict(_members(cast("dict[str, object]", value), properties_of(declared)))
        case _:
            return value


def _members(given: dict[str, object], declared: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in given.items():
        schema = _schema(declared.get(name))
        plain, default = _plain(value, schema), schema.get("default")
        if plain is not None and (default is None or not _same(plain, _plain(default, schema))):
            yield normalize("NFC", name), plain


def _schema(found: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _same(plain: object, default: object) -> bool:
    """By their JSON, for which true is no 1."""
    return msgspec.json.encode(plain, order="deterministic") == msgspec.json.encode(
        default, order="deterministic"
    )
