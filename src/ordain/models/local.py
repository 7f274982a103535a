"""Models in files on this machine: llama.cpp in a process of its own, spoken to as an
OpenAI-compatible endpoint on loopback.

The process starts with the first attempt and ends with the adapter. It takes one request at a time;
a request that is given up frees its place within about a second (``llama_server.BATCH_TOKENS``). It
wants a key that is made anew at every start and told to nobody else.

A schema is enforced by grammar, but for bounds that llama.cpp refuses (``GRAMMAR_BOUND``): those
are left to the rules, which judge every answer anyway. Tools are not enforced, with many models'
templates: an answer held by a tool is held natively here.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import msgspec

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile, Structured
from ordain.errors import ConfigurationError
from ordain.models.llama_server import LlamaServerSettings, LlamaServing
from ordain.models.openai import OpenAIModel
from ordain.ports.model import Charge, Heard, ModelError, ModelReply, ModelRequest
from ordain.runtime.time_limit import TimeLimit

FOLDER = "local"
SHIPPED_MODEL = "SmolLM2-135M-Instruct.Q4_1"
SHIPPED_CONTEXT_TOKENS = 8192
GRAMMAR_BOUND = 2000
"""The largest number of repetitions that llama.cpp takes in a grammar; a schema with a larger one
is refused whole.
"""
_REPETITIONS = frozenset({"minLength", "maxLength", "minItems", "maxItems"})
MAGIC = b"GGUF"
ANSWER_BYTES = 4096
END_S = 5.0
GONE_S = 1.0
"""So long after its connection broke off a process that ends has ended."""
_NAMES = {one.value: one.name for one in signal.Signals}
"""Of those that have one: real-time signals have none."""
_PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV")
_PASSED_ON_FAMILIES = ("LC_", "LD_", "DYLD_", "PYTHON", "OMP_", "GGML_", "CUDA_")


def shipped_gguf(home: Path) -> Path:
    """Where ``ordain local install`` puts the model."""
    return home / FOLDER / f"{SHIPPED_MODEL}.gguf"


def gguf_of(profile: ModelProfile, home: Path) -> Path:
    """The file that a profile names; a relative one counts from the data folder."""
    return shipped_gguf(home) if profile.gguf is None else home / Path(profile.gguf).expanduser()


def check_gguf(file: Path) -> None:
    """Whether there is a model in the file, by its first bytes.

    Raises:
        ConfigurationError: there is none; the message says what to do.
    """
    try:
        with file.open("rb") as opened:
            magic = opened.read(len(MAGIC))
    except FileNotFoundError:
        raise ConfigurationError(
            f"there is no model in {file}; run: ordain local install", code="no_local_model"
        ) from None
    except OSError as error:
        raise ConfigurationError(
            f"cannot read {file}: {error.strerror}", code="no_local_model"
        ) from error
    if magic != MAGIC:
        raise ConfigurationError(f"{file} is no GGUF file", code="no_local_model")


def build_local(profile: ModelProfile, home: Path) -> LocalModel:
    """The adapter of a profile; nothing is started.

    Raises:
        ConfigurationError: the extra is missing, or there is no model in the file.
    """
    if find_spec("xllamacpp") is None:
        raise ConfigurationError(
            "provider local needs llama.cpp; run: pip install 'ordain[local]'", code="extra_missing"
        )
    gguf = gguf_of(profile, home)
    check_gguf(gguf)
    context = (
        profile.context_tokens
        if profile.gguf is not None
        else min(profile.context_tokens, SHIPPED_CONTEXT_TOKENS)
    )
    return LocalModel(gguf, threads=profile.threads, context_tokens=context)


class LocalModel:
    """One attempt at the model in a file. Ordering: one at a time, later ones wait their turn
    within their own time.
    """

    def __init__(
        self, gguf: Path, *, threads: int = 1, context_tokens: int = SHIPPED_CONTEXT_TOKENS
    ) -> None:
        """Nothing is loaded before the first attempt."""
        self._gguf = gguf.absolute()
        self._threads = threads
        self._context_tokens = context_tokens
        self._starting: asyncio.Task[OpenAIModel | ModelError] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"LocalModel({str(self._gguf)!r})"

    @property
    def pid(self) -> int | None:
        """The server's process while it runs."""
        return (
            self._process.pid
            if self._process is not None and self._process.returncode is None
            else None
        )

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """Ask once; the first attempt's time includes the loading, which goes on should that
        attempt be given up.
        """
        limit_s = min(request.timeout_s, request.profile.timeout_ms / 1000)
        try:
            async with TimeLimit(max(limit_s, 0)) as limit:
                model = await self._served()
        except TimeoutError:
            return _unserved(
                ModelErrorCode.TIMED_OUT, f"the model was not loaded within {limit_s:.3g} s"
            )
        if isinstance(model, ModelError):
            return model
        process = self._process
        reply = await model.attempt(
            msgspec.structs.replace(_by_grammar(request), timeout_s=limit.left_s or 0.0), heard
        )
        if (
            isinstance(reply, ModelError)
            and reply.code is ModelErrorCode.CONNECTION
            and process is not None
        ):
            return msgspec.structs.replace(reply, message=await _ended_by(process) or reply.message)
        return reply

    async def _served(self) -> OpenAIModel | ModelError:
        """The running server; it is started where there is none, or where the last one has
        ended.
        """
        if self._closed:
            return _unserved(ModelErrorCode.CONNECTION, "the adapter is closed")
        if self._starting is None or (self._starting.done() and self.pid is None):
            self._starting = asyncio.ensure_future(self._start(self._starting))
        return await asyncio.shield(self._starting)

    async def _start(
        self, before: asyncio.Task[OpenAIModel | ModelError] | None
    ) -> OpenAIModel | ModelError:
        if (gone := _came_of(before)) is not None:
            await gone.close()
        key = secrets.token_urlsafe(32)
        settings = LlamaServerSettings(
            gguf=str(self._gguf),
            threads=self._threads,
            context_tokens=self._context_tokens,
            key=key,
        )
        process: asyncio.subprocess.Process | None = None
        try:
            process = self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "ordain.models.llama_server"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,  # an interrupt from the terminal is ours to answer
                limit=ANSWER_BYTES,
            )
            try:
                serving = (
                    LlamaServing(error="the adapter is closed")
                    if self._closed
                    else await _asked(process, settings)
                )
            finally:
                self._reading = asyncio.ensure_future(_read_on(process))
        except (OSError, RuntimeError) as error:
            # the system has no such program, or no process or thread left
            serving = LlamaServing(
                error=f"llama.cpp cannot be started: {getattr(error, 'strerror', None) or error}"
            )
        if serving.url:
            # it says Keep-Alive, and ends the connection behind every stream
            return OpenAIModel(serving.url, key, keeps_streams=False)
        if process is not None:
            await _end(process)
        return _unserved(ModelErrorCode.NOT_FOUND, f"{self._gguf.name}: {serving.error}"[:300])

    async def close(self) -> None:
        """End the server, also one that is loading or answering; idempotent."""
        self._closed = True
        if self._process is not None:
            await _end(self._process)
        starting, self._starting = self._starting, None
        if starting is not None:
            await asyncio.wait({starting})
        if (model := _came_of(starting)) is not None:
            await model.close()
        if self._process is not None:
            await _end(self._process)


def _came_of(starting: asyncio.Task[OpenAIModel | ModelError] | None) -> OpenAIModel | None:
    """The server that a start came to; None where it failed, in whatever way."""
    if starting is None or starting.cancelled() or starting.exception() is not None:
        return None
    model = starting.result()
    return model if isinstance(model, OpenAIModel) else None


def _unserved(code: ModelErrorCode, message: str) -> ModelError:
    """There was no server to ask."""
    return ModelError(code=code, message=message, known=Charge.NOTHING_SENT)


async def _asked(
    process: asyncio.subprocess.Process, settings: LlamaServerSettings
) -> LlamaServing:
    """What the process says of itself once it has loaded the model, or has not."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(msgspec.json.encode(settings) + b"\n")
        await process.stdin.drain()
        return msgspec.json.decode(await process.stdout.readline(), type=LlamaServing)
    except (OSError, ValueError, msgspec.DecodeError):  # it has ended, or said something else
        return LlamaServing(error="llama.cpp ended while it loaded the model")


async def _read_on(process: asyncio.subprocess.Process) -> None:
    """Read what it prints besides its answer, to the end: asyncio learns of a pipe's end only while
    it reads, and ``wait`` returns after that.
    """
    assert process.stdout is not None
    with suppress(OSError):
        while await process.stdout.read(ANSWER_BYTES):
            pass


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close its input, which ends it; kill it where that does not."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(END_S):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _ended_by(process: asyncio.subprocess.Process) -> str:
    """That the process has ended, and by what; "" while it runs on. Its connection is gone a moment
    before it is.
    """
    try:
        async with asyncio.timeout(GONE_S):
            status = await process.wait()
    except TimeoutError:
        return ""
    by = f"status {status}" if status >= 0 else _NAMES.get(-status, f"signal {-status}")
    return f"llama.cpp ended while it answered ({by}); the next attempt begins it again"


def _environment() -> dict[str, str]:
    """What the server's process is told of ours: no key, no address."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED_ON or name.startswith(_PASSED_ON_FAMILIES)
    }


def _by_grammar(request: ModelRequest) -> ModelRequest:
    """What a tool would hold its grammar does; a schema in words needs no grammar to bear it."""
    held = Structured.NATIVE if request.held_by is Structured.TOOL else request.held_by
    return msgspec.structs.replace(
        request,
        held=held,
        schema=bearable(request.schema) if held is Structured.NATIVE else request.schema,
    )


def bearable(schema: Any) -> Any:
    """The schema without the bounds on repetition that llama.cpp does not take."""
    if isinstance(schema, list):
        return [bearable(part) for part in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    node = cast("dict[str, Any]", schema)
    return {
        key: bearable(value)
        for key, value in node.items()
        if not (key in _REPETITIONS and isinstance(value, int) and value > GRAMMAR_BOUND)
    }
