"""What the folds look at in the bodies of records: only these fields are decoded, whatever else a
record holds.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.effects.children import NULL
from ordain.effects.effect import Children, ModelCall, Read, VerbCall
from ordain.effects.results import BY_CODE, Beside
from ordain.rules.header import HeaderFacts
from ordain.rules.spend import Spend

LOST = "lost"
"""The code of an attempt of which the process that made it never told."""


class RunSeen(Struct):
    """What a run read of another one: of it the header shows where that stood and what it had
    done.
    """

    run: str
    status: str
    header: HeaderFacts


class RepeatSeen(Struct):
    """What the repeat of a call in doubt failed with."""

    code: str


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
    why: str = ""
    withdrawn: bool = False
    calls: bool = False
    output: Any = None
    value: msgspec.Raw = NULL
    header: HeaderFacts | None = None
    spent: Spend = Spend()
    runs: int = 0
    profile: str = ""
    beside: Beside | None = None
    repeat: RepeatSeen | None = None

    @property
    def by_code(self) -> bool:
        """Whether rules of code answered in a model's place."""
        return self.provider == BY_CODE


class WaitSeen(Struct):
    """What a run waited for."""

    about: str = ""


class Resolved(Struct):
    """What a note says of an effect whose outcome nobody knew. ``verb``: what the effect called;
    builds of before did not name it.
    """

    addr: int | None = None
    happened: bool | None = None
    verb: str | None = None
    corrects: bool = False

    @property
    def words(self) -> str:
        """What it says, after who says so; "" where a build of before wrote it."""
        if self.verb is None:
            return ""
        what = f"{self.verb} (effect {self.addr})" if self.verb else f"effect {self.addr}"
        became = "happened" if self.happened else "did not happen"
        return (
            f": {what} "
            f"{became}{', and what was said of it before is wrong' if self.corrects else ''}"
        )


RESOLVED = msgspec.json.Decoder(Resolved | None)
SEEN = msgspec.json.Decoder(Seen)
RUN_SEEN = msgspec.json.Decoder(RunSeen | None)
MODEL = msgspec.json.Decoder(ModelCall)
VERB = msgspec.json.Decoder(VerbCall)
READ = msgspec.json.Decoder(Read)
WAITED = msgspec.json.Decoder(WaitSeen)
CHILDREN = msgspec.json.Decoder(Children)
