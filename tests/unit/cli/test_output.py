"""What is printed for people."""

import pytest

from ordain.cli.output import number_of


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 passages"), (1, "1 passage"), (2, "2 passages"), (60, "60 passages")]
)
def test_one_is_no_plural(count: int, said: str) -> None:
    """Documents that were added, pages, runs of a finding: all are counted by it."""
    assert number_of(count, "passage") == said
