"""``ordain verbs test``: examples are run for real, by the runtime itself, over storage in memory
that is thrown away.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct

from ordain.app import Extras, Ordain
from ordain.cli.call_arguments import parsed_input
from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.output import json_text, print_json, show
from ordain.cli.places import home_of
from ordain.contracts.nearest import no_such
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.risk import HARMLESS
from ordain.contracts.verbs import Example, VerbSpec
from ordain.errors import CallerError, ConfigurationError, InvalidRequest, NotFound
from ordain.models.scripted import ScriptedModel, make_script
from ordain.settings import Settings, load_settings

PASSED, FAILED_, SKIPPED = "passed", "failed", "skipped"
FILE_BYTES_MAX = 1_048_576
EXAMPLES_MAX = 1000
DIFFERENCES_MAX = 5
OFFLINE = "offline rules, no model"
NEEDS_A_YES = "approval_not_available"
_CANNOT = {"nothing_to_quote", "needs_model", "malformed", "truncated"}
"""What the offline rules say where they cannot quote into an output's shape."""


class VerbTrial(Struct, frozen=True, kw_only=True):
    """What is to be tried."""

    names: Sequence[str] = ()
    every: bool = False
    given: str | None = None
    file: Path | None = None
    writes: bool = False


@dataclass(slots=True, kw_only=True)
class Tried:
    """What became of one example; ``how`` says what did the work."""

    verb: str
    verdict: str
    why: str = ""
    how: str = ""
    input: dict[str, Any] = field(default_factory=dict[str, Any])
    output: Any = None
    notes: list[str] = field(default_factory=list[str])


def print_tests(data_dir: Path | None, asked: VerbTrial, *, as_json: bool) -> int:
    """Try what is asked for; one verdict an example.

    Raises:
        CallerError: nothing is named, or too much.
        NotFound: there is no such verb.
        ConfigurationError: settings or verbs are wrong.
    """
    if bool(asked.names) == asked.every:
        raise CallerError("name verbs, or --all", code="nothing_named")
    if (asked.given is not None or asked.file is not None) and (
        len(asked.names) != 1 or (asked.given is not None and asked.file is not None)
    ):
        raise CallerError(
            "--input and --file are for one verb, one of them", code="ambiguous_input"
        )
    tried = asyncio.run(_try(load_settings(home=home_of(data_dir)), asked))
    failed = sum(one.verdict == FAILED_ for one in tried)
    counts = {
        verdict: sum(one.verdict == verdict for one in tried)
        for verdict in (PASSED, FAILED_, SKIPPED)
    }
    if as_json:
        print_json({**counts, "examples": [msgspec.to_builtins(one) for one in tried]})
    else:
        for one in tried:
            _show(one, shown=not asked.every)
        show(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return FAILED if failed else OK


def _show(one: Tried, *, shown: bool) -> None:
    mark = {PASSED: "ok", FAILED_: "FAILED", SKIPPED: "skipped"}[one.verdict]
    show(
        f"{mark:<8}{one.verb}"
        + (f" ({one.how})" if one.how else "")
        + (f": {one.why}" if one.why else "")
    )
    for note in one.notes:
        show(f"        {note}")
    if shown and one.verdict != SKIPPED:
        show(f"        input:  {json_text(one.input)}")
        if one.output is not None:
            show(f"        output: {json_text(one.output)}")


async def _try(settings: Settings, asked: VerbTrial) -> list[Tried]:
    async with Ordain(settings, extras=Extras(memory=True)) as ordain:
        specs = {name: verb.spec for name, verb in ordain.catalog.verbs.items()}
        if missing := [name for name in asked.names if name not in specs]:
            broken = (
                [problem.message for problem in ordain.runtime.reloader.problems]
                if ordain.runtime.reloader
                else []
            )
            raise NotFound(
                "; ".join([no_such("verb", missing[0], specs), *broken]), code="unknown_verb"
            )
        own = str(settings.home / "verbs")
        tried: list[Tried] = []
        for name in asked.names or sorted(ordain.registry.specs):
            origin = ordain.registry.origins.get(name, "")
            why = _passed_over(
                ordain, specs[name], asked, own=origin.startswith((own, "function ordain_operator"))
            )
            if why:
                tried.append(Tried(verb=name, verdict=SKIPPED, why=why))
                continue
            tried += [
                await _one(ordain, settings, specs[name], example)
                for example in _examples(specs[name], asked)
            ]
        return tried


def _passed_over(ordain: Ordain, spec: VerbSpec, asked: VerbTrial, *, own: bool) -> str:
    """Why a verb is not tried; "" where it is."""
    if spec.flow is not None:
        return "a flow of Ordain's own" + (": only in a conversation" if spec.session_only else "")
    if spec.session_only:
        return "only in a conversation"
    if (
        inactive := ordain.catalog.inactive_reason(spec.name, ordain.settings.policy.verbs)
    ) is not None:
        return f"switched off here: {inactive}"
    if spec.example is None and asked.given is None and asked.file is None:
        return "has no example"
    if (
        asked.every
        and own
        and not spec.composite
        and spec.effect not in HARMLESS
        and not asked.writes
    ):
        return f"effect {spec.effect} would really happen: name it, or --writes"
    return ""


def _examples(spec: VerbSpec, asked: VerbTrial) -> Iterator[Example]:
    if asked.given is not None:
        yield Example(input=parsed_input(asked.given))
    elif asked.file is not None:
        yield from read_examples(asked.file)
    elif spec.example is not None:
        yield spec.example


def read_examples(file: Path) -> list[Example]:
    """The examples in a file: a list of ``{input, output}``, or the arguments of one.

    Raises:
        ConfigurationError: the file cannot be read.
        InvalidRequest: it holds something else.
    """
    try:
        with file.open("rb") as opened:
            content = opened.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise ConfigurationError(
            f"cannot read {file}: {error.strerror}", code="cannot_read"
        ) from error
    if len(content) > FILE_BYTES_MAX:
        raise InvalidRequest(f"{file} is larger than {FILE_BYTES_MAX} bytes", code="too_large")
    try:
        value: Any = json.loads(content)
        items = cast("list[Any]", value) if isinstance(value, list) else [{"input": value}]
        if len(items) > EXAMPLES_MAX:
            raise InvalidRequest(
                f"{file} holds more than {EXAMPLES_MAX} examples", code="too_large"
            )
        return [Example.model_validate_json(json.dumps(item, allow_nan=False)) for item in items]
    except (ValueError, RecursionError) as error:  # a ValidationError is a ValueError
        raise InvalidRequest(
            f"{file}: a JSON object of arguments, or a list of {{input, output}}",
            code="invalid_request",
        ) from error


async def _one(ordain: Ordain, settings: Settings, spec: VerbSpec, example: Example) -> Tried:
    """Run one example; a prompt plan that has no model plays the example's own output, and says
    so.
    """
    tried = Tried(
        verb=spec.name, verdict=PASSED, input=dict(example.input), how=_worker(ordain, spec)
    )
    reply = (await ordain.execute(spec.name, example.input)).wire
    error = reply["error"]
    if (
        error is not None
        and tried.how == OFFLINE
        and error["code"] in _CANNOT
        and example.output is not None
    ):
        reply = await _played(settings, spec, example)
        error, tried.how = (
            reply["error"],
            "no model is configured: the example's own output was played",
        )
    if error is not None and error["code"] == NEEDS_A_YES:
        tried.verdict, tried.why = SKIPPED, "each call needs somebody's yes, and a test asks nobody"
        return tried
    if error is not None:
        tried.verdict, tried.why = FAILED_, f"{error['code']}: {error['message']}"
        return tried
    tried.output = reply["output"]
    if example.output is not None and (found := list(differences(example.output, tried.output))):
        told = [f"differs from the example: {one}" for one in found[:DIFFERENCES_MAX]]
        if spec.composite:
            tried.notes = [*told, "a model's words may differ: the schema holds"]
        else:
            tried.verdict, tried.why, tried.notes = (
                FAILED_,
                "not the output that the example promises",
                told,
            )
    return tried


def _worker(ordain: Ordain, spec: VerbSpec) -> str:
    if not spec.composite:
        return f"{spec.http.method} {spec.http.host}" if spec.http is not None else "code"
    lanes = ordain.settings.policy.lanes
    if not (behind := lanes.profiles.get(lanes.verb)):
        return f"lane {lanes.verb} has no model"
    profile = ordain.settings.profiles[behind[0]]
    return OFFLINE if profile.provider == "offline" else f"{profile.provider} {profile.model}"


async def _played(settings: Settings, spec: VerbSpec, example: Example) -> dict[str, Any]:
    profile = ModelProfile(provider="scripted", model="scripted", script="the example")
    model = ScriptedModel(make_script(verbs={spec.name: [example.output] * len(spec.plan)}))
    scripted = settings.model_copy(update={"profiles": dict.fromkeys(settings.profiles, profile)})
    async with Ordain(
        scripted, extras=Extras(models=dict.fromkeys(settings.profiles, model), memory=True)
    ) as ordain:
        return (await ordain.execute(spec.name, example.input)).wire


def differences(expected: Any, found: Any, place: str = "") -> Iterator[str]:
    """Where the output is not what was promised; an object may have more than that."""
    given: Any = found
    match expected, found:
        case dict(), dict():
            for key, value in cast("dict[str, Any]", expected).items():
                if key in given:
                    yield from differences(value, given[key], f"{place}/{key}")
                else:
                    yield f"{place}/{key} is missing"
        case list(), list() if len(cast("list[Any]", expected)) == len(given):
            for index, value in enumerate(cast("list[Any]", expected)):
                yield from differences(value, given[index], f"{place}/{index}")
        case _:
            if expected != found or isinstance(expected, bool) is not isinstance(found, bool):
                yield (
                    f"{place or '/'} is {json_text(given)[:100]}, not "
                    f"{json_text(cast(object, expected))[:100]}"
                )
