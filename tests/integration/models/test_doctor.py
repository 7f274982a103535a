"""The doctor against servers that do and do not do what they are asked."""

import json
from collections.abc import Callable

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile
from ordain.models.doctor import examine
from ordain.models.openai import OpenAIModel
from ordain.models.providers import build_models
from ordain.ports.model import ModelPort
from tests.e2e.process import nobody
from tests.integration.models.wire import API_KEY, Protocol
from tests.integration.models.wire import profile as asked_of


def profile(url: str | None, **more: object) -> ModelProfile:
    return ModelProfile.model_validate(
        {"provider": "openai", "model": "m-asked", "base_url": url, **more}
    )


async def test_an_endpoint_that_does_everything(
    llmock_url: str, llmock_model: OpenAIModel, script_llmock: Callable[..., None]
) -> None:
    """Native schema, tools and token counts are found where they come back."""
    script_llmock()
    report = await examine("mine", profile(llmock_url), llmock_model)
    assert (report.reachable, report.error, report.native_schema, report.tools, report.usage) == (
        True,
        None,
        True,
        True,
        True,
    )
    assert report.ok
    assert report.calls == 2
    assert report.answering_model
    assert "native schema: yes" in report.lines()
    assert json.loads(json.dumps(report.as_dict()))["ok"] is True


async def test_an_endpoint_that_ignores_the_schema(
    llmock_url: str, llmock_model: OpenAIModel, script_llmock: Callable[..., None]
) -> None:
    """A valid answer that is not of the schema proves that the schema is not enforced, and the
    report says what to set.
    """
    script_llmock({"type": "reply", "text": '{"word": "heron"}', "times": 2})
    report = await examine("mine", profile(llmock_url), llmock_model)
    assert (report.error, report.native_schema, report.tools) == (None, False, False)
    assert not report.ok
    assert 'set structured = "text"' in report.lines()[-1]
    script_llmock({"type": "reply", "text": "a heron", "times": 1})
    declared = await examine("mine", profile(llmock_url, native_schema=False), llmock_model)
    assert declared.ok


async def test_an_endpoint_that_refuses_the_schema(
    llmock_url: str, llmock_model: OpenAIModel, script_llmock: Callable[..., None]
) -> None:
    """Where only the schema is refused, the endpoint still works without it."""
    script_llmock({"type": "fail", "status": 400, "times": 1})
    report = await examine("mine", profile(llmock_url), llmock_model)
    assert (report.reachable, report.error, report.native_schema, report.calls) == (
        True,
        None,
        False,
        3,
    )


async def test_an_endpoint_that_refuses_the_key(
    llmock_url: str, llmock_model: OpenAIModel, script_llmock: Callable[..., None]
) -> None:
    """A refused key is reached, named, and not shown."""
    script_llmock({"type": "fail", "status": 401, "times": 1})
    report = await examine("mine", profile(llmock_url), llmock_model)
    assert (report.reachable, report.error, report.calls) == (
        True,
        ModelErrorCode.AUTHENTICATION,
        1,
    )
    assert not report.ok
    assert API_KEY not in str(report) + "".join(report.lines())


async def test_an_endpoint_that_is_not_there() -> None:
    """An unreachable endpoint is an error, never another provider."""
    with nobody() as port:
        url = f"http://127.0.0.1:{port}"
        model = OpenAIModel(url, API_KEY)
        report = await examine("mine", profile(url), model)
    assert (report.reachable, report.error, report.native_schema, report.tools) == (
        False,
        ModelErrorCode.CONNECTION,
        None,
        None,
    )
    assert any(line.startswith("not reached") for line in report.lines())


async def test_providers_without_an_endpoint() -> None:
    """The offline provider answers, says what it is, and claims nothing more."""
    offline = ModelProfile(provider="offline", model="offline")
    report = await examine("default", offline, build_models({"default": offline}, {})["default"])
    assert report.ok
    assert report.endpoint is None
    assert (report.native_schema, report.tools) == (None, None)
    assert any("no language model" in line for line in report.lines())


async def test_every_provider_is_examined(
    protocol: Protocol, spoken: ModelPort, llmock_url: str, script_llmock: Callable[..., None]
) -> None:
    """A profile whose answers are held by a tool is fit where the tool is called, whatever the
    provider and its wire.
    """
    script_llmock()
    report = await examine("mine", asked_of(protocol, llmock_url), spoken)
    assert (report.reachable, report.error, report.tools, report.usage, report.ok) == (
        True,
        None,
        True,
        True,
        True,
    )
    # llmock does not know Anthropic's format
    assert report.native_schema is (protocol.name != "anthropic")
    assert report.endpoint is not None
    assert report.endpoint.startswith(llmock_url)
    script_llmock({"type": "reply", "text": "a heron", "times": 3})
    talking = await examine("mine", asked_of(protocol, llmock_url), spoken)
    assert (talking.error, talking.tools, talking.ok) == (None, False, False)
    assert talking.lines()[-1].startswith(
        'set structured = "text" in profile mine: the endpoint does not call the tool'
    )
    script_llmock({"type": "fail", "status": 401, "times": 1})
    refused = await examine("mine", asked_of(protocol, llmock_url), spoken)
    assert (refused.reachable, refused.error, refused.calls) == (
        True,
        ModelErrorCode.AUTHENTICATION,
        1,
    )
    assert API_KEY not in str(refused) + "".join(refused.lines())
