#!/bin/sh
# Makes .venv, the project's Python environment, exactly as uv.lock says. uv itself goes to .venv-tools: nothing needs to be on PATH.
# Whatever is fetched must have the hash that stands in uv.lock or requirements-tools.txt, what builds the project included.
#
#   sh installer/environment.sh
#
# PYTHON=/path/to/python3.11 chooses an interpreter; otherwise it is that of .venv, then Debian's own, then what PATH offers.
set -eu
cd "$(dirname "$0")/.."
. installer/machine.sh

# Prints the interpreter behind the first candidate that is Python 3.11 and can make an environment. A name on PATH may be a
# shim that fails or is another version, and Debian's own lacks ensurepip until python3-venv is installed: so each is run.
find_python() {
    for candidate in ${PYTHON:-.venv/bin/python .venv/Scripts/python /usr/bin/python3.11 python3.11 python3 python}; do
        "$candidate" -c '
import sys
if sys.version_info[:2] != (3, 11):
    sys.exit(1)
import ensurepip, venv
print(sys._base_executable)' 2>/dev/null && return
    done
    return 1
}

# Prints the command for uv. Without Python 3.11 a uv on PATH will do: it brings an interpreter along.
find_uv() {
    if ! python=$(find_python); then
        command -v uv && return
        die "no Python 3.11 that can make an environment; install it (Debian: python3-venv) or set PYTHON=/path/to/python3.11"
    fi
    for uv in .venv-tools/bin/uv .venv-tools/Scripts/uv; do
        [ "$($uv --version 2>/dev/null | cut -d' ' -f1,2)" = "$1" ] && echo "$uv" && return
    done
    say "installing $1 into .venv-tools" >&2
    rm -rf .venv-tools
    "$python" -m venv .venv-tools
    for bin in .venv-tools/bin .venv-tools/Scripts; do
        [ -d "$bin" ] || continue
        "$bin/python" -m pip --disable-pip-version-check --quiet install --require-hashes --only-binary :all: \
            --requirement installer/requirements-tools.txt >&2 ||
            die "could not fetch $1 from the Python package index; is there a network, or a proxy to name in https_proxy?"
        echo "$bin/uv"
    done
}

unset VIRTUAL_ENV || true
uv=$(find_uv "$(sed -n 's/^uv==\([0-9.]*\).*/uv \1/p' installer/requirements-tools.txt)")
python=$(find_python || echo 3.11)
"$uv" sync --quiet --frozen --check --python "$python" 2>/dev/null && exit
say "installing the Python packages of uv.lock into .venv"
# the project last, by the build tools of uv.lock: an isolated build would fetch its own, which no hash stands for
{ "$uv" sync --frozen --compile-bytecode --python "$python" --no-install-project &&
    "$uv" sync --frozen --compile-bytecode --python "$python" --no-build-isolation; } ||
    die "could not make .venv; the lines above are uv's own: is there a network, or a proxy to name in https_proxy?"
