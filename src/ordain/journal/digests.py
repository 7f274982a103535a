"""Digests: keyed by subject, chained per run, and the ids and keys that are derived instead of
drawn.

Every identity a flow can see is a hash of where it arose, so that running the flow again yields the
same one.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import msgspec

from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked

DIGEST_BYTES = 16
KEY_BYTES = 32
MARKS_BYTES = 2 * DIGEST_BYTES
"""Of an entry that is as it was written; one that was placed anew has the cover of before behind
them.
"""
GENESIS = bytes(DIGEST_BYTES)
_UNKEYED = blake2b(digest_size=DIGEST_BYTES)
"""A copy of it costs less than another."""


def whole_key(given: bytes) -> bytes:
    """A key that a hash takes, of which each byte counts: whatever a storage holds in its place."""
    return given if len(given) <= KEY_BYTES else blake2b(given, digest_size=KEY_BYTES).digest()


def digest(key: bytes, body: bytes) -> bytes:
    """Keyed digest of a body; without the subject's key nobody can test a guess at erased
    content.
    """
    return blake2b(body, key=key, digest_size=DIGEST_BYTES).digest()


def keyed_digests(key: bytes) -> Callable[[bytes], bytes]:
    """``digest`` of many bodies by one key, which is taken in once."""
    taken_in = blake2b(key=key, digest_size=DIGEST_BYTES)

    def of(body: bytes) -> bytes:
        state = taken_in.copy()
        state.update(body)
        return state.digest()

    return of


def chain(
    previous: bytes, run: str, seq: int, heading: tuple[str, str, int, int], body_digest: bytes
) -> bytes:
    """The next link: H(previous, run, seq, kind, name, v, at, digest). ``heading`` is (kind, name,
    v, at).
    """
    kind, name, v, at = heading
    text = "\x1f".join((run, str(seq), kind, name, str(v), str(at), ""))
    state = _UNKEYED.copy()
    state.update(previous + text.encode() + body_digest)
    return state.digest()


def entry_marks(key: bytes, author: str, decision: bytes | None) -> bytes:
    """Keyed digests of what erasure takes from a transcript's entry beside its body: its author,
    then what it was decided to be. 32 bytes.
    """
    return digest(key, author.encode(errors="surrogatepass")) + digest(key, decision or b"")


def entry_cover(columns: tuple[object, ...]) -> bytes:
    """A hash of what an entry's row says beside its heading and stays: thread, run, channel, edits,
    timestamp, class, reason, anchor, size, through.
    """
    return blake2b(msgspec.msgpack.encode(columns), digest_size=DIGEST_BYTES).digest()


def entry_link(
    previous: bytes,
    name: str,
    seq: int,
    heading: tuple[str, str, int],
    covered: tuple[bytes, bytes | None, bytes],
) -> bytes:
    """The next link of a transcript. ``heading`` is (kind, message id, at); ``covered`` are the
    body's digest, the marks and the cover.

    Without marks it is a link of the first version, which covers heading and body alone: entries of
    builds before have that.
    """
    kind, message_id, at = heading
    body, marks, cover = covered
    if marks is None:
        return chain(previous, name, seq, (kind, message_id, 1, at), body)
    return chain(
        previous,
        name,
        seq,
        (kind, message_id, 2, at),
        body + marks[:MARKS_BYTES] + (marks[MARKS_BYTES:] or cover),
    )


def content_digest(data: bytes) -> str:
    """Unkeyed content address, 32 hex characters: prompts, effects, calls. Only ever stored in an
    erasable body.
    """
    return blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


def call_digest(call: Call) -> str:
    """The digest that an authorisation of a verb call holds: of the exact verb and arguments."""
    return content_digest(msgspec.json.encode(call, order="deterministic"))


def approval_digest(key: bytes, name: str, approval: ApprovalAsked) -> str:
    """The keyed digest of what an approver is asked for: of which approval it is, the subject, the
    exact calls and what else they are bound to. 32 hex characters.

    So that of two waits for the same no yes to one is a yes to the other. Rows of builds before
    have the digest without the name, and keep it.
    """
    return digest(
        key,
        msgspec.json.encode(
            (name, approval.subject, approval.detail, approval.calls), order="deterministic"
        ),
    ).hex()


def approval_id(run: str, addr: int) -> str:
    """The id of the approval that effect ``addr`` of a run asks for. 32 hex characters."""
    return derived_id(run, f"approval@{addr}")


def derived_id(run: str, address: object, k: int = 0) -> str:
    """H(run, address, k): child run ids, ``new_id``, idempotency keys. 32 hex characters."""
    return blake2b(f"{run}\x1f{address}\x1f{k}".encode(), digest_size=DIGEST_BYTES).hexdigest()
