"""The execution header: the code-written account of what really happened (RTE-12, B-34, C5).

A pure function of a fold of the journal. No model writes, precedes or hides it: everything a model
or a tool said is quoted, cut and stripped of line breaks and control characters, so that it cannot
pass for a line of the header.
"""

from __future__ import annotations

import re
import unicodedata

from msgspec import Struct, structs

from ordain.contracts.verdict import RunVerdict
from ordain.rules.acts import Act, Work, verdict_of

EXCERPT = 100
ERROR_EXCERPT = 300
LINE = 600
QUOTED_MAX = 4 * ERROR_EXCERPT
"""Characters of an excerpt that are looked at; what is shown is shorter still."""
"""Longest text that is not an excerpt: a verb id, a provider's name for its model and a code go
through ``plain`` all the same.
"""


class HeaderLine(Struct, frozen=True, gc=False, kw_only=True):
    """One thing that happened: ``mark`` is ok, fail or unknown of what was done, proposal of what a
    model proposed, else info.

    ``excerpt`` is foreign text, quoted when rendered.
    """

    mark: str
    what: str
    reason: str = ""
    excerpt: str = ""
    depth: int = 0


class HeaderFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the journal says of a run. Money in micro-dollars, time in milliseconds.

    ``judged``: the run's kind has its header opened by ``verdict``, which is "" until the run
    rests; what it is made of stands in ``acts``, ``proposed``, ``answered`` and ``carries``
    (``rules.acts``). ``reserved_*`` is what of tokens and money was booked as reserved, because an
    attempt told nothing of its use; ``reserves_apart`` of such as the run's first record says.
    """

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
    judged: bool = False
    verdict: str = ""
    acts: tuple[Act, ...] = ()
    proposed: int = 0
    answered: bool = False
    carries: bool = False
    reserved_tokens: int = 0
    reserved_usd_micros: int = 0
    reserves_apart: bool = False


MARKS = {"ok": "✓", "fail": "✗", "unknown": "?", "info": "·", "proposal": "→"}
VERDICT_MARKS = {str(RunVerdict.OK): "ok", str(RunVerdict.UNKNOWN): "unknown"}
"""Whatever else a verdict is, it is no success."""
_OK = str(RunVerdict.OK)
IN_PROGRESS = "in progress"
"""Opens the header of a run that has no verdict yet; no record holds such a header."""
TITLE = re.compile(
    r"(?P<mark>\S) (?:(?P<verdict>[^·]+) · )?ordain run (?P<run>\S+) · (?P<flow>\S+) · "
    r"(?P<status>\S+) · *(?P<reason>.*)"
)
"""A header's first line, read again."""
NO_TOOL_USED = "no tool was used"
UNSETTLED = frozenset({"queued", "ready", "running", "waiting"})
_SIGNS = {'"': "'", "✓": " ", "✗": " ", "·": " "}
SIGNS = str.maketrans(_SIGNS)
"""What a header is punctuated with: foreign text cannot close its quotes or open a line's mark."""


def plain(text: str, bound: int) -> str:
    """Text on one line: controls and format characters out, white space single, cut to ``bound``
    characters.
    """
    kept = text[: bound * 4]
    if not kept.isprintable():
        kept = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in kept)
    # the only white space that is printable is the blank, and most texts have none too many
    line = " ".join(kept.split()) if "  " in kept else kept.strip(" ")
    return line if len(line) <= bound else line[: bound - 1] + "…"


def quoted(text: str, bound: int) -> str:
    """Foreign text in quotes that it cannot close, without the header's own signs."""
    kept = text[: bound * 4]  # no more than that is looked at; each sign stays one sign
    for sign, instead in _SIGNS.items():
        # as ``str.translate``, which looks at every character: most texts hold none of three
        kept = kept.replace(sign, instead)
    return f'"{plain(kept, bound)}"'


def quotable(facts: HeaderFacts) -> HeaderFacts:
    """The facts for whoever shows them below its own: of what lines quote no more than any
    rendering looks at.
    """
    return structs.replace(
        facts,
        lines=tuple(
            structs.replace(line, excerpt=line.excerpt[:QUOTED_MAX]) for line in facts.lines
        ),
    )


def render_header(facts: HeaderFacts) -> str:
    """The header as text; equal facts give equal bytes."""
    lines = [title_line(facts)]
    if facts.models:
        lines.append(
            f"{MARKS['info']} models: {', '.join(quoted(model, EXCERPT) for model in facts.models)}"
        )
    lines += [f"{MARKS['info']} {plain(notice, EXCERPT * 2)}" for notice in facts.notices]
    for line in facts.lines:
        bound = ERROR_EXCERPT if line.mark == "fail" else EXCERPT
        reason = f" · {plain(line.reason, EXCERPT)}" if line.reason else ""
        excerpt = f" · {quoted(line.excerpt, bound)}" if line.excerpt else ""
        lines.append(
            f"{'  ' * line.depth}{MARKS[line.mark]} {plain(line.what, LINE)}{reason}{excerpt}"
        )
    asked = facts.proposed or facts.carries or any(not act.own for act in facts.acts)
    if not asked and facts.verdict == _OK:
        lines.append(f"{MARKS['info']} {NO_TOOL_USED}")
    tokens = (
        f"{facts.tokens_in}+{facts.tokens_out} tokens{' (estimated)' if facts.estimated else ''}"
    )
    lines.append(
        f"{MARKS['info']} {facts.steps} steps, {facts.model_calls} model calls, "
        f"{facts.verb_calls} verb calls, "
        f"{tokens}, {_money(facts.usd_micros)}{_reserved(facts)}, {facts.duration_ms} ms"
    )
    return "\n".join(lines)


def title_line(facts: HeaderFacts) -> str:
    """The first line of the header: the verdict opens it where there is one, and that there is none
    yet where the run is to have one.
    """
    title = plain(f"{facts.run} · {facts.flow} · {facts.status} · {facts.reason}", LINE)
    if facts.verdict:
        return f"{MARKS[_verdict_mark(facts)]} {plain(facts.verdict, EXCERPT)} · ordain run {title}"
    if facts.judged and facts.status in UNSETTLED:
        return f"{MARKS['info']} {IN_PROGRESS} · ordain run {title}"
    mark = "ok" if facts.status == "completed" else "info" if facts.status in UNSETTLED else "fail"
    return f"{MARKS[mark]} ordain run {title}"


def _verdict_mark(facts: HeaderFacts) -> str:
    """Of a run that was to do nothing, as one that tells how things stand, it is no failure that
    nothing was done.
    """
    mark = VERDICT_MARKS.get(facts.verdict, "fail")
    if mark == "fail" and facts.verdict == RunVerdict.NOTHING and facts.status == "completed":
        return "info"
    return mark


def with_verdict(facts: HeaderFacts) -> HeaderFacts:
    """The facts with the verdict that they come to: none while the run is at work, nor where its
    kind has none.
    """
    if not facts.judged or facts.status in UNSETTLED:
        return structs.replace(facts, verdict="") if facts.verdict else facts
    completed = facts.status == "completed"
    work = Work(
        acts=facts.acts,
        proposed=facts.proposed,
        completed=completed,
        answered=facts.answered,
        carries=facts.carries,
    )
    return structs.replace(facts, verdict=str(verdict_of(work)))


def _money(usd_micros: int) -> str:
    return f"${usd_micros // 1_000_000}.{usd_micros % 1_000_000:06d}"


def _reserved(facts: HeaderFacts) -> str:
    """What was booked and is no use that anybody reported: such money is among the sum, such tokens
    are not.
    """
    tokens, money = facts.reserved_tokens, _money(facts.reserved_usd_micros)
    if not facts.judged or not (tokens or facts.reserved_usd_micros):
        return ""
    if not facts.reserves_apart:
        return f" (of it reserved for attempts that told of no use: {tokens} tokens, {money})"
    of_sum = f", {money} of the sum" if facts.reserved_usd_micros else ""
    return f" (reserved for attempts that told of no use: {tokens} tokens more{of_sum})"


_WORDS = re.compile(r' · "[^"\n]*"$| by user:.*$', re.MULTILINE)
"""What a line quotes, and whose order it was; nothing quoted holds a quotation mark (``SIGNS``)."""


def without_words(header: str) -> str:
    """A rendered header without anybody's words or name: what was done, how it ended and what it
    took stays when content is erased.
    """
    return _WORDS.sub(lambda found: " by user" if found[0].startswith(" by") else "", header)
