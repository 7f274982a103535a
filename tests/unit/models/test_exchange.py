"""What adapters are set up with."""

import traceback
from base64 import b64decode
from collections.abc import Callable

import pytest

from ordain.errors import ConfigurationError
from ordain.models.exchange import Exchange
from ordain.models.foreign_model import http_client

PASSWORD = "proxy-password-71/with/slashes"
ADAPTERS: dict[str, Callable[[], object]] = {
    "exchange": lambda: Exchange("https://model.example/v1", []),
    "foreign": lambda: http_client("https://model.example/v1", "x-key", "key"),
}


@pytest.mark.parametrize(
    ("adapter", "proxy"),
    [
        *(
            (adapter, proxy)
            for adapter in ADAPTERS
            for proxy in (
                f"http://user:{PASSWORD}@127.0.0.1:8080",
                f"user:{PASSWORD}@127.0.0.1:8080",
                "http://user:proxy-password-71@127.0.0.1:notaport",
                "other://user:proxy-password-71@127.0.0.1:8080",
            )
        ),
        ("exchange", "http://user:proxy-password-71@[127.0.0.1:8080"),  # the other cannot connect
    ],
)
def test_a_proxy_that_is_none_is_said_without_its_password(
    adapter: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A password with a slash is taken for the port by whoever reads the address: what is said of
    it, and what a traceback would show, has no piece of it.
    """
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(ConfigurationError, match="proxy: ") as refused:
        ADAPTERS[adapter]()
    assert "proxy-password" not in "".join(traceback.format_exception(refused.value))


def test_a_base_url_that_is_none_is_said_without_its_password() -> None:
    """As of a proxy: the error that quotes it is not the cause of what is said."""
    with pytest.raises(ConfigurationError, match="base_url") as refused:
        Exchange(f"https://user:{PASSWORD}@model.example/v1", [])
    assert "proxy-password" not in "".join(traceback.format_exception(refused.value))


def test_a_proxys_password_is_taken_as_a_url_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a URL cannot hold as it is stands percent-encoded there, and goes out decoded."""
    monkeypatch.setenv("https_proxy", "http://us%40er:pass%2Fword@127.0.0.1:8080")
    monkeypatch.delenv("no_proxy", raising=False)
    proxy = Exchange("https://model.example/v1", [])._proxy  # pyright: ignore[reportPrivateUsage]
    assert proxy is not None
    ((_, sent),) = proxy._proxy_headers  # pyright: ignore[reportPrivateUsage]
    assert b64decode(sent.split()[-1]) == b"us@er:pass/word"
