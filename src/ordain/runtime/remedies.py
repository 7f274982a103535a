"""What people can do about models that failed, as a rendered header tells of them: the same words
wherever somebody is told of it. Pure.

It is read from the header as it was recorded, so nothing is kept and nothing a model said can be in
it: foreign text stands in quotes there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.remedies import NO_WORDS, NOT_HELD, remedy_of
from ordain.contracts.verdict import RunVerdict
from ordain.rules import enforcement
from ordain.rules.header import MARKS, TITLE

_FAILED = f"{MARKS['fail']} model "
_FAILED_MODEL = re.compile(
    rf"^ *{_FAILED}(?P<profile>.+?) · (?P<code>[a-z_]+)(?: · \"(?P<told>[^\"\n"
    r"]*)\"$|(?= · |$))",
    re.MULTILINE,
)
_MODELS_ASKED = re.compile(rf"^{MARKS['info']} \d+ steps, (\d+) model calls, ", re.MULTILINE)
_STAYING = frozenset(
    {ModelErrorCode.AUTHENTICATION, ModelErrorCode.NOT_FOUND, ModelErrorCode.QUOTA_EXCEEDED}
)


def remedies(header: str) -> tuple[str, ...]:
    """A line for each model that failed: its profile, and what people can do. Of work that was done
    all the same, only what will not pass by itself.

    A model that is left alone for a while is told by what it failed with before.
    """
    done = verdict_told(header) in (RunVerdict.OK, "")
    told = (
        (profile, _remedy(found))
        for profile, found in _failed(header).items()
        if not done or found["code"] in _STAYING
    )
    return tuple(f"{profile}: {remedy}" for profile, remedy in told if remedy is not None)


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
        failed, asked = (
            [found["code"] for found in _failures(header)],
            _MODELS_ASKED.findall(header),
        )
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
    why = {found["code"]: found for found in failures}
    left_alone = [
        found["profile"] for found in failures if found["code"] == ModelErrorCode.CIRCUIT_OPEN
    ]
    if left_alone:
        why[ModelErrorCode.CIRCUIT_OPEN] = _failed(header)[left_alone[-1]]
    told = {code: _remedy(cause) for code, cause in why.items()}
    return {code: remedy for code, remedy in told.items() if remedy is not None}


def _failures(header: str) -> list[re.Match[str]]:
    """The lines of models that failed; most headers have none, which is told without a look at each
    line.
    """
    return list(_FAILED_MODEL.finditer(header)) if _FAILED in header else []


def _failed(header: str) -> dict[str, re.Match[str]]:
    """By profile, what it failed with last."""
    last: dict[str, re.Match[str]] = {}
    for found in _failures(header):
        if found["code"] != ModelErrorCode.CIRCUIT_OPEN or found["profile"] not in last:
            last[found["profile"]] = found
    return last


def _remedy(found: re.Match[str]) -> str | None:
    """What is malformed may be so in three ways: no answer of the provider's wire, or one that was
    not held to its form or has no words, which ``ModelError`` tells in fixed words.
    """
    if found["code"] == ModelErrorCode.MALFORMED:
        if found["told"] in enforcement.NOT_HELD:
            return NOT_HELD
        if found["told"] in enforcement.NO_WORDS:
            return NO_WORDS
    return remedy_of(found["code"])
