"""The laws of kinds and rules, read from the syntax trees: who may know a kind of run, and what a
flow may take from the rules.

Each law is a function of one source, so that sources made to break it (``MUTANTS``) show that it
sees them.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ordain.flows.kind import Kind
from ordain.flows.shipped import SHIPPED, shipped_kinds
from ordain.rules.decision import Rule
from ordain.rules.rulebook import ASKED_IN_STEPS
from tests import parsed
from tests.parsed import HOUSE

FLOWS = HOUSE / "flows"
FOLDERS = {folder.name for folder in FLOWS.iterdir() if (folder / "kind.py").exists()}
NAMES = {kind.name for kind in shipped_kinds().all}
FROZEN = re.compile(r"v\d+|recording_\d+")
"""A version of a flow that has landed is as it was."""
KNOWING: Mapping[str, re.Pattern[str]] = {
    "app.py": re.compile(".*"),  # the composition root
    # typed answers to the shipped prompts, by the purposes of these
    "testing/proposals.py": re.compile(r"prompt|router"),
}
"""Who may import from the folder of a kind beside ``flows/``, and what of it."""
PUTTING_TOGETHER = {
    "app.py": "ordain.flows.shipped",
    "cli/archive.py": "ordain.flows.shipped",  # opens a data folder without an app
    **dict.fromkeys(
        ("cli/doctor.py", "cli/verbs.py", "cli/verb_explanation.py", "cli/catalogued.py"),
        "ordain.app",
    ),  # look at a catalog without a running house
}
"""Who takes the list of shipped kinds, and from where."""
RUN_FLOW = {"flow", "flow_name", "kind_name"}
"""Attributes that hold a run's flow."""
FUNCTIONS = {
    "parse_object",
    "parse_whole",
    "without_thought",
    "read_text",
    "withhold_thought",
    "plain",
    "quoted",
    "rulebook",
}
"""What of the rules that is no value a flow may take: it judges nothing. It reads an answer, takes
out of it what was thought, blanks what may not be kept before that is recorded, cleans or quotes a
text, and (``flows.kind`` alone) puts the rules of kinds into one book.
"""
JUDGES = {"apply", "cues", "parts", "reader"}
"""What judges, asked of a rule or of the pinned wording: a flow has its port ask it, which puts the
decision on record.
"""
OPENING = ("flows/turn/kind.py", "ENTRY.apply")
"""What a root is granted is found before there is a flow and stands in the first record; the flow
asks the same rule again on record.
"""
PLACES: Mapping[tuple[str, str], str] = {
    ("cli/", "status verb"): "fields of what commands read and print",
    ("server/", "status verb question"): "fields of bodies and documents",
    ("models/refusals.py", "status"): "a field of what providers say",
    ("contracts/results.py", "status"): "a field of a response",
    ("runtime/readers.py", "status"): "a field of what a read gives",
    ("runtime/remedies.py", "status"): "a part of a header's first line",
    ("runtime/earlier_plans.py", "status"): "such a field",
    ("contracts/policy.py", "verb"): "a class of payloads, which are kept for a time of their own",
    ("journal/records.py", "verb"): "that class",
    ("store/retention.py", "verb"): "that class",
    ("store/search.py", "status"): "a column",
    ("testing/memory/units.py", "status"): "a field of a row",
    ("contracts/events.py", "question"): "a kind of entry",
    ("ports/sessions.py", "question"): "that kind of entry",
    ("flows/", "status verb question"): "fields of inputs, arguments and outputs",
    ("__init__.py", "verb"): "the decorator, among the names that are public",
    ("verbs/__init__.py", "verb"): "the decorator",
    ("contracts/policy.py", "triage"): "a shipped verb's name",
    ("cli/slash.py", "triage"): "a message's class (rule `attach`)",
    ("rules/attachment.py", "triage"): "that class",
    ("rules/supervise.py", "supervisor"): "what a line of the header is about",
    ("server/examples.py", "turn handoff"): "published examples of runs",
    (
        "flows/carried.py",
        "verb_plan",
    ): "the kind that carries out a verb whose declaration names no flow",
    (
        "flows/findings.py",
        "synthesis",
    ): "the kind that puts what agents found into words, for whoever opens such a run",
    (
        "flows/workflow_run.py",
        "workflow",
    ): "the kind that carries out a workflow, for whoever opens such a run",
    ("flows/turn/suggestion.py", "workflow"): "a purpose, which policy and scripts name",
    ("contracts/approvals.py", "workflow"): "what an approval is of",
    ("rules/workflow.py", "workflow"): "a rule's name",
    ("rules/handoff.py", "handoff"): "a rule's name",
    (
        "contracts/agent_verbs.py",
        "handoff status",
    ): "the kind that carries out a card's verb, and a field of what that gives",
    ("catalogs.py", "handoff"): "that kind, without which those verbs are inactive",
    ("rules/council.py", "council"): "a rule's name",
    ("rules/route.py", "council"): "a path",
    ("rules/second_look.py", "council"): "who looks at an answer",
    ("contracts/conversation.py", "council"): "a mode",
    ("cli/slash.py", "council"): "that mode",
    ("rules/supervise.py", "council"): "that mode, before its first move",
    ("contracts/chain.py", "agent_chain"): "the verb of a chain",
    ("rules/profile.py", "agent_chain"): "that verb",
    ("runtime/authority.py", "agent_chain"): "that verb",
    ("rules/route.py", "agent_chain"): "a path",
    ("flows/turn/execution_plan.py", "agent_chain"): "a step of the sources' plan",
    ("settings.py", "council"): "a section of policy",
    (
        "verbs/council/folder.py",
        "council seat",
    ): "the folder of users' seats, and what a file of it is called",
    (
        "flows/deliberation/seat_run.py",
        "seat",
    ): "the kind in which a seat speaks, for whoever opens such a run",
    ("models/scripted.py", "question"): "what a council's prompt calls what it is asked",
    ("runtime/resolution.py", "verb"): "a field of a note",
    ("server/workflows.py", "workflow"): "what a template is called",
    ("runtime/claims.py", "verb"): "what a claim of a grant says of its call",
    ("verbs/workflow/lint.py", "verb"): "a field of a template",
    ("flows/steps/prompt.py", "planner"): "a purpose, which policy and scripts name",
    ("testing/proposals.py", "planner"): "that purpose",
    ("testing/models.py", "verb"): "the purpose of prompt-plan verbs",
}
"""Where the name of a shipped kind may be written, or taken as a constant, though no kind is
meant.
"""


@dataclass(frozen=True)
class Source:
    """A module by its path below ``src/ordain``, and its text."""

    module: str
    text: str

    @cached_property
    def nodes(self) -> list[ast.AST]:
        module = PARSED.get(self.module)
        if module is not None and module.text == self.text:
            return module.nodes  # which the other laws walk, too
        return list(ast.walk(ast.parse(self.text)))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @property
    def room(self) -> str:
        return self.module.split("/")[0]

    @property
    def folder(self) -> str:
        """The folder of a kind that it stands in; "" elsewhere."""
        parts = self.module.split("/")
        return parts[1] if parts[0] == "flows" and parts[1] in FOLDERS else ""

    @property
    def current(self) -> bool:
        """Whether it is of a flow that is not frozen."""
        return self.room == "flows" and not FROZEN.fullmatch(Path(self.module).stem)

    @cached_property
    def taken(self) -> list[tuple[str, str]]:
        """What it imports, resolved: the module and the name in it, "" where that is the module
        itself.
        """
        return list(self._taken())

    def _taken(self) -> Iterator[tuple[str, str]]:
        for node in self.nodes:
            if isinstance(node, ast.ImportFrom):
                above = ["ordain", *self.module.split("/")][: -node.level] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                for alias in node.names:
                    whole = f"{base}.{alias.name}"
                    yield (
                        (whole, "")
                        if is_module(whole)
                        else (base, "" if alias.name == "*" else alias.name)
                    )
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias.name, ""
                    if alias.asname is None:
                        yield alias.name.partition(".")[0], ""

    def at(self, node: ast.AST, what: str) -> str:
        return f"{self.module}:{getattr(node, 'lineno', 1)}: {what}"


@cache
def is_module(dotted: str) -> bool:
    """Whether this is a module or a package of the house."""
    first, *parts = dotted.split(".")
    place = HOUSE.joinpath(*parts)
    return first == "ordain" and (place.is_dir() or place.with_suffix(".py").exists())


def value_of(module: str, name: str) -> Any:
    """What an import from the house comes to; None of what is not its own."""
    return getattr(import_module(module), name, None) if name and is_module(module) else None


PARSED = {module.path.relative_to(HOUSE).as_posix(): module for module in parsed.SOURCES}
SOURCES = [Source(name, module.text) for name, module in PARSED.items()]
BY_MODULE = {source.module: source for source in SOURCES}


# --- who knows kinds ------------------------------------------------------------------------------


def kinds_folders_taken(source: Source) -> Iterator[str]:
    """From the folder of a kind of run imports only ``flows/``, the composition root, and who
    stands in ``KNOWING``.
    """
    if source.room == "flows":
        return
    for module, name in source.taken:
        if module in {"ordain", "ordain.flows"} and not name:
            yield f"{source.module}: {module}, and with it every kind"
        elif kind_of_module(module) and not KNOWING.get(
            source.module, re.compile("(?!)")
        ).fullmatch(part(module, 3)):
            yield f"{source.module}: {module}.{name}"
    for node in source.nodes:
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and kind_of_module(node.value)
        ):
            yield source.at(node, f"{node.value!r}")


def part(dotted: str, number: int) -> str:
    """This part of a dotted name; "" where it has fewer."""
    parts = dotted.split(".")
    return parts[number] if number < len(parts) else ""


def kind_of_module(dotted: str) -> str:
    """The folder of the kind that a module stands in; "" of any other."""
    return (
        part(dotted, 2) if dotted.startswith("ordain.flows.") and part(dotted, 2) in FOLDERS else ""
    )


def shipped_kinds_taken(source: Source) -> Iterator[str]:
    """The list of shipped kinds is taken where all is put together (``PUTTING_TOGETHER``);
    everybody else is handed them.
    """
    if source.module == "flows/shipped.py":
        return
    for module, name in source.taken:
        whole = module == "ordain.flows.shipped" or value_of(module, name) in (
            SHIPPED,
            shipped_kinds,
        )
        if whole and PUTTING_TOGETHER.get(source.module) != module:
            yield f"{source.module}: {module}.{name}"


def kinds_rules_taken(source: Source) -> Iterator[str]:
    """What a kind declares as its rule nobody outside of flows knows by name: what others need of
    its decisions the kind says itself.
    """
    if source.room in {"flows", "rules"}:
        return
    for module, name in source.taken:
        found = value_of(module, name)
        if (
            isinstance(found, Rule)
            and found.name in OWN_RULES
            and (source.module, found.name) not in READING
        ):
            yield f"{source.module}: {module}.{name}"


OWN_RULES = {rule.name for kind in SHIPPED for rule in kind.rules}
READING = {("runtime/answer_reading.py", "answer"), ("runtime/wording_diff.py", "answer")}
"""Where a message is read against an open question, by whichever run that was asked."""


def other_kinds_flows_taken(source: Source) -> Iterator[str]:
    """A kind takes nothing from another one's folder, flow nor prompt: what kinds share stands
    beside the folders, the rest in their values.

    Versions that have landed took prompts.
    """
    if not source.folder:
        return
    for module, name in source.taken:
        if kind_of_module(module) not in {"", source.folder} and (
            source.current or part(module, 3) != "prompt"
        ):
            yield f"{source.module}: {module}.{name}"


def kinds_named(source: Source) -> Iterator[str]:
    """What a kind is like stands in its value: no module asks whether a run is of a kind that it
    names.

    A kind's folder has its own name. Elsewhere a name stands at a place of ``PLACES`` alone, and
    there too it is compared with nothing.
    """
    for node in source.nodes:
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value in NAMES - {source.folder}
        ):
            if not placed(source, node.value):
                yield source.at(node, f"{node.value!r}")
            elif is_asked(source, node) or (
                is_constant(source, node) and not placed_exactly(source, node.value)
            ):
                yield source.at(
                    node, f"{node.value!r} is what something is, or could be, compared with"
                )
        elif (isinstance(node, ast.Match) and is_flow(node.subject)) or (
            isinstance(node, ast.Subscript) and is_flow(node.slice)
        ):
            yield source.at(node, "by a run's flow")
    for module, name in source.taken if source.room != "flows" else ():
        found = value_of(module, name)
        if isinstance(found, str) and found in NAMES and not placed(source, found):
            yield f"{source.module}: {module}.{name} is {found!r}"


def placed(source: Source, name: str) -> bool:
    return placed_exactly(source, name) or any(
        where.endswith("/") and source.module.startswith(where) and name in names.split()
        for where, names in PLACES
    )


def placed_exactly(source: Source, name: str) -> bool:
    return any(source.module == where and name in names.split() for where, names in PLACES)


def is_flow(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in RUN_FLOW


def is_asked(source: Source, node: ast.AST) -> bool:
    """Whether a literal is an operand of a comparison, a case, or a key of the registry."""
    above = source.parents[node]
    while isinstance(above, ast.Tuple | ast.List | ast.Set):
        above = source.parents[above]
    match above:
        case (
            ast.Compare()
            | ast.MatchValue()
            | ast.Subscript(value=ast.Attribute(attr="newest" | "by_id"))
        ):
            return True
        case ast.Call(func=ast.Attribute(attr=asking)) if asking in COMPARING:
            return True
        case ast.Call(func=ast.Attribute(attr="get", value=ast.Attribute(attr="newest" | "by_id"))):
            return True
        case _:
            return False


COMPARING = {
    "startswith",
    "endswith",
    "removeprefix",
    "removesuffix",
    "partition",
    "fullmatch",
    "match",
    "index",
    "count",
    "__eq__",
}


def is_constant(source: Source, node: ast.AST) -> bool:
    """Whether a literal has a name of its own, which could be compared; what stands in a class is a
    member of it.
    """
    above = source.parents[node]
    while isinstance(above, ast.Tuple | ast.List | ast.Set):
        above = source.parents[above]
    match above:
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return False
        case (
            ast.Assign(targets=[ast.Name() | ast.Tuple()])
            | ast.AnnAssign(target=ast.Name())
            | ast.NamedExpr()
        ):
            return not isinstance(source.parents[above], ast.ClassDef)
        case _:
            return False


# --- what flows take from rules -------------------------------------------------------------------


def rules_functions_taken(source: Source) -> Iterator[str]:
    """From the rules a flow takes rules, constants and types: it branches on their outcomes and
    calls no predicate of theirs.

    Nor by way of another module, nor by a whole module of theirs.
    """
    if not source.current:
        return
    for module, name in source.taken:
        if module == "ordain" or ((module + ".").startswith("ordain.rules.") and not name):
            yield f"{source.module}: {module} whole"
        found = value_of(module, name)
        if (
            inspect.isroutine(found)
            and found.__module__.startswith("ordain.rules.")
            and name not in FUNCTIONS
        ):
            yield f"{source.module}: {module}.{name}"


def judged_off_record(source: Source) -> Iterator[str]:
    """A flow applies no rule and reads no wording by itself: it asks its port, which puts the
    decision on record.
    """
    if not source.current:
        return
    for node in source.nodes:
        match node:
            case ast.Attribute(attr=name) if (
                name in JUDGES and (source.module, ast.unparse(node)) != OPENING
            ):
                yield source.at(node, f"{ast.unparse(node)}: a rule is asked by the port")
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) if (
                name.startswith("decide_")
            ):
                yield source.at(node, f"{name}: a rule is asked by the port")
            case ast.Constant(value="apply" | "cues" | "parts" | "reader"):
                yield source.at(node, f"{node.value!r}: reached for by name")
            case _:
                pass
    for module, name in source.taken:
        if (module + ".").startswith("ordain.wording.") and (module, name) not in WORDING:
            yield f"{source.module}: {module}.{name}: the wording is pinned, and a rule reads it"


WORDING = {("ordain.wording.wording", "wording_of"), ("ordain.wording.wording", "Wording")}
"""What of the wording a flow may take: what its catalog pins, to hand it to a rule."""

Law = Callable[[Source], Iterator[str]]
LAWS: tuple[Law, ...] = (
    kinds_folders_taken,
    shipped_kinds_taken,
    kinds_rules_taken,
    other_kinds_flows_taken,
    kinds_named,
    rules_functions_taken,
    judged_off_record,
)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_house_keeps_its_laws(law: Law) -> None:
    """No module breaks the law."""
    assert [found for source in SOURCES for found in law(source)] == []


MUTANTS: tuple[tuple[Law, str, str], ...] = (
    *(
        (kinds_folders_taken, module, text)
        for module in ("runtime/drive.py", "server/runs.py", "testing/effects.py")
        for text in (
            "from ordain.flows.turn.kind import TURN",
            "from ordain.flows.turn import kind",
            "from ordain.flows import turn",
            "from ordain import flows",
            "import ordain",
            "import ordain.flows.turn.kind",
            "import ordain.flows.turn.kind as one",
            "import ordain.flows.ask",
            "from ordain.flows import *",
            "from ..flows import turn",
            "from ..flows.turn import kind",
            "def late():\n    from ordain.flows.turn.flow import run_turn",
            "import_module('ordain.flows.turn.kind')",
        )
    ),
    (kinds_folders_taken, "testing/proposals.py", "from ordain.flows.triage.kind import TRIAGE"),
    *(
        (shipped_kinds_taken, "runtime/drive.py", text)
        for text in (
            "from ordain.flows.shipped import shipped_kinds",
            "from ordain.flows import shipped",
            "import ordain.flows.shipped as them",
            "from ordain.cli.archive import shipped_kinds",
        )
    ),
    *(
        (kinds_rules_taken, module, text)
        for module in ("runtime/probes.py", "journal/folds.py", "server/views.py")
        for text in (
            "from ordain.rules.route import ROUTE",
            "from ordain.rules.route import ROUTE as way",
            "def late():\n    from ordain.rules.answer import ANSWER",
            "from ordain.flows.turn.kind import OUTCOME",
        )
    ),
    *(
        (other_kinds_flows_taken, "flows/turn/flow.py", text)
        for text in (
            "from ordain.flows.triage.flow import run_triage",
            "from ordain.flows.triage import flow",
            "from ordain.flows import triage",
            "from ordain.flows.triage.v3 import run_triage",
            "from ordain.flows.planner.v12 import run_planner",
            "from ordain.flows.question.kind import QUESTION",
            "from ..triage.flow import run_triage",
            "from ordain.flows.supervisor.prompt import STEP_PROMPT",
            "from ordain.flows.verb_plan import prompt",
            "from ordain.flows.triage.request import TriageInput",
            "def late():\n    from ordain.flows.verb_plan.prompt import VERB_PROMPT",
        )
    ),
    *(
        (kinds_named, "runtime/drive.py", text)
        for text in (
            "same = run.flow == 'turn'",
            "flow = run.flow\nif flow == 'turn':\n    pass",
            "T = 'turn'\nsame = run.flow == T",
            "same = setup.kind.name == 'turn'",
            "same = run.flow.startswith('turn')",
            "kind = kinds.newest['turn']",
            "kind = kinds.newest.get('turn')",
            "match name:\n    case 'turn':\n        pass",
            "same = run.flow in {'planner', 'x'}",
            "table = {'triage': 1}",
            "same = f'turn' == run.flow",
            "match run.flow:\n    case other:\n        pass",
            "found = table[run.flow]",
            "same = run.flow == 'status'",
            "from ordain.flows.carried import VERB_PLAN\nsame = run.flow == VERB_PLAN",
        )
    ),
    *(
        (kinds_named, module, text)
        for module in ("cli/runs.py", "server/views.py", "flows/history.py")
        for text in (
            "same = run.flow == 'status'",
            "same = 'verb' != flow",
            "same = flow in ('verb', 'status')",
            "V = 'verb'",
            "V: str = 'verb'",
            "if (flow := 'verb') and run.flow == flow:\n    pass",
            "S, V = 'status', 'verb'",
            "kind = kinds.newest['verb']",
            "kind = kinds.newest.get('status')",
            "same = flow.startswith('status')",
            "match flow:\n    case 'verb' | 'x':\n        pass",
            "same = flow == 'turn'",
        )
    ),
    (kinds_named, "flows/turn/flow.py", "same = run.flow == 'triage'"),
    *(
        (rules_functions_taken, module, text)
        for module in (
            "flows/turn/flow.py",
            "flows/values.py",
            "flows/verb/flow.py",
            "flows/ask.py",
        )
        for text in (
            "from ordain.rules.answer import fits",
            "from ordain.rules.answer import fits as suits",
            "from ordain.rules import answer",
            "from ordain import rules",
            "import ordain.rules.answer",
            "import ordain.rules.answer as answer",
            "from ordain.rules.answer import *",
            "from ordain.rules.lane import decide_lane",
            "from ordain.flows.triage.v1 import suggestion_of",
        )
    ),
    *(
        (judged_off_record, module, text)
        for module in ("flows/turn/flow.py", "flows/values.py", "flows/turn/kind.py")
        for text in (
            "found = wording_of(context.catalog).cues(text)",
            "found = wording.parts(text)",
            "read = wording.cues",
            "found = wording.reader.cues(text)",
            "found = getattr(wording, 'cues')(text)",
            "from ordain.wording.wording import first_wording",
            "from ordain.wording import wording",
            "import ordain.wording.wording as w",
            "made = ROUTE.apply(facts, None, policy)",
            "judge = ROUTE.apply",
            "from ordain.rules.route import decide_route as judge",
            "made = route.decide_route(facts, None, policy)",
        )
    ),
    (judged_off_record, "flows/turn/flow.py", "made = ENTRY.apply(facts, None, policy)"),
)


@pytest.mark.parametrize(("law", "module", "text"), MUTANTS)
def test_a_source_that_breaks_a_law_is_seen(law: Law, module: str, text: str) -> None:
    """Whichever way it is written, and beside all that the module has already."""
    before = BY_MODULE.get(module, Source(module, ""))
    assert list(law(before)) == []
    assert list(law(Source(module, f"{before.text}\n\n{text}\n"))) != []


def test_what_is_allowed_is_needed() -> None:
    """Every place that may write a kind's name does, and so does whoever may import from a kind's
    folder.
    """
    used = {
        (where, name)
        for source in SOURCES
        for where, names in PLACES
        if source.module == where or (where.endswith("/") and source.module.startswith(where))
        for name in names.split()
        if any(isinstance(node, ast.Constant) and node.value == name for node in source.nodes)
        or any(
            value_of(*taken) == name
            for taken in source.taken
            if taken[0].startswith("ordain.") and isinstance(value_of(*taken), str)
        )
    }
    assert used == {(where, name) for where, names in PLACES for name in names.split()}
    assert all(
        any(module.startswith("ordain.flows.") for module, _ in BY_MODULE[name].taken)
        for name in KNOWING
    )
    module, expression = OPENING
    assert expression in BY_MODULE[module].text


# --- what kinds declare ---------------------------------------------------------------------------


def asked_in(source: Source) -> Iterator[str]:
    """The names of the rules that a module asks."""
    home = "ordain." + source.module.removesuffix(".py").replace("/", ".")
    for node in source.nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "decide"
        ):
            rule = value_of(home, ast.unparse(node.args[0]))
            assert isinstance(rule, Rule), source.at(node, "a rule is asked by its name")
            yield rule.name


def asked_by(module: str, seen: set[str]) -> Iterator[str]:
    """What a module of a kind's folder asks, and the modules of that folder that it imports."""
    seen.add(module)
    source = BY_MODULE[module.removeprefix("ordain.").replace(".", "/") + ".py"]
    yield from asked_in(source)
    for other, _ in source.taken:
        if kind_of_module(other) == source.folder and other not in seen:
            yield from asked_by(other, seen)


@pytest.mark.parametrize("kind", SHIPPED, ids=lambda kind: f"{kind.name}@{kind.version}")
def test_a_kind_declares_what_its_flow_asks(kind: Kind[Any, Any]) -> None:
    """Each version the rules that its own modules ask beside those of the shared steps, and no
    other.
    """
    assert {rule.name for rule in kind.rules} == set(asked_by(kind.run.__module__, set())) - {
        rule.name for rule in ASKED_IN_STEPS
    }


def test_the_house_has_what_shared_steps_ask() -> None:
    """Every flow may ask what a module beside the kinds' folders does, and nothing more."""
    shared = {
        name
        for source in SOURCES
        if source.current and not source.folder
        for name in asked_in(source)
    }
    assert shared == {rule.name for rule in ASKED_IN_STEPS}


def test_every_rule_is_somebodys() -> None:
    """The rules' room has no rule that neither the house nor a shipped kind brings."""
    modules = [f"ordain.rules.{path.stem}" for path in (HOUSE / "rules").glob("*.py")]
    defined = {
        value.name
        for module in modules
        for value in vars(import_module(module)).values()
        if isinstance(value, Rule)
    }
    assert defined == set(shipped_kinds().rules)


def test_published_examples_show_what_begins_now() -> None:
    """Headers and versions in the published examples are those of the newest versions."""
    shown = [
        found
        for module in ("server/documents.py", "server/examples.py")
        for found in re.findall(r"· (\w+)@(\d+) ·", BY_MODULE[module].text)
    ]
    assert len(shown) >= 3
    assert [
        (name, version)
        for name, version in shown
        if str(shipped_kinds().newest[name].version) != version
    ] == []
    view = import_module("ordain.server.examples").RUN_VIEW
    assert view["flow_version"] == shipped_kinds().newest[view["flow"]].version
