"""Lint of one's own phrases: what contradicts, what changes nothing, and nothing else."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ordain.wording.engine_1.phrases import compile_phrases
from ordain.wording.languages import Language, read_language, shipped_languages, table_of
from ordain.wording.lint import FindingKind, Severity, WordingFinding, lint
from tests.lanes import examples

WORDS = [
    "knofi",
    "Knofi",
    "knöfi",
    "halt",
    "weiter",
    "merci",
    "stop",
    "schön",
    "schon",
    "gosch hald",
]
SIGNS = ["stop", "thanks", "go_on", "yes"]


def file(text: str, name: str = "own.toml") -> Language:
    """A file of one's own."""
    return read_language(name, f"[phrases]\n{text}".encode())


def said(*languages: Language) -> list[tuple[FindingKind, Severity, str, int, str]]:
    """What lint finds, without the words."""
    return [(one.found, one.severity, one.file, one.line, one.phrase) for one in lint(languages)]


def test_one_phrase_with_two_signs_contradicts() -> None:
    """Both places are named, each with the other one and with what holds."""
    first, second = lint(
        [file("stop = '''\nja\nknofi'''\n", "a.toml"), file("thanks = 'knofi'", "b.toml")]
    )[-2:]
    assert (first.found, first.severity, first.file, first.line) == (
        FindingKind.CONTRADICTS,
        Severity.ERROR,
        "a.toml",
        4,
    )
    assert "b.toml:2 says that it means thanks" in first.message
    assert "stop holds" in first.message
    assert (
        second.file,
        second.line,
        "a.toml:4" in second.message,
        "stop holds" in second.message,
    ) == ("b.toml", 2, True, True)


def test_what_is_shipped_otherwise_is_a_warning() -> None:
    """To mean something else than the shipped files is one's right; where they say so is named."""
    (finding,) = lint([file("stop = 'weiter'")])
    assert (finding.found, finding.severity) == (FindingKind.CONTRADICTS, Severity.WARNING)
    assert "german.toml" in finding.message
    assert "go_on" in finding.message


def test_what_changes_nothing_is_shadowed() -> None:
    """A phrase that is shipped, or that differs from another only in what nobody hears, is one too
    many.
    """
    assert said(file("stop = 'Stop'")) == [
        (FindingKind.SHADOWED, Severity.WARNING, "own.toml", 2, "Stop")
    ]
    assert said(file("stop = 'knofi | Knofi'")) == [
        (FindingKind.SHADOWED, Severity.WARNING, "own.toml", 2, "Knofi")
    ]
    assert said(file("stop = 'knofi'"), file("yes = 'gosch'", "b.toml")) == []


phrases = st.lists(
    st.tuples(st.sampled_from(SIGNS), st.sampled_from(WORDS)), max_size=6, unique=True
)


def written(pairs: list[tuple[str, str]]) -> Language:
    """A file with these phrases."""
    by_sign = {sign: [word for named, word in pairs if named == sign] for sign, _ in pairs}
    return file("".join(f"{sign} = '{' | '.join(words)}'\n" for sign, words in by_sign.items()))


@settings(max_examples=examples(25, quick=5))
@given(phrases)
def test_shadowed_is_what_the_table_is_the_same_without(pairs: list[tuple[str, str]]) -> None:
    """Without any one phrase that is found shadowed every message means the same; without one of
    which nothing is said, some does not.
    """
    found: dict[tuple[str, str], WordingFinding] = {
        (one.sign, one.phrase): one for one in lint([written(pairs)])
    }
    whole = compile_phrases(table_of(shipped_languages(), [written(pairs)]).phrases)
    for pair in pairs:
        finding = found.get(pair)
        without = compile_phrases(
            table_of(shipped_languages(), [written([one for one in pairs if one != pair])]).phrases
        )
        if finding is not None and finding.found is FindingKind.SHADOWED:
            assert without == whole
        if finding is None:
            assert without != whole or any(other != pair and other[0] == pair[0] for other in pairs)
