"""What a directive that was refused for its shape means: the dialects in which models call tools,
and what only speaks of one (RTE-12).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.policy import Policy
from ordain.contracts.schema import Schema
from ordain.rules.meant import called_verb, means_call
from ordain.rules.proposals import Parsed, parse_object
from ordain.rules.step import STEP, Invalid, StepFacts, StepInputs, proposes_call
from tests.unit.rules.given import decided, objects, texts

TOOL = "math.evaluate"
TOOLS = {TOOL: (Schema({"type": "object"}),), "look": (Schema({"type": "object"}),)}
ACTION = {"tool_id": TOOL, "input": {"expression": "6*7"}}
WHOLE = json.dumps({"thought": "", "finish": False, "action": ACTION})
MEANT: dict[str, Any] = {
    "in a list": [{"thought": "", "finish": False, "action": ACTION}],
    "twice": f"{WHOLE} {WHOLE}",
    "cut off": WHOLE[:-3],
    "cut off behind the tool": WHOLE[: WHOLE.index("input") - 3],
    "cut off before the tool": WHOLE[: WHOLE.index("tool_id") - 1],
    "with single quotes": "{'finish': False, 'action': {'tool_id': 'other', 'input': {}}}",
    "with typographic quotes": WHOLE.replace('"', "”"),
    "escaped for a page": WHOLE.replace('"', "&quot;"),
    "a text of JSON": json.dumps(WHOLE),
    "a key too many": {"thought": "", "finish": False, "action": ACTION, "extra": 1},
    "no finish": {"thought": "", "action": ACTION},
    "an answer beside it": {
        "thought": "",
        "finish": False,
        "action": ACTION,
        "final_answer": {"content": "Done."},
    },
    "bare": ACTION,
    "as functions are called": {"name": TOOL, "arguments": {}},
    "as functions are called, spelled as they must be": {"name": "math_evaluate", "arguments": {}},
    "of a tool that is not offered": {"name": "file.delete", "arguments": {}},
    "as tools are used": {
        "tool_calls": [{"type": "function", "function": {"name": TOOL, "arguments": "{}"}}]
    },
    "a text for an action": {"thought": "", "finish": False, "action": TOOL, "final_answer": None},
    "a function for an action": {
        "thought": "",
        "finish": False,
        "action": f"{TOOL}(6*7)",
        "final_answer": None,
    },
    "the tool as a key": {TOOL: {"expression": "6*7"}},
    "ReAct": f'Action: {TOOL}\nAction Input: {{"expression": "6*7"}}',
    "ReAct with brackets": f"Thought: I need it.\nAction: {TOOL}[6*7]",
    "Python": f'{TOOL}(expression="6*7")',
    "Python in brackets": f'[{TOOL}(expression="6*7")]',
    "Python in a fence": f'```python\nprint({TOOL}(expression="6*7"))\n```',
    "tool_code": f"```tool_code\n{TOOL}(expression='6*7')\n```",
    "Hermes": f'<tool_call>{{"name": "{TOOL}", "arguments": {{"expression": "6*7"}}}}</tool_call>',
    "Qwen": f"<tool_call><function={TOOL}><parameter=expression>6*7</parameter></function></tool_call>",
    "a function's tag": f'<function={TOOL}>{{"expression": "6*7"}}</function>',
    "an invocation": (
        f'<function_calls><invoke name="{TOOL}"><parameter '
        'name="expression">6*7</parameter></invoke></function_calls>'
    ),
    "GLM": (
        f"<tool_call>{TOOL}\n<arg_key>expression</arg_key><arg_value>6*7</arg_value></tool_call>"
    ),
    "the tool as a tag": f"<{TOOL}><expression>6*7</expression></{TOOL}>",
    "Mistral": f'[TOOL_CALLS]{TOOL}[ARGS]{{"expression": "6*7"}}',
    "Llama": f'<|python_tag|>{TOOL}.call(expression="6*7")',
    "DeepSeek": f"<\uff5ctool▁calls▁begin\uff5c><\uff5ctool▁call▁begin\uff5c>function<\uff5ctool▁sep\uff5c>{TOOL}",
    "Kimi": (
        f'<|tool_calls_section_begin|><|tool_call_begin|>functions.{TOOL}:0<|tool_call_argument_begin|>{{"expression": '
        '"6*7"}'
    ),
    "YAML": (
        f"thought: now\nfinish: false\naction:\n  tool_id: {TOOL}\n  input:\n    expression: 6*7"
    ),
    "an assignment": f'tool_id = "{TOOL}"\ninput = {{"expression": "6*7"}}',
}
UNMEANT: dict[str, Any] = {
    "prose": "I shall work it out, sure.",
    "nothing": "",
    "no action": {"thought": TOOL, "finish": False, "action": None, "final_answer": None},
    "an empty action": {"thought": "", "finish": False, "action": {}, "final_answer": None},
    "an action of nothing": {
        "thought": "",
        "finish": True,
        "action": {"tool_id": None, "input": None},
        "final_answer": {"content": "42"},
    },
    "an answer with a key too many": {
        "thought": "",
        "finish": True,
        "final_answer": {"content": TOOL},
        "extra": 1,
    },
    "an answer that says what was used": {
        "finish": True,
        "action": None,
        "final_answer": {"content": "42"},
        "tools_used": [TOOL],
    },
    "an answer that says what there is": {
        "finish": True,
        "action": None,
        "final_answer": {"content": "42"},
        "name": TOOL,
    },
    "an answer without its envelope": {"content": "It was 7."},
    "a list of what there is": {"tools": [{"name": TOOL, "description": "Works out."}]},
    "a list": [1, 2],
    "something else that was done": 'The log has {"action": {"type": "paid"}, "by": "Ada"}.',
    "a tool that is named": f'There is a tool "{TOOL}" for this, and I do not need it.',
    "a tool that is spoken of": f"You could use {TOOL} for it; the answer is 42.",
    "a name in quotes": f'The calculator has the name "{TOOL}".',
    "a call that is spoken of": f'You could invoke "{TOOL}"; I did not.',
    "a question": f'What does "name": "{TOOL}" mean?',
    "its id": f'Its tool_id: "{TOOL}". No need of it here.',
    "a setting": f'tool_id = "{TOOL}" stands in the config. 42.',
    "how it is written": f"Ordain wants {{'tool_id': '{TOOL}'}} written with double quotes. 42.",
    "how a call looks": (
        f'A call of {TOOL} looks so: {{"tool_id": "{TOOL}", "input": {{...}}}}. I did not make one.'
    ),
    "what is on offer": (
        f'The tool on offer: {{"tool_id": "{TOOL}", "description": "Calculate"}}. The answer is 42.'
    ),
}


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        pytest.param(said, calls, id=name)
        for given, calls in ((MEANT, True), (UNMEANT, False))
        for name, said in given.items()
    ],
)
def test_a_call_without_its_shape_is_a_proposed_call(said: Any, calls: bool) -> None:
    """RTE-12 “failures must not be summarised away”: what has the form of a call is one, in
    whatever dialect; a tool that is spoken of is none.
    """
    text = said if isinstance(said, str) else json.dumps(said)
    inputs = StepInputs(
        proposal=parse_object(text), tools=TOOLS, registered=frozenset(TOOLS), text=text
    )
    decision = decided(
        STEP,
        StepFacts(step_index=0, size_bytes=len(text), tools=1, counts=True),
        inputs,
        Policy(version=1),
    )
    assert isinstance(decision.outcome, Invalid)
    assert proposes_call(decision.outcome, decision.reason) is calls


@pytest.mark.parametrize(
    "said",
    [
        said
        for name, said in MEANT.items()
        if "not offered" not in name and "quotes" not in name and "before" not in name
    ],
)
def test_the_verb_that_it_calls_is_found(said: Any) -> None:
    """RTE-12 “failures must not be summarised away”: whatever the dialect, so that no other verb's
    success stands for it.
    """
    text = said if isinstance(said, str) else json.dumps(said)
    inputs = StepInputs(
        proposal=parse_object(text),
        tools={},
        registered=frozenset({*TOOLS, "file.delete"}),
        text=text,
    )
    facts = StepFacts(step_index=0, size_bytes=len(text), tools=0, weighs=True, meant=True)
    outcome = decided(STEP, facts, inputs, Policy(version=1)).outcome
    assert isinstance(outcome, Invalid)
    assert outcome.refused == TOOL


@pytest.mark.parametrize("said", UNMEANT.values(), ids=UNMEANT)
def test_what_only_speaks_of_a_verb_calls_none(said: Any) -> None:
    """Neither does a name that no verb has, one sign off."""
    text = said if isinstance(said, str) else json.dumps(said)
    parsed = parse_object(text)
    value = parsed.value if isinstance(parsed, Parsed) else None
    assert called_verb(value, text, TOOLS) == ""
    assert called_verb({"action": {"tool_id": "math.evaluat", "input": {}}}, "", TOOLS) == ""
    assert called_verb({"action": {"tool_id": " Math_Evaluate ", "input": {}}}, "", TOOLS) == TOOL


@given(st.none() | objects, texts, st.sets(st.sampled_from([*TOOLS, "(", "a|b", "a b"])))
def test_whatever_was_said_means_one_or_none(said: Any, text: str, tools: set[str]) -> None:
    """It is total, and ids are ids and no patterns."""
    assert means_call(said, text, tools) in (True, False)
    assert called_verb(said, text, tools) in {"", *tools}
    assert not means_call(None, "I have nothing to say.", tools)
