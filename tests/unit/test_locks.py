"""What is pinned stays installable as the years go on: pip takes each pinned version, whatever is
published after it.
"""

import re
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PINNED = re.compile(r"^([\w.-]+)(?:\[([\w., -]+)\])?==", re.MULTILINE)


def pinned(lock: str) -> dict[str, set[str]]:
    """The extras that a lock names, by package."""
    found: dict[str, set[str]] = {}
    for name, extras in PINNED.findall((ROOT / "locks" / lock).read_text(encoding="utf-8")):
        found.setdefault(canonicalize_name(name), set()).update(
            canonicalize_name(extra) for extra in extras.split(",") if extra.strip()
        )
    return found


def wanted(extras: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Package and extra, wherever an installed package asks for one; for extras of its own, as far
    as the lock names them.
    """
    found: set[tuple[str, str]] = set()
    for distribution in distributions():
        owner = canonicalize_name(distribution.metadata["Name"])
        environments = [{"extra": extra} for extra in ("", *extras.get(owner, ()))]
        for requirement in map(Requirement, distribution.requires or ()):
            if requirement.extras and (
                requirement.marker is None
                or any(requirement.marker.evaluate(each) for each in environments)
            ):
                found |= {
                    (canonicalize_name(requirement.name), canonicalize_name(extra))
                    for extra in requirement.extras
                }
    return found


def test_a_lock_names_the_extras_that_are_asked_for() -> None:
    """Without the extra beside the pin an older pip looks at the newest version for it, and refuses
    that one for want of a hash.
    """
    extras = pinned("dev.txt")
    asked = wanted(extras)
    assert asked, "no package asks for an extra: this test sees nothing"
    assert {
        (name, extra) for name, extra in asked if name in extras and extra not in extras[name]
    } == set()
