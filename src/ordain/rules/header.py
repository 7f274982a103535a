"""The execution header: the code-written account of what really happened (RTE-12, B-34, C5).

A pure function of a fold of the journal. No model writes, precedes or hides it: everything a model or a tool said is
quoted, cut and stripped of line breaks and control characters, so that it cannot pass for a line of the header.
"""

from __future__ import annotations

import re
import unicodedata

from msgspec import Struct, structs

EXCERPT = 100
ERROR_EXCERPT = 300
LINE = 600
QUOTED_MAX = 4 * ERROR_EXCERPT
"""Characters of an excerpt that are looked at; what is shown is shorter still."""
"""Longest text that is not an excerpt: a verb id, a provider's name for its model and a code go through ``plain`` all the same."""


class HeaderLine(Struct, frozen=True, gc=False, kw_only=True):
    """One thing that was done: ``mark`` is ok, fail, unknown or info; ``excerpt`` is foreign text, quoted when rendered."""

    mark: str
    what: str
    reason: str = ""
    excerpt: str = ""
    depth: int = 0


class HeaderFacts(Struct, frozen=True, kw_only=True):
    """What the journal says of a run. Money in micro-dollars, time in milliseconds."""

    run: str
    flow: str
    status: str
    reason: str
    models: tuple[str, ...]
    notices: tuple[str, ...]
    lines: tuple[HeaderLine, ...]
    steps: int
    model_calls: int
    verb_calls: int
    tokens_in: int
    tokens_out: int
    estimated: bool
    usd_micros: int
    duration_ms: int


MARKS = {"ok": "✓", "fail": "✗", "unknown": "?", "info": "·"}
UNSETTLED = frozenset({"queued", "ready", "running", "waiting"})
_SIGNS = {'"': "'", "✓": " ", "✗": " ", "·": " "}
SIGNS = str.maketrans(_SIGNS)
"""What a header is punctuated with: foreign text cannot close its quotes or open a line's mark."""


def plain(text: str, bound: int) -> str:
    """Text on one line: controls and format characters out, white space single, cut to ``bound`` characters."""
    kept = text[: bound * 4]
    if not kept.isprintable():
        kept = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in kept)
    line = " ".join(kept.split())
    return line if len(line) <= bound else line[: bound - 1] + "…"


def quoted(text: str, bound: int) -> str:
    """Foreign text in quotes that it cannot close, without the header's own signs."""
    for sign, instead in _SIGNS.items():  # as ``str.translate``, which looks at every character: most texts hold none of three
        text = text.replace(sign, instead)
    return f'"{plain(text, bound)}"'


def quotable(facts: HeaderFacts) -> HeaderFacts:
    """The facts for whoever shows them below its own: of what lines quote no more than any rendering looks at."""
    return structs.replace(facts, lines=tuple(structs.replace(line, excerpt=line.excerpt[:QUOTED_MAX]) for line in facts.lines))


def render_header(facts: HeaderFacts) -> str:
    """The header as text; equal facts give equal bytes."""
    mark = "ok" if facts.status == "completed" else "info" if facts.status in UNSETTLED else "fail"
    title = plain(f"{facts.run} · {facts.flow} · {facts.status} · {facts.reason}", LINE)
    lines = [f"{MARKS[mark]} ordain run {title}"]
    if facts.models:
        lines.append(f"{MARKS['info']} models: {', '.join(quoted(model, EXCERPT) for model in facts.models)}")
    lines += [f"{MARKS['info']} {plain(notice, EXCERPT * 2)}" for notice in facts.notices]
    for line in facts.lines:
        bound = ERROR_EXCERPT if line.mark == "fail" else EXCERPT
        reason = f" · {plain(line.reason, EXCERPT)}" if line.reason else ""
        excerpt = f" · {quoted(line.excerpt, bound)}" if line.excerpt else ""
        lines.append(f"{'  ' * line.depth}{MARKS[line.mark]} {plain(line.what, LINE)}{reason}{excerpt}")
    tokens = f"{facts.tokens_in}+{facts.tokens_out} tokens{' (estimated)' if facts.estimated else ''}"
    money = f"${facts.usd_micros // 1_000_000}.{facts.usd_micros % 1_000_000:06d}"
    lines.append(
        f"{MARKS['info']} {facts.steps} steps, {facts.model_calls} model calls, {facts.verb_calls} verb calls, "
        f"{tokens}, {money}, {facts.duration_ms} ms"
    )
    return "\n".join(lines)


_WORDS = re.compile(r' · "[^"\n]*"$| by user:.*$', re.MULTILINE)
"""What a line quotes, and whose order it was; nothing quoted holds a quotation mark (``SIGNS``)."""


def without_words(header: str) -> str:
    """A rendered header without anybody's words or name: what was done, how it ended and what it took stays when content is erased."""
    return _WORDS.sub(lambda found: " by user" if found[0].startswith(" by") else "", header)
