"""From profiles to adapters: extras that are missing, libraries that are not loaded, profiles that
share connections.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from ordain.contracts.profiles import ModelProfile
from ordain.errors import ConfigurationError
from ordain.models.providers import build_models
from tests.integration.models.wire import PROTOCOLS, profile

ROOT = Path(__file__).parents[3]
WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
from ordain.contracts.profiles import ModelProfile
from ordain.models.providers import build_models
from ordain.errors import ConfigurationError
try:
    build_models({{"mine": ModelProfile(provider={provider!r}, model="m")}}, {{}})
except ConfigurationError as error:
    print(error.message)
"""
LOADED = """
import sys
import ordain.app
from ordain.contracts.profiles import ModelProfile
from ordain.models.providers import build_models
for api in ("chat", "responses"):
    build_models({"mine": ModelProfile(provider="openai", model="m", api=api)}, {})
print(sorted(name for name in sys.modules if name.split(".")[0] in {"pydantic_ai", "anthropic", "google", "httpx2", "openai"}))
"""


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("provider", "missing"),
    [
        ("anthropic", ["pydantic_ai"]),
        ("anthropic", ["anthropic"]),
        ("gemini", ["pydantic_ai"]),
        ("gemini", ["google"]),
    ],
)
def test_a_missing_extra_says_what_to_install(provider: str, missing: list[str]) -> None:
    """B-35 "live backends optional behind the gateway interface": without its extra a provider is
    refused, with the command that mends it.
    """
    said = run(WITHOUT.format(missing=missing, provider=provider))
    assert (
        said
        == f"models.mine: provider {provider} needs its libraries: pip install 'ordain[{provider}]'"
    )


def test_nobody_pays_for_a_provider_that_no_profile_names() -> None:
    """An OpenAI-compatible endpoint loads none of the other providers' libraries."""
    assert run(LOADED) == "[]"


async def test_profiles_of_one_endpoint_and_key_share_an_adapter() -> None:
    """Two models behind one endpoint share its connections; another wire, key or address does
    not.
    """
    profiles: dict[str, ModelProfile] = {}
    for protocol in PROTOCOLS:
        profiles[f"{protocol.name} a"] = profile(protocol, "http://127.0.0.1:9")
        profiles[f"{protocol.name} b"] = profile(protocol, "http://127.0.0.1:9", model="another")
        profiles[f"{protocol.name} c"] = profile(protocol, "http://127.0.0.1:9")
    models = build_models(profiles, {name: "k" if name.endswith("c") else "" for name in profiles})
    for protocol in PROTOCOLS:
        a, b, c = (models[f"{protocol.name} {which}"] for which in "abc")
        assert a is b
        assert a is not c
    assert len(set(models.values())) == 2 * len(PROTOCOLS)
    for model in set(models.values()):
        await model.close()
        await model.close()  # idempotent


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
@pytest.mark.parametrize(
    ("base_url", "key"),
    [
        ("ftp://x", ""),
        ("http://user:pass@x", ""),
        ("http://x?key=1", ""),
        ("http://x", "a b"),
        ("http://x", "é"),
    ],
)
def test_what_no_wire_can_carry_is_refused_at_once(provider: str, base_url: str, key: str) -> None:
    """An address that is none, with a secret in it, or a key that no header takes, is refused with
    the profile's name and no secret.
    """
    with pytest.raises(ConfigurationError) as refused:
        build_models(
            {
                "mine": ModelProfile.model_validate(
                    {"provider": provider, "model": "m", "base_url": base_url}
                )
            },
            {"mine": key},
        )
    assert refused.value.message.startswith("models.mine: ")
    assert "pass" not in refused.value.message
