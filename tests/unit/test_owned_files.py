"""Files of configuration: read only where nobody but the user and root can have written them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ordain.app import Ordain
from ordain.errors import ConfigurationError
from ordain.owned_files import check_owned, not_owned, read_owned
from ordain.settings import load_settings
from tests.shapes.workflows import step, template, write_templates

ANOTHER = 65_533
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder with every kind of configuration file in it."""
    home = tmp_path / "above" / "home"
    (home / "verbs").mkdir(parents=True)
    (home / "wording").mkdir()
    (home / "ordain.toml").write_text(
        'policy = "strict.toml"\n[models.default]\nprovider = "openai"\nmodel = "m"\n'
        'base_url = "http://127.0.0.1:1/v1"\nkey_file = "key"\n'
        '[verbs.secrets]\nCRM = {file = "crm", hosts = ["crm.example"]}\n'
    )
    (home / "strict.toml").write_bytes(
        (Path(__file__).parents[2] / "src" / "ordain" / "policy.toml").read_bytes()
    )
    (home / "key").write_text("a-long-key-of-a-model")
    (home / "crm").write_text("a-long-key-of-the-crm")
    (home / "verbs" / "say.it.yaml").write_text(
        "name: say.it\ndescription: Say it.\neffect: read\n"
        "plan: [{name: say, description: Say it., order: 0, services: [LLMGatewayService]}]\n"
        "prompt_template: say.j2\ninput_schema: {type: object, properties: {}}\n"
        "output_schema: {type: object}\n"
    )
    (home / "verbs" / "say.j2").write_text("Say it.")
    write_templates(home, {"announce": template("announce", [step("say.it")])})
    (home / "wording" / "de.toml").write_text('[phrases]\nstop = "merci vielmals"\n')
    for folder, _, names in os.walk(tmp_path):
        Path(folder).chmod(0o755)
        for name in names:
            (Path(folder) / name).chmod(0o644)
    return home


def read_all(home: Path) -> None:
    """As every command and server reads it."""
    Ordain(load_settings({}, home))


FILES = [
    "ordain.toml",
    "strict.toml",
    "key",
    "crm",
    "verbs/say.it.yaml",
    "verbs/say.j2",
    "wording/de.toml",
    "workflows/announce.yaml",
    "verbs",
    "wording",
    "workflows",
    ".",
    "..",
]


@pytest.mark.parametrize("name", FILES)
def test_what_others_can_write_is_not_read(home: Path, name: str) -> None:
    """Every file of configuration, and every folder above it, that the group or others may write is
    refused, by name and with what to do.
    """
    read = (home / name).resolve()
    read.chmod(read.stat().st_mode | 0o020)
    with pytest.raises(
        ConfigurationError,
        match=rf"not read: {read} can be written by others \(chmod go-w {read}\)",
    ):
        read_all(home)


def test_what_to_do_means_the_folder_alone(tmp_path: Path) -> None:
    """Whatever a folder is called, the command that is told runs nothing of its name, and closes
    that folder.
    """
    folder = tmp_path / "x;touch PWNED"
    folder.mkdir()
    folder.chmod(0o777)
    fault = not_owned(folder / "ordain.toml")
    remedy = fault[fault.index("(chmod") + 1 : -1]
    subprocess.run(["sh", "-c", remedy], cwd=tmp_path, check=True)
    assert list(tmp_path.iterdir()) == [folder]
    assert not_owned(folder / "ordain.toml") == ""


@needs_root
@pytest.mark.parametrize("name", FILES)
def test_what_another_user_owns_is_not_read(home: Path, name: str) -> None:
    """Every file of configuration, and every folder above it, that belongs to another user is
    refused.
    """
    read = (home / name).resolve()
    os.chown(read, ANOTHER, -1)
    with pytest.raises(ConfigurationError, match=f"not read: {read} belongs to another user"):
        read_all(home)


def test_a_sticky_folder_may_be_everybodys(home: Path) -> None:
    """What stands in a sticky folder is replaced by its owner alone: only what is in it is looked
    at; a sticky file is a file as any.
    """
    home.parent.chmod(0o1777)
    assert not_owned(home / "ordain.toml") == ""
    (home / "ordain.toml").chmod(0o1666)
    assert "can be written by others" in not_owned(home / "ordain.toml")


def test_links_are_followed_one_by_one(home: Path, tmp_path: Path) -> None:
    """Where a link leads is looked at with every folder on that way, and the parent of a folder
    behind a link is that folder's.
    """
    elsewhere = tmp_path / "elsewhere" / "in"
    elsewhere.mkdir(parents=True)
    (elsewhere / "real.toml").write_text("")
    (home / "over").symlink_to("../../elsewhere/in")
    (home / "linked.toml").symlink_to(home / "over" / ".." / "in" / "real.toml")
    assert read_owned(home / "linked.toml") == ""
    elsewhere.parent.chmod(0o777)
    with pytest.raises(ConfigurationError, match="elsewhere can be written by others"):
        read_owned(home / "linked.toml")


@needs_root
def test_a_link_of_another_user_is_not_followed(home: Path) -> None:
    """In a sticky folder anybody may put a link: it is its maker's word where the file is."""
    home.chmod(0o1777)
    (home / "linked.toml").symlink_to(home / "ordain.toml")
    os.chown(home / "linked.toml", ANOTHER, -1, follow_symlinks=False)
    assert "linked.toml belongs to another user" in not_owned(home / "linked.toml")


@pytest.mark.parametrize(
    "name", ["ordain.toml", "policy.toml", "strict.toml", "key", "crm", "wording/de.toml"]
)
@pytest.mark.parametrize(
    ("make", "said"), [(os.mkfifo, "it is no regular file"), (os.mkdir, "Is a directory")]
)
def test_what_is_no_regular_file_is_refused(
    home: Path, name: str, make: Callable[[Path], None], said: str
) -> None:
    """By name; nobody waits for somebody to write into a pipe. A policy that is none is not passed
    over for the shipped one.
    """
    (home / name).unlink(missing_ok=True)
    if name == "policy.toml":
        (home / "ordain.toml").unlink()
    make(home / name)
    with pytest.raises(ConfigurationError, match=f"{name}.*{said}"):
        read_all(home)


@pytest.mark.parametrize(
    "variable", ["LLM_PROFILES_CONFIG_PATH", "OPENAI_API_KEY_FILE", "ORDAIN_SCRIPT"]
)
def test_what_the_environment_names_is_a_regular_file(tmp_path: Path, variable: str) -> None:
    """The same of files elsewhere."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigurationError, match="pipe: it is no regular file"):
        Ordain(load_settings({variable: str(tmp_path / "pipe")}, tmp_path / "home"))


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    """A circle of links is refused, and what is not there is told by whoever reads it."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert "more than 40 links" in not_owned(tmp_path / "a")
    check_owned(tmp_path / "nowhere" / "file")
    with pytest.raises(ConfigurationError, match="cannot read"):
        read_owned(tmp_path / "nowhere" / "file")


def test_an_editors_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    """Windows' editors put a mark of the encoding before a text: settings are read all the same,
    and a key of a file has none.
    """
    (tmp_path / "ordain.toml").write_bytes(b"\xef\xbb\xbf[server]\nrequire_token = true\n")
    assert load_settings({}, tmp_path).server.require_token
    (tmp_path / "key").write_bytes(b"\xef\xbb\xbfsk-0123456789\n")
    assert read_owned(tmp_path / "key") == "sk-0123456789\n"
