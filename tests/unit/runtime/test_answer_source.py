"""Where an answer comes from, and what it tells of that waits."""

from __future__ import annotations

from ordain.contracts.conversation import MessageAnswer
from ordain.runtime.answer_source import AnswerSource, answer_source
from ordain.testing import ModelScript, output
from tests.shapes.talk import WORKSPACE, House


async def source(house: House, answer: MessageAnswer) -> AnswerSource:
    runtime = house.ordain.runtime
    return await answer_source(runtime.services, runtime.search, WORKSPACE, answer)


async def test_a_turn_answers_itself_and_the_rest_is_code() -> None:
    """What nothing follows from no model was asked for; an answer whose run is gone is taken as it
    stands.
    """
    async with House(script=ModelScript().on("verb", output(content="It is Wednesday."))) as house:
        turn = await house.say("Which day comes after Tuesday?")
        assert await source(house, turn) == AnswerSource(by_code=False)
        thanks = await house.say("thanks!")
        assert thanks.attached == "filler"
        assert await source(house, thanks) == AnswerSource(by_code=True)
        assert turn.reply is not None
        gone = turn.model_copy(update={"run_id": "0" * 32})
        assert await source(house, gone) == AnswerSource(by_code=False)
