"""What is said of a key that stands in the wrong file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ordain.errors import ConfigurationError
from ordain.settings import load_settings


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        (
            "policy.toml",
            "[access]\nloopback = 'token'\n",
            "access: there is no such key here: it stands in ordain.toml",
        ),
        (
            "policy.toml",
            "[verbs.secrets]\n",
            "verbs.secrets: there is no such key here: it stands in ordain.toml",
        ),
        (
            "ordain.toml",
            "[lanes]\nplan = ['a']\n",
            "lanes: there is no such key here: it stands in policy.toml",
        ),
        (
            "ordain.toml",
            "[verbs]\nmax_lost = 2\n",
            "verbs.max_lost: there is no such key here: it stands in policy.toml",
        ),
        (
            "policy.toml",
            "[lanes]\nlocal = ['gone']\n",
            "lanes.local: with such a value it stands in [lanes.profiles]",
        ),
        ("ordain.toml", "[acess]\n", "acess: there is no such key; did you mean access?"),
    ],
)
def test_a_key_of_the_other_file_is_told_where_it_stands(
    file: str, text: str, told: str, tmp_path: Path
) -> None:
    """Settings are the machine's, policy is what is allowed: which of two files has a key is easily
    mistaken, and "there is no such key" is no help then.
    """
    version = "version = 1\n" if file == "policy.toml" else ""
    (tmp_path / file).write_text(version + text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=re.escape(told)):
        load_settings({}, tmp_path)
