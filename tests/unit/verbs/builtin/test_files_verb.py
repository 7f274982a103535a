"""Reading files below a declared root, and nothing else."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.errors import ConfigurationError
from ordain.ports.verb import LeafCall, LeafFailed, LeafReturned
from ordain.verbs import LeafExecutor, Registry
from ordain.verbs.builtin.files_verb import PAGE_BYTES_MIN, files_read

SECRET = "nobody may read this"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text(SECRET)
    folder = tmp_path / "shared"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "today.txt").write_text("a line\n")
    return folder


async def read(root: Path, **args: Any) -> LeafReturned | LeafFailed:
    function = files_read(root)
    executor = LeafExecutor(Registry(functions=[function]))
    result = await executor.run(
        LeafCall(spec=function.spec, args=args, key="k", attempt=1, timeout_s=30.0)
    )
    await executor.close()
    assert isinstance(result, (LeafReturned, LeafFailed))
    return result


async def output(root: Path, **args: Any) -> dict[str, Any]:
    result = await read(root, **args)
    assert isinstance(result, LeafReturned), result
    return result.output


async def code(root: Path, path: str) -> str:
    result = await read(root, path=path)
    assert isinstance(result, LeafFailed), result
    assert SECRET not in result.message
    assert str(root) not in result.message
    assert result.happened is False
    return result.code


async def test_a_file_is_read(root: Path) -> None:
    """A file below the root is returned as text with its size."""
    assert await output(root, path="notes/today.txt") == {
        "path": "notes/today.txt", "text": "a line\n", "offset": 0, "next_offset": None, "size": 7,
            "replaced": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt", "notes/../../secret.txt", "/etc/passwd", "//etc/passwd",
            "notes//today.txt", "./notes/today.txt", "notes/./today.txt",
        "notes/", "", ".", "..", "notes\\..\\..\\secret.txt", "notes/today.txt\0.png", "\0",
            "~/x/../../..", "a\ud800b",
    ],
)  # fmt: skip
async def test_a_path_stays_below_the_root(root: Path, path: str) -> None:
    """Absolute, climbing, empty and malformed paths are refused before anything is opened."""
    assert await code(root, path) in {"invalid_path", "bad_input"}


@pytest.mark.parametrize(
    "path",
    [
        "%2e%2e/secret.txt",
        "..%2fsecret.txt",
        "\uff0e\uff0e/secret.txt",
        "absent.txt",
        "notes/today.txt/x",
        "n" * 300,
    ],
)
async def test_a_path_is_taken_as_it_is(root: Path, path: str) -> None:
    """Nothing is decoded or normalised: such names are simply not there."""
    assert await code(root, path) in {"not_found", "unreadable"}


async def test_no_link_is_followed(root: Path) -> None:
    """Links to a file, to a folder, within the root and to themselves are all refused."""
    (root / "out.txt").symlink_to(root.parent / "secret.txt")
    (root / "up").symlink_to(root.parent)
    (root / "in.txt").symlink_to(root / "notes" / "today.txt")
    (root / "loop").symlink_to(root / "loop")
    assert await code(root, "out.txt") == "not_a_file"
    assert await code(root, "up/secret.txt") == "not_found"
    assert await code(root, "in.txt") == "not_a_file"
    assert await code(root, "loop") == "not_a_file"


async def test_only_regular_files_are_read(root: Path) -> None:
    """A folder and a pipe are refused, the pipe without hanging; so is a device, even below the
    root.
    """
    os.mkfifo(root / "pipe")
    assert await code(root, "pipe") == "not_a_file"
    assert await code(root, "notes") == "not_a_file"
    assert await code(Path("/dev"), "null") == "not_a_file"
    assert await code(Path("/dev"), "zero") == "not_a_file"


async def test_swapping_a_link_in_never_leads_out(root: Path) -> None:
    """While file and folder are exchanged for links all the time, every read gives the file or a
    refusal, never the secret.
    """
    (root / "real").mkdir()
    (root / "real" / "secret.txt").write_text("allowed")
    stop = threading.Event()

    def swap() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            for name, target in (("a", root / "real"), ("b", root.parent)):
                link = root / f"tmp-{name}-{number}"
                link.symlink_to(target)
                link.replace(root / "door")
            (root / "door").unlink()
            (root / "real").rename(root / "door")
            (root / "door").rename(root / "real")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        function = files_read(root)
        executor = LeafExecutor(Registry(functions=[function]))
        for _ in range(400):
            result = await executor.run(
                LeafCall(
                    spec=function.spec,
                    args={"path": "door/secret.txt"},
                    key="k",
                    attempt=1,
                    timeout_s=30.0,
                )
            )
            assert SECRET not in str(result)
        await executor.close()
    finally:
        stop.set()
        thread.join()


@given(
    text=st.text(alphabet=st.sampled_from("aé€𝄞\n"), max_size=120),
    limit=st.integers(PAGE_BYTES_MIN, 40),
)
async def test_pages_make_up_the_file(
    tmp_path_factory: pytest.TempPathFactory, text: str, limit: int
) -> None:
    """Reading page after page gives exactly the file, no character cut in two."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "f.txt").write_text(text, encoding="utf-8", newline="")
    pages: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await output(folder, path="f.txt", offset=offset, limit=limit)
        assert not page["replaced"]
        assert len(page["text"].encode()) <= limit
        pages.append(page["text"])
        offset = page["next_offset"]
    assert "".join(pages) == text


async def test_what_is_not_utf8_is_replaced_and_flagged(root: Path) -> None:
    """Broken bytes become replacement characters and the page says so; a replacement character of
    the file itself does not.
    """
    (root / "latin.txt").write_bytes(b"caf\xe9 and \xff more")
    page = await output(root, path="latin.txt")
    assert (page["text"], page["replaced"]) == ("caf\ufffd and \ufffd more", True)
    (root / "own.txt").write_text("a \ufffd", encoding="utf-8")
    assert (await output(root, path="own.txt"))["replaced"] is False
    (root / "binary").write_bytes(bytes(range(128, 256)) * 4)
    page = await output(root, path="binary", limit=PAGE_BYTES_MIN)
    assert page["replaced"]
    assert page["next_offset"] >= PAGE_BYTES_MIN - 3


async def test_an_offset_past_the_end_is_an_empty_page(root: Path) -> None:
    """Beyond the end there is nothing, and nothing more to read."""
    page = await output(root, path="notes/today.txt", offset=10**12)
    assert (page["text"], page["next_offset"]) == ("", None)


async def test_a_page_is_no_longer_than_its_limit(root: Path) -> None:
    """A large file gives one page, and limits outside the schema never reach the file."""
    (root / "large.txt").write_bytes(b"x" * 3_000_000)
    page = await output(root, path="large.txt")
    assert len(page["text"]) == 32_768
    for limit in (0, 15, 10**7, -1):
        result = await read(root, path="large.txt", limit=limit)
        assert isinstance(result, LeafFailed)
        assert result.code == "bad_input"


def test_the_root_is_a_folder(tmp_path: Path) -> None:
    """A missing root or a file is a configuration error."""
    (tmp_path / "file").write_text("")
    for wrong in (tmp_path / "absent", tmp_path / "file"):
        with pytest.raises(ConfigurationError, match="not a folder"):
            files_read(wrong)


async def test_a_hard_link_is_not_read(root: Path) -> None:
    """A file outside the root that was given a name below it is refused, for as long as it has
    both.
    """
    (root / "linked.txt").hardlink_to(root.parent / "secret.txt")
    assert await code(root, "linked.txt") == "hard_link"
    (root.parent / "secret.txt").unlink()
    assert (await output(root, path="linked.txt"))["text"] == SECRET
