"""From profiles to adapters."""

import subprocess
import sys
from pathlib import Path

import pytest

from ordain.contracts.profiles import ModelProfile
from ordain.errors import ConfigurationError
from ordain.models.offline import OfflineModel
from ordain.models.openai import OpenAIModel
from ordain.models.providers import build_models
from ordain.models.scripted import ScriptedModel


def test_each_profile_has_its_adapter(tmp_path: Path) -> None:
    """Every provider is built; profiles of one endpoint and key share an adapter, another key does
    not.
    """
    script = tmp_path / "s.yaml"
    script.write_text("planner: []", encoding="utf-8")
    openai = ModelProfile(provider="openai", model="a", base_url="http://127.0.0.1:1")
    models = build_models(
        {
            "a": openai,
            "b": openai.model_copy(update={"model": "b"}),
            "c": openai,
            "played": ModelProfile(provider="scripted", model="s", script=str(script)),
            "off": ModelProfile(provider="offline", model="offline"),
        },
        {"a": "one", "b": "one", "c": "two"},
    )
    assert isinstance(models["a"], OpenAIModel)
    assert models["a"] is models["b"]
    assert models["a"] is not models["c"]
    assert isinstance(models["played"], ScriptedModel)
    assert isinstance(models["off"], OfflineModel)


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        (ModelProfile(provider="scripted", model="s"), "needs script"),
        (ModelProfile(provider="scripted", model="s", script="no/such/file.yaml"), "file.yaml"),
        (ModelProfile(provider="openai", model="m", base_url="host:80"), "base_url"),
    ],
)
def test_a_profile_that_cannot_be_built_is_named(profile: ModelProfile, words: str) -> None:
    """What a provider lacks is a configuration error that names the profile."""
    with pytest.raises(ConfigurationError, match=r"^models\.mine: ") as caught:
        build_models({"mine": profile}, {})
    assert words in caught.value.message


def test_an_offline_start_loads_no_http_client() -> None:
    """Only a profile that needs a library loads it."""
    code = (
        "import sys\n"
        "from ordain.contracts.profiles import ModelProfile\n"
        "from ordain.models.providers import build_models\n"
        "build_models({'x': ModelProfile(provider='offline', model='offline')}, {})\n"
        "assert not {'httpx2', 'httpcore2', 'ssl', 'yaml'} & set(sys.modules), sorted(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
