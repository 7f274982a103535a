"""A whole answer as a reply: every wire names its parts otherwise, and all of them say who answered
and what was counted. Pure and total.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import Struct

from ordain.contracts.model_policy import ModelErrorCode
from ordain.models.endings import End
from ordain.ports.model import CUT, ENDED_UNKNOWN, ModelError, ModelReply

TRUNCATED = ModelError(code=ModelErrorCode.TRUNCATED, message=CUT)
MODEL_CHARS = 200
"""Longest name of a model that is kept."""


class Counts(Struct, frozen=True, kw_only=True):
    """A provider's token counts as they came: anything, or None where it gave none."""

    given: object = None
    said: object = None
    cached: object = None
    written: object = None


def counts_of(usage: object) -> Counts:
    """The counts of an object that tells of use, in the words of either wire; none where there are
    none. What is put together already stays.
    """
    if isinstance(usage, Counts):
        return usage
    told = _object(usage)
    details = _object(told.get("prompt_tokens_details", told.get("input_tokens_details")))
    return Counts(
        given=told.get("prompt_tokens", told.get("input_tokens")),
        said=told.get("completion_tokens", told.get("output_tokens")),
        cached=details.get("cached_tokens"),
    )


def counts_within(body: object) -> Counts:
    """What a body that tells a fault tells of use: beside the fault, or within it."""
    tree = _object(body)
    return counts_of(tree.get("usage") or _object(tree.get("error")).get("usage"))


def later(before: Counts, now: Counts) -> Counts:
    """What counts after a stream has told of its use again: it adds up as it goes, so a count of
    nothing takes none back.
    """
    told = {name: (getattr(before, name), getattr(now, name)) for name in Counts.__struct_fields__}
    return Counts(
        **{
            name: new if count(new) or count(old) is None else old
            for name, (old, new) in told.items()
        }
    )


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def replied(text: str, model: object, asked: str, counts: Counts) -> ModelReply:
    """The reply; ``model`` is the name that the answer gives, ``asked`` the one that stands where
    it gives none or one that no wire can carry.

    Nothing counted is as good as no count: an answer has tokens.
    """
    named = model if isinstance(model, str) and model and is_text(model) else asked
    return ModelReply(
        text=text,
        model=named[:MODEL_CHARS],
        input_tokens=count(counts.given) or None,
        output_tokens=count(counts.said) or None,
        cached_tokens=count(counts.cached) or 0,
        written_tokens=count(counts.written) or 0,
    )


def counted(error: ModelError, counts: Counts, *, spoke: bool) -> ModelError:
    """The error with what was told of its use: none that counts was given, and it costs what it
    costs.

    Of an answer that came to nothing none is a count; of one that said something (``spoke``) it can
    be none.
    """
    said = count(counts.said)
    return msgspec.structs.replace(
        error,
        input_tokens=count(counts.given) or None,
        output_tokens=said or None if spoke else said,
        cached_tokens=count(counts.cached) or 0,
        written_tokens=count(counts.written) or 0,
    )


def ended(reply: ModelReply, end: End) -> ModelReply:
    """A reply in plain text, or one that is whole, with what its end tells of it."""
    notice = CUT if end is End.CUT else ENDED_UNKNOWN if end is End.UNKNOWN else None
    return msgspec.structs.replace(reply, notice=notice) if notice else reply


def count(value: object) -> int | None:
    """A token count, or None where it is none."""
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
        else None
    )


def is_text(text: str) -> bool:
    """Whether a wire and the journal can carry it: no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
