"""Known secrets are struck out of what models and verbs give back, whole or in pieces."""

from __future__ import annotations

import asyncio
import base64
import html
import json
import time
from html.entities import html5
from itertools import pairwise
from typing import Any, cast
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.access import mint_token
from ordain.ports.model import ModelReply
from ordain.ports.verb import LeafFailed, LeafReturned
from ordain.runtime.seal import STRUCK, Seal, SealedModel, SealedVerbs, sealed_models
from tests.lanes import size
from tests.unit.runtime.saying import SECRET, Saying, asked

secrets = st.text(
    st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=8, max_size=24
).filter(lambda one: STRUCK not in one)


@given(secrets, st.text(max_size=10), st.text(max_size=10))
def test_a_secret_is_struck_in_every_spelling(secret: str, before: str, after: str) -> None:
    """As it is, in JSON, percent-encoded; in texts, in keys and values of JSON, at any depth."""
    seal = Seal([secret])
    for spelling in (secret, json.dumps(secret)[1:-1], quote(secret, safe="")):
        assert spelling not in seal.text(f"{before}\n{spelling}\n{after}")
    value: Any = {"a": [{secret: f"x{secret}"}], "n": 3, "b": None}
    assert secret not in str(seal.value(value)).replace(STRUCK, "")
    assert seal.value(value)["n"] == 3


@given(secrets, st.text(max_size=10), st.text(max_size=10), st.data())
def test_a_secret_is_struck_out_of_the_escapes_of_json(
    secret: str, before: str, after: str, data: st.DataObject
) -> None:
    """However a model spells its characters, what is read from its JSON does not hold it, and the
    rest is as it was.
    """
    ways = [
        lambda c: f"\\u{ord(c):04x}",
        lambda c: f"\\u{ord(c):04X}",
        lambda c: {"/": "\\/"}.get(c, json.dumps(c)[1:-1]),
    ]
    spelled = "".join(data.draw(st.sampled_from(ways))(character) for character in secret)
    first, last = json.dumps(before), json.dumps(after)
    said = json.loads(Seal([secret]).text(f'{{"a": {first}, "b": "{spelled}", "c": {last}}}'))
    assert secret not in said["b"].replace(STRUCK, "")
    if secret not in before + after:
        assert (said["a"], said["b"], said["c"]) == (before, STRUCK, after)


@pytest.mark.parametrize(
    "spelled",
    [
        "\\u0030" + "0" * 7,
        "0" * 7 + "\\u0030",
        "\\u00300" + "0" * 6,
        "x\\u0030" + "0" * 7 + "\\u0030y",
    ],
)
def test_a_secret_of_zeros_takes_the_escapes_that_it_cuts(spelled: str) -> None:
    """It begins or ends within an escape's own digits as well: what is left is JSON, and does not
    hold it.
    """
    said = json.loads(Seal(["0" * 8]).text(f'{{"a": "{spelled}", "b": 3}}'))
    assert said == {"a": said["a"], "b": 3}
    assert "0" * 8 not in said["a"]
    assert STRUCK in said["a"]


@given(st.text())
def test_a_text_without_a_secret_stays(text: str) -> None:
    """Escapes or not, nothing is struck that is no secret."""
    seal = Seal([SECRET])
    assert seal.text(json.dumps(text)) == json.dumps(text)
    assert seal.text(text) == text


@given(secrets, st.binary(max_size=9), st.binary(max_size=9), st.booleans())
def test_a_secret_is_struck_in_base64(
    secret: str, before: bytes, after: bytes, url_safe: bool
) -> None:
    """Alone, and in the midst of other bytes such as the credentials of HTTP Basic, nothing can be
    decoded that holds it.
    """
    encoded = (base64.urlsafe_b64encode if url_safe else base64.b64encode)(
        before + secret.encode() + after
    ).decode()
    first, last = len(before) * 8 // 6 + 2, (len(before) + len(secret)) * 8 // 6 - 2
    assert encoded[first:last] not in Seal([secret]).text(f"Basic {encoded}").replace(STRUCK, "\n")
    assert STRUCK in Seal([secret]).text(encoded)


@given(st.binary(min_size=40, max_size=40), st.lists(st.integers(0, 90), max_size=8))
def test_a_token_is_struck_where_no_secret_is_known(chance: bytes, cuts: list[int]) -> None:
    """An installation without keys: a token goes into no answer of a model, whole or heard in
    pieces, and no result or error of a verb.
    """
    token, heard = mint_token(chance), list[str]()
    text = f"or so: {token} no"
    bounds = [0, *sorted(cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(bounds)]
    reply = _run(SealedModel(Saying(pieces), Seal()).attempt(asked(), heard.append))
    assert reply.text == "".join(heard) == f"or so: {token[:20]}[secret] no"
    given_back = (
        LeafReturned(output={"n": 3, token: [token]}),
        LeafFailed(code="x", message=token, happened=False),
    )
    returned, failed = (
        _run(SealedVerbs(cast("Any", Giving(one)), Seal()).run(cast("Any", None)))
        for one in given_back
    )
    assert token[20:] not in str(returned.output) + failed.message
    assert returned.output["n"] == 3


NAMED = {
    read: [f"&{name}" for name, other in html5.items() if other == read and name.endswith(";")]
    for read in html5.values()
}


def _ways(character: str) -> list[str]:
    percent = "".join(f"%{byte:02X}" for byte in character.encode())
    code = f"\\u{ord(character):04x}"
    short = {"/": "\\/", '"': '\\"', "\\": "\\\\"}.get(character, code)
    number = ord(character)
    entities = [
        f"&#{number};",
        f"&#00{number};",
        f"&#x{number:x};",
        f"&#X0{number:X};",
        *NAMED.get(character, ()),
    ]
    return [
        percent,
        percent.lower(),
        code,
        code.upper().replace("U", "u", 1),
        short,
        code.replace("\\", "\\\\"),
        character,
        *entities,
    ]


mixed = st.text(
    st.characters(codec="ascii", exclude_categories=["Cc"]) | st.sampled_from("éß中"),
    min_size=8,
    max_size=20,
).filter(lambda one: not {"\\", "%", "&"} & set(one) and STRUCK not in one)


@given(mixed, st.data())
def test_a_secret_is_struck_however_each_of_its_characters_is_spelled(
    secret: str, data: st.DataObject
) -> None:
    """Percent signs with digits of either case, escapes of JSON in any form and in JSON again;
    whole, in a value's texts and keys, and heard in pieces.
    """
    spelled = "".join(data.draw(st.sampled_from(_ways(character))) for character in secret)
    seal, text = Seal([secret]), f"it is {spelled} so"
    assert seal.text(text) == f"it is {STRUCK} so"
    assert seal.value({text: [text]}) == {f"it is {STRUCK} so": [f"it is {STRUCK} so"]}
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    heard: list[str] = []
    _run(
        SealedModel(Saying([text[a:b] for a, b in pairwise([0, *cuts, len(text)])]), seal).attempt(
            asked(), heard.append
        )
    )
    assert "".join(heard) == f"it is {STRUCK} so"


@given(
    st.lists(
        st.sampled_from(
            [
                "\\",
                "%",
                "&",
                "&#",
                "#",
                "x",
                ";",
                "amp",
                "lt",
                "u",
                "0",
                "7",
                "3",
                "C",
                "d",
                "s",
                "k",
                "\\u00",
                "\ud83d",
                " ",
                "é",
            ]
        ),
        max_size=30,
    ),
    st.data(),
)
def test_what_only_looks_like_a_spelling_is_heard_as_it_was_said(
    parts: list[str], data: st.DataObject
) -> None:
    """Cut anywhere, nothing is lost, doubled or struck."""
    text = "".join(parts).replace("\ud83d", "\\ud83d")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    heard: list[str] = []
    reply = _run(
        SealedModel(
            Saying([text[a:b] for a, b in pairwise([0, *cuts, len(text)])]), Seal([SECRET])
        ).attempt(asked(), heard.append)
    )
    assert "".join(heard) == reply.text == text


@pytest.mark.parametrize(
    "spelled",
    [
        quote("a b/c=d+e", safe="").lower(),
        "a+b%2fc%3Dd%2be",
        "a+b/c=d%2Be",
        base64.b64encode(b"a b/c=d+e").decode().replace("=", "%3d"),
    ],
)
def test_the_spellings_of_forms_are_struck(spelled: str) -> None:
    """A plus for a space, and a base64 text within an address."""
    assert Seal(["a b/c=d+e"]).text(f"?q={spelled}&r=1") == f"?q={STRUCK}&r=1"


def test_a_secret_that_is_a_number_is_struck_as_one() -> None:
    """In a JSON value as well as in its text, alone and within a longer number; keys are looked at
    too, and other values keep their types.
    """
    seal = Seal(["12345678", "-9876.543"])
    given_back = {
        "a": 12345678,
        "b": [912345678, 12345678.0],
        "c": -9876.543,
        "d": 1234567,
        "e": True,
        "f": 0.5,
        "g": None,
        12345678: (1, "x"),
    }
    assert seal.value(given_back) == {
        "a": STRUCK, "b": [f"9{STRUCK}", f"{STRUCK}.0"], "c": STRUCK, "d": 1234567, "e": True,
            "f": 0.5, "g": None, STRUCK: (1, "x")
    }  # fmt: skip
    assert seal.text('{"n": 12345678}') == f'{{"n": {STRUCK}}}'
    assert Seal(["abcdefgh"]).value({"n": 12345678}) == {"n": 12345678}
    assert seal.value([10**5000, float("inf")]) == [10**5000, float("inf")]


@given(mixed, st.data())
def test_nobody_learns_how_a_secret_begins(secret: str, data: st.DataObject) -> None:
    """An endpoint sees in its next prompt what of its words was struck: the beginning of a secret
    is as any other word to it, in an answer, in a stream and in what went wrong.
    """
    size = data.draw(st.integers(1, len(secret) - 1))
    if secret[:size] in secret[1:]:
        return
    text = f"it is: {secret[:size]}"
    for purpose in ("chat", "fail"):
        heard: list[str] = []
        model = SealedModel(Saying(list(text)), Seal([secret]))
        given_back = _run(model.attempt(asked(purpose), heard.append))
        said = given_back.text if isinstance(given_back, ModelReply) else given_back.message
        assert "".join(heard) == said == text


def test_a_message_that_was_cut_ends_before_the_word_in_which_it_was() -> None:
    """Whatever word that is, where it is as long as what a secret begins with."""
    seal = Seal(["sk-live-0123456789"])
    assert seal.cut("refused: sk-live-012345", 23) == "refused: …"
    assert seal.cut("refused: somebodyelse", 21) == "refused: …"
    assert seal.cut("refused: short", 14) == "refused: short"
    assert seal.cut("refused: sk-live-012345", 300) == "refused: sk-live-012345"
    assert seal.cut("refused: sk-live-0123456789 x", 300) == f"refused: {STRUCK} x"
    long = seal.cut("https://" + "a" * 992, 1000)
    assert long.startswith("https://aaaaaaaa")
    assert long.endswith("a…")
    assert len(long) < 1000 - len("sk-live-0123456789")
    assert Seal().cut("x" * 300, 300) == "x" * 300
    secret, known = "sk-live-0123456789", seal._longest
    for behind in range(known + 3):
        shown = seal.cut("a" * (1000 - len(secret) - behind) + secret + "b" * behind, 1000)
        assert "sk-live" not in shown


class Giving:
    """The part of ``VerbPort`` that gives something back."""

    def __init__(self, given: Any) -> None:
        self.given = given

    async def run(self, call: Any) -> Any:
        return self.given


@given(secrets, st.lists(st.text("sk-plne/0 ", max_size=6), max_size=6), st.data())
def test_what_is_heard_in_pieces_is_sealed_too(
    secret: str, filler: list[str], data: st.DataObject
) -> None:
    """However a secret is cut into pieces, nobody hears it, and everything else is heard in
    order.
    """
    text = secret.join(["".join(filler), "end"])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    heard: list[str] = []
    seal = Seal([secret])
    model = SealedModel(Saying(pieces), seal)
    _run(model.attempt(asked(), heard.append))
    assert secret not in "".join(heard)
    assert "".join(heard).endswith("end")


@given(
    st.lists(st.text("ab", min_size=8, max_size=14), min_size=1, max_size=4),
    st.lists(st.text("abc", max_size=9), max_size=8),
    st.data(),
)
def test_secrets_that_share_characters_are_heard_as_they_are_read(
    words: list[str], filler: list[str], data: st.DataObject
) -> None:
    """One that begins, holds or overlaps another: what is heard in pieces is what the whole text
    says, and no character of any of them is in it.
    """
    text = "".join(data.draw(st.permutations([*filler, *words])))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    pieces = [text[a:b] for a, b in pairwise([0, *cuts, len(text)])]
    heard: list[str] = []
    seal = Seal(words)
    _run(SealedModel(Saying(pieces), seal).attempt(asked(), heard.append))
    covered = {
        place
        for word in words
        for at in range(len(text))
        if text.startswith(word, at)
        for place in range(at, at + len(word))
    }
    said = "".join(heard)
    assert said == seal.text(text)
    assert said.replace(STRUCK, "") == "".join(
        one for place, one in enumerate(text) if place not in covered
    )


def test_a_secret_that_begins_another_shows_nothing_of_it() -> None:
    """While the longer one may still come, the shorter one is held back; neither's end is heard."""
    heard: list[str] = []
    model = SealedModel(
        Saying(["key abcdefgh", "XYZTAIL99 end, abcdefgh", "XY", " too"]),
        Seal(["abcdefgh", "abcdefghXYZTAIL99"]),
    )
    _run(model.attempt(asked(), heard.append))
    assert "".join(heard) == f"key {STRUCK} end, {STRUCK}XY too"


def _run(attempt: Any) -> Any:
    try:
        attempt.send(None)
    except StopIteration as ended:
        return ended.value
    raise AssertionError("it waits")


def test_replies_and_errors_are_sealed() -> None:
    """Text, the model's name, a notice and an error's message: none holds it; without secrets
    nothing is touched.
    """
    model = SealedModel(Saying(["the key is ", SECRET]), Seal([SECRET]))
    reply, error = _run(model.attempt(asked())), _run(model.attempt(asked("fail")))
    assert (reply.text, reply.model, reply.notice) == (
        f"the key is {STRUCK}",
        STRUCK,
        f"key {STRUCK}",
    )
    assert error.message == f"the key is {STRUCK}"
    assert _run(SealedModel(Saying([SECRET]), Seal()).attempt(asked())).text == SECRET


def test_short_words_are_no_secrets_and_tokens_always_are() -> None:
    """A key of a few letters would strike out words; one of Ordain's own tokens is struck without
    being known.
    """
    assert Seal(["none"]).text("none of it") == "none of it"
    token = mint_token(bytes(range(40)))
    assert token not in Seal().text(f"it is {token}.")
    assert SECRET not in repr(Seal([SECRET]))


def test_one_adapter_is_sealed_once() -> None:
    """Profiles that share an adapter share the sealed one."""
    one, other = Saying([]), Saying([])
    sealed = sealed_models({"a": one, "b": one, "c": other}, Seal())
    assert sealed["a"] is sealed["b"] is not sealed["c"]


def test_how_short_a_secret_may_be_is_said() -> None:
    """Of what went out with one request even three characters are struck; of what is known for ever
    words have to be left.
    """
    assert Seal(["k3y"]).text("the k3y, k%33y") == "the k3y, k%33y"
    assert Seal(["k3y"], shortest=1).text("the k3y, k%33y") == f"the {STRUCK}, {STRUCK}"


KEY = "sk-<&'\"key>-0123456789"


@pytest.mark.parametrize(
    "spelled",
    [
        KEY.encode().hex(),
        KEY.encode().hex().upper(),
        base64.b32encode(KEY.encode()).decode().rstrip("="),
        html.escape(KEY),
        html.escape(KEY, quote=False),
        html.escape(KEY).replace("&#x27;", "&#39;"),
        "".join(f"&#{ord(one)};" for one in KEY),
        "".join(f"&#x{ord(one):x};" for one in KEY),
        *(base64.b64encode(bytes(before) + KEY.encode() + b"xyz").decode() for before in range(3)),
        *(
            base64.urlsafe_b64encode(bytes(before) + KEY.encode() + b"xyz").decode()
            for before in range(3)
        ),
    ],
)
def test_usual_encodings_are_struck(spelled: str) -> None:
    """Hexadecimal, base32, base64 at each alignment, the entities of HTML: what a server makes of a
    key that it was sent.
    """
    struck = Seal([KEY]).text(f"it was {spelled}, it says")
    assert "[secret]" in struck
    assert spelled[4:-8] not in struck


ODD = "Zy+/ä-0123456789<k>"


@pytest.mark.parametrize(
    "spelled",
    [
        ODD.replace("+", "&plus;").replace("/", "&sol;").replace("ä", "&auml;"),
        ODD.replace("ä", "&auml").replace("<", "&lt").replace(">", "&GT"),
        ODD.replace("ä", "&#xe4").replace("Z", "&#X5A;"),
        ODD.replace("Z", "&#0090;").replace("y", "&#" + "0" * 64 + "121"),
        html.escape("".join(f"&#{ord(one)};" for one in ODD)),
        json.dumps(html.escape(ODD).replace("+", "&plus;"))[1:-1].replace("&", "\\u0026"),
        quote(ODD.replace("/", "&sol;")),
        "".join(one.upper() if at % 3 else one for at, one in enumerate(ODD.encode().hex())),
        *(base64.b32encode(b"x" * before + ODD.encode() + b"xyz").decode() for before in range(5)),
        *(
            base64.b32encode(b"x" * before + ODD.encode() + b"xyz").decode().lower()
            for before in range(5)
        ),
        base64.b32encode(ODD.encode()).decode().capitalize(),
    ],
)
def test_a_code_is_read_as_its_readers_read_it(spelled: str) -> None:
    """Entities by name and number, with zeros, without a semicolon, in one another; hexadecimal and
    base32 in any case, base32 in the midst of other bytes; whole and in pieces.
    """
    text = f"it was {spelled}, it says"
    struck = Seal([ODD]).text(text)
    assert STRUCK in struck
    assert spelled[4:-8] not in struck
    heard: list[str] = []
    _run(SealedModel(Saying(list(text)), Seal([ODD])).attempt(asked(), heard.append))
    assert "".join(heard) == struck


@pytest.mark.parametrize("end", ["&#107", "&#x6B", "k", "&#107;"])
def test_an_entity_at_the_end_needs_no_semicolon(end: str) -> None:
    """While more may come it may become another one, so it is held back with what stands before it;
    at the end it is read.
    """
    heard: list[str] = []
    reply = _run(
        SealedModel(Saying(["so: &#97;bcdefghij", end]), Seal(["abcdefghijk"])).attempt(
            asked(), heard.append
        )
    )
    assert "".join(heard) == reply.text == Seal(["abcdefghijk"]).text(reply.text) == f"so: {STRUCK}"
    other = _run(
        SealedModel(Saying(["so: &#97;bcdefghij&#107", "0;"]), Seal(["abcdefghij\u042e"])).attempt(
            asked(), heard.append
        )
    )
    assert other.text == f"so: {STRUCK}"


@pytest.mark.parametrize(
    "piece",
    [
        "&",
        "&#",
        "&#0",
        "&#38;",
        "&amp;",
        "&ampamp",
        "&a",
        "&#x",
        "&NotEqualTilde;",
        "%26",
        "\\u0026",
        "&#92;u0026",
        "a",
        "&lt",
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    """Made to be read again and again: it is read so many times, and not once for each of its
    codes.
    """
    seal = Seal([ODD, "abababababababab", "&#38;&#38;&#38;"])
    text = piece * (size(65_536, 16_384) // len(piece))
    begun = time.process_time()
    seal.text(text)
    seal.cut(text, 300)
    seal.settled(text)
    assert time.process_time() - begun < size(5, 2), "a second at most is usual"


def test_what_stands_behind_a_secret_is_shown() -> None:
    """Also where its last sign and that might be the beginning of an entity."""
    assert Seal(["0000000&"]).text("0000000&end") == f"{STRUCK}end"


def nested(leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(leaf.map(str), inner)
    )


@given(
    st.sampled_from([SECRET, 'we"ird\\key', "a\nb-secret", "ключ-секрет", "1234567890"]), st.data()
)
def test_a_value_that_is_looked_at_as_a_whole_is_struck_as_in_parts(
    secret: str, data: st.DataObject
) -> None:
    """What its JSON shows to be clean is clean in each part, in whatever way a secret is spelled
    there.
    """
    spelled = [secret, quote(secret, safe=""), json.dumps(secret), json.dumps(secret)[1:-1]]
    others = ["", "a", 'a"b', "a\nb", "100%", 1, 1.5, 1234567890, None, True, html.escape(secret)]
    value = data.draw(nested(st.sampled_from([*others, *spelled, *map(str.upper, spelled)])))
    seal = Seal([secret])
    assert seal.value(value) == seal._struck(value) == asyncio.run(seal.large_value(value))


def test_a_large_value_keeps_nobody_waiting() -> None:
    """A megabyte of small texts, each of which may be read in several ways."""
    value, ticks = ["a%2"] * 40_000, 0

    async def struck() -> Any:
        nonlocal ticks
        work = asyncio.ensure_future(Seal([SECRET]).large_value(value))
        while not work.done():
            await asyncio.sleep(0.001)
            ticks += 1
        return await work

    assert asyncio.run(struck()) == value
    assert ticks > 3
