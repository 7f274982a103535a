"""How the answers of each model profile are held to their schema: as it declares, or in the next way that its endpoint does do (LLM-01).

A native schema, a tool that must be called, words alone: what an endpoint refuses (it takes the same request in a lower way), or ignores (it
answers in words where it was to be held to a schema), it is not asked for again. It is knowledge about the world: every attempt records how it
was held, so no replay looks here.
"""

from __future__ import annotations

import logging
from collections.abc import Container, Mapping

from ordain.contracts.policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile, Structured
from ordain.journal.digests import content_digest
from ordain.ports.model import Leave, ModelError, ModelReply
from ordain.ports.ways import Learnt, LearntWays, WaysStore
from ordain.rules.proposals import Unparsed, parse_object

LOG = logging.getLogger("ordain.models")
PROSE = "words where an answer of its schema was asked for"


def endpoint_digest(profile: ModelProfile) -> str:
    """What a profile says of whom it asks and how; another endpoint is learnt anew."""
    said = (profile.provider, profile.model, profile.base_url or "", profile.api, profile.gguf or "", profile.held_by)
    return content_digest("\n".join(said).encode())


def learnt_of(profile: ModelProfile, learnt: LearntWays | None) -> Mapping[Structured, Learnt]:
    """What the profile's endpoint is known not to do; nothing where that was learnt of another one."""
    return {} if learnt is None or learnt.endpoint != endpoint_digest(profile) else learnt.ways


def way_of(profile: ModelProfile, without: Container[Structured]) -> Structured:
    """The way below the lowest of those that the endpoint does not do; words alone always are left.

    What stands above that one is not gone back to: an adapter takes the next lower way for a schema that a higher one does not bear.
    """
    below = [number for number, way in enumerate(profile.ways, 1) if way in without]
    return profile.ways[min(max(below, default=0), len(profile.ways) - 1)]


class Ways:
    """What this process knows of its profiles' endpoints; what is new is kept at once."""

    def __init__(self, store: WaysStore | None = None) -> None:
        """``store`` is read once; without one all is forgotten with the process."""
        self._store = store
        self._learnt = dict(store.read()) if store is not None else {}
        self._suspected: dict[str, set[Structured]] = {}
        self._suspected_left: dict[str, set[Leave]] = {}

    def way(self, name: str, profile: ModelProfile) -> Structured:
        """How the profile's next answer is held to its schema."""
        return way_of(profile, self._suspected.get(name, set()) | self.learnt(name, profile).keys())

    def left(self, name: str, profile: ModelProfile) -> frozenset[Leave]:
        """What the profile's next request does without."""
        return self._learnt_left(name, profile).union(self._suspected_left.get(name, ()))

    def _learnt_left(self, name: str, profile: ModelProfile) -> frozenset[Leave]:
        learnt = self._learnt.get(name)
        return learnt.left if learnt is not None and learnt.endpoint == endpoint_digest(profile) else frozenset()

    def _without(self, name: str, profile: ModelProfile, said: ModelReply | ModelError, now: int) -> None:
        """A request that did without something was taken, or refused for what nothing can be left out for: then it was something else, and nothing is learnt."""
        known = self._learnt_left(name, profile)
        if isinstance(said, ModelError):
            if said.code is ModelErrorCode.REJECTED:
                self._suspected_left.pop(name, None)
            return
        self._suspected_left.pop(name, None)
        if said.left <= known:
            return
        ways = self.learnt(name, profile)
        self._learnt[name] = LearntWays(endpoint=endpoint_digest(profile), at=now, ways=ways, left=known | said.left)
        LOG.warning("model profile %s: its endpoint does not take %s; requests do without now", name, ", ".join(sorted(said.left - known)))
        self._keep(name)

    def learnt(self, name: str, profile: ModelProfile) -> Mapping[Structured, Learnt]:
        """What the profile's endpoint is known not to do."""
        return learnt_of(profile, self._learnt.get(name))

    def heard(self, name: str, profile: ModelProfile, said: ModelReply | ModelError, now: int) -> tuple[ModelReply | ModelError, bool]:
        """What an attempt counts as, and whether the next one asks for the answer in a lower way.

        A refusal is one of the way only if a lower one is taken: until then it is suspected, and where even words alone are refused it was something
        else.
        """
        if isinstance(said, ModelError) and said.code is ModelErrorCode.REJECTED and said.fault is not None:
            self._suspected_left.setdefault(name, set()).update({*said.left, said.fault})
            return said, True
        self._without(name, profile, said, now)
        held = said.held
        if held is None or held not in profile.ways:
            return said, False
        left = profile.ways[profile.ways.index(held) + 1 :]
        if isinstance(said, ModelError) and said.code is ModelErrorCode.REJECTED:
            return said, self._refused(name, held, left)
        if isinstance(said, ModelError) and not said.ignored:
            return said, False
        self._taken(name, profile, held, now)
        if isinstance(said, ModelReply) and held is Structured.NATIVE and _is_prose(said.text):
            prose = ModelError(code=ModelErrorCode.MALFORMED, message=PROSE, held=held, ignored=True)
            said = prose if left else said
        if isinstance(said, ModelError) and left:
            self._learn(name, profile, {held: Learnt.IGNORED}, now)
        return said, isinstance(said, ModelError) and bool(left)

    def _refused(self, name: str, held: Structured, left: tuple[Structured, ...]) -> bool:
        if not left:
            self._suspected.pop(name, None)
            return False
        self._suspected.setdefault(name, set()).add(held)
        return True

    def _taken(self, name: str, profile: ModelProfile, held: Structured, now: int) -> None:
        """A request was taken in a way: those above it that were refused are known now, itself and what is below are not suspect any more."""
        suspected = self._suspected.pop(name, set())
        above = [way for way in profile.ways[: profile.ways.index(held)] if way in suspected]
        if above:
            self._learn(name, profile, dict.fromkeys(above, Learnt.REFUSED), now)

    def _learn(self, name: str, profile: ModelProfile, found: Mapping[Structured, Learnt], now: int) -> None:
        known = self.learnt(name, profile)
        if found.keys() <= known.keys():
            return
        left = self._learnt_left(name, profile)
        self._learnt[name] = LearntWays(endpoint=endpoint_digest(profile), at=now, ways={**known, **found}, left=left)
        told = ", ".join(f"{way} {why}" for way, why in found.items())
        LOG.warning("model profile %s: %s; its answers are held to their schema by %s now", name, told, self.way(name, profile))
        self._keep(name)

    def _keep(self, name: str) -> None:
        if self._store is None:
            return
        try:
            self._store.write(self._learnt)
        except OSError as error:
            LOG.warning("what was learnt of model profile %s is not kept: %s", name, error.strerror or type(error).__name__)


def _is_prose(text: str) -> bool:
    """Whether no object can be read from a text that does not even begin as one: what an enforced schema never lets through."""
    return isinstance(parse_object(text), Unparsed) and not text.lstrip().startswith(("{", "["))
