"""A running process takes up changed verb files: whole or not at all, while calls run, and without
growing.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordain.app import Extras, Ordain
from ordain.contracts.profiles import ModelProfile
from ordain.models.scripted import ScriptedModel, make_script
from ordain.ports.catalog_source import Built, CatalogSource
from ordain.runtime.reloader import Reloader
from ordain.runtime.services import CATALOGS_KEPT
from ordain.settings import load_settings
from tests.lanes import examples, is_full
from tests.replay.golden import act, finish, request
from tests.shapes.house import GatedModel

VERB = """\
name: say_it
description: {description}
effect: read
services: [LLMGatewayService]
plan:
  - name: ask
    order: 0
output_schema:
  type: object
  properties: {{content: {{type: string, maxLength: 100}}}}
  required: [content]
  additionalProperties: false
"""
ANSWERS: dict[str, list[Any]] = {"say_it": [{"content": "said"}] * 5000}


def write(
    home: Path,
    description: str = "Says it.",
    name: str = "say_it",
    prompt: str = "{{ input.text | json }}",
) -> Path:
    folder = home / "verbs"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}_prompt.j2").write_text(prompt, encoding="utf-8")
    file = folder / f"{name}.yaml"
    file.write_text(VERB.format(description=description).replace("say_it", name), encoding="utf-8")
    return file


def running(
    home: Path, model: ScriptedModel | None = None, *, memory: bool = True, toml: str = ""
) -> Ordain:
    (home / "ordain.toml").write_text(f"[verbs]\nwatch_ms = 0\n{toml}", encoding="utf-8")
    loaded = load_settings({}, home)
    profile = ModelProfile(provider="scripted", model="scripted", script="in memory")
    models = {"default": model or ScriptedModel(make_script(verbs=ANSWERS))}
    return Ordain(
        loaded.model_copy(update={"profiles": {"default": profile}}),
        extras=Extras(models=models, memory=memory),
    )


def described(ordain: Ordain, name: str = "say_it") -> str:
    return ordain.runtime.catalog.verbs[name].spec.description


async def test_a_change_is_taken_up_and_an_error_changes_nothing(tmp_path: Path) -> None:
    """A new text is current at once; a file that is no verb leaves the version of before, and says
    file and line.
    """
    file = write(tmp_path)
    async with running(tmp_path) as ordain:
        write(tmp_path, "Says it louder.")
        done = await ordain.reload()
        assert (done.ok, done.changed, described(ordain)) == (True, True, "Says it louder.")
        assert (await ordain.execute("say_it", {"text": "x"})).wire["output"] == {"content": "said"}
        file.write_text(VERB.format(description="x") + "surprise: 1\n", encoding="utf-8")
        failed = await ordain.reload()
        (problem,) = failed.problems
        assert (failed.ok, failed.catalog, problem.file, problem.line) == (
            False,
            done.catalog,
            str(file),
            13,
        )
        assert described(ordain) == "Says it louder."
        assert (await ordain.execute("say_it", {"text": "x"})).wire["ok"]
        assert ordain.runtime.reloader is not None
        assert ordain.runtime.reloader.problems == (problem,)
        write(tmp_path)
        assert (await ordain.reload()).ok
        assert ordain.runtime.reloader.problems == ()


async def test_the_new_catalog_is_stored_before_it_is_used(tmp_path: Path) -> None:
    """What became current stands in the storage, and a run that begins then pins it."""
    write(tmp_path)
    async with running(tmp_path, memory=False) as ordain:
        before = ordain.runtime.catalog.digest
        await ordain.execute("say_it", {"text": "x"})
        write(tmp_path, "Other.")
        done = await ordain.reload()
        assert ordain.store.kept_catalog(done.catalog) == ordain.runtime.catalog.encoded
        assert ordain.store.kept_catalog(before) is not None
        reply = (await ordain.execute("say_it", {"text": "x"})).wire
        stored = ordain.store.stored(reply["run_id"])
        assert stored is not None
        assert stored.catalog == done.catalog


async def test_a_deleted_verb_is_withdrawn_from_a_run_under_way(tmp_path: Path) -> None:
    """A run keeps the catalog that it pinned, but a verb whose file has gone does not run any
    more.
    """
    file = write(tmp_path)
    planner = [
        act("math.evaluate", {"expression": "1 + 1"}),
        act("say_it", {"text": "x"}),
        finish("done"),
    ]
    model = GatedModel(make_script(planner=planner, verbs=ANSWERS), 1)
    async with running(tmp_path, model) as ordain:
        planned = asyncio.ensure_future(ordain.plan(request("math.evaluate", "say_it")))
        await model.asked.wait()
        file.unlink()
        assert (await ordain.reload()).ok
        model.gate.set()
        answer = (await planned).wire
        assert answer["status"] == "ok"
        assert "withdrawn" in str(answer["trace"][1]["observation"]["error"])
        assert (await ordain.execute("say_it", {"text": "x"})).wire["error"][
            "code"
        ] == "unknown_verb"


async def test_calls_go_on_while_files_are_replaced(tmp_path: Path) -> None:
    """Whatever is written meanwhile, half-written files too, every call ends as it would have, or
    as withdrawn; nothing breaks.
    """
    file = write(tmp_path)
    whole = file.read_text(encoding="utf-8")
    async with running(tmp_path) as ordain:

        async def call() -> set[str]:
            codes: set[str] = set()
            for _ in range(25):
                reply = (await ordain.execute("say_it", {"text": "x"})).wire
                codes.add("ok" if reply["ok"] else reply["error"]["code"])
            return codes

        calls = [asyncio.ensure_future(call()) for _ in range(3)]
        rounds = 0
        while not all(task.done() for task in calls):
            rounds += 1
            file.write_text(whole[: len(whole) * (rounds % 7) // 7], encoding="utf-8")
            await ordain.reload()
            file.write_text(whole.replace("Says it.", f"Says it {rounds}."), encoding="utf-8")
            await ordain.reload()
        assert rounds > 1
        assert {code for task in calls for code in task.result()} <= {
            "ok",
            "withdrawn",
            "unknown_verb",
        }
        assert "ok" in calls[0].result()


@given(
    texts=st.lists(
        st.one_of(
            st.binary(max_size=200),
            st.integers(0, 400).map(lambda cut: VERB.format(description="x")[:cut].encode()),
        ),
        max_size=6,
    )
)
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_whatever_stands_in_a_file_the_old_version_or_the_new_one_is_current(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes]
) -> None:
    """After any sequence of contents the current catalog is that of the last good one, and shipped
    verbs are always there.
    """
    home = tmp_path_factory.mktemp("home")
    file = write(home)
    async with running(home) as ordain:
        good = ordain.runtime.catalog.digest
        for text in texts:
            file.write_bytes(text)
            done = await ordain.reload()
            assert done.ok == (not done.problems)
            assert done.ok or done.catalog == good
            assert ordain.runtime.catalog.digest == done.catalog
            assert "math.evaluate" in ordain.runtime.catalog.verbs
            good = done.catalog


def catalogs_in_memory(ordain: Ordain) -> int:
    """How many there are in this process, those of other tests among them."""
    gc.collect()
    return sum(isinstance(one, type(ordain.runtime.catalog)) for one in gc.get_objects())


async def test_many_reloads_leave_nothing_behind(tmp_path: Path) -> None:
    """Catalogs in memory stay bounded, those that nothing refers to leave the storage, no task or
    thread remains.
    """
    write(tmp_path)
    async with running(tmp_path) as ordain:
        first = (await ordain.execute("say_it", {"text": "x"})).wire
        services, tasks = ordain.runtime.services, asyncio.all_tasks()
        others = catalogs_in_memory(ordain)
        times = 100 if is_full() else 2 * CATALOGS_KEPT
        for number in range(times):
            write(tmp_path, f"Says it {number}.")
            done = await ordain.reload()
            assert done.changed
        assert described(ordain) == f"Says it {times - 1}."
        assert len(services.catalogs._kept) <= CATALOGS_KEPT
        (stored,) = ordain.store._reads.execute("SELECT count(*) FROM catalogs").fetchone()
        assert stored <= 3
        assert asyncio.all_tasks() <= tasks
        assert catalogs_in_memory(ordain) <= others + CATALOGS_KEPT + 1
        run = ordain.store.stored(first["run_id"])
        assert run is not None
        assert (await services.catalogs.pinned(run.catalog)).digest == run.catalog


def forbid(ordain: Ordain, what: str) -> None:
    """Let the storage refuse to add (INSERT) or to remove (DELETE) catalogs; ``allow`` ends it."""
    ordain.store._db.execute(
        f"CREATE TEMP TRIGGER forbidden BEFORE {what} ON catalogs BEGIN SELECT RAISE(ABORT, "
        "'no'); END"
    )


def allow(ordain: Ordain) -> None:
    ordain.store._db.execute("DROP TRIGGER forbidden")


async def test_what_is_in_use_is_said_to_be_in_use(tmp_path: Path) -> None:
    """Where only the catalog of before cannot be taken out of the storage, the new verbs are in use
    and the answer says so.
    """
    write(tmp_path)
    async with running(tmp_path) as ordain:
        write(tmp_path, "Says it louder.")
        assert (await ordain.reload()).ok
        forbid(ordain, "DELETE")
        write(tmp_path, "Says it loudest.")
        done = await ordain.reload()
        assert (done.ok, done.changed, done.catalog, done.problems) == (
            True,
            True,
            ordain.runtime.catalog.digest,
            (),
        )
        assert described(ordain) == "Says it loudest."


async def test_what_could_not_be_stored_is_taken_up_later(tmp_path: Path) -> None:
    """Storage that takes no writes leaves the verbs of before, and says so; once it does, the
    watched folder is taken up, unchanged.
    """
    write(tmp_path)
    async with running(tmp_path) as ordain:
        reloader = ordain.runtime.reloader
        assert reloader is not None
        forbid(ordain, "INSERT")
        write(tmp_path, "Says it louder.")
        failed = await ordain.reload()
        assert (failed.ok, failed.changed, failed.catalog) == (
            False,
            False,
            ordain.runtime.catalog.digest,
        )
        assert described(ordain) == "Says it."
        watching = asyncio.ensure_future(reloader.watch(0.005))
        await asyncio.sleep(0.05)
        assert reloader.problems == failed.problems
        allow(ordain)
        async with asyncio.timeout(30):
            await until(lambda: described(ordain) == "Says it louder.")
            await until(lambda: reloader.problems == ())
        watching.cancel()


async def test_what_was_taken_back_before_it_could_be_stored_is_no_problem(tmp_path: Path) -> None:
    """A change that could not be stored and was undone is looked at again: no problem stays."""
    write(tmp_path)
    async with running(tmp_path) as ordain:
        reloader = ordain.runtime.reloader
        assert reloader is not None
        forbid(ordain, "INSERT")
        file = write(tmp_path, "Says it louder.", name="louder")
        assert not (await ordain.reload()).ok
        file.unlink()
        file.with_name("louder_prompt.j2").unlink()
        watching = asyncio.ensure_future(reloader.watch(0.005))
        async with asyncio.timeout(30):
            await until(lambda: reloader.problems == ())
        watching.cancel()


class Buggy:
    """Implements ``CatalogSource`` over another one, and fails while told to as no file may make it
    fail.
    """

    def __init__(self, source: CatalogSource) -> None:
        self.source, self.broken, self.looked = source, True, 0

    def fingerprint(self) -> object:
        return (self.broken, self.source.fingerprint())

    def build(self) -> Built:
        self.looked += 1
        if self.broken:
            raise KeyError("secret-1234")
        return self.source.build()


async def test_a_bug_while_verbs_are_read_is_a_problem_like_any_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The verbs of before stay, the answer says that it is a bug and nothing of its values, the log
    has it; nobody tries again in vain.
    """
    write(tmp_path)
    async with running(tmp_path) as ordain:
        source = Buggy(ordain._files)
        reloader = Reloader(ordain.runtime.services, source, (None, ()))
        failed = await reloader.reload()
        (problem,) = failed.problems
        assert (failed.ok, failed.catalog, problem.code) == (
            False,
            ordain.runtime.catalog.digest,
            "internal",
        )
        assert (
            "KeyError" in problem.message,
            "1234" in problem.message,
            "secret-1234" in caplog.text,
        ) == (True, False, True)
        watching = asyncio.ensure_future(reloader.watch(0.005))
        await asyncio.sleep(0.1)
        assert (watching.done(), source.looked) == (False, 1)
        source.broken = False
        async with asyncio.timeout(30):
            await until(lambda: reloader.problems == ())
        watching.cancel()


async def until(there: Callable[[], bool]) -> None:
    while not there():  # noqa: ASYNC110 - what is waited for happens in another task, which tells nobody
        await asyncio.sleep(0.005)


async def test_a_watched_folder_needs_no_asking(tmp_path: Path) -> None:
    """A change that has stood for one round is taken up; one that goes on changing waits until it
    stands.
    """
    write(tmp_path)
    async with running(tmp_path) as ordain:
        reloader = ordain.runtime.reloader
        assert reloader is not None
        watching = asyncio.ensure_future(reloader.watch(0.005))
        write(tmp_path, "Says it, seen.")
        async with asyncio.timeout(30):
            await until(lambda: described(ordain) == "Says it, seen.")
            (tmp_path / "verbs" / "say_it.yaml").write_text("half", encoding="utf-8")
            await until(lambda: bool(reloader.problems))
        watching.cancel()
        assert described(ordain) == "Says it, seen."


# --- Python verbs ---------------------------------------------------------------------------------

CODE = '''\
from __future__ import annotations
from dataclasses import dataclass
from ordain import verb

print("to stderr")

@dataclass
class Counted:
    words: int

@verb(effect="read", name="{name}")
def count(text: str) -> Counted:
    """{description}

    Args:
        text: the text.
    """
    return Counted(len(text.split()) + {more})
'''


def code(
    home: Path,
    name: str = "count.words",
    description: str = "Counts.",
    more: int = 0,
    file: str = "counting.py",
) -> Path:
    folder = home / "verbs"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    path = folder / file
    path.write_text(CODE.format(name=name, description=description, more=more), encoding="utf-8")
    path.chmod(0o644)
    return path


async def words(ordain: Ordain) -> Any:
    return (await ordain.execute("count.words", {"text": "one two"})).wire["output"]


async def test_python_is_off_until_the_operator_says_so(tmp_path: Path) -> None:
    """Without the setting no line of a Python file runs, and the problem says how to switch it
    on.
    """
    (code(tmp_path)).write_text("raise SystemExit('it ran')", encoding="utf-8")
    async with running(tmp_path) as ordain:
        assert ordain.runtime.reloader is not None
        (problem,) = ordain.runtime.reloader.problems
        assert (problem.code, "[verbs] python = true" in problem.message) == ("python_off", True)
        assert (await ordain.reload()).ok


async def test_python_verbs_run_and_are_reloaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file's functions are verbs; a change of the code alone makes another catalog, and what the
    file prints stays off stdout.
    """
    code(tmp_path)
    async with running(tmp_path, toml="python = true\n") as ordain:
        assert await words(ordain) == {"words": 2}
        before = ordain.runtime.catalog.digest
        code(tmp_path, more=10)
        done = await ordain.reload()
        assert (done.ok, done.changed, done.catalog == before) == (True, True, False)
        assert await words(ordain) == {"words": 12}
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def broken(:\n", "counting.py:1: not Python: "),
        ("import ordain\n\nraise SystemExit('token-1234')\n", "counting.py:3: raised SystemExit"),
        (
            "import no_such_library_here\n",
            "counting.py:1: raised ModuleNotFoundError: no module named no_such_library_here",
        ),
        ("x = 1\n", "defines no verb"),
        (
            (
                "from ordain import verb\n@verb(effect='send')\ndef tell(who: str) -> str:\n"
                "    'Tells.'\n    return who\n"
            ),
            "each argument has a role",
        ),
        (CODE.format(name="math.evaluate", description="x", more=0), "is declared twice"),
    ],
)
async def test_a_broken_python_file_stops_nothing(tmp_path: Path, text: str, says: str) -> None:
    """At start its verbs are missing and the rest works; on a reload all stays as it was; either
    way file and line are said, no value.
    """
    code(tmp_path)
    code(tmp_path, name="other", file="other.py")
    async with running(tmp_path, toml="python = true\n") as ordain:
        (tmp_path / "verbs" / "counting.py").write_text(text, encoding="utf-8")
        failed = await ordain.reload()
        assert not failed.ok
        assert says in failed.problems[0].message
        assert "token-1234" not in failed.problems[0].message
        assert await words(ordain) == {"words": 2}
    async with running(tmp_path, toml="python = true\n") as ordain:
        assert ordain.runtime.reloader is not None
        assert says in ordain.runtime.reloader.problems[0].message
        assert {"other", "math.evaluate"} <= set(ordain.runtime.catalog.verbs)
        assert "count.words" not in ordain.runtime.catalog.verbs


@pytest.mark.parametrize("what", ["file", "folder", "link"])
async def test_a_python_file_that_others_could_have_written_is_not_run(
    tmp_path: Path, what: str
) -> None:
    """Group- or world-writable files and folders, and links, are refused."""
    path = code(tmp_path)
    if what == "link":
        path.rename(tmp_path / "elsewhere.py")
        path.symlink_to(tmp_path / "elsewhere.py")
    else:
        (path if what == "file" else path.parent).chmod(0o777)
    async with running(tmp_path, toml="python = true\n") as ordain:
        assert ordain.runtime.reloader is not None
        assert ordain.runtime.reloader.problems[0].file == str(path)
        assert "count.words" not in ordain.runtime.catalog.verbs


async def test_a_file_that_has_not_changed_is_not_run_again(tmp_path: Path) -> None:
    """A reload runs what has changed and nothing else, and modules that are no longer used go."""
    import sys

    # of other tests in this process
    others = {name for name in sys.modules if name.startswith("ordain_operator_verbs.")}
    kept = code(tmp_path, name="kept", file="kept.py")
    kept.write_text(
        kept.read_text()
        + (
            "\nimport pathlib\n"
            "with (pathlib.Path(__file__).parent.parent / 'ran').open('a') as f: f.write('x')\n"
        )
    )
    code(tmp_path)
    async with running(tmp_path, toml="python = true\n") as ordain:
        for more in range(5):
            code(tmp_path, more=more)
            assert (await ordain.reload()).ok
        assert (tmp_path / "ran").read_text() == "x"
        assert (
            sum(
                name.startswith("ordain_operator_verbs.counting")
                for name in sys.modules
                if name not in others
            )
            == 1
        )
        (tmp_path / "verbs" / "counting.py").unlink()
        assert (await ordain.reload()).ok
        assert not any(
            name.startswith("ordain_operator_verbs.counting")
            for name in sys.modules
            if name not in others
        )
        assert "count.words" not in ordain.runtime.catalog.verbs
        assert any(
            name.startswith("ordain_operator_verbs.kept")
            for name in sys.modules
            if name not in others
        )
    assert {name for name in sys.modules if name.startswith("ordain_operator_verbs.")} <= others
