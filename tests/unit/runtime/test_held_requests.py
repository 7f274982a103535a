"""What was held goes on by a word: last said, first meant; also what had not begun when the stop
came.
"""

from __future__ import annotations

from typing import Any

from ordain.journal.records import Status
from ordain.ports.shared import LatestEntry
from ordain.runtime.held_requests import held_request, held_thread, unbegun_request
from tests.unit.runtime.test_last_word import said, state, thread

CANCELLED = str(Status.CANCELLED)


def request(seq: int, where: int, **more: Any) -> LatestEntry:
    """A request that a run served until it was stopped."""
    return said(
        seq,
        where,
        attached="new_request",
        body=b"%d" % seq,
        run=f"r{seq}",
        **{"status": CANCELLED, **more},
    )


def stop(seq: int, where: int) -> LatestEntry:
    """An order that halts all that was said before it."""
    return said(seq, where, attached="override", stops=True, halts=True, run=f"s{seq}")


def placed(seq: int, **more: Any) -> LatestEntry:
    """What a model was still being asked about, or was not placed because of a stop."""
    return said(seq, 0, attached="filler", unbegun=True, body=b"%d" % seq, **more)


def test_what_was_held_is_the_senders_own_request() -> None:
    """Not of another, not what failed, not where something has begun since; whether it is still
    ending or had ended by itself its turn finds out.
    """
    asked = said(1, 1, attached="new_request", body=b"{}", run="r", status=str(Status.CANCELLED))
    stop = said(2, 1, attached="override", stops=True)
    assert held_request(state((thread(1),), asked, stop), "ada") == asked
    assert held_request(state((thread(1),), asked, stop), "bob") is None
    assert held_request(state((thread(1),), asked, stop), "ada", after=2) is None
    assert held_request(state((thread(1, "r"),), asked, stop), "ada") == asked
    assert held_request(state((thread(1, "r", "other"),), asked, stop), "ada") is None
    assert (
        held_request(state((thread(1),), asked, stop, said(3, 1, attached="new_request")), "ada")
        is None
    )
    done = said(1, 1, attached="new_request", body=b"{}", run="r", status=str(Status.COMPLETED))
    assert held_request(state((thread(1),), done, stop), "ada") == done
    failed = said(1, 1, attached="new_request", body=b"{}", run="r", status=str(Status.FAILED))
    assert held_request(state((thread(1),), failed, stop), "ada") is None


def test_what_went_on_and_was_held_again_is_the_first_request() -> None:
    """With the run that was held last: the words *go on* are nobody's request."""
    asked = said(1, 1, attached="new_request", body=b"{}", run="r", status=str(Status.CANCELLED))
    stops = [said(seq, 1, attached="override", stops=True, run=f"s{seq}") for seq in (2, 4)]
    again = said(
        3,
        1,
        attached="new_request",
        body=b'"go on"',
        run="r2",
        resumes=True,
        status=str(Status.CANCELLED),
    )
    found = held_request(state((thread(1),), asked, stops[0], again, stops[1]), "ada")
    assert found is not None
    assert (found.seq, found.body, found.run) == (1, b"{}", "r2")
    assert held_request(state((thread(1),), asked, stops[0], again), "ada") is None


def test_what_was_said_last_is_meant_first_though_it_had_not_begun() -> None:
    """A stop that came while the younger of two was being placed holds both; the younger goes on,
    then the older.
    """
    told = (request(1, 1), placed(2), stop(3, 1))
    found = held_request(state((thread(1),), *told), "ada")
    assert found is not None
    assert (found.seq, found.unbegun) == (2, True)
    assert held_thread(state((thread(1),), *told), "ada") == 1
    both = state(
        (thread(1), thread(2)),
        *told,
        request(4, 2, resumes=True, anew=True, status=str(Status.COMPLETED)),
    )
    then = held_request(both, "ada")
    assert then is not None
    assert (then.seq, then.unbegun) == (1, False)


def test_an_older_one_that_had_not_begun_comes_behind_a_younger_one_that_had() -> None:
    """The order in which they were said decides, whether they had begun or not."""
    found = held_request(state((thread(1),), placed(1), request(2, 1), stop(3, 1)), "ada")
    assert found is not None
    assert (found.seq, found.unbegun) == (2, False)
    beside = unbegun_request(state((thread(1),), placed(1), request(2, 1), stop(3, 1)), "ada")
    assert beside is not None
    assert beside.seq == 1


def test_what_went_on_in_a_thread_of_its_own_and_was_held_again_is_what_had_not_begun() -> None:
    """With the run that was held; what is further back waits until that is over. Two of them each
    go on with their own.
    """
    again = request(4, 2, resumes=True, anew=True)
    found = held_request(
        state((thread(1), thread(2)), request(1, 1), placed(2), stop(3, 1), again, stop(5, 2)),
        "ada",
    )
    assert found is not None
    assert (found.seq, found.run, found.thread, found.body, found.unbegun) == (
        2,
        "r4",
        2,
        b"2",
        False,
    )
    told = (
        placed(1),
        placed(2),
        stop(3, 0),
        request(4, 1, resumes=True, anew=True),
        request(5, 2, resumes=True, anew=True),
        stop(6, 2),
    )
    second = held_request(state((thread(1), thread(2)), *told), "ada")
    assert second is not None
    assert (second.seq, second.run) == (1, "r5")


def test_what_had_not_begun_is_over_once_its_sender_begins_something_else() -> None:
    """Nor does anybody else's stop hold it, nor one before a question that was asked since, nor is
    it anybody else's.
    """
    assert unbegun_request(state((), placed(1), stop(2, 0), request(3, 1)), "ada") is None
    assert held_request(state((), placed(1), stop(2, 0)), "ada", after=2) is None
    assert held_request(state((), placed(1), stop(2, 0)), "bob") is None
    assert held_request(state((), placed(1)), "ada") is None
    erased = said(1, 0, attached="filler", unbegun=True)
    assert held_request(state((), erased, stop(2, 0)), "ada") is None
