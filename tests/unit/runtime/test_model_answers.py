"""A model call without its transport: what is sent within its bound, and what is kept and believed
of what comes back.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ordain.contracts.catalog import Catalog
from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.policy import Lane
from ordain.effects.effect import ModelCall
from ordain.effects.results import ModelAnswer, ModelFailed
from ordain.flows.ask import VERB_CONTRACT
from ordain.flows.kind import ByCode, ModelQuestion, PromptKind
from ordain.flows.values import PromptInputs, Values
from ordain.journal.digests import content_digest
from ordain.ports.model import Charge, ModelError, ModelReply
from ordain.prompts.prompt import Prompt
from ordain.rules.thought_tags import CHANNELS, EITHER
from ordain.rules.thoughts import KeptThoughts
from ordain.runtime.model_answers import (
    ANSWER_CHARS,
    BELIEVED_TIMES,
    TOKEN_CHARS,
    Failure,
    PreparedCall,
    kept_answer,
    prepare,
    with_use,
)
from ordain.testing import catalog_of
from ordain.testing.catalogs import SCRIPTED

TEMPLATE = "Say it.\n=====\n{{ word }}\n"
CATALOG = catalog_of(prompts={"probe_step": TEMPLATE})


def _question(_: Any, __: Any) -> ModelQuestion:
    return ModelQuestion(refs=(), args={}, prompt_tokens=99, max_tokens=9)


def _build(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
    return PromptInputs(inputs={"word": values[0]}, schema={"type": "object"})


def _nothing_kept(text: str, _: Any) -> KeptThoughts:
    return KeptThoughts(content=None, size_bytes=len(text.encode()), reason="proposal.not_json")  # type: ignore[arg-type]


PROBE: PromptKind[Any] = PromptKind(
    purpose="probe",
    contract="Probe",
    lane=lambda _: Lane.LOCAL,
    ask=_question,
    build=_build,
    template="probe_step",
    by_code=ByCode.QUOTE,
)
WITHHOLDING: PromptKind[Any] = PromptKind(
    purpose="probe",
    contract="Probe",
    lane=lambda _: Lane.LOCAL,
    ask=_question,
    build=_build,
    template="probe_step",
    withhold=_nothing_kept,
)


def call(**changes: Any) -> ModelCall:
    given = {
        "purpose": "probe",
        "refs": (),
        "profile": "default",
        "max_tokens": 9,
        "bound_tokens": 200,
        "deadline": 10,
        **changes,
    }
    return ModelCall(**given)


def values(word: str = "hello") -> Values:
    found = Values()
    found[0] = word
    return found


def prepared(asked: ModelCall, word: str = "hello") -> tuple[PreparedCall | ModelFailed, Failure]:
    failure = Failure("scripted", "small")
    return prepare(CATALOG, asked, values(word), PROBE, failure), failure


OBJECT: dict[str, Any] = {"type": "object"}


def kept(
    reply: ModelReply,
    asked: ModelCall | None = None,
    prompt: PromptKind[Any] = PROBE,
    size: int = 100,
    schema: dict[str, Any] | None = OBJECT,
) -> ModelAnswer:
    inputs = PromptInputs(inputs={}, schema=schema)
    sent = PreparedCall(
        kind=prompt, prompt=Prompt("system", "user"), inputs=inputs, size=size, address="a" * 32
    )
    return kept_answer(asked or call(), CATALOG.policy, reply, Failure("scripted", "small"), sent)


def reply(text: str = "{}", **counts: Any) -> ModelReply:
    return ModelReply(
        text=text, model="small-1", **{"input_tokens": 10, "output_tokens": 2, **counts}
    )


@given(st.text(max_size=40), st.integers(0, 80))
def test_a_prompt_goes_out_within_its_bound_or_not_at_all(word: str, bound: int) -> None:
    """In bytes of UTF-8, as reserved; what does not go out was not sent, and its digest is known
    all the same.
    """
    sent, failure = prepared(call(bound_tokens=bound), word)
    whole, _ = prepared(call(bound_tokens=10_000), word)
    assert isinstance(whole, PreparedCall)
    assert whole.size == len(whole.prompt.system.encode()) + len(whole.prompt.user.encode())
    assert failure.prompt_digest(None) != ""
    if whole.size <= bound:
        assert sent == whole
    else:
        assert isinstance(sent, ModelFailed)
        assert (sent.code, sent.live, sent.charged, sent.prompt_digest) == (
            ModelErrorCode.PROMPT_OVER_BOUND,
            False,
            None,
            failure.prompt_digest(None),
        )


def test_a_template_that_is_not_there_is_a_refusal() -> None:
    """A value like any other failure; nothing was rendered."""
    sent, _ = prepared(call(prompt="nowhere"))
    assert isinstance(sent, ModelFailed)
    assert (sent.code, sent.live, sent.prompt_digest) == (ModelErrorCode.REJECTED, False, "")


@pytest.mark.parametrize(
    ("contract", "verb", "schema_name"),
    [("", "", "Probe"), (f"{VERB_CONTRACT}text.sum_up", "text.sum_up", "verb_text_sum_up")],
)
def test_a_request_says_whose_answer_it_wants(contract: str, verb: str, schema_name: str) -> None:
    """The verb where a prompt plan asks, a name that providers take for a schema, and what code may
    answer.
    """
    asked = call(contract=contract, narrative="content")
    sent, _ = prepared(asked)
    assert isinstance(sent, PreparedCall)
    request = sent.request(asked, SCRIPTED, timeout_s=3, index=2, heard=True)
    assert (request.verb, request.schema_name, request.by_code, request.index) == (
        verb,
        schema_name,
        "quote",
        2,
    )
    assert (request.narrative, request.inputs, request.max_tokens) == (
        "content",
        {"word": "hello"},
        9,
    )
    assert sent.request(asked, SCRIPTED, timeout_s=3, index=2, heard=False).narrative == ""


@pytest.mark.parametrize(
    ("asked", "most"), [(9, ANSWER_CHARS), (100_000, 100_000 * TOKEN_CHARS)], ids=["few", "many"]
)
@pytest.mark.parametrize("schema", [None, {"type": "object"}], ids=["words", "an object"])
def test_of_an_answer_that_is_far_too_long_the_beginning_counts(
    asked: int, most: int, schema: dict[str, Any] | None
) -> None:
    """More than any model says for what was asked is not looked at, and that is told."""
    text = "a" * (most + 1)
    found = kept(reply(text), call(max_tokens=asked), schema=schema)
    assert found.content == text[:most]
    assert (
        found.notice == f"the answer has {most + 1} characters, of which the first {most} are kept"
    )
    assert kept(reply(text[:most]), call(max_tokens=asked), schema=schema).notice is None


@given(
    st.none() | st.integers(0, 10**7),
    st.none() | st.integers(0, 10**7),
    st.integers(0, 10**7),
    st.integers(0, 10**7),
)
def test_nobody_empties_an_account_by_a_count(
    given_in: int | None, said_out: int | None, cached: int, written: int
) -> None:
    """What a provider counts is believed up to so many times what was reserved; else bytes are
    counted, and the answer says so.
    """
    text = "x" * 30
    answer = kept(
        reply(
            text,
            input_tokens=given_in,
            output_tokens=said_out,
            cached_tokens=cached,
            written_tokens=written,
        )
    )
    most_in, most_out = BELIEVED_TIMES * 200, BELIEVED_TIMES * 30
    believed = given_in if given_in is not None and given_in <= most_in else None
    said = said_out if said_out is not None and said_out <= most_out else None
    said = None if said == 0 else said  # a text has a token for so many bytes at least
    assert (answer.input_tokens, answer.output_tokens) == (
        100 if believed is None else believed,
        30 if said is None else said,
    )
    assert answer.estimated == (believed is None or said is None)
    assert max(answer.cached_tokens, answer.written_tokens) <= (believed or 0)


@pytest.mark.parametrize(("counted", "believed"), [(1, False), (156, False), (157, True)])
def test_a_count_that_stopped_at_its_beginning_is_none(counted: int, believed: bool) -> None:
    """Of a stream that tells of its first token alone bytes are counted: nothing would bind, and
    the bill would be a thousand times larger.
    """
    answer = kept(reply("word " * 2_000, input_tokens=30, output_tokens=counted))
    assert (answer.estimated, answer.output_tokens) == (
        not believed,
        counted if believed else 10_000,
    )


@given(st.text(st.characters(), max_size=20))
@example("[THINK]")
def test_an_answer_can_be_written_down(text: str) -> None:
    """Half of a pair of surrogates is in no file: it is replaced, and everything else stays. What
    is a thought's mark is no part of an answer.
    """
    assume(EITHER.search(text) is None and CHANNELS.search(text) is None)
    content = kept(reply(text)).content
    assert content is not None
    assert content == text.encode(errors="replace").decode()
    assert kept(reply("a\ud800b")).content == "a?b"


@pytest.mark.parametrize("keep", [True, False])
def test_thoughts_that_may_not_be_kept_are_not(keep: bool) -> None:
    """What cannot be read is withheld whole, by size and digest; where they may be kept nothing is
    touched.
    """
    answer = kept(reply("I think"), call(keep_thoughts=keep), WITHHOLDING)
    if keep:
        assert (answer.content, answer.withheld) == ("I think", None)
    else:
        assert answer.content is None
        assert answer.withheld is not None
        assert (answer.withheld.size_bytes, answer.withheld.digest) == (
            7,
            content_digest(b"I think"),
        )


@pytest.mark.parametrize(
    ("charge", "live", "charged"),
    [
        (Charge.NOTHING_SENT, False, None),
        (Charge.REFUSED, True, False),
        (Charge.POSSIBLE, True, True),
    ],
)
def test_a_failure_says_what_it_may_have_cost(
    charge: Charge, live: bool, charged: bool | None
) -> None:
    """And no more than 300 characters of why."""
    failed = Failure("scripted", "small").of(ModelErrorCode.CONNECTION, "x" * 999, charge=charge)
    assert (failed.live, failed.charged, len(failed.message)) == (live, charged, 300)


@pytest.mark.parametrize("keep", [True, False])
def test_a_thought_is_cut_before_an_answer_is_recorded(keep: bool) -> None:
    """B-26 "thought→answer": what is judged, now and when it is replayed, is what stands after the
    thought; its tokens were used all the same.
    """
    said = reply('<think>{"draft": 1}</think>{"real": 1}', output_tokens=None)
    answer = kept(said, call(keep_thoughts=keep))
    assert (answer.content, answer.output_tokens) == ('{"real": 1}', len(said.text))
    withheld = kept(
        reply('<think>{"draft": 1}</think>no'), call(keep_thoughts=False), WITHHOLDING
    ).withheld
    assert withheld is not None
    assert (withheld.size_bytes, withheld.digest) == (2, content_digest(b"no"))


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ({"input_tokens": 10, "output_tokens": 2, "cached_tokens": 4}, (10, 2, 4)),
        ({"input_tokens": 10, "output_tokens": 0}, (10, 0, 0)),
        ({"input_tokens": 10, "output_tokens": 2, "cached_tokens": 99}, (10, 2, 0)),
        ({"input_tokens": 10}, (0, 0, 0)),
        ({"output_tokens": 2}, (0, 0, 0)),
        ({"input_tokens": 0, "output_tokens": 0}, (0, 0, 0)),
        ({"input_tokens": -1, "output_tokens": 2}, (0, 0, 0)),
        ({"input_tokens": BELIEVED_TIMES * 200 + 1, "output_tokens": 2}, (0, 0, 0)),
        ({"input_tokens": 10, "output_tokens": BELIEVED_TIMES * 9 + 1}, (0, 0, 0)),
    ],
)
def test_a_failure_tells_of_its_use_wholly_or_not_at_all(
    counts: dict[str, int], told: tuple[int, int, int]
) -> None:
    """As its answer's provider counted it, believed as an answer's; half of it, and what cannot be,
    is none, and all that was reserved is booked.
    """
    failure = Failure("scripted", "small")
    error = ModelError(code=ModelErrorCode.MALFORMED, message="", **counts)  # type: ignore[arg-type]
    used = with_use(failure.of(error.code, "", charge=error.charge), error, call())
    assert (used.input_tokens, used.output_tokens, used.cached_tokens) == told
    assert with_use(failure.of(error.code, ""), error, call()).input_tokens == 0
