"""What the folds look at in the bodies of records: only these fields are decoded, whatever else a record holds."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.journal.records import NULL
from ordain.rules.budget import Spend
from ordain.rules.header import HeaderFacts

LOST = "lost"
"""The code of an attempt of which the process that made it never told."""


class ModelIntent(Struct):
    """Whom a model call asks, and whom it may ask beside; "": nobody."""

    profile: str
    hedge: str = ""


class Call(Struct):
    """A verb with its arguments."""

    verb: str
    args: dict[str, Any]


class Authorized(Struct):
    """What was authorised."""

    call: Call


class VerbIntent(Struct):
    """A verb call."""

    authorized: Authorized


class Given(Struct):
    """Whether a child speaks for its turn."""

    narrate: bool = False


class Spawn(Struct):
    """A child run."""

    input: msgspec.Raw
    authorized: Authorized | None = None


class ReadIntent(Struct):
    """What is read."""

    what: str


class RunSeen(Struct):
    """What a run read of another one: of it the header shows where that stood and what it had done."""

    run: str
    status: str
    header: HeaderFacts


class ChildrenIntent(Struct):
    """A join."""

    spawns: tuple[Spawn, ...]


class Beside(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The other attempt of a hedged call: whom it asked, and why it does not count (a model error code, or ``abandoned``).

    ``live``, ``charged`` and ``retry_after_ms`` are as in a failed attempt's result. This is the record's own shape: ``ports.effects`` takes it from here.
    """

    profile: str
    provider: str
    model: str
    code: str
    message: str = ""
    live: bool = True
    charged: bool | None = None
    retry_after_ms: int | None = None


class Seen(Struct):
    """The fields of any result or child end that a header looks at."""

    result: str = ""
    ended: str = ""
    provider: str = ""
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    notice: str | None = None
    code: str = ""
    message: str = ""
    reason: str = ""
    output: Any = None
    value: msgspec.Raw = NULL
    header: HeaderFacts | None = None
    spent: Spend = Spend()
    profile: str = ""
    beside: Beside | None = None


class Asked(Struct):
    """What a message asks for, in the facts of the rules that judge it."""

    mode: str = ""
    attachments: int = 0
    workflow: str = ""
    delegates: int = 0


class Facts(Struct):
    """What a settlement says was used."""

    tokens: int = 0
    usd_micros: int = 0
    calls: int = 1


class Outcome(Struct):
    """The fields of any outcome that a header looks at."""

    tool_id: str = ""
    lane: str = ""
    clamped: tuple[str, ...] = ()
    outcome: str = ""
    path: str = ""
    budget_class: str = ""
    whole: int = 0
    left_out: int = 0
    cut: int = 0
    summary: bool = False


class Output(Struct):
    """The output of a verb that is a flow."""

    output: Any = msgspec.UNSET


SEEN = msgspec.json.Decoder(Seen)
OUTCOME = msgspec.json.Decoder(Outcome)
FACTS = msgspec.json.Decoder(Facts)
MODEL = msgspec.json.Decoder(ModelIntent)
VERB = msgspec.json.Decoder(VerbIntent)
READ = msgspec.json.Decoder(ReadIntent)
RUN_SEEN = msgspec.json.Decoder(RunSeen | None)
ASKED = msgspec.json.Decoder(Asked)
CHILDREN = msgspec.json.Decoder(ChildrenIntent)
