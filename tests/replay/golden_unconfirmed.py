"""How the golden plan over declarations that nobody has confirmed is made: a verb that is allowed,
and one that its mechanism's floor refuses.

``python -m tests.replay.golden_unconfirmed FILE`` plays it and writes it; done once, never again
for a flow version that exists.
"""

from __future__ import annotations

from pathlib import Path

from ordain.contracts.planner import PlannerRequest
from ordain.settings import load_settings
from tests.replay.golden import act, finish, request, scripted
from tests.replay.golden_file import GoldenTalk, make

TELL = """\
name: tell
description: Says what it is told.
effect: read
services: [LLMGatewayService]
plan:
  - name: ask
    order: 0
"""
KEEP = """\
name: item.keep
description: Keep an item.
effect: private
http: {method: PUT, url: "https://crm.example/items", hosts: [crm.example]}
arguments: {text: {role: content}}
input_schema: {type: object, properties: {text: {type: string}}, required: [text], additionalProperties: false}
"""
PROPOSED = [
    act("tell", {"text": "hello"}),
    act("item.keep", {"text": "hello"}),
    finish("told, not kept"),
]


async def play(home: Path) -> GoldenTalk:
    """Play it in this data folder."""
    (home / "verbs").mkdir()
    for name, text in {
        "tell.yaml": TELL,
        "tell_prompt.j2": "{{ input.text | json }}",
        "item.keep.yaml": KEEP,
    }.items():
        (home / "verbs" / name).write_text(text, encoding="utf-8")
    async with scripted(
        load_settings({}, home), PROPOSED, {"tell": [{"content": "hello"}]}
    ) as ordain:
        accepted = await ordain.runtime.accept(
            PlannerRequest.model_validate(request("tell", "item.keep")), "local:test"
        )
        await ordain.runtime.wait(accepted.run)
        rows = await ordain.runtime.runs(roots_only=False)
        return GoldenTalk.of((ordain.store.stored(row.id) for row in rows), (), ordain.catalog)


if __name__ == "__main__":
    make(play)
