"""Several seats about one question: a chair weighs, an auditor judges, and a table of code decides.

Prints:
    accept_text: Yes, in the afternoon.
    seats: ['Analyst', 'Mythic', 'Pragmatist', 'Systems']
    council.risk
    council.accepted
"""

import asyncio

from ordain import Ordain
from ordain.app import Extras
from ordain.models.scripted import ScriptedModel, make_script

MODEL = ScriptedModel(
    make_script(
        seat={"*": [{"text": "Open it in the afternoon."}]},
        chair=[
            {"proposed_answer": "Yes, all day.", "scores": {"risk": 0.8}},
            {"proposed_answer": "Yes, in the afternoon.", "scores": {"risk": 0.2}},
        ],
        # the auditor takes both; at a risk of 0.8 code does not
        auditor=[{"action": "accept"}, {"action": "accept", "reason": "Most say so."}],
    )
)


async def main() -> None:
    """Ask, and print what it came to and why."""
    async with Ordain(extras=Extras(models={"default": MODEL}, memory=True)) as ordain:
        answer = await ordain.council("Should the library open on Sundays?")
        print(f"{answer.next}: {answer.content}")
        if answer.result is not None:
            print("seats:", [one.agent_name for one in answer.result.opinions])
        for line in answer.header.splitlines():
            if "council round" in line:
                print(line.rpartition(" · ")[2])


if __name__ == "__main__":
    asyncio.run(main())
