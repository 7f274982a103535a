"""The header on one line, and which headers are more than one line can say (RTE-12). Pure.

Both are made of a header as it was rendered and recorded, whichever build did: nothing is asked
again, and nothing is left out of the record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from msgspec import Struct

from ordain.contracts.verdict import RunVerdict
from ordain.ports.model import CUT, ENDED_UNSAID, SILENCED
from ordain.rules.header import IN_PROGRESS, MARKS, NO_TOOL_USED, TITLE
from ordain.runtime.reason_words import failure_meanings
from ordain.runtime.remedies import remedy_lines, verdict_in

SHORT_ID = 6
"""Characters of a run's id that are shown: its last ones, which chance made. The first ones are the
same for hours.
"""
MODELS_SHOWN = 2
OFFLINE = "offline"
"""The provider of code that answers where no model is: it has no tokens, and costs nothing."""
NO_MODEL = frozenset({OFFLINE, "scripted"})
"""Providers that ask no model. An endpoint may call its model as it likes, and no endpoint is one
of these.
"""
ABOUT = "≈ "
"""Before money that was estimated."""
FELL_BACK = ("fallback.", "recourse.", "tool_first.fallback")
"""Reasons of what took the place of something else: whoever sees the answer sees that as well."""
SHORT = (CUT, SILENCED, ENDED_UNSAID)
"""Notices of an answer of which something may be missing."""
NOT_TAKEN = ("attach.beside", "step.tool.unknown", "step.tool.outside_toolset")
"""Reasons of what was said and does not count: nobody is to believe that it does."""

_TOTALS = re.compile(
    r"(?P<counted>· \d+ steps, (?P<asked>\d+) model calls, (?P<calls>\d+) verb calls)(?:, "
    r"(?P<tokens_in>\d+)\+(?P<tokens_out>\d+) tokens(?P<estimated> \(estimated\))?"
    r"(?:, \$(?P<usd>[\d.]+))?(?P<reserved> \((?:of it )?reserved [^)]*\))?)?, (?P<ms>\d+) ms"
)
"""A header that a face was given may say no tokens and no money (``readable_header``)."""
_SUMS = " verb calls"
"""Whatever ``_TOTALS`` finds has it."""
_NO_MONEY = re.compile(r", \$0\.0+(?=[, )])")
"""What a model without a price comes to. That is no cost: nobody knows it."""
_MODEL = re.compile(r'"(?P<profile>[^"(]*?) ?\((?P<provider>[^":]*): (?P<model>[^"]*?)(?:\)|…)"')
"""As it is quoted, and cut where it is long."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,63}")
"""What a model is called: an endpoint says what answered, and may say anything."""
_MODELS = f"{MARKS['info']} models: "
_INNER = re.compile(rf" *{MARKS['info']} \S+ \(run \S+\) at work · \S+")
"""A run within another that is at work."""
_RECALL = "recall.fetch_context"
_RECALLED = re.compile(
    rf"(?P<call>^ *{MARKS['ok']} recall\.fetch_context(?: \(run [0-9a-f]+\))?) · "
    r"\"\{'fragments':\[(?P<none>\])?[^\"\n]*\"$",
    re.MULTILINE,
)
"""What memory gave, as it was returned: its beginning, cut."""
_RECALL_RAN = re.compile(rf"^ *{MARKS['ok']} recall\.fetch_context\b", re.MULTILINE)
_NO_TOOL = re.compile(rf"^{MARKS['info']} {NO_TOOL_USED}$", re.MULTILINE)
_ATTACHED = re.compile(
    rf"^ *{MARKS['info']} attached: \d+ of \d+ passages of (?P<files>\d+) document", re.MULTILINE
)
"""What came with the message is given by the same verb as what is remembered."""
_REASON = re.compile(r" · (?P<code>[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+)(?= · |$)", re.MULTILINE)

_FAILURE = re.compile(
    r" · (?P<code>[a-z][a-z0-9_]*(?::[a-z0-9_]+)?)(?= · \"[^\"\n]*\"$|$)", re.MULTILINE
)
"""What may be a code of one word, as those of failures are, or one with what it is about: the last
of a line but what that quotes.
"""


@cache
def _worded() -> re.Pattern[str]:
    """A reason in words, its code beside it."""
    failures = "|".join(map(re.escape, failure_meanings()))
    return re.compile(
        rf" · [^·\n]+ \((?P<code>[a-z][a-z0-9]*[_.:][a-z0-9_.:]+|{failures})\)(?= · |$)",
        re.MULTILINE,
    )


class Brief(Struct, frozen=True, gc=False, kw_only=True):
    """What a header comes to. Time in milliseconds, tokens as it counts them; ``usd`` in dollars as
    rendered, "" where nobody knows of any; ``asked``: a model was that could cost some.

    ``estimated``: whoever answered told nothing of what it used, so that code counted, or a
    reservation stands for it; so the money is no account.
    """

    mark: str
    verdict: str
    models: tuple[str, ...]
    calls: int
    ms: int
    usd: str
    asked: bool
    estimated: bool = False
    run: str
    tokens_in: int = 0
    tokens_out: int = 0


def read_brief(header: str) -> Brief | None:
    """What a rendered header comes to; None for a text that is none."""
    lines = header.split("\n")
    title, totals = TITLE.fullmatch(lines[0]), _totals_of(lines)
    if title is None or totals is None:
        return None
    asked = _asked_in(lines)
    costs = _could_cost(totals, asked)
    return Brief(
        mark=title["mark"],
        verdict=verdict_in(title),
        models=tuple(dict.fromkeys(_called(*one) for one in asked)),
        calls=int(totals["calls"]),
        ms=int(totals["ms"]),
        usd=_money_in(totals) if costs else "",
        asked=costs,
        estimated=totals["estimated"] is not None or totals["reserved"] is not None,
        run=title["run"],
        tokens_in=int(totals["tokens_in"] or 0),
        tokens_out=int(totals["tokens_out"] or 0),
    )


def _totals_of(lines: Sequence[str]) -> re.Match[str] | None:
    """The sums of a header: its last line that is of their form."""
    for line in reversed(lines):
        if _SUMS in line and (found := _TOTALS.fullmatch(line)) is not None:
            return found
    return None


def _asked_in(lines: Sequence[str]) -> list[tuple[str, str, str]]:
    """The models that were asked: profile, provider and name."""
    return _MODEL.findall(lines[1]) if len(lines) > 1 and lines[1].startswith(_MODELS) else []


def _could_cost(totals: re.Match[str], asked: Sequence[tuple[str, str, str]]) -> bool:
    return (
        totals["tokens_in"] is not None
        and int(totals["asked"]) > 0
        and (not asked or any(provider != OFFLINE for _, provider, _ in asked))
    )


def _money_in(totals: re.Match[str]) -> str:
    """In dollars as rendered, "" where it is none."""
    usd = totals["usd"] or ""
    return usd if usd.strip("0.") else ""


def _called(profile: str, provider: str, model: str) -> str:
    """A model by its name; by its profile's, which is the operator's word, where that is no name,
    or that of what answers where no model does.
    """
    if provider == OFFLINE:
        return OFFLINE
    return (
        model
        if _NAME.fullmatch(model) and (provider in NO_MODEL or model.casefold() not in NO_MODEL)
        else profile
    )


def brief_line(header: str) -> str:
    """A rendered header on one line: verdict, models, tools, time, cost and the end of the run's
    id. Its first line where it is of a form that nobody knows.
    """
    return _line(header, read_brief(header))


def header_shown(header: str, meanings: Mapping[str, str]) -> str:
    """The header on one line; where one line would leave out what everybody has to see all of it,
    its reasons in words, and below it what to do about models that failed; ``meanings`` by code.
    """
    brief = read_brief(header)
    return in_words(header, meanings) if _needs_all(header, brief) else _line(header, brief)


def _line(header: str, brief: Brief | None) -> str:
    if brief is None:
        return header.partition("\n")[0]
    told = "" if brief.verdict == RunVerdict.OK else brief.verdict
    shown = brief.models[:MODELS_SHOWN]
    more = f"{len(brief.models) - len(shown)} more" if len(brief.models) > len(shown) else ""
    none = brief.verdict != IN_PROGRESS  # what was not asked yet is no model that was not asked
    models = ", ".join(filter(None, (*shown, more))) or "no model" * none
    no_tool = _by_itself(header) or "no tool" * none
    tools = f"{brief.calls} tool{'s' if brief.calls != 1 else ''}" if brief.calls else no_tool
    parts = (
        told,
        models,
        tools,
        _time(brief.ms),
        _dollars(brief.usd, estimated=brief.estimated),
        brief.run[-SHORT_ID:],
    )
    return f"{brief.mark} {' · '.join(filter(None, parts))}"


def _by_itself(header: str) -> str:
    """What code had done that nobody asked for as a tool, in words; "" where there is nothing."""
    if not _RECALL_RAN.search(header):
        return ""
    attached = _ATTACHED.search(header)
    if attached is None:
        return "looked in memory"
    return f"read the attachment{'s' * (attached['files'] != '1')}"


def needs_all(header: str) -> bool:
    """Whether one line would leave out what everybody has to see: any verdict but ok, anything that
    failed, that nobody knows of or that was cut, any falling back.
    """
    return _needs_all(header, read_brief(header))


def _needs_all(header: str, brief: Brief | None) -> bool:
    if brief is None or brief.verdict not in (RunVerdict.OK, IN_PROGRESS, ""):
        return True
    bad = (MARKS["fail"], MARKS["unknown"])
    if is_short(header) or any(line.lstrip(" ").startswith(bad) for line in header.split("\n")):
        return True
    return any(
        found["code"].startswith((*FELL_BACK, *NOT_TAKEN)) for found in _REASON.finditer(header)
    )


def is_short(header: str) -> bool:
    """Whether an answer was cut, or broke off, or nobody said that it was whole."""
    return any(notice in header for notice in SHORT)


def at_work(header: str, meanings: Mapping[str, str]) -> str:
    """A header so far, as it is shown while the run goes on: its line, and below it what was done,
    its reasons in words, without what that line says already; ``meanings`` by code.

    A run within it that has done nothing so far is left out.
    """
    _, *below = header.split("\n")
    done = [
        line for line in below if not line.startswith(_MODELS) and _TOTALS.fullmatch(line) is None
    ]
    told = [
        line
        for line, after in zip(done, (*done[1:], "")[: len(done)], strict=True)
        if _INNER.fullmatch(line) is None or _depth(after) > _depth(line)
    ]
    return reasons_in_words("\n".join((brief_line(header), *told)), meanings)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def in_words(header: str, meanings: Mapping[str, str]) -> str:
    """A rendered header whose reasons stand in words, each with its code beside it, and below it
    what to do about models that failed; ``meanings`` by code. Counted as ``counted`` does.
    """
    return "\n".join((reasons_in_words(counted(header), meanings), *remedy_lines(header)))


def reasons_in_words(text: str, meanings: Mapping[str, str]) -> str:
    """Lines of a header, each reason in words with its code beside it; as it stands where none is
    known.
    """

    def said(found: re.Match[str]) -> str:
        meaning = meanings.get(found["code"])
        return found[0] if meaning is None else f" · {meaning.rstrip('.')} ({found['code']})"

    return _FAILURE.sub(said, _REASON.sub(said, text))


def reasons_as_codes(text: str) -> str:
    """The same lines with the codes alone, whatever words stood before them: those of a reason may
    be others in another build.
    """
    return _worded().sub(r" · \g<code>", text)


def readable_header(header: str) -> str:
    """A rendered header as every face gives it: no tokens where no model was asked, no money where
    there is none, and what memory gave in words. The record keeps all of it.

    Each line is made of itself alone, or of what stays as it is: what a header said while its run
    was at work stands in the one at its end.
    """
    return counted(recalled_in_words(header))


def recalled_in_words(text: str) -> str:
    """What memory gave is quoted as it was returned, which nobody reads; how much of it went along
    stands in a line of its own. That is no tool that anybody wanted used, and no nothing either.
    """
    if _RECALL not in text:
        return text
    told = _RECALLED.sub(
        lambda found: f"{found['call']} · recalled {'nothing' if found['none'] else 'something'}",
        text,
    )
    done = _by_itself(told)
    return (
        _NO_TOOL.sub(f"{MARKS['info']} {NO_TOOL_USED}; code {done} by itself", told)
        if done
        else told
    )


def counted(header: str) -> str:
    """A rendered header that tells of tokens only where a model was asked, and of money only where
    there is any: of a model without a price it does not say that it costs nothing.
    """
    lines = header.split("\n")
    totals = _totals_of(lines)
    if totals is None or TITLE.fullmatch(lines[0]) is None:
        return header
    costs = _could_cost(totals, _asked_in(lines))
    if costs and _money_in(totals):
        return header

    def told(found: re.Match[str]) -> str:
        return _NO_MONEY.sub("", found[0]) if costs else f"{found['counted']}, {found['ms']} ms"

    for at, line in enumerate(lines):
        if _SUMS in line:
            lines[at] = told(totals) if line is totals.string else _TOTALS.sub(told, line)
    return "\n".join(lines)


def _time(ms: int) -> str:
    if ms < 1_000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms // 100 / 10:.1f} s"
    minutes, seconds = divmod(ms // 1_000, 60)
    return f"{minutes} min {seconds} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _dollars(usd: str, *, estimated: bool) -> str:
    """Money to four places, or to the first that is not zero: what cost something is never shown as
    nothing, nor an estimate as an account.
    """
    if not usd:
        return ""
    whole, _, rest = usd.partition(".")
    places = max(4, len(rest) - len(rest.lstrip("0")) + 1) if not int(whole) else 4
    return f"{ABOUT if estimated else ''}${whole}.{rest[:places]}"
