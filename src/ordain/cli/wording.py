"""``ordain wording``: what the tables of phrases hold, what they make of a text, and what is wrong
with one's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ordain.cli.exit_codes import FAILED, OK
from ordain.cli.output import print_json, print_table, show
from ordain.cli.places import home_of
from ordain.errors import ConfigurationError, NotFound
from ordain.wording.engines import NEWEST
from ordain.wording.languages import (
    Language,
    check_phrases,
    check_sizes,
    shipped_languages,
    table_with,
)
from ordain.wording.lint import Severity, lint
from ordain.wording.wording import compiled
from ordain.wording_files import read_file, read_folder, wording_files

FOLDER = "wording"


def print_languages(data_dir: Path | None, *, as_json: bool) -> int:
    """Shipped and own files.

    Raises:
        ConfigurationError: one of the own files cannot be used.
    """
    own = read_folder(home_of(data_dir) / FOLDER, checked=True)
    table = table_with(own)
    rows = [
        {
            "language": one.name,
            "phrases": one.count,
            "words": one.words,
            "file": _file(one, yours=yours),
        }
        for group, yours in ((shipped_languages(), False), (own, True))
        for one in group
    ]
    if as_json:
        print_json({"engine": NEWEST, "digest": table.digest, "languages": rows})
        return OK
    print_table(("language", "phrases", "words", "file"), [tuple(row.values()) for row in rows])
    show(f"engine {NEWEST}, table {table.digest}")
    return OK


def _file(language: Language, *, yours: bool) -> str:
    return language.file if yours else "shipped"


def explain(data_dir: Path | None, text: str, *, as_json: bool) -> int:
    """A text as the current table reads it.

    Raises:
        ConfigurationError: one of the own files cannot be used.
    """
    wording = compiled(table_with(read_folder(home_of(data_dir) / FOLDER, checked=True)))
    parts, cues = wording.parts(text), msgspec.to_builtins(wording.cues(text))
    if as_json:
        print_json(
            {
                "wording": wording.id,
                "parts": [{"text": piece, "sign": sign} for piece, sign in parts],
                "cues": cues,
            }
        )
        return OK
    print_table(
        ("text", "sign"),
        [("(line end)" if piece == "\n" else piece, sign) for piece, sign in parts],
    )
    show("cues: " + ", ".join(f"{name}={_plain(value)}" for name, value in cues.items()))
    return OK


def _plain(value: object) -> str:
    return "yes" if value is True else str(value)


def print_lint(data_dir: Path | None, folder: Path | None, *, strict: bool, as_json: bool) -> int:
    """What is to be said of a folder's files: those that cannot be used, then their phrases
    together.

    Raises:
        NotFound: the folder that is named is not there.
        ConfigurationError: there is too much in it.
    """
    if folder is not None and not folder.is_dir():
        raise NotFound(f"there is no folder {folder}", code="unknown_file")
    usable, findings = _read(folder or home_of(data_dir) / FOLDER)
    for finding in lint(usable):
        findings.append(
            {
                "file": finding.file,
                "line": finding.line,
                "severity": str(finding.severity),
                "found": str(finding.found),
                "message": f"{finding.sign}: {finding.phrase!r}: {finding.message}",
            }
        )
    errors = sum(finding["severity"] == Severity.ERROR for finding in findings)
    if as_json:
        print_json(
            {
                "files": len(usable),
                "errors": errors,
                "warnings": len(findings) - errors,
                "findings": findings,
            }
        )
    else:
        for finding in findings:
            show(
                f"{finding['file']}:{finding['line']}: {finding['severity']}: {finding['message']}"
            )
        show(f"{len(usable)} files, {errors} errors, {len(findings) - errors} warnings")
    return FAILED if errors or (strict and findings) else OK


def _read(folder: Path) -> tuple[Sequence[Language], list[dict[str, object]]]:
    """The files that can be used, and why the others cannot."""
    usable: list[Language] = []
    findings: list[dict[str, object]] = []
    for file in wording_files(folder):
        try:
            language = read_file(file)
            check_phrases(language)
        except ConfigurationError as error:
            line = error.details.get("line") or 1
            message = error.message.removeprefix(f"{file}:").removeprefix(f"{line}:").strip()
            findings.append(
                {
                    "file": str(file),
                    "line": line,
                    "severity": str(Severity.ERROR),
                    "found": "unusable",
                    "message": message,
                }
            )
        else:
            usable.append(language)
    check_sizes(str(folder), usable)
    return usable, findings
