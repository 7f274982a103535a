"""A folder of ``<name>.yaml`` files of one contract: workflow templates, agents' cards, seats.
Whole or not at all, by file and line.

Files are data from an operator and may still be hostile. What a verb file is held to holds here:
its owner, its size, no link that leaves the folder, and nothing but plain data in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from ordain.contracts.faults import Fault, faults_of, placed
from ordain.errors import ConfigurationError
from ordain.verbs.folder import read_file
from ordain.verbs.yaml_value import YamlDocument

SUFFIX = ".yaml"
SUFFIXES = (SUFFIX, ".yml")
"""What is looked at in a folder: a file of it, and what somebody may have meant as one."""

M = TypeVar("M", bound=BaseModel)


def no_faults(_: Any) -> Iterable[Any]:
    """Most contracts say all that is to be held to."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlFolder(Generic[M]):
    """What the files of such a folder are.

    ``name`` is what it is called below ``$ORDAIN_HOME``, ``key`` the field that says a file's name,
    ``noun`` what people call such a file, ``code`` what errors are told by, ``most`` how many there
    may be. ``alone`` finds what is wrong with one beyond its contract, ``together`` what is wrong
    with some beside each other, by name. ``shipped`` are the build's own.
    """

    contract: type[M]
    name: str
    key: str
    noun: str
    code: str
    most: int
    shipped: Callable[[], Mapping[str, M]] = field(default=dict[str, M])
    alone: Callable[[M], Iterable[Fault]] = no_faults
    together: Callable[[Mapping[str, M]], Iterable[tuple[str, Fault]]] = no_faults

    def of(
        self,
        folder: Path,
        beside: Mapping[str, M] = MappingProxyType({}),
        left_out: list[ConfigurationError] | None = None,
    ) -> dict[str, M]:
        """The shipped ones, those ``beside`` the folder, and its own, by name; it need not exist.

        Where ``left_out`` is given, what of the folder cannot be used is left out, and why is added
        there: fewer may do less, and never more.

        Raises:
            ConfigurationError: one of the folder cannot be used, or has a name that is taken; some
                do not go together.
        """
        own = self._read_all(folder, left_out) if folder.is_dir() else {}
        known = {"shipped": self.shipped(), "embedded": beside}
        for what, others in known.items():
            for taken in sorted(others.keys() & own.keys()):
                _leave_out(
                    self._invalid(str(folder / f"{taken}{SUFFIX}"), self.taken(taken, what)),
                    left_out,
                )
                del own[taken]
        for taken in sorted(known["shipped"].keys() & beside.keys()):
            raise ConfigurationError(self.taken(taken, "shipped"), code=self.code)
        others = {**known["shipped"], **beside}
        while (
            fault := next(
                iter(self.together({**others, **{name: one for name, (one, _) in own.items()}})),
                None,
            )
        ) is not None:
            name, (place, what) = fault
            said = placed(place, what)
            if name not in own:
                raise ConfigurationError(f"{self.noun} {name}: {said}", code=self.code)
            _leave_out(
                self._invalid(str(folder / f"{name}{SUFFIX}"), said, own[name][1].line(place)),
                left_out,
            )
            del own[name]
        return {**others, **{name: one for name, (one, _) in own.items()}}

    def files(self, folder: Path) -> list[Path]:
        """What is looked at in a folder, in the order of names; it need not exist."""
        return (
            sorted(entry for entry in folder.iterdir() if entry.name.endswith(SUFFIXES))
            if folder.is_dir()
            else []
        )

    def taken(self, name: str, what: str) -> str:
        """That a name is another's; ``what`` says whose."""
        return (
            f"{name} is {'an' if what[0] in 'aeiou' else 'a'} {what} {self.noun}: give it another "
            f"{self.key}"
        )

    def load(self, folder: Path) -> Mapping[str, M]:
        """Every file of a folder (not of folders below it), by name, each by itself.

        Raises:
            ConfigurationError: the folder or a file cannot be read, or a file is none of these.
        """
        return MappingProxyType({name: one for name, (one, _) in self._read_all(folder).items()})

    def _read_all(
        self, folder: Path, left_out: list[ConfigurationError] | None = None
    ) -> dict[str, tuple[M, YamlDocument]]:
        try:
            root = folder.resolve(strict=True)
            names = sorted(entry.name for entry in root.iterdir() if entry.name.endswith(SUFFIXES))
        except OSError as error:
            _leave_out(self._invalid(str(folder), f"cannot be read: {error.strerror}"), left_out)
            return {}
        if len(names) > self.most:
            _leave_out(
                self._invalid(
                    str(root), f"more than {self.most} {self.noun}s: none of them is taken up"
                ),
                left_out,
            )
            return {}
        found: dict[str, tuple[M, YamlDocument]] = {}
        for name in names:
            try:
                found[name.removesuffix(SUFFIX)] = self._read(root, name)
            except ConfigurationError as error:
                _leave_out(error, left_out)
        return found

    def load_file(self, root: Path, name: str) -> M:
        """One file; ``root`` is its folder, links followed.

        Raises:
            ConfigurationError: it cannot be read, or is none of these; the message names file and
                line.
        """
        return self._read(root, name)[0]

    def _read(self, root: Path, name: str) -> tuple[M, YamlDocument]:
        source, stem = str(root / name), name.removesuffix(SUFFIX)
        if not name.endswith(SUFFIX):
            raise self._invalid(source, self.named)
        document = self.document(root, name)
        fields: Any = document.value
        if not isinstance(fields, dict):
            raise self._invalid(source, self.mapping, document.line(()))
        faults = self.faults(document, stem)
        if faults:
            (where, what), more = (
                faults[0],
                f" (and {len(faults) - 1} more)" if len(faults) > 1 else "",
            )
            raise self._invalid(
                source, placed(where, what, f"the {self.noun}") + more, document.line(where)
            )
        return self._parsed(fields), document

    @property
    def named(self) -> str:
        """What is wrong with a file of another ending."""
        return f"a {self.noun} is named <{self.key}>{SUFFIX}"

    @property
    def mapping(self) -> str:
        """What is wrong with a file that is a list, a word or nothing."""
        return f"a {self.noun} is a mapping"

    def document(self, root: Path, name: str, *, shipped: bool = False) -> YamlDocument:
        """A file as plain data.

        Raises:
            ConfigurationError: it cannot be read, or is more than plain data.
        """
        from ordain.verbs.yaml_document import (
            parse_document,
        )  # lazy: the parser, which a start without foreign files does without

        try:
            return parse_document(read_file(root, name, shipped=shipped), str(root / name))
        except ConfigurationError as error:
            raise ConfigurationError(
                error.message, code=self.code, details=error.details
            ) from error

    def faults(self, document: YamlDocument, stem: str) -> list[Fault]:
        """Everything that keeps a document from being ``stem``, with its place."""
        fields: Any = document.value
        named = fields.get(self.key) == stem
        found: list[Fault] = (
            [] if named else [((self.key,), f"must be {stem!r}, as the file is named")]
        )
        try:
            return found + list(self.alone(self._parsed({**fields, self.key: stem})))
        except ValidationError as error:
            return found + [
                fault
                for fault in faults_of(self.contract, error)
                if named or fault[0] != (self.key,)
            ]

    def _parsed(self, fields: Any) -> M:
        return self.contract.model_validate_json(json.dumps(fields, allow_nan=False))

    def _invalid(self, source: str, what: str, line: int | None = None) -> ConfigurationError:
        place = source if line is None else f"{source}:{line}"
        return ConfigurationError(
            f"{place}: {what}", code=self.code, details={"file": source, "line": line}
        )


def _leave_out(error: ConfigurationError, left_out: list[ConfigurationError] | None) -> None:
    if left_out is None:
        raise error
    left_out.append(error)
