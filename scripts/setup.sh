# Sourced by ./check and ./demo from the project's root: leaves a .venv in which what is pinned and the project itself is installed.
# That lock pins a pip, too. Downloads on the first run and when pins change; afterwards it needs no network.

set_up() { # set_up [LOCK]: with what locks/LOCK.txt pins, all that developing needs by default; one that has that has what the others pin
  local lock="${1:-dev}" python stamp digest known
  local -a install=(.venv/bin/python -m pip install -qq --no-compile) # modules are compiled when they are first used, which most of what the tools bring never is
  stamp=.venv/set-up
  python="$(find_python)" || return 1
  # The folder belongs to the digest because the scripts of a moved .venv point to where it was.
  for known in dev "$lock"; do
    digest="$("$python" -c 'import hashlib, os, pathlib, sys
print(hashlib.sha256(b"".join([os.getcwdb(), sys.version.encode(), *(pathlib.Path(name).read_bytes() for name in sys.argv[1:])])).hexdigest())' \
      "locks/$known.txt" pyproject.toml)" || return 1
    if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$digest" ]; then
      return 0
    fi
  done

  if [ -L .venv ]; then # setting up begins by emptying the folder, and it would be that of another working tree
    echo "ordain: .venv is a link to an environment that was not set up for this folder; remove the link to get one of its own." >&2
    return 1
  fi

  echo "Setting up .venv (once; needs a network) ..."
  rm -f "$stamp"
  export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore
  if usable_venv; then
    :
  elif pip_apart && "$python" -m venv --clear --without-pip .venv; then # unpacking and compiling Python's own pip takes several seconds
    # What is pinned has one, which installs the rest: a Python's own may be years old, and those took twice as long to choose what to download.
    pinned_pip "$lock" >.venv/pip.txt
    "$python" -m pip --python .venv/bin/python "${install[@]:3}" --no-deps --require-hashes --requirement .venv/pip.txt || not_installed "$lock" || return 1
  elif ! "$python" -m venv --clear .venv; then
    echo "ordain: $python cannot make a virtual environment; install its venv and pip (on Debian: apt install python3-venv)." >&2
    return 1
  fi
  "${install[@]}" --require-hashes --requirement "locks/$lock.txt" || not_installed "$lock" || return 1 # errors alone are told
  # The build backend is pinned in the lock too: no isolation, so nothing unpinned is ever fetched.
  if ! "${install[@]}" --no-index --no-deps --no-build-isolation --editable .; then
    echo "ordain: the project itself could not be installed into .venv." >&2
    return 1
  fi
  echo "$digest" >"$stamp"
}

pinned_pip() { # its entry of locks/LOCK.txt, with its hashes
  sed -n '/^pip==/,/[^\\]$/p' "locks/$1.txt"
}

not_installed() { # tells so, and fails
  echo "ordain: the pinned packages (locks/$1.txt) could not be installed; is a package index reachable?" >&2
  return 1
}

pip_apart() { # whether the Python that makes the environment has a pip that installs into another (since 22.3)
  "$python" -c 'import sys, pip; sys.exit(tuple(map(int, pip.__version__.split(".")[:2])) < (22, 3))' 2>/dev/null
}

usable_venv() { # of the same Python, with a pip that is its own
  [ "$(.venv/bin/python -V 2>/dev/null)" = "$("$python" -V)" ] && .venv/bin/python -m pip --version >/dev/null 2>&1 && head -n 2 .venv/bin/pip | grep -qF "$PWD/.venv/bin/python"
}

find_python() { # $ORDAIN_PYTHON where that is set, and no other; its own path, which no shim stands before
  local candidate
  if [ -n "${ORDAIN_PYTHON:-}" ]; then
    path_of "$ORDAIN_PYTHON" && return 0
    echo "ordain: \$ORDAIN_PYTHON ($ORDAIN_PYTHON) is no Python 3.11 or later." >&2
    return 1
  fi
  for candidate in python3.11 python3.12 python3.13 python3.14 python3 python; do
    path_of "$candidate" && return 0
  done
  echo "ordain: Python 3.11 or later is needed, and none was found on PATH." >&2
  return 1
}

path_of() { # of a Python that is new enough
  "$1" -c 'import sys; sys.exit("too old") if sys.version_info < (3, 11) else print(sys.executable)' 2>/dev/null
}
