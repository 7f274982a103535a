"""A JSON Schema in words, for a model whose endpoint enforces none.

Records hold the digest of the prompt that it makes: another wording would be another way to hold an
answer, with a name of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ordain.prompts.prompt import Prompt

_PREAMBLE = "\n\nAnswer with one JSON value and nothing else, valid for this JSON Schema:\n"
_ENCODER = msgspec.json.Encoder(order="sorted")


def constrained(prompt: Prompt, schema: Mapping[str, Any]) -> Prompt:
    """The prompt with its answer's schema at the end of the system part."""
    return Prompt(
        system=prompt.system + _PREAMBLE + _ENCODER.encode(schema).decode(), user=prompt.user
    )
