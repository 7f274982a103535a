"""What the flows' unit tests play in: the shipped catalog with a scripted model behind every lane,
and a transcript in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ordain.app import with_profile
from ordain.catalogs import build_catalog, build_registry
from ordain.contracts.catalog import Catalog
from ordain.contracts.profiles import ModelProfile
from ordain.effects.effect import SharedState
from ordain.flows.kind import Kind
from ordain.flows.shipped import shipped_kinds
from ordain.flows.transcript import TranscriptReader
from ordain.ports.sessions import Entry, EntryKind, Uncovered
from ordain.settings import load_settings
from ordain.testing import AS_ROOT, Played, ScriptedEffects, Standing, read, with_policy
from ordain.testing.script import ReadSeen, ScriptItem

I = TypeVar("I")  # noqa: E741 - input, as in ordain.flows.kind
O = TypeVar("O")  # noqa: E741 - output
KINDS = shipped_kinds()
CHAIN = "ab" * 16
PROBE = "Say it.\n=====\n{{ word }}\n"
"""A template ``probe_step`` for prompts that tests make up."""


@cache
def shipped() -> Catalog:
    """The shipped verbs, prompts and policy."""
    settings = with_profile(
        load_settings(environment={}, home=Path("/nowhere")),
        ModelProfile(provider="scripted", model="scripted"),
    )
    return build_catalog(settings, build_registry(settings), KINDS)


def lanes(**profiles: Sequence[str]) -> Catalog:
    """The shipped catalog with these profiles behind each lane that is named."""
    catalog = shipped()
    names = {name for behind in profiles.values() for name in behind} | {"default"}
    changed = catalog.changed(
        profiles={name: ModelProfile(provider="scripted", model=name) for name in names},
        prompts={**catalog.data.prompts, "probe_step": PROBE},
    )
    known = {str(lane): list(behind) for lane, behind in catalog.policy.lanes.profiles.items()}
    return with_policy(
        changed,
        {
            "lanes": {
                "profiles": {**known, **{name: list(behind) for name, behind in profiles.items()}}
            }
        },
    )


def play(
    kind: Kind[I, O],
    given: I,
    *script: ScriptItem,
    policy: Mapping[str, Mapping[str, Any]] | None = None,
    standing: Standing = AS_ROOT,
    catalog: Catalog | None = None,
) -> Played[O]:
    """A run of the kind by this script; its journal replays equal."""
    played = ScriptedEffects(
        kind, catalog or shipped(), policy=policy, standing=standing, kinds=shipped_kinds((kind,))
    ).play(given, script)
    replayed = played.replayed()
    assert replayed.equal, replayed
    return played


def history(
    *entries: tuple[int, int], older: int = 0, summary: tuple[int, int] | None = None
) -> ReadSeen:
    """What a read of a session's history sees: (number, bytes) of its uncovered entries."""
    head = max([seq for seq, _ in entries] + [1])
    found = Uncovered(entries=entries, older=older, summary=summary, head=head, chain=CHAIN)
    return read(msgspec.to_builtins(found), SharedState.HISTORY)


def transcript(**texts: str) -> TranscriptReader:
    """A session whose entries say this: ``e1="hello"``; odd ones by the user, even ones by the
    assistant, ``s3`` a summary.
    """

    def entry(seq: int, text: str) -> Entry:
        kind = EntryKind.MESSAGE if seq % 2 else EntryKind.REPLY
        return Entry(
            seq=seq,
            kind=kind,
            at=0,
            thread=1,
            run="",
            channel="web",
            message_id="",
            attached="",
            reason="",
            anchor="",
            size=len(text),
            through=0,
            timestamp_ms=0,
            digest=b"",
            chain=bytes.fromhex(CHAIN),
            body=msgspec.json.encode({"text": text}),
            decision=None,
        )

    known = {int(name[1:]): text for name, text in texts.items()}
    return lambda _, first, last: [
        entry(seq, known[seq]) for seq in range(first, last + 1) if seq in known
    ]
