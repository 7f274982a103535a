"""Whatever speaks to OpenAI speaks to Ordain. Here plain HTTP, at a server of its own.

Prints:
    ✓ scripted · no tool
    > Hello, Ada.
    the second message belongs to the same conversation: True
    refused: unsupported_parameter
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx2

SCRIPT = "verbs:\n  chat_general:\n    - {content: 'Hello, Ada.'}\n"


def ask(client: httpx2.Client, text: str, **more: object) -> dict[str, Any]:
    """One chat completion; the header names the conversation."""
    body = {"model": "ordain", "messages": [{"role": "user", "content": text}], **more}
    named = {"Ordain-Session": "ada"}
    return client.post("/v1/chat/completions", json=body, headers=named, timeout=60).json()


def main(home: Path) -> None:
    """Serve, ask twice, and ask for what there is not."""
    (home / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    server = subprocess.Popen(
        [sys.executable, "-m", "ordain", "serve", "--port", "0", "--json"],
        env={**os.environ, "ORDAIN_HOME": str(home), "ORDAIN_SCRIPT": str(home / "script.yaml")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    try:
        url = json.loads("".join(iter(server.stdout.readline, "}\n")) + "}")["url"]
        with httpx2.Client(base_url=url) as client:
            first = ask(client, "Hello")
            text = first["choices"][0]["message"]["content"]
            print(*text.splitlines()[0].split(" · ")[:2], sep=" · ")  # code's line
            print(text.splitlines()[-1])  # a model's words
            second = ask(client, "And again")
            same = first["ordain"]["session_id"] == second["ordain"]["session_id"]
            print("the second message belongs to the same conversation:", same)
            print("refused:", ask(client, "Two, please", n=2)["error"]["code"])
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder))
