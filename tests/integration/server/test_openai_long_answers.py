"""An answer that is longer than what is kept of one."""

from __future__ import annotations

from pathlib import Path

from ordain.contracts.verbs import WORDS_MOST
from ordain.models.scripted import ScriptedModel, make_script
from ordain.runtime.plain_answer import REFUSED
from tests.integration.server.openai_house import CHAT, frames_of, house, turns

LONG = "".join(f"line {number} of many\n" for number in range(2000))


async def test_a_stream_ends_where_the_answer_does(tmp_path: Path) -> None:
    """Nothing is heard that is not kept, so that nothing is given up and said once more; the header
    says that there was more.
    """
    model = ScriptedModel(make_script(verbs={"chat_general": [{"content": LONG}]}))
    async with house(tmp_path, model=model) as (_, http):
        body = {"model": "ordain", "messages": turns("Count"), "stream": True}
        *chunks, _done = frames_of((await http.post(CHAT, json=body)).text)
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
    assert REFUSED not in text
    assert text.count("> line 7 of many\n") == 1
    said = "".join(
        line.removeprefix("> ") for line in text.splitlines(keepends=True) if line.startswith(">")
    )
    assert LONG.startswith(said.rstrip("\n"))
    assert WORDS_MOST - 2 <= len(said.rstrip("\n")) <= WORDS_MOST
    assert f"of which the first {WORDS_MOST} are kept" in chunks[-1]["ordain"]["header"]
