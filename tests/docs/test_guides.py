"""The documents' examples are run, in order, one folder per page, and must print what the page
says.

Fences: ```` ```LANG file NAME ```` writes a file; ```` ```python run ```` runs a program, whose
output a following ```` ```text output ```` block shows; ```` ```console run ```` runs each line
after ``$`` and compares what is printed; ```` ```console serve ```` does so beside a server of the
page's data folder, which the page has on port 8090. Run ids, times, durations and token counts may
differ.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
FENCE = re.compile(r"^```([^\n`]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN_ID = re.compile(r"\b[0-9a-f]{32}\b")
VARYING = [
    (RUN_ID, "<id>"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T][0-9:.+Z]+"), "<time>"),
    (re.compile(r"(?<= · )[0-9a-f]{6}$", re.MULTILINE), "<end of id>"),
    (re.compile(r"\b(?:\d+ ms|\d+\.\d s)\b"), "<ms>"),
    (re.compile(r"\b\d+\+\d+ tokens"), "<tokens>"),
    (re.compile(r"\bfor \d+ s\b"), "for <s>"),
    (re.compile(r'(at_?ms"?[:=] ?)\d+', re.IGNORECASE), r"\1<time>"),
]
SERVED = "http://127.0.0.1:8090"
PAGES = sorted(
    page
    for page in DOCS.rglob("*.md")
    if re.search(
        r"^```(python run|console (run|serve))$", page.read_text(encoding="utf-8"), re.MULTILINE
    )
)
SECONDS = 100


@dataclass
class Page:
    """One page being run: its folder, its environment, and which run of this machine stands for
    which id on the page.
    """

    folder: Path
    environment: dict[str, str]
    ids: dict[str, str]

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def program(self, text: str) -> str:
        (self.folder / "example.py").write_text(text, encoding="utf-8")
        done = self.run(sys.executable, "example.py")
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def served(self) -> Iterator[str]:
        """The address of a server of the page's data folder; it has drained when this ends."""
        with (self.folder / "serve.log").open("w", encoding="utf-8") as log:
            command = ["ordain", "serve", "--port", "0", "--json"]
            server = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
            try:
                assert server.stdout is not None
                printed = "".join(iter(server.stdout.readline, "}\n")) + "}"
                yield str(json.loads(printed)["url"])
            finally:
                server.terminate()
                server.communicate(timeout=SECONDS)

    def console(self, text: str, address: str = SERVED) -> None:
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            if command.startswith("export "):
                name, _, value = command.removeprefix("export ").partition("=")
                self.environment[name] = value
                continue
            done = self.run(
                "bash",
                "-c",
                RUN_ID.sub(lambda found: self.ids.get(found[0], found[0]), command).replace(
                    SERVED, address
                ),
            )
            actual = done.stdout
            assert plain(actual) == plain(expected), f"{command}\n{done.stderr}"
            self.ids.update(zip(RUN_ID.findall(expected), RUN_ID.findall(actual), strict=True))


def plain(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, instead in VARYING:
        text = pattern.sub(instead, text)
    return text.strip()


def test_there_are_guides_with_examples() -> None:
    """The guides for conversation, embedding, extending, policy, recall and replay have examples
    that run.
    """
    assert {
        "conversation.md",
        "embedding.md",
        "extend.md",
        "policy.md",
        "recall.md",
        "replay.md",
    } <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS.parent).as_posix())
def test_examples_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    """Every example of the page runs in an empty home and prints what the page shows."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    running = Page(
        tmp_path, {**os.environ, "ORDAIN_HOME": str(tmp_path / "home"), "PATH": path}, {}
    )
    printed = ""
    for info, text in FENCE.findall(page.read_text(encoding="utf-8")):
        _, _, rest = info.partition(" ")
        if rest.startswith("file "):
            (tmp_path / rest.removeprefix("file ")).write_text(text, encoding="utf-8")
        elif info == "python run":
            printed = running.program(text)
        elif info == "text output":
            assert plain(printed) == plain(text)
        elif info == "console run":
            running.console(text)
        elif info == "console serve" and shutil.which("curl"):
            with running.served() as address:
                running.console(text, address)


def slug(heading: str) -> str:
    """A heading's anchor, as Git hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def leads(page: Path, target: str) -> bool:
    """Whether a relative link names a file and, with ``#``, a heading in it."""
    name, _, anchor = target.partition("#")
    file = page.parent / name if name else page
    if not file.exists() or not anchor:
        return file.exists()
    return anchor in {
        slug(heading)
        for heading in re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    }


def test_links_lead_somewhere() -> None:
    """Every relative link in the documents names a file that exists, and a heading that stands in
    it.
    """
    assert [
        f"{page.relative_to(DOCS).as_posix()}: {target}"
        for page in sorted(DOCS.rglob("*.md"))
        for target in re.findall(r"\]\(([^):\s]+)\)", page.read_text(encoding="utf-8"))
        if not leads(page, target)
    ] == []


GUIDE_WORDS = 1500
SHORT = ("conversation.md",)
"""The guides that have been told apart from what is looked up."""


@pytest.mark.parametrize("name", SHORT)
def test_a_guide_is_read_at_one_go(name: str) -> None:
    """What is looked up stands on a page of the reference."""
    assert len((DOCS / "guides" / name).read_text(encoding="utf-8").split()) <= GUIDE_WORDS


def test_what_is_shown_is_typed_as_type_checkers_want_it() -> None:
    """A context manager's function gives a generator: strict checkers refuse ``AsyncIterator`` and
    ``Iterator`` there.
    """
    shown = [
        DOCS.parent / "README.md",
        *DOCS.rglob("*.md"),
        *(DOCS.parent / "examples").rglob("*.py"),
    ]
    wrong = [
        page.name
        for page in shown
        if re.search(
            r"contextmanager\n(async )?def .*-> (Async)?Iterator\[",
            page.read_text(encoding="utf-8"),
        )
    ]
    assert wrong == []
