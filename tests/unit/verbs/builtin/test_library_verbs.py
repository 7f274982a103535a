"""What the verbs over the library say of what could not be kept."""

from __future__ import annotations

import pytest

from ordain.errors import Refused, StorageUnavailable
from ordain.ports.library import Added
from ordain.verbs.builtin.library_verbs import from_library
from ordain.verbs.functions import VerbError


@pytest.mark.parametrize(
    ("error", "again"),
    [(StorageUnavailable("the disk is full"), True), (Refused("no room", code="full"), False)],
)
async def test_what_could_not_be_kept_has_certainly_not_happened(
    error: StorageUnavailable | Refused, *, again: bool
) -> None:
    """Nobody has to find out whether an entry is there that a full disk did not take: the library
    leaves nothing of what fails, so the call has failed and its outcome is not unknown.
    """

    async def asking() -> Added:
        raise error

    with pytest.raises(VerbError) as failed:
        await from_library(asking())
    assert (failed.value.code, failed.value.happened, failed.value.retryable) == (
        error.code,
        False,
        again,
    )
