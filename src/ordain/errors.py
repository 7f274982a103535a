"""Every error Ordain raises, split first by whose fault it is and by what to do next.

::

    OrdainError                  code, message, details
    ├── CallerError              the caller's mistake: change the request (HTTP 4xx)
    │   ├── InvalidRequest       not of the contract's shape (400, 408, 413, 415, 422)
    │   ├── Unauthenticated      no token, or one that is not good (any more) (401)
    │   ├── NotFound             no such run, verb, record (404)
    │   ├── Conflict             the state does not permit it (409)
    │   └── ConfigurationError   settings, policy, verb files: fix and start again
    ├── Refused                  policy or capacity says no: wait or ask for less (403, 429)
    ├── NoAnswer                 no model answered: see to the model, as it says (502)
    ├── Transient                try again later, nothing was lost (503)
    │   ├── StorageUnavailable   full, read-only or locked storage
    │   └── LeaseLost            somebody else may have these runs now
    │       ├── RunLost          one run: it has moved on without this engine
    │       └── EngineLost       this engine: its lease has lapsed, or another took the store
    ├── JournalError             do not go on: the record and the world disagree
    │   ├── JournalCorrupt       a stored record is not what was written
    │   ├── JournalDiverged      the flow no longer does what its record says
    │   ├── Erased               the content was erased, so it cannot be replayed
    │   └── FlowUnavailable      this build lacks the flow version a run pins
    └── FlowFault                a bug in a flow: the run is kept and can be resumed

Control signals are not errors and derive from ``BaseException``: see ``ports.effects``.
Over HTTP a refusal is RFC 9457 problem+json with ``code`` (B-45).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


class OrdainError(Exception):
    """Base of all errors: a stable ``code``, a sentence, and typed details that hold no secrets."""

    code: str = "internal"
    status: int = 500

    def __init__(
        self, message: str, *, code: str | None = None, details: Mapping[str, object] | None = None
    ) -> None:
        """Keep the sentence for people and the code for programs."""
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.details: Mapping[str, object] = MappingProxyType(dict(details or {}))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, as by a process that tells another, it says all that it says here."""
        return _told_by_another, (type(self), {**vars(self), "details": dict(self.details)})


def _told_by_another(kind: type[OrdainError], says: dict[str, Any]) -> OrdainError:
    error = kind.__new__(kind, says["message"])
    vars(error).update(says, details=MappingProxyType(says["details"]))
    return error


class CallerError(OrdainError):
    """The caller's mistake; the same request will fail again."""

    code = "bad_request"
    status = 400


class InvalidRequest(CallerError):
    """The request is not of its contract's shape."""

    code = "invalid_request"
    status = 422

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        """Allow the HTTP status to say more precisely what was wrong (400, 408, 413, 415, 422)."""
        super().__init__(message, code=code, details=details)
        if status is not None:
            self.status = status


def unknown_page(what: str, before: str) -> InvalidRequest:
    """That a list cannot go on after a ``what``: an empty page would say that nothing is left."""
    return InvalidRequest(
        f"there is no {what} {before[:64]} (any more): begin with the first page",
        code="unknown_page",
    )


class Unauthenticated(CallerError):
    """Nobody knows who asks: a token is missing, or the one that was sent is not good, or not any
    more.
    """

    code = "unauthenticated"
    status = 401


class NotFound(CallerError):
    """No such run, verb or record."""

    code = "not_found"
    status = 404


def no_run(run: str) -> NotFound:
    """The refusal of a run that is not there, or of another workspace."""
    return NotFound(f"there is no run {run}", code="run_not_found")


class Conflict(CallerError):
    """The current state does not permit this."""

    code = "conflict"
    status = 409


class ConfigurationError(CallerError):
    """Settings, policy or a verb file are wrong; the message names the file and the place."""

    code = "configuration"
    status = 500


class Refused(OrdainError):
    """Policy or capacity refuses; ``retry_after_s`` says when asking again may help."""

    code = "refused"
    status = 403

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int = 403,
        retry_after_s: int | None = None,
    ) -> None:
        """Carry the HTTP status and, where known, the delay after which to try again in seconds."""
        super().__init__(message, code=code)
        self.status = status
        self.retry_after_s = retry_after_s


class NoAnswer(OrdainError):
    """A turn has ended without an answer, since its model gave none: that is the endpoint's or the
    operator's, and no mistake of the request.
    """

    code = "model_failed"
    status = 502


class Transient(OrdainError):
    """Nothing was lost; the same request may succeed later."""

    code = "unavailable"
    status = 503


class StorageUnavailable(Transient):
    """The storage is full, read-only or locked: nothing new is accepted, reads go on."""

    code = "storage_unavailable"


class LeaseLost(Transient):
    """What an engine would have written is somebody else's to write now."""

    code = "lease_lost"


class RunLost(LeaseLost):
    """One run has moved on: whoever drives it here stops with it, and with nothing else."""

    code = "run_moved_on"


class EngineLost(LeaseLost):
    """The engine's lease has lapsed, or another one took over the store: it writes nothing more
    under the id it had.
    """


class JournalError(OrdainError):
    """The journal and what is asked of it do not agree; the run stops as it is."""

    code = "journal"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlace:
    """Where a run belongs, from its row: ``session`` is "" and ``thread`` 0 where it belongs to
    none.

    ``epoch`` counts who has held it, ``holder`` is the engine that does.
    """

    workspace: str
    root: str
    session: str
    thread: int
    epoch: int = 0
    holder: int = 0


class JournalCorrupt(JournalError):
    """A stored record is not what was written."""

    code = "journal_corrupt"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        details: Mapping[str, object] | None = None,
        place: RunPlace | None = None,
    ) -> None:
        """``place`` is whose record it is, where its run's row can be read; the wire shows details,
        and never this.
        """
        super().__init__(message, code=code, details=details)
        self.place = place


class JournalDiverged(JournalError):
    """The flow, run again over its journal, did something other than the journal says."""

    code = "journal_diverged"


class Erased(JournalError):
    """The run's content was erased; its shape remains, its content cannot be replayed."""

    code = "erased"


class FlowUnavailable(JournalError):
    """This build lacks the flow (name, version) that a run pins."""

    code = "flow_unavailable"


class FlowFault(OrdainError):
    """A flow broke one of its own laws, for example a model call after an interrupt."""

    code = "faulted"
