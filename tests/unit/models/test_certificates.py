"""Which certificates an endpoint's own is held to, and how often they are loaded."""

from __future__ import annotations

from pathlib import Path

import certifi
import pytest

from ordain.errors import ConfigurationError
from ordain.models.certificates import trusted
from ordain.models.exchange import Exchange


def test_all_profiles_share_what_was_loaded() -> None:
    """What is trusted is the same for all that ask alike, and is loaded once."""
    assert trusted(trust_env=True) is trusted(trust_env=True)
    assert trusted(trust_env=True).get_ca_certs()


def test_what_the_environment_names_is_loaded_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another SSL_CERT_FILE is other certificates, where the environment counts."""
    before, alone = trusted(trust_env=True), trusted(trust_env=False)
    first, _, _ = (
        Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----")
    )
    (tmp_path / "one.pem").write_text(f"{first}-----END CERTIFICATE-----\n", encoding="utf-8")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "one.pem"))
    assert len(trusted(trust_env=True).get_ca_certs()) == 1
    assert trusted(trust_env=True) is not before
    assert len(trusted(trust_env=False).get_ca_certs()) == len(alone.get_ca_certs())


@pytest.mark.parametrize("there", [False, True])
def test_certificates_that_cannot_be_used_are_named(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable, the file and why: which of a dozen settings it is nobody could guess."""
    file = tmp_path / "certificates.pem"
    if there:
        file.write_text("none in here")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    for load in (lambda: trusted(trust_env=True), lambda: Exchange("https://e.example", {})):
        with pytest.raises(ConfigurationError) as refused:
            load()
        assert f"SSL_CERT_FILE={file}" in refused.value.message
        assert ("No such file" in refused.value.message) is not there
