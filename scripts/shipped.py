"""Write down what the shipped verbs declare, as a start reads it: ``python -m scripts.shipped`` compares, with ``--write`` it writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ordain.shipped_verbs import shipped_makers
from ordain.verbs.builtin.library_verbs import no_library

WRITTEN = Path(__file__).resolve().parent.parent / "src" / "ordain" / "shipped_verbs.json"


def rendered() -> str:
    """Each verb that is always there: where its function stands, and its declaration."""
    made = [make() for make in shipped_makers(no_library).values()]
    declared = [{"origin": one.origin, "spec": one.spec.model_dump(mode="json", exclude_unset=True)} for one in made]
    return json.dumps(declared, indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Compare or write."""
    text = rendered()
    if arguments == ["--write"]:
        WRITTEN.write_text(text, encoding="utf-8")
    if WRITTEN.read_text(encoding="utf-8") == text:
        return 0
    print(f"{WRITTEN.name} is not current; run: .venv/bin/python -m scripts.shipped --write")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
