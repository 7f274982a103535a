"""Pages of docs/reference that are generated from the code. Without an option they must be current;
`--write` makes them so.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from inspect import unwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, get_args

from ordain.cli.entry import exit_code
from ordain.contracts import events
from ordain.contracts.council import CouncilDirective
from ordain.contracts.failures import CATEGORY, TO_DO
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.verbs import VerbSpec
from ordain.effects import calls, children, effect, results
from ordain.flows.carried import VERB_PLAN
from ordain.flows.kind import Kind, no_grant, no_label
from ordain.flows.shipped import shipped_kinds
from ordain.journal.records import (
    BESIDE_FLOW,
    BODY_OF,
    CURRENT_VERSION,
    HANDED_TO_FLOW,
    SETTLED,
    STOPPED,
    Record,
    RecordKind,
    Status,
)
from ordain.journal.transitions import OPENED, TRANSITIONS
from ordain.journal.upcasters import UPCASTERS
from ordain.ports import effects
from ordain.rules.council import COURSE, DOUBTS, CouncilEnd, CouncilStage
from ordain.server import Face, build_app
from ordain.server.documents import SCHEMAS
from ordain.settings import FileSettings
from ordain.shipped_verbs import builtin_registry
from ordain.store.schema import VERSION
from ordain.wording.engines import ENGINES, NEWEST
from scripts.described import (
    all_codes,
    all_errors,
    all_kinds,
    all_ports,
    all_rules,
    code,
    environment_names,
    field_table,
    lane_of,
    members,
    page,
    planner_codes,
    summary,
    table,
    tag,
    text_of,
    turn_codes,
    whole,
    written,
)
from scripts.keys import model_in, model_table
from scripts.policy_page import render_policy

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
DECLARED_URL = "https://example.com/declared"

ENVIRONMENT = {
    "ORDAIN_HOME": "The data folder. `~/.ordain` where it is not set.",
    "OPENAI_BASE_URL": (
        "An OpenAI-compatible endpoint; it becomes the profile `default`, over the one in "
        "`ordain.toml`."
    ),
    "OPENAI_API_KEY": (
        "A key. Profiles with provider `openai` that name none of their own send it: those of the "
        "endpoint of profile `default` where that is "
        "such a one, else those of OpenAI itself. Where no profile is written and no backend "
        "named, or a lane names a profile `default` that nothing "
        "else makes, it means OpenAI's model `PLANNER_MODEL` as that profile."
    ),
    "OPENAI_API_KEY_FILE": "A file that holds the key, where `OPENAI_API_KEY` is not set.",
    "PLANNER_MODEL": "The model of the profile `default`: of one that the environment makes, "
    "and in "
    "place of "
    "the one that "
    "`[models.default]` names where its provider is `openai`. Needed where OpenAI itself, "
    "Anthropic or Gemini is asked and none is named.",
    "LLM_PROFILES_CONFIG_PATH": (
        "A YAML or TOML file of model profiles (`profiles`, by name), beside those in "
        "`ordain.toml`, which win."
    ),
    "LLM_DEFAULT_BACKEND": (
        "The provider of the profile `default`, where neither a file nor `OPENAI_BASE_URL` "
        "makes one."
    ),
    "LLM_DEFAULT_MODEL": "The model of that profile; else `PLANNER_MODEL`.",
    "PLANNER_PORT": "The HTTP port. 8090 where it is not set.",
    "PLANNER_HOST": "Where `ordain serve` listens, over `server.host` in `ordain.toml`.",
    "ORDAIN_TOKEN": (
        "The token that commands send to the server of the data folder, once it has proven to be "
        "that, instead of the owner's own key."
    ),
    "ORDAIN_TOKEN_FILE": "A file that holds it, where `ORDAIN_TOKEN` is not set.",
    "ORDAIN_SCRIPT": (
        "A file of proposals: the profile `default` plays it (provider `scripted`), over "
        "everything else."
    ),
    "COUNCIL_MAX_ROUNDS": "Rounds of one council, over `max_rounds` in `[council]` of policy.",
    "COUNCIL_ROUND_TIMEOUT_SEC": (
        "Time of one round, seats, chair and auditor together, over `round_timeout_seconds` there."
    ),
    "COUNCIL_LLM_TIMEOUT_SEC": (
        "Time of one attempt at a model in a council, over `llm_timeout_seconds` there."
    ),
    "SSL_CERT_FILE": (
        "Certificates to trust instead of the system's, for model endpoints, `web.fetch` and "
        "`mail.send`."
    ),
    "SSL_CERT_DIR": "A folder of certificates, likewise.",
    "NO_COLOR": "Where it is not empty, `ordain chat` uses no colours.",
    "TERM": "`ordain chat` is interactive only where it is neither empty nor `dumb`.",
}
"""What each environment variable means; the test holds the names to what the code reads."""


def render_reasons() -> str:
    """One table per rule: every reason code and what it means."""
    lines = page(
        "Reason codes",
        (
            "Every decision carries exactly one of these codes. Each rule brings its own set; "
            "a set "
            "that several rules share stands once."
        ),
    )
    sets = dict.fromkeys(reasons for one in all_rules() for reasons in one.rule.reasons)
    for reasons in sets:
        rows = [(code(reason.value), reason.meaning) for reason in reasons]
        lines += [
            f"## {reasons.__name__.removesuffix('Reason').lower()}",
            "",
            summary(reasons),
            "",
            *table(("code", "meaning"), rows),
        ]
    return text_of(lines)


def render_rules() -> str:
    """Each rule: what it decides, from which facts, with which outcomes and reasons."""
    lines = page(
        "Rules",
        "A rule is a pure function of facts, inputs and policy. It returns one outcome with one "
        "reason; it never raises. The record of a "
        "decision holds facts, outcome and reason. Inputs are looked up again from the journal "
        "and the pinned catalog: `facts` of at most 1 "
        "KiB never hold content. A *local* rule's facts come from its own run; a *shared* rule's "
        "are read inside the write transaction.",
    )
    described = all_rules()
    rows = [
        (f"[`{one.rule.name}`](#{one.rule.name})", "shared" if one.shared else "local", one.meaning)
        for one in described
    ]
    lines += table(("rule", "kind", "what it does"), rows)
    for one in described:
        lines += [
            f"## {one.rule.name}",
            "",
            *([one.about, ""] if one.about else []),
            f"{one.meaning} Module `{one.module}`.",
            "",
        ]
        lines += [
            f"**Facts** `{one.facts.__name__}`: {summary(one.facts)}",
            "",
            *field_table(one.facts),
        ]
        if one.inputs is not None:
            lines += [
                f"**Inputs** `{one.inputs.__name__}`: {summary(one.inputs)}",
                "",
                *field_table(one.inputs),
            ]
        for part in one.parts:
            lines += [f"**{part.__name__}**: {summary(part)}", ""]
            lines += (
                [f"{', '.join(code(str(value)) or '(empty)' for value in part)}.", ""]
                if issubclass(part, StrEnum)
                else field_table(part)
            )
        lines += ["**Outcomes**", ""]
        lines += table(
            ("type", "fields", "meaning"),
            [(code(tag(kind)), _field_names(kind), summary(kind)) for kind in one.outcomes],
        )
        lines += [
            "**Reasons**",
            "",
            *table(
                ("code", "meaning"),
                [(code(reason.value), reason.meaning) for reason in one.reasons],
            ),
        ]
    return text_of(lines)


def _field_names(kind: type[Any]) -> str:
    return ", ".join(code(name) for name in kind.__struct_fields__)


def render_records() -> str:
    """Each record kind: its version, its body and how it is read."""
    lines = page(
        "Journal records",
        (
            "The journal of a run is the sequence of its records. Stored bodies are never "
            "rewritten; "
            "old ones are upcast on read."
        ),
    )
    lines += ["## The envelope", "", whole(Record), "", *field_table(Record), "## Kinds", ""]
    rows = [
        (
            f"[`{kind}`](#{kind})",
            str(CURRENT_VERSION[kind]),
            _yes(kind in HANDED_TO_FLOW),
            _yes(kind in BESIDE_FLOW),
            summary(BODY_OF[kind]),
        )
        for kind in RecordKind
    ]
    lines += table(
        ("kind", "version", "moves the flow's time", "never seen by the flow", "what it says"), rows
    )
    for kind in RecordKind:
        lines += [
            f"## {kind}",
            "",
            f"Version {CURRENT_VERSION[kind]}. {whole(BODY_OF[kind])}",
            "",
            *field_table(BODY_OF[kind]),
        ]
        for (old, version), step in sorted(UPCASTERS.items()):
            if old is kind:
                lines += [f"From version {version}: {summary(step)}", ""]
    return text_of(lines)


def render_statuses() -> str:
    """Where a run may stand after where it stands, as a drawing and as a table."""
    lines = page(
        "Statuses",
        "Where a run stands, and how that changes. A store changes a status along this table and "
        "in no other way; what would change it otherwise "
        "is refused. Nothing but operators' notes follows a settled run; a stopped one is kept as "
        "it is, for an operator.",
    )
    groups = {"settled": SETTLED, "stopped": STOPPED}
    lines += ["```mermaid", "stateDiagram-v2"]
    lines += [
        f'    state "{", ".join(status for status in Status if status in group)}" as {name}'
        for name, group in groups.items()
    ]
    lines += [f"    [*] --> {status}" for status in Status if status in OPENED]
    for move in TRANSITIONS:
        sources, targets = _grouped(move.sources, groups), _grouped(move.targets, groups)
        lines += [
            f"    {source} --> {target}: {move.what}" for source in sources for target in targets
        ]
    lines += [
        "```",
        "",
        (
            "`queued` and `ready` are what a run begins as: behind the unsettled turns of its "
            "thread, "
            "or at once."
        ),
        "",
    ]
    rows = [(move.what, _codes(move.sources), _codes(move.targets)) for move in TRANSITIONS]
    return text_of([*lines, *table(("a run …", "from", "to"), rows)])


def render_council() -> str:
    """What a council's verdicts lead to, as a drawing and as a table."""
    lines = page(
        "Councils",
        "What a round of a council leads to: rule [`council`](rules.md#council) has this one "
        "table, and nothing else decides. Before the auditor's word code looks "
        "at the chair, whose `DELEGATE` is as good as the auditor's `delegate`, and at the "
        "scores. How a council is held: [the guide](../guides/council.md).",
    )
    lines += [
        "```mermaid",
        "stateDiagram-v2",
        "    [*] --> seats",
        "    seats --> first: enough have spoken",
        "    seats --> council_no_quorum: too few have",
    ]
    rest = {None: "", True: ", rounds left", False: ", no round left"}
    for row in COURSE:
        stages = [stage for stage in CouncilStage if row.stage in (None, stage)]
        lines += [
            f"    {stage} --> {_after(row.leads_to)}: {row.word}{rest[row.rounds_left]}"
            for stage in stages
        ]
    lines += [
        f"    {stage} --> council_verdict_invalid: no judgement or verdict"
        for stage in CouncilStage
    ]
    lines += [
        "```",
        "",
        "`first` and `revised` are a round's first judgement and the one after a revision.",
        "",
    ]
    left = {None: "", True: "yes", False: "no"}
    rows = [
        (
            code(row.word),
            row.stage or "",
            left[row.rounds_left],
            code(row.leads_to),
            row.reason.meaning,
        )
        for row in COURSE
    ]
    lines += table(("the auditor says", "at", "rounds left", "leads to", ""), rows)
    lines += [
        (
            "An `accept` counts as `revise_same_round` where one of these holds, the first of "
            "which "
            "is told:"
        ),
        "",
    ]
    doubts = [(one.score, code(one.bound), one.reason.meaning) for one in DOUBTS]
    return text_of([*lines, *table(("score", "bound in policy's `[council]`", ""), doubts)])


def _after(leads_to: CouncilDirective | CouncilEnd) -> str:
    """The state that a directive leads to in the drawing."""
    states = {
        str(CouncilDirective.REVISE): str(CouncilStage.REVISED),
        str(CouncilDirective.NEW_ROUND): "seats",
    }
    return states.get(str(leads_to), str(leads_to))


def _grouped(statuses: frozenset[Status], groups: Mapping[str, frozenset[Status]]) -> list[str]:
    """Names of whole groups where the statuses hold them, and of what else there is."""
    whole_ones = [name for name, group in groups.items() if group <= statuses]
    rest = statuses - frozenset[Status]().union(*(groups[name] for name in whole_ones))
    return [*(str(status) for status in Status if status in rest), *whole_ones]


def _codes(statuses: frozenset[Status]) -> str:
    return ", ".join(code(status) for status in Status if status in statuses)


def _yes(holds: bool) -> str:
    return "yes" if holds else ""


def render_effects() -> str:
    """Each effect with its results, the ends of children, and the signals."""
    lines = page(
        "Effects and results",
        "An effect is one attempt at one thing in the world. Its record is an `intent` before and "
        "an `observation` after; the `effect` and "
        "`result` keys name them in JSON. Deadlines are absolute, in microseconds since 1970 UTC.",
        "## Effects",
    )
    for kind in members(effect.AnyEffect):
        lines += [f"### {tag(kind)}", "", f"`{kind.__name__}`. {whole(kind)}", ""]
        given = members(get_args(kind.__orig_bases__[0])[0]) or [results.Joined]
        recorded = [tag(result) for result in given if issubclass(result, results.Result)]
        lines += [f"Results: {', '.join(f'[`{name}`](#result-{name})' for name in recorded)}.", ""]
        lines += [
            f"Or `{one.__name__}`: {whole(one)}\n"
            for one in given
            if not issubclass(one, results.Result)
        ]
        lines += field_table(kind)
    lines += ["### Parts of effects", ""]
    for part in (
        effect.UserQuestion,
        calls.Call,
        calls.Authorized,
        children.Spawn,
        children.Join,
        effect.Claim,
    ):
        lines += [f"**{part.__name__}.** {whole(part)}", "", *field_table(part)]
    lines += ["## Results", "", whole(results.Result), ""]
    for kind in members(results.AnyResult):
        lines += [
            f"### Result `{tag(kind)}`",
            "",
            f"`{kind.__name__}`. {whole(kind)}",
            "",
            *field_table(kind, hide=("seq",)),
        ]
    lines += ["## How a child ends", "", whole(children.Ended), "", *field_table(children.Ended)]
    common = children.Ended.__struct_fields__
    for kind in members(children.AnyEnded):
        lines += [
            f"### End `{tag(kind)}`",
            "",
            f"`{kind.__name__}`. {whole(kind)}",
            "",
            *field_table(kind, hide=common),
        ]
    lines += [
        "## Signals",
        "",
        *table(
            ("signal", "meaning"),
            [(code(s.__name__), whole(s)) for s in (effects.Suspended, effects.Interrupted)],
        ),
    ]
    return text_of(lines)


def render_kinds() -> str:
    """Each kind of run with the versions that can be resumed and what it brings; and what else of a
    data folder is read.
    """
    lines = page(
        "Kinds of runs",
        "A run pins the name and the version of its kind. What begins now begins as the newest "
        "version; the ones before it are kept for runs "
        "that began as such: they are resumed, replayed and compared, and do what they did. A run "
        "of a kind or version that has no row here "
        "stops as `flow_unavailable` and is kept as it is. An embedder's own kinds come [beside "
        "these](../guides/extend.md).",
        "## What can be resumed",
    )
    specs = sorted(builtin_registry(files_root=None, urls=()).specs.items())
    carried = [
        (VERB_PLAN, "prompt plans"),
        *((spec.flow, code(name)) for name, spec in specs if spec.flow is not None),
    ]
    described = all_kinds(shipped_kinds())
    rows = [
        (
            f"[`{newest.name}`](#{newest.name})",
            f"**{newest.version}**",
            ", ".join(str(kind.version) for kind in before) or "none",
            summary(newest.run),
        )
        for newest, *before in described
    ]
    lines += table(
        ("kind", "begins as version", "versions before that are resumed", "what it does"), rows
    )
    lines += [
        (
            "Of what stands beside a run's kind this build writes one version and reads all of "
            "these. Record kinds that are not named have "
            "[one version](records.md). What is newer is refused, never guessed."
        ),
        "",
    ]
    known = [
        ("schema of the database", VERSION, range(1, VERSION + 1)),
        ("wording engine", NEWEST, sorted(ENGINES)),
    ]
    known += [
        (f"record {code(kind)}", top, range(1, top + 1))
        for kind, top in CURRENT_VERSION.items()
        if top > 1
    ]
    lines += table(
        ("", "written", "read"),
        [(what, f"**{top}**", ", ".join(map(str, read))) for what, top, read in known],
    )
    lines += [
        (
            "*Spelled out*: the records say in several places what those of newer versions say "
            "in one "
            "([why](../decisions/0023-versions-are-frozen-files.md))."
        ),
        "",
    ]
    for newest, *before in described:
        lines += [f"## {newest.name}", "", summary(newest.run), ""]
        lines += table(
            ("version", "flow", ""),
            [
                (
                    f"**{newest.version}**" if kind is newest else str(kind.version),
                    code(_place(kind)),
                    _marks(kind),
                )
                for kind in (newest, *before)
            ],
        )
        lines += table(
            ("", ""), _brings(newest, [name for flow, name in carried if flow == newest.name])
        )
        lines += table(
            ("prompt", "lane by policy", "template", "contract"),
            [
                (
                    code(one.purpose),
                    lane_of(one),
                    code(one.template) or "the verb's own",
                    code(one.contract) or "the verb's output",
                )
                for one in newest.prompts
            ],
        )
    return text_of(lines)


def _place(kind: Kind[Any, Any]) -> str:
    return f"{kind.run.__module__}.{kind.run.__name__}"


def _marks(kind: Kind[Any, Any]) -> str:
    """How a version's records differ from those of one that says nothing twice: its flow is wrapped
    by what puts them into the first form.
    """
    return "spelled out" if unwrap(kind.run) is not kind.run else ""


def _brings(kind: Kind[Any, Any], verbs: list[str]) -> list[tuple[str, str]]:
    """What a kind is looked up by, and what it has beside its flow."""
    wire = kind.wire
    has = {
        "label": kind.label is not no_label,
        "grant": kind.grant is not no_grant,
        "reply": kind.reply,
        "header lines": kind.header,
    }
    rows = [
        ("serves a conversation's", "" if kind.serves is None else code(kind.serves)),
        (
            "answers requests of",
            ""
            if wire is None
            else (
                f"{code(wire.contract.__name__)}; a run of another kind is refused "
                f"{code(wire.other)} there"
            ),
        ),
        ("carries out verbs", ", ".join(verbs)),
        ("rules of its own", ", ".join(code(rule.name) for rule in kind.rules)),
        ("also brings", ", ".join(name for name, there in has.items() if there)),
    ]
    return [row for row in rows if row[1]]


def render_events() -> str:
    """Each event of a session's stream."""
    lines = page(
        "Events of a session",
        (
            f"{whole(events)} Times are in milliseconds since 1970 UTC. In JSON the key `event` "
            "names "
            "the kind, and a field that has its default is left out."
        ),
        "## Durable events",
        "They are the entries of the [transcript](ports.md#sessions): every reader of a session "
        "gets each of them once, in the order of "
        "`seq`, from any point on. All of them have these fields:",
    )
    lines += [*field_table(events.Durable)]
    shared = events.Durable.__struct_fields__
    for kind in members(events.DurableEvent):
        lines += [f"### {tag(kind)}", "", whole(kind), "", *field_table(kind, hide=shared)]
    lines += [
        "## Provisional events",
        "",
        "Nothing keeps them. What they showed of a run is replaced by its `reply`.",
        "",
    ]
    for kind in members(events.ProvisionalEvent):
        lines += [f"### {tag(kind)}", "", whole(kind), "", *field_table(kind)]
    ends = events.SessionErasedEvent
    lines += ["## The end", "", f"### {tag(ends)}", "", whole(ends), "", *field_table(ends)]
    lines += [
        "## Parts",
        "",
        f"**OptionView.** {whole(events.OptionView)}",
        "",
        *field_table(events.OptionView),
    ]
    return text_of(lines)


def render_verbs() -> str:
    """Each shipped verb as it is declared."""
    registry = builtin_registry(files_root=Path(__file__).parent, urls=(DECLARED_URL,))
    lines = page(
        "Shipped verbs",
        "`files.read` exists where a root is declared, `web.fetch` where URLs are; its `url` then "
        "lists them. `mail.send` is active where a "
        "mail server is configured. How to write your own: "
        "[the guide](../guides/verbs.md).",
    )
    rows = [
        (f"[`{name}`](#{name.replace('.', '')})", _kind(spec), spec.effect.value, spec.description)
        for name, spec in sorted(registry.specs.items())
    ]
    lines += table(("verb", "kind", "effect", "what it does"), rows)
    for name, spec in sorted(registry.specs.items()):
        lines += [f"## {name}", "", spec.description, ""]
        facts = [
            ("kind", _kind(spec)),
            ("effect", code(spec.effect.value)),
            ("category", spec.category.value),
            ("timeout", f"{spec.timeout_ms} ms"),
            ("attempts", str(spec.retry.max_attempts)),
            ("idempotent", "yes" if spec.idempotent else "no"),
            (
                "trust of its output",
                ", ".join(f"`{key}` {one.trust}" for key, one in spec.output.items()) or "foreign",
            ),
        ]
        lines += table(("", ""), facts)
        lines += table(
            ("argument", "role", "declared values"),
            [(code(key), one.role.value, _declared(one)) for key, one in spec.arguments.items()],
        )
        steps = sorted(spec.plan, key=lambda step: step.order)
        lines += table(
            ("step", "services", "what it does"),
            [(code(step.name), ", ".join(step.services), step.description) for step in steps],
        )
        lines += [
            "Input:",
            "",
            *_json_block(spec.input_schema),
            "Output:",
            "",
            *_json_block(spec.output_schema),
        ]
        if spec.example is not None:
            lines += [
                "Example:",
                "",
                *_json_block(spec.example.model_dump(mode="json", exclude_none=True)),
            ]
    return text_of(lines)


def _kind(spec: VerbSpec) -> str:
    return "flow" if spec.flow is not None else "prompt plan" if spec.composite else "leaf"


def _declared(argument: Any) -> str:
    return (
        "the declared URLs"
        if argument.allowed == [DECLARED_URL]
        else code(written(argument.allowed or argument.fixed))
    )


def _json_block(value: object) -> list[str]:
    return ["```json", json.dumps(value, indent=2, ensure_ascii=False), "```", ""]


def render_errors() -> str:
    """The error classes with codes and statuses, and every code that the source names."""
    lines = page(
        "Errors",
        "Whose fault it is comes first: change the request, wait, or stop. Over HTTP a refusal is "
        "`application/problem+json` (RFC 9457) with "
        "`code`; the command prints the sentence and the code and exits as below (with 3 where "
        "the status is 429, with 2 where a token lacks something: `forbidden`). An accepted "
        "request's outcome is "
        "always 200.",
        "## Classes",
    )
    rows = [
        (
            f"{'&nbsp;' * 4 * depth}`{one.__name__}`",
            code(one.code),
            str(one.status),
            str(exit_code(one(""))),
            summary(one),
        )
        for depth, one in all_errors()
    ]
    lines += table(("class", "code", "HTTP", "exit", "meaning"), rows)
    lines += [
        "## Codes",
        "",
        (
            "What the source says more exactly than a class. Without a status the caller's own "
            "answer "
            "carries it."
        ),
        "",
    ]
    lines += table(
        ("code", "HTTP", "kind", "where"),
        [(code(c.code), str(c.status or ""), c.kind, code(c.module)) for c in all_codes()],
    )
    lines += [
        "## Codes in an outcome",
        "",
        "A planning run that was accepted ends with status `ok`, or with one of:",
        "",
    ]
    lines += [", ".join(code(one) for one in planner_codes()) + ",", ""]
    lines += [
        (
            "the scope's `unknown_verb` or `inactive_verb:<verb>`, a [reason](reasons.md) of "
            "family "
            "`step` (the directive was refused), or the model's error:"
        ),
        "",
    ]
    lines += [", ".join(code(str(one)) for one in ModelErrorCode) + ".", ""]
    lines += [
        (
            "A message of a session that was not served is answered with `ok: false`; its run ends "
            "with one of:"
        ),
        "",
    ]
    lines += [", ".join(code(one) for one in turn_codes()) + ",", ""]
    lines += [
        (
            "rule `entry`'s `unknown_verb`, `inactive_verb:<verb>` or `reserved_verb:<verb>`, the "
            "code of the verb that failed, or a code of this section."
        ),
        "",
    ]
    lines += [
        "## Failure categories",
        "",
        "A failed call's code says what happened, its `category` what to do about it (C5):",
        "",
    ]
    rows = [
        (code(one), meaning, ", ".join(code(c) for c, of in sorted(CATEGORY.items()) if of is one))
        for one, meaning in TO_DO.items()
    ]
    lines += table(("category", "what to do", "codes"), rows)
    lines += [
        (
            "A code that a verb gives itself is a `ToolTransientError` where the verb said that "
            "the same call may succeed later, else a "
            "`ToolValidationError`, where the answer still knows what the verb said; `null` where "
            "no word fits, as for `cancelled` and for "
            "`outcome_unknown`: nobody knows whether that failed."
        ),
        "",
    ]
    return text_of(lines)


def render_ports() -> str:
    """Each port as its protocol says it, with the values it is spoken to in."""
    lines = page(
        "Ports",
        (
            "Small protocols through which flows and the runtime meet the world. An adapter "
            "implements one and nothing else."
        ),
    )
    described = all_ports()
    lines += table(
        ("port", "module", "what it is"),
        [
            (
                f"[`{p.protocol.__name__}`](#{p.protocol.__name__.lower()})",
                code(p.module),
                summary(p.protocol),
            )
            for p in described
        ],
    )
    for one in described:
        lines += [f"## {one.protocol.__name__}", "", whole(one.protocol), ""]
        for signature, said in one.methods:
            lines += ["```python", signature, "```", "", said, ""]
        if one.module == effects.__name__:
            lines += ["Its values have [a page of their own](effects.md).", ""]
        for value in () if one.module == effects.__name__ else one.values:
            lines += [f"### {value.__name__}", "", whole(value), "", *field_table(value)]
    return text_of(lines)


def render_settings() -> str:
    """ordain.toml and the environment."""
    lines = page(
        "Settings",
        (
            "The environment wins over `$ORDAIN_HOME/ordain.toml`, the file over the defaults. A "
            "wrong or unknown key is refused with its place."
        ),
        "## Environment",
    )
    lines += table(
        ("variable", "meaning"),
        [(code(name), ENVIRONMENT[name]) for name in sorted(environment_names())],
    )
    lines += [
        (
            "`LLM_ROUTE_LOCAL`, `LLM_ROUTE_WORKER` and `LLM_ROUTE_BRAIN` name the profiles "
            "behind a "
            "lane, with commas between them."
        ),
        (
            "`LLM_ROUTE_PLANNER`, `LLM_ROUTE_VERB` and so on name the lane of a purpose that "
            "a kind "
            "asks for. Both win over `policy.toml`."
        ),
        "",
    ]
    lines += [
        (
            "`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` hold for model "
            "endpoints. They "
            "do not hold for `web.fetch`."
        ),
        "",
    ]
    lines += ["## ordain.toml", "", *model_table(FileSettings)]
    for key, field in FileSettings.model_fields.items():
        inner = model_in(field.annotation)
        if inner is not None:
            lines += [
                f"## {'[models.NAME]' if inner is ModelProfile else f'[{key}]'}",
                "",
                summary(inner),
                "",
                *model_table(inner),
            ]
    return text_of(lines)


def render_openapi() -> str:
    """The OpenAPI document of the HTTP face."""
    # no route runs: only what they declare is asked
    app = build_app(Face(runtime=cast("Any", SimpleNamespace(conversation=None))))
    return json.dumps(app.openapi(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def render_schema(name: str) -> str:
    """One published contract as JSON Schema."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **SCHEMAS[name].json_schema(),
    }
    return json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


PAGES: Mapping[str, Callable[[], str]] = {
    "reasons.md": render_reasons,
    "rules.md": render_rules,
    "records.md": render_records,
    "statuses.md": render_statuses,
    "council.md": render_council,
    "kinds.md": render_kinds,
    "effects.md": render_effects,
    "events.md": render_events,
    "policy.md": render_policy,
    "verbs.md": render_verbs,
    "errors.md": render_errors,
    "ports.md": render_ports,
    "settings.md": render_settings,
    "openapi.json": render_openapi,
    **{f"schemas/{name}.json": partial(render_schema, name) for name in SCHEMAS},
}


BY_HAND = frozenset({"messages.md", "replies.md"})
"""Pages of what is looked up and no code can say."""


def main(arguments: list[str] | None = None) -> int:
    """Compare or write the pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the pages")
    options = parser.parse_args(arguments)
    stale: list[str] = []
    for name, render in PAGES.items():
        file = REFERENCE / name
        text = render()
        if options.write:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(f"docs/reference/{name}")
    unknown = (
        {file.relative_to(REFERENCE).as_posix() for file in REFERENCE.rglob("*") if file.is_file()}
        - PAGES.keys()
        - BY_HAND
    )
    for page_name in stale:
        print(f"{page_name} is not current; run: .venv/bin/python -m scripts.reference --write")
    for page_name in sorted(unknown):
        print(f"docs/reference/{page_name} is made by nothing; remove it")
    if not stale and not unknown:
        print(f"{len(PAGES)} generated page{'s' * (len(PAGES) != 1)} current")
    return 1 if stale or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
