#!/usr/bin/env bash
# Resolve the dependencies anew and pin every one of them by hash: locks/*.txt.
# Needs uv (`pip install uv`); everybody else installs the result with plain pip. Pass --upgrade to move pins.
set -euo pipefail
cd "$(dirname "$0")/.."

uv="$(command -v uv || true)"
[ -n "$uv" ] || uv=.venv/bin/uv
[ -x "$uv" ] || { echo "lock: uv is needed to resolve; install it with: .venv/bin/pip install uv" >&2; exit 1; }

pin() { # pin NAME [uv arguments]: no host names in the result, so it installs from any index or mirror
  local name="$1"
  shift
  "$uv" pip compile pyproject.toml "$@" --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --no-emit-find-links --no-header --no-annotate --no-strip-extras --quiet --output-file "locks/$name.txt"
}

pin runtime "$@"
pin demo --group build --constraint locks/runtime.txt "$@"
pin dev --group dev --all-extras --constraint locks/runtime.txt "$@"
pin bench --group bench --constraint locks/runtime.txt "$@"
