#!/bin/sh
# Runs every benchmark of this folder in turn; each prints its figures. Fails at the end when one of them failed.
#
#   sh benchmarks/run-all.sh PYTHON
set -u
cd "$(dirname "$0")/.." || exit
failed=
for benchmark in benchmarks/*.py; do
    grep -qs __main__ "$benchmark" || continue # the others are parts of these
    printf '\n== %s\n' "$benchmark"
    # -P: a benchmark's own name must not stand for a module of Python's
    PYTHONPATH=. "$1" -P "$benchmark" || failed="$failed $benchmark"
done
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
