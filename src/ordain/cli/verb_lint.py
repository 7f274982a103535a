"""``ordain verbs lint``: findings of files, and of the verbs together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ordain.catalogs import own_verbs, shipped_registry
from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.output import print_json, show
from ordain.cli.places import home_of
from ordain.contracts.cards import AGENT_VERB
from ordain.contracts.legible_text import legible_part
from ordain.contracts.nearest import as_given, no_such
from ordain.errors import ConfigurationError, NotFound
from ordain.settings import Settings, load_settings
from ordain.verbs.cards.folder import CARDS
from ordain.verbs.declaration_lint import lint_spec
from ordain.verbs.folder import VerbFolder
from ordain.verbs.lint import Finding, Linted, lint_file
from ordain.verbs.own_verbs import OwnVerbs
from ordain.verbs.registry import Registry
from ordain.verbs.template_lint import ERROR, WARNING


def print_lint(data_dir: Path | None, what: Sequence[str], *, strict: bool, as_json: bool) -> int:
    """Lint what is named, else the whole folder.

    Raises:
        NotFound: there is no such verb or file.
        ConfigurationError: settings are wrong.
    """
    settings = load_settings(home=home_of(data_dir))
    return print_findings(Linting(settings).of(what), strict=strict, as_json=as_json)


def print_findings(linted: Sequence[Linted], *, strict: bool, as_json: bool) -> int:
    """Print what was found in these files; the exit code says whether there was an error."""
    findings = [
        finding
        for one in linted
        for finding in sorted(one.findings, key=lambda finding: (finding.file, finding.line))
    ]
    errors = sum(finding.severity == ERROR for finding in findings)
    if as_json:
        print_json(
            {
                "files": len(linted),
                "errors": errors,
                "warnings": len(findings) - errors,
                "findings": msgspec.to_builtins(findings),
            }
        )
    else:
        for finding in findings:
            show(
                legible_part(
                    f"{finding.file}:{finding.line}: {finding.severity}: {finding.message}"
                )
                + (f"\n    {legible_part(finding.hint)}" if finding.hint else "")
            )
        show(f"{len(linted)} checked, {errors} errors, {len(findings) - errors} warnings")
    return FAILED if errors or (strict and findings) else OK


class Linting:
    """Lints verbs of one data folder, beside the shipped ones."""

    def __init__(self, settings: Settings) -> None:
        """Only the shipped verbs are loaded now: what the folder holds may be broken."""
        self._own: OwnVerbs = own_verbs(settings)
        self._python, self._cards = settings.verbs.python, settings.home / CARDS.name
        self._shipped: Registry = shipped_registry(settings)

    def of(self, what: Sequence[str]) -> list[Linted]:
        """Findings of what is named; of nothing, of everything in the folder.

        Raises:
            NotFound: there is no such verb or file.
        """
        linted = [one for name in what for one in self._named(name)] if what else self._all()
        self._together(
            [
                one
                for one in linted
                if one.spec is not None and one.document is not None and not one.errors
            ]
        )
        return linted

    def _all(self) -> list[Linted]:
        folder = self._own.folder
        names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
        linted = [
            self._file(folder / name) for name in names if name.endswith((".yaml", ".yml", ".py"))
        ]
        used = {template for one in linted for template in one.templates}
        broken = any(one.spec is None for one in linted)
        for name in names:
            if name.endswith(".j2") and name not in used and not broken:
                alone = Linted(str(folder / name))
                alone.add(
                    WARNING,
                    (),
                    "no verb uses this template",
                    "name it as prompt_template of a verb, or remove it",
                )
                linted.append(alone)
        return linted

    def _named(self, name: str) -> list[Linted]:
        if name.endswith((".yaml", ".yml", ".py")) or "/" in name:
            if not Path(name).exists():
                raise NotFound(f"there is no file {as_given(name, 1000)}", code="unknown_file")
            return [self._file(Path(name))]
        if (file := self._own.folder / f"{name}.yaml").exists():
            return [self._file(file)]
        spec = self._shipped.specs.get(name)
        if spec is not None:
            origin = Path(self._shipped.origins[name])
            if origin.suffix == ".yaml":
                return [lint_file(origin, self._own.http, shipped=True)]
            return [self._declared(f"shipped: {name}", [(1, name)], self._shipped)]
        if name.startswith(AGENT_VERB) and name.removeprefix(AGENT_VERB) in CARDS.of(self._cards):
            return [Linted(f"card: {name}")]  # code makes it of the card, whose own lint says more
        if found := [
            one
            for one in self._all()
            if one.file.endswith(".py") and one.spec is not None and name in one.templates
        ]:
            return found
        if (file := self._own.folder / f"{name.replace('.', '_')}.py").exists():
            return [self._file(file)]
        own = (
            [one.name.rpartition(".")[0] for one in self._own.folder.iterdir()]
            if self._own.folder.is_dir()
            else []
        )
        raise NotFound(no_such("verb", name, [*own, *self._shipped.specs]), code="unknown_verb")

    def _file(self, path: Path) -> Linted:
        if path.suffix == ".py":
            return self._code(path)
        linted = lint_file(path, self._own.http)
        if path.suffix == ".yml":
            linted.add(ERROR, (), "a verb file is named <verb>.yaml", "rename it")
        return linted

    def _code(self, path: Path) -> Linted:
        linted = Linted(str(path))
        if not self._python:
            linted.add(
                WARNING, (), "not run: Python verbs are off", "ordain.toml: [verbs] python = true"
            )
            return linted
        own = OwnVerbs(path.parent, self._own.http, python=True)
        try:
            verbs = own.files.load(path.name)
            registry = self._shipped.extended(functions=verbs)
        except ConfigurationError as error:
            line = error.details.get("line")
            message = error.message.removeprefix(f"{path}:").removeprefix(f"{line}:").strip()
            linted.put(
                Finding(
                    file=str(path),
                    line=line if isinstance(line, int) else 1,
                    severity=ERROR,
                    message=message,
                )
            )
            return linted
        lines = [(verb.function.__code__.co_firstlineno, verb.spec.name) for verb in verbs]
        return self._declared(str(path), lines, registry)

    def _declared(self, file: str, lines: Sequence[tuple[int, str]], registry: Registry) -> Linted:
        """Findings of verbs whose declaration is no document."""
        linted = Linted(file)
        for line, name in lines:
            linted.spec = registry.specs[name]
            linted.templates[name] = ""
            for severity, _, message, hint in lint_spec(registry.specs[name], self._own.http):
                linted.put(
                    Finding(
                        file=file,
                        line=line,
                        severity=severity,
                        message=f"{name}: {message}",
                        hint=hint,
                    )
                )
        return linted

    def _together(self, linted: Sequence[Linted]) -> None:
        """Hold the files that are right by themselves against each other and against the shipped
        verbs.
        """
        registry = self._shipped
        waiting = list(linted)
        while waiting:
            later: list[tuple[Linted, str]] = []
            for one in waiting:
                assert one.spec is not None
                if one.file == self._shipped.origins.get(one.spec.name):
                    continue
                folder = VerbFolder(
                    specs={one.spec.name: one.spec},
                    templates=one.templates,
                    origins={one.spec.name: one.file},
                )
                try:
                    registry = registry.extended(folders=[folder], http=self._own.http)
                except ConfigurationError as error:
                    later.append((one, error.message))
            if len(later) == len(waiting):
                # none of them becomes right by another one's being there
                for one, message in later:
                    one.add(ERROR, (), message.removeprefix(f"{one.file}: "))
                return
            waiting = [one for one, _ in later]
