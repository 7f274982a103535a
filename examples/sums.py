"""The least there is: a question, a tool, a result. No model is configured, so rules answer, and
say so.

Prints:
    ok: Quoted from the result of math.evaluate, not analysed:
    - decimal: 1110
    - exact: true
    - result: 1110
"""

from ordain import Ordain

REQUEST = {
    "goal": {"type": "analysis", "description": "What is 1200 * (1 - 0.075)?"},
    "toolset": [{"tool_id": "math.evaluate"}],
}

if __name__ == "__main__":
    result = Ordain().run_sync(REQUEST)
    print(f"{result.status}: {result.content}")
