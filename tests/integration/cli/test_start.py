"""What a start imports: nothing that only some runs, some verbs or another command need. How long
it takes is measured (``bench.start``) and not tested.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ordain.flows.kinds import Kinds
from ordain.flows.shipped import shipped_kinds
from ordain.prompts.packaged import packaged_templates
from ordain.prompts.renderer import check_template
from ordain.verbs.builtin import prompt_plans
from ordain.verbs.folder import template_errors

ASKED_S = 60
CLIENTS = ("httpx2", "httpcore2", "openai", "anthropic", "google", "rich", "pygments")
"""HTTP clients and what they bring along: only an HTTP verb or a provider needs them."""
DOCUMENT = ("fastapi", "pydantic.v1", "opentelemetry", "ordain.server.openapi")
"""What makes the OpenAPI document: whoever asks for that waits for them."""
UNASKED = (
    "ordain.server.openai.routes",
    "ordain.server.library",
    "ordain.server.approvals",
    "ordain.server.tokens",
    "ordain.server.socket",
)
"""Resources of the face and verbs that nobody has asked for."""
READERS = ("pypdf", "numpy", "ordain.store.vector_index", "jsonschema")
FACE = (
    "fastapi",
    "starlette",
    "uvicorn",
    "pydantic",
    "jinja2",
    "sqlite3",
    "ordain.app",
    "ordain.runtime",
    "ordain.store",
)
SERVES = """
import asyncio, json, sys
import ordain.cli.commands
from ordain.cli import server
async def at_once(ordain, serving):
    print(json.dumps(sorted(sys.modules)), flush=True)
    return 0
server._until_stopped = at_once
sys.exit(ordain.cli.commands.app(["serve", "--port", "0", "--data-dir", sys.argv[1]]))
"""
"""The real command; in place of waiting for a signal it tells what it has imported, and ends."""
HELPS = """
import json, sys
from ordain.cli import main
main(["--help"])
print("\\n" + json.dumps(sorted(sys.modules)))
"""

SAYS = """
import json, sys
from ordain.cli import main
main(["chat", "hello", "--data-dir", sys.argv[1]])
print("\\n" + json.dumps(sorted(sys.modules)))
"""

COLLECTS = """
import atexit, gc, json, sys
looked = []
atexit.register(lambda: print("\\n" + json.dumps([len(looked), gc.get_freeze_count() > 100_000])))
from ordain.cli import main
gc.callbacks.append(lambda phase, about: looked.append(about))
sys.argv = ["ordain", "chat", "hello", "--data-dir", sys.argv[1]]
sys.exit(main())
"""
"""As the installed script. Registered first, so what it tells is what the interpreter ends with."""


def told(program: str, *arguments: str) -> Any:
    """What a process of its own tells on its last line."""
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        timeout=ASKED_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    return json.loads(ran.stdout.decode().splitlines()[-1])


def imported(program: str, *arguments: str) -> set[str]:
    """The modules that a process of its own has imported, as it tells."""
    return set(told(program, *arguments))


def test_a_server_starts_without_what_nobody_asked_for(tmp_path: Path) -> None:
    """In a fresh folder no HTTP client, no provider, no reader of documents, no arithmetic of
    vectors and no other command is imported; the face is.
    """
    for _ in ("fresh", "used"):
        found = imported(SERVES, str(tmp_path))
        assert found.isdisjoint((*CLIENTS, *READERS, *DOCUMENT, *UNASKED))
        assert not [name for name in found if name.startswith("ordain.cli.commands_")]
        assert found >= {"starlette", "ordain.app"}


def test_help_starts_nothing() -> None:
    """The command's help imports neither server nor storage nor contracts."""
    assert imported(HELPS).isdisjoint(FACE)


def test_a_message_of_a_command_line_starts_no_editor(tmp_path: Path) -> None:
    """What a terminal is drawn with is imported where somebody sits at one, and nowhere else."""
    found = imported(SAYS, str(tmp_path))
    assert found.isdisjoint(
        ("prompt_toolkit", "rich", "ordain.cli.chat_terminal", *DOCUMENT, *READERS, *UNASKED)
    )
    assert "ordain.cli.chat_lines" in found


def test_a_command_is_not_looked_through(tmp_path: Path) -> None:
    """The collector runs neither while a message is answered nor over all that was loaded when the
    interpreter ends.
    """
    assert told(COLLECTS, str(tmp_path)) == [0, True]


@pytest.mark.parametrize("name", sorted(prompt_plans().templates))
def test_a_shipped_plan_has_a_template_that_compiles(name: str) -> None:
    """No start looks through the build's own templates: this does."""
    assert list(template_errors(prompt_plans().templates[name])) == []


def test_a_shipped_kind_has_templates_that_compile() -> None:
    """Every version of every kind that this build brings."""
    kinds: Kinds = shipped_kinds()
    for source in packaged_templates(kinds.templates).values():
        check_template(source)
