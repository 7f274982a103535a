"""aimock's chaos against every adapter: each attempt ends as a reply or as a typed error, each run
honestly, and replays equal.
"""

import asyncio
from pathlib import Path

import pytest
from msgspec import structs

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile, Structured
from ordain.models.providers import build_models
from ordain.ports.model import ModelError, ModelReply
from tests.integration.models.aimock_server import Aimock
from tests.integration.models.houses import open_house
from tests.integration.models.wire import API_KEY, SYSTEM, Protocol, profile, request

pytestmark = pytest.mark.timeout(240)  # npm may have to install first
TURNS = 12
RATES = {"dropRate": 0.2, "malformedRate": 0.2, "disconnectRate": 0.2, "rateLimitRate": 0.1}
CODES = {
    "dropRate": ModelErrorCode.SERVER_ERROR,
    "malformedRate": ModelErrorCode.MALFORMED,
    "disconnectRate": ModelErrorCode.CONNECTION,
    "rateLimitRate": ModelErrorCode.RATE_LIMITED,
}


def behind(protocol: Protocol, aimock: Aimock) -> ModelProfile:
    return profile(
        protocol, aimock.url, base_url=aimock.url + protocol.aimock_path, structured="text"
    )


async def test_each_chaos_has_its_code(protocol: Protocol, aimock: Aimock) -> None:
    """Dropped, garbled, cut and limited answers have their codes after one request each, whole or
    as a stream; peace is a reply.
    """
    asked = structs.replace(request("Say good day."), profile=behind(protocol, aimock))
    streamed = structs.replace(asked, narrative="content")
    model = build_models({"m": asked.profile}, {"m": API_KEY})["m"]
    try:
        for rate, code in CODES.items():
            aimock.chaos(**{rate: 1})
            for answer in (await model.attempt(asked), await model.attempt(streamed, [].append)):
                assert isinstance(answer, ModelError)
                assert answer.code is code, answer
                assert (answer.retry_after_ms is not None) == (code is ModelErrorCode.RATE_LIMITED)
                assert API_KEY not in answer.message
                assert SYSTEM not in answer.message
        assert aimock.served() == 2 * len(CODES)
        aimock.chaos()
        heard: list[str] = []
        answer = await model.attempt(streamed, heard.append)
        assert isinstance(answer, ModelReply)
        assert "".join(heard) == "Good day, and a good evening after it."
    finally:
        await model.close()


async def test_every_turn_in_chaos_ends_honestly(
    protocol: Protocol, aimock: Aimock, tmp_path: Path
) -> None:
    """Turns side by side in the middle of it answer or fail with a code; no more attempts than
    policy permits; all replay equal.
    """
    aimock.chaos(**RATES)
    async with open_house(tmp_path, behind(protocol, aimock)) as house:
        answers = await asyncio.wait_for(
            asyncio.gather(
                *(house.chat("Say good evening.", session=f"s:{n}") for n in range(TURNS))
            ),
            60,
        )
        for answer in answers:
            assert answer.reply is not None
            assert answer.reply.ok == (
                answer.reply.narrative == "Good day, and a good evening after it."
            )
            assert answer.reply.ok or any(code in answer.reply.header for code in CODES.values())
        assert TURNS <= aimock.served() <= house.catalog.policy.fallback.attempts_at_last * TURNS


async def test_chat_is_words_and_words_are_no_plan(
    protocol: Protocol, aimock: Aimock, tmp_path: Path
) -> None:
    """Whatever the profile declares: over every wire its words are the answer, and an agent says
    that they are no plan.
    """
    said = "Good day, and a good evening after it."
    for way in Structured:
        async with open_house(
            tmp_path / way, behind(protocol, aimock).model_copy(update={"structured": way})
        ) as house:
            reply = (await house.chat("Say good evening.")).reply
            assert reply is not None
            assert (reply.ok, reply.narrative) == (True, said)
            planned = (await house.chat("Say good evening.", session="agent", mode="agent")).reply
            assert planned is not None
            assert (planned.ok, said in planned.narrative) == (False, False)
            assert "the model could not plan" in planned.narrative
