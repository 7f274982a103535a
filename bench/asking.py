"""What it costs to ask a model what a message means (``attach.ask``): the delay of a message whose
wording leaves it open, with and without.

``python -m bench.asking HOME`` measures with the local model that ``ordain local install`` put into
HOME; ``python -m bench.asking --url URL`` with an OpenAI-compatible endpoint. Printed and not
written.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from ordain import Ordain

TEXTS = (
    *(
        "sure I'll check with my boss first",
        "fine, let me ask Anna first",
        "no clue",
        "ja ja, später",
        "no wait, yes",
    ),
    *(
        "hm, prices everywhere",
        "the blue one then",
        "with the archived ones",
        "per Du, nicht per Sie",
        "max 300 words",
    ),
)
ASK = {"question": "Shall I send it to all 40 customers?", "expected_type": "yes_no", "key": "send"}
SCRIPT = {
    "planner": [
        {
            "thought": "Ask.",
            "finish": False,
            "action": {"tool_id": "ask_user", "input": ASK},
            "final_answer": None,
        }
    ]
    * 100
}
PROFILE = {
    "local": 'provider = "local"\nmodel = "SmolLM2-135M-Instruct"\ngguf = "{gguf}"\n',
    "url": 'provider = "openai"\nmodel = "m"\nbase_url = "{url}"\n',
}


def _home(folder: Path, profile: str, *, asks: bool) -> Path:
    """A data folder whose lane ``local`` has the model that is measured, or none, so that nobody is
    asked.
    """
    home = folder / ("asks" if asks else "alone")
    home.mkdir()
    (home / "script.yaml").write_text(json.dumps(SCRIPT), encoding="utf-8")
    default = (
        '[models.default]\nprovider = "scripted"\nmodel = "scripted"\n'
        f'script = "{home / "script.yaml"}"\n'
    )
    (home / "ordain.toml").write_text(f"{default}\n[models.small]\n{profile}", encoding="utf-8")
    lanes = (
        f'[lanes.profiles]\nlocal = ["{"small" if asks else "default"}"]\nworker = ["default"]\n'
        'brain = ["default"]\n'
    )
    (home / "policy.toml").write_text(f"version = 1\n{lanes}", encoding="utf-8")
    return home


async def measured(home: Path) -> list[tuple[float, str, str]]:
    """For each text: milliseconds until its class was known for good, the class, and why."""
    found: list[tuple[float, str, str]] = []
    async with Ordain(home=str(home)) as ordain:
        for number, text in enumerate(("warm up", *TEXTS)):
            session = f"s{number}"
            await ordain.chat("tidy up", session=session, mode="agent")
            began = time.perf_counter()
            answer = await ordain.chat(text, session=session)
            found.append(((time.perf_counter() - began) * 1000, answer.attached, answer.reason))
    return found[1:]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("home", nargs="?")
    parser.add_argument("--url")
    given = parser.parse_args()
    gguf = "" if given.home is None else next(Path(given.home).glob("local/*.gguf"))
    profile = (
        PROFILE["url"].format(url=given.url) if given.url else PROFILE["local"].format(gguf=gguf)
    )
    with tempfile.TemporaryDirectory() as folder:
        for asks in (True, False):
            rows = asyncio.run(measured(_home(Path(folder), profile, asks=asks)))
            times = sorted(ms for ms, _, _ in rows)
            sys.stdout.write(
                f"{'asked' if asks else 'wording alone'}: median {statistics.median(times):.0f} "
                f"ms, longest {times[-1]:.0f} ms; {[(a, r) for _, a, r in rows]}\n"
            )


if __name__ == "__main__":
    main()
