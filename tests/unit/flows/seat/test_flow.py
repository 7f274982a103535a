"""Flow ``seat``: one question as one seat."""

from __future__ import annotations

from typing import Any

import pytest

from ordain.flows.deliberation.question import CouncilQuestion, HistoryLine
from ordain.flows.deliberation.seat_run import SeatInput, SeatOutput
from ordain.flows.seat.kind import SEAT, SEAT_1
from ordain.flows.transcript import HistoryRef
from ordain.testing import Played, Standing, after, fails, interrupt, proposes, says
from tests.shapes.council import PROSE
from tests.unit.flows.house import CHAIN, play, shipped, transcript

AS_SEAT = Standing(child=True, depth=0, scope=())
SAID = proposes("seat", {"text": "I think so."})


def speak(
    *script: Any,
    seat: str = "Mythic",
    policy: Any = None,
    standing: Standing = AS_SEAT,
    catalog: Any = None,
    **more: Any,
) -> Played[SeatOutput]:
    given = SeatInput(seat=seat, question=CouncilQuestion(prompt="Should it open?", **more))
    return play(
        SEAT,
        given,
        *script,
        policy={"fallback": {"backoff_ms": 0}, **(policy or {})},
        standing=standing,
        catalog=catalog,
    )


def out(played: Played[SeatOutput]) -> SeatOutput:
    assert played.output is not None
    return played.output


@pytest.mark.parametrize(
    ("seat", "temperature"),
    [("Analyst", 0.4), ("Pragmatist", 0.5), ("Mythic", 0.8), ("Systems", 0.5)],
)
def test_a_model_is_asked_as_the_seat(seat: str, temperature: float) -> None:
    """By its name, with its description, at its temperature (C4)."""
    played = speak(SAID, seat=seat)
    assert out(played) == SeatOutput(name=seat, text="I think so.")
    (call,), (request,) = played.model_calls, played.requests
    assert (call.role, call.temperature) == (seat, temperature)
    assert request.inputs["role"] == seat
    assert shipped().data.seats[seat].role_description in request.system


@pytest.mark.parametrize("said", PROSE)
def test_a_seat_that_says_no_opinion_says_nothing(said: str) -> None:
    """No prose is taken for one; the run fails, so that its council counts it as absent."""
    played = speak(says(said))
    assert (out(played).error, out(played).text) == ("opinion_invalid", "")
    assert played.facts.status == "failed"


@pytest.mark.parametrize(
    "around", ["Here it is: {}", "{} That is all.", "- {}", "[{}]", "I think:\n```json\n{}\n```"]
)
def test_an_opinion_is_all_of_the_answer(around: str) -> None:
    """As chair's and auditor's words are: nothing is taken out of prose, a code fence apart.
    Version 1 took it out, and does so where it began.
    """
    text = '{"text": "I think so."}'
    played = speak(says(around.replace("{}", text)))
    assert (out(played).error, out(played).text) == ("opinion_invalid", "")
    assert out(speak(says(f"```json\n{text}\n```"))).text == "I think so."
    given = SeatInput(seat="Mythic", question=CouncilQuestion(prompt="Should it open?"))
    before = play(
        SEAT_1,
        given,
        says(f"Here it is: {text}"),
        policy={"fallback": {"backoff_ms": 0}},
        standing=AS_SEAT,
    )
    assert out(before).text == "I think so."


def test_a_seat_is_asked_twice_within_its_time() -> None:
    """CNC-03 "Settings `COUNCIL_ROUND_TIMEOUT_SEC`, `COUNCIL_LLM_TIMEOUT_SEC`, `COUNCIL_MAX_ROUNDS`
    are all effective": the second one is.
    """
    times = {"council": {"llm_timeout_seconds": 2, "attempts": 2}}
    late = speak(after(5000, SAID), after(5000, SAID), policy=times)
    assert out(late).error == "timed_out"
    assert [call.deadline - late.stored.records[0].at for call in late.model_calls] == [
        2_000_000,
        4_000_000,
    ]
    assert out(speak(after(5000, SAID), SAID, policy=times)).text == "I think so."
    assert (
        out(
            speak(after(5000, SAID), policy={"council": {"llm_timeout_seconds": 2, "attempts": 1}})
        ).error
        == "timed_out"
    )


def test_a_model_that_fails_is_a_seat_that_says_nothing() -> None:
    """With the model's code: rules of code play no seat."""
    assert out(speak(fails("needs_model"))).error == "needs_model"


def test_a_seat_that_is_none_is_told() -> None:
    """A seat that the pinned catalog has not."""
    assert out(speak(seat="Nobody")).error == "unknown_seat"


@pytest.mark.parametrize("how", [interrupt(), interrupt(in_flight=True)])
def test_a_seat_can_be_stopped(how: Any) -> None:
    """As its council does with one that is late."""
    assert out(speak(how)).error == "cancelled"


def test_it_is_shown_what_was_said_before() -> None:
    """A conversation's history by reference, and what the request itself brings."""
    ref = HistoryRef(
        session="s1", first=1, last=2, own=3, entries=2, size_bytes=40, head=3, digest=CHAIN
    )
    standing = Standing(
        session="s1",
        child=True,
        depth=0,
        scope=(),
        transcript=transcript(e1="It rains.", e2="So it does.", e3="Should it open?"),
    )
    played = speak(
        SAID,
        spoken=ref,
        history=(HistoryLine(role="user", content="On Sundays."),),
        standing=standing,
    )
    assert [line["content"] for line in played.requests[0].inputs["history"]] == [
        "It rains.",
        "So it does.",
        "On Sundays.",
    ]


@pytest.mark.parametrize("uses", [True, False])
def test_phi_is_told_to_seats_that_use_it(uses: bool) -> None:
    """C4's ``use_phi``."""
    seats = {
        **shipped().data.seats,
        "Mythic": shipped().data.seats["Mythic"].model_copy(update={"use_phi": uses}),
    }
    phi = {"valence": 0.5, "energy": 0.1, "coherence": 0.9, "novelty": 0.0}
    played = speak(
        SAID,
        phi=phi,
        state='{"persona_state": {"mood": "calm"}}',
        catalog=shipped().changed(seats=seats),
    )
    assert played.requests[0].inputs["phi"] == (phi if uses else None)
    assert "calm" in played.requests[0].user
