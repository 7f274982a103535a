"""A key that was typed where a name belongs: it is told and stored nowhere."""

from __future__ import annotations

import re

from ordain.errors import ConfigurationError

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_KEY_FILES = (".txt", ".key", ".pem", ".secret")
_KEY_BEGINNINGS = ("sk-", "sk_", "pk_", "gsk_", "hf_", "xai_", "AIza", "AQ_")


def looks_like_key(text: str) -> bool:
    """Whether a word that should name something is rather a key."""
    kinds = (str.isupper, str.islower, str.isdigit)
    mixed = all(any(kind(character) for character in text) for kind in kinds)
    return (
        len(text) >= 20
        and (mixed or begins_like_key(text))
        and "/" not in text
        and not text.endswith(_KEY_FILES)
    )


def begins_like_key(text: str) -> bool:
    """Whether it has the beginning and the length of a provider's key, which no model's name has:
    those are as long, and of all kinds of characters.
    """
    return len(text) >= 20 and text.startswith(_KEY_BEGINNINGS)


def check_model(name: str) -> None:
    """Whether this can be a model's name and is not a key, which would be stored and shown.

    Raises:
        ConfigurationError: without what was given (``key_not_stored``).
    """
    if begins_like_key(name):
        message = "--model takes a model's name; what was given looks like a key and was not stored"
        raise ConfigurationError(message, code="key_not_stored")


def model_refusal(name: str) -> str:
    """What is wrong with a model's name that was typed, whoever is to have it ("": nothing)."""
    if begins_like_key(name):
        return "that looks like a key, and was not stored; a model is asked for"
    return "" if name else "a model is needed, as the endpoint calls it"


def check_variable(name: str) -> None:
    """Whether this can be a variable's name and is not the key itself, which nobody gets to see
    again.

    Raises:
        ConfigurationError: without what was given.
    """
    if _VARIABLE.fullmatch(name) is None or looks_like_key(name):
        message = (
            "--key-env takes the name of an environment variable, never a key; what was given "
            "looks like no name and was not stored"
        )
        raise ConfigurationError(message, code="key_not_stored")
