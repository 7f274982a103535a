"""What a PDF says beside its pages' text: in its forms, and that a page is a picture. Over the
objects of pypdf, which the process that reads a document imports.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, cast


def filled_in(page: Any) -> list[str]:
    """What is filled into the form on a page, each field by its name: viewers draw it, and it is no
    text of the page. Nothing where the form is broken.
    """
    try:
        return list(_fields(page))
    except Exception:
        # hostile, and beside what was asked for: a broken form hides no page's text
        return []


def is_picture(page: Any) -> bool:
    """Whether a page without text shows something else."""
    try:
        return bool(_held(page, "/Resources", "/XObject"))
    except Exception:
        # as above
        return False


def _held(found: Any, *names: str) -> Any:
    """What stands in an object of a PDF under these names, one in the other; None where one is not
    there.
    """
    for name in names:
        found = found.get(name) if hasattr(found, "get") else None
        found = found.get_object() if hasattr(found, "get_object") else found
    return found


def _fields(page: Any) -> Iterator[str]:
    for one in _held(page, "/Annots") or ():
        field = one.get_object()
        inherited = {
            key: next(
                (value for at in ((), ("/Parent",)) if (value := _held(field, *at, key))), None
            )
            for key in ("/FT", "/TU", "/T", "/V")
        }
        name, value = inherited["/TU"] or inherited["/T"], inherited["/V"]
        if inherited["/FT"] == "/Btn":
            value = _held(field, "/AS")
            value = value.removeprefix("/") if isinstance(value, str) and value != "/Off" else None
        if isinstance(value, list):
            value = ", ".join(part for part in cast("list[Any]", value) if isinstance(part, str))
        if inherited["/FT"] is not None and isinstance(value, str) and value.strip():
            yield f"{name}: {value}" if isinstance(name, str) else value


def tell_of(pictures: set[int], sections: list[tuple[str, str, int, int]]) -> None:
    """Put in the place of a page's text, where others have some, that it is a picture: whoever
    reads the rest is not to believe that it is all. A run of such pages is told once.
    """
    if not any(text.strip() for text, *_ in sections):
        return
    for begin in sorted(number for number in pictures if number - 1 not in pictures):
        end = next(last for last in count(begin) if last + 1 not in pictures)
        which = f"Page {begin} is a picture"
        if end > begin:
            which = f"Pages {begin} to {end} are pictures"
        sections[begin - 1] = (f"[{which} without text; nothing of it was read.]", "", begin, 0)
