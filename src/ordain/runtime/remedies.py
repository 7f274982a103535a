"""What people can do about models that failed, as a rendered header tells of them: the same words
wherever somebody is told of it. Pure.

It is read from the header as it was recorded, so nothing is kept and nothing a model said can be in
it: foreign text stands in quotes there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ordain.contracts.failure_words import ABANDONED, JOIN_DEADLINE
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.remedies import NO_WORDS, NOT_HELD, TOO_LATE, remedy_of
from ordain.contracts.verdict import RunVerdict
from ordain.rules import enforcement
from ordain.rules.header import MARKS, TITLE

_FAILED = f"{MARKS['fail']} model "
_FAILED_MODEL = re.compile(
    rf"^ *{_FAILED}(?P<profile>.+?) · (?P<code>[a-z_]+)(?: · \"(?P<told>[^\"\n"
    r"]*)\"$|(?= · |$))",
    re.MULTILINE,
)
_LATE = re.compile(
    rf'^ *{MARKS["fail"]} cancel by run:[0-9a-f]+ · "{re.escape(JOIN_DEADLINE)}"$', re.MULTILINE
)
"""The work had no more time, and gave up what it waited for."""
_MODELS_ASKED = re.compile(rf"^{MARKS['info']} \d+ steps, (\d+) model calls, ", re.MULTILINE)
_ONE_MODEL = re.compile(
    rf'^{MARKS["info"]} models: "(?P<profile>[^"(]+) \((?P<provider>[a-z]+): [^"]*"$', re.MULTILINE
)
_NO_MODEL = frozenset({"offline", "scripted"})
_PLANNER = "planner@"
_NO_STEP = ("step.shape.", "step.consistency.")
_STAYING = frozenset(
    {ModelErrorCode.AUTHENTICATION, ModelErrorCode.NOT_FOUND, ModelErrorCode.QUOTA_EXCEEDED}
)


class _Failure(NamedTuple):
    """A model that failed: its profile, its error's code, and what is done about that."""

    profile: str
    code: str
    remedy: str | None


def remedies(header: str) -> tuple[str, ...]:
    """A line for each model that failed: its profile, and what people can do. Of work that was done
    all the same, only what will not pass by itself.

    A model that is left alone for a while, or was given up, is told by what it failed with before.
    """
    done = verdict_told(header) in (RunVerdict.OK, "")
    told = {
        failure.profile: failure.remedy
        for failure in _last_of_each(header).values()
        if failure.remedy is not None and (not done or failure.code in _STAYING)
    }
    if not done and (profile := _unfit(header)):
        told.setdefault(profile, NOT_HELD)
    return tuple(f"{profile}: {remedy}" for profile, remedy in told.items())


def model_failure(header: str) -> tuple[str, str] | None:
    """Of a header of work that ended because a model gave no answer: that error's code, and a line
    that says what it was and what people can do.

    None where it ended otherwise, as by a verb that failed although a model had failed before.
    Where nobody names the error, as a council that nobody spoke in, it is the models' if each call
    of one failed.
    """
    reason, known = reason_told(header), set(ModelErrorCode)
    if verdict_told(header) in (RunVerdict.OK, ""):
        return None
    if reason not in known:
        failed = [failure.code for failure in _failures(header)]
        asked = _MODELS_ASKED.findall(header)
        if not failed or not asked or len(failed) != int(asked[-1]) or failed[-1] not in known:
            return None
        reason = failed[-1]
    return reason, "; ".join([f"no model gave an answer ({reason})", *remedies(header)])


def reason_told(header: str) -> str:
    """Why the run ended as it did; "" of a text that is no header."""
    title = TITLE.fullmatch(header.partition("\n")[0])
    return "" if title is None else title["reason"]


def verdict_told(header: str) -> str | None:
    """The verdict that opens a header, how a run stands that has none ("" where it is completed);
    None of a text that is no header.
    """
    title = TITLE.fullmatch(header.partition("\n")[0])
    return None if title is None else verdict_in(title)


def verdict_in(title: re.Match[str]) -> str:
    """The same of a first line that ``TITLE`` has read."""
    return title["verdict"] or ("" if title["status"] == "completed" else title["status"])


def remedy_lines(header: str) -> tuple[str, ...]:
    """The same as lines below a header."""
    return tuple(f"{MARKS['proposal']} {one}" for one in remedies(header))


def remedies_by_code(header: str) -> Mapping[str, str]:
    """What to do about each error that a model failed with, whatever else its code is used for.

    About an open circuit what is done about what opened it: what the model that was left alone last
    failed with before.
    """
    failures = _failures(header)
    told = {failure.code: failure.remedy for failure in failures}
    left_alone = [
        failure.profile for failure in failures if failure.code == ModelErrorCode.CIRCUIT_OPEN
    ]
    if left_alone:
        told[ModelErrorCode.CIRCUIT_OPEN] = _last_of_each(header)[left_alone[-1]].remedy
    if _unfit(header):
        told[reason_told(header)] = NOT_HELD
    return {code: remedy for code, remedy in told.items() if remedy is not None}


def _unfit(header: str) -> str:
    """The one model of a plan that ended because what it proposed was no step, which is a model's
    failure as one that is not held to its form: "" where it ended otherwise, or nobody can say
    which it was. What is played from a file is as it was written.
    """
    first = header.partition("\n")[0]
    if not any(map(first.__contains__, _NO_STEP)):
        return ""  # as of most, and that is told in less time than a title is read
    title = TITLE.fullmatch(first)
    if (
        title is None
        or not title["flow"].startswith(_PLANNER)
        or not title["reason"].startswith(_NO_STEP)
    ):
        return ""
    asked = _ONE_MODEL.search(header)
    return "" if asked is None or asked["provider"] in _NO_MODEL else asked["profile"]


def _failures(header: str) -> list[_Failure]:
    """The models that failed, one for each attempt; most headers have none, which is told without a
    look at each line.
    """
    if _FAILED not in header:
        return []
    late = _LATE.search(header) is not None
    return [_failure(found, late=late) for found in _FAILED_MODEL.finditer(header)]


def _failure(found: re.Match[str], *, late: bool) -> _Failure:
    """What is malformed may be so in three ways: no answer of the provider's wire, or one that was
    not held to its form or has no words, which ``ModelError`` tells in fixed words.

    What was given up because the work's time was over was not done in time.
    """
    if late and found["code"] == ABANDONED:
        return _Failure(found["profile"], ModelErrorCode.TIMED_OUT, TOO_LATE)
    code, remedy = found["code"], remedy_of(found["code"])
    if code == ModelErrorCode.MALFORMED:
        if found["told"] in enforcement.NOT_HELD:
            remedy = NOT_HELD
        elif found["told"] in enforcement.NO_WORDS:
            remedy = NO_WORDS
    return _Failure(found["profile"], code, remedy)


def _last_of_each(header: str) -> dict[str, _Failure]:
    """By profile, what it failed with last, of what tells something of it: nobody asks a model that
    is left alone, and one that was given up might have answered.
    """
    last: dict[str, _Failure] = {}
    for failure in _failures(header):
        tells = failure.remedy is not None and failure.code != ModelErrorCode.CIRCUIT_OPEN
        if tells or failure.profile not in last:
            last[failure.profile] = failure
    return last
