"""The corpus of malformed proposals: every class with its variants, the same on every machine."""

from __future__ import annotations

from functools import cache
from random import Random

from tests.integration.proposals import meaning_classes, syntax_classes
from tests.integration.proposals.materials import MalformedClass

VARIANTS = 60
CLASSES: tuple[MalformedClass, ...] = (*syntax_classes.CLASSES, *meaning_classes.CLASSES)


def normalised(text: str) -> str:
    """What is left of a text when spacing and case do not count."""
    return "".join(text.split()).casefold()


@cache
def variants(malformed: MalformedClass) -> tuple[str, ...]:
    """At least ``VARIANTS`` texts of a class, as many from each generator, no two alike when
    normalised.
    """
    each = -(-VARIANTS // len(malformed.generators))
    found: dict[str, str] = {}
    for place, generator in enumerate(malformed.generators):
        for number in range(each):
            for attempt in range(50):
                text = generator(Random(f"{malformed.name}/{place}/{number}/{attempt}"))
                if normalised(text) not in found:
                    found[normalised(text)] = text
                    break
            else:
                raise AssertionError(f"{malformed.name}: generator {place} repeats itself")
    return tuple(found.values())
