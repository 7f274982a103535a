"""What ``ordain init`` says of endpoints: which models they have, why one has no list, how one is
started.
"""

from __future__ import annotations

from ordain.errors import ConfigurationError
from ordain.models.discovery import Endpoint, Presence


def models_said(endpoint: Endpoint) -> str:
    """What an endpoint has to offer, in short."""
    match endpoint.heard:
        case Presence.WANTS_KEY:
            return "wants a key"
        case Presence.FOREIGN:
            return "something answers that lists no models"
        case Presence.SILENT:
            return "something listens that did not answer in time"
        case Presence.MODELS:
            names = endpoint.talkers
            return (
                ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
                if names
                else "it has no model yet"
            )


def unlisted(endpoint: Endpoint, key: str | None) -> ConfigurationError:
    """Why an endpoint that is there has no list of models, and what to do."""
    where = f"{endpoint.title} at {endpoint.base_url}"
    match endpoint.heard:
        case Presence.WANTS_KEY if key is None:
            message = (
                f"{where} runs and wants a key: --key-env VARIABLE or --key-file FILE says where "
                "it is; on a terminal it can be typed"
            )
            return ConfigurationError(message, code="key_missing")
        case Presence.WANTS_KEY:
            return ConfigurationError(
                f"{where} runs and does not take the key of {(key or '')[:100]}: check it there",
                code="key_refused",
            )
        case Presence.SILENT:
            return ConfigurationError(
                f"{where} did not list its models in time: try again, or say --model",
                code="no_endpoint",
            )
        case _:
            message = (
                f"what answers at {endpoint.base_url}/models lists no models: check the address, "
                "or say --model if it has no such list"
            )
            return ConfigurationError(message, code="no_endpoint")


def starting(use: str) -> str:
    """How a server of this name is started."""
    starts = {
        "ollama": "start it (ollama serve)",
        "llamacpp": "start it (llama-server -m FILE)",
        "lmstudio": "start its server (lms server start)",
    }
    return starts.get(use, "start it")
