"""What Tab makes of ``/attach``: the files there are."""

from __future__ import annotations

from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from ordain.cli.completions import SlashCompleter
from ordain.cli.slash import Slash


async def nothing(command: Slash) -> list[str]:
    return []


async def completed(line: str) -> list[str]:
    """The lines that Tab offers for one."""
    found = SlashCompleter(nothing).get_completions_async(Document(line), CompleteEvent())
    return [line[: len(line) + one.start_position] + one.text async for one in found]


async def test_a_file_to_attach_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files and folders of the folder that is typed, in order; hidden ones where their point is
    typed, home behind a tilde; nothing where there is no such folder, and none whose name a message
    cannot hold.
    """
    for name in ("a lease.md", "a-map.png", ".secret", "b.txt", "two  spaces", "bell\a"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "old.pdf").write_text("x", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert await completed("/attach ") == [
        f"/attach {name}" for name in ("a lease.md", "a-map.png", "b.txt", "papers/")
    ]
    assert await completed("/attach a") == ["/attach a lease.md", "/attach a-map.png"]
    assert await completed("/attach a l") == ["/attach a lease.md"]
    assert await completed("/attach papers/") == ["/attach papers/old.pdf"]
    assert await completed("/attach ~/b") == ["/attach ~/b.txt"]
    assert await completed(f"/attach {tmp_path}/p") == [f"/attach {tmp_path}/papers/"]
    assert await completed("/attach .") == ["/attach .secret"]
    assert await completed("/attach none/x") == []
    assert await completed("/attach ~nobody-of-this-name/x") == []
    assert await completed("look at /attach a") == []
