"""``deliberate``: who is asked when, within which time, and what each verdict leads to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ordain.contracts.council import CouncilDirective, CouncilResult
from ordain.effects.effect import Children
from ordain.flows.council.outcome import CouncilOutput
from ordain.testing import (
    Played,
    after,
    child_cancelled,
    child_failed,
    completed,
    fails,
    interrupt,
    joined,
    proposes,
    says,
)
from tests.shapes.council import (
    CORE,
    PROSE,
    QUESTION,
    asks,
    auditor,
    chair,
    heard,
    hold_council,
    judgement,
    verdict,
)
from tests.unit.flows.house import shipped

ROUND = ["seats", "Chair", "Auditor"]
ANSWER = "Yes, in the afternoon."
RISKY: dict[str, Any] = {"scores": {"risk": 0.7}}


def out(played: Played[CouncilOutput]) -> CouncilOutput:
    assert played.output is not None
    return played.output


def result(played: Played[CouncilOutput]) -> CouncilResult:
    found = out(played).result
    assert found is not None
    return found


def directives(played: Played[Any]) -> list[str]:
    """What each verdict led to."""
    return [
        str(getattr(made.outcome, "directive", getattr(made.outcome, "code", "")))
        for made in played.decided("council")[1::2]
    ]


# --- one round ------------------------------------------------------------------------------------


def test_an_accepted_answer_is_the_councils() -> None:
    """EXE-08 "`verdict.action` is consumed as an executable directive": seats, then chair, then
    auditor, and what the verdict says.
    """
    played = hold_council(heard(), chair(), auditor())
    assert asks(played) == ROUND
    assert (out(played).ok, out(played).next) == (True, CouncilDirective.ACCEPT_TEXT)
    found = result(played)
    assert (found.final_text, found.tentative_text, found.meta.rounds_used) == (ANSWER, "", 1)
    assert [opinion.agent_name for opinion in found.opinions] == list(CORE)
    assert found.meta.decision == "accept_text"


def test_seats_are_one_wave_whatever_their_number() -> None:
    """All of them are children of one join, each with an equal share of what is left."""
    everybody = (*CORE, "Caretaker", "Guardian", "Edge", "Explorer", "Director")
    played = hold_council(heard(*everybody), chair(), auditor(), universe="everything")
    (join,) = [one for one in played.asked if isinstance(one, Children)]
    assert [spawn.flow for spawn in join.spawns] == ["seat"] * 9
    assert len({spawn.allowance for spawn in join.spawns}) == 1


def test_everybody_is_asked_at_their_own_temperature_within_the_same_time() -> None:
    """CNC-03 "Settings `COUNCIL_ROUND_TIMEOUT_SEC`, `COUNCIL_LLM_TIMEOUT_SEC`, `COUNCIL_MAX_ROUNDS`
    are all effective": the round bounds all three.

    EXE-17 "planner/council RPCs by configured timeout knobs.": seats and judges alike.
    """
    times = {"round_timeout_seconds": 20, "llm_timeout_seconds": 7, "seats_percent": 50}
    played = hold_council(after(9000, heard()), after(6000, chair()), auditor(), policy=times)
    (join,) = [one for one in played.asked if isinstance(one, Children)]
    began = played.stored.records[0].at
    assert join.until.deadline == began + 10_000_000
    judges = played.model_calls
    assert [(call.role, call.temperature) for call in judges] == [("Chair", 0.3), ("Auditor", 0.1)]
    assert judges[0].deadline == began + 16_000_000  # seven seconds from when it is asked
    assert judges[1].deadline == began + 20_000_000  # the end of the round


def test_a_round_that_is_over_has_no_verdict() -> None:
    """B-07 “"No verdict" = fail too.”: a chair that takes what is left leaves the auditor none."""
    times = {"round_timeout_seconds": 10, "llm_timeout_seconds": 9, "seats_percent": 50}
    played = hold_council(
        after(5000, heard()), after(4999, chair()), after(50, auditor()), policy=times
    )
    assert out(played).error == "council_verdict_invalid"
    assert played.reasons("council")[-1] == "council.no_verdict"


def test_a_late_seat_is_absent_and_nothing_stands_in_for_it() -> None:
    """The council goes on with half of its seats, and tells who is missing."""
    ends = joined(
        completed({"name": "Analyst", "text": "No."}),
        child_cancelled(),
        completed({"name": "Mythic", "text": "Yes."}),
        child_cancelled(),
    )
    played = hold_council(ends, chair(), auditor())
    assert out(played).ok
    assert [opinion.text for opinion in result(played).opinions] == ["No.", "Yes."]
    assert result(played).meta.absent == ("Pragmatist", "Systems")
    assert "council round 1: 2 of 4 seats spoke · quorum.met" in played.header
    assert "Pragmatist" not in played.requests[0].inputs["opinions"]


@pytest.mark.parametrize("silent", [3, 4])
def test_fewer_seats_than_the_quorum_are_no_council(silent: int) -> None:
    """Nobody judges what too few have said."""
    ends = [child_failed("opinion_invalid")] * silent + [
        completed({"name": "Systems", "text": "Yes."})
    ] * (4 - silent)
    played = hold_council(joined(*ends))
    assert (out(played).ok, out(played).error) == (False, "council_no_quorum")
    assert (result(played).final_text, result(played).tentative_text) == ("", "")
    assert "Analyst: opinion_invalid" in out(played).message
    assert asks(played) == ["seats"]


def test_a_round_without_a_quorum_proposes_nothing() -> None:
    """What the round before it proposed is not its own."""
    silent = joined(*[child_failed("timed_out")] * 4)
    played = hold_council(heard(), chair(), auditor("new_round"), silent)
    assert (out(played).error, result(played).meta.rounds_used) == ("council_no_quorum", 2)
    assert (result(played).tentative_text, result(played).blink, result(played).verdict) == (
        "",
        None,
        None,
    )


def test_the_quorum_is_policys() -> None:
    """A share of the seats that were asked."""
    three = joined(
        *[completed({"name": name, "text": "Yes."}) for name in CORE[:3]], child_failed("timed_out")
    )
    assert out(hold_council(three, policy={"quorum": 1.0})).error == "council_no_quorum"
    assert out(hold_council(three, chair(), auditor(), policy={"quorum": 0.75})).ok


def test_a_council_without_seats_is_none() -> None:
    """A catalog of a build before has none."""
    played = hold_council(catalog=shipped().changed(seats={}))
    assert (out(played).error, played.asked) == ("council_no_quorum", ())


@pytest.mark.parametrize(
    ("name", "script"), [("Chair", [heard()]), ("Auditor", [heard(), chair()])]
)
def test_a_judge_without_a_seat_is_no_judge(name: str, script: list[Any]) -> None:
    """No chair and no auditor fail the council as a verdict that is none does."""
    seats = {key: seat for key, seat in shipped().data.seats.items() if key != name}
    assert (
        out(hold_council(*script, catalog=shipped().changed(seats=seats))).error
        == "council_verdict_invalid"
    )


# --- what verdicts lead to ------------------------------------------------------------------------


def test_revise_asks_chair_and_auditor_again_under_its_constraints() -> None:
    """EXE-15 "branch transitions enforced": the seats are not asked again, and the next verdict is
    judged like the first.
    """
    told = {"emphasize": ["the cost"], "avoid": ["haste"], "notes": "say how"}
    played = hold_council(
        heard(),
        chair(),
        auditor("revise_same_round", constraints=told),
        chair("Yes, at little cost."),
        auditor(),
    )
    assert asks(played) == [*ROUND, "Chair", "Auditor"]
    assert directives(played) == ["revise", "accept_text"]
    revising = played.requests[2].inputs
    assert revising["before"] == ANSWER
    assert revising["constraints"][0]["emphasize"] == ["the cost"]
    assert revising["constraints"][0]["reason"] == "so I say revise_same_round"
    assert (result(played).final_text, result(played).meta.rounds_used) == (
        "Yes, at little cost.",
        1,
    )


def test_a_second_revise_counts_as_a_new_round() -> None:
    """One revision a round; the constraints of both verdicts hold for everybody from then on."""
    again = auditor("revise_same_round", constraints={"avoid": ["haste"]})
    played = hold_council(heard(), chair(), again, chair(), again, heard(), chair("No."), auditor())
    assert asks(played) == [*ROUND, "Chair", "Auditor", *ROUND]
    assert directives(played) == ["revise", "new_round", "accept_text"]
    assert played.reasons("council")[3] == "council.revised_again"
    assert [len(spawn_constraints(spawn)) for spawn in played.spawns] == [0] * 4 + [2] * 4
    assert len(played.requests[4].inputs["constraints"]) == 2
    assert (result(played).final_text, result(played).meta.rounds_used) == ("No.", 2)


def spawn_constraints(spawn: Any) -> Any:
    """What a seat is held to."""
    return json.loads(bytes(spawn.input)).get("constraints", [])


def test_new_round_asks_all_again() -> None:
    """CNC-02 "Council loop: while `round_index < max_rounds and not stop`": each round begins with
    the seats.
    """
    played = hold_council(heard(), chair(), auditor("new_round"), heard(), chair(), auditor())
    assert asks(played) == [*ROUND, *ROUND]
    assert result(played).meta.rounds_used == 2


@pytest.mark.parametrize(("rounds", "last"), [(1, "new_round"), (2, "new_round"), (3, "new_round")])
def test_at_the_cap_it_is_unresolved_and_its_text_is_not_final(rounds: int, last: str) -> None:
    """B-08 "Non-accept verdict at cap → typed `council_unresolved`, with text attached as
    non-final".
    """
    played = hold_council(
        *[heard(), chair(), auditor(last)] * rounds, policy={"max_rounds": rounds}
    )
    assert (out(played).ok, out(played).error, out(played).next) == (
        False,
        "council_unresolved",
        None,
    )
    assert (result(played).final_text, result(played).tentative_text) == ("", ANSWER)
    assert result(played).meta.rounds_used == rounds


def test_at_the_cap_a_second_revise_is_unresolved() -> None:
    """It would be a new round, and there is none."""
    revise = auditor("revise_same_round")
    played = hold_council(
        heard(), chair(), revise, chair("Better."), revise, policy={"max_rounds": 1}
    )
    assert (out(played).error, result(played).tentative_text) == ("council_unresolved", "Better.")


def test_a_request_may_grant_fewer_rounds_and_never_more() -> None:
    """B-08 "Exec owns transitions and one shared budget (`COUNCIL_MAX_ROUNDS`); council runs the
    rounds it is granted and reports `meta.rounds_used`".
    """
    assert (
        result(hold_council(heard(), chair(), auditor("new_round"), max_rounds=1)).meta.rounds_used
        == 1
    )
    played = hold_council(*[heard(), chair(), auditor("new_round")] * 2, max_rounds=10)
    assert result(played).meta.rounds_used == 2


@pytest.mark.parametrize("word", ["accept", "revise_same_round", "new_round", "delegate"])
@pytest.mark.parametrize("decision", ["DELEGATE", "ACCEPT", None])
def test_whoever_delegates_wins(word: str, decision: str | None) -> None:
    """Chair and auditor may contradict each other: a call for the chain by either is one, also in
    the last round.
    """
    if decision != "DELEGATE" and word != "delegate":
        return
    played = hold_council(heard(), chair(decision=decision), auditor(word), max_rounds=1)
    assert directives(played) == ["delegate_chain"]
    assert (result(played).final_text, result(played).tentative_text) == ("", ANSWER)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (RISKY, "council.risk"),
        ({"disagreement": 0.7}, "council.disagreement"),
        ({"scores": {"coherence": 0.49}}, "council.coherence"),
        ({"scores": {"faithfulness": 0.59}}, "council.faithfulness"),
    ],
)
def test_a_doubtful_answer_is_revised_though_it_is_accepted(
    more: dict[str, Any], reason: str
) -> None:
    """Code comes before the auditor's word, and says why in the prompt of the revision and in the
    header.
    """
    played = hold_council(heard(), chair(**more), auditor(), chair(), auditor())
    assert directives(played) == ["revise", "accept_text"]
    assert played.reasons("council")[1] == reason
    assert f"council round 1 of 2: revise · {reason}" in played.header
    assert "code does not" in played.requests[2].inputs["constraints"][0]["why"]


@pytest.mark.parametrize(
    "more",
    [
        {"scores": {"risk": 0.69}},
        {"disagreement": 0.69},
        {"scores": {"coherence": 0.5, "faithfulness": 0.6}},
    ],
)
def test_at_its_bounds_an_answer_is_accepted(more: dict[str, Any]) -> None:
    """A risk or disagreement below, a coherence or faithfulness of at least what policy says."""
    assert directives(hold_council(heard(), chair(**more), auditor())) == ["accept_text"]


def test_a_doubtful_answer_is_never_accepted_however_often_the_auditor_does() -> None:
    """Revised, asked anew, revised, and unresolved."""
    twice = [chair(**RISKY), auditor()]
    played = hold_council(heard(), *twice, *twice, heard(), *twice, *twice)
    assert directives(played) == ["revise", "new_round", "revise", "council_unresolved"]
    assert result(played).final_text == ""


def test_an_auditors_own_answer_takes_the_place_of_the_chairs() -> None:
    """``override_answer`` is applied, judged by the same table, and nobody is asked once more for
    it.
    """
    played = hold_council(heard(), chair(), auditor(override_answer="No, on Saturdays."))
    assert asks(played) == ROUND
    assert result(played).final_text == "No, on Saturdays."
    assert "the answer is the auditor's own" in played.header
    unresolved = hold_council(
        heard(), chair(), auditor("new_round", override_answer="No."), max_rounds=1
    )
    assert result(unresolved).tentative_text == "No."
    risky = hold_council(
        heard(), chair(**RISKY), auditor(override_answer="No."), chair(), auditor()
    )
    assert directives(risky) == ["revise", "accept_text"]


def test_a_score_that_nobody_gave_has_its_default_and_that_is_told() -> None:
    """In the header, in the decision and in the result."""
    bare = {"proposed_answer": ANSWER, "scores": {"risk": 0.1}}
    played = hold_council(heard(), proposes("chair", bare), auditor())
    assert result(played).final_text == ANSWER
    assert result(played).blink is not None
    told = "coherence, faithfulness, usefulness, effort_cost, novelty, overall, disagreement"
    assert f"not scored, so by default: {told}" in played.header
    assert told in result(played).meta.note


# --- what is none ---------------------------------------------------------------------------------


NO_JUDGEMENTS: list[Any] = [
    *map(says, PROSE),
    *(
        proposes("chair", value)
        for value in (
            {"scores": {}},
            {"proposed_answer": " "},
            {"proposed_answer": 7},
            judgement(surplus=1),
            judgement(decision="MAYBE"),
            judgement(decision="accept"),
            judgement(scores={"risk": 1.01}),
            judgement(scores={"risk": -0.01}),
            judgement(scores={"risk": "low"}),
            judgement(scores={"risk": True}),
            judgement(scores={"risk": None}),
            judgement(scores={"charm": 0.5}),
            judgement(scores=None),
            judgement(scores=[0.5]),
            judgement(disagreement=2),
            judgement(disagreement=None),
        )
    ),
    says('{"proposed_answer": "Yes.", "scores": {"risk": NaN}}'),
    says('{"proposed_answer": "Yes.", "scores": {"risk": 1e400}}'),
    fails("rejected"),
]


@pytest.mark.parametrize("said", NO_JUDGEMENTS, ids=repr)
def test_without_a_judgement_there_is_no_council(said: Any) -> None:
    """No chair is no verdict, likewise, and no auditor is asked.

    B-07 "unknown/malformed verdict = fail (`council_verdict_invalid`), never default accept
    (original defaults to accept on parse error or timeout)."
    """
    played = hold_council(heard(), said)
    assert (out(played).ok, out(played).error) == (False, "council_verdict_invalid")
    assert result(played).final_text == ""
    assert asks(played)[:2] == ["seats", "Chair"]
    assert "Auditor" not in asks(played)


NO_VERDICTS: list[Any] = [
    *map(says, PROSE),
    *(
        proposes("auditor", value)
        for value in (
            verdict("maybe"),
            verdict("ACCEPT"),
            verdict("accept_text"),
            verdict("revise"),
            {"reason": "fine"},
            {"action": None},
            {"action": ["accept"]},
            verdict(surplus=1),
            verdict(constraints={"emphasise": []}),
            verdict(constraints={"avoid": "haste"}),
            verdict(override_answer=""),
            verdict(override_answer=7),
            verdict(reason=None),
        )
    ),
    fails("rejected"),
]


@pytest.mark.parametrize("said", NO_VERDICTS, ids=repr)
def test_without_a_verdict_there_is_no_answer(said: Any) -> None:
    """EXE-08 "`final_text` alone is never the sole signal": the chair's text is attached and is no
    answer.

    B-38 "ReAct/council directives have no such branch: they fail."
    """
    played = hold_council(heard(), chair(), said)
    assert (out(played).ok, out(played).error) == (False, "council_verdict_invalid")
    assert (result(played).final_text, result(played).tentative_text) == ("", ANSWER)
    assert played.facts.status == "failed"


def test_a_judge_is_asked_as_often_as_policy_says() -> None:
    """Two attempts, each within its own time; then it is late."""
    played = hold_council(
        heard(), after(4000, chair()), after(4000, chair()), policy={"llm_timeout_seconds": 2}
    )
    assert [call.role for call in played.model_calls] == ["Chair", "Chair"]
    assert out(played).error == "council_verdict_invalid"
    answered = hold_council(
        heard(), after(4000, chair()), chair(), auditor(), policy={"llm_timeout_seconds": 2}
    )
    assert out(answered).ok


# --- the run --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script", [[interrupt()], [heard(), interrupt()], [heard(), chair(), interrupt(in_flight=True)]]
)
def test_an_interrupt_ends_it(script: list[Any]) -> None:
    """Wherever it comes: cancelled, and without a result."""
    played = hold_council(*script)
    assert (out(played).ok, out(played).error, out(played).result) == (False, "cancelled", None)


def test_the_question_stands_on_record_once() -> None:
    """Chair and auditor are asked by reference: neither the question nor an opinion is written down
    again.
    """
    played = hold_council(heard(), chair(), auditor())
    assert all(
        QUESTION not in str(call.args) and "I think so." not in str(call.args)
        for call in played.model_calls
    )
    assert played.requests[0].inputs["question"] == QUESTION
    assert [one["text"] for one in played.requests[0].inputs["opinions"]] == ["I think so."] * 4


def test_where_there_is_no_agent_chain_a_call_for_it_is_told() -> None:
    """B-41 "What is not built yet ends as typed `path_unavailable`, never as chat": a council whose
    word is for an agent chain, in a build that has none, asks nobody for words in its place, and
    what its chair said is not given for an answer.
    """
    played = hold_council(heard(), chair(), auditor("delegate"))
    assert (out(played).ok, out(played).error, out(played).next) == (
        False,
        "path_unavailable",
        CouncilDirective.DELEGATE_CHAIN,
    )
    assert (out(played).chain, result(played).final_text) == (None, "")
    assert asks(played) == ["seats", "Chair", "Auditor"]
    assert played.header.splitlines()[0].startswith("✗")


@pytest.mark.parametrize("runs", range(13))
def test_a_round_that_does_not_fit_into_the_runs_left_is_refused(runs: int) -> None:
    """Typed and told, before a seat is asked, and no fault: what the rounds before came to is
    attached, and is not final.
    """
    rounds = runs // 4
    script = (
        [heard(), chair(), auditor("new_round")] * min(rounds, 2)
        if rounds < 2
        else [heard(), chair(), auditor("new_round"), heard(), chair(), auditor()]
    )
    played = hold_council(*script, runs=runs)
    assert out(played).ok is (rounds >= 2)
    assert result(played).meta.rounds_used == min(rounds, 2)
    if rounds < 2:
        assert (out(played).error, result(played).final_text) == ("budget", "")
        assert result(played).tentative_text == (ANSWER if rounds else "")
        assert (
            f"council round {rounds + 1} refused: 4 seats, and {runs - 4 * rounds} more runs may "
            "be opened"
        ) in played.header
        assert asks(played) == ["seats", "Chair", "Auditor"] * rounds
