"""llama.cpp's HTTP server as a process of its own: ``python -m ordain.models.llama_server``,
started by ``models.local``.

A process, because measured within ours: loading a model holds the interpreter's lock all the time
(0.4 s for 98 MB), closing the server while it answers never returned, and what llama.cpp cannot
bear ends the process that it is in.

One line of JSON comes in (``LlamaServerSettings``), one goes out (``LlamaServing``); the process
ends when its standard input does, so it never outlives its parent. The key comes that way too: no
argument or variable shows it.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import msgspec
from msgspec import Struct

BATCH_TOKENS = 64
"""Tokens of a prompt that are read before the server looks whether anybody still waits: about a
second on one slow core. Measured: no slower than 512, and an abandoned prompt of 5,000 tokens keeps
the slot 0.8 s instead of 13 s with llama.cpp's 2,048.
"""
CACHE_MIB = 128
HTTP_THREADS = 4


class LlamaServerSettings(Struct, frozen=True, kw_only=True):
    """What to load, how to run it, and the key that every request must bring."""

    gguf: str
    threads: int
    context_tokens: int
    key: str


class LlamaServing(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where it listens, on loopback only; or why it does not."""

    url: str = ""
    error: str = ""


def serve(settings: LlamaServerSettings) -> tuple[LlamaServing, Any]:
    """Load the model and listen on a free port of loopback. The server lives as long as the second
    value.
    """
    llama: Any = import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = settings.gguf
    params.model_alias = {os.path.basename(settings.gguf).removesuffix(".gguf")}  # noqa: PTH119 - one name of a path; nothing more is loaded
    params.n_ctx = settings.context_tokens
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings.threads
    params.n_threads_http = HTTP_THREADS
    params.cache_ram_mib = CACHE_MIB
    params.api_keys = [settings.key]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.offline = True
    params.ui = False
    params.verbosity = 0
    try:
        server = llama.Server(params)
    except RuntimeError:
        return LlamaServing(error="llama.cpp cannot load it"), None
    return LlamaServing(url=server.listening_address), server


def main() -> None:
    """Serve until standard input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever llama.cpp prints is no answer of ours
    serving, server = serve(
        msgspec.json.decode(sys.stdin.buffer.readline(), type=LlamaServerSettings)
    )
    answers.write(msgspec.json.encode(serving) + b"\n")
    answers.flush()
    if server is not None:
        sys.stdin.buffer.read()
    # closing a server that answers may never return; the system closes everything at once
    os._exit(0)


if __name__ == "__main__":
    main()
