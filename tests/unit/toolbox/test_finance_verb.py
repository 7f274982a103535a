"""Figures of a table: exact, per unit, with everything that was not read listed."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordain.ports.verb import LeafFailed
from ordain.toolbox.figure_rows import CELLS_MAX, ROWS_MAX
from ordain.toolbox.finance_verb import finance_snapshot
from tests.lanes import examples
from tests.shapes.leaf_calls import called, failure_of, output_of

VERB = finance_snapshot()
HARBOUR = """\ufeffBuchungstag;Posten;Betrag (EUR);Notiz
28.02.2025;Liegegeld;1.250,00;Boot 4
03.03.2025;Strom;-310,45;"Zähler; neu"
17.03.2025;Liegegeld;1.250,00;
01.04.2025;Strom;-298,10;
02.04.2025;Liegegeld;"=HYPERLINK(""http://x"")";
03.04.2025;Werft;-4.000,00;"zwei
Zeilen"
04.04.2025;Werft;viel;
"""


def figure(output: dict[str, Any], number: int = 0) -> dict[str, Any]:
    return output["tables"][0]["figures"][number]


async def test_a_german_ledger_is_read_as_it_is_written() -> None:
    """VRB-09 "`finance.snapshot`": totals, periods, growth and categories of a table that no
    example holds are those of its author's ledger.
    """
    output = await output_of(VERB, csv=HARBOUR)
    table, found = output["tables"][0], figure(output)
    assert (table["number_format"], table["date_order"], table["category_column"]) == (
        "1.234,56",
        "dmy",
        "Posten",
    )
    assert (table["rows"], table["rows_read"]) == (7, 5)
    assert [(one["line"], one["column"], one["reason"]) for one in table["rejected"]] == [
        (6, "Betrag (EUR)", "a formula, not a value"),
        (9, "Betrag (EUR)", "not a number"),
    ]
    assert (found["unit"], found["count"], found["total"], found["mean"]) == (
        "EUR",
        5,
        "-2108.55",
        "-421.71",
    )
    assert (found["least"], found["greatest"]) == (
        {"value": "-4000.00", "line": 7},
        {"value": "1250.00", "line": 2},
    )
    assert [(one["period"], one["total"], one["growth_percent"]) for one in found["periods"]] == [
        ("2025-02", "1250.00", None),
        ("2025-03", "939.55", "-24.84"),
        ("2025-04", "-4298.10", "-557.46"),
    ]
    assert [(one["category"], one["total"]) for one in found["categories"]] == [
        ("Werft", "-4000.00"),
        ("Liegegeld", "2500.00"),
        ("Strom", "-608.55"),
    ]


cents = st.lists(st.decimals(-(10**12), 10**12, places=2), min_size=1, max_size=30)


@settings(max_examples=examples(40), deadline=None)
@given(cents, st.sampled_from(["EUR", "JPY", ""]))
async def test_sums_are_those_of_exact_arithmetic(values: list[Decimal], unit: str) -> None:
    """The total of any amounts is their exact sum, and the sums of categories and periods add up to
    it.
    """
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["when", "kind", "sum"])
    for number, value in enumerate(values):
        writer.writerow(
            [f"2024-{number % 12 + 1:02}-03", "ab"[number % 2] * 2, f"{value} {unit}".strip()]
        )
    found = figure(
        await output_of(VERB, csv=file.getvalue(), columns={"numbers": ["sum"], "category": "kind"})
    )
    assert (Decimal(found["total"]), found["unit"]) == (sum(values), unit)
    for part in ("periods", "categories"):
        assert sum(Decimal(one["total"]) for one in found[part]) == sum(values)
    assert Decimal(found["least"]["value"]) == min(values)


async def test_binary_fractions_do_not_occur() -> None:
    """A tenth and two tenths are three tenths, also where they came as JSON numbers, and 1.234 is
    no question then.
    """
    tables = [{"columns": ["k", "v"], "rows": [["a", 0.1], ["b", 0.2], ["c", 1.234], ["d", None]]}]
    output = await output_of(VERB, tables=tables)
    assert figure(output)["total"] == "1.534"
    assert output["tables"][0]["columns"][1] == {"name": "v", "type": "number", "empty": 1}


async def test_units_are_never_mixed() -> None:
    """Euros, dollars and Canadian dollars stay apart, a dollar sign in a column of CAD is a
    Canadian one, per cent are not added.
    """
    text = "who,fee,fee (CAD),rate\nAna,€5,$7,10 %\nBen,$6,8,20 %\nCy,EUR 1.50,9,30 %\n"
    output = await output_of(VERB, csv=text)
    found = {(one["column"], one["unit"]): one["total"] for one in output["tables"][0]["figures"]}
    assert found == {
        ("fee", "EUR"): "6.50",
        ("fee", "$"): "6",
        ("fee (CAD)", "CAD"): "24",
        ("rate", "%"): None,
    }


async def test_a_unit_column_says_each_rows_currency() -> None:
    """A column of currencies divides the amounts beside it; a declared unit is taken where nothing
    else names one.
    """
    found = (await output_of(VERB, csv="sum,currency\n1.10,CHF\n2.20,SEK\n3.30,CHF\n"))["tables"][
        0
    ]["figures"]
    assert [(one["unit"], one["total"]) for one in found] == [("CHF", "4.40"), ("SEK", "2.20")]
    assert (
        figure(await output_of(VERB, csv="sum\n1.10\n", columns={"unit": "NOK"}))["unit"] == "NOK"
    )


NET = "amount (net),currency\n100,EUR\n100,USD\n"


@pytest.mark.parametrize(
    ("text", "figures", "rejected"),
    [
        (NET, [("EUR", "100"), ("USD", "100")], []),
        ("amount (EUR),currency\n100,EUR\n100,USD\n100,Dollar\n", [("EUR", "100")], [3, 4]),
        ("amount (TEUR),currency\n100,EUR\n100,TEUR\n", [("TEUR", "100")], [2]),
        ("revenue TEUR,currency\n100,EUR\n100,\n", [("TEUR", "100")], [2]),
        ("amount (EUR)\n5\n$6\n€7\n", [("EUR", "12")], [3]),
        ("amount,currency\n5,€\n6,EUR\n7,euro\n€8,USD\n", [("EUR", "18")], [5]),
        ("amount ($),currency\n5,CAD\n6,\n", [("$", "6"), ("CAD", "5")], []),
        ("price (EUR),unit\n5,box\n6,kg\n7,%\n8,US$\n", [("EUR", "11")], [4, 5]),
        ("price (each)\nEUR 5\nUSD 6\n", [("EUR", "5"), ("USD", "6")], []),
        ("weight (kg),currency\n5,EUR\n6,USD\n", [("kg", "11")], []),
        ("sum in USD\n5\n", [("USD", "5")], []),
        ("sum in all\n5\n", [("", "5")], []),
        ("amount,currency\n5,a very long unit\n6,EUR\n", [("EUR", "6")], [2]),
    ],
)
async def test_rows_units_and_column_names_do_not_overrule_each_other(
    text: str, figures: list[tuple[str, str]], rejected: list[int]
) -> None:
    """A remark in brackets is no unit; euros and dollars are never added, whoever names them; a
    contradiction is a rejected row.
    """
    table = (await output_of(VERB, csv=text))["tables"][0]
    assert [(one["unit"], one["total"]) for one in table["figures"]] == figures
    assert [one["line"] for one in table["rejected"]] == rejected


@pytest.mark.parametrize(
    ("name", "cells", "figures"),
    [
        ("weight (KG)", "5,EUR 6,EUR", {"kg": "11"}),
        ("output (bbl)", "5,USD 6,USD", {"bbl": "11"}),
        ("output (BBL)", "5,USD 6,", {"BBL": "11"}),
        ("rent (per month)", "5,EUR 6,USD", {"per month, EUR": "5", "per month, USD": "6"}),
        ("amount (Gesamt, netto)", "5,EUR 6,USD", {"EUR": "5", "USD": "6"}),
        ("amount (2025)", "5,EUR 6,USD", {"EUR": "5", "USD": "6"}),
        ("amount (net EUR)", "5,EUR 6,", {"EUR": "11"}),
        ("revenue (thousands)", "5,EUR 6,USD", {"thousand EUR": "5", "thousand USD": "6"}),
        ("revenue (in thousands)", "5,EUR 6,EUR", {"thousand EUR": "11"}),
        ("revenue in thousands", "5,EUR 6,EUR", {"thousand EUR": "11"}),
        ("revenue (Tsd.)", "5,EUR 6,", {"thousand": "6", "thousand EUR": "5"}),
        ("revenue (k)", "5,EUR 6,EUR", {"thousand EUR": "11"}),
        ("revenue ('000)", "5,EUR 6,EUR", {"thousand EUR": "11"}),
        ("revenue (MIO)", "5,EUR 6,EUR", {"million EUR": "11"}),
        ("revenue (bn)", "5,EUR 6,EUR", {"billion EUR": "11"}),
        ("revenue in thousands (EUR)", "5, 6,EUR", {"thousand EUR": "11"}),
        ("revenue (in thousands of euros)", "5, 6,EUR", {"thousand EUR": "11"}),
        (
            "revenue (in thousands of Swiss francs)",
            "5,CHF 6,CHF",
            {"thousands of Swiss francs": "11"},
        ),
        ("revenue (EUR) (thousands, group)", "5, 6,EUR", {"thousands, group, EUR": "11"}),
        ("revenue (group) (EUR)", "5, 6,EUR", {"EUR": "11"}),
        ("output (thousands) (bbl)", "5,USD 6,USD", {"thousand bbl": "11"}),
        ("price (EUR per kg)", "5,EUR 6,EUR", {"EUR per kg": "11"}),
        ("rate (EUR) (USD)", "5,EUR 6,EUR", {"EUR, USD": "11"}),
        ("amount", "5k,EUR 6k,USD 7,EUR", {"thousand EUR": "5", "thousand USD": "6", "EUR": "7"}),
        ("amount", "5,k 6,Mio", {"thousand": "5", "million": "6"}),
        (
            "revenue (thousands)",
            "€5, $6,USD 7,",
            {"thousand EUR": "5", "thousand USD": "6", "thousand": "7"},
        ),
        ("fee (service)", "€5, $6,CAD", {"service, EUR": "5", "service, CAD": "6"}),
        ("output (bbl)", "5bbl,USD 6,USD", {"bbl": "11"}),
        ("revenue TEUR", "5, 6,TEUR", {"TEUR": "11"}),
        ("Umsatz Mio. EUR", "5, 6,", {"Mio. EUR": "11"}),
        ("sales EUR million", "5, 6,", {"EUR million": "11"}),
        ("amount_eur", "5,EUR 6,", {"EUR": "11"}),
        ("USD (net)", "5,USD 6,", {"USD": "11"}),
        ("SALES ALL", "5,EUR 6,USD", {"EUR": "5", "USD": "6"}),
        ("€ at the door", "5,EUR 6,USD", {"EUR": "5", "USD": "6"}),
    ],
)
async def test_an_unknown_word_or_a_scale_in_a_name_is_no_plain_currency(
    name: str, cells: str, figures: dict[str, str]
) -> None:
    """A word that may be a unit keeps the row's currency off its column; thousands say so; a known
    remark leaves the row's currency be.
    """
    text = f'"{name}",currency\n' + "".join(f"{row}\n" for row in cells.split(" "))
    table = (await output_of(VERB, csv=text))["tables"][0]
    assert {one["unit"]: one["total"] for one in table["figures"]} == figures


@pytest.mark.parametrize(
    ("text", "rejected"),
    [
        ("revenue (m€)\n5 €\n6\n", [2]),
        ("revenue (thousands),unit\n5,TEUR\n6,EUR\n7,%\n", [2, 4]),
        ("revenue (thousands)\n5k\n6 mio\n7\n", [3]),
        ("output (bbl),unit\n5,%\n6,USD\n", [2]),
    ],
)
async def test_two_scales_of_one_number_are_a_contradiction(text: str, rejected: list[int]) -> None:
    """Euros in a column of millions, millions in one of thousands, and per cent of either are
    rejected rows, not figures.
    """
    table = (await output_of(VERB, csv=text))["tables"][0]
    assert [one["line"] for one in table["rejected"]] == rejected


async def test_per_cent_stay_unadded_beside_an_unknown_word() -> None:
    """``5 %`` in a column of an unknown word are per cent."""
    found = figure(await output_of(VERB, csv="rate (core)\n5 %\n6 %\n"))
    assert (found["unit"], found["total"]) == ("%", None)


@given(st.text("()[] in(EUR)k€%$ab", max_size=99), st.sampled_from(["", "EUR", "twelve chars"]))
@settings(max_examples=examples(60), deadline=None)
async def test_any_name_of_a_column_gives_a_unit_that_fits(name: str, unit: str) -> None:
    """Whatever stands in a column's name, its figures' units are of a length that the verb's output
    allows.
    """
    rows = [["5 abcdef", unit], ["6", "USD"], ["7", unit]]
    result = await called(
        VERB,
        tables=[{"columns": [f"x{name}", "unit"], "rows": rows}],
        columns={"numbers": [f"x{name}"]},
    )
    assert not isinstance(result, LeafFailed) or result.code == "unknown_column"


async def test_a_declared_unit_is_spelled_like_the_others() -> None:
    """``€`` as the declared unit and EUR in a cell are one figure."""
    assert (
        figure(await output_of(VERB, csv="sum\n1.10\nEUR 2.20\n", columns={"unit": "€"}))["total"]
        == "3.30"
    )


@pytest.mark.parametrize(
    "name",
    [
        "margin %",
        "margin (percent)",
        "Marge (%)",
        "Marge in Prozent",
        "margin per cent",
        "% change",
    ],
)
async def test_per_cent_in_a_columns_name_are_not_added(name: str) -> None:
    """Per cent have no total, periods or shares, wherever they are named."""
    found = figure(await output_of(VERB, csv=f"who,{name}\na,5\nb,6\na,7\n"))
    assert (found["unit"], found["total"], found["categories"]) == ("%", None, [])


async def test_json_numbers_are_plain_where_they_are_no_figures() -> None:
    """A number of a store is a category as it was written, 12.5 too; years are dates where they are
    said to be.
    """
    rows = [[12, 2025, 5], [12.5, 2026, 6.25], [12, 2026, 7]]
    tables = [{"columns": ["store", "year", "amount"], "rows": rows}]
    found = figure(
        await output_of(
            VERB, tables=tables, columns={"category": "store", "date": "year"}, period="year"
        )
    )
    assert [(one["category"], one["total"]) for one in found["categories"]] == [
        ("12", "12"),
        ("12.5", "6.25"),
    ]
    assert [(one["period"], one["total"]) for one in found["periods"]] == [
        ("2025", "5"),
        ("2026", "13.25"),
    ]


async def test_years_alone_make_no_months() -> None:
    """A year is in no month: the verb fails and says what to set."""
    failed = await failure_of(VERB, csv="year,amount\n2025,5\n", columns={"date": "year"})
    assert failed.code == "only_years"
    assert "set period" in failed.message


async def test_a_signed_amount_is_no_formula() -> None:
    """``-EUR 5`` is an amount; what a spreadsheet could run, a cell's name behind a sign too, is
    refused with its row.
    """
    table = (
        await output_of(
            VERB, csv="amount,note\n-EUR 5,x\n+EUR 2,x\n-EUR5,x\n-A1,x\n7,-m 2\n7,-SUM(A1)\n"
        )
    )["tables"][0]
    assert [(one["unit"], one["total"]) for one in table["figures"]] == [("EUR", "-3")]
    assert [(one["line"], one["reason"]) for one in table["rejected"]] == [
        (line, "a formula, not a value") for line in (4, 5, 6, 7)
    ]


async def test_values_without_a_date_are_counted_always() -> None:
    """Where no row has a date, every value is undated."""
    assert figure(await output_of(VERB, csv="what,amount\na,5\na,6\n"))["undated"] == 2
    assert figure(await output_of(VERB, csv="d,amount\n,5\n2026-01-01,6\n"))["undated"] == 1


async def test_rounding_is_half_even_and_declared() -> None:
    """A mean of 0.125 is 0.12 and one of 0.135 is 0.14, and the output says how it rounds."""
    output = await output_of(VERB, csv="a,b\n0.12,0.13\n0.13,0.14\n")
    assert [one["mean"] for one in output["tables"][0]["figures"]] == ["0.12", "0.14"]
    assert "half-even" in output["rounding"]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ({"csv": "d,x\n2026-01-01,1.234\n2026-01-02,2.500\n"}, "ambiguous_numbers",
            "line 2, column x"),
        ({"csv": "x;y\n1.5;a\n1,5;b\n"}, "mixed_number_formats", "line 3, column x"),
        ({"csv": "d,x\n03/04/2026,1.5\n05/04/2026,2.5\n"}, "ambiguous_dates", "line 2, column d"),
        ({"csv": "d,x\n13/04/2026,1.5\n05/14/2026,2.5\n"}, "ambiguous_dates", "line 3, column d"),
        ({"csv": 'a,b\n1,2\n"3,4\n'}, "not_csv", "line 3"),
        ({"csv": "a\0b\n1\n"}, "not_csv", "NUL"),
        ({"csv": "a,b\n"}, "empty", ""),
        ({"csv": " \n\n"}, "empty", ""),
        ({"csv": "a,a\n1,2\n"}, "columns", "column 2"),
        ({"csv": "a,\n1,2\n"}, "columns", "column 2"),
        ({"csv": "a,b\nx,y\n"}, "no_numbers", ""),
        ({"csv": "a,b\n1,2,3\n"}, "no_rows", "line 2: 3 cells"),
        ({"csv": "a\n1\n", "columns": {"date": "when"}}, "unknown_column", "no column when"),
        ({"csv": ",".join(f"c{n}" for n in range(51)) + "\n" + ",".join("1" * 51)}, "too_large",
            "50 columns"),
        ({"csv": "a\n" + "1\n" * (ROWS_MAX + 5)}, "too_large", str(ROWS_MAX)),
        (
            {"csv": ",".join(f"c{n}" for n in range(50)) + "\n" + (",".join("1" * 50) + "\n") * (CELLS_MAX // 50 + 1)},
            "too_large", str(CELLS_MAX)),
        ({}, "bad_input", "one of them"),
        ({"csv": "a\n1\n", "tables": [{"columns": ["a"], "rows": [[1]]}]}, "bad_input",
            "one of them"),
    ],
)  # fmt: skip
async def test_what_cannot_be_read_is_a_typed_failure(
    args: dict[str, Any], code: str, said: str
) -> None:
    """A table that can be read in two ways, or in none, fails with its code and the line; no cell's
    content is in the message.
    """
    failed = await failure_of(VERB, **args)
    assert failed.code == code
    assert said in failed.message
    assert "1.234" not in failed.message.replace("1,234.56 or 1.234,56", "").replace(
        "1,234.56 and 1.234,56", ""
    )


async def test_an_option_settles_what_is_open() -> None:
    """Said to be thousands they are thousands; said to be day first they are days."""
    text = "d;x\n03/04/2026;1.234\n05/04/2026;2.500\n"
    output = await output_of(VERB, csv=text, number_format="1.234,56", date_order="dmy")
    assert figure(output)["total"] == "3734"
    assert [one["period"] for one in figure(output)["periods"]] == ["2026-04"]
    output = await output_of(
        VERB, csv=text, number_format="1,234.56", date_order="mdy", period="quarter"
    )
    assert figure(output)["total"] == "3.734"
    assert [one["period"] for one in figure(output)["periods"]] == ["2026-Q1", "2026-Q2"]


@given(st.text(min_size=1, max_size=300))
@settings(max_examples=examples(60), deadline=None)
async def test_any_text_is_a_table_or_a_typed_failure(text: str) -> None:
    """Whatever the CSV is, every row is in the figures or listed, or there is a code of the verb's
    own.
    """
    result = await called(VERB, csv=text)
    if isinstance(result, LeafFailed):
        assert result.code in {
            "not_csv",
            "empty",
            "columns",
            "no_numbers",
            "no_rows",
            "too_large",
        } | {
            "ambiguous_numbers",
            "mixed_number_formats",
        }
    else:
        table = result.output["tables"][0]
        assert table["rows"] == table["rows_read"] + len(table["rejected"]) + table["more_rejected"]
