"""How the golden conversation in words of one's own is made: every answer and every order in it is
a word that no shipped table knows.

A flow that read by any other table than the pinned one would find none of them. ``python -m
tests.replay.golden_words FILE`` plays it and writes it; done once, never again for a flow version
that exists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ordain.testing import call, suggests
from tests.replay.golden_file import GoldenTalk, make
from tests.replay.golden_told import taken
from tests.replay.recorded_words import WORDS as ANSWERS
from tests.shapes.lines import about
from tests.shapes.talk import House

WORDS = {
    "yes": "jofi",
    "no": "nofi",
    "two": "zwofi",
    "date": "heitfi",
    "stop": "haltfi",
    "thanks": "dankfi",
}
"""By sign. None is a word in any language of the shipped tables, nor the beginning of one."""
AGENT = {"mode": "agent"}
LAMP = call(
    "ask_user",
    question="Which one?",
    expected_type="option",
    options=["the brass lamp", "the copper lamp"],
    key="lamp",
)
SCRIPT = (
    ANSWERS.on("planner", LAMP, index=0, when=about("which lamp"))
    .on("triage", suggests("filler"), when=about("purple"))
    .on("triage", suggests("new_request"))
)


async def answered(house: House, asks: str, answer: str) -> None:
    """A question, and its answer as a message."""
    await house.say(asks, **AGENT)
    told = await house.say(answer)
    assert told.attached == "answer_to_pending", told


async def told_by_operator(house: House, flow: str, answer: Any, sent: Any) -> None:
    """An answer that no message brings: the run alone judges it."""
    waiting = f"SELECT id FROM runs WHERE flow = '{flow}' AND status = 'waiting'"
    await house.until("it is asked", lambda: house.query(waiting))
    ((run,),) = house.query(waiting)
    assert await house.ordain.runtime.operators.answer(run, 0, answer, by="operator") == "sent"
    await house.told(sent)


async def choice(house: House, answer: str, *, by_message: bool) -> None:
    """Two turns at work, and a stop that could mean either."""
    sent = [await house.send(f"think slowly of {city}", **AGENT) for city in ("Hamburg", "Bremen")]
    await house.until("both are asked", lambda: len(house.puppet.held) == 2)
    stop = await house.send(WORDS["stop"])
    if by_message:
        await house.until("it is asked", lambda: house.so_far(stop).question)
        assert (await house.say(answer)).attached == "answer_to_pending"
    else:
        await told_by_operator(house, "triage", answer, stop)
    house.puppet.let_go()
    for one in sent:
        await house.told(one)


async def sorted_out(house: House) -> None:
    """Answers that are none whole: one that a model takes for nothing goes back, a condition does
    not; and an option by its name.
    """
    for said, then in (("purple", "B"), (f"{WORDS['yes']} but only for the two of us", "")):
        sent = await house.send("find out whether it is grey", **AGENT)
        await house.until("it is asked", lambda one=sent: house.so_far(one).question)
        told = await house.say(said)
        assert told.attached == "answer_to_pending", told
        if then:
            assert told.question is not None
            await house.say(then)
        await house.told(sent)
    await answered(house, "find out of which lamp it is", "the copper one")


async def play(home: Path) -> GoldenTalk:
    """Play the conversation; its runs in the order in which they were opened."""
    (home / "wording").mkdir(parents=True)
    phrases = "\n".join(f"{sign} = '{word}'" for sign, word in WORDS.items())
    (home / "wording" / "own.toml").write_text(f"[phrases]\n{phrases}\n", encoding="utf-8")
    async with House(home, script=SCRIPT, policy={"attach": {"ask": "local"}}) as house:
        await answered(house, "find out whether it is so", WORDS["yes"])
        await answered(house, "find out which day it is", WORDS["date"])
        for answer in (WORDS["no"], "a green one, please"):
            sent = await house.send("find out whether it is blue", **AGENT)
            await told_by_operator(house, "question", answer, sent)
        assert (await house.say(WORDS["thanks"])).attached == "filler"
        await choice(house, WORDS["two"], by_message=True)
        await choice(house, "the Hamburg one", by_message=True)
        await choice(house, "purple", by_message=False)
        await sorted_out(house)
        await house.quiet()
        assert house.query("SELECT count(*) FROM runs WHERE status = 'faulted'") == [(0,)]
        return taken(house)


if __name__ == "__main__":
    make(play)
