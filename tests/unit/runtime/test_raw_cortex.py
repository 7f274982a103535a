"""What a verb replied, cut for who looks into a trace."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.runtime.raw_cortex import MARK, RAW_BYTES, cut

LONG = st.text(min_size=1, max_size=40).map(lambda piece: piece * (RAW_BYTES // len(piece) + 2))


@given(st.text(max_size=RAW_BYTES // 4) | LONG)
def test_a_text_is_kept_whole_or_cut_at_a_character(text: str) -> None:
    """B-04 “cut at 4 KiB with `…`”: never more bytes than that, the beginning of the text, and the
    mark exactly where something was cut.
    """
    shown = cut(text)
    assert len(shown.encode()) <= RAW_BYTES == 4096
    if len(text.encode()) <= RAW_BYTES:
        assert shown == text
    else:
        assert shown.endswith(MARK)
        assert text.startswith(shown[: -len(MARK)])
        assert len(shown.encode()) > RAW_BYTES - 4
