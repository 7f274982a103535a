"""Keys of policy and settings as the models declare them: types, bounds, defaults, and the comments
of a TOML file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from scripts.described import code, table, written

_MODULE = re.compile(r"\b(?:typing|ordain(?:\.[a-z_]+)+)\.(?=[A-Z])")
MEANINGS = {
    "Policy.version": "Version of the policy's own format.",
    "StepPolicy.max_bytes": "Longest directive, in UTF-8 bytes.",
    "StepPolicy.max_depth": "Deepest nesting of a directive.",
    "LimitsPolicy.max_steps": "Most steps of a run, re-asked ones included.",
    "LimitsPolicy.max_tokens_reason": (
        "Most completion tokens of the planner calls that do not finish."
    ),
    "LimitsPolicy.max_tokens_answer": "Most completion tokens of the planner call that finishes.",
    "LimitsPolicy.timeout_seconds": (
        "Longest time from acceptance to the end; also the deadline of every run."
    ),
    "LanesPolicy.planner": "The lane of planner steps.",
    "LanesPolicy.verb": "The lane of prompt-plan verbs.",
    "LanesPolicy.profiles": (
        "Model profiles behind each lane, in the order in which they are tried. Without it every "
        "lane is the default profile."
    ),
    "LanesPolicy.next_lane": "The lane to try when a lane's profiles are used up.",
    "FallbackPolicy.attempts_per_profile": (
        "Attempts at one profile, where the answer to the error is `retry`."
    ),
    "FallbackPolicy.attempts_total": "Attempts of one call, over all profiles and lanes.",
    "BudgetPolicy.run_tokens": "Tokens, prompts and answers together.",
    "BudgetPolicy.run_usd_micros": "Money at the profiles' list prices.",
    "BudgetPolicy.run_model_calls": "Attempts at models.",
    "BudgetPolicy.run_verb_calls": "Attempts at verbs.",
    "BudgetPolicy.day_usd_micros": "Money of the whole workspace, per UTC day; 0 sets no bound.",
    "VerbsPolicy.default": "What is active everywhere.",
    "VerbsPolicy.nodes": (
        "What is active on the node of this name (`node` in `ordain.toml`), on top of the default."
    ),
    "VerbsPolicy.system_state": "The state that the verbs' safety rules look at.",
    "VerbsPolicy.max_depth": "How deep verbs may call verbs.",
    "Activation.allow": "Patterns of verb ids (`web.*`); empty means all.",
    "Activation.deny": "Patterns of verb ids; they win over `allow`.",
    "RetentionPolicy.input_days": "Requests.",
    "RetentionPolicy.model_days": "What models were asked and answered.",
    "RetentionPolicy.verb_days": "What verbs were given and gave.",
    "RetentionPolicy.result_days": (
        "What a child run handed to its parent, and results that are stored apart (above 4 KiB)."
    ),
    "EnginePolicy.max_running": "Runs driven at once; more wait for their turn.",
    "EnginePolicy.max_accepted": (
        "Runs without a parent that are ready, running or waiting, but not for a person; beyond "
        "it callers get 429."
    ),
    "EnginePolicy.retry_after_s": "The Retry-After of that 429, in seconds.",
    "HistoryPolicy.max_bytes": (
        "Bytes of history in one prompt, as JSON; less where the model's window leaves less."
    ),
    "HistoryPolicy.keep_entries": "Entries that stay whole when older ones are summarised.",
    "AttachPolicy.ask": (
        "The lane whose model may suggest a message's class where its wording leaves that open; "
        "without it code alone decides."
    ),
    "AttachPolicy.threshold": "Least confidence at which such a suggestion counts.",
    "RouterPolicy.ask": (
        "The lane whose model may suggest a turn's path; without it the mode's own path holds."
    ),
    "RouterPolicy.threshold": "Least confidence at which such a suggestion counts.",
    "RouterPolicy.default_class": "The budget class of a turn whose message names none.",
    "RouterPolicy.classes": (
        "What each budget class permits; a suggestion may lower a turn's class, never raise it."
    ),
    "BudgetCaps.max_steps": (
        "Most steps of the supervised loop; also bounded by the message, by "
        "`supervisor.max_steps` and by `limits`."
    ),
    "BudgetCaps.max_tokens_reason": "Most completion tokens of the steps that do not finish.",
    "BudgetCaps.max_tokens_answer": "Most completion tokens of the answer.",
    "BudgetCaps.timeout_seconds": (
        "Longest work on the turn; the time that a person takes to answer does not count."
    ),
    "SupervisorPolicy.ask": (
        "The lane whose model may suggest each next move; without it the facts alone decide."
    ),
    "SupervisorPolicy.max_steps": "Steps of a supervised turn whose message asks for no number.",
    "ProbeMessage.text": "What is said.",
    "ProbeMessage.mode": "The mode asked for.",
    "ProbeMessage.verb": "The one verb named.",
    "ProbeMessage.supervised": "Whether a supervised turn is asked for.",
    "ProbeMessage.workflow": "The workflow template hinted at.",
    "ProbeMessage.delegates": "The delegates hinted at.",
    "ProbeExpectation.attached": "The class of the message in a session where nothing else is.",
    "ProbeExpectation.verb": "The verb the turn enters by.",
    "ProbeExpectation.outcome": "What the turn is.",
    "ProbeExpectation.path": "Its path.",
    "ProbeExpectation.budget_class": "Its budget class.",
    "ProbeExpectation.refused": "The error code that it ends with.",
    "Probe.message": "The message.",
    "Probe.suggests": "What a router model is supposed to answer, as an object or as text.",
    "Probe.expect": "What must come out.",
    "FileSettings.models": "Model profiles by name.",
    "FileSettings.verbs": "What the shipped leaf verbs may reach.",
    "FileSettings.policy": (
        "The policy's file, counted from the data folder; `policy.toml` there where it is not "
        "named."
    ),
    "FileSettings.node": "This node's name in `verbs.nodes` of the policy.",
    "ModelProfile.provider": "What answers.",
    "ModelProfile.model": "The model's name at its endpoint.",
    "ModelProfile.base_url": "The endpoint; OpenAI's where it is not set.",
    "ModelProfile.native_schema": (
        "Whether the endpoint enforces `response_format` with a JSON Schema."
    ),
    "ModelProfile.timeout_ms": "Longest time of one attempt.",
    "ModelProfile.max_tokens": "Most completion tokens of one answer.",
    "ModelProfile.temperature": "Sent where it is set.",
    "ModelProfile.usd_micros_per_1k_input": "List price of 1,000 prompt tokens.",
    "ModelProfile.usd_micros_per_1k_output": "List price of 1,000 completion tokens.",
    "VerbSettings.files_root": (
        "The folder below which `files.read` reads, counted from the data folder."
    ),
    "VerbSettings.urls": "The URLs that `web.fetch` fetches.",
    "VerbSettings.private_hosts": "Names among them that may resolve to private addresses.",
    "VerbSettings.threads": "Plain functions that run at once.",
    "VerbSettings.python": (
        "Whether the `*.py` files of the verbs folder are run, in this process and with all its "
        "rights."
    ),
    "VerbSettings.watch_ms": "How often a server looks for changed verb files; 0 is never.",
    "VerbSettings.secrets": (
        'The secrets of HTTP verbs by name: `{env = "NAME"}` or `{file = "PATH"}`, and `hosts`, '
        "the only ones that it may be sent to: at least one."
    ),
}
"""What keys mean that the models leave without a description; a key with neither fails the
reference's test.
"""


def meaning_of(model: type[BaseModel], key: str, comment: str = "") -> str:
    """The meaning of a key: the comment beside it, its description, or the table above."""
    return (
        comment
        or model.model_fields[key].description
        or MEANINGS.get(f"{model.__name__}.{key}", "")
    )


def policy_row(
    key: str,
    model: type[BaseModel],
    shipped: BaseModel,
    comments: Mapping[str, str],
    prefix: str = "",
) -> tuple[str, ...]:
    """One key: its type with bounds, default, shipped value where that is another, and meaning."""
    field = model.model_fields[key]
    value = getattr(shipped, key)
    named = _entries(field)
    ours = "" if value == field.default else code(written(_plain(value)))
    return (
        code(f"{prefix}{key}"),
        type_of(field),
        f"{', '.join(map(code, named))}: below" if named else code(_default(field)),
        "as below, other values" if named and ours else ours,
        meaning_of(model, key, comments.get(f"{prefix}{key}", "")),
    )


def _default(field: Any) -> str:
    if field.default is PydanticUndefined:
        return "" if field.default_factory is None else written(field.default_factory())
    return written(_plain(field.default))


def _plain(value: Any) -> Any:
    """A value with the models in it as JSON."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _entries(field: Any) -> list[str]:
    """The names of a default that holds models by name."""
    given = field.default
    return (
        [str(name) for name in given]
        if isinstance(given, dict) and any(isinstance(one, BaseModel) for one in given.values())
        else []
    )


def caps_table(model: type[BaseModel], given: Mapping[Any, BaseModel]) -> list[str]:
    """The keys of models that stand in a table by name: a column for each."""
    rows = [
        (
            code(key),
            type_of(field),
            *(code(written(_plain(getattr(one, key)))) for one in given.values()),
            meaning_of(model, key),
        )
        for key, field in model.model_fields.items()
    ]
    return table(("key", "type", *(code(str(name)) for name in given), "meaning"), rows)


def type_of(field: Any) -> str:
    """The type with its bounds, as people read it."""
    parts = get_args(field.annotation)
    names = (
        ("each key", "each value")
        if get_origin(field.annotation) is dict
        else ("each",) * len(parts)
    )
    inner = [
        f"{name} {bound}"
        for name, part in zip(names, parts, strict=False)
        for bound in _bounds(getattr(part, "__metadata__", ()))
    ]
    return ", ".join([code(_named(field.annotation)), *_bounds(field.metadata), *inner])


SIGNS = {
    "ge": "≥",
    "gt": ">",
    "le": "≤",
    "lt": "<",
    "min_length": "length ≥",
    "max_length": "length ≤",
    "pattern": "matches",
}


def _bounds(metadata: Iterable[Any]) -> list[str]:
    """The bounds in an annotation's metadata, those of a ``Field`` inside it included."""
    found: list[str] = []
    for bound in metadata:
        found += [
            f"{sign} {getattr(bound, name)}"
            for name, sign in SIGNS.items()
            if getattr(bound, name, None) is not None
        ]
        found += _bounds(getattr(bound, "metadata", ()))
    return found


def _named(annotation: Any) -> str:
    annotation = _bare(annotation)
    if annotation is None or annotation is type(None):
        return "null"
    return (
        annotation.__name__
        if isinstance(annotation, type) and not get_args(annotation)
        else _short(str(annotation))
    )


def _bare(annotation: Any) -> Any:
    """A type without the bounds of what it holds, which stand beside it."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    parts = get_args(annotation)
    bare = tuple(map(_bare, parts))
    return (
        annotation
        if all(one is part for one, part in zip(bare, parts, strict=True))
        else get_origin(annotation)[bare]
    )


def _short(text: str) -> str:
    """Types by their own names, whatever module they stand in."""
    return _MODULE.sub("", text)


def models_of(model: type[BaseModel]) -> list[type[BaseModel]]:
    """The models that a model's keys hold, in order, each once, those of inner models after the one
    that holds them.
    """
    found: dict[type[BaseModel], None] = {}
    for field in model.model_fields.values():
        inner = model_in(field.annotation)
        if inner is not None:
            found |= dict.fromkeys([inner, *models_of(inner)])
    return list(found)


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation is, or holds, if any."""
    for part in (annotation, *get_args(annotation)):
        if isinstance(part, type) and not get_args(part) and issubclass(part, BaseModel):
            return part
    return None


def enums_of(model: type[BaseModel]) -> Iterator[type[StrEnum]]:
    """The enumerations that a model's keys take, in order, those of inner models included."""
    for field in model.model_fields.values():
        inner = model_in(field.annotation)
        if inner is not None:
            yield from enums_of(inner)
        for part in (field.annotation, *get_args(field.annotation)):
            if isinstance(part, type) and not get_args(part) and issubclass(part, StrEnum):
                yield part


def model_table(model: type[BaseModel]) -> list[str]:
    """Every key of a model."""
    rows = [
        (code(field.alias or name), type_of(field), code(_default(field)), meaning_of(model, name))
        for name, field in model.model_fields.items()
    ]
    return table(("key", "type", "default", "meaning"), rows)


def comments_of(toml: str) -> dict[str, str]:
    """The comment beside each key and section of a TOML file."""
    found: dict[str, str] = {}
    section = ""
    for line in toml.splitlines():
        given, _, comment = line.partition("#")
        key = given.partition("=")[0].strip()
        if key.startswith("["):
            section, said = f"{key.strip('[]')}.", _sentence(comment)
            found[section.rstrip(".")] = said
        elif key:
            found[f"{section}{key}"] = _sentence(comment)
    return found


def _sentence(comment: str) -> str:
    text = comment.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}." if text else ""
