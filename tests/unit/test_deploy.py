"""What is shipped for running Ordain as a service: it names what there is, and takes no more than a
service needs.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ordain.settings_profiles import api_key

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"


def loaded(path: Path) -> Any:
    """A YAML file; ``on`` of a workflow is a key of that name, and no truth."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


def test_an_image_is_made_of_what_there_is() -> None:
    """What its steps copy lies in the project, and it runs as nobody in particular."""
    steps = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    copied = re.findall(r"^COPY (?!--from)(\S+) ", steps, re.MULTILINE)
    assert copied == ["locks/demo.txt", "."]
    assert all((ROOT / one).exists() for one in copied)
    assert re.search(r"^USER 10001$", steps, re.MULTILINE)
    assert re.search(r"^HEALTHCHECK .*\\\n.*/health", steps, re.MULTILINE)
    assert re.findall(r"^(?:VOLUME|CMD) (.*)$", steps, re.MULTILINE) == [
        "/data",
        '["ordain", "serve", "--host", "0.0.0.0"]',
    ]


def test_a_container_may_write_to_its_volume_alone() -> None:
    """Read-only root, no capabilities, no new privileges, and it is reached from this machine
    alone.
    """
    service = loaded(DEPLOY / "compose.yaml")["services"]["ordain"]
    assert (service["read_only"], service["cap_drop"], service["user"]) == (
        "true",
        ["ALL"],
        "10001:10001",
    )
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["volumes"] == ["data:/data"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert (ROOT / service["build"]["dockerfile"]).is_file()


def test_every_variable_of_a_key_has_what_it_names(tmp_path: Path) -> None:
    """The key itself comes by its variable; one that names a file has that file mounted, where the
    setting finds it and takes the key from it.
    """
    alone, keyed = (loaded(DEPLOY / f"compose{part}.yaml") for part in ("", ".key-file"))
    assert alone["services"]["ordain"]["environment"]["OPENAI_API_KEY"] == "${OPENAI_API_KEY:-}"
    for service in (alone["services"]["ordain"], keyed["services"]["ordain"]):
        files = {value for name, value in service["environment"].items() if name.endswith("_FILE")}
        assert files == {f"/run/secrets/{name}" for name in service.get("secrets", [])}
    assert set(keyed["services"]["ordain"]["secrets"]) == keyed["secrets"].keys()
    assert keyed["secrets"]["model_key"]["file"].startswith("${OPENAI_API_KEY_FILE:?")
    key = tmp_path / "model_key"
    key.write_text("k-1\n", encoding="utf-8")
    key.chmod(0o400)
    environment = {**keyed["services"]["ordain"]["environment"], "OPENAI_API_KEY_FILE": str(key)}
    assert api_key(environment) == "k-1"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    """Every directive is known, every value is one; the command that it starts is put where there
    is one.
    """
    unit = tmp_path / "ordain.service"
    text = (DEPLOY / "ordain.service").read_text(encoding="utf-8")
    unit.write_text(
        text.replace("/usr/local/lib/ordain/bin/ordain", sys.executable), encoding="utf-8"
    )
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_ci_runs_what_everybody_runs() -> None:
    """The same command, under each Python that the package says it is for."""
    (job,) = loaded(ROOT / ".github" / "workflows" / "ci.yml")["jobs"].values()
    told = re.findall(
        r"Python :: (3\.\d+)\"", (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    )
    assert job["strategy"]["matrix"]["python"] == told
    assert [step["run"] for step in job["steps"] if "run" in step] == ["./check"]
