"""How the answers of each model profile are held to their schema: as it declares, or in the next
way that its endpoint does do (LLM-01).

A native schema, a tool that must be called, words alone: what an endpoint refuses (it takes the
same request in a lower way), or ignores (its answer is none that an enforced schema lets through),
it is not asked for again. It is knowledge about the world: every attempt records how it was held,
so no replay looks here.
"""

from __future__ import annotations

import logging
from collections.abc import Container, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import structs

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile, Structured
from ordain.journal.digests import content_digest
from ordain.ports.model import Leave, ModelError, ModelReply, ModelRequest
from ordain.ports.ways import Learnt, LearntWays, WaysStore
from ordain.rules.enforcement import passed_over
from ordain.rules.meant import means_call
from ordain.runtime.breakers import endpoint_of

LOG = logging.getLogger("ordain.models")


WITHIN = frozenset({"scripted", "offline"})
"""Providers that no network lies before: nothing keeps them from answering."""


class Manner(NamedTuple):
    """How a profile's next answer is held to its schema, what the request does without, and whether
    plain text is known to begin with words.
    """

    held: Structured | None = None
    left: frozenset[Leave] = frozenset()
    words_first: bool = False


class _LastAsked(NamedTuple):
    """A profile as it was asked last, what was known then, and how it is asked by that where
    nothing is suspected.
    """

    profile: ModelProfile
    known: LearntWays
    manner: Manner


def endpoint_digest(profile: ModelProfile) -> str:
    """What a profile says of whom it asks and how; another endpoint is learnt anew."""
    return _digest(
        profile.provider,
        profile.model,
        profile.base_url or "",
        profile.api,
        profile.gguf or "",
        profile.held_by,
    )


@lru_cache(1024)
def _digest(*said: str) -> str:
    return content_digest("\n".join(said).encode())


def _answers(profile: ModelProfile) -> str:
    """Under which key it stands that an endpoint has answered: all profiles there share it, and no
    profile is named so.
    """
    return f"answers:{_digest(endpoint_of(profile))}"


def way_of(profile: ModelProfile, without: Container[Structured]) -> Structured:
    """The way below the lowest of those that the endpoint does not do; words alone always are left.

    What stands above that one is not gone back to: an adapter takes the next lower way for a schema
    that a higher one does not bear.
    """
    below = [number for number, way in enumerate(profile.ways, 1) if way in without]
    return profile.ways[min(max(below, default=0), len(profile.ways) - 1)]


class Ways:
    """What this process knows of its profiles' endpoints; what is new is kept at once."""

    def __init__(self, store: WaysStore | None = None) -> None:
        """``store`` is read once; without one all is forgotten with the process."""
        self._store = store
        self._learnt = dict(store.read()) if store is not None else {}
        self._suspected: dict[str, dict[Structured, frozenset[Leave]]] = {}
        """Ways that were refused, each with what the refused request did without."""
        self._suspected_left: dict[str, set[Leave]] = {}
        self._miscalled: dict[str, Structured] = {}
        """The way in which a profile's last answer called tools, and not as it was told to."""
        self._asked: dict[str, _LastAsked] = {}
        """By name: every call asks several times."""

    def way(self, name: str, profile: ModelProfile) -> Structured:
        """How the profile's next answer is held to its schema."""
        suspected, known = self._suspected.get(name, {}), self._of(name, profile).ways
        return (
            way_of(profile, suspected.keys() | known.keys())
            if suspected or known
            else profile.ways[0]
        )

    def left(self, name: str, profile: ModelProfile) -> frozenset[Leave]:
        """What the profile's next request does without."""
        return self._of(name, profile).left.union(self._suspected_left.get(name, ()))

    def manner(self, name: str, profile: ModelProfile) -> Manner:
        """All three: how the profile is asked next."""
        asked = self._asked_of(name, profile)
        if name in self._suspected or name in self._suspected_left:
            return asked.manner._replace(
                held=self.way(name, profile), left=self.left(name, profile)
            )
        return asked.manner

    def has_answered(self, name: str, profile: ModelProfile) -> bool:
        """Whether the profile's endpoint has said anything yet, to this process or one before: to
        whatever profile, or the ways of this one would not be known.
        """
        known, at = self._of(name, profile), self._learnt.get(_answers(profile))
        learnt = known.ways or known.left or known.words_first is not None
        return bool(learnt) or (at is not None and at.answered)

    def answered(self, name: str, profile: ModelProfile, now: int) -> None:
        """It has: an outage from here on is one, and no address that is wrong."""
        if profile.provider not in WITHIN and (at := _answers(profile)) not in self._learnt:
            self._learnt[at] = LearntWays(endpoint="", at=now, ways={}, answered=True)
            self._keep(name)

    def _of(self, name: str, profile: ModelProfile) -> LearntWays:
        return self._asked_of(name, profile).known

    def _asked_of(self, name: str, profile: ModelProfile) -> _LastAsked:
        asked = self._asked.get(name)
        if asked is None or asked.profile is not profile:
            learnt, endpoint = self._learnt.get(name), endpoint_digest(profile)
            known = (
                learnt
                if learnt is not None and learnt.endpoint == endpoint
                else LearntWays(endpoint=endpoint, at=0, ways={})
            )
            manner = Manner(
                held=way_of(profile, known.ways),
                left=known.left,
                words_first=known.words_first is True,
            )
            asked = self._asked[name] = _LastAsked(profile, known, manner)
        return asked

    def _now(self, name: str, profile: ModelProfile, now: int, **more: Any) -> None:
        self._learnt[name] = structs.replace(self._of(name, profile), at=now, **more)
        self._asked.pop(name, None)

    def _begun(self, name: str, profile: ModelProfile, words_first: bool | None, now: int) -> None:
        """How plain text of the endpoint begins; one that began within a thought settles it."""
        if words_first is None:
            return
        known = self._of(name, profile).words_first
        if known is not False and words_first is not known:
            self._now(name, profile, now, words_first=words_first)
            self._keep(name)

    def _without(self, name: str, profile: ModelProfile, said: ModelReply, now: int) -> None:
        """A request that did without something was taken: so its endpoint is asked from here on."""
        known = self._of(name, profile).left
        self._suspected_left.pop(name, None)
        if said.left <= known:
            return
        self._now(name, profile, now, left=known | said.left)
        LOG.warning(
            "model profile %s: its endpoint does not take %s; requests do without now",
            name,
            ", ".join(sorted(said.left - known)),
        )
        self._keep(name)

    def learnt(self, name: str, profile: ModelProfile) -> Mapping[Structured, Learnt]:
        """What the profile's endpoint is known not to do."""
        return self._of(name, profile).ways

    def heard(
        self,
        name: str,
        profile: ModelProfile,
        said: ModelReply | ModelError,
        now: int,
        request: ModelRequest | None = None,
    ) -> tuple[ModelReply | ModelError, bool]:
        """What an attempt counts as, and whether the next one asks for the answer in a lower way.
        ``request`` has the schema, and the tools in its prompt.

        A refusal is one of the way only if a lower one is taken: until then it is suspected, and
        where even words alone are refused it was something else. What a refusal names is left out;
        where it names nothing, and no lower way is left, what may be meant, step by step.
        """
        held = said.held
        ways = () if held is None else profile.ways
        lower = ways[ways.index(held) + 1 :] if held in ways else ()
        if isinstance(said, ModelError) and said.code is ModelErrorCode.REJECTED:
            return said, self._refused(name, said, lower=bool(lower))
        if isinstance(said, ModelReply):
            self._without(name, profile, said, now)
            self._begun(name, profile, said.words_first, now)
        if held is None or held not in ways or not self._tells(name, profile, said):
            return said, False
        self._taken(name, profile, said, now)
        if isinstance(said, ModelReply) and held is Structured.NATIVE and lower:
            said = _unless_passed_over(said, request)
        if isinstance(said, ModelError) and lower:
            self._learn(name, profile, {held: Learnt.IGNORED}, now)
        return said, isinstance(said, ModelError) and bool(lower)

    def _tells(self, name: str, profile: ModelProfile, said: ModelReply | ModelError) -> bool:
        """Whether an answer shows what its endpoint does of the way that it was told.

        A tool that is called wrongly may be a slip of the model: it shows so the second time
        without a right call between, and at once where the endpoint is known to ignore another way.
        """
        if isinstance(said, ModelError) and not said.miscalled:
            return said.ignored
        before = self._miscalled.pop(name, None)
        if isinstance(said, ModelReply) or (before is not None and before is said.held):
            return True
        if Learnt.IGNORED in self.learnt(name, profile).values():
            return True
        if said.held is not None:
            self._miscalled[name] = said.held
        return False

    def _refused(self, name: str, said: ModelError, *, lower: bool) -> bool:
        """What is suspected of a refusal: what it names, the way, what it may mean; at the end of
        all that it was something else, and nothing is learnt.
        """
        if said.fault is not None or (not lower and said.doubted):
            more = said.doubted if said.fault is None else {said.fault}
            self._suspected_left.setdefault(name, set()).update(said.left | more)
        elif lower and said.held is not None:
            self._suspected.setdefault(name, {})[said.held] = said.left
        else:
            self._suspected_left.pop(name, None)
            self._suspected.pop(name, None)
            return False
        return True

    def _taken(
        self, name: str, profile: ModelProfile, said: ModelReply | ModelError, now: int
    ) -> None:
        """A request was taken in a way: those above it that the same request was refused in are
        known now, itself and all others are not suspect any more.
        """
        suspected = self._suspected.pop(name, {})
        held = profile.ways.index(said.held) if said.held in profile.ways else 0
        above = [way for way in profile.ways[:held] if suspected.get(way) == said.left]
        if above:
            self._learn(name, profile, dict.fromkeys(above, Learnt.REFUSED), now)

    def _learn(
        self, name: str, profile: ModelProfile, found: Mapping[Structured, Learnt], now: int
    ) -> None:
        known = self.learnt(name, profile)
        if found.keys() <= known.keys():
            return
        self._now(name, profile, now, ways={**known, **found})
        told = ", ".join(f"{way} {why}" for way, why in found.items())
        LOG.warning(
            "model profile %s: %s; its answers are held to their schema by %s now",
            name,
            told,
            self.way(name, profile),
        )
        self._keep(name)

    def _keep(self, name: str) -> None:
        if self._store is None:
            return
        try:
            # what another process has learnt meanwhile of others is kept
            self._learnt = {**self._store.read(), **self._learnt}
            self._store.write(self._learnt)
        except OSError as error:
            LOG.warning(
                "what was learnt of model profile %s is not kept: %s",
                name,
                error.strerror or type(error).__name__,
            )


def _unless_passed_over(said: ModelReply, request: ModelRequest | None) -> ModelReply | ModelError:
    """The answer, or where its endpoint has passed over the schema the failed attempt that it is,
    with what it told of its use.
    """
    found = passed_over(said.text, None if request is None else request.schema)
    if found is None:
        return said
    return ModelError(
        code=ModelErrorCode.MALFORMED,
        message=found.why,
        held=said.held,
        ignored=True,
        calls=means_call(found.said, found.text, () if request is None else request.offered),
        input_tokens=said.input_tokens,
        output_tokens=said.output_tokens,
        cached_tokens=said.cached_tokens,
        written_tokens=said.written_tokens,
    )
