"""What the laws of the prompts draw from: texts of any size, any JSON; and how large a prompt
is.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ordain.prompts.prompt import Prompt

alphabet = st.characters(codec="utf-8")
short = st.text(alphabet, max_size=20)
worst = st.sampled_from(['"', "\\", "\x00", "\n", "🙂", "é", "{{", "a"])
long = st.builds(lambda piece, count: piece * count, worst, st.integers(0, 20_000))
words = st.one_of(short, long)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), short),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(short, inner, max_size=3)),
    max_leaves=6,
)
objects = st.dictionaries(short, json_values, max_size=4)


def size(prompt: Prompt) -> int:
    return len(prompt.system.encode()) + len(prompt.user.encode())
