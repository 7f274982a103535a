"""Laws of the renderer: a template can show its input and nothing else, and cannot keep the process
busy.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.errors import ConfigurationError
from ordain.prompts import renderer
from ordain.prompts.prompt import Prompt, render
from ordain.prompts.renderer import LOOP_TURNS, RENDERED_CHARS, SEPARATOR, check_template

INPUTS: dict[str, Any] = {
    "text": "some words",
    "items": ["a", "b", "c"],
    "many": list(range(2000)),
    "long": "x" * 100_000,
    "map": {"k": "v", "items": "mine", "__class__": "shadowed"},
    "number": 3,
    "nothing": None,
    "style": "neutral",
}
texts = st.text(st.characters(codec="utf-8"), max_size=60)
hostile = st.sampled_from(
    [
        SEPARATOR,
        "\n=====\n",
        "{{ number }}",
        "{% for x in many %}",
        "{# #}",
        "{% endraw %}",
        "\\",
        '"',
        "</s>",
    ]
)

ESCAPES = [
    "{{ ''.__class__ }}",
    "{{ text.__class__.__mro__ }}",
    "{{ text['__class__'] }}",
    "{{ items.__init__.__globals__ }}",
    "{{ (text | json).__class__ }}",
    "{{ number.__add__ }}",
    "{{ nothing.__class__ }}",
    "{{ text.upper }}",
    "{{ items['append'] }}",
    "{% for x in items %}{{ loop.cycle }}{% endfor %}",
    "{{ self._TemplateReference__context }}",
    "{% for x in items %}{{ loop.__class__ }}{% endfor %}",
    "{% for x in items %}{{ loop._iterator }}{% endfor %}",
    "{{ map.__class__.__name__ }}",
    "{{ ().__class__.__bases__[0].__subclasses__() }}",
    "{{ text.format }}{{ text.format_map(map) }}",
    "{{ '{0.__class__}'.format(text) }}",
]
WORK = [
    "{{ 'x' * 1000000000 }}",
    "{{ 10 ** 10000000 }}",
    "{{ 'a%1000000000d' % 1 }}",
    "{{ items + items }}",
    "{{ text ~ text }}",
    "{{ 7 // 0 }}",
    "{{ text.center(1000000000) }}",
    "{{ text.replace('', long) }}",
    "{{ '{:>1000000000}'.format(1) }}",
    "{{ range(1000000000) }}",
    "{% for i in range(10) %}{% endfor %}",
    "{{ lipsum(1000) }}",
    "{{ cycler('a') }}",
    "{{ namespace(a=1) }}",
    "{{ dict(a=1) }}",
    "{{ joiner() }}",
    "{{ map.items() }}",
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "{% for x in items recursive %}{{ loop(items) }}{% endfor %}",
    "{% block a %}{{ self.a() }}{% endblock %}",
    "{% set x %}{{ long }}{{ long }}{% endset %}{{ x }}",
    "{% filter json %}{{ long }}{% endfilter %}",
    "{% call f() %}{% endcall %}",
    "{% include 'x' %}",
    "{% import 'x' as y %}",
    "{% extends 'x' %}",
    "{% from 'x' import y %}",
    (
        "{% for a in many %}{% for b in many %}{% for c in many %}{% for d in many %}{% "
        "endfor %}{% "
        "endfor %}{% endfor %}{% endfor %}"
    ),
    "{% for a in many %}{% for b in many %}{{ long }}{% endfor %}{% endfor %}",
    "{% for a in many %}{{ long | json }}{% endfor %}",
    "{{ long | join(long) }}",
    "{% set x = long | join('1234567890') %}{% set y = x | join('1234567890') %}{{ y }}",
    "{% set x = '\"' %}" + "".join("{% set x = x | json %}" for _ in range(60)) + "{{ x }}",
    "{{ " + "-" * 4000 + "1 }}",
    "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "{% if 1 %}" * 400 + "{% endif %}" * 400,
]
UNKNOWN = [
    "{{ absent }}",
    "{{ map.absent }}",
    "{{ text.absent }}",
    "{{ items[9] }}",
    "{{ absent.more }}",
    "{% for x in absent %}{% endfor %}",
]
UNKNOWN += [
    "{{ text | upper }}",
    "{{ text | map('x') }}",
    "{{ text | attr('x') }}",
    "{{ number is odd }}",
    "{{ text is sameas text }}",
]
UNKNOWN += ["{{ request }}", "{{ config }}", "{{ environment }}", "{{ context }}", "{{ loop }}"]


@pytest.mark.parametrize(
    "template",
    [
        *ESCAPES,
        *UNKNOWN,
        "{{ text",
        "{% if %}",
        "{{ }}",
        "{{ many | json(1) }}",
        "{{ text | cut }}",
    ],
)
def test_a_template_reaches_nothing_but_its_input(template: str) -> None:
    """Attributes behind attributes, names nobody gave and filters that prompts do not have are
    refused.
    """
    with pytest.raises(ConfigurationError) as refusal:
        render(template, INPUTS)
    assert refusal.value.code == "invalid_template"


@pytest.mark.parametrize("template", WORK, ids=lambda template: template[:40])
def test_a_template_makes_no_work(template: str) -> None:
    """Whatever multiplies text or repeats itself is refused, at the latest when it has made more
    than any prompt may be.
    """
    with pytest.raises(ConfigurationError):
        render(template, INPUTS)


LOOPS = [
    (
        "{% for x in items %}{% for y in items %}{% for z in items %}{% endfor %}{% endfor %}{% "
        "endfor %}done"
    ),
    "{% for x in items %}{% for y in items %}{{ '' if y else '' }}{% endfor %}{% endfor %}",
    (
        "{% for x in text %}{% endfor %}{% for x in text %}{{ loop.length if loop.last else "
        "'' }}{% "
        "endfor %}"
    ),
]


@pytest.mark.parametrize("template", LOOPS)
def test_loops_that_show_nothing_end_too(template: str) -> None:
    """Whatever their input is, all of a part's loops together turn so many times."""
    check_template(template)
    with pytest.raises(ConfigurationError, match=f"turn more than {LOOP_TURNS} times"):
        render(template, {"items": ["a"] * 2_000, "text": "x" * (LOOP_TURNS - 1_000)})
    assert render(template, {"items": ["a"] * 50, "text": "x" * 1_000}).user in ("done", "", "1000")


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ text }}{{ map.k }}{{ map['k'] }}{{ items[0] }}", "some wordsvva"),
        ("{{ map | json }}", '{"__class__":"shadowed","items":"mine","k":"v"}'),
        ("{{ map.items }}", "mine"),
        ("{{ map['__class__'] }}", "shadowed"),
        ("{{ text | cut(4) }}|{{ items | json | cut(100) }}", 'some…|["a","b","c"]'),
        (
            (
                "{% for x in items %}{{ loop.index }}{{ x }}{% if not loop.last %},{% endif %}{% "
                "endfor %}"
            ),
            "1a,2b,3c",
        ),
        ("{{ items | join(', ') }} {{ items | length }}", "a, b, c 3"),
        (
            (
                "{{ 'y' if number > 2 and nothing is none else 'n' }}{{ 'd' if absent is "
                "defined else "
                "'u' }}"
            ),
            "yu",
        ),
        ("{% set x = text %}{{ x }}", "some words"),
        ("{% raw %}{{ text }}{% endraw %}{# gone #}", "{{ text }}"),
    ],
)
def test_what_templates_are_for(template: str, expected: str) -> None:
    """Showing values, their JSON and a part of them, choosing and going through lists all work."""
    check_template(template)
    assert render(template, INPUTS).user == expected


@given(
    st.dictionaries(
        st.sampled_from(["text", "style"]),
        st.one_of(texts, hostile, st.builds("{}{}{}".format, texts, hostile, texts)),
        min_size=2,
    )
)
def test_input_is_shown_and_never_executed(values: dict[str, str]) -> None:
    """Template syntax and separators inside a value stay text: no value moves the border between
    system and user part.
    """
    template = "Rules. {{ style }}\n" + SEPARATOR + "Input: {{ text }} {{ text | json }}"
    found = render(template, values)
    assert found.system == f"Rules. {values['style']}".strip()
    assert found.user.startswith(f"Input: {values['text']}".rstrip())
    assert render("{{ text }}", values) == Prompt(system="", user=values["text"].strip())
    assert render(template, values) == found


@given(st.text(max_size=40), st.dictionaries(texts, texts, max_size=2))
def test_any_template_renders_or_is_refused(template: str, values: dict[str, Any]) -> None:
    """Any source over any input gives a prompt or ``invalid_template``."""
    _total(template, values)


PIECES = [
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    " for x in many ",
    " endfor ",
    " if ",
    " endif ",
    " set x = ",
    " text ",
    " long ",
    " | json ",
    " | join(long) ",
    "(",
    ")",
    "[0]",
    ".items",
    " ~ ",
    " is none ",
    "=====\n",
    " recursive ",
    " raw ",
    "'",
    "-",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_any_mixture_of_template_syntax_renders_or_is_refused(template: str) -> None:
    """Templates put together at random from the language's own words are no different."""
    _total(template, INPUTS)


def _total(template: str, values: dict[str, Any]) -> None:
    try:
        found = render(template, values)
    except ConfigurationError:
        return
    assert len(found.system) + len(found.user) <= 2 * RENDERED_CHARS


OWN: dict[str, Any] = {
    "l": list(range(1_000)),
    "many": list(range(200_000)),
    "text": "x" * 100_000,
    "long": "y" * 3_000_000,
    "nul": "\x00" * 600_000,
}
TWICE = "{% for a in l %}{% for b in l %}BODY{% endfor %}{% endfor %}"
LABOUR = [
    TWICE.replace("BODY", "{{ text | json | json | length }}"),
    TWICE.replace("BODY", "{{ many | join | length }}"),
    TWICE.replace("BODY", "{{ long | cut(2999999) | length }}"),
    TWICE.replace("BODY", "{{ nul | json | length }}"),
    TWICE.replace("BODY", "{% if long == text %}{% endif %}"),
    TWICE.replace("BODY", "{% if 'q' in long %}{% endif %}"),
    TWICE.replace("BODY", "{% if a in many %}{% endif %}"),
    "{% for a in many %}" + "{% if a %}{% endif %}" * 300 + "{% endfor %}",
]


@pytest.mark.parametrize("template", LABOUR)
def test_what_is_done_is_charged_by_its_size(template: str) -> None:
    """Within a loop's turn too: what filters write, what comparisons look at and what a body holds
    is bounded together, and little of it renders.
    """
    check_template(template)
    with pytest.raises(ConfigurationError, match=f"takes more than {renderer.WORK} steps of work"):
        render(template, OWN)
    assert (
        render(template, {"l": [1], "many": [1], "text": "x", "long": "y", "nul": "z"}) is not None
    )


DOUBLED = (
    "{% set a = [text] %}{% set b = (text, 1) %}" + "{% set a = [a, a] %}{% set b = (b, b) %}" * 60
)


@pytest.mark.parametrize(
    "use",
    [
        "{{ a }}",
        "{{ a | json }}",
        "{% if a == b %}x{% endif %}",
        "{{ map[b] }}",
        "{{ a | join }}",
        "{{ text[b].more }}",
        "",
        "{{ b in [a] }}",
    ],
)
def test_a_value_that_stands_in_itself_is_not_made(use: str) -> None:
    """A list of itself twice, again and again, is 2**n values to whoever looks at it: a new
    template has none, a recorded one stops where it is too large.
    """
    with pytest.raises(ConfigurationError, match="a list in a prompt is one of constants"):
        check_template(DOUBLED + use)
    with pytest.raises(ConfigurationError, match=f"exceeds {RENDERED_CHARS} characters"):
        render(DOUBLED + use, {"text": "t", "map": {"k": 1}})


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (
            "{% set a = [text, items] %}{{ a }}{{ a | json }}{{ a | length }}",
            "['t', ['a', 'b']][\"t\",[\"a\",\"b\"]]2",
        ),
        (
            "{% set a = (text, items) %}{{ a == ('t', items) }}{{ text in a }}{{ [a] == [] }}",
            "TrueTrueFalse",
        ),
        (
            "{% for x, y in [(text, 1), ('u', 2)] %}{{ x }}{{ y }}{{ loop.length }}{% endfor %}",
            "t12u22",
        ),
        (
            "{% if items %}" * 40
            + "{{ text"
            + " | json | cut(9)" * 20
            + " }}"
            + "{% endif %}" * 40,
            "deep",
        ),
    ],
)
def test_recorded_templates_render_as_they_did(template: str, expected: str) -> None:
    """What a new catalog no longer takes a journal may name: it comes out as it came out before."""
    with pytest.raises(ConfigurationError):
        check_template(template)
    found = render(template, {"text": "t", "items": ["a", "b"]}).user
    assert found == (expected if expected != "deep" else found)
    assert found


@pytest.mark.parametrize(
    "template",
    [
        "{% for x in ['a', 'b'] %}{{ x }}{% endfor %}",
        "{{ text in ['t', ('u', 1)] }}",
        "{% set a, b = items %}{{ a }}{{ b }}",
    ],
)
def test_lists_of_constants_and_several_names_are_templates(template: str) -> None:
    """They cost what is written."""
    check_template(template)
    assert render(template, {"text": "t", "items": ["a", "b"]}).user in ("ab", "True")


BEYOND = [
    "{% if text %}" * 110 + "x" + "{% endif %}" * 110,
    "{{ text" + " | json" * 210 + " }}",
    "{{ text" + " | length" * 5_000 + " }}",
    "{{ " + "9" * 5_000 + " }}",
    "{{ map" + ".k" * 300 + " }}",
    "{{ text" + " and text" * 1_000 + " }}",
    "{{ map['\\ud800'] }}",
    "{{ '\\ud83d' }}{{ '\\ude00' }}",
    "{{ text }}\ud800",
    "{{ a }}" * 40_000,
    "{{ text }}" + " " * 270_000,
    "{{ text | counted }}",
    "{% for x in items %}" * 4 + "{% endfor %}" * 4,
]


@pytest.mark.parametrize("template", BEYOND, ids=lambda template: template[:30])
def test_what_cannot_be_compiled_is_said_at_load(template: str) -> None:
    """Python's own compiler is never the one to say so, nor the first call; each is told with its
    line.
    """
    for source in (template, f"system\n{SEPARATOR}{template}", f"{template}\n{SEPARATOR}user"):
        with pytest.raises(ConfigurationError) as refusal:
            check_template(source)
        assert refusal.value.code == "invalid_template"
        assert refusal.value.details["line"] == (3 if source.startswith("system") else 1)


@pytest.mark.parametrize(
    "template",
    [
        "{{ '\\ud800' }}",
        "{{ half }}",
        "{{ items | join(3) }}",
        "{{ items | join(items) }}",
        "{{ " + "9" * 4_000 + " | json | json(1) }}",
    ],
)
def test_whatever_does_not_render_is_typed(template: str) -> None:
    """Half a character of the input, or a filter given what it cannot use."""
    with pytest.raises(ConfigurationError) as refusal:
        render(template, {"items": ["a", "b"], "half": "x\ud800"})
    assert refusal.value.code == "invalid_template"
    assert len(refusal.value.message) < 500


def test_the_lines_of_both_parts_are_those_of_the_file() -> None:
    """What is wrong in the user part is told where it stands."""
    for wrong in ("{{ x | upper }}", "{{ x + 1 }}", "{{ [x] }}", "{{ x", "{% include 'x' %}"):
        with pytest.raises(ConfigurationError) as refusal:
            check_template(f"one\ntwo\n{SEPARATOR}four\n{wrong}\n")
        assert refusal.value.details["line"] == 5
